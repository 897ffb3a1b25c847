"""Labelled rows that follow a linear rule, with corrupted labels."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from flagstone.algebra import AffineSubspace, Field, Subspace
from flagstone.distributions._laws import (
    Array,
    Distribution,
    Finite,
    RandomLike,
    Weighted,
    as_random_state,
    lift,
)
from flagstone.errors import InputError


class LabelledParity(Distribution):
    """Rows ``(x, y)`` with ``y = <coef, x> + intercept``, some of the labels corrupted.

    Each label is replaced, independently with probability ``corruption``, by one of the other
    ``q - 1`` field elements, uniformly.

    Parameters
    ----------
    features : Distribution
        The law of ``x``.
    coef : array of shape (d,)
        The planted linear function (a parity over GF(2)).
    intercept : field element, default 0
    corruption : float in [0, 1], default 0

    Examples
    --------
    The error of a rule is computed from the law:

    >>> from flagstone.distributions import geometric, planted_parity
    >>> D = planted_parity([1, 1, 0, 1], features=geometric(4))
    >>> D.error([1, 1, 0, 0])  # wrong exactly when e_4 is drawn
    0.0625
    """

    def __init__(
        self,
        features: Distribution,
        coef: npt.ArrayLike,
        *,
        intercept: Any = 0,
        corruption: float = 0.0,
        name: str | None = None,
    ) -> None:
        self.features = features
        self.field = features.field
        self.dim = features.dim + 1
        self.coef: Array = self._vector(coef)
        self.intercept = self.field.elements([intercept], name="intercept")[0]
        if not 0.0 <= corruption <= 1.0:
            raise InputError(
                f"corruption is a probability and must lie in [0, 1], got {corruption}"
            )
        if corruption > 0 and self.field.order is None:
            raise InputError("labels over QQ cannot be corrupted uniformly: there are too many")
        self.corruption = float(corruption)
        self._name = name or (
            f"LabelledParity({features!r}, weight {int(np.count_nonzero(self.coef))}, "
            f"corruption={self.corruption:g})"
        )

    def _vector(self, coef: npt.ArrayLike) -> Array:
        vector = np.asarray(coef)
        if vector.shape != (self.features.dim,):
            raise InputError(
                f"coef must hold one entry per feature: {self.features.dim} features, "
                f"coef of shape {vector.shape}"
            )
        row: Array = self.field.array(self.field.rows(vector[None, :], name="coef"))[0]
        return row

    def labels(self, X: Array) -> Array:
        """Return the uncorrupted labels of feature rows."""
        clean = self.field.dot(self.field.rows(X), self.coef[None, :])[:, 0]
        return np.asarray(self.field.add(clean, np.full(len(clean), self.intercept, clean.dtype)))

    def sample_xy(self, m: int, rng: RandomLike) -> tuple[Array, Array]:
        """Draw ``m`` labelled rows as ``(X, y)``."""
        rng = as_random_state(rng)
        X = self.features.sample(m, rng)
        y = self.labels(X)
        if self.corruption:
            hit = np.flatnonzero(rng.random_sample(len(y)) < self.corruption)
            shift = rng.randint(1, self._order, size=len(hit)).astype(self.field.dtype)
            y = y.copy()
            y[hit] = self.field.add(y[hit], shift)
        return X, y

    def sample(self, m: int, rng: RandomLike) -> Array:
        X, y = self.sample_xy(m, rng)
        return lift(X, y)

    def sample_weighted(self, m: int, rng: RandomLike) -> Weighted:
        rng = as_random_state(rng)
        X, weights = self.features.sample_weighted(m, rng)
        y = self.labels(X)
        if not self.corruption:
            return lift(X, y), weights
        damaged = rng.binomial(weights, self.corruption)
        rows, counts = [lift(X, y)], [weights - damaged]
        # A corrupted label is uniform among the others: peel off one shift after another.
        for shift in range(1, self._order):
            left = self._order - shift
            taken = rng.binomial(damaged, 1.0 / left)
            damaged = damaged - taken
            hit = np.flatnonzero(taken)
            wrong = self.field.add(y[hit], np.full(len(hit), shift, dtype=self.field.dtype))
            rows.append(lift(X[hit], np.asarray(wrong)))
            counts.append(taken[hit])
        merged = np.concatenate(counts).astype(np.int64)
        seen = merged > 0
        return np.vstack(rows)[seen], merged[seen]

    def _label_law(self, agreeing: float, total: float) -> float:
        """Mass of {x in a set of mass ``total``, y = g(x)}, g agreeing on mass ``agreeing``."""
        wrong = self.corruption / (self._order - 1) if self.corruption else 0.0
        return (1.0 - self.corruption) * agreeing + wrong * (total - agreeing)

    def probability(self, space: Subspace | AffineSubspace) -> float:
        """Probability that a row ``(x, y)`` falls in ``space``."""
        self._check_space(space)
        if isinstance(space, AffineSubspace):
            raise InputError(
                "the law of labelled rows is known for linear subspaces only; "
                "ask features.probability(...) for affine sets of features"
            )
        label = np.zeros((1, self.dim), dtype=self.field.dtype)
        label[0, -1] = self.field.one
        d = self.features.dim
        projected = Subspace.span(space.basis[:, :d], field=self.field, dim=d)
        total = self.features.probability(projected)
        if space.contains(label)[0]:
            return total
        # Otherwise (x, y) in the space iff x is in the projection and y = g(x), g linear. The x
        # with g(x) = <coef, x> + c are those with (x, <coef, x> + c) in the space.
        meet = self._preimage(space)
        return self._label_law(self.features.probability(meet), total)

    def _preimage(self, space: Subspace) -> AffineSubspace:
        """Return {x : (x, <coef, x> + intercept) in space}, an affine subspace."""
        # Checks h with <h, (x, y)> = 0 on the space become affine equations in x alone.
        checks = space.annihilator().basis
        last = checks[:, -1]
        planted = np.asarray(self.field.mul(last[:, None], self.coef[None, :]))
        equations = np.asarray(self.field.add(checks[:, :-1], planted))
        constants = np.asarray(self.field.mul(last, np.full(len(last), self.intercept, last.dtype)))
        return _solutions(equations, constants, self.features.dim, self.field)

    def error(self, coef: Any = None, intercept: Any = 0) -> float:
        """Probability that ``<coef, x> + intercept`` differs from the label: exact.

        ``coef`` may also be a rule with attributes ``coef`` and ``intercept``; ``None`` asks for
        the error of the planted function itself, which is ``corruption``.
        """
        if coef is None:
            coef, intercept = self.coef, self.intercept
        elif hasattr(coef, "coef"):
            coef, intercept = coef.coef, getattr(coef, "intercept", 0)
        other = self._vector(coef)
        constant = self.field.elements([intercept], name="intercept")
        planted = np.full(1, self.intercept, dtype=constant.dtype)
        # The rule agrees where <planted - coef, x> + (planted intercept - intercept) = 0.
        equation = np.asarray(self.field.sub(self.coef, other))[None, :]
        offset = np.asarray(self.field.sub(planted, constant))
        if isinstance(self.features, Finite):  # evaluating the support beats solving equations
            values = self.field.dot(self.field.rows(self.features.support), equation)[:, 0]
            zero = np.asarray(self.field.add(values, np.full(len(values), offset[0]))) == 0
            agreeing = math.fsum(self.features.probabilities[zero])
        else:
            agree = _solutions(equation, offset, self.features.dim, self.field)
            agreeing = self.features.probability(agree)
        return 1.0 - self._label_law(agreeing, 1.0)

    def canonical(self) -> dict[str, Any]:
        return {
            "law": "labelled parity",
            "features": self.features.canonical(),
            "coef": [str(c) for c in self.coef.tolist()],
            "intercept": str(self.intercept),
            "corruption": self.corruption.hex(),
        }


def _solutions(equations: Array, constants: Array, dim: int, field: Field) -> AffineSubspace:
    """Return {x : <a, x> + c = 0 for every equation (a, c)}."""
    checks = Subspace.span(lift(equations, constants), field=field, dim=dim + 1)
    return AffineSubspace.from_homogeneous(checks.annihilator())
