"""Subspaces and affine subspaces: canonical, immutable values."""

from flagstone.subspace._affine import AffineSubspace
from flagstone.subspace._linear import Subspace, canonical_text

__all__ = ["AffineSubspace", "Subspace", "canonical_text"]
