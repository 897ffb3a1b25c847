"""The distributions people ask for by name, the paper's three among them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from flagstone.algebra import Field, FieldLike, Subspace, as_field
from flagstone.checks import checked_dim
from flagstone.distributions._labelled import LabelledParity
from flagstone.distributions._laws import (
    Array,
    Distribution,
    Finite,
    Mixture,
    RandomLike,
    UniformOn,
    as_random_state,
)
from flagstone.errors import InputError

#: The most rows and entries of a law: together at most 8 GiB.
_MOST_COLUMNS = 1 << 15


def _checked(dim: int) -> int:
    dim = checked_dim(dim)
    if dim > _MOST_COLUMNS:
        raise InputError(
            f"dim is {dim:,}, but laws go up to {_MOST_COLUMNS:,}: memory grows with its square"
        )
    return dim


def uniform(dim: int, field: FieldLike = 2) -> UniformOn:
    """Return the uniform law on :math:`F^d`, the one case where elimination is replicable.

    Examples
    --------
    >>> from flagstone.distributions import uniform
    >>> from flagstone import Subspace
    >>> uniform(3, field=5).probability(Subspace.span([[1, 2, 3]], field=5)) == 5 / 5**3
    True
    """
    field, dim = as_field(field), _checked(dim)
    return UniformOn(Subspace.full(dim, field), name=f"uniform(dim={dim}, field={field.name})")


def geometric(dim: int, field: FieldLike = 2) -> Finite:
    """Return the law of the paper's experiments: ``e_i`` with probability :math:`2^{-i}`.

    The rest of the mass, :math:`2^{-d}`, is on the zero row.

    Examples
    --------
    >>> from flagstone.distributions import geometric
    >>> geometric(3).probabilities
    array([0.5  , 0.25 , 0.125, 0.125])
    """
    field, dim = as_field(field), _checked(dim)
    masses = [2.0**-i for i in range(1, dim + 1)]
    return _on_basis(masses, field, f"geometric(dim={dim}, field={field.name})")


def blocks(dim: int, field: FieldLike = 2) -> Finite:
    """Return the law of the paper's instability proposition.

    :math:`\\sqrt d` blocks of :math:`\\sqrt d` unit vectors; a vector of block j has probability
    :math:`2^{-j}/\\sqrt d`, the rest is on the zero row. For every :math:`m \\le 2^{\\sqrt d-1}`
    some block is seen about once per vector, so two samples rarely have the same span.

    Examples
    --------
    >>> from flagstone.distributions import blocks
    >>> blocks(4).probabilities
    array([0.25 , 0.25 , 0.125, 0.125, 0.25 ])
    """
    side = math.isqrt(_checked(dim))
    if side < 2 or side * side != dim:
        raise InputError(f"dim must be a perfect square, at least 4, got {dim}")
    field = as_field(field)
    masses = [2.0 ** -(1 + i // side) / side for i in range(dim)]
    return _on_basis(masses, field, f"blocks(dim={dim}, field={field.name})")


def _on_basis(masses: list[float], field: Field, name: str) -> Finite:
    """Return the law with the given masses on the unit vectors and the rest on zero."""
    dim = len(masses)
    support: Array = np.zeros((dim + 1, dim), dtype=np.int64)
    np.fill_diagonal(support, 1)
    return Finite(support, [*masses, 1.0 - math.fsum(masses)], field, name=name)


def rare_direction(dim: int, m: int, field: FieldLike = 2) -> Mixture:
    """Return the paper's :math:`\\mathcal{D}_m`: a proper subspace and a rare direction.

    Uniform on the span of all unit vectors but the last with probability :math:`1 - 1/m`, else the
    last one. The span of ``m`` rows misses it with probability :math:`(1-1/m)^m \\approx 0.37`:
    elimination is not replicable.

    Examples
    --------
    >>> from flagstone.distributions import rare_direction
    >>> from flagstone import Subspace
    >>> D = rare_direction(3, m=100)
    >>> D.probability(Subspace.span([[1, 0, 0], [0, 1, 0]]))
    0.99
    """
    if m < 1:
        raise InputError(f"m must be at least 1, got {m}")
    if dim < 2:
        raise InputError(f"dim must be at least 2 for a proper non-zero subspace, got {dim}")
    field, eye = as_field(field), np.eye(dim, dtype=np.int64)
    return Mixture(
        [UniformOn(Subspace.span(eye[:-1], field=field)), Finite(eye[-1:], [1.0], field)],
        [1.0 - 1.0 / m, 1.0 / m],
        name=f"rare_direction(dim={dim}, m={m}, field={field.name})",
    )


def planted_subspace(
    subspace: Subspace, contamination: float = 0.0, outliers: Distribution | None = None
) -> Mixture:
    """Return the uniform law on a subspace with a share of outliers.

    Parameters
    ----------
    contamination : float in [0, 1]
        Probability that a row is drawn from ``outliers`` instead.
    outliers : Distribution, optional
        Default: uniform on the whole space (some of those rows then lie in the subspace).

    Examples
    --------
    >>> from flagstone.distributions import planted_subspace
    >>> from flagstone import Subspace
    >>> V = Subspace.span([[1, 1, 0, 0], [0, 0, 1, 1]])
    >>> planted_subspace(V, contamination=0.5).probability(V) == 0.5 + 0.5 * 4 / 16
    True
    """
    if not 0.0 <= contamination <= 1.0:
        raise InputError(f"contamination must lie in [0, 1], got {contamination}")
    if outliers is None:
        outliers = uniform(subspace.ambient_dim, subspace.field)
    return Mixture(
        [UniformOn(subspace), outliers],
        [1.0 - contamination, contamination],
        name=(
            f"planted_subspace(dim={subspace.dim} of {subspace.ambient_dim}, "
            f"contamination={contamination:g}, field={subspace.field.name})"
        ),
    )


def planted_parity(
    coef: npt.ArrayLike,
    *,
    features: Distribution | None = None,
    corruption: float = 0.0,
    intercept: Any = 0,
    field: FieldLike = 2,
) -> LabelledParity:
    """Return labelled rows that follow a linear rule, some labels corrupted.

    ``features`` defaults to the uniform law; ``field`` is that of the features where given.
    See :class:`LabelledParity`.

    Examples
    --------
    >>> from flagstone.distributions import planted_parity
    >>> planted_parity([1, 0, 1], corruption=0.1).error([1, 0, 1])
    0.09999999999999998
    """
    if features is None:
        features = uniform(len(np.asarray(coef)), field)
    return LabelledParity(features, coef, intercept=intercept, corruption=corruption)


def random_subspace(dim: int, ambient_dim: int, rng: RandomLike, field: FieldLike = 2) -> Subspace:
    """Return a uniformly random subspace of the given dimension over a finite field.

    Examples
    --------
    >>> from flagstone.distributions import random_subspace
    >>> random_subspace(3, 8, rng=1).dim
    3
    """
    field = as_field(field)
    if field.order is None:
        raise InputError("there is no uniformly random subspace over QQ")
    if not 0 <= dim <= ambient_dim:
        raise InputError(f"dim must lie in 0..{ambient_dim}, got {dim}")
    if dim == 0:
        return Subspace.zero(ambient_dim, field)
    rng = as_random_state(rng)
    # Full rank has probability above 0.28, so the loop is short; rejection keeps it uniform.
    while True:
        V = Subspace.span(rng.randint(0, field.order, size=(dim, ambient_dim)), field=field)
        if V.dim == dim:
            return V
