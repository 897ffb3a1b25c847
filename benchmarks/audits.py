"""What an audit adds to the runs that it makes: 200 pairs against their 400 seeded fits."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

from benchmarks.harness import Bench, Contestant
from flagstone import audit

SHAPE, PAIRS = (2000, 20), 200


def run(bench: Bench) -> None:
    """Audit a logistic regression; and only fit it, on samples of the same size, with seeds."""
    X, y = make_classification(*SHAPE, random_state=0)
    model = LogisticRegression()
    pairs = PAIRS // 10 if bench.quick else PAIRS
    halves = audit(model, X, y, pairs=1).data
    size = int(halves.partition("(")[2].partition(" ")[0])
    rng = np.random.RandomState(0)
    samples = [rng.permutation(len(X))[:size] for _ in range(2 * pairs)]

    def fits(_: object) -> None:
        for i, rows in enumerate(samples):  # the two fits of a pair share a seed
            clone(model).set_params(random_state=i // 2).fit(X[rows], y[rows])

    def audited(_: object) -> None:
        audit(model, X, y, pairs=pairs)

    bench.compare(
        f"{SHAPE[0]} x {SHAPE[1]}",
        [Contestant("fits", 2 * pairs, fits), Contestant("audit", 2 * pairs, audited)],
        seconds=20.0,
    )
