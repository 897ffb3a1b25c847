"""What is proven of the sets outside a space: the better one of two bounds."""

import numpy as np
import pytest

from flagstone.algebra.flag import Flag
from flagstone.certificates import Certifier
from flagstone.certificates.claims import SetsOutside
from flagstone.certificates.pieces import Cut, Evidence, rates
from flagstone.guarantees import Window
from flagstone.guarantees.binomial import binomial_above, binomial_least

RATES = rates(3.0, 120.0)
CUT = Cut(inside=False, dim=4, credit=2, pace=10.0, most=100, rates=RATES)


@pytest.mark.parametrize("pieces", [{(4, 100): 30}, {(9, 100): 30}, {(4, 100): 1}, {}])
@pytest.mark.parametrize("share", [0.0, 1e-4, 0.03, 0.05, 0.08, 0.09, 0.1, 0.3, 1.0])
def test_sets_are_no_more_than_rows_nor_than_pieces_say(share, pieces):
    evidence = Evidence(CUT, pieces, failure=0.005)
    outside, covered = SetsOutside(3000, share, evidence, 1), 3000 + 99
    for beta in (0.4, 0.005, 5e-6):
        proven = evidence.bound(beta, covered)
        rows = binomial_least(3000, share, beta)
        assert outside.bound(beta) == (rows if proven is None else min(rows, proven))
        assert SetsOutside(3000, share, None, 1).bound(beta) == rows
    for sets in np.arange(0, 3000, 23).tolist():
        tail = binomial_above(3000, share, sets)
        assert outside.beyond(sets) == min(tail, evidence.beyond(sets, covered))
        assert SetsOutside(3000, share, None, 1).beyond(sets) == tail


@pytest.mark.parametrize("runs", [1, 2])
def test_no_bound_on_what_lies_outside_a_space_is_below_what_was_seen(runs):
    X = np.random.default_rng(3).integers(0, 2, (3000, 6))
    X[:, 5] = 0
    pilot = Flag(6).update(X[:300])
    certifier = Certifier.of_pilot(pilot, len(X), Window("index", 50, 120))
    certifier.update(X[300:])
    claims = certifier._claims(runs, 1.0)
    outside = 1 - np.cumsum(certifier.counts) / certifier.counts.sum()
    assert outside[0] > 0.9
    assert (np.array([space.eps for space in claims.spaces]) >= outside).all()
