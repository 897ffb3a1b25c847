"""The scree plot of a flag: how fast the spans of the partition shrink."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flagstone.plots.style import OKABE_ITO, Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from flagstone.flag import Flag

__all__ = ["X_LABEL", "Y_LABEL", "ScreeDisplay", "is_log_axis"]

X_LABEL, Y_LABEL = "set index j", "dimension of V(j)"


def is_log_axis(window: tuple[float, float] | None, end: float) -> bool:
    """Say whether the sets need a logarithmic axis: a window of a few sets among many.

    Every drawing of a flag asks this, so that a report and a figure show the same picture.

    >>> is_log_axis((1, 50), 100), is_log_axis((1, 50), 1000), is_log_axis(None, 1000)
    (False, True, False)
    """
    return window is not None and window[1] < end / 12


@dataclass(frozen=True)
class Step:
    """Sets ``first .. last`` of the partition span spaces of dimension ``dim``."""

    first: int
    last: int
    dim: int


@dataclass
class ScreeDisplay(Display):
    """Dimension of the span of each set of the partition, with the window of the rule.

    A long flat step is a subspace that many sets agree on: a threshold inside it has a wide
    margin. Read pilot data off this plot to choose ``t_min`` and ``t_max``.

    Parameters
    ----------
    steps : tuple of Step
        The staircase, from the first set to the last.
    ambient_dim : int
        Dimension of the rows.
    window : (int, int) or None
        First and last set the threshold was drawn from (index rule only).
    threshold : float or None
        The threshold that was drawn.
    margin : int or None
        No fewer altered rows than this can change the answer.
    chosen_dim : int or None
        Dimension of the subspace that was chosen.
    rule : str or None
        "index" or "heavy".

    Examples
    --------
    >>> from flagstone import Flag
    >>> from flagstone.plots import ScreeDisplay
    >>> flag = Flag(3).update([[1, 0, 0]] * 5 + [[0, 1, 0]] * 2)
    >>> [(s.first, s.last, s.dim) for s in ScreeDisplay.from_flag(flag).steps]
    [(1, 2, 2), (3, 5, 1)]
    """

    steps: tuple[Step, ...]
    ambient_dim: int
    window: tuple[int, int] | None = None
    threshold: float | None = None
    margin: int | None = None
    chosen_dim: int | None = None
    rule: str | None = None

    @classmethod
    def from_flag(cls, flag: Flag, result: Any = None) -> ScreeDisplay:
        """Read the staircase off a flag, and the decision off a result where one is given.

        Parameters
        ----------
        flag : Flag
        result : SpanResult, optional
            What :func:`flagstone.rep_linear_span` returned for this flag.
        """
        steps = tuple(
            Step(int(level.first_index), int(level.first_index + level.multiplicity - 1), level.dim)
            for level in flag.levels()
        )
        if result is None:
            return cls(steps, flag.dim)
        window = result.window
        return cls(
            steps,
            flag.dim,
            window=(window.start + 1, int(window.end)) if result.rule == "index" else None,
            threshold=float(result.threshold),
            margin=None if result.margin is None else int(result.margin),
            chosen_dim=int(result.subspace.dim),
            rule=str(result.rule),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers of the plot as plain data."""
        return {
            "steps": [[s.first, s.last, s.dim] for s in self.steps],
            "ambient_dim": self.ambient_dim,
            "window": None if self.window is None else list(self.window),
            "threshold": self.threshold,
            "margin": self.margin,
            "chosen_dim": self.chosen_dim,
            "rule": self.rule,
        }

    @property
    def end(self) -> float:
        """The right end of the axis: the last set, or the end of the window."""
        last = self.steps[-1].last if self.steps else 1
        return float(max(last, self.window[1] if self.window else 1))

    @property
    def is_log(self) -> bool:
        """Whether the axis of the sets is logarithmic (see :func:`is_log_axis`)."""
        return is_log_axis(self.window, self.end)

    def _draw(self, axes: list[Axes]) -> None:
        axis = axes[0]
        last = self.steps[-1].last if self.steps else 1
        if self.is_log:
            axis.set_xscale("log")
        right = self.end + 0.5
        blue = OKABE_ITO["blue"]
        if self.window is not None:
            axis.axvspan(
                self.window[0] - 0.5,
                self.window[1] + 0.5,
                color=OKABE_ITO["sky"],
                alpha=0.22,
                linewidth=0,
                label=f"window {self.window[0]:,}–{self.window[1]:,}",
            )
        # A stairs outline: set j occupies (j - 1/2, j + 1/2), and spans nothing past the last.
        edges = [0.5] + [s.last + 0.5 for s in self.steps]
        dims = [s.dim for s in self.steps]
        axis.stairs(dims, edges, color=blue, alpha=0.08, fill=True)
        axis.stairs(dims, edges, color=blue, linewidth=1.6, baseline=None)
        axis.plot(
            [last + 0.5, last + 0.5, right], [self._lowest(), 0, 0], color=blue, linewidth=1.6
        )
        if self.rule == "index" and self.threshold is not None:
            self._draw_index_choice(axis)
        elif self.rule == "heavy" and self.threshold is not None:
            self._draw_heavy_choice(axis, OKABE_ITO["vermillion"])
        axis.set_xlim(0.5, right)
        axis.set_ylim(0, 1.04 * max(self.ambient_dim, 1))
        axis.set_xlabel(X_LABEL + (", logarithmic" if self.is_log else ""))
        axis.set_ylabel(Y_LABEL)
        axis.locator_params(axis="y", integer=True)
        if axis.get_legend_handles_labels()[0]:
            axis.legend(loc="best")

    def _lowest(self) -> int:
        return self.steps[-1].dim if self.steps else 0

    def _draw_index_choice(self, axis: Axes) -> None:
        t, dim, mark = self.threshold, self.chosen_dim, OKABE_ITO["vermillion"]
        assert t is not None
        if self.margin:
            axis.plot(
                [max(t - self.margin - 0.5, 0.5), min(t + self.margin + 0.5, self.end + 0.5)],
                [dim or 0, dim or 0],
                color=OKABE_ITO["orange"],
                alpha=0.45,
                linewidth=8,
                solid_capstyle="butt",
                label=f"margin {self.margin:,}",
            )
        label = f"t = {t:,.0f}" + ("" if dim is None else f", dimension {dim}")
        axis.axvline(t, color=mark, linewidth=1.3, linestyle="--", label=label)
        if dim is not None:
            axis.plot([t], [dim], "o", color=mark, markersize=5, zorder=5, clip_on=False)

    def _draw_heavy_choice(self, axis: Axes, color: str) -> None:
        for step in self.steps:
            if step.dim == self.chosen_dim:
                axis.plot(
                    [step.first - 0.5, step.last + 0.5],
                    [step.dim, step.dim],
                    color=color,
                    linewidth=3.5,
                    solid_capstyle="butt",
                    zorder=5,
                    label=(
                        f"answer: dimension {step.dim}, {step.last - step.first + 1} sets "
                        f"(threshold {self.threshold:.4g})"
                    ),
                )
