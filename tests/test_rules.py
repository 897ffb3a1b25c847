"""The rules: windows by the book, Algorithm 1 literally, and warnings in the caller's words."""

import math
import warnings
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagstone import guarantees as g
from flagstone.algebra.flag import Flag, merge_flags
from flagstone.algebra.partition import stable_partition
from flagstone.algebra.staircase import Staircase
from flagstone.algebra.subspace import Subspace
from flagstone.coins import Coins
from flagstone.errors import InputError, ReplicabilityWarning, WindowError
from flagstone.rules import HeavyRule, IndexRule, SpanRule, rule_named, select_span
from tests.bridge import flag_of, span_of
from tests.strategies import ORDERS, samples

RULES = [IndexRule, HeavyRule]


def spans(sample):
    """The spans of the sets of the literal partition."""
    sets = stable_partition(sample.X, sample.order)
    return [Subspace.span(sample.X[rows], sample.order, dim=sample.dim) for rows in sets]


def algorithm_1(sample, t):
    """The paper's Algorithm 1, line by line, with {0} when nothing is heavy."""
    n = Counter(spans(sample))
    heavy = [V for V in n if n[V] >= t]
    zero = Subspace.zero(sample.dim, sample.order)
    return max(heavy, key=lambda V: V.dim, default=zero)


@pytest.mark.parametrize("order", ORDERS)
@given(data=st.data())
def test_heavy_rule_is_algorithm_1(order, data):
    sample = data.draw(samples(order))
    t = data.draw(st.floats(0.01, 8) | st.integers(1, 6))
    flag = flag_of(sample)
    assert flag.span_at(HeavyRule().index(Staircase.of(flag), t)) == algorithm_1(sample, t)


@pytest.mark.parametrize("order", ORDERS)
@given(data=st.data())
def test_index_rule_is_the_span_of_one_set(order, data):
    sample = data.draw(samples(order))
    t = data.draw(st.integers(1, 8))
    flag, V = flag_of(sample), spans(sample)
    expected = V[t - 1] if t <= len(V) else Subspace.zero(sample.dim, order)
    assert flag.span_at(IndexRule().index(Staircase.of(flag), t)) == expected


def test_nothing_heavy_is_the_zero_space():
    flag = Flag(3).update(np.eye(3, dtype=int))
    assert span_of(flag, Coins("any"), rule="heavy", t_max=3).subspace.dim in (0, 3)
    assert flag.span_at(HeavyRule().index(Staircase.of(flag), 1.5)) == Subspace.zero(3)


@pytest.mark.parametrize(
    ("parameters", "start", "length"),
    [
        ({}, 5, 6),  # from 1 + ⌈0.05·1000/10⌉ to 1 + ⌊0.1·1000/10⌋
        ({"eps": 0.29}, 15, 15),
        ({"eps": 0.001}, 0, 1),  # which asks for every row
        ({"t_max": 7}, 0, 7),
        ({"t_max": np.int64(7)}, 0, 7),
        ({"t_max": 1}, 0, 1),
        ({"t_max": 0.0125}, 0, 12),
        ({"t_max": 0.0001}, 0, 1),
        ({"contamination": 0.0101}, 11, 11),
        ({"contamination": 0.07, "t_max": 75}, 70, 5),
        ({"contamination": 0.07, "t_min": 3, "t_max": 5}, 2, 3),
        ({"t_min": 51, "t_max": 250}, 50, 200),
        ({"t_min": 0.05, "t_max": 0.25}, 50, 200),
        ({"t_min": 0.0501, "t_max": 0.2509}, 51, 199),
        ({"t_min": 0.5, "t_max": 0.2}, 500, 1),  # a fraction never ends before it begins
        ({"t_min": 7, "t_max": 7}, 6, 1),
        ({"rho": 0.1}, 0, g.index_length(10, 0.1)),
        ({"rho": 0.1, "t_min": 41}, 40, g.index_length(10, 0.1, start=40)),
        ({"rho": 0.1, "t_max": 9}, 0, 9),
    ],
)
def test_index_window(parameters, start, length):
    window = IndexRule(**parameters).window(dim=10, n_rows=1000)
    assert (window.start, window.length) == (start, length)
    assert (window.t_min, window.t_max) == (start + 1, start + length)
    assert isinstance(window.t_max, int)


@pytest.mark.parametrize(
    ("parameters", "start", "length"),
    [
        ({}, 0, 0.1 * 1000 / 55),
        ({"eps": 0.001}, 0, 1),
        ({"t_max": 7}, 0, 7),
        ({"t_max": 0.0125}, 0, 12),
        ({"t_min": 51, "t_max": 250}, 50, 200),
        ({"contamination": 0.0101}, 11, 0.1 * 1000 / 55),
        ({"rho": 0.1}, 0, 2 * math.sqrt(2 * 10 * 1000) / 0.1),
        ({"rho": 0.1, "t_max": "paper"}, 0, g.paper_length(10, 0.1, 1000)),
    ],
)
def test_heavy_window(parameters, start, length):
    window = HeavyRule(**parameters).window(dim=10, n_rows=1000)
    assert window.start == start
    assert window.length == pytest.approx(length, rel=1e-12)


def test_shards_are_paid_for():
    assert IndexRule(rho=0.1).window(10, 1000, 3).length == g.index_length(10, 0.1, shards=3)
    assert IndexRule().window(10, 3000, 3) == g.Window("index", 6, 11)
    assert HeavyRule().window(10, 3000, 3).length == pytest.approx(100 / 55)


@given(st.integers(), st.integers(0, 50), st.integers(1, 10**6))
def test_thresholds_come_from_the_named_coin(seed, k, T):
    coins = Coins(seed)
    u = coins.uniform("threshold")
    window = g.Window("index", k + 1, k + T)
    t = IndexRule().draw(window, coins)
    assert t == k + 1 + math.floor(u * T)
    assert k + 1 <= t <= k + T
    t = HeavyRule().draw(g.Window("heavy", k + 1, float(k + T)), coins)
    assert t == k + T * (1 - u)
    assert k < t <= k + T


def test_thresholds_are_uniform():
    window = g.Window("index", 6, 9)
    counts = Counter(IndexRule().draw(window, Coins(i)) for i in range(4000))
    assert sorted(counts) == [6, 7, 8, 9]
    assert all(abs(n - 1000) < 5 * math.sqrt(750) for n in counts.values())


def uniform_flag(m=1000, dim=8, seed=0):
    rng = np.random.RandomState(seed)
    return Flag(dim).update(rng.randint(0, 2, size=(m, dim)))


@pytest.mark.parametrize("rule", ["index", "heavy"])
def test_defaults_prove_coverage_in_silence(rule):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        promise = span_of(uniform_flag(), Coins(1), rule=rule).guarantee
    assert promise.is_coverage_proven
    assert not promise.is_replicable_proven
    assert promise.proven.rho is None
    assert promise.proven.rows_needed is None
    assert "replicability not proven" in str(promise)


@pytest.mark.parametrize("rule", ["index", "heavy"])
def test_too_few_rows_for_rho_warn_once_with_the_rows_needed(rule):
    with pytest.warns(ReplicabilityWarning) as caught:
        result = select_span(uniform_flag(), rule_named(rule, rho=0.05), Coins(1))
    [warning] = caught
    assert warning.filename == __file__
    needed = {"index": g.index_rows, "heavy": g.heavy_rows}[rule](8, 0.05, 0.1)
    assert f"{needed:,} rows" in str(warning.message)
    promise = result.guarantee
    assert promise.proven.rows_needed == needed
    assert "not proven" in str(promise)
    assert promise.is_replicable_proven
    assert not promise.is_coverage_proven


@pytest.mark.parametrize("rule", ["index", "heavy"])
def test_enough_rows_prove_both_in_silence(rule):
    m = {"index": g.index_rows, "heavy": g.heavy_rows}[rule](2, 0.3, 0.2)
    flag = Flag(2).update(np.eye(2, dtype=int), [m - m // 3, m // 3])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        promise = span_of(flag, Coins(1), rule=rule, rho=0.3, eps=0.2).guarantee
    assert promise.is_replicable_proven
    assert promise.is_coverage_proven
    assert promise.proven.rho <= 0.3
    assert promise.proven.eps <= 0.2
    assert "not proven" not in str(promise)
    assert str(promise).startswith("replicable with probability ≥ 0.7")


def test_rows_one_short_of_coverage_warn():
    """The warning follows the bound to the row."""
    d, rho, eps = 3, 0.2, 0.3
    T = g.index_length(d, rho)
    enough = math.ceil(d * (T - 1) / g.exact.exact(eps))
    for m, proven in ((enough, True), (enough - 1, False)):
        flag = Flag(d).update(np.eye(d, dtype=int), [m - 2, 1, 1])
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            promise = span_of(flag, Coins(3), rho=rho, eps=eps).guarantee
        assert promise.is_coverage_proven is proven
        assert bool(caught) is not proven


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"rho": 0.3, "t_max": 40}, "replicability (rho = 0.3) and coverage (eps = 0.1)"),
        ({"rho": 0.3, "t_max": 0.04}, "not proven with 1,000 rows"),
        ({"eps": 0.05, "t_max": 40}, "a smaller t_max keeps coverage"),
        ({"eps": 0.05, "contamination": 0.01}, "the 10 sets before the window may cost 0.08"),
        ({"rho": 0.5, "contamination": 0.05}, "the 50 sets before the window may cost"),
        ({"rho": 0.05}, "to keep coverage rather than rho, leave rho out"),
    ],
)
def test_warnings_say_what_to_do(parameters, words):
    with pytest.warns(ReplicabilityWarning) as caught:
        span_of(uniform_flag(), Coins(1), **parameters)
    assert len(caught) == 1
    assert words in str(caught[0].message)


def test_a_default_eps_is_not_a_question():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        promise = span_of(uniform_flag(), Coins(1), t_max=90, eps=0.1).guarantee
    assert not promise.is_coverage_proven


@pytest.mark.parametrize("rule", ["index", "heavy"])
def test_what_the_sample_shows(rule):
    X = np.random.RandomState(5).binomial(1, [0.5, 0.5, 0.2, 0.02, 0.01], size=(3000, 5))
    flag = Flag(5).update(X)
    for seed in range(12):
        result = span_of(flag, Coins(seed), rule=rule, t_max=300)
        low, high = result.guarantee.measured.bracket
        assert low <= (~result.subspace.contains(X)).sum() <= high
        assert result.guarantee.measured.margin >= 0


def test_contamination_is_reported():
    promise = span_of(uniform_flag(), Coins(1), contamination=0.02).guarantee
    assert promise.setup.window.start == 20
    assert promise.proven.containment_failure == g.containment_failure(1000, 20, 0.02)
    assert "safe for up to 20 corrupted rows" in str(promise)


def test_shards_carry_a_larger_bracket():
    flags = [uniform_flag(seed=i) for i in range(4)]
    merged = span_of(merge_flags(flags), Coins(1), t_max=100).guarantee
    single = span_of(uniform_flag(m=4000), Coins(1), t_max=100).guarantee
    assert merged.setup.n_shards == 4
    assert merged.proven.eps is None or merged.proven.eps == 4 * single.proven.eps


def test_rules_have_names():
    assert isinstance(rule_named("heavy"), HeavyRule)
    assert isinstance(rule_named("index"), IndexRule)


def test_zero_rows_count_and_span_nothing():
    result = span_of(Flag(3).update(np.zeros((50, 3), dtype=int)), Coins(1))
    assert result.subspace == Subspace.zero(3)
    assert result.guarantee.setup.n_rows == 50
    assert result.guarantee.measured.bracket == (0, 0)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"rho": 0}, "got 0: 0 would mean that two samples never disagree"),
        ({"rho": 1}, "rho must lie strictly between 0 and 1, got 1"),
        ({"rho": -0.1}, "rho must lie strictly between"),
        ({"rho": "0.1"}, "rho must be a number"),
        ({"rho": True}, "rho must be a number"),
        ({"eps": 0}, "no row is ever left out"),
        ({"eps": 1}, "eps must lie strictly between 0 and 1, got 1"),
        ({"eps": 1.5}, "eps must lie strictly between"),
        ({"eps": None}, "eps must be a number"),
        ({"contamination": 0.5}, r"\[0, 0.5\), got 0.5"),
        ({"contamination": -0.1}, r"\[0, 0.5\), got -0.1"),
        ({"contamination": float("nan")}, r"\[0, 0.5\), got nan"),
        ({"contamination": None}, r"\[0, 0.5\), got None"),
        ({"t_min": -1}, r"t_min must be an integer of at least 1 .*, got -1"),
        ({"t_min": 0}, r"t_min must be an integer of at least 1 .*, got 0"),
        ({"t_min": 1.5}, "t_min must be an integer"),
        ({"t_max": 0}, r"t_max must be an integer of at least 1 .*, got 0"),
        ({"t_max": -3}, r"t_max must be an integer of at least 1 .*, got -3"),
        ({"t_max": 1.0}, "fraction of the rows strictly between 0 and 1, got 1.0"),
        ({"t_max": True}, "got True"),
        ({"t_max": [3]}, r"got \[3\]"),
        ({"t_max": "max"}, "got 'max'"),
        ({"t_max": 1001}, r"t_max=1001 asks for more sets than there are rows \(1,000\)"),
        ({"t_max": 20, "t_min": 21}, "must not come before the first, t_min = 21, got 20"),
        ({"t_max": 20, "contamination": 0.02}, r"t_min = 21 \(past the outliers .*, got 20"),
        ({"t_max": "paper"}, "use it with rule='heavy'"),
        ({"t_max": "paper", "rule": "heavy"}, "is a function of rho: give it too"),
        ({"rule": "heaviest"}, "rule must be 'index' or 'heavy', got 'heaviest'"),
        ({"rule": None}, "rule must be 'index' or 'heavy', got None"),
    ],
)
def test_bad_parameters_are_explained(parameters, words):
    with pytest.raises(InputError, match=words):
        span_of(uniform_flag(), Coins(1), **parameters)


def test_no_rows():
    with pytest.raises(InputError, match="at least one row"):
        span_of(Flag(3), Coins(1))


@pytest.mark.parametrize("rule", ["index", "heavy"])
@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"contamination": 0.2}, r"contamination × rank must stay below 1 \(here 0.2 × 8"),
        ({"t_min": 500}, "starts past the last of the .* sets.*: give a smaller t_min"),
    ],
)
def test_a_window_past_the_last_set_answers_nothing_and_says_so(rule, parameters, words):
    """An error would depend on the data: one of two samples would raise where the other answers."""
    with pytest.warns(ReplicabilityWarning, match=words):
        result = span_of(uniform_flag(), Coins(1), rule=rule, **parameters)
    assert result.subspace == Subspace.zero(8)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        (
            {},
            "past the last of the 20 sets.*: 980 of the 1,000 rows are zero; give a smaller t_min",
        ),
        ({"contamination": 0.2}, r"below the share of rows that are not zero, 0.02 \(here 0.2 × 1"),
        ({"contamination": 0.0199}, "too few rows for this contamination; more rows help"),
    ],
)
def test_zero_rows_are_in_no_set(parameters, words):
    """More rows of which as many are zero would not help."""
    flag = Flag(2).update([[1, 1], [0, 0]], weights=[20, 980])
    with pytest.warns(ReplicabilityWarning, match=words):
        assert span_of(flag, Coins(1), **parameters).subspace == Subspace.zero(2)


def test_impossible_windows_are_refused_on_public_numbers_alone():
    for parameters in ({"t_max": 1001}, {"t_min": 30, "t_max": 20}):
        with pytest.raises(WindowError):
            IndexRule(**parameters).window(8, 1000)


def test_rules_are_values():
    assert IndexRule(rho=0.1) == IndexRule(rho=0.1) != IndexRule(rho=0.2)
    assert hash(HeavyRule()) == hash(HeavyRule())
    with pytest.raises(TypeError):
        SpanRule()


def test_shares_may_be_fractions():
    flag = Flag(2).update([[1, 0], [0, 1]], weights=[50, 50])
    with pytest.warns(ReplicabilityWarning, match=r"eps = 0\.1"):
        span_of(flag, Coins(1), rho=Fraction(1, 10))
    with pytest.warns(ReplicabilityWarning, match=r"eps = 0\.001"):
        span_of(flag, Coins(1), eps=Fraction(1, 1000), t_max=50)


@pytest.mark.parametrize(
    ("dim", "m", "window"),
    [
        (10, 1000, (6, 11)),
        (10, 39, (1, 1)),  # too few rows for t = 2
        (10, 40, (2, 2)),
        (10, 99, (2, 2)),
        (10, 100, (2, 2)),
        (10, 200, (2, 3)),
        (42, 50_000, (61, 120)),
    ],
)
def test_the_default_window_leaves_elimination_out(dim, m, window):
    found = IndexRule().window(dim, m)
    assert (found.t_min, found.t_max) == window
    # given values are used as given
    assert IndexRule(t_min=1).window(dim, m).t_min == 1
    assert IndexRule(contamination=0.01).window(dim, m).t_min == math.ceil(m / 100) + 1
    assert IndexRule(rho=0.3).window(dim, m).t_min == 1


def test_a_window_is_asked_for_with_numbers():
    for dim in (None, 0, 2.5, "4", float("inf"), [3]):
        with pytest.raises(InputError, match="dim must be an integer of at least 1"):
            IndexRule().window(dim, 100)
    for value in (np.array([5]), np.array([5, 6]), [5], float("nan")):
        with pytest.raises(InputError, match="t_min must be an integer of at least 1"):
            IndexRule(t_min=value)
    for value in (None, "x", float("inf"), 0.5, -0.1):
        with pytest.raises(InputError, match="contamination"):
            g.index_rows(5, 0.1, 0.1, contamination=value)
