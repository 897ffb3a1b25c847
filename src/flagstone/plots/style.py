"""One look for every figure: column width, a colour-blind safe palette, atomic files.

Colour never carries meaning alone: each series also has its own marker and dash pattern, so the
figures survive grey-scale printing.
"""

from __future__ import annotations

import importlib.util
import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, cast

from flagstone.disk import atomic_write
from flagstone.errors import InputError, MissingDependencyError

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
    from matplotlib.figure import Figure
else:
    Axes = Any  # a name for annotations that does not load matplotlib

#: Width of one journal column, in inches.
COLUMN_WIDTH = 3.3

#: Okabe and Ito's palette: distinguishable under every common colour vision deficiency.
OKABE_ITO = {
    "black": "#000000",
    "orange": "#E69F00",
    "sky": "#56B4E9",
    "green": "#009E73",
    "yellow": "#F0E442",
    "blue": "#0072B2",
    "vermillion": "#D55E00",
    "purple": "#CC79A7",
    "grey": "#7F7F7F",
}


@dataclass(frozen=True)
class SeriesStyle:
    """How one kind of learner or bound is drawn, the same in every figure."""

    label: str
    color: str
    marker: str
    dashes: str

    @property
    def line(self) -> dict[str, Any]:
        """The look of a line, as matplotlib takes it."""
        return {"linestyle": self.dashes, "color": self.color, "marker": self.marker}


#: The cast of the figures. A reader who has seen one figure can read the next.
SERIES = {
    "index": SeriesStyle("index rule (ours)", OKABE_ITO["blue"], "o", "-"),
    "heavy": SeriesStyle("heavy rule (paper)", OKABE_ITO["orange"], "s", "--"),
    "elimination": SeriesStyle("elimination", OKABE_ITO["vermillion"], "^", ":"),
    "private": SeriesStyle("pure-DP learner", OKABE_ITO["purple"], "D", "-."),
    "printed": SeriesStyle("printed", OKABE_ITO["black"], "x", ":"),
    "corrected": SeriesStyle("corrected", OKABE_ITO["grey"], "v", "--"),
    "sharp": SeriesStyle("sharp", OKABE_ITO["green"], "P", "-."),
    "measured": SeriesStyle("measured", OKABE_ITO["blue"], "o", "-"),
}

_RC: dict[str, Any] = {
    "figure.dpi": 150,
    "savefig.dpi": 300,
    "font.size": 8.0,
    "axes.titlesize": 8.0,
    "axes.labelsize": 8.0,
    "xtick.labelsize": 7.0,
    "ytick.labelsize": 7.0,
    "legend.fontsize": 6.5,
    "legend.frameon": False,
    "legend.handlelength": 2.2,
    "legend.borderaxespad": 0.3,
    "lines.linewidth": 1.2,
    "lines.markersize": 3.0,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.linewidth": 0.4,
    "grid.alpha": 0.35,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "svg.hashsalt": "flagstone",
    "svg.fonttype": "path",
    "font.family": "DejaVu Sans",
}


def need_matplotlib() -> None:
    """Say what to install if matplotlib is missing, before any work is done."""
    if importlib.util.find_spec("matplotlib") is None:
        raise MissingDependencyError(
            "drawing needs matplotlib: pip install 'flagstone[plot]' (the scree plot of an "
            "answer as .svg needs nothing)"
        )


@contextmanager
def style() -> Iterator[None]:
    """Apply the common look inside a ``with`` block, and only there."""
    need_matplotlib()
    import matplotlib

    with matplotlib.rc_context(cast(Any, _RC)):
        yield


#: Kinds of files, and what is left out of them so that equal figures are equal bytes.
_STAMPS = {".svg": "Date", ".pdf": "CreationDate", ".png": "Software"}


def save_figure(figure: Figure, path: str | os.PathLike[str]) -> Path:
    """Write a figure as PNG, SVG or PDF (by suffix), atomically and without a time stamp."""
    return _write(path, lambda suffix: _image(figure, suffix))


def _image(figure: Figure, suffix: str) -> bytes:
    stream = io.BytesIO()
    with style():
        figure.savefig(stream, format=suffix[1:], metadata={_STAMPS[suffix]: None})
    return stream.getvalue()


def _write(path: str | os.PathLike[str], image: Callable[[str], bytes]) -> Path:
    target = Path(path)
    suffix = target.suffix.lower()
    if suffix not in _STAMPS:
        raise InputError(f"a figure is saved as .png, .svg or .pdf, got {target.name!r}")
    target.parent.mkdir(parents=True, exist_ok=True)
    atomic_write(target, image(suffix), overwrite=True)
    return target


class Display:
    """Numbers first, drawing second: a subclass keeps plain numbers and draws them on demand.

    Subclasses set ``panels`` (how many axes ``plot`` needs), ``size`` in inches, and implement
    ``_draw(axes)``. As with the displays of scikit-learn, :meth:`plot` returns the display, with
    ``figure_`` and ``ax_`` (a list of axes where there are several panels).
    """

    panels: tuple[int, int] = (1, 1)
    size: tuple[float, float] = (COLUMN_WIDTH, 2.3)
    figure_: Figure | None = None
    ax_: Axes | list[Axes] | None = None

    def _draw(self, axes: list[Axes]) -> None:
        raise NotImplementedError

    def plot(self, ax: Axes | list[Axes] | str | os.PathLike[str] | None = None) -> Self:
        """Draw on the given axes (one per panel), on a new figure of pyplot, or into a file.

        Notebooks show a new figure below the cell, and ``pyplot.show()`` does elsewhere.
        """
        if isinstance(ax, (str, os.PathLike)):
            self.save(ax)
            return self
        if ax is None:
            return self._draw_on(self._new_axes(shown=True))
        axes = list(ax) if isinstance(ax, (list, tuple)) else [ax]
        wanted = self.panels[0] * self.panels[1]
        if len(axes) != wanted:
            raise InputError(f"this display draws {wanted} panels, got {len(axes)} axes")
        return self._draw_on(axes)

    def _new_axes(self, *, shown: bool) -> list[Axes]:
        """Return the axes of a new figure, from left to right, top down.

        One that is ``shown`` is pyplot's, which keeps it until it is closed.
        """
        need_matplotlib()
        from matplotlib.figure import Figure

        # made outside of the style, for what a notebook sets at its first figure would end with it
        options: Any = {"figsize": self.size, "dpi": _RC["figure.dpi"], "layout": "constrained"}
        if shown:
            from matplotlib import pyplot

            figure = pyplot.figure(**options)
        else:
            figure = Figure(**options)
        with style():
            axes = figure.subplots(*self.panels, squeeze=False)
        return [axis for line in axes for axis in line]

    def _draw_on(self, axes: list[Axes]) -> Self:
        self.figure_ = axes[0].get_figure(root=True)
        self.ax_ = axes[0] if len(axes) == 1 else axes
        with style():
            self._draw(axes)
        return self

    def image(self, suffix: str) -> bytes:
        """Draw (if needed) and return the figure as the bytes of a .png, .svg or .pdf file."""
        if self.figure_ is None:
            self._draw_on(self._new_axes(shown=False))
        assert self.figure_ is not None
        return _image(self.figure_, suffix)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Draw (if needed) and write the figure; the suffix chooses PNG, SVG or PDF."""
        return _write(path, self.image)


def caption(axis: Axes, text: str) -> None:
    """Say above a panel, in small print, what it is about."""
    axis.set_title(text, loc="left", fontsize=7)
