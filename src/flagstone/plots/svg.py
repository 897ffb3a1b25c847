"""The scree plot as plain SVG: no plotting library, any theme, any size.

Dimension of V_j against the set index j. The window that the threshold was drawn from is
shaded, the margin around the threshold shaded again, and the threshold drawn as a line; of the
heavy rule, whose threshold is a number of sets, the step that reaches it is drawn bold.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flagstone.plots.scree import ScreeDisplay

X_LABEL, Y_LABEL = "set index j", "dimension of V(j)"
WIDTH, HEIGHT = 720.0, 360.0
LEFT, RIGHT, TOP, BOTTOM = 72.0, 18.0, 38.0, 62.0

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
    """Draw a flag.

    Parameters
    ----------
    scree : ScreeDisplay
    standalone : bool
        Whether the drawing must carry its own style (a file) or finds it in the page.
    """
    style = f"<style>{STYLE}.scree {{ background: var(--paper, #fff); }} "
    style += "@media (prefers-color-scheme: dark) { .scree { --paper: #14181f; } }</style>"
    return (
        f'<svg class="scree" xmlns="http://www.w3.org/2000/svg" role="img" '
        f'viewBox="0 0 {WIDTH:g} {HEIGHT:g}" aria-labelledby="scree-title">'
        f'<title id="scree-title">{scree.describe()}</title>'
        f"{style if standalone else ''}{_body(scree)}{_keys(scree) if standalone else ''}</svg>"
    )


def set_place(scree: ScreeDisplay, j: float) -> float:
    """Return the place of a set in the drawing."""
    return _Axis(scree)(j)


def step_places(scree: ScreeDisplay) -> list[tuple[float, float, float]]:
    """Return the place of each step in the drawing: its left and right end, and its height."""
    x, y = _Axis(scree), _heights(max(scree.stairs.ambient_dim, 1))
    steps = scree.stairs.levels
    return [(x(step.first - 0.5), x(step.last + 0.5), y(step.dim)) for step in steps]


def _body(scree: ScreeDisplay) -> str:
    x, y = _Axis(scree), _heights(max(scree.stairs.ambient_dim, 1))
    base = y(0)
    parts = []
    if scree.sets is not None:
        parts.append(_band("window", x, scree.sets[0] - 0.5, scree.sets[1] + 0.5, base))
    t = scree.threshold
    parts += _grid(scree, x, y)
    dim = scree.chosen_dim or 0
    if t is not None and scree.margin and scree.sets is not None:
        low, high = x(t - scree.margin - 0.5), x(t + scree.margin + 0.5)
        parts.append(
            f'<rect class="margin" x="{low:.1f}" y="{y(dim) - 9:.1f}" '
            f'width="{max(2.0, high - low):.1f}" height="18" rx="4"/>'
        )
    if scree.stairs.levels:
        points = []
        for left, right, height in step_places(scree):
            points += [(left, height), (right, height)]
        points.append((points[-1][0], base))
        path = " ".join(
            f"{'M' if i == 0 else 'L'}{a:.1f} {b:.1f}" for i, (a, b) in enumerate(points)
        )
        parts.append(f'<path class="under" d="{path} L{points[0][0]:.1f} {base:.1f} Z"/>')
        parts.append(f'<path class="stair" d="{path}"/>')
    if t is not None:
        parts += _choice(scree, t, x, y(dim), base)
    return "".join(parts)


def _choice(scree: ScreeDisplay, t: float, x: _Axis, height: float, base: float) -> list[str]:
    """Mark the threshold and its answer, and say both in words."""
    if scree.sets is not None:
        at = x(t)
        marks = [
            f'<line class="mark" x1="{at:.1f}" x2="{at:.1f}" y1="{TOP}" y2="{base:.1f}"/>',
            f'<circle class="dot" cx="{at:.1f}" cy="{height:.1f}" r="5"/>',
        ]
    else:
        step = scree.chosen
        low, high = (x(step.first - 0.5), x(step.last + 0.5)) if step else (x(0.5), x(0.5))
        at = (low + high) / 2
        marks = [
            f'<line class="bold" x1="{low:.1f}" x2="{max(low + 2, high):.1f}" '
            f'y1="{height:.1f}" y2="{height:.1f}"/>'
        ]
    anchor = "end" if at > WIDTH * 0.6 else "start"
    shift = -8 if anchor == "end" else 8
    return [
        *marks,
        f'<text class="mark-text" x="{at + shift:.1f}" y="{TOP - 12:.1f}" '
        f'text-anchor="{anchor}">{scree.choice}</text>',
    ]


def _keys(scree: ScreeDisplay) -> str:
    """Return what the shades mean, for a drawing without a page."""
    if scree.sets is None:
        return ""
    y = HEIGHT - 12
    keys = [("window", f"window {scree.sets[0]:,}–{scree.sets[1]:,}", LEFT)]
    if scree.margin:
        keys.append(("margin", f"margin {scree.margin:,}", WIDTH - 150))
    return "".join(
        f'<rect class="{name}" x="{x}" y="{y - 9}" width="16" height="10"/>'
        f'<text x="{x + 22}" y="{y}">{text}</text>'
        for name, text, x in keys
    )


def _grid(scree: ScreeDisplay, x: _Axis, y: Callable[[float], float]) -> list[str]:
    parts = []
    right, base = WIDTH - RIGHT, y(0)
    for dim in _ticks(0, max(scree.stairs.ambient_dim, 1), 5):
        at = y(dim)
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{right}" y1="{at:.1f}" y2="{at:.1f}"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{at + 4:.1f}" text-anchor="end">{dim:g}</text>')
    parts.append(f'<line class="axis" x1="{LEFT}" x2="{right}" y1="{base}" y2="{base}"/>')
    for tick in x.ticks():
        at = x(tick)
        parts.append(
            f'<text x="{at:.1f}" y="{base + 22:.1f}" text-anchor="middle">{tick:,.0f}</text>'
        )
    middle = (LEFT + right) / 2
    scale = ", logarithmic" if scree.is_log else ""
    parts.append(
        f'<text class="strong" x="{middle}" y="{HEIGHT - 8}" text-anchor="middle">'
        f"{X_LABEL}{scale}</text>"
    )
    high = (TOP + base) / 2
    parts.append(
        f'<text class="strong" transform="translate(22 {high:.1f}) rotate(-90)" '
        f'text-anchor="middle">{Y_LABEL}</text>'
    )
    return parts


def _band(name: str, x: _Axis, low: float, high: float, base: float) -> str:
    a, b = x(low), x(high)
    return (
        f'<rect class="{name}" x="{a:.1f}" y="{TOP}" width="{max(1.5, b - a):.1f}" '
        f'height="{base - TOP:.1f}"/>'
    )


class _Axis:
    """From a set index to a place on the page, linear or logarithmic, clipped to the plot."""

    def __init__(self, scree: ScreeDisplay) -> None:
        self._log = scree.is_log
        self._end = scree.end + 0.5
        self._low = 0.5

    def __call__(self, value: float) -> float:
        value = min(max(value, self._low), self._end)
        if self._log:
            share = math.log(value / self._low) / math.log(self._end / self._low)
        else:
            share = (value - self._low) / (self._end - self._low)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def ticks(self) -> list[float]:
        """Return the marks of the axis."""
        if not self._log:
            return [t for t in _ticks(0, self._end, 6) if t >= 1] or [1.0]
        powers = range(math.floor(math.log10(self._end)) + 1)
        return [10.0**power for power in powers]


def _heights(top: int) -> Callable[[float], float]:
    base = HEIGHT - BOTTOM
    return lambda value: base - (base - TOP) * value / (top * 1.04)


def _ticks(low: float, high: float, about: int) -> list[float]:
    """Return round numbers that cover an interval.

    >>> _ticks(0, 41, 5)
    [0, 10, 20, 30, 40]
    """
    raw = (high - low) / about
    power = 10 ** math.floor(math.log10(raw)) if raw > 0 else 1
    step = next(s * power for s in (1, 2, 5, 10) if s * power >= raw)
    step = max(1, step)
    return [i * step for i in range(math.ceil(low / step), math.floor(high / step) + 1)]
