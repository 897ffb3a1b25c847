"""Is d³ necessary? Rounding by foams against one threshold, on laws of unit vectors.

    python scripts/foam_study.py            # the table of docs/theory/open.md, some seconds

Unit vectors are seen independently (Poisson counts). The index rule keeps those seen t times, t
uniform on {1..T}. A foam rounds the vector of 2·√count, in units of s, to the centre of a random
cell, and keeps the vectors whose centre is at least 1/2. Both lose at most d·T rows if s² = 4T.
Disagreement of the foam is computed by importance sampling, without its exponential search.
"""

from __future__ import annotations

import math
import sys

import numpy as np

Array = np.ndarray


def offsets(shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    """Draw from the density 2·cos²(πy) on (−1/2, 1/2), by rejection."""
    out = np.empty(math.prod(shape))
    filled = 0
    while filled < len(out):
        y = rng.random(2 * (len(out) - filled)) - 0.5
        y = y[rng.random(len(y)) < np.cos(math.pi * y) ** 2][: len(out) - filled]
        out[filled : filled + len(y)] = y
        filled += len(y)
    return out.reshape(shape)


def foam_disagreement(x: Array, y: Array, rng: np.random.Generator, draws: int = 400) -> float:
    """P[two points are rounded to different centres]: (2 − 2A)/(2 − A), A = E min(1, f_y/f_x).

    The first random cell that holds x or y decides; f_x is the density of its centre if it holds x.
    """
    centres = x + offsets((draws, len(x)), rng)
    away = np.abs(centres - y)
    inside = (away < 0.5).all(axis=1)
    ratio = (np.cos(math.pi * away) / np.cos(math.pi * (centres - x))) ** 2
    overlap = float(np.where(inside, np.minimum(1, ratio.prod(axis=1)), 0.0).mean())
    return (2 - 2 * overlap) / (2 - overlap)


def foam_bound(dim: int, scale: float) -> float:
    """2π·√(8d)/s: the bound of docs/theory/open.md."""
    return 2 * math.pi * math.sqrt(8 * dim) / scale


def threshold_disagreement(a: Array, b: Array, length: int) -> float:
    """The share of t in {1..T} that lie between the counts of some vector in the two samples."""
    low, high = np.minimum(a, b), np.minimum(np.maximum(a, b), length)
    between = np.zeros(length + 2, dtype=np.int64)
    np.add.at(between, np.minimum(low, length) + 1, 1)
    np.add.at(between, high + 1, -1)
    return float(np.count_nonzero(np.cumsum(between)[1 : length + 1] > 0) / length)


def level_disagreement(a: Array, b: Array, length: int) -> float:
    """Correlated sampling of a level by its multiplicity in the window: 2·TV/(1 + TV)."""

    def multiplicities(counts: Array) -> dict[bytes, int]:
        ends = np.unique(np.minimum(counts[counts > 0], length))
        found: dict[bytes, int] = {}
        for first, last in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True):
            found[np.packbits(counts >= last).tobytes()] = last - first
        empty = np.packbits(np.zeros(len(counts), bool)).tobytes()
        return found | {empty: length - sum(found.values())}

    one, two = multiplicities(a), multiplicities(b)
    far = 1 - sum(min(n, two.get(key, 0)) for key, n in one.items()) / length
    return 2 * far / (1 + far)


def compare(dim: int, length: int, pairs: int, seed: int) -> tuple[float, ...]:
    """Return how often two samples disagree, by one threshold, a level and a foam."""
    rng = np.random.default_rng(seed)
    scale, found = 2 * math.sqrt(length), []
    for _ in range(pairs):
        means = rng.permutation((np.arange(dim) + 0.5) / dim) * length
        a, b = rng.poisson(means), rng.poisson(means)
        x, y = 2 * np.sqrt(a) / scale, 2 * np.sqrt(b) / scale
        draws = max(20, min(400, 100_000 // dim))
        found.append(
            (
                threshold_disagreement(a, b, length),
                level_disagreement(a, b, length),
                foam_disagreement(x, y, rng, draws),
            )
        )
    return tuple(np.mean(found, axis=0).tolist())


def main() -> int:
    print("| d | T | one threshold | one level | foam | its bound |")
    print("|---|---|---|---|---|---|")
    for dim in (10, 30, 100, 300, 1000):
        for length in (100 * dim, 4 * dim * dim):
            one, level, foam = compare(dim, length, 40 if dim > 100 else 200, dim)
            bound = min(1.0, foam_bound(dim, 2 * math.sqrt(length)))
            print(f"| {dim} | {length:,} | {one:.2f} | {level:.2f} | {foam:.2f} | {bound:.2f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
