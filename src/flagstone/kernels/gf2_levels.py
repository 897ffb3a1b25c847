"""The distinct counts of a flag, as a ring that opens and closes levels in no time.

``levels[n]`` holds the count of level n, the number of its elements, and the next level above and
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
    levels[0, COUNT] = _MOST
    levels[0, SIZE] = 0
    for q in order:
        if n == 0 or levels[n, COUNT] != counts[q]:
            levels[n, ABOVE] = n + 1
            levels[n + 1, BELOW] = n
            n += 1
            levels[n, COUNT] = counts[q]
            levels[n, SIZE] = 0
        levels[n, SIZE] += 1
        level[q] = n
        masks[n, q >> 6] |= _ONE << np.uint64(q & 63)
    levels[n, ABOVE] = 0
    levels[0, BELOW] = n
    for free in range(n + 1, len(levels)):
        levels[free, ABOVE] = free + 1
    levels[0, SIZE] = n + 1


@helper
def open_level(levels: Any, n: Any) -> Any:
    """A new level, of count one more, past level n."""
    new = levels[0, SIZE]
    levels[0, SIZE] = levels[new, ABOVE]
    above = levels[n, ABOVE]
    levels[new, COUNT] = levels[n, COUNT] + 1
    levels[new, SIZE] = 0
    levels[new, ABOVE] = above
    levels[new, BELOW] = n
    levels[n, ABOVE] = new
    levels[above, BELOW] = new
    return new


@helper
def close_level(levels: Any, n: Any) -> None:
    """Take out a level without elements."""
    above, below = levels[n, ABOVE], levels[n, BELOW]
    levels[below, ABOVE] = above
    levels[above, BELOW] = below
    levels[n, ABOVE] = levels[0, SIZE]
    levels[0, SIZE] = n


@helper
def raise_count(masks: Any, levels: Any, level: Any, q: Any, weight: Any) -> None:
    """Add to the count of element q, opening and closing levels as needed."""
    n = level[q]
    count = levels[n, COUNT] + weight
    m = levels[n, ABOVE]
    if levels[n, SIZE] == 1 and count < levels[m, COUNT]:
        levels[n, COUNT] = count
        return
    while levels[m, COUNT] < count:
        m = levels[m, ABOVE]
    if levels[m, COUNT] != count:
        m = open_level(levels, levels[m, BELOW])
        levels[m, COUNT] = count
    word = q >> 6
    bit = _ONE << np.uint64(q & 63)
    masks[m, word] |= bit
    masks[n, word] ^= bit
    levels[m, SIZE] += 1
    levels[n, SIZE] -= 1
    level[q] = m
    if levels[n, SIZE] == 0:
        close_level(levels, n)
