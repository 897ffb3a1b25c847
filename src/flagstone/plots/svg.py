"""The scree plot as plain SVG: no plotting library, any theme, any size.

Dimension of V_j against the set index j. The window that the threshold was drawn from is
shaded, the margin around the threshold shaded again, and the threshold drawn as a line; of the
heavy rule, whose threshold is a number of sets, the step that reaches it is drawn bold.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flagstone.plots.scree import ScreeDisplay

X_LABEL, Y_LABEL = "set index j", "dimension of V(j)"
WIDTH, HEIGHT = 720.0, 360.0
#: The plot within the drawing: its ends, its upper edge, and the height of dimension 0.
LEFT, RIGHT, TOP, BASE = 72.0, 702.0, 38.0, 298.0

STYLE = """
.scree { --ink: #1c2430; --soft: #5b6675; --grid: #d9dee6; --stair: #0b62a8; --window: #56b4e9;
  --mark: #c04a00; --margin: #e69f00; font: 13px system-ui, sans-serif; }
@media (prefers-color-scheme: dark) { .scree { --ink: #e6eaf0; --soft: #a3adbb; --grid: #333c48;
  --stair: #6cb6f5; --window: #56b4e9; --mark: #ff9a57; --margin: #e6a72c; } }
@media print { .scree { --ink: #000; --soft: #444; --grid: #ccc; --stair: #0b62a8;
  --mark: #c04a00; } }
.scree text { fill: var(--soft); } .scree .strong { fill: var(--ink); }
.scree .grid { stroke: var(--grid); stroke-width: 1; }
.scree .axis { stroke: var(--soft); stroke-width: 1; }
.scree .stair { fill: none; stroke: var(--stair); stroke-width: 2.5; stroke-linejoin: round; }
.scree .under { fill: var(--stair); opacity: .08; }
.scree .window { fill: var(--window); opacity: .22; }
.scree .margin { fill: var(--margin); opacity: .45; }
.scree .mark { stroke: var(--mark); stroke-width: 2; stroke-dasharray: 5 3; }
.scree .bold { stroke: var(--mark); stroke-width: 5; }
@media (max-width: 34rem) { .scree { font-size: 23px; } .scree .stair { stroke-width: 4; } }
@media print { .scree { font-size: 13px; } .scree .stair { stroke-width: 2.5; } }
.scree .dot { fill: var(--mark); } .scree .mark-text { fill: var(--mark); font-weight: 600; }
"""


def scree_svg(scree: ScreeDisplay, *, standalone: bool = False) -> str:
    """Draw a flag; a drawing that stands alone (a file) carries its own style and keys."""
    paper = (
        f"<style>{STYLE}.scree {{ background: var(--paper, #fff); }} "
        "@media (prefers-color-scheme: dark) { .scree { --paper: #14181f; } }</style>"
    )
    drawing = ScreeDrawing(scree)
    return (
        f'<svg class="scree" xmlns="http://www.w3.org/2000/svg" role="img" '
        f'viewBox="0 0 {WIDTH:g} {HEIGHT:g}" aria-labelledby="scree-title">'
        f'<title id="scree-title">{scree.describe()}</title>'
        f"{paper if standalone else ''}{''.join(drawing.parts())}"
        f"{drawing.keys() if standalone else ''}</svg>"
    )


class ScreeDrawing:
    """Where sets and dimensions stand in the drawing, and what is drawn there."""

    def __init__(self, scree: ScreeDisplay) -> None:
        self.scree = scree
        self._end = scree.end + 0.5
        self._top = 1.04 * max(scree.stairs.ambient_dim, 1)

    def x(self, j: float) -> float:
        """Return the place of a set, linear or logarithmic, within the plot."""
        low, j = 0.5, min(max(j, 0.5), self._end)
        if self.scree.is_log:
            share = math.log(j / low) / math.log(self._end / low)
        else:
            share = (j - low) / (self._end - low)
        return LEFT + share * (RIGHT - LEFT)

    def y(self, dim: float) -> float:
        """Return the height of a dimension."""
        return BASE - (BASE - TOP) * dim / self._top

    def steps(self) -> list[tuple[float, float, float]]:
        """Return for each step its left and right end, and its height."""
        return [
            (self.x(step.first - 0.5), self.x(step.last + 0.5), self.y(step.dim))
            for step in self.scree.stairs.levels
        ]

    def parts(self) -> Iterator[str]:
        """Yield the elements, from the back to the front."""
        scree, t = self.scree, self.scree.threshold
        height = self.y(scree.chosen_dim or 0)
        if scree.sets is not None:
            a, b = self.x(scree.sets[0] - 0.5), self.x(scree.sets[1] + 0.5)
            yield _rect("window", a, TOP, max(1.5, b - a), BASE - TOP)
        yield from self._grid()
        if t is not None and scree.margin and scree.sets is not None:
            a, b = self.x(t - scree.margin - 0.5), self.x(t + scree.margin + 0.5)
            yield _rect("margin", a, height - 9, max(2.0, b - a), 18, ' rx="4"')
        points = [(x, y) for left, right, y in self.steps() for x in (left, right)]
        if points:
            path = "M" + " L".join(f"{x:.1f} {y:.1f}" for x, y in [*points, (points[-1][0], BASE)])
            yield f'<path class="under" d="{path} L{points[0][0]:.1f} {BASE:.1f} Z"/>'
            yield f'<path class="stair" d="{path}"/>'
        if t is not None:
            yield from self._choice(t, height)

    def _choice(self, t: float, height: float) -> Iterator[str]:
        """Mark the threshold and its answer, and say both in words."""
        step = self.scree.chosen
        if self.scree.sets is not None:
            at = self.x(t)
            yield f'<line class="mark" x1="{at:.1f}" x2="{at:.1f}" y1="{TOP}" y2="{BASE:.1f}"/>'
            yield f'<circle class="dot" cx="{at:.1f}" cy="{height:.1f}" r="5"/>'
        else:
            low, high = (
                (self.x(step.first - 0.5), self.x(step.last + 0.5)) if step else (LEFT, LEFT)
            )
            at = (low + high) / 2
            yield (
                f'<line class="bold" x1="{low:.1f}" x2="{max(low + 2, high):.1f}" '
                f'y1="{height:.1f}" y2="{height:.1f}"/>'
            )
        anchor, shift = ("end", -8) if at > WIDTH * 0.6 else ("start", 8)
        yield (
            f'<text class="mark-text" x="{at + shift:.1f}" y="{TOP - 12:.1f}" '
            f'text-anchor="{anchor}">{self.scree.choice}</text>'
        )

    def keys(self) -> str:
        """Return what the shades mean."""
        scree, y = self.scree, HEIGHT - 12
        if scree.sets is None:
            return ""
        keys = [("window", f"window {scree.sets[0]:,}–{scree.sets[1]:,}", LEFT)]
        if scree.margin:
            keys.append(("margin", f"margin {scree.margin:,}", WIDTH - 150))
        return "".join(
            f'<rect class="{name}" x="{x}" y="{y - 9}" width="16" height="10"/>'
            f'<text x="{x + 22}" y="{y}">{text}</text>'
            for name, text, x in keys
        )

    def _grid(self) -> Iterator[str]:
        for dim in _ticks(max(self.scree.stairs.ambient_dim, 1), 5):
            y = self.y(dim)
            yield f'<line class="grid" x1="{LEFT}" x2="{RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
            yield f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{dim:g}</text>'
        yield f'<line class="axis" x1="{LEFT}" x2="{RIGHT}" y1="{BASE}" y2="{BASE}"/>'
        sets = [t for t in _ticks(self._end, 6) if t >= 1] or [1]
        if self.scree.is_log:
            sets = [10**power for power in range(math.floor(math.log10(self._end)) + 1)]
        for j in sets:
            x, y = self.x(j), BASE + 22
            yield f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle">{j:,.0f}</text>'
        scale = ", logarithmic" if self.scree.is_log else ""
        yield (
            f'<text class="strong" x="{(LEFT + RIGHT) / 2}" y="{HEIGHT - 8}" '
            f'text-anchor="middle">{X_LABEL}{scale}</text>'
        )
        yield (
            f'<text class="strong" transform="translate(22 {(TOP + BASE) / 2:.1f}) rotate(-90)" '
            f'text-anchor="middle">{Y_LABEL}</text>'
        )


def _rect(name: str, x: float, y: float, width: float, height: float, more: str = "") -> str:
    return (
        f'<rect class="{name}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
        f'height="{height:.1f}"{more}/>'
    )


def _ticks(high: float, about: int) -> list[float]:
    """Return round numbers from 0 to ``high``.

    >>> _ticks(41, 5)
    [0, 10, 20, 30, 40]
    """
    raw = high / about
    power = 10 ** math.floor(math.log10(raw))
    step = max(1, next(s * power for s in (1, 2, 5, 10) if s * power >= raw))
    return [i * step for i in range(math.floor(high / step) + 1)]
