"""Do violations come in runs? The runs test: S43 needs violations that are independent."""

from __future__ import annotations

import math

#: Independent violations are called dependent with at most this probability.
_FALSE_ALARMS = 1e-3


def come_in_runs(n_rows: int, hits: int, runs: int) -> bool:
    """Whether the hits make fewer runs than independent ones ever do.

    Examples
    --------
    >>> come_in_runs(1000, 20, 3), come_in_runs(1000, 20, 19), come_in_runs(1000, 0, 0)
    (True, False, False)
    """
    return chance_of_runs(n_rows, hits, runs) <= _FALSE_ALARMS


def chance_of_runs(n_rows: int, hits: int, runs: int) -> float:
    """P[at most this many runs of hits], if all orders of the rows are equally likely.

    The runs test of Wald and Wolfowitz, exact: r runs are C(k−1, r−1)·C(n−k+1, r) of C(n, k) orders
    of k hits.

    Examples
    --------
    >>> chance_of_runs(100, 10, 1) < 1e-9, chance_of_runs(100, 10, 9) > 0.1
    (True, True)
    >>> chance_of_runs(100, 0, 0), chance_of_runs(100, 1, 1), chance_of_runs(3, 3, 1)
    (1.0, 1.0, 1.0)
    """
    rest = n_rows - hits
    if hits < 2 or rest < 1:
        return 1.0

    def ways(n: int, k: int) -> float:
        return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)

    # Probabilities rise up to the usual number of runs and fall after it: sum the shorter side.
    most, usual = min(hits, rest + 1), hits * (rest + 1) / (n_rows + 1)
    below = runs <= usual
    total, r = 0.0, runs if below else runs + 1
    while 1 <= r <= most:
        term = math.exp(ways(hits - 1, r - 1) + ways(rest + 1, r) - ways(n_rows, hits))
        total += term
        if term < 1e-17 * total:
            break
        r += -1 if below else 1
    return min(1.0, total) if below else max(0.0, 1 - total)
