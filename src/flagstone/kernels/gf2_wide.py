"""Counted flags over GF(2) for any dimension: most rows in a space of their own.

If most rows lie in V = V_c, of fewer dimensions than columns, they pass the sets 1..c untouched,
whatever the others do there, and the sets past c are a flag of V alone. In the reduced echelon
basis of V the coordinates of a row are its bits in the columns of the leading bits, and it lies in
V iff their combination gives its other bits, too: a product. So the rows inside go to a flag of
GF(2)^dim V, by the kernel for that dimension, which is carried back in the end; the rows outside,
and all rows while no such space is in sight, go to :mod:`flagstone.kernels.gf2_blocks`.

For rows that come neither in bulk nor again, another kernel is the faster one, there and for all of
GF(2)^d: :mod:`flagstone.kernels.gf2_tiles` where processors can multiply tiles, and otherwise, if
there are not too many columns, :mod:`flagstone.kernels.gf2_sweep`. The first is so fast that one
such row in eight is enough to go there, and that only a much smaller space is worth a flag.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flagstone.kernels import gf2_blocks as blocks
from flagstone.kernels import gf2_sweep as sweep
from flagstone.kernels import gf2_tiles as tiles
from flagstone.kernels._tiles import AVAILABLE
from flagstone.kernels.gf2 import narrow_kernel

if TYPE_CHECKING:
    from flagstone.kernels.gf2_space import Space

Words = NDArray[np.uint64]
Counts = NDArray[np.int64]

#: A set that lacks fewer elements is about to be filled; fewer rows are not worth a new space.
_FEW = 24
#: Rows tested for membership at a time.
_BATCH = 2048
#: Rows before a space is looked for again, at first and at most.
_STRETCH = 1024, 65536
#: Where processors multiply tiles, no space among so few columns is worth a flag of its own.
_TOGETHER = 448
#: Rows for each column before a flag in a kernel chosen for them is asked whether it still is best.
_TERM = 256
#: What a row outside an open space costs, in rows inside; the debt at which the space is closed.
_MISS, _DEBT = 4, 512


class _Whole:
    """The whole space, as one that rows may keep to."""

    nbytes = 0

    def split(self, rows: Words) -> tuple[Words, NDArray[np.int64]]:
        return rows, np.zeros(0, np.int64)


@dataclass(frozen=True)
class _Within:
    """The sets past ``base``, as a flag in the coordinates of the space V_base.

    ``held`` are the elements that span V_base; they stand still with count ``base``.
    """

    base: int
    held: NDArray[np.int64]
    space: Space | _Whole
    kernel: ModuleType
    flag: Any
    debt: int = 0
    served: int = 0


@dataclass
class State:
    """A flag, and while ``within`` is open, that of its space, whose counts here stand still.

    The next space is looked for after ``pause`` rows, which began as ``delay``; each time in vain,
    or for a space that did not last, twice as many.
    """

    flag: blocks.State
    within: _Within | None = None
    pause: int = 0
    delay: int = _STRETCH[0]


def new(ar: int, dim: int | None = None, dtype: Any = None) -> State:
    """The flag of the empty sample in GF(2)^dim: every element has count 0."""
    return State(blocks.new(ar))


def insert(state: State, rows: Words, weights: Counts | None) -> None:
    """Insert ``rows`` in order, each as often as its weight says."""
    if weights is not None:
        _insert_weighted(state, rows, weights)
        return
    i, share = 0, _share(len(state.flag.counts))
    while i < len(rows):
        if state.within:
            i += _insert_within(state, state.within, rows[i:])
            continue
        if state.pause == 0 and len(rows) - i >= _FEW and not share:
            base, soon = _base(state.flag.counts)
            if base and not soon:
                _open(state, base)
                continue
            _wait(state, soon)
        batch = rows[i : i + state.pause] if state.pause else rows[i:]
        done = blocks.insert_until(state.flag, batch, share)
        state.pause = max(0, state.pause - done)
        i += done
        if blocks.come_alone(state.flag, share):
            base, soon = _base(state.flag.counts)
            if base == 0 or (share and state.pause):
                _keep_whole(state)
            elif soon and share:
                _wait(state, soon)
            elif share:
                _open(state, base)


def _insert_weighted(state: State, rows: Words, weights: Counts) -> None:
    if state.within is None or state.within.base:
        _close(state)
        if len(rows) >= _FEW:
            _keep_whole(state)
    if state.within:
        state.within.kernel.insert(state.within.flag, rows, weights)
        # Rows without weights may do better elsewhere.
        state.within = replace(state.within, served=_TERM * len(state.flag.counts))
    else:
        blocks.insert(state.flag, rows, weights)


def _keep_whole(state: State) -> None:
    """From now on keep all sets in the kernel for rows alone, if there is one."""
    dim = len(state.flag.counts)
    if kernel := _alone(dim):
        whole = kernel.load(dim, *blocks.dump(state.flag))
        state.flag.counts[:] = 0
        state.within = _Within(0, np.arange(dim), _Whole(), kernel, whole)


def _alone(dim: int) -> ModuleType | None:
    """The kernel for rows that come neither in bulk nor again."""
    if AVAILABLE:
        return tiles
    return sweep if dim <= sweep.WIDEST_ALONE else None


def _at_first(size: int) -> ModuleType:
    """The kernel for a space of that size, until its rows are known."""
    return narrow_kernel(size) or blocks


def _share(dim: int) -> int:
    """One row in so many that comes alone is reason to leave the panels; 0 if most must do so."""
    return 8 if _alone(dim) is tiles else 0


def load(ar: int, basis: Words, counts: Counts, dim: int | None = None) -> State:
    """The flag that an adapted basis with falling counts describes."""
    return State(blocks.load(ar, basis, counts))


def dump(state: State) -> tuple[Words, Counts]:
    """An adapted basis, by falling count."""
    within = state.within
    if within is None:
        return blocks.dump(state.flag)
    if isinstance(within.space, _Whole):
        basis, counts = within.kernel.dump(within.flag)
        return basis, counts
    inner = within.flag
    if within.kernel is not blocks:
        inner = blocks.load(len(within.held), *within.kernel.dump(within.flag))
    basis, counts = state.flag.basis.copy(), state.flag.counts.copy()
    coordinates = inner.basis[: len(within.held), : len(inner.inverse)]
    basis[within.held, : len(state.flag.inverse)] = within.space.combine(coordinates)
    counts[within.held] += inner.counts
    return blocks.dump(state.flag._replace(basis=basis, counts=counts))


def copy(state: State) -> State:
    """A state that shares nothing that changes with the first."""
    within = state.within
    if within:
        within = replace(within, flag=within.kernel.copy(within.flag))
    return replace(state, flag=blocks.copy(state.flag), within=within)


def nbytes(state: State) -> int:
    """Memory held by the state."""
    total = blocks.nbytes(state.flag)
    if state.within:
        total += state.within.space.nbytes + int(state.within.kernel.nbytes(state.within.flag))
    return total


def _wait(state: State, soon: bool = False) -> None:
    state.pause = state.delay // 16 if soon else state.delay
    state.delay = min(5 * state.delay // 4 if soon else 2 * state.delay, _STRETCH[1])


def _base(counts: Counts) -> tuple[int, bool]:
    """The count c for which V_c is the space of most rows, worth a flag of its own; 0 if none is.

    c is the largest count if the one below does not occur, else that one. A few elements with
    count c − 1 are about to move up: then V_c is not yet that space, but will be soon.
    How large it may be depends on what else there is for its rows.
    """
    top = int(counts.max())
    base = top - bool((counts == top - 1).any())
    size, late = int((counts >= base).sum()), int((counts == base - 1).sum())
    dim = len(counts)
    kernel = _alone(dim)
    times, most = 8, dim - 1 if kernel is None else 3 * dim // 4
    if kernel is tiles:
        times, most = 32, dim // 3 if dim > _TOGETHER else 0
    return (base if dim <= times * size <= times * most else 0), 0 < late < _FEW


def _open(state: State, base: int) -> None:
    """From now on keep the sets past ``base`` in the coordinates of V_base."""
    from flagstone.kernels.gf2_linalg import rref  # loaded by the first flag that needs them
    from flagstone.kernels.gf2_space import Space

    dim = len(state.flag.counts)
    basis, counts = blocks.dump(state.flag)
    size, above = int((counts >= base).sum()), int((counts > base).sum())
    space = Space(*rref(dim, basis[:size]))
    kernel = _at_first(size)
    flag = kernel.load(size, space.coordinates(basis[:above]), counts[:above] - base)
    held = np.flatnonzero(state.flag.counts >= base)
    state.flag.counts[held] = base
    state.within = _Within(base, held, space, kernel, flag)


def _close(state: State) -> None:
    """Carry the flag of the open space back."""
    if state.within:
        state.flag = blocks.load(len(state.flag.counts), *dump(state))
        state.within = None


def _insert_within(state: State, within: _Within, rows: Words) -> int:
    """Insert ``rows``, or some of them; close a space that grows, misses many or is too wide.

    A row outside that passes set ``base`` itself, since the set has grown, would mix with the rows
    inside: neither it nor the rows after it are dealt with. It is not the first row, for the first
    row outside finds the sets as they were.
    """
    left = 0 if within.base else _TERM * len(state.flag.counts) - within.served
    rows = rows[: max(_BATCH, left)]
    inside, outside = within.space.split(rows)
    done = 0
    if len(outside):
        done = blocks.insert_up_to(state.flag, rows[outside], within.base)
    number = len(rows) if done == len(outside) else int(outside[done])
    inside = inside[: number - done]
    within.kernel.insert(within.flag, inside, None)
    served = within.served + len(inside)
    debt = max(0, within.debt + _MISS * done - len(inside))
    within = state.within = replace(within, debt=debt, served=served)
    grown = np.count_nonzero(state.flag.counts >= within.base) > len(within.held)
    too_wide = False
    if within.kernel is blocks:
        narrower, soon = _base(within.flag.counts)
        too_wide = narrower > 0 and not soon
        kernel = _alone(len(within.held))
        if kernel and blocks.come_alone(within.flag, _share(len(within.held))):
            moved = kernel.load(len(within.held), *blocks.dump(within.flag))
            state.within = replace(within, kernel=kernel, flag=moved)
    chosen = within.kernel is not _at_first(len(within.held))
    too_long = chosen and served >= _TERM * len(state.flag.counts)
    if grown or too_wide or too_long or debt > _DEBT:
        _close(state)
        lasted = served > 16 * len(state.flag.counts)
        if lasted:
            state.delay = _STRETCH[0]
        if too_long:  # see whether blocks do better, or a space of its own
            dim = len(state.flag.counts)
            state.pause = 0 if _share(dim) else _STRETCH[0] + dim
        elif not too_wide and not (grown and lasted):
            _wait(state)
    return number
