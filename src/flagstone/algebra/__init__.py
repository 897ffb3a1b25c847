"""Exact linear algebra over finite fields and QQ: fields, packed rows, subspaces, flags."""

from flagstone.algebra.affine import AffineSubspace
from flagstone.algebra.bitrows import BitRows
from flagstone.algebra.fields import GF, QQ, Array, Field, FieldLike, Rows, as_field, pack, width
from flagstone.algebra.flag import Flag, Level, merge_flags, merge_tree
from flagstone.algebra.lift import append_column, append_ones, chunks, keep_rows, value_order
from flagstone.algebra.partition import stable_partition
from flagstone.algebra.staircase import Plateau, Staircase
from flagstone.algebra.subspace import Subspace

__all__ = [
    "GF",
    "QQ",
    "AffineSubspace",
    "Array",
    "BitRows",
    "Field",
    "FieldLike",
    "Flag",
    "Level",
    "Plateau",
    "Rows",
    "Staircase",
    "Subspace",
    "append_column",
    "append_ones",
    "as_field",
    "chunks",
    "keep_rows",
    "merge_flags",
    "merge_tree",
    "pack",
    "stable_partition",
    "value_order",
    "width",
]
