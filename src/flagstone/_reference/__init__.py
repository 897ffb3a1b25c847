"""The kernels in plain NumPy and Python: the specification of the native ones, with the same bits.

`flagstone._kernels` takes them where the native module was not built.
"""

from flagstone._reference import gf2
from flagstone._reference.certificates import log_mean_product
from flagstone._reference.finite import finite_field
from flagstone._reference.packing import pack, pack_columns
from flagstone._reference.pieces import cut_pieces
from flagstone._reference.text import parse_digits

__all__ = [
    "cut_pieces",
    "finite_field",
    "gf2",
    "log_mean_product",
    "pack",
    "pack_columns",
    "parse_digits",
]
