"""The scaling plot: rows per second over m and over d, from results alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import Result

__all__ = ["draw"]

OURS, M4RI, GREY = "#b3441e", "#2b5c8a", "#6b7280"


def draw(results: Sequence[Result], path: Path) -> None:
    """Draw both panels into one file."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams.update({"font.size": 10, "svg.hashsalt": "flagstone", "svg.fonttype": "none"})
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.6), sharey=True)
    _over_m(left, results)
    _over_d(right, results)
    for axes in (left, right):
        axes.set(xscale="log", yscale="log", ylim=(1, 3e9))
        axes.grid(True, which="major", color="#e5e7eb", linewidth=0.8)
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_axisbelow(True)
    left.set_ylabel("rows per second")
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    metadata = {"Date": None} if path.suffix == ".svg" else None
    figure.savefig(path, dpi=150, metadata=metadata)
    plt.close(figure)


def _over_m(axes: Any, results: Sequence[Result]) -> None:
    growth = [r for r in results if r.suite == "growth" and r.unit == "s"]
    for dim, style, marker in ((20, "-", "o"), (64, "--", "s")):
        for who, color in (("flagstone", OURS), ("M4RI", M4RI)):
            m, rate = _series(growth, who, dim)
            axes.plot(m, rate, style, marker=marker, ms=4, color=color, label=f"{who}, d = {dim}")
        m, rate = _series(growth, "naive", dim)
        if len(m):
            axes.plot(m, rate, marker, ms=4, color=GREY, label=f"literal partition, d = {dim}")
            grid = np.geomspace(m[0], 1e8, 50)
            # O(m² d³) in all is O(m d³) per row, through the last measured point.
            axes.plot(grid, rate[-1] * m[-1] / grid, ":", color=GREY, lw=1.2)
    axes.set(xlabel="rows m", title="flat in m: one pass, O(d²) memory")
    axes.legend(fontsize=8, frameon=False, loc="lower left")


def _over_d(axes: Any, results: Sequence[Result]) -> None:
    lines = (
        ("flag_gf2", "flagstone", "flagstone", OURS, "o-", 2.4),
        ("flag_gf2", "M4RI", "M4RI, fast entry", M4RI, "s-", 1.6),
        ("flag_gf2", "M4RI default", "M4RI, default entry", M4RI, "s--", 1.0),
        ("flag_uint8", "flagstone", "flagstone, from uint8", OURS, "o--", 1.2),
        ("flag_gf2", "NumPy loop", "NumPy packed loop", "#6d8c3f", "d-", 1.0),
        ("flag_uint8", "ldpc", "ldpc", "#8a6fb0", "^-", 1.0),
        ("flag_uint8", "python-flint", "python-flint", "#c9971c", "v-", 1.0),
        ("flag_uint8", "galois", "galois", "#3f8f8c", "x-", 1.0),
    )
    for suite, who, label, color, style, width in lines:
        mine = [r for r in results if r.suite == suite and r.case.startswith("uniform")]
        found = sorted((r.dim or 0, r.rate) for r in mine if r.who == who)
        if found:
            d, rate = zip(*found, strict=True)
            axes.plot(d, rate, style, ms=4, color=color, lw=width, label=label)
    naive = [r for r in results if r.suite == "flag_uint8" and r.who == "naive"]
    sizes = {r.dim: r.rows for r in results if r.suite == "flag_uint8" and r.who == "flagstone"}
    if naive and naive[0].dim and naive[0].rows:
        first = naive[0]
        constant = 1 / (first.rate * first.rows * first.dim**3)
        d = sorted(dim for dim in sizes if dim)
        rate = [1 / (constant * (sizes[dim] or 1) * dim**3) for dim in d]
        axes.plot(d, rate, ":", color=GREY, lw=1.2, label="literal partition, O(m² d³)")
    axes.set(xlabel="columns d", title="uniform rows over GF(2), one thread")
    axes.legend(fontsize=8, frameon=False, loc="lower left", ncols=2)


def _series(results: Sequence[Result], who: str, dim: int) -> tuple[np.ndarray, np.ndarray]:
    found = sorted((r.rows or 0, r.rate) for r in results if r.who == who and r.dim == dim)
    return np.array([m for m, _ in found]), np.array([rate for _, rate in found])
