"""Counted flags over GF(2) for any dimension: the counted echelon basis.

The state holds, for each column p, a row x_p whose *first* set bit is p, with a count c(p) ≥ 0:
unit vectors, count 0, where the sample has not reached. V_j is spanned by the rows with c(p) ≥ j.
The leading bits of a subspace are leading bits of every larger one, so each flag has such a basis.

Row by row
    Eliminate v from the left; the rows used are its support. When the smallest count κ of the
    support first appears, at x_p, the vector left at that moment has the leading bit p and differs
    from v by rows of larger count only: it may replace x_p, with count κ + 1. Nothing else changes.

In bulk (rows spread evenly over a space)
    Let c be a count, V = V_c, and suppose no row has count c − 1. The rows of a batch that lie in V
    pass the sets 1..c untouched, whatever the others do there; set c + 1 takes those of them that
    are independent of the ones before. Plain elimination in blocks of eight columns, in which a
    row is only ever reduced by earlier ones, finds them: a row is left over iff it becomes zero.

By coordinates (many distinct counts)
    The supports of a whole batch in the basis as it stands, from the same tables of eight columns;
    then each row looks up the smallest count in its support. An exchange corrects the supports of
    the rows that are still to come. Cheap where exchanges are rare, as on heavily repeated rows.

All three give the same flag; ``state.used`` counts the rows that each of them took.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from flagstone.kernels._jit import jit
from flagstone.kernels._llvm import add_two, byte_at, set_sum, trailing_zeros

__all__ = ["State", "copy", "dump", "insert", "load", "nbytes", "new"]

_NONE = np.uint64(0)
_ONE = np.uint64(1)
_MOST = np.int64(2**63 - 1)
_SINGLES = 24
_BATCH = 2048
_SUPPORTS = 512

SINGLE, BULK, COORDINATES = 0, 1, 2


class State(NamedTuple):
    """Row p of ``rows`` has the leading bit p and count ``counts[p]``.

    ``rows`` is padded with zero words to a multiple of 256 bits. ``used`` counts the rows inserted
    singly, in bulk and by coordinates; ``width`` is the number of words of a row outside.
    """

    rows: NDArray[np.uint64]
    counts: NDArray[np.int64]
    used: NDArray[np.int64]
    width: NDArray[np.int64]


def new(ar: int, dim: int | None = None, dtype: Any = None) -> State:
    """The flag of the empty sample in GF(2)^dim: every element has count 0."""
    width = max(1, -(-ar // 64))
    rows = np.zeros((ar, -(-width // 4) * 4), np.uint64)
    columns = np.arange(ar)
    rows[columns, columns // 64] = _ONE << (columns % 64).astype(np.uint64)
    return State(rows, np.zeros(ar, np.int64), np.zeros(3, np.int64), np.array([width]))


def insert(state: State, rows: NDArray[np.uint64], weights: NDArray[np.int64] | None) -> None:
    """Insert ``rows`` in order, each as often as its weight says."""
    if weights is None:
        _insert(state.rows, state.counts, state.used, rows)
    else:
        _insert_weighted(state.rows, state.counts, rows, weights)
        state.used[SINGLE] += len(rows)


def load(
    ar: int, basis: NDArray[np.uint64], counts: NDArray[np.int64], dim: int | None = None
) -> State:
    """The flag that an adapted basis with falling counts describes."""
    state = new(ar)
    _insert_weighted(state.rows, state.counts, basis, counts)
    return state


def dump(state: State) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """An adapted basis, by falling count."""
    order = np.argsort(-state.counts, kind="stable")[: np.count_nonzero(state.counts)]
    return np.ascontiguousarray(state.rows[order, : state.width[0]]), state.counts[order]


def copy(state: State) -> State:
    """A state that shares nothing with the first."""
    return State(*(array.copy() for array in state))


def nbytes(state: State) -> int:
    """Memory held by the state."""
    return sum(array.nbytes for array in state)


@jit
def _insert(basis: Any, counts: Any, used: Any, rows: Any) -> None:
    """Choose for each stretch of rows the cheapest way in, by the counts alone."""
    dim, padded = basis.shape
    tables = np.zeros((256, padded), np.uint64), np.zeros((256, padded), np.uint64)
    slots = np.zeros(256, np.uint8), np.zeros(256, np.uint8)
    work = np.zeros((min(_BATCH, len(rows)), padded), np.uint64)
    scratch = np.zeros((2, padded), np.uint64)
    i = 0
    singles = 0
    while i < len(rows):
        base, size, _, ready = _survey(counts)
        stop = min(i + _BATCH, len(rows))
        if ready and 8 * size >= dim and stop - i >= _SINGLES:
            members = rows[i:stop]
            if size < dim:
                number, inside = _insert_outside(
                    basis, counts, used, members, base, tables, slots, work, scratch
                )
                members = members[inside]
            else:
                number = stop - i
            _insert_inside(basis, counts, used, members, size, tables, slots, work, scratch)
            singles = 0
            if i + number < stop:
                stop = i + number + 1
                _insert_one(basis, counts, scratch, rows, stop - 1, _MOST)
                used[SINGLE] += 1
        elif singles < _SINGLES or stop - i < _SINGLES:
            stop = i + 1
            _insert_one(basis, counts, scratch, rows, i, _MOST)
            used[SINGLE] += 1
            singles += 1
        else:
            stop = min(i + _SUPPORTS, stop)
            _insert_by_coordinates(basis, counts, rows[i:stop], tables, slots, work, scratch)
            used[COORDINATES] += stop - i
        i = stop


@jit
def _insert_outside(
    basis: Any,
    counts: Any,
    used: Any,
    rows: Any,
    base: int,
    tables: Any,
    slots: Any,
    work: Any,
    scratch: Any,
) -> Any:
    """Insert the rows outside V = V_base, and say which of ``rows`` are inside.

    A row that passes set ``base`` itself, since the set has grown, would mix with the rows of V:
    neither it nor the rows after it are dealt with. The number of those that are comes first.
    """
    number = len(rows)
    inside = np.ones(number, np.bool_)
    _load_rows(work, rows)
    _reduce(basis, counts, base, tables, slots, work, number)
    for i in range(number):
        for k in range(rows.shape[1]):
            inside[i] &= work[i, k] == _NONE
    for i in range(number):
        if not inside[i]:
            if not _insert_one(basis, counts, scratch, rows, i, base):
                inside[i:] = False
                return i, inside
            used[SINGLE] += 1
    return number, inside


@jit
def _insert_inside(
    basis: Any,
    counts: Any,
    used: Any,
    rows: Any,
    size: int,
    tables: Any,
    slots: Any,
    work: Any,
    scratch: Any,
) -> None:
    """Insert rows that all lie in a space V of dimension ``size`` that was some V_c.

    Whenever some V_c has that dimension it is V, and the sets up to c can be left out of account.
    """
    dim = len(counts)
    singles = 0
    i = 0
    while i < len(rows):
        base, reached, above, ready = _survey(counts)
        room = min(size - above, len(rows) - i)
        if ready and reached == size and 8 * size >= dim and room >= _SINGLES:
            _load_rows(work, rows[i : i + room])
            left = _eliminate(basis, counts, base, tables, slots, work, np.arange(room))
            for k in left:
                _insert_one(basis, counts, scratch, rows, i + k, _MOST)
            used[BULK] += room - len(left)
            used[SINGLE] += len(left)
            singles = 0
            i += room
        elif singles < _SINGLES:
            _insert_one(basis, counts, scratch, rows, i, _MOST)
            used[SINGLE] += 1
            singles += 1
            i += 1
        else:
            stop = min(i + _SUPPORTS, len(rows))
            _insert_by_coordinates(basis, counts, rows[i:stop], tables, slots, work, scratch)
            used[COORDINATES] += stop - i
            i = stop


@jit
def _survey(counts: Any) -> tuple[int, int, int, bool]:
    """The base count c for the bulk path, dim V_c, dim V_{c+1}, and whether c − 1 is free."""
    top = np.int64(0)
    for count in counts:
        top = max(top, count)
    base = top
    for count in counts:
        if count == top - 1:
            base = top - 1
    size = 0
    above = 0
    ready = True
    for count in counts:
        size += count >= base
        above += count > base
        if count == base - 1:
            ready = False
    return base, size, above, ready


@jit
def _insert_one(basis: Any, counts: Any, scratch: Any, rows: Any, i: int, ceiling: int) -> bool:
    """Insert ``rows[i]``; False, and nothing done, if it belongs past set ``ceiling``."""
    width = rows.shape[1]
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
                    for word in range(k, width):
                        scratch[0, word] = _NONE
                    break
            set_sum(scratch, 0, scratch, 0, basis, p, k & ~3)
    if lowest >= ceiling:
        return place < 0
    for k in range(width):
        basis[place, k] = scratch[1, k] if k >= place >> 6 else _NONE
    counts[place] = lowest + 1
    return True


@jit
def _insert_weighted(basis: Any, counts: Any, rows: Any, weights: Any) -> None:
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
def _extend(table: Any, slots: Any, number: int, basis: Any, p: int) -> None:
    """Double the table of sums of ``number`` rows by x_p.

    ``slots[b]`` is the sum whose byte, in the block of p, is b: adding it clears that byte. Zero,
    the empty sum, for bytes that no sum has.
    """
    octet = p >> 3
    start = (p >> 6) & ~3
    for k in range(1 << number):
        new = (1 << number) + k
        set_sum(table, new, table, k, basis, p, start)
        slots[byte_at(table, new, octet)] = new


@jit
def _tabulate(table: Any, slots: Any, basis: Any, counts: Any, octet: int, least: int) -> int:
    """The table of the rows of one block with count ≥ ``least``; their number."""
    slots[:] = 0
    found = 0
    for p in range(8 * octet, min(8 * octet + 8, len(counts))):
        if counts[p] >= least:
            _extend(table, slots, found, basis, p)
            found += 1
    return found


@jit
def _load_rows(work: Any, rows: Any) -> None:
    for i in range(rows.shape[0]):
        for k in range(rows.shape[1]):
            work[i, k] = rows[i, k]


@jit
def _reduce(
    basis: Any, counts: Any, base: int, tables: Any, slots: Any, work: Any, number: int
) -> None:
    """Eliminate ``work[:number]`` by the rows with count ≥ base, two blocks at a time."""
    for octet in range(0, (len(counts) + 7) // 8, 2):
        found = _tabulate(tables[0], slots[0], basis, counts, octet, base)
        found += _tabulate(tables[1], slots[1], basis, counts, octet + 1, base)
        if found > 0:
            _clear(tables, slots, work, np.arange(number), octet)


@jit
def _clear(tables: Any, slots: Any, work: Any, active: Any, octet: int) -> None:
    """Add to each active row the sums that clear it in two neighbouring blocks."""
    start = (octet >> 3) & ~3
    table0, table1 = tables
    slots0, slots1 = slots
    for i in active:
        slot0 = slots0[byte_at(work, i, octet)]
        byte = byte_at(work, i, octet + 1) ^ byte_at(table0, slot0, octet + 1)
        add_two(work, i, table0, slot0, table1, slots1[byte], start)


@jit
def _eliminate(
    basis: Any, counts: Any, base: int, tables: Any, slots: Any, work: Any, active: Any
) -> Any:
    """Let set base + 1 take what it can of the rows ``active`` of ``work``, all in V_base.

    Each block of eight columns takes its new leading rows in order of arrival; two blocks at a
    time are then cleared in all other rows. Returns the rows that became zero, in order.
    """
    for octet in range(0, (len(counts) + 7) // 8, 2):
        slots[1][:] = 0
        active = _take(basis, counts, base, tables, slots, work, active, octet, 0)
        active = _take(basis, counts, base, tables, slots, work, active, octet, 1)
        _clear(tables, slots, work, active, octet)
    return active


@jit
def _take(
    basis: Any,
    counts: Any,
    base: int,
    tables: Any,
    slots: Any,
    work: Any,
    active: Any,
    octet: int,
    second: int,
) -> Any:
    """Find the new leading rows in block ``octet + second``, and make the table of all of them.

    In the second block, rows still lack their sum from the table of the first.
    """
    start = (octet >> 3) & ~3
    table0, slots0 = tables[0], slots[0]
    table, slot = tables[second], slots[second]
    block = octet + second
    found = _tabulate(table, slot, basis, counts, block, base + 1)
    missing = 0
    for p in range(8 * block, min(8 * block + 8, len(counts))):
        missing += counts[p] == base
    kept = 0
    k = 0
    while k < len(active) and missing > 0:
        i = active[k]
        slot0 = slots0[byte_at(work, i, octet)] if second else 0
        byte = byte_at(work, i, block) ^ byte_at(table0, slot0, block)
        if byte != 0 and slot[byte] == 0:
            if second:
                set_sum(work, i, work, i, table0, slot0, start)
            p = _lead(basis, counts, base, work, i, block)
            for word in range(work.shape[1]):
                basis[p, word] = work[i, word]
            counts[p] = base + 1
            _extend(table, slot, found, basis, p)
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
def _insert_by_coordinates(
    basis: Any,
    counts: Any,
    rows: Any,
    tables: Any,
    slots: Any,
    work: Any,
    scratch: Any,
) -> None:
    """Insert ``rows`` by the supports that they have in the basis of the first moment."""
    number, width = rows.shape
    supports = np.zeros((number, basis.shape[1]), np.uint64)
    _load_rows(work, rows)
    _supports(basis, counts, tables, slots, work, supports, number)
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
def _supports(
    basis: Any, counts: Any, tables: Any, slots: Any, work: Any, supports: Any, number: int
) -> None:
    """Which rows of the basis each row of ``work`` is the sum of; ``work`` is used up."""
    table0, table1 = tables
    slots0, slots1 = slots
    for octet in range(0, (len(counts) + 7) // 8, 2):
        start = (octet >> 3) & ~3
        word = octet >> 3
        shift = np.uint64(8 * (octet & 7))
        if _reached(counts, octet):
            _tabulate(table0, slots0, basis, counts, octet, 0)
            _tabulate(table1, slots1, basis, counts, octet + 1, 0)
            for i in range(number):
                slot0 = slots0[byte_at(work, i, octet)]
                byte = byte_at(work, i, octet + 1) ^ byte_at(table0, slot0, octet + 1)
                slot1 = slots1[byte]
                supports[i, word] |= np.uint64(slot0 | (np.int64(slot1) << 8)) << shift
                add_two(work, i, table0, slot0, table1, slot1, start)
        else:
            for i in range(number):
                both = byte_at(work, i, octet) | byte_at(work, i, octet + 1) << 8
                supports[i, word] |= np.uint64(both) << shift


@jit
def _reached(counts: Any, octet: int) -> bool:
    """Whether the sample has reached one of the sixteen columns; unit vectors stand in the rest."""
    for p in range(8 * octet, min(8 * octet + 16, len(counts))):
        if counts[p] > 0:
            return True
    return False


@jit
def _exchange(
    basis: Any, supports: Any, scratch: Any, i: int, p: int, number: int
) -> None:
    """Let Σ of the support of row i from x_p on replace x_p; put later supports right.

    The support left of p has larger counts. A support with x_p loses it and gains the sum.
    """
    width = supports.shape[1]
    first = p >> 6
    bit = _ONE << np.uint64(p & 63)
    for k in range(width):
        scratch[0, k] = supports[i, k] if k >= first else _NONE
        scratch[1, k] = _NONE
    scratch[0, first] &= ~(bit | (bit - _ONE))
    for k in range(first, width):
        word = scratch[0, k]
        while word != _NONE:
            set_sum(basis, p, basis, p, basis, 64 * k + trailing_zeros(word), k & ~3)
            word &= word - _ONE
    for j in range(i + 1, number):
        if supports[j, first] & bit != _NONE:
            set_sum(supports, j, supports, j, scratch, 0, first & ~3)
