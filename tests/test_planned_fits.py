"""`plan` against what a fit checks itself: the rows it names are enough, and so are more."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flagstone import Coins, Flag
from flagstone import guarantees as g
from flagstone.algebra.flag import merge_flags
from flagstone.guarantees import plan
from flagstone.guarantees.exact import exact
from flagstone.rules import rule_named, select_span

ANALYSIS = {"index": "index", "heavy": "heavy (sharp)"}


def promised(rule, dim, n_rows, shards=1):
    """Fit on this many rows; a promise that was asked for and is not proven warns, which raises."""
    sizes = [n_rows // shards] * (shards - 1)
    sizes.append(n_rows - sum(sizes))
    row = np.ones((1, dim), dtype=int)
    flag = merge_flags(Flag(dim).update(row, weights=[size]) for size in sizes)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*not proven with")
        found = select_span(flag, rule, Coins(1)).guarantee
    assert found.is_replicable_proven
    assert found.is_coverage_proven
    return found


def test_a_window_keeps_the_last_bit_of_its_length():
    assert plan(6, 0.1, 0.6, contamination=0.01)["heavy (sharp)"].rows == 13_917_268
    promised(rule_named("heavy", rho=0.1, eps=0.6, contamination=0.01), 6, 13_917_268)


def test_outliers_that_take_all_of_eps_but_a_rounding_error_leave_no_number_of_rows():
    contamination = 0.25 * 0.5 / 7  # times 28 directions: 0.5, but for the last digit
    lines = plan(7, 0.5, 0.5, contamination=contamination)
    assert lines["heavy (sharp)"].rows is None
    assert lines["index"].rows is not None
    assert plan(7, 0.5, 0.5, contamination=0.5 / 7 - 1e-17)["index"].rows is None


shares = st.floats(0.02, 0.98) | st.integers(1, 99).map(lambda percent: percent / 100)


@settings(max_examples=100)
@given(
    st.sampled_from(["index", "heavy"]),
    st.integers(1, 12),
    shares,
    shares,
    st.just(0.0) | st.floats(1e-6, 0.999) | st.sampled_from([0.1, 0.25, 0.5]),
    st.integers(0, 10**6),
)
def test_the_planned_rows_are_enough_for_a_fit(name, dim, rho, eps, portion, more):
    contamination = min(0.499, portion * eps / (dim if name == "index" else dim * (dim + 1) / 2))
    line = plan(dim, rho, eps, contamination=contamination)[ANALYSIS[name]]
    if line.rows is None:
        assert portion > 0.99  # no number of rows is enough only where outliers take all of eps
        return
    rule = rule_named(name, rho=rho, eps=eps, contamination=contamination)
    found = promised(rule, dim, line.rows)
    assert (found.setup.window.t_min, found.proven.rows_needed) == (line.t_min, line.rows)
    for n_rows in (line.rows + 1, line.rows + more, 2 * line.rows):
        promised(rule, dim, n_rows)


@settings(max_examples=50)
@given(
    st.sampled_from(["index", "heavy"]),
    st.integers(1, 8),
    shares,
    shares,
    st.integers(1, 3),
    st.integers(1, 10**5),
    st.integers(0, 1000),
)
def test_the_rows_that_a_fit_names_are_enough_for_the_next(
    name, dim, rho, eps, shards, t_min, more
):
    rule = rule_named(name, rho=rho, eps=eps, t_min=t_min)
    small = merge_flags([Flag(dim).update(np.ones((2, dim), dtype=int))] * shards)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        needed = select_span(small, rule, Coins(1)).guarantee.proven.rows_needed
    for n_rows in (needed, needed + more):
        promised(rule, dim, n_rows, shards)


@settings(max_examples=50)
@given(
    st.sampled_from(["index", "heavy"]),
    st.integers(1, 60),
    st.floats(1e-12, 1e-3),
    shares,
    st.just(0.0) | st.floats(1e-3, 0.9),
)
def test_plans_of_more_rows_than_floats_can_count(name, dim, rho, eps, portion):
    contamination = min(0.499, portion * eps / (dim if name == "index" else dim * (dim + 1) / 2))
    rows = plan(dim, rho, eps, contamination=contamination)[ANALYSIS[name]].rows
    window = rule_named(name, rho=rho, eps=eps, contamination=contamination).window(dim, rows)
    proves, uncovered = (getattr(g, f"{name}_{what}") for what in ("proves", "uncovered"))
    assert proves(dim, rho, window.length, start=window.start, n_rows=rows)
    assert uncovered(dim, window.length, start=window.start) <= exact(eps) * rows


@pytest.mark.parametrize("paper", [False, True])
def test_the_length_of_a_window_is_never_less_than_promised(paper):
    """In floating point `start + length` may round down, and the window is then too short."""
    rng = np.random.default_rng(2)
    for _ in range(300):
        dim, n_rows = int(rng.integers(1, 30)), int(rng.integers(10**4, 10**9))
        rho, start = float(rng.uniform(0.01, 0.9)), int(rng.integers(1, n_rows // 10))
        rule = rule_named("heavy", rho=rho, t_min=start + 1, t_max="paper" if paper else None)
        window = rule.window(dim, n_rows)
        if paper:
            length = g.paper_length(dim, rho, n_rows)
        else:
            length = g.heavy_length(dim, rho, start=start, n_rows=n_rows)
        assert window.length >= length
        assert window.length == pytest.approx(length, rel=1e-6, abs=1e-6)
