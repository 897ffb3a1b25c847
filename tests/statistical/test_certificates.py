"""S30–S38 end to end: certificates of random samples against the truth that they speak of."""

from fractions import Fraction

import numpy as np
import pytest

from flagstone import distributions as laws
from flagstone.algebra.flag import Flag, merge_flags
from flagstone.algebra.subspace import Subspace
from flagstone.certificates import Certifier, pilot_rows
from flagstone.guarantees import Window
from tests.statistical.tools import holds, lower_limit, violated

CONFIDENCE = 0.9


def with_gap(dim, rank, outside):
    plane = Subspace.span(np.eye(dim, dtype=int)[:rank])
    return laws.planted_subspace(plane, contamination=outside)


#: Law, rows, window: a gap that is just seen, a gap missed by half, several spaces, rivals.
CASES = {
    "gap": (with_gap(6, 3, 0.05), 1500, 31, 330),
    "edge of a gap": (with_gap(6, 3, 0.05), 1500, 8, 120),
    "several spaces": (laws.geometric(4), 4000, 100, 900),
    "rivals": (laws.Finite([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]], [0.25] * 4), 900, 1, 250),
}


def summary(X, kind):
    parts = np.array_split(X, 2) if kind == "two shards" else [X]
    return merge_flags([Flag(X.shape[1]).update(part) for part in parts])


def certificate(X, kind, first, last, subspace=None):
    k = pilot_rows(len(X))
    pilot = Flag(X.shape[1]).update(X[:k])
    certifier = Certifier.of_pilot(
        pilot, len(X), Window("index", first, last), confidence=CONFIDENCE
    )
    runs = 2 if kind == "two shards" else 1
    return certifier.update(X[k:]).certificate(subspace, runs=runs)


def spaces(flag, last):
    """V_1, …, V_last, equal spaces as one value."""
    found = []
    for level in flag.levels():
        found += [flag.span_at(level.first)] * min(level.multiplicity, last - len(found))
    return found + [None] * (last - len(found))


def disagreement(first, second, t_min, t_max):
    left, right, known = spaces(first, t_max), spaces(second, t_max), {}
    for V, W in zip(left, right, strict=True):  # each two spaces are compared once
        if (id(V), id(W)) not in known:
            known[id(V), id(W)] = V != W
    pairs = zip(left[t_min - 1 :], right[t_min - 1 :], strict=True)
    bad = sum(known[id(V), id(W)] for V, W in pairs)
    return float(Fraction(bad, t_max - t_min + 1))


def truths(law, m, kind, t_min, t_max, count, seed):
    rng = np.random.RandomState(seed)
    flags = [summary(law.sample(m, rng), kind) for _ in range(2 * count)]
    return [disagreement(*flags[i : i + 2], t_min, t_max) for i in range(0, 2 * count, 2)]


@pytest.mark.parametrize(
    ("count", "number"), [(80, 40), pytest.param(600, 400, marks=pytest.mark.statistical)]
)
@pytest.mark.parametrize("kind", ["flag", "two shards"])
@pytest.mark.parametrize("name", CASES)
def test_certified_rho_covers_the_truth(name, kind, count, number):
    """Not below the truth in more than a tenth of the samples; a hundredth of it would be."""
    law, m, first, last = CASES[name]
    values = truths(law, m, kind, first, last, count, seed=1)
    truth = lower_limit(values)
    rng = np.random.RandomState(2)
    rhos = [certificate(law.sample(m, rng), kind, first, last).rho or 1.0 for _ in range(number)]
    assert holds([rho < truth for rho in rhos], 1 - CONFIDENCE)
    if truth > 0.02:  # the hundredth of a certificate is no certificate
        assert violated([rho / 100 < truth for rho in rhos], 1 - CONFIDENCE)


@pytest.mark.parametrize("kind", ["flag", "two shards"])
def test_a_certified_range_is_met_by_fresh_samples(kind):
    """V_t is this very space at both ends of the range, as often as is said."""
    law, m, first, last = CASES["gap"]
    plane = Subspace.span(np.eye(6, dtype=int)[:3])
    rng = np.random.RandomState(3)
    fresh = [summary(law.sample(m, rng), kind) for _ in range(150)]
    found, wrong = 0, []
    for _ in range(40):
        outcome = certificate(law.sample(m, rng), kind, first, last, plane)
        if outcome.t_first is None:
            continue
        found += 1
        misses = [
            flag.span_at(outcome.t_first) != plane or flag.span_at(outcome.t_last) != plane
            for flag in fresh
        ]
        wrong.append(violated(misses, 1 - CONFIDENCE) or law.uncovered(plane) > outcome.eps)
    assert found > 20
    assert holds(wrong, 1 - CONFIDENCE)


def test_rows_that_come_in_runs_break_a_certificate():
    """Independence is needed: with every row sent twenty times, what lies outside is misjudged."""
    law, m, first, last = CASES["gap"]
    plane = Subspace.span(np.eye(6, dtype=int)[:3])
    rng = np.random.RandomState(4)
    samples = [np.repeat(law.sample(m // 20, rng), 20, axis=0) for _ in range(100)]
    shares = [certificate(X, "flag", first, last, plane).eps for X in samples]
    wrong = [eps is not None and eps < law.uncovered(plane) for eps in shares]
    assert violated(wrong, 1 - CONFIDENCE)
