"""S19: the certificate from the data covers the truth at its confidence; a hundredth does not."""

import pytest

from flagstone import distributions as laws
from flagstone.guarantees import (
    heavy_certificate,
    index_certificate,
    index_rho,
    rows_in_first_sets,
)
from tests.statistical.tools import (
    Sample,
    disagreements,
    holds,
    lower_limit,
    np,
    rising_gaps,
    staircase,
    violated,
    window_of,
)

CERTIFICATES = {"index": index_certificate, "heavy": heavy_certificate}


def certificate(rule, flag, T, confidence):
    sets = T if rule == "index" else flag.dim * T
    matter = rows_in_first_sets(flag.counts.tolist(), sets)
    return CERTIFICATES[rule](flag.dim, T, matter, confidence=confidence)


HARD = {
    ("index", "staircase"): (staircase(4, 400, 40_000), 40_000),
    ("index", "geometric"): (laws.geometric(4), 800),
    ("heavy", "rising gaps"): (rising_gaps(4, 400, 40_000), 40_000),
    ("heavy", "geometric"): (laws.geometric(4), 1600),
}


@pytest.mark.parametrize(("rule", "name"), HARD)
def test_certificate_covers_the_truth(rule, name):
    T, confidence = 400, 0.9
    law, m = HARD[rule, name]
    truth = lower_limit(disagreements(window_of(rule, T), law, m, count=150, seed=10))
    rng = np.random.RandomState(11)
    bounds = [certificate(rule, Sample(law, m, rng).flag, T, confidence) for _ in range(100)]
    assert truth > 0
    assert holds([bound < truth for bound in bounds], 1 - confidence)
    assert violated([bound / 100 < truth for bound in bounds], 1 - confidence)


def test_certificate_beats_the_bound_made_in_advance_on_easy_data():
    """Few rows sit in the first sets when most directions are rare."""
    dim, T, m = 16, 20_000, 100_000
    sample = Sample(laws.geometric(dim), m, np.random.RandomState(1))
    assert certificate("index", sample.flag, T, 0.99) < index_rho(dim, T) / 2
