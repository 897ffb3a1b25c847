"""Evidence in every version: the same numbers, to the last bit."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flagstone._kernels import available

VERSIONS = available()


@st.composite
def calls(draw):
    """Rates, pieces, numbers, and what is asked, as certificates do and wider."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n_rates, n = draw(st.integers(1, 12)), draw(st.integers(0, 30))
    rates = draw(st.sampled_from([1, -1])) * 0.5 * 1.2 ** -np.arange(n_rates, dtype=float)
    values = rng.integers(0, 4, n).astype(float)
    lengths = rng.integers(1, 12, n).astype(float)
    times = np.where(rng.random(n) < 0.3, 0, rng.integers(0, 200, n)).astype(float)
    rows = float(draw(st.integers(1, 5000)))
    numbers = rows, draw(st.floats(0.1, 3)), draw(st.sampled_from([1e-12, 0.0, 1e-3]))
    needed = draw(st.floats(0, 12))
    if draw(st.booleans()):
        likely = float(rows * (values @ times) // max(1.0, lengths @ times))
        ends = draw(st.sampled_from([(-1.0, likely + 1), (max(2.0, rows + 2), likely - 1)]))
        nats = draw(st.floats(0, 9))
        return rates, values, lengths, times, *numbers, needed, True, nats, *ends, 1.0
    total = float(draw(st.integers(0, 400)))
    return rates, values, lengths, times, *numbers, needed, False, total, 0.0, 200.0, 1e-5


@settings(max_examples=100)
@given(calls())
def test_edges_are_the_same_to_the_last_bit(arguments):
    found = {name: version.evidence_edge(*arguments) for name, version in VERSIONS.items()}
    assert len({math.nan if math.isnan(x) else x.hex() for x in found.values()} - {math.nan}) <= 1
    assert len({math.isnan(x) for x in found.values()}) == 1


ONE = np.ones(1)
GOOD = [ONE, ONE, ONE, ONE, 5.0, 1.0, 1e-12, 1.0, True, 1.0, -1.0, 5.0, 1.0]


@pytest.mark.parametrize("name", sorted(set(VERSIONS) - {"python"}))
@pytest.mark.parametrize(
    ("at", "argument"),
    [
        (0, np.ones(0)),
        (0, np.ones(1, np.float32)),
        (0, np.ones((1, 1))),
        (1, np.ones(2)),
        (2, np.ones(2)),
        (3, np.ones(4)[::2]),
        (3, np.array([math.nan])),
        (4, 0.0),
        (4, -1.0),
        (5, math.inf),
        (7, math.nan),
        (11, math.inf),
        (12, 0.0),
        (12, -1.0),
        (12, "1"),
    ],
)
def test_what_cannot_be_is_refused(name, at, argument):
    arguments = [*GOOD[:at], argument, *GOOD[at + 1 :]]
    with pytest.raises((TypeError, ValueError)):
        VERSIONS[name].evidence_edge(*arguments)


@pytest.mark.parametrize("name", VERSIONS)
def test_the_edge_is_the_last_point_with_enough_evidence(name):
    edge = VERSIONS[name].evidence_edge
    pieces = [np.array([0.3, 0.2]), np.array([2.0]), np.array([10.0]), np.array([60.0])]
    numbers = [660.0, 1.0, 1e-12, -math.log(0.005)]
    found = edge(*pieces, *numbers, True, -math.log(0.01), -1.0, 133.0, 1.0)
    again = edge(*pieces, *numbers, True, -math.log(0.01), found, found + 1, 1.0)
    assert found == again > 50
    assert math.isnan(edge(*pieces, *numbers, True, -math.log(0.01), found + 1, found + 2, 1.0))
