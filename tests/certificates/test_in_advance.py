"""S35 to S37, S41, S42: a stated gap, coverage of the distribution, PAC sizes; exact."""

import math
from fractions import Fraction
from itertools import combinations

import flint
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from flagstone.errors import InputError
from flagstone.guarantees import (
    counted_certificate,
    coverage_certificate,
    coverage_rows,
    gap_rho,
    gap_rows,
    index_length,
    pac_rows,
    parity_rows,
    values_certificate,
)
from flagstone.guarantees.binomial import (
    binomial_above,
    binomial_below,
    binomial_least,
    share_at_least,
    share_at_most,
    tail_above,
    tail_below,
    tail_share,
)
from tests import naive
from tests.certificates.tools import LAWS, TinyLaw, at, coverage_failures, heavy, tower


def above(n, p, k):
    """P[Bin(n, p) > k], exactly."""
    p = Fraction(p)
    return sum(math.comb(n, j) * p**j * (1 - p) ** (n - j) for j in range(k + 1, n + 1))


@pytest.mark.parametrize("n", [1, 7, 60])
@pytest.mark.parametrize("p", [0.001, 0.3, 0.5, 0.97])
def test_binomial_tails_are_upper_bounds(n, p):
    for k in range(-1, n + 1):
        exact = above(n, p, k)
        assert exact <= binomial_above(n, p, k) <= exact * (1 + Fraction(1, 10**6))
        rest = 1 - exact
        assert rest <= binomial_below(n, p, k + 1) <= rest * (1 + Fraction(1, 10**6))


@given(
    n=st.integers(1, 10**8),
    p=st.floats(1e-8, 1 - 1e-8),
    sigmas=st.floats(-12, 12),
)
@example(n=1, p=1 - 1e-8, sigmas=0.0)
@example(n=5, p=1 - 1e-8, sigmas=0.0)
def test_tails_have_eleven_digits(n, p, sigmas):
    """Against the incomplete beta function in ball arithmetic."""
    k = min(n - 1, max(0, round(n * p + sigmas * math.sqrt(n * p * (1 - p)))))
    with flint.ctx.workprec(500):
        exact = flint.arb(p).beta_lower(k + 1, n - k, regularized=True)
        for found, tail in ((tail_above(n, p, k), exact), (tail_below(n, p, k + 1), 1 - exact)):
            assert float(tail) < 1e-280 or abs(float(found / tail - 1)) < 1e-11


@given(n=st.integers(1, 10**5), at=st.floats(0, 1), nats=st.floats(0.01, 400))
def test_shares_belong_to_their_tails(n, at, nats):
    k, failure = min(n - 1, int(at * n)), math.exp(-nats)
    for found, tail, last in (
        (tail_share(n, k, failure, rising=True), tail_above, k),
        (tail_share(n, k, failure, rising=False), tail_below, k + 1),
    ):
        assert 0 < found <= 1
        less, more = (
            (tail(n, share, last) for share in (found * (1 - 1e-11), found * (1 + 1e-11)))
            if found < 1 - 1e-10
            else (0.0, 1.0)
        )
        assert min(less, more) <= failure <= max(less, more)


@given(
    n=st.integers(1, 10**6),
    p=st.one_of(st.floats(0, 1), st.sampled_from([0.0, 1e-7, 1.0])),
    failure=st.floats(1e-300, 1, exclude_max=True),
)
def test_the_quantile_is_where_the_tail_passes_the_failure(n, p, failure):
    x = binomial_least(n, p, failure)
    assert binomial_above(n, p, x) <= failure < binomial_above(n, p, x - 1)


@pytest.mark.parametrize("failure", [0.3, 0.01, 1e-9])
@pytest.mark.parametrize("n", [1, 7, 31])
def test_clopper_pearson_bounds_are_on_the_safe_side(n, failure):
    for k in range(n + 1):
        upper, lower = share_at_most(k, n, failure), share_at_least(k, n, failure)
        assert 0 <= lower <= k / n <= upper <= 1
        if k < n:
            assert 1 - above(n, upper, k) <= failure
            assert 1 - above(n, upper * (1 - 1e-6), k) > failure
        if k > 0:
            assert above(n, lower, k - 1) <= failure
            assert above(n, lower * (1 + 1e-6), k - 1) > failure


def test_least_count_and_bad_counts():
    x = binomial_least(1000, 0.1, 1e-4)
    assert binomial_above(1000, 0.1, x) <= 1e-4 < binomial_above(1000, 0.1, x - 1)
    assert binomial_least(1000, 0.0, 1e-4) == 0
    with pytest.raises(InputError, match=r"0\.\.5 hits"):
        share_at_most(6, 5, 0.1)


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("delta", [0.5, 0.2, 0.03])
def test_coverage_certificate_errs_with_probability_delta_at_most(name, delta):
    """P[v ∉ V_t] against the bound from N_t, over all samples of five rows (S36)."""
    law, m = LAWS[name], 5
    for t in range(1, m + 2):
        wrong = Fraction(0)
        for chain, p in law.chains(m).items():
            entries = sum(law.space.size(V) for V in chain[:t])
            missed = law.missed(at(law.space, chain, t))
            wrong += p * (missed > coverage_certificate(entries, m, confidence=1 - delta))
        assert wrong <= delta


def test_coverage_certificate_comes_close_to_its_confidence():
    """A point of probability q for which no hit in m rows is as likely as δ, nearly."""
    m, delta = 5, 0.2
    q = Fraction(share_at_most(0, m, delta)).limit_denominator(10**6) + Fraction(1, 10**5)
    law = TinyLaw(2, 1, {(1,): q, (0,): 1 - q})
    wrong = sum(
        p
        for chain, p in law.chains(m).items()
        if not chain and q > coverage_certificate(0, m, confidence=1 - delta)
    )
    assert 0.999 * delta < wrong <= delta


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("rule", ["index", "heavy"])
def test_coverage_in_advance(name, rule):
    """With P[Bin(m, ε) < d·t] ≤ δ the answer misses more than ε with probability δ at most."""
    law, m = LAWS[name], 5
    answer = at if rule == "index" else heavy
    for t in (1, 2):
        sets = law.dim * (t if rule == "index" else law.dim * t)
        for eps in (Fraction(1, 2), Fraction(9, 10)):
            delta = float(1 - above(m, eps, sets - 1))
            wrong = sum(
                p
                for chain, p in law.chains(m).items()
                if law.missed(answer(law.space, chain, t)) > eps
            )
            assert float(wrong) <= delta + 1e-12


def test_coverage_rows_is_the_smallest():
    m = coverage_rows(4, 25, 0.2, 0.01)
    assert binomial_below(m, 0.2, 100) <= 0.01 < binomial_below(m - 1, 0.2, 100)


def test_pac_rows_halve_those_of_the_union_bound_and_know_no_field():
    rows = pac_rows(21, 0.05, 0.1, 0.05)
    assert rows == coverage_rows(21, index_length(21, 0.05), 0.1, 0.05)
    assert 2.3e8 < rows < 2.5e8
    assert 1.9 < parity_rows(21, 0.05, 0.1, 0.05) / rows < 2.0
    assert parity_rows(21, 0.05, 0.1, 0.05, order=None) is None  # over QQ only pac_rows speaks
    later = pac_rows(21, 0.05, 0.1, 0.05, start=1000)
    assert later == coverage_rows(21, 1000 + index_length(21, 0.05, start=1000), 0.1, 0.05)


def gap_of(law, U):
    """p_in and p_out of a space, by trying every hyperplane of it."""
    space = law.space
    r, vectors = space.size(U), [v for v in U if any(v)]
    planes = {space.span(rows) for rows in combinations(vectors, max(0, r - 1))}
    inner = [
        law.probability(lambda v, W=W: space.contains(U, v) and not space.contains(W, v))
        for W in planes
        if space.size(W) == r - 1
    ]
    return min(inner), law.missed(U)


@pytest.mark.parametrize("name", LAWS)
def test_stated_gap(name):
    """P[V_t ≠ U] ≤ ρ/2 for every t of the window, one flag and two merged shards (S35)."""
    law, m = LAWS[name], 5
    space = law.space
    for U in tower(name)[1:]:
        p_in, p_out = gap_of(law, U)
        if not (p_in and p_out):
            continue
        for shards in (1, 2):
            chains = {}
            for rows, p in law.samples(m):
                parts = [rows] if shards == 1 else [rows[:2], rows[2:]]
                flags = [naive.chain(space, part) for part in parts]
                chain = flags[0] if shards == 1 else naive.merge(space, *flags)
                chains[tuple(chain)] = chains.get(tuple(chain), 0) + p
            for first in range(1, 4):
                for last in range(first, 4):
                    rho = gap_rho(
                        space.size(U), first, last, m, p_in=p_in, p_out=p_out, shards=shards
                    )
                    for t in range(first, last + 1):
                        missed = sum(p for c, p in chains.items() if at(space, c, t) != U)
                        assert float(missed) <= rho / 2 + 1e-12


def test_gap_rows_prove_what_they_say():
    m = gap_rows(34, 0.01, p_in=0.2, p_out=0.0005)
    t = 1 + binomial_least(m, 0.0005, 0.0025)
    assert gap_rho(34, t, t, m, p_in=0.2, p_out=0.0005) <= 0.01
    assert m < 5 * 34 * math.log(1 / 0.01) / 0.2
    assert gap_rho(34, t, t, m, p_in=0.2, p_out=0.0005, shards=4) > 0.01


def by_value(rows):
    return tuple(sorted(rows))


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("t", [1, 2])
def test_values_certificate_errs_as_seldom_as_it_says(name, t):
    """S41 exactly: all samples of a few rows, sorted by value, at every threshold."""
    law, m, failure = LAWS[name], 6, Fraction(3, 10)
    wrong = Fraction(0)
    for chain, probability in law.chains(m, by_value).items():
        entries = sum(law.space.size(at(law.space, chain, j)) for j in range(1, t + 1))
        bound = values_certificate(entries, m, confidence=1 - failure)
        if law.missed(at(law.space, chain, t)) > bound:
            wrong += probability
    assert wrong <= failure


@pytest.mark.parametrize("sorted_rows", [False, True])
def test_what_a_fit_says_of_rows_to_come_covers_the_truth(sorted_rows):
    failures, informative = coverage_failures(150, sorted_rows=sorted_rows, confidence=0.5)
    assert informative > 40
    # each bound has a tenth of δ = 1/2: 7.5 of 150 on average, 22 with probability 10⁻⁵
    assert max(failures) <= 22


@pytest.mark.parametrize(("n", "j", "k", "m"), [(3, 0, 0, 40), (8, 2, 5, 60), (20, 3, 30, 200)])
def test_the_counted_bound_pays_for_naming_the_rows_left_out(n, j, k, m):
    delta = Fraction(1, 20)
    share = delta / (7 * (j + 1) * (j + 2) * math.comb(n, j))
    q = counted_certificate(n, j, j + k, m, starts=7, confidence=1 - delta)
    tail = 1 - above(m - n, q, k)
    assert 0.999 * share < tail <= share


def test_the_counted_bound_says_nothing_without_rows_to_count():
    assert counted_certificate(40, 0, 0, 40, starts=1) == 1.0
    assert (
        counted_certificate(4000, 2000, 2000, 9000, starts=1) == 1.0
    )  # too many ways to choose them


def spanned(rows, most):
    """Spaces that some of the first rows span; rows are unit vectors, a space is a set of them."""
    for n in range(1, most + 1):
        seen = sorted(set(rows[:n]))
        for size in range(1, len(seen) + 1):
            for space in combinations(seen, size):
                yield n, sum(row not in space for row in rows[:n]), space


def test_the_counted_bound_holds_for_all_spaces_at_once():
    """Searching for the most flattering space deceives without S42, and does not with it."""
    delta, m, d = 0.5, 40, 6
    random, deceived, plainly = np.random.RandomState(1), 0, 0
    for _ in range(100):
        rows = random.randint(0, d, size=m).tolist()
        ours, naively = False, False
        for n, j, space in spanned(rows, 6):
            missed, outside = 1 - len(space) / d, sum(row not in space for row in rows)
            ours |= missed > counted_certificate(n, j, outside, m, starts=6, confidence=1 - delta)
            naively |= missed > share_at_most(outside - j, m - n, delta)
        deceived, plainly = deceived + ours, plainly + naively
    assert deceived <= delta * 100 < plainly


def test_one_share_of_delta_does_not_pay_for_two_bounds():
    """S36: of masses 0.286 and 0.594, reading N_1 at the share of V_5 where V_5 = V_1."""
    masses, m, t, delta = (0.286, 0.594), 8, 5, 0.00973

    def error(also_the_span):
        found = 0.0
        for a in range(m + 1):
            for b in range(m + 1 - a):
                ways = math.comb(m, a) * math.comb(m - a, b)
                chance = ways * 0.286**a * 0.594**b * 0.12 ** (m - a - b)
                late, first = (a >= t, b >= t), (a >= 1, b >= 1)
                bound = share_at_most(min(a, t) + min(b, t), m, delta)
                if also_the_span and late == first:
                    bound = min(bound, share_at_most(sum(first), m, delta))
                missed = sum(p for p, kept in zip(masses, late, strict=True) if not kept)
                found += chance * (missed > bound)
        return found / delta

    assert error(False) <= 1
    assert error(True) == pytest.approx(1.061, abs=0.001)
