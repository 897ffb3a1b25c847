"""A bit that tells types of rows apart: on a side of it rows obey more than all together."""

from __future__ import annotations

import numpy as np

from flagstone.algebra import Array, BitRows, Flag, Staircase
from flagstone.answers import Constraints
from flagstone.coins import Coins
from flagstone.frames.captures.evidence import (
    FALSE_ALARMS,
    FEWEST_CHECKS,
    obey_their_own,
    own_checks,
)
from flagstone.frames.digests import Frame
from flagstone.rules import SpanRule

#: How many rows are looked at, half of them to choose and half to test.
SAMPLE = 2048
#: Fewer rows than this are no side.
_FEWEST = 16


def _reaches(rows: BitRows, index: int, dim: int) -> bool:
    """Say whether the set of this index spans this many dimensions; often the first rows tell."""
    first = index * rows.dim + 16  # V_j only grows with further rows
    flag = Flag(rows.dim).update(rows[:first])
    return flag.dim_at(index) >= dim or flag.update(rows[first:]).dim_at(index) >= dim


def discriminating_bit(
    rows: Array, answer: Constraints, rule: SpanRule, coins: Coins
) -> int | None:
    """Return the bit that tells types of rows (x, 1) apart best; None where no bit does.

    Parameters
    ----------
    rows : array
        That obey the answer, all of them or a sample.
    answer : Constraints
        Of all rows together.
    rule, coins : SpanRule, Coins
        How equations are chosen, here and on each side.

    Notes
    -----
    **Guarantees**

    Equal rows are together in the half that chooses bit and equations, or in the other one, which
    tests them, once each. A bit that is no more than a constant to the others, so that the rows
    of one side are those of the other, drawn independently, plus a fixed row, is returned with
    probability at most half of ``FALSE_ALARMS`` (`evidence.obey_their_own`).
    """
    _, first, same = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    half = np.argsort(np.argsort(first)) % 2
    choose, test = rows[half[same.ravel()] == 0], rows[np.sort(first[half == 1])]
    if not len(choose):
        return None
    packed = answer.field.rows(choose)
    flag = Flag(rows.shape[1]).update(packed)
    t = rule.draw(rule.window(flag.dim, flag.n_rows), coins)
    index = rule.index(Staircase.of(flag), t)
    V, best = flag.span_at(index), None
    for bit in Frame.of(answer).own:
        sides = [packed[choose[:, bit] == value] for value in (0, 1)]
        if min(map(len, sides)) < _FEWEST:
            continue
        # of fewer rows each direction is seen less often
        indices = [max(1, index * len(side) // len(choose)) for side in sides]
        enough = V.dim - FEWEST_CHECKS
        if all(_reaches(side, j, enough) for side, j in zip(sides, indices, strict=True)):
            continue
        spaces = [
            Flag(flag.dim).update(side).span_at(j) for side, j in zip(sides, indices, strict=True)
        ]
        more = [V.dim - 1 - space.dim for space in spaces]
        saved = sum(len(side) * n for side, n in zip(sides, more, strict=True))
        if max(more) >= FEWEST_CHECKS and (best is None or saved > best[0]):
            best = saved, bit, spaces
    if best is None:
        return None
    _, bit, spaces = best
    for value, space in enumerate(spaces):
        here = test[:, bit] == value
        if own_checks(space, V) >= FEWEST_CHECKS and obey_their_own(
            space, [test[~here]], test[here], FALSE_ALARMS / 4
        ):
            return bit
    return None
