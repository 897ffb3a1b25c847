"""The laws themselves: finite ones, uniform ones, mixtures."""

from __future__ import annotations

import hashlib
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from flagstone.algebra import AffineSubspace, Field, FieldLike, Subspace, as_field
from flagstone.checks import checked_integer
from flagstone.errors import InputError

Array = npt.NDArray[Any]
Weighted = tuple[Array, npt.NDArray[np.int64]]
RandomLike = int | np.random.RandomState

#: A uniform law is enumerated (and drawn as one multinomial) up to this many points.
ENUMERATION_LIMIT = 1 << 16


def as_random_state(rng: RandomLike) -> np.random.RandomState:
    """Return ``rng`` itself, or the frozen generator started from an integer seed."""
    if isinstance(rng, np.random.RandomState):
        return rng
    if isinstance(rng, bool) or not isinstance(rng, (int, np.integer)):
        raise InputError(
            "rng must be an integer seed or a numpy.random.RandomState (the frozen generator), "
            f"got {type(rng).__name__}"
        )
    if not 0 <= rng < 2**32:
        raise InputError(f"an integer seed must lie in [0, 2**32), got {rng}")
    return np.random.RandomState(int(rng))


def checked_size(m: Any) -> int:
    """Return how many rows are to be drawn."""
    return checked_integer(m, 0, "the number of rows must be a non-negative integer")


def lift(X: Array, last: Array) -> Array:
    """Append a column."""
    return np.concatenate([X, np.asarray(last, dtype=X.dtype)[:, None]], axis=1)


class Distribution(ABC):
    """A law on :math:`F^d`: it samples, and it knows the probability of every subspace.

    Attributes
    ----------
    field : Field
        The field of the entries.
    dim : int
        Number of entries of a row (for a labelled law, the label included).
    """

    field: Field
    dim: int
    _name: str

    @abstractmethod
    def sample(self, m: int, rng: RandomLike) -> Array:
        """Draw ``m`` independent rows, in arrival order, as an array of shape ``(m, dim)``."""

    @abstractmethod
    def sample_weighted(self, m: int, rng: RandomLike) -> Weighted:
        """Draw ``m`` rows as ``(rows, weights)``: rows and how often each was drawn.

        The multiset has the law of ``m`` independent rows. The order of the rows is fixed by the
        distribution, not by arrival, which costs no guarantee: a flag may read a sample in any
        order that is fixed by the values. Rows drawn zero times are left out. A row may come
        more than once (where a support lists it twice, say): its weights add up.
        """

    @abstractmethod
    def probability(self, space: Subspace | AffineSubspace) -> float:
        """Probability that a row falls in ``space``: exact, up to the rounding of one float."""

    @abstractmethod
    def canonical(self) -> dict[str, Any]:
        """Return plain data that determine the law (for hashing and reports)."""

    def uncovered(self, space: Subspace | AffineSubspace) -> float:
        """Probability that a row falls outside ``space``."""
        return 1.0 - self.probability(space)

    @property
    def _order(self) -> int:
        order = self.field.order
        assert order is not None  # laws that ask for it are refused over QQ
        return order

    def _check_space(self, space: Subspace | AffineSubspace) -> None:
        if space.ambient_dim != self.dim or space.field != self.field:
            raise InputError(
                f"the space must lie in {self.field.name}^{self.dim} like the rows, "
                f"got one in {space.field.name}^{space.ambient_dim}"
            )

    def __repr__(self) -> str:
        return self._name


class Finite(Distribution):
    """Any law with finite support, over any field (the rationals included).

    Parameters
    ----------
    support : array of shape (n, dim)
        The points. Repeated points are allowed; their probabilities add up.
    probabilities : array of shape (n,)
        Non-negative, summing to 1 within 1e-9 (they are then divided by their sum).
    field : Field, int or str, default 2
        The field of the entries.

    Examples
    --------
    One multinomial draw replaces a billion rows, and the distribution is exact:

    >>> from flagstone.distributions import Finite
    >>> from flagstone import Subspace
    >>> D = Finite([[1, 0], [0, 1], [1, 1]], [0.5, 0.25, 0.25])
    >>> rows, weights = D.sample_weighted(10**9, rng=7)
    >>> int(weights.sum())
    1000000000
    >>> D.probability(Subspace.span([[1, 1]]))
    0.25
    """

    def __init__(
        self,
        support: npt.ArrayLike,
        probabilities: npt.ArrayLike,
        field: FieldLike = 2,
        *,
        name: str | None = None,
    ) -> None:
        self.field = as_field(field)
        self.support: Array = self.field.array(self.field.rows(np.asarray(support), name="support"))
        self.dim = int(self.support.shape[1])
        p = np.asarray(probabilities, dtype=np.float64)
        if p.shape != (len(self.support),):
            raise InputError(
                f"there must be one probability per support row: {len(self.support)} rows, "
                f"probabilities of shape {p.shape}"
            )
        if not (np.isfinite(p).all() and (p >= 0).all()):
            bad = int(np.flatnonzero(~(np.isfinite(p) & (p >= 0)))[0])
            raise InputError(
                f"probabilities must be finite and non-negative; number {bad} is {p[bad]}"
            )
        total = math.fsum(p)
        if abs(total - 1.0) > 1e-9:
            raise InputError(
                f"probabilities must sum to 1, they sum to {total:.12g}; "
                "put the remaining mass on a row of the support (for instance the zero row)"
            )
        self.probabilities: npt.NDArray[np.float64] = p / total
        for array in (self.support, self.probabilities):
            array.setflags(write=False)
        self._name = name or (
            f"Finite(support of {len(p)} rows, dim={self.dim}, field={self.field.name})"
        )

    def sample(self, m: int, rng: RandomLike) -> Array:
        m = checked_size(m)
        drawn = as_random_state(rng).choice(len(self.support), size=m, p=self.probabilities)
        return self.support[drawn]

    def sample_weighted(self, m: int, rng: RandomLike) -> Weighted:
        m = checked_size(m)
        counts = as_random_state(rng).multinomial(m, self.probabilities).astype(np.int64)
        seen = counts > 0
        return self.support[seen], counts[seen]

    def probability(self, space: Subspace | AffineSubspace) -> float:
        self._check_space(space)
        inside = np.asarray(space.contains(self.support), dtype=bool)
        return min(1.0, math.fsum(self.probabilities[inside]))

    def canonical(self) -> dict[str, Any]:
        text = repr((self.support.tolist(), [float(p).hex() for p in self.probabilities]))
        return {
            "law": "finite",
            "field": self.field.name,
            "dim": self.dim,
            "sha256": hashlib.sha256(text.encode()).hexdigest(),
        }


class UniformOn(Distribution):
    """The uniform law on a subspace over a finite field.

    Notes
    -----
    **Guarantees**

    ``probability(W)`` is ``q**(dim(V & W) - dim(V))``, and for an affine ``W`` the same with the
    solutions counted; nothing is enumerated, in any dimension.

    Examples
    --------
    >>> from flagstone.distributions import UniformOn
    >>> from flagstone import Subspace
    >>> D = UniformOn(Subspace.full(64))
    >>> D.probability(Subspace.span([[1] * 64]))  # 2 points of 2**64
    1.0842021724855044e-19
    """

    def __init__(self, subspace: Subspace, *, name: str | None = None) -> None:
        if subspace.field.order is None:
            raise InputError(
                "there is no uniform law on a subspace over QQ; "
                "use a finite one: Finite(support, probabilities, field='QQ')"
            )
        self.subspace = subspace
        self.field = subspace.field
        self.dim = subspace.ambient_dim
        self._name = name or f"UniformOn({subspace!r})"

    def _combinations(self, coefficients: Array) -> Array:
        """Turn coordinates in the basis of the subspace into rows."""
        k = self.subspace.dim
        if k == 0:
            return np.zeros((len(coefficients), self.dim), dtype=self.field.dtype)
        rows = self.field.rows(coefficients.astype(self.field.dtype))
        return self.field.dot(rows, np.ascontiguousarray(self.subspace.basis.T))

    def sample(self, m: int, rng: RandomLike) -> Array:
        m = checked_size(m)
        size = (m, self.subspace.dim)
        return self._combinations(as_random_state(rng).randint(0, self._order, size=size))

    def sample_weighted(self, m: int, rng: RandomLike) -> Weighted:
        m = checked_size(m)
        points = self._order**self.subspace.dim
        if points > ENUMERATION_LIMIT or points > m:
            return self.sample(m, rng), np.ones(m, dtype=np.int64)
        counts = as_random_state(rng).multinomial(m, np.full(points, 1.0 / points))
        seen = np.flatnonzero(counts)
        digits = seen[:, None] // self._order ** np.arange(self.subspace.dim)[None, :]
        return self._combinations(digits % self._order), counts[seen].astype(np.int64)

    def probability(self, space: Subspace | AffineSubspace) -> float:
        self._check_space(space)
        k = self.subspace.dim
        if isinstance(space, Subspace):
            return float(self._order) ** ((self.subspace & space).dim - k)
        if space.is_empty:
            return 0.0
        # Points x of V in the affine space A are the rows (x, 1) of (V x F) & cone(A).
        lifted = lift(self.subspace.basis, np.zeros(k, dtype=self.field.dtype))
        last = np.zeros((1, self.dim + 1), dtype=self.field.dtype)
        last[0, -1] = self.field.one
        cylinder = Subspace.span(np.vstack([lifted, last]), field=self.field)
        meet = cylinder & space.homogeneous()
        if not np.any(meet.basis[:, -1] != 0):
            return 0.0
        return float(self._order) ** (meet.dim - 1 - k)

    def canonical(self) -> dict[str, Any]:
        return {
            "law": "uniform",
            "field": self.field.name,
            "dim": self.dim,
            "subspace": self.subspace.fingerprint(),
        }


class Mixture(Distribution):
    """Draw from one of several laws, chosen independently for each row.

    Examples
    --------
    The probability of a subspace is the mixture of the probabilities:

    >>> from flagstone.distributions import Finite, Mixture, uniform
    >>> from flagstone import Subspace
    >>> D = Mixture([Finite([[1, 1, 1]], [1.0]), uniform(3)], [0.75, 0.25])
    >>> D.probability(Subspace.span([[1, 1, 1]])) == 0.75 + 0.25 * 2 / 8
    True
    """

    def __init__(
        self,
        components: Sequence[Distribution],
        weights: Sequence[float],
        *,
        name: str | None = None,
    ) -> None:
        if not components or len(components) != len(weights):
            raise InputError(
                "a mixture needs at least one component and one weight each, "
                f"got {len(components)} components and {len(weights)} weights"
            )
        first = components[0]
        for other in components[1:]:
            if (other.field, other.dim) != (first.field, first.dim):
                raise InputError(
                    f"the components of a mixture must live in the same space: "
                    f"{first.field.name}^{first.dim} and {other.field.name}^{other.dim}"
                )
        w = np.asarray(weights, dtype=np.float64)
        if not (np.isfinite(w).all() and (w >= 0).all() and abs(math.fsum(w) - 1.0) <= 1e-9):
            raise InputError(f"mixture weights must be non-negative and sum to 1, got {weights}")
        self.components = tuple(components)
        self.weights: npt.NDArray[np.float64] = w / math.fsum(w)
        self.field = first.field
        self.dim = first.dim
        parts = zip(self.weights, self.components, strict=True)
        self._name = name or f"Mixture({' + '.join(f'{p:g} {c!r}' for p, c in parts)})"

    def sample(self, m: int, rng: RandomLike) -> Array:
        m = checked_size(m)
        rng = as_random_state(rng)
        origin = rng.choice(len(self.components), size=m, p=self.weights)
        rows: Array = np.empty((m, self.dim), dtype=self.field.dtype)
        for i, component in enumerate(self.components):
            chosen = np.flatnonzero(origin == i)
            rows[chosen] = component.sample(len(chosen), rng)
        return rows

    def sample_weighted(self, m: int, rng: RandomLike) -> Weighted:
        m = checked_size(m)
        rng = as_random_state(rng)
        sizes = rng.multinomial(m, self.weights)
        drawn = [
            c.sample_weighted(int(n), rng) for c, n in zip(self.components, sizes, strict=True)
        ]
        return np.vstack([rows for rows, _ in drawn]), np.concatenate([w for _, w in drawn])

    def probability(self, space: Subspace | AffineSubspace) -> float:
        return math.fsum(
            w * c.probability(space) for w, c in zip(self.weights, self.components, strict=True)
        )

    def canonical(self) -> dict[str, Any]:
        return {
            "law": "mixture",
            "weights": [float(w).hex() for w in self.weights],
            "components": [c.canonical() for c in self.components],
        }
