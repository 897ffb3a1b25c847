"""The kernels in plain NumPy and Python: the specification of the native ones, with the same bits.

`flagstone._kernels` takes them where the native module was not built.
"""

from flagstone._reference.certificates import log_mean_product
from flagstone._reference.finite import finite_field
from flagstone._reference.gf2 import gf2_flag, gf2_flag_load
from flagstone._reference.linalg import gf2_dot, gf2_merge, gf2_multiply, gf2_reduce, gf2_rref
from flagstone._reference.packing import gf2_lengths, pack, pack_columns
from flagstone._reference.pieces import cut_pieces
from flagstone._reference.text import parse_digits

__all__ = [
    "cut_pieces",
    "finite_field",
    "gf2_dot",
    "gf2_flag",
    "gf2_flag_load",
    "gf2_lengths",
    "gf2_merge",
    "gf2_multiply",
    "gf2_reduce",
    "gf2_rref",
    "log_mean_product",
    "pack",
    "pack_columns",
    "parse_digits",
]
