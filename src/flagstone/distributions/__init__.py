"""Distributions over finite-dimensional spaces whose exact law is known.

A replicability claim is about a distribution, so these know theirs: the probability of any
subspace (or affine subspace) is *computed*. Generalization error is therefore a number, never an
estimate, and a sample on a small support comes as weighted rows from one multinomial draw: a
sample of :math:`10^9` rows costs as much as one of ten.

The paper's three distributions are :func:`rare_direction` (its :math:`\\mathcal{D}_m`),
:func:`blocks` (its instability proposition) and :func:`geometric` (its experiments).

Samplers draw from NumPy's frozen ``RandomState``, whose streams never change between releases;
the learners themselves use only :class:`flagstone.coins.Coins`.
"""

from flagstone.distributions._labelled import LabelledParity
from flagstone.distributions._laws import Distribution, Finite, Mixture, UniformOn
from flagstone.distributions._named import (
    blocks,
    geometric,
    planted_parity,
    planted_subspace,
    random_subspace,
    rare_direction,
    uniform,
)

__all__ = [
    "Distribution",
    "Finite",
    "LabelledParity",
    "Mixture",
    "UniformOn",
    "blocks",
    "geometric",
    "planted_parity",
    "planted_subspace",
    "random_subspace",
    "rare_direction",
    "uniform",
]
