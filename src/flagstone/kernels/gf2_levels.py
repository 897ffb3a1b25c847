"""The distinct counts of a flag, as a ring that opens and closes levels in no time.

``levels[:, n]`` are the count of level n, the number of its elements, and the next level above and
below; the ring goes by rising count from entry 0, which is none, and free entries are linked from
its number of elements on. ``masks[n]`` are the elements, packed; ``level[q]`` is the level of q.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from flagstone.kernels._jit import helper, leaf

_ONE = np.uint64(1)
_MOST = np.int64(2**63 - 1)

#: The fields of a level.
COUNT, SIZE, ABOVE, BELOW = 0, 1, 2, 3


@leaf
def number_levels(counts: Any, order: Any, levels: Any, level: Any, masks: Any) -> None:
    n = 0
    levels[COUNT, 0] = _MOST
    levels[SIZE, 0] = 0
    for q in order:
        if n == 0 or levels[COUNT, n] != counts[q]:
            levels[ABOVE, n] = n + 1
            levels[BELOW, n + 1] = n
            n += 1
            levels[COUNT, n] = counts[q]
            levels[SIZE, n] = 0
        levels[SIZE, n] += 1
        level[q] = n
        masks[n, q >> 6] |= _ONE << np.uint64(q & 63)
    levels[ABOVE, n] = 0
    levels[BELOW, 0] = n
    for free in range(n + 1, levels.shape[1]):
        levels[ABOVE, free] = free + 1
    levels[SIZE, 0] = n + 1


@helper
def open_level(levels: Any, n: Any) -> Any:
    """A new level, of count one more, past level n."""
    new = levels[SIZE, 0]
    levels[SIZE, 0] = levels[ABOVE, new]
    above = levels[ABOVE, n]
    levels[COUNT, new] = levels[COUNT, n] + 1
    levels[SIZE, new] = 0
    levels[ABOVE, new] = above
    levels[BELOW, new] = n
    levels[ABOVE, n] = new
    levels[BELOW, above] = new
    return new


@helper
def close_level(levels: Any, n: Any) -> None:
    """Take out a level without elements."""
    above, below = levels[ABOVE, n], levels[BELOW, n]
    levels[ABOVE, below] = above
    levels[BELOW, above] = below
    levels[ABOVE, n] = levels[SIZE, 0]
    levels[SIZE, 0] = n


@helper
def raise_count(masks: Any, levels: Any, level: Any, q: Any, weight: Any) -> None:
    """Add to the count of element q, opening and closing levels as needed."""
    n = level[q]
    count = levels[COUNT, n] + weight
    above = np.uint64(levels[ABOVE, n])  # an index without a sign takes fewer steps
    if levels[SIZE, n] == 1 and count < levels[COUNT, above]:
        levels[COUNT, n] = count
        return
    while levels[COUNT, above] < count:
        above = np.uint64(levels[ABOVE, above])
    m = np.int64(above)
    if levels[COUNT, m] != count:
        m = open_level(levels, levels[BELOW, m])
        levels[COUNT, m] = count
    word = q >> 6
    bit = _ONE << np.uint64(q & 63)
    masks[m, word] |= bit
    masks[n, word] ^= bit
    levels[SIZE, m] += 1
    levels[SIZE, n] -= 1
    level[q] = m
    if levels[SIZE, n] == 0:
        close_level(levels, n)
