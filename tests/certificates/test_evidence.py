"""S32: what is claimed of fresh pieces is right, but for a probability δ; computed exactly."""

import math
from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import combinations_with_replacement

import numpy as np
import pytest

from flagstone._reference.certificates import log_mean_product
from flagstone.certificates.pieces import Cut, Evidence, rates

INSIDE = Cut(inside=True, dim=2, credit=3, pace=1.5, most=2)
OUTSIDE = Cut(inside=False, dim=2, credit=1, pace=2.0, most=4)

#: Laws of one piece: (value, length) and its probability; all that the rules allow may come.
LAWS = {
    "mostly full": (INSIDE, {(2, 3): 0.8, (1, 4): 0.15, (0, 3): 0.05}),
    "often empty": (INSIDE, {(2, 4): 0.4, (0, 3): 0.6}),
    "rarely empty": (INSIDE, {(2, 2): 0.95, (0, 3): 0.05}),
    "few sets": (OUTSIDE, {(0, 4): 0.5, (1, 4): 0.4, (2, 2): 0.1}),
    "many sets": (OUTSIDE, {(1, 4): 0.3, (2, 2): 0.3, (3, 4): 0.4}),
    "rarely many": (OUTSIDE, {(0, 4): 0.95, (2, 2): 0.05}),
}


def trying(cut, grid):
    """The same cut, with these rates."""
    return replace(cut, rates=tuple(grid))


def fresh_sums(cut, law, m):
    """The law of the sum over the pieces in m rows (inside), or over those that cover them."""

    @cache
    def sums(left):
        total = Counter()
        for (value, length), p in law.items():
            if cut.inside and length > left:
                total[0] += p
            elif not cut.inside and length >= left:
                total[value] += p
            else:
                for more, q in sums(left - length).items():
                    total[value + more] += p * q
        return total

    return sums(m)


def beyond(cut, sums, bound):
    worse = (lambda x: x < bound) if cut.inside else (lambda x: x > bound)
    return math.fsum(p for x, p in sums.items() if worse(x)) - 1e-12


def covered(cut, m):
    return m - (cut.longest - 1) if cut.inside else m + cut.longest - 1


def multinomial(counts, law):
    ways = math.factorial(sum(counts.values()))
    for n in counts.values():
        ways //= math.factorial(n)
    return ways * math.prod(law[piece] ** n for piece, n in counts.items())


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize(("failure", "bet"), [(0.5, 1.0), (0.1, 0.6)])
def test_claims_are_false_with_probability_delta_at_most(name, failure, bet):
    """Bounds at several probabilities and sizes together, for every outcome of 24 pieces."""
    cut, law = LAWS[name]
    truth = {m: fresh_sums(cut, law, m) for m in (30, 60)}
    wrong = total = 0.0
    strong = outcomes = 0
    for pieces in combinations_with_replacement(law, 24):
        seen = Counter(pieces)
        evidence = Evidence(trying(cut, rates(2.0, 20.0)), seen, failure, bet)
        claims = []
        for m, sums in truth.items():
            rows = covered(cut, m)
            for beta in (0.3, 0.03):
                bound = evidence.bound(beta, rows)
                if bound is not None:
                    claims.append(beyond(cut, sums, bound) <= beta)
                    strong += bound > 5 if cut.inside else bound < 60
            claims.append(beyond(cut, sums, 12) <= evidence.beyond(12, rows))
        probability = multinomial(seen, law)
        total, outcomes = total + probability, outcomes + 1
        wrong += probability * (not all(claims))
    assert total == pytest.approx(1)
    assert wrong <= failure
    assert strong > outcomes / 4  # it is not for lack of claims


@pytest.mark.parametrize("name", LAWS)
def test_evidence_has_mean_one_at_most(name):
    """At the true exponents, over one piece and hence over any number of them."""
    cut, law = LAWS[name]
    for lam in (0.1, 0.3):
        sign = 1 if cut.inside else -1
        low, high = (0.0, 5.0) if cut.inside else (-5.0, 0.0)
        for _ in range(200):  # the μ with E exp(−λX + μL) = 1; rises with μ
            mu = (low + high) / 2
            mean = sum(p * math.exp(-sign * lam * x + mu * n) for (x, n), p in law.items())
            low, high = (mu, high) if mean <= 1 else (low, mu)
        factors = {(x, n): 1 + 0.7 * (1 - math.exp(-sign * lam * x + low * n)) for (x, n) in law}
        assert sum(p * factors[piece] for piece, p in law.items()) == pytest.approx(1)


def test_the_best_rate_in_hindsight_is_no_evidence():
    """Each of two rates has mean one; the larger of their products over two pieces has more."""
    law = {0: 0.2, 1: 0.8}

    def factor(lam, x):
        mean = sum(p * math.exp(-lam * value) for value, p in law.items())
        return 1 + (1 - math.exp(-lam * x) / mean)

    products = {
        (x, y): [factor(lam, x) * factor(lam, y) for lam in (0.1, 0.6)] for x in law for y in law
    }
    for i in range(2):
        assert sum(law[x] * law[y] * f[i] for (x, y), f in products.items()) == pytest.approx(1)
    assert sum(law[x] * law[y] * max(f) for (x, y), f in products.items()) > 1.05


def test_a_rate_that_some_piece_would_make_negative_is_not_used():
    """The counterexample of S32: all of 20 pieces have the value 1, and one in 40 would have 0."""
    lam, n, s, delta, miss = 40.0, 20, 19, 0.01, 1 / 40
    factor = 1 + (1 - math.exp(-lam * (1 - s / n)))
    claimed = 1 / (delta * factor**n)
    truth = 1 - (1 - miss) ** n
    happens = (1 - miss) ** n
    assert claimed < 0.0004
    assert truth > 0.39
    assert happens > 0.6 > delta  # the claim is false, and made with this probability
    cut = Cut(inside=True, dim=1, credit=2, pace=1.0, most=1)  # one full set, or two rows and none
    fixed = Evidence(trying(cut, [lam]), {(1, 1): n}, delta)
    assert fixed.beyond(s, n) == 1.0
    kept = Evidence(trying(cut, [lam, 0.3]), {(1, 1): 200}, delta)
    alone = Evidence(trying(cut, [0.3]), {(1, 1): 200}, delta / 2)
    assert kept.bound(0.1, 200) == alone.bound(0.1, 200) > 100  # it keeps its weight


def test_negative_factors_cut_off_at_zero_are_unsound():
    """Their mean exceeds one: P[X = 0] = 1/40 and λ = 40 as above."""
    lam, y = 40.0, 0.95
    factor = {x: 1 + (1 - math.exp(-lam * (x - y))) for x in (0, 1)}
    # At the true exponent the mean of exp(−λ(X − y)) is what it is: scale so that it is one.
    mean = math.exp(lam * y) / 40 + math.exp(-lam * (1 - y)) * 39 / 40
    scaled = {x: 1 + (1 - math.exp(-lam * (x - y)) / mean) for x in (0, 1)}
    assert factor[0] < 0
    assert scaled[0] / 40 + scaled[1] * 39 / 40 == pytest.approx(1)
    assert max(0, scaled[0]) / 40 + scaled[1] * 39 / 40 > 1.9


def test_pieces_that_ended_in_time_are_a_biased_choice():
    """Counting what has ended leaves out a long last piece: the mean of the product exceeds one.

    Pieces of one row and one set, or of three rows and none; three rows are seen.
    """
    law = {(1, 1): 0.5, (0, 3): 0.5}
    lam = 0.3
    mu = next(
        mu for mu in np.linspace(0, 1, 200_001)
        if 0.5 * math.exp(-lam + mu) + 0.5 * math.exp(3 * mu) >= 1
    )  # fmt: skip
    factor = {piece: 1 + (1 - math.exp(-lam * piece[0] + mu * piece[1])) for piece in law}

    def mean(rows, counts):
        """E of the product over the pieces that count, in this many rows."""
        total = 0.0
        for piece, p in law.items():
            ends = piece[1] <= rows
            rest = mean(rows - piece[1], counts) if ends else 1.0
            total += p * (factor[piece] if counts(rows, ends) and ends else 1.0) * rest
        return total

    assert mean(3, lambda rows, ends: ends) > 1.05
    assert mean(3, lambda rows, ends: rows >= 3) == pytest.approx(1, abs=1e-4)


def test_more_evidence_never_hurts_and_none_says_nothing():
    cut = INSIDE
    few = Evidence(trying(cut, rates(2.0, 60.0)), {(2, 3): 30}, 0.01)
    many = Evidence(trying(cut, rates(2.0, 60.0)), {(2, 3): 300}, 0.01)
    none = Evidence(trying(cut, rates(2.0, 60.0)), {}, 0.01)
    assert few.bound(0.01, 100) < many.bound(0.01, 100)
    assert none.bound(0.01, 100) == 0
    assert none.beyond(1, 100) == few.beyond(1, 0) == few.beyond(10**6, 100) == 1.0
    assert none.beyond(0, 100) == 0.0  # a sum is never below zero
    assert Evidence(trying(OUTSIDE, rates(2.0, 60.0)), {}, 0.01).bound(0.01, 100) is None


def test_bounds_and_probabilities_fit_together():
    evidence = Evidence(trying(INSIDE, rates(2.0, 160.0)), {(2, 3): 80, (0, 3): 3}, 0.01)
    for beta in (0.2, 1e-3, 1e-6):
        a = evidence.bound(beta, 240)
        assert evidence.beyond(a, 240) <= beta < evidence.beyond(a + 1, 240)
    evidence = Evidence(trying(OUTSIDE, rates(2.0, 20.0)), {(0, 4): 80, (2, 2): 3}, 0.01)
    for beta in (0.2, 1e-3, 1e-6):
        b = evidence.bound(beta, 330)
        assert evidence.beyond(b, 330) <= beta < evidence.beyond(b - 1, 330)


def test_rounding_is_on_the_safe_side():
    """A million pieces against the same sum in exact arithmetic with a hundred digits."""
    from decimal import Decimal, getcontext

    getcontext().prec = 100
    pieces = {(2, 3): 900_000, (1, 4): 90_000, (0, 3): 10_000}
    grid = [0.01, 0.05]
    evidence = Evidence(trying(INSIDE, grid), pieces, 0.01)
    total, rows, nats = 1_600_000, 3_000_000, 12.0
    products = []
    for lam in map(Decimal, grid):
        mu = (lam * total + Decimal(nats)) / rows
        products.append(
            sum(times * (2 - (mu * n - lam * x).exp()).ln() for (x, n), times in pieces.items())
        )
    exact = (sum(p.exp() for p in products) / 2).ln()
    numbers = float(total), float(nats), float(rows), float(evidence.bet), 1e-12
    rounded = Decimal(log_mean_product(*evidence._pieces, *numbers))
    assert exact - Decimal("1e-3") < rounded < exact
