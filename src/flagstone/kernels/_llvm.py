"""Single machine instructions that Numba does not offer: bit counts and bit scans.

With ``NUMBA_DISABLE_JIT=1`` (coverage runs) the same names are plain Python.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic

__all__ = ["popcount", "trailing_zeros"]


@intrinsic
def _popcount(_typingctx: Any, word: Any) -> Any:
    def codegen(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.uint64), codegen


@intrinsic
def _trailing_zeros(_typingctx: Any, word: Any) -> Any:
    def codegen(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), codegen


def _popcount_python(word: Any) -> int:
    return int(word).bit_count()


def _trailing_zeros_python(word: Any) -> int:
    value = int(word)
    return (value & -value).bit_length() - 1 if value else 64


popcount: Any = _popcount_python if config.DISABLE_JIT else _popcount
"""Number of set bits of a 64-bit word."""

trailing_zeros: Any = _trailing_zeros_python if config.DISABLE_JIT else _trailing_zeros
"""Index of the lowest set bit of a 64-bit word; 64 for zero."""
