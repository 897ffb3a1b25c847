"""S38: bands of counts, for histograms."""

import json
from itertools import product

import numpy as np
import pytest

from flagstone.certificates import Certifier
from flagstone.certificates.bands import Bands, claims_of_bands
from flagstone.errors import InputError
from flagstone.histogram import Histogram
from flagstone.subspace import Subspace
from tests import naive
from tests.certificates.tools import g_of, h_of


def test_bands_enclose_every_sample_that_keeps_to_them():
    """All samples between n⁻ and n⁺ on listed cells, with up to x⁺ other rows, in value order."""
    space = naive.ambient(2, 2)
    values = [(1, 0), (0, 1), (1, 1)]
    line = space.span([(1, 0)])

    def chain(counts):
        return naive.chain(
            space, [v for v, n in zip(values, counts, strict=True) for _ in range(n)]
        )

    def images(counts):
        """Sets modulo the line: every row outside makes one."""
        return sum(n for v, n in zip(values, counts, strict=True) if not space.contains(line, v))

    low, high, lumped = (2, 1, 0), (4, 2, 0), 2  # (1, 1) is in no cell
    a = g_of(space, chain(low), line)
    b = images(high) + lumped
    for counts in product(range(2, 5), range(1, 3), range(3)):
        assert g_of(space, chain(counts), line) >= a
        assert h_of(space, chain(counts), line) <= b


def rows_of(random, m, rare=0.01):
    """A line of GF(2)^3 that most rows lie in, a second direction, and rare others."""
    X = np.zeros((m, 3), dtype=np.int64)
    X[:, 0] = 1
    X[random.random_sample(m) < 0.3, 1] = 1
    X[random.random_sample(m) < rare, 2] = 1
    return X


def certified(m=20_000, order=2, **window):
    random = np.random.RandomState(8)
    X = rows_of(random, m)
    certifier = Certifier.plan(Histogram(3, order).update(X[: m // 10]), m, **window)
    return certifier.update(X[m // 10 :]), X


@pytest.mark.parametrize("order", [2, 3])
def test_a_plane_is_certified(order):
    certifier, X = certified(order=order, t_min=1001, t_max=3000)
    plane = Subspace.span([[1, 0, 0], [0, 1, 0]], order)
    outcome = certifier.certificate(plane)
    assert outcome.rho < 0.01
    assert outcome.misses < 0.01
    assert outcome.t_first < 1001 <= 3000 < outcome.t_last
    truth = Histogram(3, order).update(X).to_flag()
    assert truth.span_at(outcome.t_first) == truth.span_at(outcome.t_last) == plane
    assert 0.01 < outcome.eps < 0.02


def test_order_of_rows_and_shards_do_not_matter():
    certifier, X = certified(t_min=1001, t_max=3000)
    plan, cells = certifier.collector.plan, certifier.collector.cells
    rows = np.random.RandomState(1).permutation(X[2000:])
    parts = [Bands(plan, cells).update(part) for part in np.array_split(rows, 5)]
    merged = parts[0]
    for part in parts[1:]:
        merged = merged.merge(part)
    assert merged.to_dict() == certifier.collector.to_dict()
    assert Certifier(merged).certificate(runs=1) == certifier.certificate()


def test_unseen_cells_are_lumped():
    """A value that the pilot did not show is in no cell, and counts against every space."""
    pilot = Histogram(2).update([[1, 0]] * 50)
    bands = Bands.of_pilot(pilot, 500, rule="index", t_min=20, t_max=100)
    assert bands.cells.tolist() == [1]
    bands.update([[1, 0]] * 400 + [[0, 1]] * 30 + [[0, 0]] * 20)
    assert bands.counts.tolist() == [20, 400, 30]
    assert bands.lumped.tolist() == [20, 0, 30]
    claims = claims_of_bands(bands, 0.01, 0.005, [], [])
    b, beta = claims.spaces[1].outside[0]
    assert b > 30 * 500 / 450  # above what was seen of them
    assert beta == 0.005


def test_bands_survive_json_and_refuse_what_does_not_fit():
    certifier, _ = certified(t_min=1001, t_max=3000)
    read = Certifier.from_dict(json.loads(json.dumps(certifier.to_dict())))
    assert read.certificate() == certifier.certificate()
    with pytest.raises(InputError, match="one by one"):
        read.update([[1, 0, 0]], weights=[2])
    with pytest.raises(TypeError, match="bands merge with bands"):
        read.collector.merge(3)
    other = Certifier.plan(Histogram(3).update([[1, 1, 1]] * 30), 300, t_min=1, t_max=9)
    with pytest.raises(InputError, match="one plan"):
        read.merge(other)
