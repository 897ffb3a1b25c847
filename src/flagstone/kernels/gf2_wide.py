"""Counted flags over GF(2) for any dimension: the counted echelon basis.

The state holds, for each column p, a row x_p whose *first* set bit is p, with a count c(p) ≥ 0:
unit vectors, count 0, where the sample has not reached. V_j is spanned by the rows with c(p) ≥ j.
The leading bits of a subspace are leading bits of every larger one, so each flag has such a basis.

Row by row
    Eliminate v from the left; the rows used are its support. When the smallest count κ of the
    support first appears, at x_p, the vector left at that moment has the leading bit p and differs
    from v by rows of larger count only: it may replace x_p, with count κ + 1. Nothing else changes.

In bulk (rows spread evenly over the space)
    If V_c is the whole space, all rows pass the sets 1..c; set c + 1 takes those of them that are
    independent of the ones before. Plain elimination in blocks of eight columns, in which a row is
    only ever reduced by earlier ones, finds them: a row is left over iff it becomes zero.

Within a space (most rows lie in V = V_c, fewer dimensions than columns)
    The rows that lie in V pass the sets 1..c untouched, whatever the others do there, and the sets
    past c are a flag of V alone. In the reduced echelon basis of V the coordinates of a row are its
    bits in the columns of the leading bits, and it lies in V iff their combination gives its other
    bits, too: a product. So the rows inside go to a flag of GF(2)^dim V, by the kernel for that
    dimension, which is carried back in the end; the rows outside are inserted singly.

By coordinates (many distinct counts)
    The supports of a whole batch in the basis as it stands, from the same tables of eight columns;
    then each row looks up the smallest count in its support. An exchange corrects the supports of
    the rows that are still to come. Cheap where exchanges are rare, as on heavily repeated rows.

All four give the same flag; ``state.used`` counts the rows that each of them took.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from flagstone.kernels.gf2_echelon import (
    eliminate,
    insert_by_coordinates,
    insert_singly,
    insert_weighted,
    leading_bits,
    survey,
)

if TYPE_CHECKING:
    from flagstone.kernels.gf2_space import Space

__all__ = ["State", "copy", "dump", "insert", "load", "nbytes", "new"]

_MOST = 2**63 - 1
Words = NDArray[np.uint64]

SINGLE, BULK, COORDINATES, WITHIN = 0, 1, 2, 3

#: Fewer rows than this are not worth a batch; a set that lacks fewer rows is left to single ones.
_FEW = 24
#: Single rows in a stretch before supports are tried.
_PATIENCE = 64
#: Rows tested for membership, and rows resolved into supports, at a time.
_BATCH, _SUPPORTS = 2048, 512
#: What a row outside an open space costs, in rows inside; the debt at which the space is closed.
_MISS, _DEBT = 4, 512
#: Rows before a space is tried again, at first; twice as many after each that did not last.
_PAUSE = 128


@dataclass(frozen=True)
class _Within:
    """The sets past ``base``, as a flag in the coordinates of the space V_base."""

    base: int
    space: Space
    kernel: ModuleType
    flag: Any
    debt: int = 0
    held: int = 0


@dataclass
class State:
    """Row p of ``rows`` has the leading bit p and count ``counts[p]``.

    ``rows`` is padded with zero words to a multiple of 256 bits; ``width`` is the number of words
    of a row outside. ``used`` counts the rows inserted singly, in bulk, by coordinates and within a
    space. While ``within`` is open, the counts of its space stand still. The next may be opened
    after ``pause`` rows, which began as ``delay``. A ``nested`` flag, itself that of a space, opens
    none, but reports that its rows keep to a ``narrower`` one.
    """

    rows: Words
    counts: NDArray[np.int64]
    used: NDArray[np.int64]
    width: int
    within: _Within | None = None
    pause: int = 0
    delay: int = _PAUSE
    nested: bool = False
    narrower: bool = False


def new(ar: int, dim: int | None = None, dtype: Any = None) -> State:
    """The flag of the empty sample in GF(2)^dim: every element has count 0."""
    width = max(1, -(-ar // 64))
    rows = np.zeros((ar, -(-width // 4) * 4), np.uint64)
    columns = np.arange(ar)
    rows[columns, columns // 64] = np.uint64(1) << (columns % 64).astype(np.uint64)
    return State(rows, np.zeros(ar, np.int64), np.zeros(4, np.int64), width)


def insert(state: State, rows: Words, weights: NDArray[np.int64] | None) -> None:
    """Insert ``rows`` in order, each as often as its weight says."""
    if weights is not None:
        _close(state)
        insert_weighted(state.rows, state.counts, rows, weights)
        state.used[SINGLE] += len(rows)
    elif len(rows) < _FEW and state.within is None:
        state.pause = max(state.pause - _insert_singly(state, _frozen(rows)), 0)
    else:
        _insert(state, _frozen(rows), _new_room(state, len(rows)))


def load(ar: int, basis: Words, counts: NDArray[np.int64], dim: int | None = None) -> State:
    """The flag that an adapted basis with falling counts describes."""
    state = new(ar)
    columns = np.empty(len(basis), np.int64)
    leading_bits(basis, columns)
    if len(np.unique(columns)) == len(columns):
        state.rows[columns, : state.width] = basis
        state.counts[columns] = counts
    else:
        insert_weighted(state.rows, state.counts, basis, counts)
    return state


def dump(state: State) -> tuple[Words, NDArray[np.int64]]:
    """An adapted basis, by falling count."""
    if state.within:
        state = replace(state, rows=state.rows.copy(), counts=state.counts.copy())
        _close(state)
    order = np.argsort(-state.counts, kind="stable")[: np.count_nonzero(state.counts)]
    return np.ascontiguousarray(state.rows[order, : state.width]), state.counts[order]


def copy(state: State) -> State:
    """A state that shares nothing that changes with the first."""
    within = state.within
    if within:
        within = replace(within, flag=within.kernel.copy(within.flag))
    rows, counts, used = state.rows.copy(), state.counts.copy(), state.used.copy()
    return replace(state, rows=rows, counts=counts, used=used, within=within)


def nbytes(state: State) -> int:
    """Memory held by the state."""
    total = state.rows.nbytes + state.counts.nbytes + state.used.nbytes
    if state.within:
        total += state.within.space.nbytes + int(state.within.kernel.nbytes(state.within.flag))
    return total


def _frozen(rows: Words) -> Words:
    """The same rows, read-only: for others every kernel would be compiled once more."""
    rows = rows.view()
    rows.flags.writeable = False
    return rows


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
    """Choose for each stretch of rows the cheapest way in."""
    dim = len(state.counts)
    i = singles = 0
    while i < len(rows):
        batch = rows[i : i + _BATCH]
        if state.within:
            i += _insert_within(state, state.within, batch)
            continue
        base, size, _, ready = survey(state.counts, _FEW, 0)
        if len(batch) < _FEW:
            number = _insert_singly(state, batch)
        elif ready and size == dim:
            singles = 0
            number = _insert_inside(state, batch, size, room)
        elif ready and state.pause == 0 and not state.nested:
            singles = number = 0
            _open(state, base)
        elif singles < _PATIENCE:
            number = _insert_singly(state, batch[:1])
            singles += number
        else:
            number = _insert_by_coordinates(state, batch[:_SUPPORTS], room)
        state.narrower |= state.nested and ready and size < dim
        state.pause = max(state.pause - number, 0)
        i += number


def _open(state: State, base: int) -> None:
    """From now on keep the sets past ``base`` in the coordinates of V_base."""
    from flagstone.kernels.gf2 import flag_kernel  # loaded by the first flag that needs them
    from flagstone.kernels.gf2_space import Space

    columns = np.flatnonzero(state.counts >= base)
    size = len(columns)
    space = Space(state.rows[columns, : state.width], columns, len(state.counts))
    above = columns[state.counts[columns] > base]
    basis = space.coordinates(state.rows[above, : state.width])
    kernel = flag_kernel(size)
    flag = kernel.load(size, basis, state.counts[above] - base)
    if isinstance(flag, State):
        flag.nested = True
    state.counts[columns] = base
    state.within = _Within(base, space, kernel, flag)


def _close(state: State) -> None:
    """Carry the flag of the open space back; coordinates keep the order of leading bits."""
    within = state.within
    if within:
        columns = within.space.columns
        flag = load(len(columns), *within.kernel.dump(within.flag))
        state.rows[columns, : state.width] = within.space.combine(flag.rows)
        state.counts[columns] = within.base + flag.counts
        state.within = None


def _insert_within(state: State, within: _Within, rows: Words) -> int:
    """Insert ``rows``, or some of them; close a space that grows, misses many or is too wide.

    A row outside that passes set ``base`` itself, since the set has grown, would mix with the rows
    inside: neither it nor the rows after it are dealt with. It is not the first row, for the first
    row outside finds the sets as they were.
    """
    inside, outside = within.space.split(rows)
    scratch = np.zeros((2, state.rows.shape[1]), np.uint64)
    done = insert_singly(state.rows, state.counts, scratch, _frozen(rows[outside]), within.base)
    state.used[SINGLE] += done
    number = len(rows) if done == len(outside) else int(outside[done])
    inside = inside[: number - done]
    within.kernel.insert(within.flag, inside, None)
    state.used[WITHIN] += len(inside)
    held = within.held + len(inside)
    debt = max(0, within.debt + _MISS * done - len(inside))
    state.within = replace(within, debt=debt, held=held)
    grown = np.count_nonzero(state.counts >= within.base) > len(within.space.columns)
    too_wide = isinstance(within.flag, State) and within.flag.narrower
    if grown or too_wide or debt > _DEBT:
        _close(state)
        if not too_wide:
            state.delay = _PAUSE if held > 8 * state.delay else 2 * state.delay
            state.pause = state.delay
    return number


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
            _insert_left(state, _frozen(batch[left]), len(batch), above, room)
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
        return _insert_singly(state, rows)  # beyond any sample: count · dim + column overflows
    insert_by_coordinates(state.rows, state.counts, *room, rows)
    state.used[COORDINATES] += len(rows)
    return len(rows)
