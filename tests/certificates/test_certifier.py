"""From a pilot to a certificate: one flag, shards, the heavy rule, what would help."""

import json
import pickle

import numpy as np
import pytest

from flagstone.algebra.flag import Flag
from flagstone.algebra.subspace import Subspace
from flagstone.certificates import Certifier, pilot_rows
from flagstone.errors import InputError
from flagstone.guarantees import Certificate, Window
from flagstone.guarantees.binomial import share_at_most
from flagstone.guarantees.coverage import pilot_share

DIM, RANK = 12, 7
BASIS = np.random.RandomState(5).randint(0, 2, size=(RANK, DIM))
PLANE = Subspace.span(BASIS)


def planted(m, seed, outliers=0.01):
    """Rows of a space of dimension 7, all of its vectors alike; a few rows are arbitrary."""
    random = np.random.RandomState(seed)
    X = random.randint(0, 2, size=(m, RANK)) @ BASIS % 2
    hit = random.random_sample(m) < outliers
    X[hit] = random.randint(0, 2, size=(hit.sum(), DIM))
    return X


def certifier_of(m=6000, seed=1, confidence=0.99, outliers=0.01, **window):
    X, k = planted(m, seed, outliers), pilot_rows(m)
    window = Window(**({"rule": "index", "t_min": 121, "t_max": 400} | window))
    certifier = Certifier.of_pilot(Flag(DIM).update(X[:k]), m, window, confidence=confidence)
    return certifier.update(X[k:])


def test_a_gap_is_certified_from_a_few_thousand_rows():
    outcome = certifier_of().certificate(PLANE)
    assert outcome.rho < 1e-4
    assert outcome.misses < 1e-4
    assert outcome.t_first <= 121
    assert outcome.t_last >= 400
    assert outcome.rows_needed is None
    assert (outcome.n_rows, outcome.n_pilot, outcome.n_certifying) == (6000, 600, 5400)
    truth = Flag(DIM).update(planted(6000, 2))
    assert truth.span_at(outcome.t_first) == truth.span_at(outcome.t_last) == PLANE


def test_what_lies_outside_is_bounded_for_rows_to_come():
    certifier = certifier_of()
    outcome = certifier.certificate(PLANE)
    outside = int(certifier.counts[-1])
    assert outside > 30
    assert share_at_most(outside, 5400, 0.01) < outcome.eps < share_at_most(outside, 5400, 1e-4)


def test_another_subspace_gets_no_promise_of_its_own():
    outcome = certifier_of().certificate(Subspace.span(BASIS[:3]))
    assert outcome.rho < 1e-4
    assert outcome.t_first is outcome.t_last is outcome.misses is outcome.eps is None


def test_more_confidence_certifies_less():
    low, high = (certifier_of(confidence=c).certificate(PLANE) for c in (0.9, 0.9999))
    assert low.rho < high.rho
    assert low.t_last > high.t_last
    assert low.eps < high.eps


def test_one_threshold_has_a_probability_of_its_own():
    certifier = certifier_of(t_min=1, t_max=700)
    window = certifier.certificate(PLANE)
    assert window.rho > 0.05  # its beginning is not certain
    at = certifier.certificate(PLANE, threshold=300)
    assert at.misses < 1e-4 < window.misses
    assert certifier.certificate(PLANE, threshold=5).misses is None


def test_too_few_rows_say_how_many_would_do():
    certifier = certifier_of(m=600, t_min=7, t_max=40)
    outcome = certifier.certificate(PLANE, rho=0.01)
    assert outcome.rho is None or outcome.rho > 0.01
    assert 600 < outcome.rows_needed < 25_000
    m = outcome.rows_needed
    start, length = round(m * 6 / 600), round(m * 34 / 600)
    enough = certifier_of(m=2 * m, t_min=2 * start + 1, t_max=2 * (start + length))
    assert enough.certificate(PLANE).rho <= 0.01
    assert "rows of this kind would do" in str(outcome) or outcome.rho is not None
    never = certifier_of(m=3000, t_min=1, t_max=60)  # the outliers' sets are a part of the window
    assert never.certificate(PLANE, rho=0.01).rows_needed is None


def test_a_forecast_is_of_the_rows_at_its_certificate_whenever_it_is_read():
    certifier = certifier_of(m=600, t_min=7, t_max=40)
    early, late, copied = (certifier.certificate(PLANE, rho=0.01) for _ in range(3))
    needed = early.rows_needed
    certifier.update(planted(600, 2))
    assert late.rows_needed == needed != certifier.certificate(PLANE, rho=0.01).rows_needed
    assert pickle.loads(pickle.dumps(copied)) == late
    assert len(pickle.dumps(copied)) < 2000


def test_shards_lose_a_piece_each_and_nothing_else():
    whole = certifier_of()
    plan, X = whole.plan, planted(6000, 1)[600:]
    merged, *others = [Certifier(plan).update(part) for part in np.array_split(X, 3)]
    for shard in others:
        merged = merged.merge(shard)
    outcome, single = merged.certificate(PLANE), whole.certificate(PLANE)
    assert outcome.n_runs == 3
    assert merged.counts.tolist() == whole.counts.tolist()
    assert outcome.eps == single.eps
    assert single.t_last > outcome.t_last > 0.8 * single.t_last
    assert outcome.misses < 1e-3
    assert merged.certificate(PLANE, runs=1).t_last > outcome.t_last
    with pytest.raises(TypeError, match="a certifier merges"):
        merged.merge(3)
    with pytest.raises(InputError, match=r"confidence of 0\.99, the other for 0\.9"):
        merged.merge(Certifier(plan, 0.9))
    with pytest.raises(InputError, match="runs"):
        merged.certificate(runs=0)


def test_heavy_rule():
    """V* is the plane for every t that is more than its outliers' sets and less than its own."""
    outcome = certifier_of(rule="heavy", t_min=121, t_max=300.5).certificate(PLANE)
    assert outcome.rho < 1e-3
    index = certifier_of().certificate(PLANE)
    assert outcome.t_first == index.t_first
    assert outcome.t_last < index.t_last
    # A window whose first half is not certified: the mean is over its true, fractional length.
    half = certifier_of(rule="heavy", t_min=1, t_max=2 * outcome.t_first - 1.5).certificate(PLANE)
    assert half.rho == pytest.approx((half.t_first - 1) / (2 * outcome.t_first - 1.5), abs=0.03)


def test_certificates_survive_json_and_certifiers_pickling():
    certifier = certifier_of()
    outcome = certifier.certificate(PLANE, threshold=100)
    assert Certificate(**json.loads(json.dumps(outcome.to_dict()))) == outcome
    read = pickle.loads(pickle.dumps(certifier))
    assert read.certificate(PLANE, threshold=100) == outcome


def test_no_rows_certify_nothing():
    X = planted(600, 3)
    certifier = Certifier.of_pilot(Flag(DIM).update(X), 6000, Window("index", 61, 400))
    outcome = certifier.certificate(PLANE, rho=0.1)
    assert outcome.rho is outcome.misses is outcome.rows_needed is None
    assert outcome.eps == 1.0
    assert str(outcome).startswith("certified at 99 % confidence, from 0 rows: nothing")


@pytest.mark.parametrize("order", [3, "QQ"])
def test_other_fields(order):
    random = np.random.RandomState(1)
    X = random.randint(0, 3, size=(1500, 3))
    X[random.random_sample(1500) > 0.02, 2] = 0
    pilot = Flag(3, order).update(X[:150])
    outcome = (
        Certifier.of_pilot(pilot, 1500, Window("index", 101, 200))
        .update(X[150:])
        .certificate(Subspace.span([[1, 0, 0], [0, 1, 0]], order))
    )
    assert outcome.rho < 0.01
    assert outcome.t_first <= 101 <= 200 <= outcome.t_last


def test_a_full_space_has_no_outside():
    random = np.random.RandomState(1)
    X = random.randint(0, 2, size=(3000, 4))
    outcome = (
        Certifier.of_pilot(Flag(4).update(X[:300]), 3000, Window("index", 1, 400))
        .update(X[300:])
        .certificate(Subspace.full(4))
    )
    assert outcome.rho < 1e-3
    assert (outcome.t_first, outcome.eps) == (1, 0.0)


def test_plans_refuse_what_cannot_be():
    flag = Flag(DIM).update(planted(600, 3))
    with pytest.raises(InputError, match="600 pilot rows of 500"):
        Certifier.of_pilot(flag, 500, Window("index", 1, 9))
    for window in (
        Window("index", 0, 9),
        Window("index", 9, 8),
        Window("index", 2, 8.5),
        Window("heavy", 1.5, 8),
    ):
        with pytest.raises(InputError, match="1 ≤ t_min ≤ t_max"):
            Certifier.of_pilot(flag, 6000, window)
    with pytest.raises(InputError, match="got 'median'"):
        Certifier.of_pilot(flag, 6000, Window("median", 1, 9))
    with pytest.raises(InputError, match="confidence"):
        Certifier.of_pilot(flag, 6000, Window("index", 1, 9), confidence=1)


def test_a_pilot_that_shows_nothing_makes_an_empty_plan():
    """Only zero rows so far: there is no space to look at, and nothing is certified."""
    certifier = Certifier.of_pilot(
        Flag(3).update(np.zeros((10, 3), dtype=int)), 100, Window("index", 1, 9)
    )
    outcome = certifier.update([[1, 0, 0]] * 90).certificate()
    assert certifier.plan.weights == ()
    assert outcome.rho is None


def test_shares_of_pilots():
    assert [pilot_share(n) for n in (16, 32, 64)] == [1 / 2, 1 / 6, 1 / 12]
    assert pilot_rows(10) == pilot_rows(3) == 1


@pytest.mark.parametrize("order", [2, 3])
def test_only_spaces_of_the_plan_are_known(order):
    rows = np.repeat([[1, 0, 1, 0], [0, 1, 1, 0], [0, 0, 0, 1]], [90, 80, 4], axis=0)
    flag = Flag(4, order).update(rows)
    certifier = Certifier.of_pilot(flag, 1740, Window("index", 1, 700)).update(
        np.tile(rows, (9, 1))
    )
    U = flag.span_at(10)
    assert certifier.certificate(U).eps is not None
    others = [Subspace.span([[1, 0, 0, 0], [0, 1, 0, 0]], order), Subspace.zero(4, order), None]
    others += [Subspace.span(U.basis, 5), Subspace.full(2, order)]
    assert [certifier.certificate(other).eps for other in others] == [None] * 5
