"""Draw the pictures of README and user guide: ``python -m scripts.pictures`` writes docs/images.

overview.svg: how many equations elimination and the replicable span find in two captures of the
frames of examples/demo.py, and how many rows a promise needs. first-fit.svg, staircases.svg: what a
flag is. All data are made here from fixed seeds, and the files carry no time stamp.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from examples import demo
from flagstone import AffineSpan, Flag, IndexRule, Subspace, plan
from flagstone.distributions import geometric
from flagstone.plots import OKABE_ITO, save_figure, style

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
SEED = 2026
WINDOW = {
    "rule": IndexRule(t_min=0.012, t_max=0.020)
}  # fractions of the rows, from a look at other frames
SIZES = [50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000]
CERTIFIED = 20_000  # as in the table that scripts/certificate_table.py prints; checked below


def found(X: np.ndarray) -> tuple[int, int, str]:
    """Return how many equations elimination and the flag find, and the latter's fingerprint."""
    everything = np.column_stack([X, np.ones(len(X), dtype=X.dtype)])
    model = AffineSpan(**WINDOW, random_state=SEED).fit(X)
    return 42 - Subspace.span(everything).dim, len(model.constraints_.lines), model.fingerprint_


def equations(axis: Axes) -> None:
    """Draw the number of equations against the number of frames, for two captures."""
    captures = {lab: demo.capture(number) for lab, number in (("A", 1), ("B", 2))}
    marks = {"A": ("o", -0.03), "B": ("s", 0.03)}
    prints = []
    for lab, X in captures.items():
        plain, ours, last = zip(*(found(X[:m]) for m in SIZES), strict=True)
        prints.append(last[-1])
        marker, shift = marks[lab]
        x = [m * (1 + shift) for m in SIZES]
        axis.plot(x, plain, ":", marker=marker, color=OKABE_ITO["vermillion"],
                  label=f"elimination, capture {lab}")  # fmt: skip
        axis.plot(x, ours, "-", marker=marker, color=OKABE_ITO["blue"],
                  label=f"flagstone, capture {lab}")  # fmt: skip
        model = AffineSpan(**WINDOW, random_state=SEED).fit(X[:CERTIFIED])
        assert (model.guarantee_.certified.rho or 1) <= 0.05
    assert prints[0] == prints[1], "the two captures must agree"
    axis.axhline(8, color=OKABE_ITO["grey"], linestyle="--", linewidth=0.8, zorder=0)
    axis.annotate("planted: 8", (SIZES[-1], 8.3), ha="right", va="bottom", fontsize=8)
    axis.set_xscale("log")
    axis.set_ylim(-0.6, 16)
    axis.set_xlabel("frames captured (one in fifty is damaged)")
    axis.set_ylabel("check equations found")
    axis.set_title(f"both captures, one seed: {prints[0][:16]}", loc="left")
    axis.legend(loc="upper right")


def rows_needed(axis: Axes) -> None:
    """Draw the rows that the promise ρ ≤ 0.05 takes, in three ways."""
    rows = plan(dim=42, rho=0.05, eps=0.1)
    bars = {
        "the paper's analysis": (rows["paper (printed)"].rows, "orange"),
        "proven here": (rows["index"].rows, "sky"),
        "certified from\nthe rows": (CERTIFIED, "blue"),
    }
    for place, (number, color) in enumerate(reversed(bars.values())):
        assert number is not None
        axis.barh(place, number, 0.6, color=OKABE_ITO[color])
        exponent = int(np.floor(np.log10(number)))
        large = f"${number / 10**exponent:.1f}\\cdot 10^{{{exponent}}}$"
        text = f"{number:,}" if number < 1e6 else large
        axis.annotate(text, (number, place), xytext=(4, 0), textcoords="offset points",
                      va="center", fontsize=8)  # fmt: skip
    axis.set_yticks(range(3), list(reversed(bars)))
    axis.set_xscale("log")
    axis.set_xlim(1e3, 1e21)
    axis.grid(axis="y", visible=False)
    axis.set_xlabel("rows until two captures agree\nwith probability 0.95")


def first_fit(figure: Figure) -> None:
    """Draw how seven rows of three bits fall into sets."""
    axis = figure.subplots()
    rows = ["100", "010", "110", "001", "100", "010", "110"]
    sets = [["100", "010", "001"], ["110", "100"], ["010", "110"]]
    spans = ["everything", "the rows ??0", "the rows ??0"]
    axis.set_xlim(0, 10)
    axis.set_ylim(-0.3, 4.2)
    axis.axis("off")
    colors = {"100": "blue", "010": "orange", "110": "green", "001": "vermillion"}

    def tile(x: float, y: float, text: str) -> None:
        color = OKABE_ITO[colors[text]]
        box = FancyBboxPatch((x, y), 0.62, 0.5, boxstyle="round,pad=0.02", color=color, alpha=0.85)
        axis.add_patch(box)
        axis.text(x + 0.31, y + 0.24, text, ha="center", va="center", color="white",
                  family="monospace", fontsize=9, weight="bold")  # fmt: skip

    axis.text(0.1, 3.75, "rows, as they come", fontsize=9)
    for i, row in enumerate(rows):
        tile(2.5 + 0.8 * i, 3.6, row)
    for j, (members, span) in enumerate(zip(sets, spans, strict=True)):
        y = 2.4 - 1.1 * j
        axis.text(0.1, y + 0.15, f"A{j + 1}", fontsize=11, weight="bold")
        for i, row in enumerate(members):
            tile(1.0 + 0.8 * i, y, row)
        axis.text(4.0, y + 0.2, f"spans {span}: dimension {len(members)}", fontsize=9, va="center")
    flag = Flag(3).update([[int(bit) for bit in row] for row in rows])
    assert [flag.dim_at(j) for j in (1, 2, 3)] == [len(members) for members in sets]


def staircases(figure: Figure) -> None:
    """Draw three flags: with a gap, without one, and of too few rows."""
    axes = figure.subplots(1, 3, sharey=True)
    frames = demo.capture(1)[:4000]
    frames = np.column_stack([frames, np.ones(len(frames), dtype=frames.dtype)])
    slope = geometric(42).sample(4000, np.random.RandomState(1))
    titles = ["a gap: one long step", "no gap: a slope", "too few rows: no step"]
    for axis, rows, title in zip(axes, (frames, slope, frames[:90]), titles, strict=True):
        flag = Flag(42).update(rows)
        levels = flag.levels()
        edges = [0.5] + [level.last + 0.5 for level in levels]
        dims = [level.dim for level in levels]
        axis.stairs(dims, edges, fill=True, color=OKABE_ITO["sky"], alpha=0.7)
        axis.stairs(dims, edges, color=OKABE_ITO["blue"], linewidth=1.2)
        axis.set_title(f"{title} ({len(rows):,} rows)", loc="left")
        axis.set_xlabel("set j")
        axis.set_ylim(0, 44)
    axes[1].set_xscale("log")
    axes[0].set_ylabel("dimension of its span")


def main() -> None:
    """Draw all of them."""
    with style():
        figure = Figure(figsize=(8.2, 2.9), layout="constrained")
        left, right = figure.subplots(1, 2, width_ratios=[3, 2])
        equations(left)
        rows_needed(right)
        save_figure(figure, IMAGES / "overview.svg")
        for name, draw, size in (
            ("first-fit", first_fit, (6.4, 2.5)),
            ("staircases", staircases, (8.2, 2.3)),
        ):
            figure = Figure(figsize=size, layout="constrained")
            draw(figure)
            save_figure(figure, IMAGES / f"{name}.svg")


if __name__ == "__main__":
    main()
