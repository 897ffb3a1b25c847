"""Print the headline figures of the README: ``python -m scripts.headlines``.

Rows needed are `plan`'s, and those of a certificate that is made here. Agreement is counted over
pairs of fresh captures of the frames of examples/demo.py (41 bits, one frame in fifty damaged).
(`make bench` writes the speeds.)
"""

from __future__ import annotations

import statistics

import numpy as np

from examples import demo
from flagstone import AffineSpan, IndexRule, plan
from scripts.pictures import CERTIFIED, SEED, WINDOW

PAIRS, SMALL = 200, 500


def captures(rows: int, number: int) -> list[np.ndarray]:
    """Return fresh captures of this many frames."""
    return [demo.capture(1000 + i, rows) for i in range(number)]


def agreement(samples: list[np.ndarray], parameters: dict[str, IndexRule]) -> tuple[float, float]:
    """Return how often two captures agree, and how often the answer is the planted one."""
    planted = demo.planted().fingerprint()
    learner = AffineSpan(**parameters, random_state=SEED, certify=False)
    found = [learner.fit(X).fingerprint_ for X in samples]
    same = [a == b for a, b in zip(found[::2], found[1::2], strict=True)]
    return statistics.mean(same), statistics.mean(f == planted for f in found)


def main() -> None:
    """Print all of them."""
    rows = plan(dim=42, rho=0.05, eps=0.1)
    for analysis, name in (("paper (printed)", "the paper's analysis"), ("index", "index rule")):
        print(f"rows until two captures agree with probability 0.95, {name}: ", end="")
        print(f"{rows[analysis].rows:.2g}")
    [X] = captures(CERTIFIED, 1)
    rho = AffineSpan(**WINDOW, random_state=SEED).fit(X).guarantee_.certified.rho
    print(f"certified by {CERTIFIED:,} rows: disagreement at most {rho:.1g}")
    samples = captures(SMALL, 2 * PAIRS)
    for name, parameters in (
        ("elimination", {"rule": IndexRule(t_min=1, t_max=1)}),
        ("flagstone", WINDOW),
    ):
        same, right = agreement(samples, parameters)
        print(f"{PAIRS} pairs of captures of {SMALL} frames, {name}: ", end="")
        print(f"the same in {same:.1%}, the planted checks in {right:.1%}")


if __name__ == "__main__":
    main()
