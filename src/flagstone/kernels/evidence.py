"""Products over pieces, for every rate of a grid, and how far they prove something (S32).

Plain Python, for lists and for arrays alike: small evidence is weighed as it stands here, and
:mod:`flagstone.kernels.evidence_compiled` has the same functions compiled.
"""

from __future__ import annotations

import math
from typing import Any


def log_mean_product(
    rates: Any,
    values: Any,
    lengths: Any,
    times: Any,
    logs: Any,
    total: float,
    nats: float,
    rows: float,
    bet: float,
    room: float,
) -> float:
    """The log of the mean over the rates λ of ∏ (1 − loss)^times, rounded down by ``room``.

    The loss of a piece is bet·(exp(−λ·value + μ·length) − 1), rounded up, for μ = (λ·total +
    nats)/rows. A product in which any loss reaches 1, that of pieces with ``times`` 0 too, is 0.
    ``logs`` is room for one number per rate.
    """
    top, number = -math.inf, 0.0
    for k in range(len(rates)):
        slope = (rates[k] * total + nats) / rows
        worst = -math.inf
        for i in range(len(times)):
            worst = max(worst, slope * lengths[i] - rates[k] * values[i])
        logs[k] = 0.0 if _loss(worst, bet, room) < 1 else -math.inf
        if logs[k] == 0:
            for i in range(len(times)):
                if times[i] > 0:
                    loss = _loss(slope * lengths[i] - rates[k] * values[i], bet, room)
                    logs[k] += times[i] * math.log1p(-loss)
        top = max(top, logs[k])
    if top == -math.inf:
        return top
    mean = 0.0
    for k in range(len(rates)):
        mean += math.exp(logs[k] - top)
    for i in range(len(times)):
        number += times[i]
    return top + math.log(mean / len(rates)) - room * number


def _loss(power: float, bet: float, room: float) -> float:
    loss = bet * math.expm1(min(700.0, power))
    return loss + room * (1 + abs(loss))


def edge(
    pieces: Any, numbers: Any, needed: float, at_total: bool, other: float,
    good: float, bad: float, step: float,
) -> float:  # fmt: skip
    """The last point, in steps from ``good`` to ``bad``, at which the log mean is still ``needed``.

    It falls from one to the other; nan if it is too small at ``good``. By the Illinois rule: where
    the chord meets the level, with the value at an end that stays halved.

    Parameters
    ----------
    pieces, numbers : (rates, values, lengths, times, logs), (rows, bet, room)
    at_total, other
        Whether points are totals, for so many nats; or nats, for this total.
    """
    at_good = _surplus(pieces, numbers, needed, at_total, other, good)
    at_bad = _surplus(pieces, numbers, needed, at_total, other, bad)
    if not at_good >= 0:
        return math.nan
    if at_bad >= 0:
        return bad
    stayed = 0
    while abs(bad - good) > 1.5 * step:
        part = at_good / (at_good - at_bad) if at_bad > -math.inf else 0.5
        steps = abs(bad - good) / step
        ahead = min(max(1.0, float(round(part * steps))), math.ceil(steps) - 1.0)
        middle = good + ahead * step if bad > good else good - ahead * step
        at_middle = _surplus(pieces, numbers, needed, at_total, other, middle)
        if at_middle >= 0:
            at_bad /= 2.0 if stayed > 0 else 1.0
            good, at_good, stayed = middle, at_middle, 1
        else:
            at_good /= 2.0 if stayed < 0 else 1.0
            bad, at_bad, stayed = middle, at_middle, -1
    return good


def _surplus(
    pieces: Any, numbers: Any, needed: float, at_total: bool, other: float, point: float
) -> float:
    rates, values, lengths, times, logs = pieces
    rows, bet, room = numbers
    total, nats = (point, other) if at_total else (other, point)
    found = log_mean_product(rates, values, lengths, times, logs, total, nats, rows, bet, room)
    return found - needed
