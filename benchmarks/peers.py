"""The libraries people would otherwise use, each called at its fastest entry point.

All of them do *plain* elimination: they find the rank or the echelon form of the rows. None keeps
counts, so none can tell a direction seen once from one seen in half of the rows.

M4RI comes from Debian (``apt-get install libm4ri-dev``), the others from PyPI
(``pip install python-flint galois ldpc``). Whatever is missing is left out of the run.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import importlib
import importlib.metadata
import re
from functools import cache
from typing import Any

import numpy as np

from flagstone import BitRows, stable_partition

__all__ = [
    "INSTALL",
    "Matrix",
    "flint_matrix",
    "galois_rank",
    "ldpc_rank",
    "naive_rank",
    "numpy_rank",
    "versions",
]

INSTALL = {
    "M4RI": "apt-get install libm4ri-dev",
    "python-flint": "pip install python-flint",
    "galois": "pip install galois",
    "ldpc": "pip install ldpc",
}


def versions() -> dict[str, str | None]:
    """Return the version of each peer, None for one that is not installed."""
    found: dict[str, str | None] = {"M4RI": _m4ri_version() if _library() else None}
    for name in ("python-flint", "galois", "ldpc"):
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = None
    return found


# -- M4RI -------------------------------------------------------------------------------------


class _Mzd(ctypes.Structure):
    """``mzd_t``: its first four fields and its last are all that filling a matrix needs.

    The last pointer leads to the rows: to a table of row addresses up to the release of 2020, to
    the words themselves after it.
    """

    _fields_ = [
        ("nrows", ctypes.c_int),
        ("ncols", ctypes.c_int),
        ("width", ctypes.c_int),
        ("rowstride", ctypes.c_int),
        ("between", ctypes.c_uint8 * 40),
        ("rows", ctypes.c_void_p),
    ]


@cache
def _m4ri_name() -> str | None:
    return ctypes.util.find_library("m4ri")


def _m4ri_version() -> str:
    found = re.search(r"20\d{6}", _m4ri_name() or "")
    return found.group() if found else "unknown"


@cache
def _library() -> ctypes.CDLL | None:
    name = _m4ri_name()
    if name is None:
        return None
    library = ctypes.CDLL(name)
    library.mzd_init.restype = ctypes.POINTER(_Mzd)
    library.mzd_init.argtypes = [ctypes.c_int, ctypes.c_int]
    library.mzd_free.argtypes = [ctypes.POINTER(_Mzd)]
    library.mzd_echelonize_m4ri.argtypes = [ctypes.POINTER(_Mzd), ctypes.c_int, ctypes.c_int]
    library.mzd_echelonize.argtypes = [ctypes.POINTER(_Mzd), ctypes.c_int]
    return library


class Matrix:
    """A matrix of M4RI, filled from packed rows by one copy of memory.

    M4RI reduces in place, so it is filled again before each run; that is never timed. Its words
    have column i at bit ``i % 64`` too.
    """

    def __init__(self, rows: BitRows) -> None:
        library = _library()
        assert library is not None, "M4RI is not installed"
        self._library = library
        self._source = rows.words
        self._mzd = library.mzd_init(*rows.shape)
        mzd = self._mzd.contents
        n, stride = mzd.nrows, mzd.rowstride
        first = mzd.rows
        if _m4ri_version() <= "20200125":
            address = np.ctypeslib.as_array((ctypes.c_uint64 * n).from_address(mzd.rows))
            if n > 1 and (np.diff(address) != 8 * stride).any():
                raise MemoryError("M4RI split the matrix into several blocks: take fewer rows")
            first = int(address[0])
        words = np.ctypeslib.as_array((ctypes.c_uint64 * (n * stride)).from_address(first))
        self._words = words.reshape(n, stride)[:, : mzd.width]

    def fill(self) -> Matrix:
        """Copy the rows in, afresh."""
        self._words[:] = self._source
        return self

    def echelonize_m4ri(self) -> int:
        """The fast entry: Four Russians, full reduction, k chosen by M4RI; returns the rank."""
        return int(self._library.mzd_echelonize_m4ri(self._mzd, 1, 0))

    def echelonize(self) -> int:
        """The default entry, which chooses the algorithm itself; returns the rank."""
        return int(self._library.mzd_echelonize(self._mzd, 1))

    def __del__(self) -> None:
        if hasattr(self, "_mzd"):
            self._library.mzd_free(self._mzd)


# -- packages that take NumPy arrays ------------------------------------------------------------


def ldpc_rank(X: np.ndarray) -> int:
    """Rank over GF(2) by ldpc, dense method, from a 0/1 array."""
    return int(importlib.import_module("ldpc.mod2").rank(X))


def galois_rank(X: np.ndarray, order: int = 2) -> int:
    """Rank by galois, compiled row reduction, from an array of field elements."""
    field = importlib.import_module("galois").GF(order)
    return int(np.count_nonzero(X.view(field).row_reduce().any(axis=1)))


def flint_matrix(X: np.ndarray, p: int = 2) -> Any:
    """The matrix of python-flint, p = 0: of integers; ``.rank()`` is its fastest entry."""
    flint = importlib.import_module("flint")
    if p == 0:
        return flint.fmpz_mat(*X.shape, X.ravel().tolist())
    return flint.nmod_mat(*X.shape, X.ravel().tolist(), p)


def numpy_rank(rows: BitRows) -> int:
    """What one would write by hand: elimination on packed words, one NumPy pass per column."""
    A = rows.words.copy()
    rank = 0
    for column in range(rows.dim):
        word, bit = column // 64, np.uint64(column % 64)
        hits = rank + np.flatnonzero(A[rank:, word] >> bit & np.uint64(1))
        if len(hits):
            pivot = A[hits[0]].copy()
            A[hits[0]] = A[rank]
            A[rank] = pivot
            A[hits[1:]] ^= pivot
            rank += 1
    return rank


def naive_rank(rows: BitRows) -> int:
    """The literal stable partition (the paper's Algorithm 3); its first set spans everything."""
    sets = stable_partition(rows)
    return len(sets[0]) if sets else 0
