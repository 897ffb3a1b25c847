"""The whole promise of one rule, end to end: published coins, fresh samples, both guarantees."""

from flagstone.coins import Coins
from tests.bridge import span_of
from tests.statistical.tools import Sample, np


def check_both_promises(law, rule, m, *, rho, eps, count, seed, **parameters):
    """Disagreement rate over `count` pairs ≤ rho, and uncovered ≤ eps in every single run."""
    rng = np.random.RandomState(seed)
    differ = 0
    for i in range(count):
        answers = []
        for _ in range(2):
            sample = Sample(law, m, rng)
            result = span_of(
                sample.flag, Coins(f"{seed}/{i}"), rule=rule, rho=rho, eps=eps, **parameters
            )
            promise = result.guarantee
            assert promise.is_replicable_proven
            assert promise.is_coverage_proven
            uncovered = sample.uncovered(result.subspace)
            assert uncovered <= eps * m
            low, high = promise.measured.bracket
            assert low <= uncovered <= high
            answers.append(result.subspace)
        differ += answers[0] != answers[1]
    assert differ <= rho * count, f"{differ} of {count} pairs differ"
