"""Products over pieces, for every rate of a grid, and how far they prove something (S32)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]


def evidence_edge(
    rates: Numbers, values: Numbers, lengths: Numbers, times: Numbers, rows: float, bet: float,
    room: float, needed: float, at_total: bool, other: float, good: float, bad: float, step: float,
) -> float:  # fmt: skip
    """Return the last point, in steps from ``good`` to ``bad``, where the log mean is ``needed``.

    It falls from one to the other; nan if it is too small at ``good``. By the Illinois rule: where
    the chord meets the level, with the value at an end that stays halved. Points are totals, for
    ``other`` nats, or nats, for the total ``other``; see `log_mean_product` for the rest.
    """
    pieces = rates.tolist(), values.tolist(), lengths.tolist(), times.tolist()

    def surplus(point: float) -> float:
        total, nats = (point, other) if at_total else (other, point)
        return log_mean_product(*pieces, total, nats, rows, bet, room) - needed

    at_good, at_bad = surplus(good), surplus(bad)
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
        at_middle = surplus(middle)
        if at_middle >= 0:
            at_bad /= 2.0 if stayed > 0 else 1.0
            good, at_good, stayed = middle, at_middle, 1
        else:
            at_good /= 2.0 if stayed < 0 else 1.0
            bad, at_bad, stayed = middle, at_middle, -1
    return good


def log_mean_product(
    rates: list[float], values: list[float], lengths: list[float], times: list[float],
    total: float, nats: float, rows: float, bet: float, room: float,
) -> float:  # fmt: skip
    """Return the log of the mean over the rates λ of ∏ (1 − loss)^times, rounded down by ``room``.

    The loss of a piece is bet·(exp(−λ·value + μ·length) − 1), rounded up, for μ = (λ·total +
    nats)/rows. A product in which any loss reaches 1, that of pieces with ``times`` 0 too, is 0.
    """
    logs = []
    for rate in rates:
        slope = (rate * total + nats) / rows
        powers = [
            slope * length - rate * value for value, length in zip(values, lengths, strict=True)
        ]
        log = 0.0
        if _loss(max(powers, default=-math.inf), bet, room) < 1:
            for power, n in zip(powers, times, strict=True):
                if n > 0:
                    log += n * math.log1p(-_loss(power, bet, room))
        else:
            log = -math.inf
        logs.append(log)
    top = max(logs)
    if top == -math.inf:
        return top
    mean = number = 0.0
    for log in logs:
        mean += math.exp(log - top)
    for n in times:
        number += n
    return top + math.log(mean / len(rates)) - room * number


def _loss(power: float, bet: float, room: float) -> float:
    loss = bet * math.expm1(min(700.0, power))
    return loss + room * (1 + abs(loss))
