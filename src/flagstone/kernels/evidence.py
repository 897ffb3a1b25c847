"""Products over pieces, for every rate of a grid: the inner loop of certificates (S32)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from flagstone.kernels._jit import jit

__all__ = ["log_mean_product"]


@jit
def log_mean_product(
    rates: Any,
    values: Any,
    lengths: Any,
    times: Any,
    total: float,
    nats: float,
    rows: float,
    bet: float,
    room: float,
) -> float:
    """The log of the mean over the rates λ of ∏ (1 − loss)^times, rounded down by ``room``.

    The loss of a piece is bet·(exp(−λ·value + μ·length) − 1), rounded up, for μ = (λ·total +
    nats)/rows. A product in which any loss reaches 1, that of pieces with ``times`` 0 too, is 0.
    """
    logs = np.empty(len(rates))
    top = -math.inf
    for k in range(len(rates)):
        logs[k] = 0.0
        slope = (rates[k] * total + nats) / rows
        for i in range(len(times)):
            loss = bet * math.expm1(min(700.0, slope * lengths[i] - rates[k] * values[i]))
            loss += room * (1 + abs(loss))
            if loss >= 1:
                logs[k] = -math.inf
                break
            if times[i] > 0:
                logs[k] += times[i] * math.log1p(-loss)
        top = max(top, logs[k])
    if top == -math.inf:
        return top
    mean = 0.0
    for k in range(len(rates)):
        mean += math.exp(logs[k] - top)
    return top + math.log(mean / len(rates)) - room * times.sum()
