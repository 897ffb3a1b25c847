"""S33, S34: the bound for a window is right on laws small enough to know everything about."""

from dataclasses import replace
from functools import cache
from itertools import combinations, product

import numpy as np
import pytest

from flagstone.certificates.claims import (
    CertifiedSpace,
    Claims,
    index_window,
    mean_failure,
)
from flagstone.guarantees import Window
from tests import naive
from tests.certificates.tools import LAWS, TinyLaw, at, g_of, h_of, heavy, tower

SIZES = [1, 2, 3, 4]


def exactly(law, m, spaces, arrange=tuple):
    """Spaces with every (a, β) and (b, β′), each β the exact probability; and the chains."""
    space, chains = law.space, law.chains(m, arrange)
    known = []
    for U in spaces:
        g = [(g_of(space, chain, U), p) for chain, p in chains.items()]
        h = [(h_of(space, chain, U), p) for chain, p in chains.items()]
        known.append(
            CertifiedSpace(
                space.size(U),
                tuple((a, float(sum(p for x, p in g if x < a))) for a in range(1, m + 2)),
                tuple((b, float(sum(p for x, p in h if x > b))) for b in range(m + 1)),
                float(law.missed(U)),
            )
        )
    known[0], known[-1] = CertifiedSpace.zero(), CertifiedSpace.full(law.dim)
    return known, chains


class KnownClaims(Claims):
    """Claims with shares that are known, in place of counts."""

    def seen(self, i, j):
        return self.counts[i, j]

    share = seen


def exact_claims(law, m, spaces, known, **options):
    space = law.space

    def share(U, W):
        return law.probability(lambda v: space.contains(W, v) and not space.contains(U, v))

    between = np.array([[float(share(U, W)) for W in spaces] for U in spaces])
    return KnownClaims(m, tuple(known), between, 0.0, law.dim, **options)


def disagreement(law, chains, answer, t):
    """P[two samples disagree at t], exactly."""
    answers = {}
    for chain, p in chains.items():
        V = answer(law.space, chain, t)
        answers[V] = answers.get(V, 0) + p
    return float(1 - sum(p * p for p in answers.values()))


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("m", SIZES)
def test_index_window_is_an_upper_bound(name, m):
    law, spaces = LAWS[name], tower(name)
    known, chains = exactly(law, m, spaces)
    truth = [disagreement(law, chains, at, t) for t in range(1, m + 2)]
    claims = exact_claims(law, m, spaces, known)
    for first, last in product(range(1, m + 2), repeat=2):
        if first <= last:
            rho = np.mean(truth[first - 1 : last])
            assert rho <= index_window(claims, Window("index", first, last)) + 1e-12


def moving_rows(law, m, spaces):
    """Of each piece (x, y] between each two spaces: E N̂, also over (0, y], and the bound of S33."""
    space = law.space
    known, _ = exactly(law, m, spaces)
    claims = exact_claims(law, m, spaces, known)
    chain_of = cache(lambda rows: naive.chain(space, rows))
    between = cache(lambda V, U, W: space.meet(space.sum(V, U), W))

    def seen(rows, x, y, U, W):
        return [between(at(space, chain_of(rows), t), U, W) for t in range(x + 1, y + 1)]

    def mean(x, y, U, W):
        return sum(
            p * sum(seen(rows, x, y, U, W) != seen(r, x, y, U, W) for r in one_less(rows))
            for rows, p in law.samples(m)
        )

    for i, j in combinations(range(len(spaces)), 2):
        for x, y in combinations(range(m + 1), 2):
            fails = dict(known[j].outside)[x] if j < len(spaces) - 1 else 0.0
            limit = claims.moving(i, j, fails) + 1e-12
            yield (
                float(mean(x, y, spaces[i], spaces[j])),
                lambda y=y, i=i, j=j: float(mean(0, y, spaces[i], spaces[j])),
                limit,
            )


def one_less(rows):
    return [rows[:k] + rows[k + 1 :] for k in range(len(rows))]


@pytest.mark.parametrize("name", LAWS)
def test_the_moving_rows_of_a_piece_are_bounded(name):
    """E N̂ ≤ m·(P[v ∈ U_l∖U_i] + β′·P[v ∉ U_l]) for each pair of spaces and each piece (S33)."""
    for moving, _, limit in moving_rows(LAWS[name], 4, tower(name)):
        assert moving <= limit


def test_the_moving_rows_of_all_indices_up_to_a_piece_are_not():
    """Below the piece, rows outside U_l enter and matter: N̂ must count the piece alone."""
    found = moving_rows(LAWS["three points of a plane"], 4, tower("three points of a plane"))
    assert any(whole() > limit for _, whole, limit in found)


def test_the_moving_rows_are_not_bounded_like_that_in_value_order():
    """(1,0) < (0,1) < (1,1), probabilities .8, .1, .1, m = 3, U = ⟨(1,0)⟩: .642 > 3·.2 (S34)."""
    law = TinyLaw(2, 2, {(1, 0): "8/10", (0, 1): "1/10", (1, 1): "1/10"})
    space, m = law.space, 3
    U = space.span([(1, 0)])
    order = [(1, 0), (0, 1), (1, 1)]

    def seen(rows):
        chain = naive.chain(space, sorted(rows, key=order.index))
        return [space.sum(at(space, chain, t), U) for t in range(1, m + 1)]

    moving = sum(
        p * sum(seen(rows) != seen(less) for less in one_less(rows)) for rows, p in law.samples(m)
    )
    assert float(moving) == pytest.approx(0.642)
    assert float(moving) > m * float(law.missed(U))


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("m", SIZES)
def test_bound_for_sorted_rows_holds_in_value_order(name, m):
    law, spaces = LAWS[name], tower(name)
    known, chains = exactly(law, m, spaces, arrange=sorted)
    claims = exact_claims(law, m, spaces, known, merged=True)
    for last in range(1, m + 2):
        rho = np.mean([disagreement(law, chains, at, t) for t in range(1, last + 1)])
        assert rho <= index_window(claims, Window("index", 1, last)) + 1e-12


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("m", SIZES)
def test_heavy_window_is_an_upper_bound(name, m):
    """The answer is constant between integers, so the integers speak for all thresholds."""
    law, spaces = LAWS[name], tower(name)
    known, chains = exactly(law, m, spaces)
    truth = [disagreement(law, chains, heavy, t) for t in range(1, m + 2)]
    for first, last in product(range(1, m + 2), repeat=2):
        if first <= last:
            rho = np.mean(truth[first - 1 : last])
            assert rho <= mean_failure(known, Window("heavy", first, last), samples=2) + 1e-12


@pytest.mark.parametrize("rule", ["index", "heavy"])
@pytest.mark.parametrize("name", LAWS)
def test_a_fresh_sample_gives_this_very_space(name, rule):
    m, law, spaces = 4, LAWS[name], tower(name)
    known, chains = exactly(law, m, spaces)
    answer = at if rule == "index" else heavy
    for U, space in zip(spaces[1:-1], known[1:-1], strict=True):
        misses = []
        for t in range(1, m + 2):
            missed = sum(p for chain, p in chains.items() if answer(law.space, chain, t) != U)
            assert float(missed) <= space.fails(rule, t) + 1e-12
            misses.append(space.fails(rule, t))
        assert mean_failure([space], Window(rule, 1, m + 1)) == pytest.approx(np.mean(misses))
        first, last = space.certain(rule, 0.4)
        if first is not None:
            assert all(space.fails(rule, t) <= 0.8 for t in range(first, last + 1))


def test_windows_take_the_best_of_all_ways_to_cut_them():
    """Two spaces that hold on one half each, and a transition of one dimension between them."""
    line = CertifiedSpace(1, ((1000, 1e-6),), ((500, 1e-6),), 0.0)
    plane = CertifiedSpace(2, ((480, 1e-6),), ((20, 1e-6),), 0.0)
    spaces = CertifiedSpace.zero(), line, plane, CertifiedSpace.full(3)
    share = np.full((4, 4), 0.1)
    rho = index_window(KnownClaims(10_000, spaces, share, 0.0, 2), Window("index", 21, 1000))
    assert rho == pytest.approx((20 + 2e-6 * 2 * 960) / 980)  # {481..500} is all that is lost
    few = index_window(KnownClaims(100, spaces, share, 0.0, 2), Window("index", 21, 1000))
    assert few == pytest.approx((2 / 3**0.5 * 10**0.5 + 2e-6 * 2 * 980) / 980)


@pytest.mark.parametrize("n_rows", [100, 1000, 10_000])
def test_pairs_are_passed_over_only_where_they_cannot_matter(n_rows):
    """With what is known of shares beforehand, the window is the same, and fewer are computed."""
    line = CertifiedSpace(1, ((1000, 1e-6),), ((500, 1e-6),), 0.0)
    plane = CertifiedSpace(2, ((480, 1e-6),), ((20, 1e-6),), 0.0)
    spaces = CertifiedSpace.zero(), line, plane, CertifiedSpace.full(3)
    counts, window, asked = [0, 600, 300, 100], Window("index", 21, 1000), []

    class Asked(Claims):
        def share(self, i, j):
            asked.append((i, j))
            return super().share(i, j)

    class Unseen(Asked):
        def seen(self, i, j):
            return 0.0

    claims, plain = (kind(n_rows, spaces, counts, 0.01, 3) for kind in (Asked, Unseen))
    assert all(claims.share(i, j) >= claims.seen(i, j) for i, j in combinations(range(4), 2))
    asked.clear()
    expected, every = index_window(plain, window), len(asked)
    asked.clear()
    assert index_window(claims, window) == expected
    assert n_rows == 100 or len(asked) < every


def test_nothing_certified_says_nothing():
    spaces = CertifiedSpace.zero(), CertifiedSpace(1, (), ()), CertifiedSpace.full(2)
    claims = KnownClaims(10**6, spaces, np.ones((3, 3)), 0.0, 2)
    assert index_window(claims, Window("index", 1, 10)) == 1.0
    assert mean_failure(spaces, Window("heavy", 1, 10), samples=2) == 1.0
    assert spaces[1].certain("index", 0.5) == (None, None)


def test_rows_that_may_move_a_space():
    """Those between two spaces, and beyond the larger where it is missed; of shards any but 0."""
    plane = CertifiedSpace(2, (), (), 0.25)
    spaces = CertifiedSpace.zero(), plane, plane, CertifiedSpace.full(3)
    shares = np.arange(16).reshape(4, 4) / 16
    claims = KnownClaims(1000, spaces, shares, 0.0, 3)
    assert claims.moving(1, 2, 0.5) == 1000 * (6 / 16 + 0.5 * 0.25)
    assert replace(claims, merged=True).moving(1, 2, 0.5) == 1000 * 3 / 16
