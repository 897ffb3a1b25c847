"""Linear algebra over GF(2) on packed rows: reduced echelon form, reduction, products, merge.

Reduction by a reduced basis and products with many functionals are one operation: add to each
result the rows that certain bits of the input name (:mod:`flagstone.kernels.gf2_product`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from flagstone.kernels._jit import inline, jit
from flagstone.kernels._llvm import leading_zeros, popcount, trailing_zeros
from flagstone.kernels.bits import unpack
from flagstone.kernels.gf2_product import add_named, choose, pick

Words = NDArray[np.uint64]
Counts = NDArray[np.int64]


def rref(ar: int, matrix: Words) -> tuple[Words, Counts]:
    """Reduced row echelon form (leftmost pivots) and the pivot columns.

    Rows are taken in growing portions. Of each, only what the basis so far does not reduce to zero
    is eliminated row by row, so tall matrices cost little more than one reduction.
    """
    width = max(1, -(-ar // 64))
    basis, pivots = np.zeros((0, width), np.uint64), np.zeros(0, np.int64)
    start, portion = 0, max(256, 2 * ar)
    while start < len(matrix) and len(pivots) < ar:
        rest = matrix[start : start + portion]
        if len(pivots):
            rest = reduce(ar, rest, basis, pivots)
            rest = rest[rest.any(axis=1)]
        if len(rest):
            rows = np.zeros((ar, width), np.uint64)
            present = np.zeros(ar, np.bool_)
            rows[pivots] = basis
            present[pivots] = True
            _echelon(rest, rows, present)
            pivots = np.flatnonzero(present)
            basis = rows[pivots]
            back_substitute(basis, pivots)
        start, portion = start + portion, min(4 * portion, 2**16)
    return basis, pivots


def reduce(ar: int, rows: Words, basis: Words, pivots: Counts) -> Words:
    """``rows`` minus the combination of the reduced ``basis`` that cancels its pivot columns."""
    # A pivot column leaves the rest of its basis vector behind, any other column itself.
    columns = np.arange(ar)
    left = np.zeros((ar, rows.shape[1]), np.uint64)
    left[pivots] = basis
    left[columns, columns >> 6] ^= np.uint64(1) << (columns & 63).astype(np.uint64)
    result = np.zeros_like(rows)
    add_named(rows, left, result)
    return result


def dot(ar: int, rows: Words, functionals: Words) -> NDArray[np.uint8]:
    """All products ⟨row, functional⟩ as 0/1."""
    number = len(functionals)
    if number < 8:
        result = np.empty((len(rows), number), np.uint8)
        _dot(rows, functionals, result)
        return result
    columns = np.zeros((ar, -(-number // 64) * 8), np.uint8)
    packed = np.packbits(unpack(functionals, ar).T, axis=1, bitorder="little")
    columns[:, : packed.shape[1]] = packed
    products = np.zeros((len(rows), columns.shape[1] // 8), np.uint64)
    add_named(rows, columns.view(np.uint64), products)
    return unpack(products, number)


def merge(ar: int, X: Words, cx: Counts, Y: Words, cy: Counts) -> tuple[Words, Counts]:
    """Adapted basis of M_k = Σ V_i ∩ W_j (i + j = k), for flags given by adapted bases.

    Both bases come by falling count. On a basis adapted to both flags merging is adding counts.
    """
    basis = np.zeros((ar, X.shape[1]), np.uint64)
    counts = np.zeros(ar, np.int64)
    basis[: len(X)] = X
    counts[: len(X)] = cx
    rank = _merge(basis, counts, len(X), Y, cy)
    order = np.argsort(-counts[:rank], kind="stable")
    return basis[order], counts[order]


@inline
def _leading(vector: Any, start: int) -> int:
    for word in range(start >> 6, len(vector)):
        if vector[word] != 0:
            return 64 * word + trailing_zeros(vector[word])
    return -1


@inline
def _last(vector: Any) -> int:
    for word in range(len(vector) - 1, -1, -1):
        if vector[word] != 0:
            return 64 * word + 63 - leading_zeros(vector[word])
    return -1


@inline
def _bit(vector: Any, index: int) -> bool:
    return (vector[index >> 6] >> np.uint64(index & 63)) & np.uint64(1) != 0


@inline
def _copy(target: Any, source: Any) -> None:
    """Copy a row; assigning slices takes several seconds to compile."""
    for k in range(len(target)):
        target[k] = source[k]


@inline
def _add(target: Any, source: Any) -> None:
    for k in range(len(target)):
        target[k] ^= source[k]


@jit
def _echelon(matrix: Any, rows: Any, present: Any) -> None:
    """Row p of ``rows`` gets the leading bit p wherever the span of ``matrix`` has one."""
    left = np.empty(rows.shape[1], np.uint64)
    missing = len(present)
    for i in range(len(matrix)):
        if missing == 0:
            return
        _copy(left, matrix[i])
        p = _leading(left, 0)
        while p >= 0:
            if not present[p]:
                _copy(rows[p], left)
                present[p] = True
                missing -= 1
                break
            _add(left, rows[p])
            p = _leading(left, p)


def back_substitute(basis: Words, pivots: Counts) -> None:
    """Clear the pivot columns of an echelon basis in all other rows, 64 pivots at a time."""
    for start in reversed(range(0, len(pivots), 64)):
        block, columns = basis[start : start + 64], pivots[start : start + 64]
        _back_substitute(block, columns)
        if start:
            above = basis[:start]
            add_named(pick(above, choose(columns, basis.shape[1])), block, above)


@jit
def _back_substitute(rows: Any, pivots: Any) -> None:
    for j in range(len(rows) - 1, 0, -1):
        for i in range(j):
            if _bit(rows[i], pivots[j]):
                _add(rows[i], rows[j])


@jit
def _dot(rows: Any, functionals: Any, result: Any) -> None:
    for i in range(len(rows)):
        for j in range(len(functionals)):
            total = np.uint64(0)
            for k in range(rows.shape[1]):
                total ^= rows[i, k] & functionals[j, k]
            result[i, j] = popcount(total) & 1


@jit
def _merge(basis: Any, counts: Any, rank: int, Y: Any, cy: Any) -> int:
    """Claim, for each y by falling count, the last element of its support that can be had.

    ``basis`` holds x by falling count and is extended by the parts of Y outside its span, with
    count 0. ``echelon``, ``coords`` express vectors in the *original* extended basis.
    """
    dim, width = basis.shape
    echelon = np.zeros((dim, width), np.uint64)
    coords = np.zeros((dim, width), np.uint64)
    present = np.zeros(dim, np.bool_)
    claims = np.zeros((dim, width), np.uint64)
    claimed = np.zeros(dim, np.bool_)
    left = np.empty(width, np.uint64)
    coord = np.empty(width, np.uint64)
    for i in range(rank):
        left[:] = basis[i]
        coord[:] = np.uint64(0)
        coord[i >> 6] = np.uint64(1) << np.uint64(i & 63)
        p = _eliminate(left, coord, echelon, coords, present)
        echelon[p] = left
        coords[p] = coord
        present[p] = True
    for i in range(len(Y)):
        left[:] = Y[i]
        coord[:] = np.uint64(0)
        p = _eliminate(left, coord, echelon, coords, present)
        if p >= 0:
            echelon[p] = left
            coords[p, rank >> 6] = np.uint64(1) << np.uint64(rank & 63)
            present[p] = True
            coord[rank >> 6] |= np.uint64(1) << np.uint64(rank & 63)
            rank += 1
        vector = Y[i].copy()
        q = _last(coord)
        while claimed[q]:
            _add(coord, claims[q])
            _add(vector, basis[q])
            q = _last(coord)
        claims[q] = coord
        claimed[q] = True
        basis[q] = vector
        counts[q] += cy[i]
    return rank


@inline
def _eliminate(left: Any, coord: Any, echelon: Any, coords: Any, present: Any) -> int:
    """Reduce ``left`` from the left, noting in ``coord`` what was used; -1 if nothing is left."""
    p = _leading(left, 0)
    while p >= 0 and present[p]:
        _add(left, echelon[p])
        _add(coord, coords[p])
        p = _leading(left, p)
    return p
