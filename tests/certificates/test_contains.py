"""S43: violations bound how often a fresh answer lacks an equation."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagstone import GF, QQ, Flag, HeavyRule
from flagstone.algebra.flag import merge_flags
from flagstone.algebra.staircase import Staircase
from flagstone.certificates.spaces import LevelCounts
from flagstone.guarantees import contains_failure
from flagstone.guarantees.binomial import share_at_most
from flagstone.guarantees.coverage import chance_of_runs, come_in_runs, start_points
from tests import naive

FIELDS = [GF(2), GF(3), QQ]


@pytest.mark.parametrize("field", FIELDS, ids=str)
@given(data=st.data())
def test_sets_that_break_an_equation_are_between_violations_over_d_and_violations(field, data):
    """N_h/d ≤ f_h ≤ N_h, by the literal partition; merged shards keep the upper half."""
    d, top = 3, 2 if field.order == 2 else 3
    entry = st.integers(0, top - 1)
    rows = data.draw(st.lists(st.lists(entry, min_size=d, max_size=d), min_size=1, max_size=12))
    h = data.draw(st.lists(entry, min_size=d, max_size=d).filter(any))
    X = np.array(rows)
    values = X @ h if field.order is None else X @ h % field.order
    violations = int((values != 0).sum())

    def sets(flag):
        spaces = [flag.span_at(t) for t in range(1, len(rows) + 1)]
        return sum(not kills(field, V, h) for V in spaces)

    one = sets(Flag(d, field).update(X))
    if field.order is not None:
        space = naive.ambient(field.order, d)
        chain = naive.chain(space, [tuple(row) for row in rows])
        assert one == naive.height(space, chain, tuple(h))
    assert violations / d <= one <= violations
    cut = data.draw(st.integers(0, len(rows)))
    parts = [Flag(d, field).update(X[:cut]), Flag(d, field).update(X[cut:])]
    assert sets(merge_flags(parts)) <= violations


def kills(field, V, h):
    """Whether the equation holds on the space."""
    products = np.array(V.basis, dtype=object).reshape(-1, len(h)) @ np.array(h, dtype=object)
    return all((p if field.order is None else p % field.order) == 0 for p in products)


@given(st.lists(st.sampled_from([(1, 0), (0, 1), (1, 1)]), max_size=30), st.floats(0.5, 12))
def test_the_heavy_rule_needs_as_many_violations_as_its_threshold(rows, t):
    flag = Flag(2).update(np.array(rows, dtype=int).reshape(-1, 2))
    V = flag.span_at(HeavyRule().index(Staircase.of(flag), t))
    violations = sum(row[1] != 0 for row in rows)
    assert violations >= t or kills(GF(2), V, [0, 1])


def test_the_bound_is_the_binomial_tail():
    for m, p, t in [(10, 0.3, 4), (50, 0.01, 2), (7, 0.5, 2.5)]:
        k = math.ceil(t)
        tail = sum(math.comb(m, i) * p**i * (1 - p) ** (m - i) for i in range(k, m + 1))
        assert contains_failure(m, p, t) == pytest.approx(tail)
        assert contains_failure(m, p, t) >= tail
    assert contains_failure(10, 0.0, 1) == 0


@pytest.mark.parametrize("m", [100, 1000, 10_000, 10**6])
def test_without_violations_twelve_sets_suffice_for_every_number_of_rows(m):
    share = share_at_most(0, m - m // 10, 0.01)
    assert contains_failure(m, share, 12) <= 0.01


@pytest.mark.parametrize(("n", "hits"), [(6, 2), (7, 3), (8, 4), (5, 5), (4, 0)])
def test_the_runs_test_is_exact(n, hits):
    found = []
    for chosen in combinations(range(n), hits):
        found.append(sum(i - 1 not in chosen for i in chosen))
    for runs in range(hits + 1):
        share = np.mean([r <= runs for r in found])
        if runs or not hits:
            assert chance_of_runs(n, hits, runs) == pytest.approx(share)


def test_independent_violations_are_hardly_ever_called_dependent():
    random, alarms = np.random.RandomState(1), 0
    for _ in range(2000):
        out = random.random_sample(300) < 0.05
        runs = int((out & ~np.concatenate([[False], out[:-1]])).sum())
        alarms += come_in_runs(300, int(out.sum()), runs)
    assert alarms <= 10  # two are expected


@given(st.integers(1, 10**7), st.integers(1, 300))
def test_starts_depend_on_public_numbers_and_rise(m, d):
    points = start_points(m, d)
    assert points == sorted(set(points))
    assert all(0 < n < m for n in points)
    assert len(points) <= 2 * math.log2(m + 1) + 4


@given(st.lists(st.integers(0, 2), max_size=60), st.integers(1, 7))
def test_levels_are_counted_as_one_would(place, size):
    place = np.array(place, dtype=int)
    counts = LevelCounts(GF(2), 2, [0, 1], 60)
    rows = GF(2).rows(np.array([[0, 0], [1, 0], [0, 1]])[place].reshape(-1, 2))
    for start in range(0, len(place), size):
        counts.update(rows[start : start + size], place[start : start + size])
    for i in (0, 1):
        out = place > i
        runs = sum(out[k] and not (k and out[k - 1]) for k in range(len(out)))
        assert (counts.outside[i], counts.runs[i]) == (out.sum(), runs)


def test_the_certificate_errs_no_more_often_than_it_says():
    """Rows of a random law over GF(3): the level is chosen by the rows, the truth is known."""
    random, false, said, d, m, t = np.random.RandomState(2), 0, 0, 4, 120, 22
    masses = np.array([0.4, 0.3, 0.25, 0.05])
    for _ in range(300):
        place = random.choice(d, size=m, p=masses)
        rows = np.eye(d, dtype=int)[place]
        flag = Flag(d, GF(3)).update(rows)
        counts = np.bincount(place, minlength=d)
        V = flag.span_at(t)
        kept = {i for i in range(d) if counts[i] >= t}
        assert V.dim == len(kept)
        outside = ~np.isin(place, list(kept))
        levels = LevelCounts(GF(3), d, [V.dim], m)
        levels.update(GF(3).rows(rows), outside.astype(int))
        (level,) = levels.counted(0.9)
        failure = contains_failure(m, level.eps, t)
        p = masses[[i for i in range(d) if i not in kept]].sum()
        if failure < 0.5:
            said += 1
            false += contains_failure(m, p, t) > failure * (1 + 1e-6)
    assert said > 100
    assert false <= 0.015 * 300 + 6  # S42 has 0.15 of the failure allowed, 0.1
