"""Counted flags over GF(2)."""

from flagstone.kernels.gf2_wide import State, copy, dump, insert, load, nbytes, new

__all__ = ["State", "copy", "dump", "insert", "load", "nbytes", "new"]
