"""Evidence in every version: the same numbers, to the last bit."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.native.versions import NATIVE, VERSIONS


@st.composite
def calls(draw):
    """Rates, pieces and numbers, as certificates have them and wider."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n_rates, n = draw(st.integers(1, 12)), draw(st.integers(0, 30))
    rates = draw(st.sampled_from([1, -1])) * 0.5 * 1.2 ** -np.arange(n_rates, dtype=float)
    values = rng.integers(0, 4, n).astype(float)
    lengths = rng.integers(1, 12, n).astype(float)
    times = np.where(rng.random(n) < 0.3, 0, rng.integers(0, 200, n)).astype(float)
    rows = float(draw(st.integers(1, 5000)))
    total = float(draw(st.integers(-1, 5000)))
    numbers = total, draw(st.floats(0, 200)), rows, draw(st.floats(0.1, 3))
    return rates, values, lengths, times, *numbers, draw(st.sampled_from([1e-12, 0.0, 1e-3]))


@settings(max_examples=200)
@given(calls())
def test_products_are_the_same_to_the_last_bit(arguments):
    found = {name: version.log_mean_product(*arguments) for name, version in VERSIONS.items()}
    assert len({x.hex() for x in found.values()}) == 1


ONE = np.ones(1)
GOOD = [ONE, ONE, ONE, ONE, 5.0, 1.0, 1.0, 1.0, 1e-12]


@pytest.mark.parametrize("name", NATIVE)
@pytest.mark.parametrize(
    ("at", "argument"),
    [
        (0, np.ones(0)),
        (0, np.ones(1, np.float32)),
        (0, np.ones((1, 1))),
        (1, np.ones(2)),
        (2, np.ones(2)),
        (3, np.ones(4)[::2]),
        (6, 0.0),
        (6, -1.0),
        (6, math.nan),
        (8, "1"),
    ],
)
def test_what_cannot_be_is_refused(name, at, argument):
    arguments = [*GOOD[:at], argument, *GOOD[at + 1 :]]
    with pytest.raises((TypeError, ValueError)):
        VERSIONS[name].log_mean_product(*arguments)


@pytest.mark.parametrize("name", VERSIONS)
def test_the_mean_is_that_of_the_definition(name):
    rates, value, length, times = np.array([0.3, 0.2]), 2.0, 10.0, 60.0
    pieces = [rates, np.array([value]), np.array([length]), np.array([times])]
    total, nats, rows, bet = 80.0, 4.0, 660.0, 0.5
    losses = bet * np.expm1(-rates * value + length * (rates * total + nats) / rows)
    expected = math.log(np.mean((1 - losses) ** times))
    found = VERSIONS[name].log_mean_product(*pieces, total, nats, rows, bet, 0.0)
    assert found == pytest.approx(expected, rel=1e-12)
