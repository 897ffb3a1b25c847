"""Loops on a counted echelon basis over GF(2): rows in singly, in bulk, by coordinates.

:mod:`flagstone.kernels.gf2_wide` explains the description and chooses among the loops. Everywhere
here ``basis[p]`` has the leading bit p and count ``counts[p]``; rows of ``basis``, ``work`` and
``table`` are padded to a multiple of 256 bits.

Columns go in blocks of eight, two blocks at a time. The sums of the up to eight rows x_p of a block
(the "method of the four Russians") are named by a byte each: which of the rows they contain. They
are kept in two halves of sixteen rows of ``table``, for the first and last four of the rows, so
that they stay in the cache. What is to be done about the byte that a vector has in the block is
linear in that byte, so it is kept for its two halves: ``images[block, low] ^ images[block, 16 +
high]`` holds, from the lowest byte up, the name of the sum to add, the byte that is left when it is
added, and the byte that it changes in the block to the right.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from flagstone.kernels._jit import jit, leaf
from flagstone.kernels._llvm import add_sums, byte_at, set_sum, trailing_zeros

__all__ = [
    "eliminate",
    "insert_by_coordinates",
    "insert_singly",
    "insert_weighted",
    "leading_bits",
    "survey",
]

_NONE = np.uint64(0)
_ONE = np.uint64(1)
_MOST = np.int64(2**63 - 1)


@leaf
def survey(counts: Any, few: int, wanted: int) -> Any:
    """The base count c for the bulk path, dim V_c, dim V_{c+1}, and whether to try.

    c is the largest count, if V_c then has the dimension ``wanted`` or the count below does not
    occur; else the count below. A few rows with count c − 1 are about to move up: V_c is not yet
    the space of most rows.
    """
    top = np.int64(0)
    for count in counts:
        top = max(top, count)
    highest = 0
    below = 0
    for count in counts:
        highest += count == top
        below += count == top - 1
    base = top if highest == wanted or below == 0 else top - 1
    size = 0
    above = 0
    late = 0
    for count in counts:
        size += count >= base
        above += count > base
        late += count == base - 1
    return base, size, above, 8 * size >= len(counts) and (late == 0 or late >= few)


@leaf
def leading_bits(rows: Any, columns: Any) -> None:
    """Set ``columns`` to the first set bit of each of the rows, none of them zero."""
    for i in range(len(rows)):
        k = 0
        while rows[i, k] == _NONE:
            k += 1
        columns[i] = 64 * k + trailing_zeros(rows[i, k])


@leaf
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
def eliminate(
    basis: Any, counts: Any, base: int, table: Any, images: Any, work: Any, rows: Any
) -> Any:
    """Let set base + 1 take what it can of ``rows``, all in V_base.

    Each block of eight columns takes its new leading rows in order of arrival; two blocks at a
    time are then cleared in all other rows. Returns the indices of the rows that became zero.
    """
    active = np.arange(len(rows))
    _load_rows(work, rows)
    for octet in range(0, (len(counts) + 7) // 8, 2):
        for second in range(2):
            active = _take(basis, counts, base, table, images, work, active, octet + second)
        _clear(table, images, work, active, octet)
    return active


@jit
def _take(
    basis: Any, counts: Any, base: int, table: Any, images: Any, work: Any, active: Any, octet: int
) -> Any:
    """Find the new leading rows in one block, and tabulate all its rows of count > base.

    In the second block of a pair, rows still lack their sum from the first.
    """
    start = (octet >> 3) & ~3
    first = octet & ~1
    found = _tabulate(table, images, basis, counts, octet, base + 1)
    missing = 0
    for p in range(8 * octet, min(8 * octet + 8, len(counts))):
        missing += counts[p] == base
    kept = 0
    k = 0
    while k < len(active) and missing > 0:
        i = active[k]
        byte = byte_at(work, i, first)
        image = images[0, byte & 15] ^ images[0, 16 + (byte >> 4)]
        name0 = np.int64(image & 255)
        name1 = np.int64(0)
        if octet != first:
            byte = byte_at(work, i, octet) ^ np.int64(image >> 16)
            image = images[1, byte & 15] ^ images[1, 16 + (byte >> 4)]
            name1 = np.int64(image & 255)
        left = (image >> 8) & 255
        if left != 0:
            low, high = 32 + (name1 & 15), 48 + (name1 >> 4)
            add_sums(work, i, table, name0 & 15, 16 + (name0 >> 4), low, high, start)
            p = 8 * octet + trailing_zeros(np.uint64(left))
            for word in range(work.shape[1]):
                basis[p, word] = work[i, word]
            counts[p] = base + 1
            _extend(table, images, found, basis, p)
            found += 1
            missing -= 1
        else:
            active[kept] = i
            kept += 1
        k += 1
    for j in range(k, len(active)):
        active[kept + j - k] = active[j]
    return active[: kept + len(active) - k]


@leaf
def _clear(table: Any, images: Any, work: Any, active: Any, octet: int) -> None:
    """Add to each active row the sums that clear it in two neighbouring blocks."""
    start = (octet >> 3) & ~3
    for i in active:
        byte = byte_at(work, i, octet)
        image = images[0, byte & 15] ^ images[0, 16 + (byte >> 4)]
        name0 = np.int64(image & 255)
        byte = byte_at(work, i, octet + 1) ^ np.int64(image >> 16)
        image = images[1, byte & 15] ^ images[1, 16 + (byte >> 4)]
        name1 = np.int64(image & 255)
        low, high = 32 + (name1 & 15), 48 + (name1 >> 4)
        add_sums(work, i, table, name0 & 15, 16 + (name0 >> 4), low, high, start)


@leaf
def _tabulate(table: Any, images: Any, basis: Any, counts: Any, octet: int, least: Any) -> Any:
    """Tabulate the rows of one block with count ≥ ``least``; their number."""
    block = octet & 1
    for k in range(16):
        images[block, k] = k << 8
        images[block, 16 + k] = k << 12
    found = np.int64(0)  # a plain 0 would have Numba compile callees for the literal, too
    for p in range(8 * octet, min(8 * octet + 8, len(counts))):
        if counts[p] >= least:
            _extend(table, images, found, basis, p)
            found += 1
    return found


@leaf
def _extend(table: Any, images: Any, number: Any, basis: Any, p: int) -> None:
    """Add x_p as the row ``number`` of its block.

    It vanishes where the rows before it have their leading bits, so it is its own image: whatever
    is left over with the leading bit p needs it.
    """
    octet = p >> 3
    block = octet & 1
    start = (p >> 6) & ~3
    size = 1 << (number & 3)
    first = 32 * block + 16 * (number >> 2)
    for k in range(size):
        set_sum(table, first + size + k, table, first + k, basis, p, start)
    change = np.int64(1) << number | byte_at(basis, p, octet) << 8
    if block == 0:
        change |= byte_at(basis, p, octet + 1) << 16
    bit = np.uint32(256 << (p & 7))
    for k in range(32):
        image = images[block, k]
        images[block, k] = image ^ np.uint32(change) if image & bit else image


@leaf
def _load_rows(work: Any, rows: Any) -> None:
    for i in range(rows.shape[0]):
        for k in range(rows.shape[1]):
            work[i, k] = rows[i, k]


@jit
def insert_by_coordinates(
    basis: Any, counts: Any, table: Any, images: Any, work: Any, rows: Any
) -> None:
    """Insert ``rows`` by the supports that they have in the basis of the first moment.

    Counts and columns are compared as one number, so counts must stay below 2^63 / dim.
    """
    number, width = rows.shape
    scratch = np.zeros((1, basis.shape[1]), np.uint64)
    supports = np.zeros((number, basis.shape[1]), np.uint64)
    _load_rows(work, rows)
    _supports(basis, counts, table, images, work, supports)
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
            place = lowest - count * len(counts)
            if second < (count + 1) * len(counts):
                _exchange(basis, supports, scratch, i, place, number)
            counts[place] = count + 1
            keys[place] += len(counts)


@jit
def _supports(basis: Any, counts: Any, table: Any, images: Any, work: Any, supports: Any) -> None:
    """Which rows of the basis each row of ``work`` is the sum of; ``work`` is used up."""
    least = np.int64(0)
    number = len(supports)
    for octet in range(0, (len(counts) + 7) // 8, 2):
        start = (octet >> 3) & ~3
        word = octet >> 3
        shift = np.uint64(8 * (octet & 7))
        reached = 0
        for p in range(8 * octet, min(8 * octet + 16, len(counts))):
            reached += counts[p] > 0
        if reached:
            _tabulate(table, images, basis, counts, octet, least)
            _tabulate(table, images, basis, counts, octet + 1, least)
            for i in range(number):
                byte = byte_at(work, i, octet)
                image = images[0, byte & 15] ^ images[0, 16 + (byte >> 4)]
                name0 = np.int64(image & 255)
                byte = byte_at(work, i, octet + 1) ^ np.int64(image >> 16)
                image = images[1, byte & 15] ^ images[1, 16 + (byte >> 4)]
                name1 = np.int64(image & 255)
                supports[i, word] |= np.uint64(name0 | name1 << 8) << shift
                low, high = 32 + (name1 & 15), 48 + (name1 >> 4)
                add_sums(work, i, table, name0 & 15, 16 + (name0 >> 4), low, high, start)
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
    rank = np.full(65, -1, np.int64)
    number = 0
    for p in range(len(counts)):
        length = 0
        while counts[p] >> length != 0:
            length += 1
        lengths[p] = length
        number += rank[length] < 0
        rank[length] = 0
    bounds = np.empty(number, np.int64)
    masks = np.zeros((number, padded), np.uint64)
    number = 0
    for length in range(65):
        if rank[length] == 0:
            bounds[number] = 1 << (length - 1) if length else 0
            rank[length] = number
            number += 1
    for p in range(len(counts)):
        masks[rank[lengths[p]], p >> 6] |= _ONE << np.uint64(p & 63)
    return bounds, masks


@leaf
def _exchange(basis: Any, supports: Any, scratch: Any, i: int, p: Any, number: int) -> None:
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
