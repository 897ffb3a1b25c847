"""The scaling plot: rows per second over m and over d, from results alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.harness import Result

__all__ = ["draw"]

OURS, M4RI, GREY = "#b3441e", "#2b5c8a", "#6b7280"
LOWEST, HIGHEST = 1.0, 5e8


class Line(NamedTuple):
    """One curve: its points, and how it looks."""

    label: str
    x: np.ndarray
    rate: np.ndarray
    style: str
    color: str
    width: float = 1.2


def draw(results: Sequence[Result], path: Path) -> None:
    """Draw both panels into one file."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    settings = {"font.size": 10, "svg.hashsalt": "flagstone", "svg.fonttype": "none"}
    with plt.rc_context(settings):
        figure, (left, right) = plt.subplots(1, 2, figsize=(12, 5), sharey=True)
        for axes, lines in ((left, _over_m(results)), (right, _over_d(results))):
            axes.set(xscale="log", yscale="log", ylim=(LOWEST, HIGHEST))
            axes.grid(True, which="major", color="#e5e7eb", linewidth=0.8)
            axes.set_axisbelow(True)
            axes.spines[["top", "right"]].set_visible(False)
            for line in lines:
                axes.plot(line.x, line.rate, line.style, ms=4.5, color=line.color, lw=line.width)
            _label(axes, lines)
        left.set(xlabel="rows m", ylabel="rows per second", xlim=(150, 6e9))
        left.set_xticks([10**k for k in range(3, 9)])
        left.minorticks_off()
        left.set_title("the rate does not fall with the number of rows", fontsize=11)
        right.set(xlabel="columns d", xlim=(16, 14000))
        right.set_xticks([20, 64, 128, 512, 1024, 2048], labels=[20, 64, 128, 512, 1024, 2048])
        right.minorticks_off()
        right.set_title("uniform rows over GF(2), one thread", fontsize=11)
        figure.tight_layout()
        metadata = {"Date": None} if path.suffix == ".svg" else None
        figure.savefig(path, dpi=150, metadata=metadata)
        plt.close(figure)


def _over_m(results: Sequence[Result]) -> list[Line]:
    growth = [r for r in results if r.suite == "growth" and r.unit == "s"]
    lines = []
    for dim, style in ((20, "o-"), (64, "s--")):
        for who, color, width in (("flagstone", OURS, 2.2), ("M4RI", M4RI, 1.4)):
            m, rate = _series(growth, who, dim)
            lines.append(Line(f"{who}, d = {dim}", m, rate, style, color, width))
    for dim, style in ((20, "o"), (64, "s")):
        m, rate = _series(growth, "naive", dim)
        lines.append(Line("", m, rate, style, GREY))
        if dim == 20 and len(m):
            grid = np.geomspace(m[0], 1e8, 200)
            # O(m² d³) for all rows is O(m d³) for one: a line through the last measured point.
            lines.append(
                Line("literal partition, O(m² d³)", grid, rate[-1] * m[-1] / grid, ":", GREY)
            )
    return [line for line in lines if len(line.x)]


def _over_d(results: Sequence[Result]) -> list[Line]:
    uniform = [r for r in results if r.case.startswith("uniform d=")]
    packed = [r for r in uniform if r.suite == "flag_gf2"]
    plain = [r for r in uniform if r.suite == "flag_uint8"]
    lines = [
        Line("flagstone", *_rates(packed, "flagstone"), "o-", OURS, 2.2),
        Line("flagstone, from uint8", *_rates(plain, "flagstone"), "o--", OURS),
        Line("M4RI", *_rates(packed, "M4RI"), "s-", M4RI, 1.4),
        Line("M4RI, default entry", *_rates(packed, "M4RI default"), "s--", M4RI),
        Line("NumPy packed loop", *_rates(packed, "NumPy loop"), "d-", "#6d8c3f"),
        Line("ldpc", *_rates(plain, "ldpc"), "^-", "#8a6fb0"),
        Line("python-flint", *_rates(plain, "python-flint"), "v-", "#c9971c"),
        Line("galois", *_rates(plain, "galois"), "x-", "#3f8f8c"),
    ]
    first = next((r for r in plain if r.who == "naive"), None)
    if first is not None and first.rows and first.dim:
        # The naive curve at m = 10^4 rows, through the measured point of the smallest d.
        d = np.geomspace(first.dim, 2048, 200)
        rate = first.rate * first.rows / 10**4 * (first.dim / d) ** 3
        lines.append(Line("literal partition, O(m² d³), m = 10⁴", d, rate, ":", GREY))
    return [line for line in lines if len(line.x)]


def _label(axes: Any, lines: Sequence[Line]) -> None:
    """Write each label at the end of its line, moved apart where they would overlap."""
    ends = []
    for line in lines:
        seen = line.rate >= LOWEST
        if line.label and seen.any():
            ends.append((float(line.rate[seen][-1]), float(line.x[seen][-1]), line))
    right = max((x for rate, x, _ in ends if rate >= 3 * LOWEST), default=1.0)
    gap = 1.9  # a factor, since the axis is logarithmic
    below = np.inf
    for rate, x, line in sorted(ends, key=lambda end: -end[0]):
        height = min(rate, below / gap)
        low = rate < 3 * LOWEST
        if not low:
            below = height
        axes.annotate(
            line.label,
            (x, 2 * LOWEST) if low else (right, height),
            xytext=(8, 0),
            textcoords="offset points",
            va="center",
            fontsize=8.5,
            color=line.color,
            annotation_clip=False,
        )


def _rates(results: Sequence[Result], who: str) -> tuple[np.ndarray, np.ndarray]:
    found = sorted((r.dim or 0, r.rate) for r in results if r.who == who)
    return np.array([d for d, _ in found]), np.array([rate for _, rate in found])


def _series(results: Sequence[Result], who: str, dim: int) -> tuple[np.ndarray, np.ndarray]:
    found = sorted((r.rows or 0, r.rate) for r in results if r.who == who and r.dim == dim)
    return np.array([m for m, _ in found]), np.array([rate for _, rate in found])
