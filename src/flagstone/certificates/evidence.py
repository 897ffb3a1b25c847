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

    NumPy computes sums and products only: its exponentials and logarithms depend on the processor,
    and certificates are the same numbers everywhere.
    """

    def loss_of(power: float) -> float:
        loss = bet * math.expm1(power)
        return loss + room * (1 + abs(loss))

    came, logs = times > 0, list[float]()
    numbers = times[came].tolist()
    for rate in rates.tolist():
        powers = np.minimum((rate * total + nats) / rows * lengths - rate * values, 700.0)
        log = -math.inf
        if loss_of(float(powers.max(initial=-math.inf))) < 1:
            log = 0.0
            for power, n in zip(powers[came].tolist(), numbers, strict=True):
                log += n * math.log1p(-loss_of(power))
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
