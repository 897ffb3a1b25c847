"""Loops on a counted echelon basis over GF(2): rows in singly, in bulk, by coordinates.

:mod:`flagstone.kernels.gf2_wide` explains the description and chooses among the loops. Everywhere
here ``basis[p]`` has the leading bit p and count ``counts[p]``; rows of ``basis``, ``work`` and
``table`` are padded to a multiple of 256 bits.

Columns go in blocks of eight, two blocks at a time. The sums of the up to eight rows x_p of a block
(the "method of the four Russians") are named by a byte each, which of the rows they contain:
``sums[block, name]`` is what the sum has in the eight columns, ``slots[block, byte]`` the name of
the sum with that byte, 0 if there is none. The sums themselves are kept in two halves of sixteen
rows of ``table``, for the first and last four of the rows, so that all of it stays in the cache.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from flagstone.kernels._jit import jit
from flagstone.kernels._llvm import add_sums, byte_at, set_sum, trailing_zeros

__all__ = [
    "eliminate",
    "insert_by_coordinates",
    "insert_singly",
    "insert_weighted",
    "reduce",
    "survey",
]

_NONE = np.uint64(0)
_ONE = np.uint64(1)
_MOST = np.int64(2**63 - 1)


@jit
def survey(counts: Any, few: int) -> tuple[int, int, int, bool]:
    """The base count c for the bulk path, dim V_c, dim V_{c+1}, and whether to try.

    A few rows with count c − 1 are about to move up: V_c is not yet the space of most rows.
    """
    top = np.int64(0)
    for count in counts:
        top = max(top, count)
    base = top
    for count in counts:
        if count == top - 1:
            base = top - 1
    size = 0
    above = 0
    late = 0
    for count in counts:
        size += count >= base
        above += count > base
        late += count == base - 1
    return base, size, above, 8 * size >= len(counts) and (late == 0 or late >= few)


@jit
def insert_singly(basis: Any, counts: Any, scratch: Any, rows: Any, ceiling: int) -> int:
    """Insert ``rows`` in order until one belongs past set ``ceiling``; return the number done."""
    width = rows.shape[1]
    for i in range(len(rows)):
        for k in range(width):
            scratch[0, k] = rows[i, k]
        lowest = _MOST
        place = -1
        for k in range(width):
            while scratch[0, k] != _NONE:
                p = 64 * k + trailing_zeros(scratch[0, k])
                if counts[p] < lowest:
                    lowest = counts[p]
                    place = p
                    for word in range(k, width):
                        scratch[1, word] = scratch[0, word]
                    if lowest == 0:
                        # No count is smaller, so the rest of the support does not matter.
                        for word in range(k, width):
                            scratch[0, word] = _NONE
                        break
                set_sum(scratch, 0, scratch, 0, basis, p, k & ~3)
        if place >= 0:
            if lowest >= ceiling:
                return i
            for k in range(width):
                basis[place, k] = scratch[1, k] if k >= place >> 6 else _NONE
            counts[place] = lowest + 1
    return len(rows)


@jit
def insert_weighted(basis: Any, counts: Any, rows: Any, weights: Any) -> None:
    """One exchange per row: the new element has count κ + weight.

    Where two rows share a leading bit the one with the larger count stays, and their sum, with the
    smaller count, moves on: both span the same spaces. What vanishes in the end has count κ.
    """
    width = rows.shape[1]
    carry = np.zeros((1, basis.shape[1]), np.uint64)
    for i in range(len(rows)):
        if weights[i] > 0:
            count = np.int64(-1)
            for final in range(2):
                for k in range(width):
                    carry[0, k] = rows[i, k]
                lowest = _MOST
                for k in range(width):
                    while carry[0, k] != _NONE:
                        p = 64 * k + trailing_zeros(carry[0, k])
                        lowest = min(lowest, counts[p])
                        if counts[p] < count:
                            count, counts[p] = counts[p], count
                            for word in range(width):
                                old = basis[p, word]
                                basis[p, word] = carry[0, word]
                                carry[0, word] ^= old
                        else:
                            set_sum(carry, 0, carry, 0, basis, p, k & ~3)
                count = lowest + weights[i]
                if lowest == _MOST or final:
                    break


@jit
def reduce(
    basis: Any, counts: Any, base: int, table: Any, slots: Any, sums: Any, work: Any, rows: Any
) -> Any:
    """Which of ``rows`` lie in V_base: eliminate them by its basis, two blocks at a time."""
    everything = np.arange(len(rows))
    _load_rows(work, rows)
    for octet in range(0, (len(counts) + 7) // 8, 2):
        found = np.int64(0)
        for second in range(2):
            found += _tabulate(table, slots, sums, basis, counts, octet + second, base)
        if found > 0:
            _clear(table, slots, work, everything, octet)
    inside = np.ones(len(rows), np.bool_)
    for i in range(len(rows)):
        for k in range(rows.shape[1]):
            inside[i] &= work[i, k] == _NONE
    return inside


@jit
def eliminate(
    basis: Any, counts: Any, base: int, table: Any, slots: Any, sums: Any, work: Any, rows: Any
) -> Any:
    """Let set base + 1 take what it can of ``rows``, all in V_base.

    Each block of eight columns takes its new leading rows in order of arrival; two blocks at a
    time are then cleared in all other rows. Returns the indices of the rows that became zero.
    """
    active = np.arange(len(rows))
    _load_rows(work, rows)
    for octet in range(0, (len(counts) + 7) // 8, 2):
        for second in range(2):
            active = _take(basis, counts, base, table, slots, sums, work, active, octet + second)
        _clear(table, slots, work, active, octet)
    return active


@jit
def _take(
    basis: Any,
    counts: Any,
    base: int,
    table: Any,
    slots: Any,
    sums: Any,
    work: Any,
    active: Any,
    octet: int,
) -> Any:
    """Find the new leading rows in one block, and tabulate all its rows of count > base.

    In the second block of a pair, rows still lack their sum from the first.
    """
    start = (octet >> 3) & ~3
    second = octet & 1
    found = _tabulate(table, slots, sums, basis, counts, octet, base + 1)
    missing = 0
    for p in range(8 * octet, min(8 * octet + 8, len(counts))):
        missing += counts[p] == base
    kept = 0
    k = 0
    while k < len(active) and missing > 0:
        i = active[k]
        byte = byte_at(work, i, octet)
        name = slots[0, byte_at(work, i, octet - 1)] if second else np.uint8(0)
        if second:
            byte ^= byte_at(table, name & 15, octet) ^ byte_at(table, 16 + (name >> 4), octet)
        if byte != 0 and slots[second, byte] == 0:
            add_sums(work, i, table, name & 15, 16 + (name >> 4), 0, 0, start)
            p = _lead(basis, counts, base, work, i, octet)
            for word in range(work.shape[1]):
                basis[p, word] = work[i, word]
            counts[p] = base + 1
            _extend(table, slots, sums, found, basis, p)
            found += 1
            missing -= 1
        else:
            active[kept] = i
            kept += 1
        k += 1
    for j in range(k, len(active)):
        active[kept + j - k] = active[j]
    return active[: kept + len(active) - k]


@jit
def _lead(basis: Any, counts: Any, base: int, work: Any, i: int, octet: int) -> int:
    """Reduce ``work[i]`` inside its block until its leading bit is free there; return that bit."""
    while True:
        p = 8 * octet + trailing_zeros(np.uint64(byte_at(work, i, octet)))
        if counts[p] <= base:
            return p
        set_sum(work, i, work, i, basis, p, (octet >> 3) & ~3)


@jit
def _clear(table: Any, slots: Any, work: Any, active: Any, octet: int) -> None:
    """Add to each active row the sums that clear it in two neighbouring blocks."""
    start = (octet >> 3) & ~3
    for i in active:
        name = np.int64(slots[0, byte_at(work, i, octet)])
        low, high = name & 15, 16 + (name >> 4)
        byte = byte_at(work, i, octet + 1)
        byte ^= byte_at(table, low, octet + 1) ^ byte_at(table, high, octet + 1)
        name = np.int64(slots[1, byte])
        add_sums(work, i, table, low, high, 32 + (name & 15), 48 + (name >> 4), start)


@jit
def _tabulate(
    table: Any, slots: Any, sums: Any, basis: Any, counts: Any, octet: int, least: int
) -> int:
    """Tabulate the rows of one block with count ≥ ``least``; their number."""
    slots[octet & 1] = 0
    found = np.int64(0)  # a plain 0 would have Numba compile callees for the literal, too
    for p in range(8 * octet, min(8 * octet + 8, len(counts))):
        if counts[p] >= least:
            _extend(table, slots, sums, found, basis, p)
            found += 1
    return found


@jit
def _extend(table: Any, slots: Any, sums: Any, number: int, basis: Any, p: int) -> None:
    """Double the sums of ``number`` rows of a block by x_p."""
    octet = p >> 3
    block = octet & 1
    start = (p >> 6) & ~3
    first = 32 * block + 16 * (number >> 2)
    for k in range(1 << (number & 3)):
        set_sum(table, first + (1 << (number & 3)) + k, table, first + k, basis, p, start)
    byte = byte_at(basis, p, octet)
    for k in range(1 << number):
        total = sums[block, k] ^ byte
        sums[block, (1 << number) + k] = total
        slots[block, total] = (1 << number) + k


@jit
def _load_rows(work: Any, rows: Any) -> None:
    for i in range(rows.shape[0]):
        for k in range(rows.shape[1]):
            work[i, k] = rows[i, k]


@jit
def insert_by_coordinates(
    basis: Any, counts: Any, table: Any, slots: Any, sums: Any, work: Any, rows: Any
) -> None:
    """Insert ``rows`` by the supports that they have in the basis of the first moment."""
    number, width = rows.shape
    scratch = np.zeros((1, basis.shape[1]), np.uint64)
    supports = np.zeros((number, basis.shape[1]), np.uint64)
    _load_rows(work, rows)
    _supports(basis, counts, table, slots, sums, work, supports)
    keys = np.empty(len(counts), np.int64)
    for p in range(len(counts)):
        keys[p] = counts[p] * len(counts) + p
    bounds, masks = _buckets(counts, basis.shape[1])
    for i in range(number):
        lowest = _MOST
        second = _MOST
        for bucket in range(len(masks)):
            if lowest < bounds[bucket] * len(counts):
                break
            for k in range(width):
                word = supports[i, k] & masks[bucket, k]
                while word != _NONE:
                    key = keys[64 * k + trailing_zeros(word)]
                    second = min(second, max(lowest, key))
                    lowest = min(lowest, key)
                    word &= word - _ONE
        if lowest < _MOST:
            count = lowest // len(counts)
            p = lowest - count * len(counts)
            if second < (count + 1) * len(counts):
                _exchange(basis, supports, scratch, i, p, number)
            counts[p] = count + 1
            keys[p] += len(counts)


@jit
def _supports(
    basis: Any, counts: Any, table: Any, slots: Any, sums: Any, work: Any, supports: Any
) -> None:
    """Which rows of the basis each row of ``work`` is the sum of; ``work`` is used up."""
    least = np.int64(0)
    number = len(supports)
    for octet in range(0, (len(counts) + 7) // 8, 2):
        start = (octet >> 3) & ~3
        word = octet >> 3
        shift = np.uint64(8 * (octet & 7))
        reached = np.max(counts[8 * octet : 8 * octet + 16]) > 0
        if reached:
            _tabulate(table, slots, sums, basis, counts, octet, least)
            _tabulate(table, slots, sums, basis, counts, octet + 1, least)
            for i in range(number):
                name0 = np.int64(slots[0, byte_at(work, i, octet)])
                low, high = name0 & 15, 16 + (name0 >> 4)
                byte = byte_at(work, i, octet + 1)
                byte ^= byte_at(table, low, octet + 1) ^ byte_at(table, high, octet + 1)
                name1 = np.int64(slots[1, byte])
                supports[i, word] |= np.uint64(name0 | name1 << 8) << shift
                add_sums(work, i, table, low, high, 32 + (name1 & 15), 48 + (name1 >> 4), start)
        else:
            # Unit vectors: each is its own support.
            for i in range(number):
                both = byte_at(work, i, octet) | byte_at(work, i, octet + 1) << 8
                supports[i, word] |= np.uint64(both) << shift


@jit
def _buckets(counts: Any, padded: int) -> Any:
    """Columns by the binary length of their count: the least count of each bucket, and its mask.

    Counts only grow, so the least count stays a bound.
    """
    lengths = np.empty(len(counts), np.int64)
    rank = np.zeros(65, np.int64)
    for p in range(len(counts)):
        length = 0
        while counts[p] >> length != 0:
            length += 1
        lengths[p] = length
        rank[length] = 1
    bounds = np.empty(np.sum(rank), np.int64)
    number = 0
    for length in range(65):
        if rank[length]:
            bounds[number] = 1 << (length - 1) if length else 0
            rank[length] = number
            number += 1
    masks = np.zeros((number, padded), np.uint64)
    for p in range(len(counts)):
        masks[rank[lengths[p]], p >> 6] |= _ONE << np.uint64(p & 63)
    return bounds, masks


@jit
def _exchange(basis: Any, supports: Any, scratch: Any, i: int, p: int, number: int) -> None:
    """Let Σ of the support of row i from x_p on replace x_p; put later supports right.

    The support left of p has larger counts. A support with x_p loses it and gains the sum.
    """
    width = supports.shape[1]
    first = p >> 6
    bit = _ONE << np.uint64(p & 63)
    for k in range(width):
        scratch[0, k] = supports[i, k] if k >= first else _NONE
    scratch[0, first] &= ~(bit | (bit - _ONE))
    for k in range(first, width):
        word = scratch[0, k]
        while word != _NONE:
            set_sum(basis, p, basis, p, basis, 64 * k + trailing_zeros(word), k & ~3)
            word &= word - _ONE
    for j in range(i + 1, number):
        if supports[j, first] & bit != _NONE:
            set_sum(supports, j, supports, j, scratch, 0, first & ~3)
