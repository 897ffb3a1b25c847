"""The parameters of the learners: what each may be and what it means, said once."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from sklearn.base import BaseEstimator

from flagstone.algebra.fields import as_field
from flagstone.coins import Coins
from flagstone.errors import InputError, Parameter
from flagstone.estimators.labels import named_classes
from flagstone.guarantees import check_contamination
from flagstone.guarantees.exact import check_share, positive
from flagstone.rules import DEFAULT_EPS, SpanRule, rule_named

Contract: TypeAlias = Callable[[str, Any], Any]
C = TypeVar("C", bound=type)


def one_of(*values: str) -> Contract:
    """One of these words."""

    def check(name: str, value: Any) -> None:
        if not isinstance(value, str) or value not in values:
            known = " or ".join(map(repr, values))
            raise InputError(Parameter(name), f" must be {known}, got {value!r}")

    return check


def optional(contract: Contract) -> Contract:
    """None, or what the contract allows."""
    return lambda name, value: None if value is None else contract(name, value)


def truth(name: str, value: Any) -> None:
    """True or False, nothing else: the text "no" would count as true."""
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(Parameter(name), f" must be True or False, got {value!r}")


def finite_field(name: str, value: Any) -> None:
    """A field with a uniform distribution."""
    if as_field(value).order is None:
        raise InputError(Parameter(name), " must be finite: the learner draws uniform solutions")


def truth_or_share(name: str, value: Any) -> None:
    """True, False, or a number strictly between 0 and 1."""
    if not isinstance(value, (bool, np.bool_)):
        check_share(name, value)


class Spec(NamedTuple):
    """What a parameter may be, and its entry in docstrings."""

    check: Contract
    text: str

    @property
    def entry(self) -> str:
        """The entry without the indentation of this file."""
        head, *body = inspect.cleandoc(self.text).split("\n")
        return "\n".join([head, *(f"    {line}" for line in body)])


#: Every parameter of the learners.
PARAMETERS: dict[str, Spec] = {
    "field": Spec(
        lambda _, value: as_field(value),
        """field : Field, int or str, default=2
            The field of the entries: 2, 11, ``"2^8"``, ``"QQ"``, …. Other numbers are refused:
            :class:`FieldEncoder` turns them into elements of the field.""",
    ),
    "rule": Spec(
        lambda name, value: isinstance(value, SpanRule) or rule_named(value),
        """rule : {"index", "heavy"} or a rule, default="index"
            Our rule, or the paper's Algorithm 1; or an :class:`IndexRule` or :class:`HeavyRule`,
            which holds the whole window: ``IndexRule(t_min=0.02, t_max=0.1)``.""",
    ),
    "rho": Spec(
        optional(check_share),
        """rho : float, optional
            Allowed probability that two samples give different answers; sets the window.""",
    ),
    "eps": Spec(
        check_share,
        """eps : float, default=0.1
            Allowed share of rows outside the kept span; sets the window where ``rho`` does not.""",
    ),
    "contamination": Spec(
        lambda _, value: check_contamination(value),
        """contamination : float, default=0.0
            Largest share of rows that may be wrong: a damaged entry, a wrong label. No direction
            of theirs enters the answer.""",
    ),
    "random_state": Spec(
        optional(lambda _, value: Coins(value)),
        """random_state : int or str, optional
            The published seed. None draws a fresh one, kept as ``random_state_``: only runs that
            share it are replicable.""",
    ),
    "certify": Spec(
        truth_or_share,
        """certify : bool or float, default=True
            Measure and certify the answer: `fit` reads its rows a second time, `partial_fit`
            certifies while rows come. True is a confidence of 0.99; a number is another one.
            False is faster, and says "not measured". Certificates need rows that were drawn
            independently, and a window that was not chosen by what they say.""",
    ),
    "fit_intercept": Spec(
        truth,
        """fit_intercept : bool, default=True
            Whether the rule may have a constant: y = ⟨w, x⟩ + c.""",
    ),
    "choice": Spec(
        one_of("sparsest", "lexmin", "uniform"),
        """choice : {"sparsest", "lexmin", "uniform"}, default="sparsest"
            Which rule, where several fit: one with as few features as a bounded search finds
            (``finding_.alternatives`` says whether fewer are impossible); the lexicographically
            smallest; or a uniform one by the published coins, as in the paper (finite fields).""",
    ),
    "on_bottom": Spec(
        one_of("raise", "majority"),
        """on_bottom : {"raise", "majority"}, default="raise"
            What ``predict`` does when the answer is ⊥ (no linear rule fits the kept rows), or when
            no direction was kept, so that the rule says nothing about the rows: explain it in a
            BottomError, or predict the most frequent label, about which two samples may differ.""",
    ),
    "classes": Spec(
        lambda _, value: named_classes(value),
        """classes : array-like, optional
            All labels that can occur. Needed for labels that are no field elements, such as
            {"no", "yes"}, wherever a sample may lack one of them.""",
    ),
    "degree": Spec(
        positive,
        """degree : int, default=1
            Also use products of up to this many features: rules such as ``y = x0·x1 ⊕ x4``, with k
            decision trees of depth k and functions of k features. There are D = Σ C(d, i) products
            (:class:`flagstone.encoding.Monomials`), and rows are needed as for D features. Less
            than q over a field of q > 2 elements.""",
    ),
    "affine": Spec(
        truth,
        """affine : bool, default=False
            Whether the positive examples lie in an affine subspace.""",
    ),
    "out_of_field": Spec(
        one_of("raise", "reduce"),
        """out_of_field : {"raise", "reduce"}, default="raise"
            Refuse numbers outside the field, or map them into it: floor, then modulo q.""",
    ),
}

_ATTRIBUTES = """
    guarantee_ : Guarantee
        What is proven, certified and measured.
    margin_ : int
        The answer does not change if up to this many rows are altered, at the same threshold.
    is_empty_ : bool
        Whether no direction was kept: the answer then says nothing about the rows.
    finding_ : Finding
        All that is known: ``save``, ``report``, ``plot``.
    flag_ : Flag
    random_state_ : str
        The seed that was used.
    n_features_in_ : int
    feature_names_in_ : array of str
        Only when X had names.
"""

_REFERENCES = """
    .. [NST26] M. Noivirt, J. Sorrell, E. Tsfadia, "Computationally Efficient Replicable
       Learning of Parities and Applications", 2026.
"""


def documented(cls: C) -> C:
    """Fill in what docstrings of learners share: ``{parameters}``, ``{attributes}``, …."""
    if cls.__doc__ is not None:  # as under python -OO
        names = list(inspect.signature(cls).parameters)
        entries = "\n".join(PARAMETERS[name].entry for name in names)
        parts = {"parameters": entries, "attributes": _ATTRIBUTES, "references": _REFERENCES}
        text = inspect.cleandoc(cls.__doc__)
        for name, part in parts.items():
            text = text.replace(f"{{{name}}}", textwrap.dedent(part).strip())
        cls.__doc__ = text
    return cls


def check_parameters(
    estimator: BaseEstimator, others: Mapping[str, Contract] | None = None
) -> None:
    """Hold every parameter of an estimator to its contract, or to another one."""
    for name, value in estimator.get_params(deep=False).items():
        contract = (others or {}).get(name) or PARAMETERS[name].check
        contract(name, value)


#: The parameters of the rule, with the values that say nothing.
_SHORT_FORMS = {"rho": None, "eps": DEFAULT_EPS, "contamination": 0.0}


def chosen_rule(estimator: Any) -> SpanRule:
    """Return the rule of an estimator: the given one, or that of its short forms."""
    given = {name: getattr(estimator, name) for name in _SHORT_FORMS}
    if not isinstance(estimator.rule, SpanRule):
        return rule_named(estimator.rule, **given)
    for name, value in given.items():
        if value != _SHORT_FORMS[name]:
            raise InputError(
                Parameter(name, value),
                " stands beside a rule that has its own; say it there: ",
                f"{type(estimator.rule).__name__}({name}={value!r}, …)",
            )
    return estimator.rule


#: What rows are counted by: with another value, those counted before would be others.
_SHAPE = ("field", "fit_intercept", "affine", "degree", "classes", "random_state", "certify")
#: What is certified from row to row is certified for one rule.
_RULE = ("rule", *_SHORT_FORMS)


def shape_of(estimator: BaseEstimator) -> dict[str, Any]:
    """Return the parameters that may not change once rows were counted."""
    return {n: getattr(estimator, n) for n in (*_SHAPE, *_RULE) if hasattr(estimator, n)}


def check_shape(estimator: BaseEstimator, before: Mapping[str, Any], *, streamed: bool) -> None:
    """Refuse a parameter that was changed after rows were counted, which would go unheard."""
    for name, now in shape_of(estimator).items():
        was = before[name]
        if was is now or (name in _RULE and not streamed):
            continue
        if (as_field(was) != as_field(now)) if name == "field" else not np.array_equal(was, now):
            raise InputError(
                Parameter(name),
                f" was {was!r} when the first rows were counted, and is {now!r} now; set it back, "
                "or begin anew with fit",
            )
