"""Print what certificates prove on a few laws, and what they cost: the numbers of the theory page.

    python -m scripts.certificate_table            # everything, a few minutes
    python -m scripts.certificate_table --quick    # three samples of each

Frames are those of examples/demo.py (33 skewed payload bits, 8 check bits, a constant), damaged
independently. The window is the one that contamination 0.02 and eps 0.1 ask for, or 60 thresholds
in the middle of the longest level of separate pilot rows. "figure 1" is the paper's law D(e_i) =
2^-i in arrival order. All at 99 % confidence; the first tenth of the rows is the pilot.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable

import numpy as np

from examples import demo
from flagstone import Flag, distributions, pack
from flagstone.algebra.bitrows import BitRows
from flagstone.certificates import Certifier, pilot_rows
from flagstone.guarantees import Certificate, Window

EPS, CONTAMINATION = 0.1, 0.02


def frames(m: int, seed: int, damaged: float) -> BitRows:
    """Return m frames (x, 1) of the demo, each damaged with this probability."""
    random = np.random.RandomState(seed)
    K, c = demo.digest_matrix()
    payload = (random.random_sample((m, 33)) < np.geomspace(0.5, 0.06, 33)).astype(np.uint8)
    bits = np.concatenate([payload, (payload @ K + c) % 2], axis=1).astype(np.uint8)
    hit = np.flatnonzero(random.random_sample(m) < damaged)
    bits[hit] ^= (random.random_sample((len(hit), 41)) < 0.1).astype(np.uint8)
    return pack(np.concatenate([bits, np.ones((m, 1), np.uint8)], axis=1))


def figure_1(m: int, seed: int) -> BitRows:
    """Return m rows of the paper's experiment, in the order they come."""
    return pack(distributions.geometric(20).sample(m, np.random.RandomState(seed)))


def planted(m: int, seed: int, dim: int = 512, rank: int = 480) -> BitRows:
    """Return m rows of a random subspace, one in a hundred of them uniform."""
    random = np.random.RandomState(seed)
    basis = random.randint(0, 2, size=(rank, dim)).astype(np.float32)
    rows = (random.randint(0, 2, size=(m, rank)).astype(np.float32) @ basis % 2).astype(np.uint8)
    hit = random.random_sample(m) < 0.01
    rows[hit] = random.randint(0, 2, size=(int(hit.sum()), dim))
    return pack(rows)


def asked(m: int, dim: int = 42) -> Window:
    """Return the window that contamination and eps ask for."""
    start = math.ceil(CONTAMINATION * m)
    return Window("index", start + 1, start + 1 + math.floor(EPS * m / dim))


def middle(rows: BitRows, length: int = 60) -> Window:
    """Return thresholds in the middle of the longest level."""
    level = max(Flag(rows.dim).update(rows).levels(), key=lambda level: level.multiplicity)
    first = max(1, (level.first + level.last - length) // 2)
    return Window("index", first, first + length - 1)


def certify(rows: BitRows, window: Window) -> tuple[Certificate, float]:
    """Return the certificate of the space that matters most, and the seconds of the one pass."""
    k = pilot_rows(len(rows))
    pilot = Flag(rows.dim).update(rows[:k])
    certifier = Certifier.of_pilot(pilot, len(rows), window)
    begin = time.process_time()
    certifier.update(rows[k:])
    seconds = time.process_time() - begin
    plan = certifier.plan
    heaviest = plan.weights.index(max(plan.weights))
    return certifier.certificate(plan.spaces.subspace(heaviest)), seconds


def line(name: str, m: int, draw: Callable[[int], tuple[BitRows, Window]], seeds: int) -> None:
    """Print one row of the table: median and largest ρ over the seeds, one range, times."""
    rhos, costs, fits, spans = [], [], [], []
    for seed in range(seeds):
        rows, window = draw(seed)
        outcome, seconds = certify(rows, window)
        begin = time.process_time()
        _ = Flag(rows.dim).update(rows[pilot_rows(m) :]).rank
        fits.append(time.process_time() - begin)
        rhos.append(1.0 if outcome.rho is None else outcome.rho)
        costs.append(seconds)
        spans.append((outcome.t_first, outcome.t_last))
    first, last = spans[0]
    certain = "none" if first is None else f"{first}..{last}"
    print(
        f"{name:24} {m:9,} {window!s:>16} {np.median(rhos):10.2g} "
        f"{max(rhos):10.2g} {certain:>14} {min(costs) / min(fits):8.1f}",
        flush=True,
    )


def main() -> int:
    seeds = 3 if "--quick" in sys.argv[1:] else 12
    print(
        f"{'law':24} {'rows':>9} {'window':>16} {'median ρ':>10} {'largest':>10} "
        f"{'certain t':>14} {'cost/fit':>8}"
    )
    for m in (15_000, 20_000, 30_000, 40_000, 50_000):
        line("frames, 2 % damaged", m, lambda s, m=m: (frames(m, s, 0.02), asked(m)), seeds)
    for m in (5_000, 10_000, 20_000, 50_000):

        def draw(seed: int, m: int = m) -> tuple[BitRows, Window]:
            return frames(m, seed, 0.005), middle(frames(m, 1000 + seed, 0.005))

        line("frames, 0.5 % damaged", m, draw, seeds)
    for m in (100_000, 1_000_000, 3_000_000):
        window = Window("index", 1, 1 + m // 200)
        line("figure 1", m, lambda s, m=m, w=window: (figure_1(m, s), w), min(seeds, 4))
    for m in (50_000, 200_000):
        window = Window("index", m // 1000, m // 600)
        line("planted, 512 columns", m, lambda s, m=m, w=window: (planted(m, s), w), 2)
    line("frames, 2 % damaged", 10**6, lambda s: (frames(10**6, s, 0.02), asked(10**6)), 2)
    return 0


if __name__ == "__main__":
    sys.exit(main())
