"""Loops on a counted basis over GF(2) in panels of 64 columns: rows one by one, and in bulk.

:mod:`flagstone.kernels.gf2_blocks` explains the description. Position q = 64·k + j is element j of
panel k; supports are packed like rows, so word k of a support names elements of panel k.

``tables`` holds, for each panel and each chunk of columns, the sums of the elements by fours (the
"method of the four Russians"). ``levels`` and ``masks`` are those of
:mod:`flagstone.kernels.gf2_levels`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from flagstone.kernels._jit import helper, jit
from flagstone.kernels._lanes import (
    add_named_rows,
    add_where,
    change_sums,
    coordinates,
    exchange,
    meet,
    set_row,
    tabulate,
)
from flagstone.kernels._llvm import set_sum, trailing_zeros
from flagstone.kernels.gf2_levels import (
    ABOVE,
    COUNT,
    SIZE,
    close_level,
    number_levels,
    open_level,
    raise_count,
)

_NONE = np.uint64(0)
_ONE = np.uint64(1)
_MOST = np.int64(2**63 - 1)
_MIX = np.uint64(0x9E3779B97F4A7C15)

#: Rows whose coordinates are found together, among how many; rows in bulk, at most and at least.
_BATCH, _AMONG, _BULK, _FEW = 16, 128, 512, 24
#: Rows after which the cache is judged, and for which it, or a bulk, is left when it did not pay.
TRIAL, _PAUSE = 256, 4096
#: Rows one by one after each bulk: most of the time they fill up what the set before lacks.
_BREATH = 8


@jit
def insert_many(
    basis: Any,
    inverse: Any,
    counts: Any,
    mood: Any,
    order: Any,
    rows: Any,
    weights: Any,
    ceiling: Any,
    share: Any,
    chunk: Any,
    lanes: Any,
) -> int:
    """Insert ``rows``, each as often as its weight says, if there are any; return how many.

    Ends before the first row that comes past set ``ceiling``, and when more than one row in
    ``share``, if that is not 0, comes one by one. ``order`` is that of the counts; ``mood`` is what
    was learned of the rows before, and how many of them came one by one, of all.
    """
    dim, padded = len(counts), basis.shape[1]
    chunks = padded // (4 * len(chunk))
    panels = len(inverse)
    tables = np.empty((256 * panels * chunks, 4 * len(chunk)), np.uint64)
    for k in range(panels):
        _tabulate_panel(tables, basis, k, chunks, chunk)
    levels = np.empty((4, dim + 2), np.int64)
    level = np.empty(dim, np.int64)
    masks = np.zeros((dim + 2, padded), np.uint64)
    number_levels(counts, order, levels, level, masks)
    indices = np.empty(_BULK, np.int64)
    known = np.empty(_BULK, np.int64)
    work = np.zeros((_BULK, padded), np.uint64)
    names = np.empty(_BULK, np.uint64)
    slots = np.zeros((_BATCH + 1, padded), np.uint64)
    witness = np.empty((dim, rows.shape[1]), np.uint64)
    limit = np.zeros(dim, np.int64)
    size = 1
    while size < 8 * dim:
        size *= 2
    cache = np.zeros(size, np.int32)
    pause = mood[0]  # rows before the next bulk
    trial = mood[1]  # rows before the cache is judged, or, below zero, tried again
    hits = mood[2]
    i = 0
    while i < len(rows):
        number = 0
        if pause <= 0 and len(weights) == 0 and ceiling == _MOST:
            n = levels[ABOVE, 0]
            number = min(levels[SIZE, n], len(rows) - i, _BULK)
        if number >= _FEW:
            taken, left = _insert_bulk(
                basis, inverse, tables, levels, level, masks, rows, i, number,
                work, names, indices, limit, chunks, chunk, lanes,
            )  # fmt: skip
            start = np.int64(0)
            while start < left:
                stop = min(left, start + _BATCH)
                for e in range(start, stop):
                    known[e] = start - e - 1
                _insert_batch(
                    basis, inverse, tables, levels, level, masks, rows, weights, indices, known,
                    start, stop, work, slots, False, witness, limit, cache, _MOST,
                    chunks, chunk, lanes,
                )  # fmt: skip
                start = stop
            i += number
            mood[3] += left
            mood[4] += number
            pause = _BREATH if 2 * taken >= number else _PAUSE
            if share * left > number:
                pause = max(pause, TRIAL)  # do they come again?
        else:
            first = i
            number = 0
            used = 0
            look = trial >= 0
            batch = _BREATH if pause > 0 and pause <= _BREATH else _BATCH
            while i < len(rows) and number < _AMONG and used < batch:
                indices[number] = i
                q = _find(witness, cache, rows, i) if look else -1
                weight = weights[i] if len(weights) else np.int64(1)
                if q >= 0 and limit[q] - levels[COUNT, level[q]] >= weight:
                    known[number] = q
                else:
                    used += 1
                    known[number] = -used
                number += 1
                i += 1
            done = _insert_batch(
                basis, inverse, tables, levels, level, masks, rows, weights, indices, known,
                0, number, work, slots, look, witness, limit, cache, ceiling,
                chunks, chunk, lanes,
            )  # fmt: skip
            if done < 0:
                i = indices[-1 - done]
                break
            i = first + done
            hits += number - used
            mood[3] += used
            mood[4] += number
            pause -= done
            trial = max(trial - done, 0) if look else trial + done
            if trial == 0 or (not look and trial > 0):
                trial = TRIAL if not look or 8 * hits >= TRIAL else -_PAUSE
                hits = 0
        if trial < 0 and mood[3] >= TRIAL and share * mood[3] > mood[4]:
            break
        if mood[4] >= _PAUSE:  # rows long ago count less
            mood[3] >>= 1
            mood[4] >>= 1
    for q in range(dim):
        counts[q] = levels[COUNT, level[q]]
    mood[0], mood[1], mood[2] = pause, trial, hits
    return i


@helper
def _tabulate_panel(tables: Any, basis: Any, k: int, chunks: int, chunk: Any) -> None:
    for c in range(chunks):
        tabulate(tables, 256 * (k * chunks + c), basis, 64 * k, 4 * len(chunk) * c, chunk)


@helper
def _add_named(
    target: Any, t: int, tables: Any, k: int, name: Any, chunks: int, chunk: Any
) -> None:
    """Add to a row what ``name`` names in panel k, which vanishes left of it."""
    width = 4 * len(chunk)
    for c in range(k // width, chunks):
        add_named_rows(target, t, width * c, tables, 256 * (k * chunks + c), name, chunk)


@helper
def _insert_bulk(
    basis: Any, inverse: Any, tables: Any, levels: Any, level: Any, masks: Any,
    rows: Any, first: int, number: int, work: Any, names: Any, indices: Any, limit: Any,
    chunks: int, chunk: Any, lanes: Any,
) -> Any:  # fmt: skip
    """Let the set past the lowest level take what it can of some rows; how many, and how many not.

    All rows pass the sets up to there; this one takes those that are independent of the ones
    before. What it leaves, in ``indices``, does not meet it, and so may come later.
    """
    width = rows.shape[1]
    n = levels[ABOVE, 0]
    count = levels[COUNT, n]
    for r in range(number):
        indices[r] = r
        for k in range(width):
            work[r, k] = rows[first + r, k]
    active = number
    for k in range(width):
        free = masks[n, k]
        still = 0
        for a in range(active):
            r = indices[a]
            name = _NONE
            if work[r, k] != _NONE:
                name = coordinates(inverse, k, work[r, k])
            tie = name & free
            if tie != _NONE:
                bit = tie & (~tie + _ONE)
                free ^= bit
                exchange(inverse, k, bit, name ^ bit)
                set_row(basis, 64 * k + trailing_zeros(bit), work, r, lanes)
            else:
                names[still] = name
                indices[still] = r
                still += 1
        active = still
        if free != masks[n, k]:
            _tabulate_panel(tables, basis, k, chunks, chunk)
        masks[0, k] = free
        for a in range(active):
            if names[a] != _NONE:
                _add_named(work, indices[a], tables, k, names[a], chunks, chunk)
    taken = number - active
    if taken:
        above = levels[ABOVE, n]
        if levels[COUNT, above] != count + 1:
            above = open_level(levels, n)
        for k in range(width):
            word = masks[n, k] ^ masks[0, k]
            masks[n, k] ^= word
            masks[above, k] |= word
            while word != _NONE:
                q = 64 * k + trailing_zeros(word)
                level[q] = above
                limit[q] = 0
                word &= word - _ONE
        levels[SIZE, above] += taken
        levels[SIZE, n] -= taken
        if levels[SIZE, n] == 0:
            close_level(levels, n)
    for a in range(active):
        indices[a] += first
    return taken, active


@helper
def _insert_batch(
    basis: Any, inverse: Any, tables: Any, levels: Any, level: Any, masks: Any,
    rows: Any, weights: Any, indices: Any, known: Any, start: Any, stop: Any,
    work: Any, slots: Any, look: bool, witness: Any, limit: Any, cache: Any, ceiling: Any,
    chunks: int, chunk: Any, lanes: Any,
) -> int:  # fmt: skip
    """Insert some rows one after another; return how many, or −1 − e for a row e past ``ceiling``.

    ``known[e]`` is the element of which row e is the witness, or −1 − the number of its slot.
    """
    width = rows.shape[1]
    used = 0
    for e in range(start, stop):
        if known[e] < 0:
            for k in range(width):
                work[used, k] = rows[indices[e], k]
            used += 1
    for k in range(width):
        for s in range(used):
            name = _NONE
            if work[s, k] != _NONE:
                name = coordinates(inverse, k, work[s, k])
                _add_named(work, s, tables, k, name, chunks, chunk)
            slots[s, k] = name
    for e in range(start, stop):
        i = indices[e]
        weight = np.int64(1)
        if len(weights):
            weight = weights[i]
        if known[e] >= 0:
            q = known[e]
            if levels[COUNT, level[q]] >= ceiling:
                return -1 - e
            if limit[q] - levels[COUNT, level[q]] < weight or not _same(witness, q, rows, i):
                return e - start
            if weight > 0:
                raise_count(masks, levels, level, q, weight)
            continue
        s = -1 - known[e]
        some = _NONE
        for k in range(width):
            some |= slots[s, k]
        while weight > 0 and some != _NONE:
            n = levels[ABOVE, 0]
            while meet(slots, s, masks, n, lanes) == _NONE:
                n = levels[ABOVE, n]
            if levels[COUNT, n] >= ceiling:
                return -1 - e
            place = -1
            rest = _NONE
            for k in range(width):
                word = slots[s, k] & masks[n, k]
                if word != _NONE:
                    if place < 0:
                        place = 64 * k + trailing_zeros(word)
                        word &= word - _ONE
                    rest |= word
            step = np.int64(1)
            if rest != _NONE:
                _exchange_at(
                    basis, inverse, tables, rows, i, work, slots, s, used, place,
                    chunks, chunk, lanes,
                )  # fmt: skip
                limit[place] = 0
            elif weight > 1:
                # Alone until it meets the next count in the support.
                m = levels[ABOVE, n]
                while m != 0 and meet(slots, s, masks, m, lanes) == _NONE:
                    m = levels[ABOVE, m]
                step = min(weight, levels[COUNT, m] - levels[COUNT, n])
            raise_count(masks, levels, level, place, step)
            weight -= step
            if look and weight == 0:
                slots[s, place >> 6] ^= _ONE << np.uint64(place & 63)
                m = level[place]
                for _ in range(32):
                    if m == 0 or meet(slots, s, masks, m, lanes) != _NONE:
                        break
                    m = levels[ABOVE, m]
                limit[place] = levels[COUNT, m]
                for k in range(width):
                    witness[place, k] = rows[i, k]
                cache[_hash(rows, i) & np.uint64(len(cache) - 1)] = place + 1
    return stop - start


@helper
def _hash(rows: Any, i: int) -> Any:
    total = _NONE
    factor = _MIX
    for k in range(rows.shape[1]):
        total += rows[i, k] * factor
        factor += _MIX + _MIX
    return total ^ total >> np.uint64(32)


@helper
def _same(left: Any, i: Any, right: Any, j: int) -> bool:
    apart = left[i, 0] ^ right[j, 0]
    if apart == _NONE:
        for k in range(1, right.shape[1]):
            apart |= left[i, k] ^ right[j, k]
    return bool(apart == _NONE)


@helper
def _find(witness: Any, cache: Any, rows: Any, i: int) -> Any:
    """The element of which a row is the witness, as far as the cache knows, or −1."""
    q = np.int64(cache[_hash(rows, i) & np.uint64(len(cache) - 1)]) - 1
    return q if q >= 0 and _same(witness, q, rows, i) else -1


@helper
def _exchange_at(
    basis: Any, inverse: Any, tables: Any, rows: Any, i: int, work: Any, slots: Any, s: int,
    number: int, place: int, chunks: int, chunk: Any, lanes: Any,
) -> None:  # fmt: skip
    """Let row i, less what panels left of ``place`` have of it, replace the element there."""
    width = rows.shape[1]
    panel = place >> 6
    bit = _ONE << np.uint64(place & 63)
    spare = len(slots) - 1
    for k in range(width):
        work[s, k] = rows[i, k]
    set_row(slots, spare, slots, s, lanes)
    for k in range(panel):
        if slots[s, k] != _NONE:
            _add_named(work, s, tables, k, slots[s, k], chunks, chunk)
            slots[spare, k] = _NONE
    slots[spare, panel] ^= bit
    exchange(inverse, panel, bit, slots[spare, panel])
    # Sums that contain the element change by as much as it does.
    set_sum(basis, place, basis, place, work, s, 0)
    for c in range(panel // (4 * len(chunk)), chunks):
        start = 4 * len(chunk) * c
        change_sums(tables, 256 * (panel * chunks + c), place & 63, basis, place, start, chunk)
    set_row(basis, place, work, s, lanes)
    # Supports of rows to come: the element is now the sum of the row's other ones and the row.
    add_where(slots, s + 1, number, panel, bit, spare, lanes)
    for k in range(panel, width):
        slots[s, k] = _NONE
    slots[s, panel] = bit
