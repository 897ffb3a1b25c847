"""What parameters may be: contracts as data, checked in one place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator

from flagstone.algebra.fields import as_field
from flagstone.coins import Coins
from flagstone.errors import InputError, Parameter
from flagstone.estimators.labels import named_classes
from flagstone.guarantees import check_contamination
from flagstone.guarantees.exact import check_share, positive

Contract: TypeAlias = Callable[[str, Any], Any]


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


#: Parameters that every learner of ours has.
COMMON: dict[str, Contract] = {
    "field": lambda _, value: as_field(value),
    "out_of_field": one_of("raise", "reduce"),
    "random_state": optional(lambda _, value: Coins(value)),
}

#: Those of the rule that chooses the span; how they go together is the rule's own business.
SPAN: dict[str, Contract] = COMMON | {
    "rule": one_of("index", "heavy"),
    "rho": optional(check_share),
    "eps": check_share,
    "contamination": lambda _, value: check_contamination(value),
    "weights_count_rows": truth,
    "take": optional(positive),
    "confidence": optional(check_share),
}

#: Products of features as features.
DEGREE: dict[str, Contract] = {"degree": positive}

#: Those of a classifier by a linear rule.
CLASSIFIER: dict[str, Contract] = COMMON | {
    "fit_intercept": truth,
    "on_bottom": one_of("raise", "majority"),
    "classes": lambda _, value: named_classes(value),
}


def check_parameters(estimator: BaseEstimator, contracts: Mapping[str, Contract]) -> None:
    """Hold every parameter of an estimator to its contract."""
    for name, contract in contracts.items():
        contract(name, getattr(estimator, name))


#: What rows are counted by: with another value, those counted before would be others.
_SHAPE = (
    "field",
    "out_of_field",
    "fit_intercept",
    "affine",
    "degree",
    "classes",
    "random_state",
    "weights_count_rows",
    "confidence",
)
#: The parameters of the rule; what is certified from row to row is certified for one rule.
RULE = ("rule", "rho", "eps", "t_min", "t_max", "contamination")


def shape_of(estimator: BaseEstimator) -> dict[str, Any]:
    """Return the parameters that may not change once rows were counted."""
    return {n: getattr(estimator, n) for n in (*_SHAPE, *RULE) if hasattr(estimator, n)}


def check_shape(estimator: BaseEstimator, before: Mapping[str, Any], *, streamed: bool) -> None:
    """Refuse a parameter that was changed after rows were counted, which would go unheard."""
    for name, now in shape_of(estimator).items():
        was = before[name]
        if was is now or (name in RULE and not streamed):
            continue
        if (as_field(was) != as_field(now)) if name == "field" else not np.array_equal(was, now):
            raise InputError(
                Parameter(name),
                f" was {was!r} when the first rows were counted, and is {now!r} now; set it back, "
                "or begin anew with fit",
            )
