"""What the flag of one sample shows by itself: coverage, rows that matter, margins.

Every function takes the falling counts of an adapted basis (`Flag.counts`): dim V_j is the number
of counts ≥ j, and V_0 stands for the whole space. Proofs: docs/theory/rules.md, S8, S11, S12.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from flagstone.guarantees.exact import at_least, check_dim, positive


def _dim_at(counts: Sequence[int], j: int) -> int:
    return sum(1 for c in counts if c >= j)


def rows_in_first_sets(counts: Sequence[int], sets: int) -> int:
    """Σ_{j ≤ sets} dim V_j: how many rows sit in the first sets of the partition.

    Examples
    --------
    >>> rows_in_first_sets([5, 2, 1], 2)  # V_1 has dimension 3, V_2 has dimension 2
    5
    """
    last = at_least("sets", sets, 0)
    return sum(min(int(c), last) for c in counts)


def uncovered_bracket(counts: Sequence[int], t: int, *, shards: int = 1) -> tuple[int, int]:
    """Lower and upper bound on the rows outside V_t, from the flag alone (S8).

    Σ_{j<t} (dim V_j - dim V_t) ≤ uncovered ≤ R·Σ_{j<s} dim V_j ≤ R·Σ_{j<t} dim V_j, where s ≤ t is
    the first set with the same space as V_t; and never more than the non-zero rows. With merged
    shards (R > 1) the lower bound stays, and the upper one grows by the factor R.

    Examples
    --------
    >>> uncovered_bracket([5, 2, 1], 2)  # V_2 misses one direction of V_1, and one row
    (1, 3)
    >>> uncovered_bracket([5, 5, 5], 4)  # V_4 = V_1 misses nothing
    (0, 0)
    >>> uncovered_bracket([5, 2, 1], 6)  # V_6 = {0} misses all eight rows
    (8, 8)
    """
    index, R = positive("t", t), positive("shards", shards)
    last_larger = max((int(c) for c in counts if c < index), default=0)  # V_j ≠ V_t up to here
    before = rows_in_first_sets(counts, last_larger)
    low = before - last_larger * _dim_at(counts, index)
    return low, min(R * before, sum(int(c) for c in counts))


def index_margin(counts: Sequence[int], dim: int, t: int) -> int:
    """The largest s with V_{t-s} = V_{t+s}: no s altered rows change V_t (S11).

    Notes
    -----
    **Guarantees**

    With t held fixed, no s rows added, removed or replaced (inside their shards) change V_t.

    Examples
    --------
    >>> index_margin([9, 9, 4], 3, 6)  # V_5 = ... = V_9 has dimension 2, V_4 and V_10 do not
    1
    >>> index_margin([9, 9, 9], 3, 2)  # V_t is the whole space: it can only shrink
    7
    """
    d, index = check_dim(dim), positive("t", t)
    r = _dim_at(counts, index)
    inside = [int(c) for c in counts if c >= index]
    outside = [int(c) for c in counts if c < index]
    # Indices above t with the same space, and below; a full space cannot grow, {0} cannot shrink.
    room_below = min(inside) - index if r else None
    room_above = index - 1 - (max(outside) if outside else 0) if r < d else None
    return min(room for room in (room_below, room_above) if room is not None)


def heavy_margin(counts: Sequence[int], dim: int, t: float) -> int:
    """How many altered rows certainly leave the heavy rule's answer as it is (S12).

    One replaced row moves a multiplicity n(V) by at most 2: so V* stays heavy while
    2s ≤ n(V*) - t, and nothing larger becomes heavy while n(W) + 2s < t for all W ⊋ V*.

    Notes
    -----
    **Guarantees**

    With t held fixed, no s rows added, removed or replaced (inside their shards) change V*.

    Examples
    --------
    >>> heavy_margin([20], 1, 4.5)  # n = 20: seven altered rows leave at least 6 ≥ 4.5
    7
    """
    d, needed = check_dim(dim), math.ceil(t)
    largest_outside = 0
    ordered = sorted((int(c) for c in counts), reverse=True)
    for r in range(len(ordered), 0, -1):  # from the largest space to the smallest
        multiplicity = ordered[r - 1] - (ordered[r] if r < len(ordered) else 0)
        if multiplicity >= needed:
            rooms = [multiplicity - needed]
            if r < d:
                rooms.append(needed - 1 - largest_outside)
            return min(rooms) // 2
        largest_outside = max(largest_outside, multiplicity)
    return (needed - 1 - largest_outside) // 2
