"""Bounds, thresholds and sizes: exact, consistent with each other, and honest in words."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from flagstone import guarantees as g
from flagstone.algebra.flag import Flag, merge_flags
from flagstone.algebra.staircase import Staircase
from flagstone.errors import InputError
from flagstone.guarantees import plan
from flagstone.guarantees.binomial import tail_above, tail_below, tail_share
from flagstone.rules import HeavyRule
from tests.bridge import flag_of
from tests.strategies import samples

DIMS = st.integers(1, 60)
SHARES = st.floats(0.001, 0.99)
SMALL = [2, 3]


def test_printed_constants():
    """T_max = 12d/ρ·√(m ln(2/ρ)) and m = 144 d⁶ ln(2/ρ)/(ρε)², as printed (S14)."""
    d, rho, eps, m = 7, 0.2, 0.3, 5000
    assert g.paper_length(d, rho, m) == pytest.approx(12 * d / rho * math.sqrt(m * math.log(10)))
    expected = 144 * d**6 * math.log(2 / rho) / (rho * eps) ** 2
    assert g.paper_rows(d, rho, eps) == math.ceil(expected)
    assert g.paper_gap(m, 0.1) == pytest.approx(3 * math.sqrt(m * math.log(10)))


def test_corrected_constants_need_a_logarithm_of_one():
    """16 and 256; where ln(2/ρ) < 1 the argument needs 1 in its place (S15)."""
    d, m = 7, 5000
    ratio = g.paper_length(d, 0.2, m, corrected=True) / g.paper_length(d, 0.2, m)
    assert ratio == pytest.approx(16 / 12)
    ratio = g.paper_rows(d, 0.2, 0.1, corrected=True) / g.paper_rows(d, 0.2, 0.1)
    assert ratio == pytest.approx(256 / 144)
    assert 0.9 > 2 / math.e
    assert g.paper_length(d, 0.9, m, corrected=True) == pytest.approx(16 * d / 0.9 * math.sqrt(m))
    # What the corrected lemma is made of: 2√m + 2√(m ln(1/δ)).
    for delta in (0.01, 0.3, 0.9):
        exact = 2 * math.sqrt(m) + 2 * math.sqrt(m * math.log(1 / delta))
        assert g.paper_gap(m, delta, corrected=True) >= exact * (1 - 1e-12)


@given(DIMS, SHARES)
def test_printed_threshold_is_enough_by_the_sharper_proof(dim, rho):
    T = g.paper_length(dim, rho, 10_000)
    assert g.heavy_proves(dim, rho, T, n_rows=10_000)


def test_numbers_quoted_in_the_documentation():
    assert g.index_length(20, 0.05) == 1_026_660
    assert f"{g.index_rows(20, 0.05, 0.1):.1e}" == "2.1e+08"
    assert f"{g.index_rows(10, 0.1, 0.1):.1e}" == "6.2e+06"
    assert f"{g.paper_rows(10, 0.1, 0.1):.1e}" == "4.3e+12"
    assert f"{g.paper_rows(20, 0.05, 0.1):.1e}" == "1.4e+15"
    assert f"{g.heavy_rows(20, 0.05, 0.1):.1e}" == "5.4e+10"


@given(DIMS, SHARES, st.integers(0, 10**6), st.integers(1, 50))
def test_index_threshold_is_the_smallest_that_proves(dim, rho, start, shards):
    T = g.index_length(dim, rho, start=start, shards=shards)
    assert g.index_proves(dim, rho, T, start=start, shards=shards)
    assert T == 1 or not g.index_proves(dim, rho, T - 1, start=start, shards=shards)
    assert g.index_rho(dim, T, start=start, shards=shards) <= rho * (1 + 1e-9)
    A = shards * dim * g.index_constant(dim) ** 2 / rho**2
    assert pytest.approx((A + math.sqrt(A * A + 4 * A * start)) / 2, rel=1e-9, abs=1.01) == T


@given(DIMS, SHARES, st.integers(0, 10**6), st.integers(1, 50), st.integers(1, 10**9))
def test_heavy_threshold_proves(dim, rho, start, shards, m):
    T = g.heavy_length(dim, rho, start=start, shards=shards, n_rows=m)
    assert g.heavy_proves(dim, rho, T, start=start, shards=shards, n_rows=m)
    assert g.heavy_rho(dim, T, start=start, shards=shards, n_rows=m) <= rho * (1 + 1e-9)
    assert T <= g.heavy_length(dim, rho, start=start, shards=shards)
    assert T <= 2 * math.sqrt(2 * dim * m) / rho * (1 + 1e-9)


def test_heavy_thresholds_are_those_of_the_statements():
    assert g.heavy_length(3, 0.1) == 8 * 27 * 100
    assert g.heavy_length(3, 0.1, n_rows=600) == pytest.approx(2 * math.sqrt(2 * 3 * 600) / 0.1)


@given(st.integers(1, 12), SHARES, SHARES, st.integers(0, 500), st.integers(1, 5))
def test_rows_prove_both_promises(dim, rho, eps, start, shards):
    """At the size returned, and at larger ones, T proves ρ and the window loses ≤ ε (S24)."""
    m = g.index_rows(dim, rho, eps, start=start, shards=shards)
    T = g.index_length(dim, rho, start=start, shards=shards)
    assert g.index_uncovered(dim, T, start=start, shards=shards) <= eps * m
    for rows in (g.heavy_rows(dim, rho, eps, start=start, shards=shards),):
        for n in (rows, 2 * rows + 1):
            length = g.heavy_length(dim, rho, start=start, shards=shards, n_rows=n)
            assert g.heavy_uncovered(dim, length, start=start, shards=shards) <= eps * n * (
                1 + 1e-9
            )


@given(st.integers(1, 12), SHARES, SHARES, st.floats(1e-5, 0.1), st.integers(1, 10**9))
def test_rows_with_contamination(dim, rho, eps, contamination, more):
    m = g.index_rows(dim, rho, eps, contamination=contamination)
    assert (m is None) == (dim * g.exact.exact(contamination) >= g.exact.exact(eps))
    if m is not None:
        for n in (m, m + more):
            k = g.outlier_start(n, contamination)
            T = g.index_length(dim, rho, start=k)
            assert g.index_uncovered(dim, T, start=k) <= eps * n


def test_rows_without_contamination_are_the_statements():
    assert g.index_rows(7, 0.2, 0.3) == math.ceil(7 * g.index_length(7, 0.2) / Fraction(3, 10))
    assert g.heavy_rows(7, 0.2, 0.3) == math.ceil(Fraction(4 * 7**4 * 8) / Fraction(12, 1000))


@given(DIMS, SHARES, st.integers(1, 10**12))
def test_windows_by_coverage_keep_it(dim, eps, m):
    T = g.index_length_for_eps(dim, eps, m)
    assert g.index_uncovered(dim, T) <= g.exact.exact(eps) * m < g.index_uncovered(dim, T + 1)
    length = g.heavy_length_for_eps(dim, eps, m)
    if length > 0:
        assert g.heavy_uncovered(dim, length) <= eps * m * (1 + 1e-9)


def test_decimals_mean_what_they_print():
    """0.29·100 is 28.999999999999996 in floating point; the caller means 29."""
    assert g.index_length_for_eps(1, 0.29, 100) == 30
    assert g.outlier_start(100, 0.07) == 7
    assert g.outlier_start(100, np.float64(0.07)) == 7


def test_nothing_overflows():
    d, rho, eps = 100_000, 1e-12, 1e-12
    assert g.index_rows(d, rho, eps) > 10**30
    assert g.paper_rows(d, rho, eps) > 10**70
    assert g.heavy_rows(d, rho, eps) > 10**50
    assert math.isfinite(g.paper_length(d, rho, 10**400))
    assert g.index_rho(d, 10**400) == 0.0 or g.index_rho(d, 10**400) < 1e-150
    assert str(plan(d, rho, eps))


def test_more_rows_prove_more():
    sizes = (10**4, 10**6, 10**8, 10**10)
    windows = [g.index_length_for_eps(10, 0.1, m) for m in sizes]
    values = [g.index_rho(10, T, n_rows=m) for m, T in zip(sizes, windows, strict=True)]
    assert values == sorted(values, reverse=True)


@pytest.mark.parametrize("order", SMALL)
@given(data=st.data())
def test_bracket_holds_for_one_flag_and_for_merged_flags(order, data):
    """S8, counted row by row; the upper bound also obeys the simpler Σ_{j<t} dim V_j."""
    sample = data.draw(samples(order).filter(lambda s: s.rows))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(sample.rows)), max_size=3)))
    edges = [0, *cuts, len(sample.rows)]
    parts = [sample.X[a:b] for a, b in pairwise(edges)]
    flag = merge_flags([Flag(sample.dim, order).update(part) for part in parts])
    counts, R = flag.counts.tolist(), len(parts)
    for t in range(1, flag.n_sets + 3):
        uncovered = int((~flag.span_at(t).contains(sample.X)).sum())
        low, high = g.uncovered_bracket(counts, t, shards=R)
        dims = [flag.dim_at(j) for j in range(1, t)]
        assert low <= uncovered <= high <= R * sum(dims)
        assert low == sum(dim - flag.dim_at(t) for dim in dims)


@given(st.lists(st.integers(1, 12), max_size=4), st.integers(0, 2), st.integers(1, 16))
def test_index_margin_is_the_largest_certified(counts, more, t):
    """The largest s with V_{t-s} = V_{t+s}, where V_j is the whole space for j ≤ 0 (S11)."""
    dim = max(1, len(counts) + more)

    def space(j):
        return dim if j <= 0 else sum(c >= j for c in counts)

    largest = max(s for s in range(40) if space(t - s) == space(t + s))
    assert g.index_margin(counts, dim, t) == largest


@pytest.mark.parametrize("order", SMALL)
@given(data=st.data())
def test_heavy_margin_certifies_the_answer(order, data):
    """Replace as many rows as the margin allows, anywhere, by anything (S12)."""
    few = data.draw(samples(order, max_rows=3).filter(lambda s: s.rows))
    rows = data.draw(st.permutations(few.rows * data.draw(st.integers(1, 8))))
    sample = few.having(rows)
    t = data.draw(st.floats(0.1, 12))
    rule, flag = HeavyRule(), flag_of(sample)
    margin = rule.margin(flag, t)
    altered = list(sample.rows)
    for _ in range(min(margin, len(rows))):
        at = data.draw(st.integers(0, len(rows) - 1))
        pool = data.draw(st.sampled_from([*few.rows, (0,) * few.dim, few.space.unit(0)]))
        altered[at] = tuple(pool)
    other = flag_of(sample.having(altered))
    assert other.span_at(rule.index(Staircase.of(other), t)) == flag.span_at(
        rule.index(Staircase.of(flag), t)
    )


def test_heavy_margin_is_tight():
    """Two rows fewer in n(V*) for one replaced row: here one more than the margin is too many."""
    rule = HeavyRule()
    flag = Flag(2).update([[1, 0]], [10])
    t = 8.0  # n = 10: margin 1, and two replaced rows leave n = 6
    assert rule.margin(flag, t) == 1
    one = Flag(2).update([[1, 0], [0, 1]], [9, 1])
    two = Flag(2).update([[1, 0], [0, 1]], [8, 2])
    assert one.span_at(rule.index(Staircase.of(one), t)) == flag.span_at(
        rule.index(Staircase.of(flag), t)
    )
    assert two.span_at(rule.index(Staircase.of(two), t)) != flag.span_at(
        rule.index(Staircase.of(flag), t)
    )


def _tails(n, share, k):
    """P[Bin ≤ k] and P[Bin > k] to fifty digits: one is summed away from the mean."""
    with localcontext() as context:
        context.prec = 60
        p = Decimal(share)
        upper = k + 1 > n * p
        j = k + upper
        term = total = math.comb(n, j) * p**j * (1 - p) ** (n - j)
        while 0 < j < n and term > total * Decimal("1e-50"):
            odds = p / (1 - p)
            term *= odds * (n - j) / (j + 1) if upper else j / odds / (n - j + 1)
            j += 1 if upper else -1
            total += term
        return (1 - total, total) if upper else (total, 1 - total)


@given(
    n=st.integers(1, 2000) | st.integers(1, 10**9),
    at=st.integers(0, 400),
    mirrored=st.booleans(),
    near=st.floats(0.5, 2),
    failure=st.floats(1e-9, 0.5),
)
@example(n=505588429, at=34, mirrored=False, near=1.0418, failure=0.1)  # SciPy has seven digits
@example(n=30, at=21, mirrored=False, near=1.36363, failure=1e-9)
def test_tails_are_right_to_eleven_digits(n, at, mirrored, near, failure):
    k = min(n - 1, at)
    k = n - 1 - k if mirrored and n <= 2000 else k
    share = min(0.9999999, near * (k + 1) / n)
    lower, upper = map(float, _tails(n, share, k))
    assert tail_above(n, share, k) == pytest.approx(upper, rel=1e-11, abs=1e-300)
    assert tail_below(n, share, k + 1) == pytest.approx(lower, rel=1e-11, abs=1e-300)
    found = tail_share(n, k, failure, rising=True), tail_share(n, k, failure, rising=False)
    for share, tail in zip(found, (1, 0), strict=True):
        near_by = [_tails(n, min(share * x, 1 - 1e-16), k)[tail] for x in (1 - 1e-11, 1 + 1e-11)]
        assert min(near_by) <= failure <= max(near_by)


def test_tails_of_a_million_trials():
    n, k = 10**6, 5 * 10**5
    assert tail_above(n, 0.5, k) == pytest.approx(0.5 - math.sqrt(1 / (2 * math.pi * n)), abs=1e-8)
    assert tail_below(n, tail_share(n, k - 1, 0.01, rising=False), k) == pytest.approx(0.01)
    assert tail_above(n, tail_share(n, k, 0.01, rising=True), k) == pytest.approx(0.01)


def test_binomial_tail_by_summation():
    m, k, p = 40, 3, 0.05
    tail = sum(math.comb(m, i) * p**i * (1 - p) ** (m - i) for i in range(k + 1, m + 1))
    assert g.containment_failure(m, k, p) == pytest.approx(tail, rel=1e-12)
    assert g.containment_failure(m, m, p) == 0
    assert g.containment_failure(m, 0, 0.0) == 0
    assert g.containment_failure(10**12, 3 * 10**10, 0.02) == 0.0


def test_adversaries():
    assert g.blind_adversary_rho(1000, 10) == 4 * 10 / 1000
    assert g.adaptive_adversary_rho(7, 1000, 10) == 4 * 7 * 10 / 1000
    for adaptive, factor in ((False, 1), (True, 7)):
        T = g.adversary_length(7, 0.1, 50, adaptive=adaptive)
        added = 4 * factor * 50
        assert g.index_rho(7, T, start=50) + added / T <= 0.1
        assert g.index_rho(7, T - 1, start=50) + added / (T - 1) > 0.1
    assert g.adversary_length(7, 0.1, 0) == g.index_length(7, 0.1)


@given(st.integers(2, 40), SHARES, SHARES, st.sampled_from([2, 3, 256, 65521]))
def test_pac_sizes(dim, eps, delta, order):
    m = g.generalization_rows(dim, eps, delta, order=order)
    expected = 8 * ((dim - 1) * math.log(order) + math.log(1 / delta)) / eps
    assert m == pytest.approx(expected, abs=1.01)
    assert g.parity_failure(dim, eps, m, order=order) <= delta * (1 + 1e-9)
    assert g.parity_error(dim, delta, m, order=order) <= eps * (1 + 1e-9)
    half = g.index_rows(dim, 0.1, Fraction(g.exact.exact(eps), 2))
    assert g.parity_rows(dim, 0.1, eps, delta, order=order) == max(half, m)


def test_no_finite_class_over_the_rationals():
    assert g.generalization_rows(5, 0.1, 0.1, order=None) is None
    assert g.parity_rows(5, 0.1, 0.1, 0.1, order=None) is None
    assert g.parity_failure(5, 0.1, 1000, order=None) is None
    assert g.parity_error(5, 0.1, 1000, order=None) is None


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: g.index_length(0, 0.1), "dim must be an integer of at least 1, got 0"),
        (lambda: g.index_length(2.0, 0.1), "dim must be an integer"),
        (lambda: g.index_length(True, 0.1), "dim must be an integer"),
        (lambda: g.index_length(3, 0), "two samples never disagree"),
        (lambda: g.index_length(3, 1), "strictly between 0 and 1, got 1"),
        (lambda: g.index_length(3, float("nan")), "rho must be a number"),
        (lambda: g.index_rows(3, 0.1, "much"), "eps must be a number"),
        (lambda: g.index_rows(3, 0.1, 0.1, shards=0), "shards must be"),
        (lambda: g.index_rho(3, 0), "length must be"),
        (lambda: g.heavy_rho(3, -1.0), "length must be positive"),
        (lambda: g.generalization_rows(3, 0.1, 0.0), "delta"),
        (lambda: g.generalization_rows(3, 0.1, 0.1, order=1), "order must be"),
        (lambda: g.outlier_start(10, 0.5), r"must lie in \[0, 0.5\), got 0.5"),
        (lambda: g.outlier_start(10, "few"), "contamination is the largest share"),
        (lambda: g.uncovered_bracket([1], 0), "t must be"),
        (lambda: plan(3, 0.1, 1.5), "eps must lie"),
    ],
)
def test_bad_input_is_explained(call, words):
    with pytest.raises(InputError, match=words):
        call()


@pytest.mark.parametrize("share", [1e-300, 1e-41])
def test_shares_too_small_to_compute_with_are_refused(share):
    for ask in (lambda: g.plan(5, share, 0.1), lambda: g.plan(5, 0.1, share, contamination=0.001)):
        with pytest.raises(InputError, match="at least 1e-40"):
            ask()
    assert g.plan(5, 1e-9, 1e-9, delta=share).rows > 10**20
