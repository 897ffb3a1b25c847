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
from flagstone.kernels._llvm import add_rows, byte_at, trailing_zeros

__all__ = ["State", "copy", "dump", "insert", "load", "nbytes", "new"]

_NONE = np.uint64(0)
_ONE = np.uint64(1)
_MOST = np.int64(2**63 - 1)
_SINGLES = 24
_BATCH = 2048

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
    table = np.zeros((256, padded), np.uint64)
    slots = np.zeros(256, np.uint8)
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
                    basis, counts, used, members, base, table, slots, work, scratch
                )
                members = members[inside]
            else:
                number = stop - i
            _insert_inside(basis, counts, used, members, size, table, slots, work, scratch)
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
            _insert_by_coordinates(basis, counts, rows[i:stop], table, slots, work, scratch)
            used[COORDINATES] += stop - i
        i = stop


@jit
def _insert_outside(
    basis: Any,
    counts: Any,
    used: Any,
    rows: Any,
    base: int,
    table: Any,
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
    _reduce(basis, counts, base, table, slots, work, number)
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
    table: Any,
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
            active = np.arange(room)
            left = _eliminate(basis, counts, base, table, slots, work, active)
            for k in range(left):
                _insert_one(basis, counts, scratch, rows, i + active[k], _MOST)
            used[BULK] += room - left
            used[SINGLE] += left
            singles = 0
            i += room
        elif singles < _SINGLES:
            _insert_one(basis, counts, scratch, rows, i, _MOST)
            used[SINGLE] += 1
            singles += 1
            i += 1
        else:
            _insert_by_coordinates(basis, counts, rows[i:], table, slots, work, scratch)
            used[COORDINATES] += len(rows) - i
            i = len(rows)


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
            add_rows(scratch, 0, scratch, 0, basis, p, k & ~3)
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
                            add_rows(carry, 0, carry, 0, basis, p, k & ~3)
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
        add_rows(table, new, table, k, basis, p, start)
        slots[byte_at(table, new, octet)] = new


@jit
def _load_rows(work: Any, rows: Any) -> None:
    for i in range(rows.shape[0]):
        for k in range(rows.shape[1]):
            work[i, k] = rows[i, k]


@jit
def _reduce(
    basis: Any, counts: Any, base: int, table: Any, slots: Any, work: Any, number: int
) -> None:
    """Eliminate ``work[:number]`` by the rows with count ≥ base, from the left."""
    dim = len(counts)
    for octet in range((dim + 7) // 8):
        slots[:] = 0
        found = 0
        for p in range(8 * octet, min(8 * octet + 8, dim)):
            if counts[p] >= base:
                _extend(table, slots, found, basis, p)
                found += 1
        if found > 0:
            start = (octet >> 3) & ~3
            for i in range(number):
                slot = slots[byte_at(work, i, octet)]
                add_rows(work, i, work, i, table, slot, start)


@jit
def _eliminate(
    basis: Any, counts: Any, base: int, table: Any, slots: Any, work: Any, active: Any
) -> int:
    """Let set base + 1 take what it can of the rows ``active`` of ``work``, all in V_base.

    Each block of eight columns takes its new leading rows in order of arrival, and clears the block
    in all others. Returns how many rows became zero; their indices, in order, begin ``active``.
    """
    dim = len(counts)
    number = len(active)
    for octet in range((dim + 7) // 8):
        slots[:] = 0
        found = 0
        missing = 0
        for p in range(8 * octet, min(8 * octet + 8, dim)):
            if counts[p] > base:
                _extend(table, slots, found, basis, p)
                found += 1
            elif counts[p] == base:
                missing += 1
        if found + missing == 0:
            continue
        start = (octet >> 3) & ~3
        kept = 0
        k = 0
        while k < number and missing > 0:
            i = active[k]
            byte = byte_at(work, i, octet)
            if byte != 0 and slots[byte] == 0:
                p = _lead(basis, counts, base, work, i, octet, start)
                for word in range(work.shape[1]):
                    basis[p, word] = work[i, word]
                counts[p] = base + 1
                _extend(table, slots, found, basis, p)
                found += 1
                missing -= 1
            else:
                active[kept] = i
                kept += 1
            k += 1
        while k < number:
            active[kept] = active[k]
            kept += 1
            k += 1
        number = kept
        for k in range(number):
            i = active[k]
            slot = slots[byte_at(work, i, octet)]
            add_rows(work, i, work, i, table, slot, start)
    return number


@jit
def _lead(
    basis: Any, counts: Any, base: int, work: Any, i: int, octet: int, start: int
) -> int:
    """Reduce ``work[i]`` inside its block until its leading bit is free there; return that bit."""
    while True:
        p = 8 * octet + trailing_zeros(np.uint64(byte_at(work, i, octet)))
        if counts[p] <= base:
            return p
        add_rows(work, i, work, i, basis, p, start)


@jit
def _insert_by_coordinates(
    basis: Any,
    counts: Any,
    rows: Any,
    table: Any,
    slots: Any,
    work: Any,
    scratch: Any,
) -> None:
    """Insert ``rows`` by the supports that they have in the basis of the first moment."""
    number, width = rows.shape
    supports = np.zeros((number, basis.shape[1]), np.uint64)
    _load_rows(work, rows)
    _supports(basis, counts, table, slots, work, supports, number)
    keys = np.empty(len(counts), np.int64)
    for p in range(len(counts)):
        keys[p] = counts[p] * len(counts) + p
    for i in range(number):
        lowest = _MOST
        second = _MOST
        for k in range(width):
            word = supports[i, k]
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
    basis: Any, counts: Any, table: Any, slots: Any, work: Any, supports: Any, number: int
) -> None:
    dim = len(counts)
    for octet in range((dim + 7) // 8):
        start = (octet >> 3) & ~3
        shift = np.uint64(8 * (octet & 7))
        columns = range(8 * octet, min(8 * octet + 8, dim))
        reached = False
        for p in columns:
            reached |= counts[p] > 0
        if not reached:
            for i in range(number):
                supports[i, octet >> 3] |= np.uint64(byte_at(work, i, octet)) << shift
            continue
        slots[:] = 0
        for p in columns:
            _extend(table, slots, p & 7, basis, p)
        for i in range(number):
            slot = slots[byte_at(work, i, octet)]
            supports[i, octet >> 3] |= np.uint64(slot) << shift
            add_rows(work, i, work, i, table, slot, start)


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
            add_rows(basis, p, basis, p, basis, 64 * k + trailing_zeros(word), k & ~3)
            word &= word - _ONE
    for j in range(i + 1, number):
        if supports[j, first] & bit != _NONE:
            add_rows(supports, j, supports, j, scratch, 0, first & ~3)
