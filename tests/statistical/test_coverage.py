"""S9, S10: rows outside the answer, for every sample; attained, so a hundredth is broken.

S36, S41: future rows.
"""

import pytest

from flagstone.algebra.flag import Flag
from flagstone.guarantees import heavy_uncovered, index_uncovered
from tests.certificates.tools import coverage_failures
from tests.statistical.tools import Sample, answer, hard_laws, np, window_of


@pytest.mark.parametrize("rule", ["index", "heavy"])
@pytest.mark.parametrize("dim", [4, 9])
def test_no_sample_loses_more(rule, dim):
    T, rng = 300, np.random.RandomState(9)
    bound = index_uncovered(dim, T) if rule == "index" else heavy_uncovered(dim, T)
    m = 4 * bound
    for law in hard_laws(dim, m, window_of(rule, T)).values():
        for _ in range(10):
            sample = Sample(law, m, rng)
            for t in rng.randint(1, T + 1, size=5).tolist():
                assert sample.uncovered(answer(rule, sample.flag, t)) <= bound


def test_index_rule_attains_its_bound():
    """Every unit vector T - 1 times: V_T = {0} misses all d·(T-1) rows."""
    d, T = 5, 1000
    flag = Flag(d).update(np.eye(d, dtype=int), [T - 1] * d)
    assert answer("index", flag, T).dim == 0
    assert flag.n_rows == index_uncovered(d, T)
    assert flag.n_rows > index_uncovered(d, T // 100)


def test_heavy_rule_attains_its_bound():
    """Every space of a full chain spanned by T - 1 sets: nothing is heavy at t = T."""
    d, T = 5, 1000
    flag = Flag(d).update(np.eye(d, dtype=int), [(T - 1) * (i + 1) for i in range(d)])
    assert answer("heavy", flag, T).dim == 0
    assert flag.n_rows == heavy_uncovered(d, T)
    assert flag.n_rows > heavy_uncovered(d, T / 100)


@pytest.mark.parametrize("sorted_rows", [False, True])
def test_future_rows_lie_outside_as_seldom_as_is_certified(sorted_rows):
    """Each bound has a tenth of δ: 1,500 trials, 75 failures expected at most, five sigma more."""
    failures, informative = coverage_failures(1500, sorted_rows=sorted_rows, confidence=0.5)
    assert informative > 500
    assert max(failures) <= 75 + 5 * 8.5
