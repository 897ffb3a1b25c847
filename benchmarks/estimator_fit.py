"""What the scikit-learn layer adds: a bare ``fit`` against packing and a flag update."""

from __future__ import annotations

import numpy as np

from benchmarks import inputs
from benchmarks.harness import Bench, Contestant
from flagstone import BitRows, Flag, ParityClassifier, pack

ROWS, FEATURES = 10**6, 63


def run(bench: Bench) -> None:
    """Fit a planted parity of 63 features, labels 0 and 1."""
    m = bench.scale(ROWS)
    X = inputs.bit_rows("uniform", m, FEATURES).unpack()
    y = np.bitwise_xor.reduce(X[:, ::7], axis=1)
    both = np.ascontiguousarray(np.column_stack([X, y]))
    packed = pack(both)

    def pack_and_update(_: object) -> None:
        Flag(FEATURES + 1).update(pack(both))

    def fit(_: object) -> None:
        ParityClassifier(fit_intercept=False, random_state=2026, certify=False).fit(X, y)

    bench.compare(
        f"d={FEATURES}",
        [
            Contestant("pack + update", m, pack_and_update),
            Contestant("update", m, lambda _: _update(packed)),
            Contestant("fit", m, fit),
        ],
        dim=FEATURES,
        seconds=4.0,
    )


def _update(packed: BitRows) -> None:
    Flag(FEATURES + 1).update(packed)
