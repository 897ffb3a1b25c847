"""Subspaces and affine subspaces: canonical, immutable values."""

from flagstone.algebra.subspace._affine import AffineSubspace
from flagstone.algebra.subspace._linear import Subspace, canonical_text

__all__ = ["AffineSubspace", "Subspace", "canonical_text"]
