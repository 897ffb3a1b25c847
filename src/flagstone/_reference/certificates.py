"""Products over pieces, for every rate of a grid (docs/theory/certificates.md, S32)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]


def log_mean_product(
    rates: Numbers, values: Numbers, lengths: Numbers, times: Numbers,
    total: float, nats: float, rows: float, bet: float, room: float,
) -> float:  # fmt: skip
    """Return the log of the mean over the rates λ of ∏ (1 − loss)^times, rounded down by ``room``.

    The loss of a piece is bet·(exp(−λ·value + μ·length) − 1), rounded up, for μ = (λ·total +
    nats)/rows. A product in which any loss reaches 1, that of pieces with ``times`` 0 too, is 0.
    """
    pieces, numbers = list(zip(values.tolist(), lengths.tolist(), strict=True)), times.tolist()
    logs = []
    for rate in rates.tolist():
        slope = (rate * total + nats) / rows
        powers = [slope * length - rate * value for value, length in pieces]
        log = 0.0
        if _loss(max(powers, default=-math.inf), bet, room) < 1:
            for power, n in zip(powers, numbers, strict=True):
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
    for n in numbers:
        number += n
    return top + math.log(mean / len(logs)) - room * number


def _loss(power: float, bet: float, room: float) -> float:
    loss = bet * math.expm1(min(700.0, power))
    return loss + room * (1 + abs(loss))
