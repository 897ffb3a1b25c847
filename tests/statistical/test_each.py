"""S44: any one equation, or row, fixed in advance, with a window that knows no dimension."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from flagstone import GF, QQ, Coins, Finding, Flag, IndexRule
from flagstone.errors import InputError
from flagstone.guarantees import each_length, each_rho, each_rows
from flagstone.pipeline import ask, rep_linear_span
from flagstone.question import SpanQuestion

FIELDS = [GF(2), GF(3), QQ]


def heights(field, rows, sizes, h, x):
    """f_h and g_x of the first rows: sets on which h is not zero, and sets that span x."""
    flag, before, found = Flag(len(h), field), 0, []
    for size in sizes:
        flag.update(rows[before:size])
        before = size
        basis, counts = flag.adapted_basis()
        A = np.array(field.array(basis), dtype=object).reshape(-1, len(h))
        values = A @ np.array(h, dtype=object)
        broken = [bool(v if field.order is None else v % field.order) for v in values]
        f = max((int(c) for c, b in zip(counts, broken, strict=True) if b), default=0)
        g = sum(bool(flag.span_at(t).contains([x])[0]) for t in range(1, flag.n_sets + 1))
        found.append((f, g))
    return found


def random_law(field, rng, d):
    """Some vectors with masses that fall geometrically, an equation and a row."""
    top = 2 if field.order == 2 else 3
    vectors = rng.randint(0, top, size=(rng.randint(2, 8), d))
    masses = rng.uniform(0.2, 1.0) ** np.arange(len(vectors))
    h = rng.randint(0, top, size=d)
    h[rng.randint(d)] = 1
    return vectors, masses / masses.sum(), h.tolist(), vectors[-1].tolist()


@pytest.mark.parametrize("field", FIELDS, ids=str)
def test_variance_is_at_most_what_one_more_row_adds(field):
    """Var X_m ≤ m(E X_m − E X_{m−1}), exactly, over all samples of small laws."""
    rng = np.random.RandomState(1)
    for _ in range(6):
        d, T = 3, int(rng.randint(1, 4))
        vectors, _, h, x = random_law(field, rng, d)
        vectors = vectors[:3]
        weights = rng.randint(1, 5, size=len(vectors)).tolist()
        total = sum(weights)
        moments = []
        for m in range(5):
            sums = [[Fraction(0)] * 2 for _ in range(2)]
            for word in itertools.product(range(len(vectors)), repeat=m):
                p = Fraction(math.prod(weights[i] for i in word), total**m)
                if m:
                    (pair,) = heights(field, vectors[list(word)], [m], h, x)
                else:
                    pair = (0, 0)
                for kind, X in zip(sums, pair, strict=True):
                    kind[0] += p * min(X, T)
                    kind[1] += p * min(X, T) ** 2
            moments.append(sums)
        for m in range(1, 5):
            for kind in range(2):
                mean, square = moments[m][kind]
                assert square - mean**2 <= m * (mean - moments[m - 1][kind][0])


@pytest.mark.parametrize("field", FIELDS, ids=str)
def test_random_laws_keep_far_from_the_bound(field):
    """The largest ratio to the bound is printed in docs/theory/single.md."""
    rng, worst, M, T, samples = np.random.RandomState(2), 0.0, 40, 12, 20
    sizes = list(range(M + 1, 2 * M + 1, 13))
    for _ in range(5):
        vectors, masses, h, x = random_law(field, rng, int(rng.randint(1, 5)))
        runs = []
        for _ in range(samples):
            rows = vectors[rng.choice(len(vectors), size=2 * M, p=masses)]
            runs.append(heights(field, rows, sizes, h, x))
        X = np.minimum(np.array(runs), T)  # samples × sizes × {f, g}
        apart = np.abs(X[:, np.newaxis] - X[np.newaxis]).sum(axis=(0, 1)) / samples / (samples - 1)
        worst = max(worst, apart.mean(axis=0).max() / T)
    assert 0.02 < worst <= 0.75 * each_rho(4, T, drawn=True)


@pytest.mark.parametrize("d", [1, 100])
def test_the_bound_holds_at_its_window_and_fails_at_a_hundredth_of_it(d):
    """Units with masses spaced below T/m: the equation x_i = 0 holds iff unit i came less than t
    times, so that its height is its count."""
    rho, rng = 0.05, np.random.RandomState(3)
    T = each_length(rho)
    for length, verdict in ((T, True), (T // 100, False)):
        M = 20 * length
        masses = length / (2 * M) * np.linspace(0.5, 1, d)[::-1]
        worst = np.zeros(d)
        for _ in range(400):
            m = M + 1 + rng.randint(M)
            two = np.minimum(rng.binomial(m, masses, size=(2, d)), length)
            worst += np.abs(two[0] - two[1]) / length / 400
        assert (worst.max() <= rho) == verdict


def test_numbers_of_the_plan():
    assert each_length(0.05) == math.ceil(8 / (3 * 0.05**2)) == 1067
    assert each_rho(20, each_length(0.1), drawn=True) <= 0.1
    assert each_rho(20, each_length(0.1) - 1, drawn=True) > 0.1
    n = each_rows(20, 0.05, 0.1)
    assert 20 * (1067 - 1) <= 0.1 * (n // 2 + 1) + 1e-6
    assert n == pytest.approx(16 / 3 * 20 / (0.05**2 * 0.1), rel=0.01)
    assert each_rho(5, 100, start=50, shards=2) == pytest.approx(2 / 3**0.5 * 1500**0.5 / 100)
    assert each_rho(5, 100, n_rows=300) == pytest.approx(2 / 3**0.5 * 300**0.5 / 100)


# the rule


def test_the_coins_draw_every_number_of_rows_alike():
    rule = IndexRule(draw_rows=11)
    drawn = [rule.n_rows(Coins(seed)) for seed in range(500)]
    assert sorted(set(drawn)) == [6, 7, 8, 9, 10]
    assert min(map(drawn.count, set(drawn))) > 60


@pytest.mark.parametrize("options", [{}, {"contamination": 0.01}, {"t_max": 0.2}, {"eps": 0.2}])
def test_the_window_does_not_depend_on_what_was_drawn_and_keeps_coverage(options):
    rule = IndexRule(draw_rows=2000, **options)
    windows = {rule.window(3, m) for m in (1001, 1500, 2000)}
    assert len(windows) == 1
    (window,) = windows
    if "contamination" in options:
        assert window.start == 20  # of 2000 rows
    elif "t_max" not in options:
        assert 3 * (window.t_max - 1) <= rule.eps * 1001


def test_a_finding_says_what_is_proven_of_each_equation():
    X = np.random.RandomState(1).randint(0, 2, size=(4000, 3))
    found = rep_linear_span(X, each=True, t_max=100, random_state=5)
    m = IndexRule(draw_rows=4000).n_rows(Coins(5))
    assert 2000 < found.rows.read == m <= 4000
    assert found.promises.proven.each == each_rho(3, 100, drawn=True)
    assert "any equation or row fixed in advance" in str(found.promises)
    assert found.to_dict()["promises"]["proven"]["each"] == found.promises.proven.each
    assert Finding.from_dict(found.to_dict()) == found
    fixed = rep_linear_span(X, t_max=100, random_state=5).promises.proven
    assert fixed.each == each_rho(3, 100, n_rows=4000) > found.promises.proven.each
    assert found.promises.withhold("of runs").proven.each is None
    assert rep_linear_span(X, rule="heavy", t_max=100).promises.proven.each is None


def test_other_numbers_of_rows_are_refused():
    rule, X = IndexRule(draw_rows=100), np.eye(2, dtype=int)[[0, 1] * 50]
    m = rule.n_rows(Coins(1))
    ask(Flag(2).update(X[:m]), SpanQuestion(), rule, Coins(1))
    with pytest.raises(InputError, match=f"use the first {m}, got 100"):
        ask(Flag(2).update(X), SpanQuestion(), rule, Coins(1))
    with pytest.raises(InputError, match="index"):
        rep_linear_span(X, rule="heavy", each=True)
    with pytest.raises(InputError, match="draw_rows"):
        IndexRule(draw_rows=1)
