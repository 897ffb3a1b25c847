"""Fields: GF(2), GF(p), GF(p^k) and the rationals QQ.

A :class:`Field` says what a legal entry is, turns the caller's entries into canonical
rows, and knows the kernels that do its linear algebra. Everything downstream handles rows in
the field's own form and never asks which field it is.
"""

from flagstone.algebra.fields._base import Field, FieldLike, FlagState, Rows, width
from flagstone.algebra.fields._lookup import GF, QQ, as_field, pack
from flagstone.algebra.fields._tables import as_table
from flagstone.exact import Array

__all__ = [
    "GF",
    "QQ",
    "Array",
    "Field",
    "FieldLike",
    "FlagState",
    "Rows",
    "as_field",
    "as_table",
    "pack",
    "width",
]
