"""Products over pieces, for every rate of a grid (docs/theory/certificates.md, S32)."""

from __future__ import annotations

import math
from collections.abc import Callable

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

    def losses(powers: Numbers) -> Numbers:
        loss = bet * _each(math.expm1, powers)
        return loss + room * (1 + abs(loss))

    came, each = times > 0, rates[:, np.newaxis]
    powers = np.minimum((each * total + nats) / rows * lengths - each * values, 700.0)
    possible = losses(powers.max(axis=1, initial=-math.inf)) < 1
    terms = times[came] * _each(math.log1p, -losses(powers[possible][:, came]))
    # a running sum is added from left to right on every processor
    logs = np.cumsum(terms, axis=1)[:, -1].tolist() if terms.size else [0.0] * len(terms)
    if not logs:
        return -math.inf
    top, mean, number = max(logs), 0.0, 0.0
    for log in logs:
        mean += math.exp(log - top)
    for n in times[came].tolist():
        number += n
    return float(top + math.log(mean / len(rates)) - room * number)


def _each(function: Callable[[float], float], numbers: Numbers) -> Numbers:
    """Apply a function of the C library to every entry."""
    return np.array([*map(function, numbers.ravel().tolist())]).reshape(numbers.shape)
