"""Counted flags over GF(2) for any dimension: the counted echelon basis.

The state holds, for each column p, a row x_p whose *first* set bit is p, with a count c(p) ≥ 0:
unit vectors, count 0, where the sample has not reached. V_j is spanned by the rows with c(p) ≥ j.
The leading bits of a subspace are leading bits of every larger one, so each flag has such a basis.

Row by row
    Eliminate v from the left; the rows used are its support. When the smallest count κ of the
    support first appears, at x_p, the vector left at that moment has the leading bit p and differs
    from v by rows of larger count only: it may replace x_p, with count κ + 1. Nothing else changes.

In bulk (rows spread evenly over a space)
    Let c be a count and V = V_c. The rows of a batch that lie in V pass the sets 1..c untouched,
    whatever the others do there; set c + 1 takes those of them that are independent of the ones
    before. Plain elimination in blocks of eight columns, in which a row is only ever reduced by
    earlier ones, finds them: a row is left over iff it becomes zero. This pays where V is the space
    of most rows and V_{c+1} has room: c is the largest count or the one below.

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

from flagstone.kernels.gf2_echelon import (
    eliminate,
    insert_by_coordinates,
    insert_singly,
    insert_weighted,
    reduce,
    survey,
)

__all__ = ["State", "copy", "dump", "insert", "load", "nbytes", "new"]

_MOST = 2**63 - 1
Words = NDArray[np.uint64]

SINGLE, BULK, COORDINATES = 0, 1, 2

#: Fewer rows than this are not worth a batch; a set that lacks fewer rows is left to single ones.
_FEW = 24
#: Single rows in a stretch before supports are tried.
_PATIENCE = 64
#: Rows tested for membership, and rows resolved into supports, at a time.
_BATCH, _SUPPORTS = 2048, 512
#: Batches of supports after a batch that mostly missed the space it was tested for.
_PAUSE = 4


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
    rows[columns, columns // 64] = np.uint64(1) << (columns % 64).astype(np.uint64)
    return State(rows, np.zeros(ar, np.int64), np.zeros(3, np.int64), np.array([width]))


def insert(state: State, rows: NDArray[np.uint64], weights: NDArray[np.int64] | None) -> None:
    """Insert ``rows`` in order, each as often as its weight says."""
    if weights is not None:
        insert_weighted(state.rows, state.counts, rows, weights)
        state.used[SINGLE] += len(rows)
    elif len(rows) < _FEW:
        _insert_singly(state, rows)
    else:
        _insert(state, rows, _new_room(state, len(rows)))


def load(
    ar: int, basis: NDArray[np.uint64], counts: NDArray[np.int64], dim: int | None = None
) -> State:
    """The flag that an adapted basis with falling counts describes."""
    state = new(ar)
    insert_weighted(state.rows, state.counts, basis, counts)
    return state


def dump(state: State) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """An adapted basis, by falling count."""
    order = np.argsort(-state.counts, kind="stable")[: np.count_nonzero(state.counts)]
    return np.ascontiguousarray(state.rows[order, : state.width[0]]), state.counts[order]


def copy(state: State) -> State:
    """A state that shares nothing with the first."""
    return State._make(array.copy() for array in state)


def nbytes(state: State) -> int:
    """Memory held by the state."""
    return sum(array.nbytes for array in state)


class _Room(NamedTuple):
    """Working memory of one call: sums of rows, which to take, a batch of padded rows."""

    table: Words
    images: NDArray[np.uint32]
    work: Words


def _new_room(state: State, number: int) -> _Room:
    padded = state.rows.shape[1]
    return _Room(
        np.zeros((64, padded), np.uint64),
        np.zeros((2, 32), np.uint32),
        np.zeros((min(_BATCH, number), padded), np.uint64),
    )


def _insert(state: State, rows: Words, room: _Room) -> None:
    """Choose for each stretch of rows the cheapest way in, by the counts alone."""
    dim = len(state.counts)
    # Coordinates order elements by count · dim + column, which must fit in 63 bits.
    countable = int(state.counts.max()) + len(rows) < _MOST // dim
    i = singles = pause = 0
    while i < len(rows):
        base, size, _, ready = survey(state.counts, _FEW, 0)
        batch = rows[i : i + _BATCH]
        if len(batch) < _FEW:
            i += _insert_singly(state, batch)
        elif ready and not pause:
            singles = 0
            if size == dim:
                i += _insert_inside(state, batch, size, room)
            else:
                number, members = _insert_outside(state, batch, base, room)
                pause = _PAUSE if 2 * len(members) < number else 0
                done = _insert_inside(state, members, size, room)
                _insert(state, members[done:], room)
                i += number
        elif singles < _PATIENCE or not countable:
            singles += _insert_singly(state, rows[i : i + 1])
            i += 1
        else:
            i += _insert_by_coordinates(state, batch[:_SUPPORTS], room)
            pause = max(pause - 1, 0)


def _insert_outside(state: State, rows: Words, base: int, room: _Room) -> tuple[int, Words]:
    """Insert the rows outside V = V_base; return how many rows are done, and those inside.

    A row that passes set ``base`` itself, since the set has grown, would mix with the rows of V:
    neither it nor the rows after it are dealt with. It is not the first row, for the first row
    outside finds the sets as they were.
    """
    inside = reduce(state.rows, state.counts, base, *room, rows)
    outside = np.flatnonzero(~inside)
    scratch = np.zeros((2, state.rows.shape[1]), np.uint64)
    done = insert_singly(state.rows, state.counts, scratch, rows[outside], base)
    state.used[SINGLE] += done
    number = len(rows) if done == len(outside) else int(outside[done])
    return number, rows[:number][inside[:number]]


def _insert_inside(state: State, rows: Words, size: int, room: _Room) -> int:
    """Insert rows that all lie in a space V of dimension ``size`` that was some V_c.

    Whenever some V_c has that dimension it is V, and the sets up to c can be left out of account.
    Stops where that has not been so for a while; returns the number of rows inserted.
    """
    i = singles = 0
    while i < len(rows) and singles < _PATIENCE:
        base, reached, above, ready = survey(state.counts, _FEW, size)
        batch = rows[i : i + size - above]
        if ready and reached == size and len(batch) >= _FEW:
            left = eliminate(state.rows, state.counts, base, *room, batch)
            state.used[BULK] += len(batch) - len(left)
            _insert_left(state, batch[left], len(batch), above, room)
            singles = 0
            i += len(batch)
        else:
            singles += _insert_singly(state, rows[i : i + 1])
            i += 1
    return i


def _insert_left(state: State, rows: Words, number: int, above: int, room: _Room) -> None:
    """Insert what a set has left over of ``number`` rows; it held ``above`` before.

    All of it lies in the span of the set as it is now.
    """
    done = 0
    if len(rows) < _FEW:
        done = _insert_singly(state, rows)
    elif 4 * len(rows) <= 3 * number:
        done = _insert_inside(state, rows, above + number - len(rows), room)
    if done < len(rows):
        _insert_by_coordinates(state, rows[done:], room)


def _insert_singly(state: State, rows: Words) -> int:
    scratch = np.zeros((2, state.rows.shape[1]), np.uint64)
    insert_singly(state.rows, state.counts, scratch, rows, _MOST)
    state.used[SINGLE] += len(rows)
    return len(rows)


def _insert_by_coordinates(state: State, rows: Words, room: _Room) -> int:
    if int(state.counts.max()) + len(rows) >= _MOST // len(state.counts):
        return _insert_singly(state, rows)  # weights beyond any sample: keys would overflow
    insert_by_coordinates(state.rows, state.counts, *room, rows)
    state.used[COORDINATES] += len(rows)
    return len(rows)
