"""Exact arithmetic, and the checks of what callers ask: to the last digit, up to the limits."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagstone import guarantees as g
from flagstone.errors import InputError
from flagstone.guarantees.exact import (
    at_least,
    check_share,
    exact,
    positive,
    root,
    smallest,
    times_log,
)

POSITIVE = st.fractions(min_value=Fraction(1, 10**9), max_value=10**30)


@given(digits=st.integers(-(10**15), 10**15), places=st.integers(0, 12))
def test_a_float_is_the_decimal_it_prints_as(digits, places):
    number = Fraction(digits, 10**places)
    assert exact(float(number)) == Fraction(Decimal(repr(float(number))))
    assert exact(number) == number
    assert exact(digits) == digits


@given(
    limit=st.integers(-5, 3000),
    start=st.integers(-5, 50),
    near=st.one_of(st.none(), st.integers(-5, 3000)),
)
def test_the_smallest_integer_of_a_monotone_condition(limit, start, near):
    asked = []

    def holds(n):
        asked.append(n)
        return n >= limit

    assert smallest(holds, start, near) == max(start, limit)
    assert min(asked) >= start
    assert len(asked) <= 30  # by doubling and halving, not one by one
    assert len(asked) <= 2 or near is None or near < start or abs(near - max(start, limit)) > 0
    assert smallest(lambda n: n >= limit) == max(1, limit)


@given(factor=POSITIVE, ratio=POSITIVE, floor=st.floats(0, 3))
def test_times_log(factor, ratio, floor):
    log = float(times_log(factor, ratio, at_least=floor) / factor)
    assert log == pytest.approx(max(math.log(ratio), floor), abs=1e-12)
    assert times_log(factor, ratio) == times_log(factor, ratio, at_least=0.0)
    assert times_log(Fraction(2), Fraction(10) ** 5000) == pytest.approx(10_000 * math.log(10))


@pytest.mark.parametrize("bad", [0, -1, 2.0, True, None, "3", math.nan])
def test_counts_are_integers_from_one(bad):
    assert positive("rows", 1) == positive("dim", np.int64(1)) == 1
    with pytest.raises(InputError, match="rows must be an integer of at least 1"):
        positive("rows", bad)
    with pytest.raises(InputError, match="dim must be an integer of at least 1"):
        positive("dim", bad)


def test_counts_may_start_elsewhere():
    assert at_least("start", 0, 0) == 0
    with pytest.raises(InputError, match=r"start must be an integer of at least 0, got -1"):
        at_least("start", -1, 0)


@pytest.mark.parametrize("bad", [True, "0.1", None, math.nan, math.inf, -math.inf, 0.5j])
def test_shares_are_numbers(bad):
    with pytest.raises(InputError, match="rho must be a number strictly between 0 and 1, got"):
        check_share("rho", bad)


@pytest.mark.parametrize("bad", [-0.1, 1, 1.0, 1.5, Fraction(3, 2)])
def test_shares_lie_between_zero_and_one(bad):
    with pytest.raises(InputError, match="eps must lie strictly between 0 and 1, got") as caught:
        check_share("eps", bad)
    assert "no amount of data" not in str(caught.value)


def test_zero_is_refused_with_its_reason():
    for name, why in (("rho", "never disagree"), ("eps", "ever left out"), ("delta", "certainty")):
        with pytest.raises(InputError, match=f"{name} must lie strictly .* got 0: .*{why}"):
            check_share(name, 0)
    with pytest.raises(InputError, match=r"confidence must lie strictly .* got 0\.0$"):
        check_share("confidence", 0.0)


def test_shares_at_their_limits():
    tiny = Fraction(1, 10**40)
    for name in ("rho", "eps"):
        assert check_share(name, 1e-40) == tiny
        with pytest.raises(InputError, match=f"{name} must be at least 1e-40, got 1e-41"):
            check_share(name, 1e-41)
    assert check_share("delta", 1e-300) == Fraction(1, 10**300)
    assert check_share("rho", 0.29) == Fraction(29, 100)
    assert check_share("rho", Fraction(1, 3)) == Fraction(1, 3)
    assert check_share("rho", np.float64(0.1)) == Fraction(1, 10)


# -- the learner's sizes and outliers -----------------------------------------------------------


@pytest.mark.parametrize("order", [0, 1, -2, 2.0, True, "2"])
def test_orders_are_numbers_of_elements(order):
    calls = (
        lambda: g.generalization_rows(5, 0.1, 0.1, order=order),
        lambda: g.parity_failure(5, 0.1, 100, order=order),
        lambda: g.parity_error(5, 0.1, 100, order=order),
        lambda: g.private_rows(5, 0.1, 0.1, order=order),
    )
    for call in calls:
        with pytest.raises(InputError, match="order must be the number of elements"):
            call()


@given(
    dim=st.integers(1, 40),
    share=st.floats(0.001, 0.99),
    m=st.integers(1, 10**5),
    order=st.sampled_from([2, 3, 256]),
)
def test_failure_and_error_of_the_parity_learner_are_the_formulas(dim, share, m, order):
    hypotheses = (dim - 1) * math.log(order)
    failure = min(1.0, math.exp(min(1.0, hypotheses - share * m / 8)))
    assert g.parity_failure(dim, share, m, order=order) == pytest.approx(failure)
    error = 8 * (hypotheses + math.log(1 / share)) / m
    assert g.parity_error(dim, share, m, order=order) == pytest.approx(error)


@pytest.mark.parametrize("bad", [-0.01, 0.5, 1, math.nan, True, "x", None])
def test_contamination_is_less_than_half(bad):
    assert g.check_contamination(0) == 0.0
    assert g.check_contamination(0.499) == 0.499
    with pytest.raises(InputError, match=r"must lie in \[0, 0\.5\), got"):
        g.check_contamination(bad)


@given(m=st.integers(1, 60), rate=st.floats(0.01, 0.49), k=st.integers(0, 70))
def test_containment_is_a_binomial_tail(m, rate, k):
    tail = math.fsum(math.comb(m, i) * rate**i * (1 - rate) ** (m - i) for i in range(k + 1, m + 1))
    assert g.containment_failure(m, k, rate) == pytest.approx(tail, rel=1e-9, abs=1e-300)


@given(m=st.integers(1, 200), rate=st.floats(0, 0.49), failure=st.floats(0.001, 0.99))
def test_the_start_for_a_failure_is_the_smallest(m, rate, failure):
    k = g.outlier_start_for_failure(m, rate, failure)
    assert g.containment_failure(m, k, rate) <= failure
    assert k == 0 or g.containment_failure(m, k - 1, rate) > failure


@given(value=POSITIVE, power=st.integers(0, 400))
def test_roots(value, power):
    assert root(value) == pytest.approx(math.sqrt(value))
    large = value * Fraction(2) ** (2 * power)
    assert root(large) == pytest.approx(math.ldexp(math.sqrt(value), power), rel=1e-12)
