"""ParityRule: a linear function of the features, or ⊥ (Algorithm 2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from flagstone.algebra import Array, Field, FieldLike, Subspace, as_field
from flagstone.answers._base import (
    Answer,
    as_column,
    check_names,
    combination,
    expression,
    feature_names,
    from_json,
    frozen,
    header,
    modulus,
    to_json,
)
from flagstone.answers._solve import VectorCoins, check_choice, pick_solution
from flagstone.errors import BottomError, FormatError, InputError, Parameter
from flagstone.exact import exact_array


@dataclass(frozen=True, eq=False, repr=False)
class ParityRule(Answer):
    """The linear function y = ⟨w, x⟩ + c over a field F, or ⊥ when no such rule was found.

    Over GF(2) this is a parity: the XOR of some of the features. Rules are values: they are
    equal when field, w and c are equal; what the columns are called plays no part.

    Parameters
    ----------
    coef : array of shape (d,) or None
        w; None stands for ⊥, and then ``dim`` must be given.
    intercept : element of F
        c.
    field : Field, int or str
    names : sequence of str, optional
        What the features are called; x0, x1, … otherwise.
    target : str
        What the label is called.

    Attributes
    ----------
    is_bottom : bool
        Whether the answer is ⊥.
    dim : int
        The number of features d.

    Examples
    --------
    >>> from flagstone.answers import ParityRule
    >>> rule = ParityRule([0, 1, 1], 1)
    >>> rule
    ParityRule(y = x1 ⊕ x2 ⊕ 1)
    >>> rule.predict([[0, 0, 0], [1, 1, 0]]).tolist()
    [1, 0]
    >>> eval(rule.expression, {"x": [1, 1, 0]})
    0
    >>> ParityRule.from_dict(rule.to_dict()) == rule
    True
    """

    kind: ClassVar[str] = "parity"

    coef: Array | None
    intercept: Any = 0
    field: Field = 2  # type: ignore[assignment]
    names: tuple[str, ...] | None = None
    target: str = "y"
    dim: int = 0

    def __post_init__(self) -> None:
        field = as_field(self.field)
        dim = self.dim
        if self.coef is not None:
            coef = exact_array(self.coef)
            if coef.ndim != 1 or len(coef) == 0:
                raise InputError(f"coef must be a non-empty vector, got shape {coef.shape}")
            if dim not in (0, len(coef)):
                raise InputError(f"coef has {len(coef)} entries, but dim={dim}")
            dim = len(coef)
            row = field.array(field.rows(coef[np.newaxis, :], name="coef"))[0]
            object.__setattr__(self, "coef", frozen(row))
            value = field.array(field.rows(as_column([self.intercept]), name="intercept"))[0, 0]
            object.__setattr__(self, "intercept", value if field.order is None else int(value))
        elif dim < 1:
            raise InputError("⊥ needs the number of features: ParityRule(None, dim=d)")
        else:
            object.__setattr__(self, "intercept", None)
        object.__setattr__(self, "dim", dim)
        object.__setattr__(self, "field", field)
        object.__setattr__(self, "names", check_names(self.names, dim))

    @classmethod
    def bottom(
        cls,
        dim: int,
        field: FieldLike = 2,
        *,
        names: Sequence[str] | None = None,
        target: str = "y",
    ) -> ParityRule:
        """Return ⊥: no linear rule of ``dim`` features."""
        return cls(None, 0, as_field(field), check_names(names, dim), target, dim)

    @classmethod
    def from_subspace(
        cls,
        U: Subspace,
        *,
        coins: VectorCoins | None = None,
        choice: str = "uniform",
        fit_intercept: bool = False,
        names: Sequence[str] | None = None,
        target: str = "y",
    ) -> ParityRule:
        """Read a linear rule off the span U* of labelled rows: steps 2–8 of Algorithm 2.

        Parameters
        ----------
        U : Subspace of F^(d+1), or of F^(d+2) with an intercept
            The replicable span of rows (x, y), or (x, 1, y) with an intercept.
        coins : Coins
            The published coins; needed for the uniform choice alone.
        choice : {"uniform", "lexmin", "sparsest"}
            Which of the rules that fit all of U*: a uniform one, as in the paper's algorithm,
            the lexicographically smallest (w_0, w_1, …, c), as in its experiments, or one with
            as few features as a bounded search finds.
        fit_intercept : bool
            Whether the rows of U carry a 1 before the label.

        Returns
        -------
        ParityRule
            ⊥ exactly when e_{d+1} ∈ U*, that is, when U* asks for 0 = 1.

        Notes
        -----
        Implements Algorithm 2 of [NST26] after its first line (the span itself). Departures:
        the set C of rules that fit is read off the canonical form of U*, which equals the
        printed step (solve for the rows of the sample inside U*) whenever those rows span U*,
        and needs no second look at the data; the field is arbitrary; over QQ, where no
        uniform choice exists, the free coordinates are 0.

        **Guarantees**

        - A function of (U*, coins, choice) alone: equal spans and seeds give equal rules.
        - ``"uniform"`` is uniform over C when the coins are uniform.
        - A rule other than ⊥ is right on every labelled row inside U*.
        - Features that are constant in U* (zero, without an intercept) have the coefficient 0 in
          every choice but the uniform one.

        Examples
        --------
        >>> from flagstone import Coins, Subspace
        >>> from flagstone.answers import ParityRule
        >>> U = Subspace.span([[1, 0, 0, 1], [0, 1, 1, 0]])     # rows (x, y)
        >>> rule = ParityRule.from_subspace(U, coins=Coins(2026))
        >>> rule.predict([[1, 0, 0], [0, 1, 1]]).tolist()       # whatever the coins say
        [1, 0]
        >>> print(ParityRule.from_subspace(U, choice="lexmin"))
        y = x0
        >>> print(ParityRule.from_subspace(Subspace.span([[0, 0, 0, 1]]), choice="lexmin"))
        ⊥
        """
        F, extra = U.field, 2 if fit_intercept else 1
        dim = U.ambient_dim - extra
        if dim < 1:
            raise InputError(
                f"rows with a label{' and an intercept' if fit_intercept else ''} need at least "
                f"{extra + 1} columns, got {U.ambient_dim}"
            )
        check_choice(choice, F)
        if U.ambient_dim - 1 in U.pivots:
            return cls.bottom(dim, F, names=names, target=target)
        w = pick_solution(U, choice=choice, coins=coins, name="parity", counted=dim)
        intercept = w[dim] if fit_intercept else F.zero
        return cls(w[:dim], intercept, F, check_names(names, dim), target)

    @property
    def is_bottom(self) -> bool:
        return self.coef is None

    def predict(self, X: Any) -> Array:
        """Return ⟨w, x⟩ + c for each row of X, as elements of the field."""
        w = self._w()
        F = self.field
        out: Array = F.add(F.dot(F.rows(X, dim=self.dim), w[np.newaxis, :])[:, 0], self.intercept)
        return out

    def syndrome(self, X: Any, y: Any) -> Array:
        """Return y minus the prediction for each row: zero where the rule holds."""
        elements = self.field.elements(y, name="y")
        predicted = self.predict(X)
        if len(predicted) != len(elements):
            raise InputError(f"X has {len(predicted)} row(s) but y has {len(elements)}")
        return self.field.sub(elements, predicted)

    def check(self, X: Any, y: Any) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Say for each labelled row whether the rule holds."""
        return np.asarray(self.syndrome(X, y) == 0, dtype=bool)

    @property
    def augmented(self) -> Array | None:
        """The row (w | c); None for ⊥."""
        if self.coef is None:
            return None
        constant = np.array([self.intercept], dtype=self.field.dtype)
        return np.concatenate([self.coef, constant])[np.newaxis, :]

    @property
    def lines(self) -> tuple[str, ...]:
        """The rule for people: ``y = x3 ⊕ x7 ⊕ 1``, ``y = 0``, ``⊥``."""
        if self.coef is None:
            return ("⊥",)
        names = feature_names(self.names, self.dim)
        right = combination(self.field, self.coef, names, self.intercept)
        return (f"{self.target} = {right}{modulus(self.field)}",)

    @property
    def expression(self) -> str:
        """The rule as a Python expression in one row ``x`` of plain numbers; ``None`` for ⊥.

        Over QQ it names ``Fraction``, of the standard library's ``fractions``.
        """
        return "None" if self.coef is None else expression(self.field, self.coef, self.intercept)

    def _side(self, value: Any) -> str:
        return f" ^ {value}" if value else ""

    def to_dict(self) -> dict[str, Any]:
        bottom = self.coef is None
        return {
            "field": self.field.name,
            "dim": self.dim,
            "coef": None if self.coef is None else to_json(self.field, self.coef),
            "intercept": None if bottom else to_json(self.field, np.array([self.intercept]))[0],
            "names": None if self.names is None else list(self.names),
            "target": self.target,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ParityRule:
        field, dim, names = header(data)
        target = data.get("target", "y")
        if not isinstance(target, str):
            raise FormatError(f"target must be a text, got {target!r}")
        if data.get("coef") is None:
            return cls.bottom(dim, field, names=names, target=target)
        coef = from_json(field, data["coef"], "coef", dim)
        intercept = from_json(field, [data.get("intercept")], "intercept", 1)[0]
        return cls(coef, intercept, field, names, target)

    def __repr__(self) -> str:
        return f"ParityRule({self.text})"

    def _w(self) -> Array:
        if self.coef is None:
            raise BottomError(
                "the answer is ⊥: no linear rule fits the rows that were kept (their span contains "
                "0…0 with a non-zero label), so there is nothing to predict. If labels may be "
                "wrong, allow for wrong rows with ",
                Parameter("contamination"),
                "; if the rule may not be linear, try ",
                Parameter("degree", 2),
                " (with more rows or less contamination); if it may have a constant, ",
                Parameter("fit_intercept", True),
                "; or add columns that the label depends on",
            )
        return self.coef
