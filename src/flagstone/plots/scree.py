"""The scree plot of a flag: how fast the spans of the partition shrink."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flagstone.algebra import Level, Staircase
from flagstone.checks import owner_of
from flagstone.errors import InputError
from flagstone.guarantees import Window
from flagstone.plots.style import OKABE_ITO, Axes, Display
from flagstone.plots.svg import X_LABEL, Y_LABEL, scree_svg

if TYPE_CHECKING:
    from flagstone.algebra.flag import Flag
    from flagstone.finding import Finding


@dataclass(repr=False)
class ScreeDisplay(Display):
    """Dimension of the span of each set of the partition, with the choice that was made.

    A long flat step is a subspace that many sets agree on: a threshold inside it has a wide
    margin. Read pilot data off this plot to choose ``t_min`` and ``t_max``. Reports and ``.svg``
    files are drawn without matplotlib.

    Parameters
    ----------
    stairs : Staircase
        From the first set to the last.
    window : Window or None
        What the threshold was drawn from.
    threshold : float or None
        The threshold that was drawn: a set (index rule), or a number of sets (heavy rule).
    margin : int or None
        The answer does not change if up to this many rows are altered.
    chosen_dim : int or None
        Dimension of the subspace that was chosen.

    Examples
    --------
    >>> from flagstone import Flag
    >>> from flagstone.plots import ScreeDisplay
    >>> display = ScreeDisplay.from_flag(Flag(3).update([[1, 0, 0]] * 5 + [[0, 1, 0]] * 2))
    >>> print(display.describe())
    The spans shrink from dimension 2 at set 1 to dimension 1 at set 5.
    """

    stairs: Staircase
    window: Window | None = None
    threshold: float | None = None
    margin: int | None = None
    chosen_dim: int | None = None

    @classmethod
    def from_flag(cls, flag: Flag) -> ScreeDisplay:
        """Read the staircase off a flag."""
        return cls(Staircase.of(flag))

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Axes | None = None) -> ScreeDisplay:
        """Draw the staircase of a fitted estimator, or of the last step of a pipeline.

        Examples
        --------
        >>> from flagstone import LinearSpan
        >>> fitted = LinearSpan(random_state=7).fit([[1, 1, 0], [0, 1, 1]] * 50)
        >>> display = ScreeDisplay.from_estimator(fitted)
        >>> display.ax_.get_ylabel()
        'dimension of V(j)'
        """
        owner = owner_of(estimator, "finding_")
        if owner is None:
            raise InputError(
                f"{type(estimator).__name__} has no finding_; fit a learner of flagstone"
            )
        return cls.of(owner.finding_).plot(ax)

    @classmethod
    def of(cls, finding: Finding) -> ScreeDisplay:
        """Read the staircase and the choice off a finding."""
        V = finding.subspace
        dim = None if V is None else V.dim
        return cls(finding.stairs, finding.window, finding.threshold, finding.margin, dim)

    @property
    def sets(self) -> tuple[int, int] | None:
        """First and last set of the window; thresholds of the heavy rule are not sets."""
        if self.window is None or self.window.rule != "index":
            return None
        return self.window.t_min, int(self.window.t_max)

    @property
    def end(self) -> float:
        """The right end of the axis: the last set, or the end of the window."""
        return float(max(self.stairs.n_sets, 1, *(self.sets or ())))

    @property
    def is_log(self) -> bool:
        """Whether the window would be invisible on a linear axis: a few sets among many."""
        return self.sets is not None and self.sets[1] < self.end / 12

    @property
    def chosen(self) -> Level | None:
        """The step of the answer; None for {0}, and where nothing was chosen."""
        return next((s for s in self.stairs.levels if s.dim == self.chosen_dim), None)

    @property
    def choice(self) -> str | None:
        """The choice in a few words."""
        if self.threshold is None:
            return None
        if self.sets is not None:
            return f"t = {self.threshold:,.0f}, dimension {self.chosen_dim}"
        if self.chosen is None:
            return f"t = {self.threshold:,.4g}: no step has this many sets"
        sets = self.chosen.multiplicity
        return f"t = {self.threshold:,.4g} ≤ {sets:,} sets, dimension {self.chosen_dim}"

    def describe(self) -> str:
        """Return the plot as a sentence, for those who cannot see it."""
        if not self.stairs.levels:
            return "No set spans anything: all rows are zero."
        first, last = self.stairs.levels[0], self.stairs.levels[-1]
        text = (
            f"The spans shrink from dimension {first.dim} at set 1 to dimension {last.dim} at set "
            f"{last.last:,}."
        )
        if self.threshold is None:
            return text
        if self.sets is None:
            return f"{text} The threshold {self.threshold:,.4g} was drawn from {self.window}."
        low, high = self.sets
        return (
            f"{text} The threshold {self.threshold:,.0f} was drawn from sets {low:,} to {high:,}."
        )

    def __repr__(self) -> str:
        return f"ScreeDisplay({self.describe()})"

    def image(self, suffix: str) -> bytes:
        """Return the figure as the bytes of a file; ``.svg`` needs no matplotlib."""
        if suffix == ".svg" and self.figure_ is None:
            return (scree_svg(self, standalone=True) + "\n").encode()
        return super().image(suffix)

    def _draw(self, axes: list[Axes]) -> None:
        axis, levels, right = axes[0], self.stairs.levels, self.end + 0.5
        if self.is_log:
            axis.set_xscale("log")
        if self.sets is not None:
            low, high = self.sets
            window: Any = {"color": OKABE_ITO["sky"], "alpha": 0.22, "linewidth": 0}
            axis.axvspan(low - 0.5, high + 0.5, label=f"window {low:,}–{high:,}", **window)
        # Set j occupies (j - 1/2, j + 1/2); past the last one nothing is spanned.
        edges = [0.5, *(step.last + 0.5 for step in levels), right]
        dims = [*(step.dim for step in levels), 0]
        axis.stairs(dims, edges, color=OKABE_ITO["blue"], alpha=0.08, fill=True)
        axis.stairs(dims, edges, color=OKABE_ITO["blue"], linewidth=1.6, baseline=None)
        if self.threshold is not None:
            self._draw_choice(axis, self.threshold, self.chosen_dim or 0)
        axis.set(xlim=(0.5, right), ylim=(0, 1.04 * max(self.stairs.ambient_dim, 1)))
        axis.set(xlabel=X_LABEL + (", logarithmic" if self.is_log else ""), ylabel=Y_LABEL)
        axis.locator_params(axis="y", integer=True)
        if axis.get_legend_handles_labels()[0]:
            axis.legend(loc="best")

    def _draw_choice(self, axis: Axes, t: float, dim: int) -> None:
        def bar(low: float, high: float, **look: Any) -> None:
            axis.plot([low, high], [dim, dim], solid_capstyle="butt", **look)

        mark = OKABE_ITO["vermillion"]
        if self.sets is None:
            step = self.chosen or Level(0, 1, 1)
            look: Any = {"color": mark, "linewidth": 3.5, "zorder": 5, "label": self.choice}
            bar(step.first - 0.5, step.last + 0.5, **look)
            return
        if self.margin:
            ends = (max(t - self.margin - 0.5, 0.5), min(t + self.margin, self.end) + 0.5)
            look = {"color": OKABE_ITO["orange"], "alpha": 0.45, "linewidth": 8}
            bar(*ends, label=f"margin {self.margin:,}", **look)
        axis.axvline(t, color=mark, linewidth=1.3, linestyle="--", label=self.choice)
        axis.plot([t], [dim], "o", color=mark, markersize=5, zorder=5, clip_on=False)
