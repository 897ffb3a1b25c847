"""The scree plot as a file: SVG of our own, PNG through matplotlib."""

from __future__ import annotations

import importlib.util
import io

from flagstone.errors import MissingDependencyError
from flagstone.plots import ScreeDisplay
from flagstone.report.scree import scree_svg


def need_matplotlib() -> None:
    """Say what to install if matplotlib is missing, before any work is done."""
    if importlib.util.find_spec("matplotlib") is None:
        raise MissingDependencyError(
            "a PNG plot needs matplotlib: install it with pip install 'flagstone[plot]', or "
            "write an .svg, which needs nothing"
        )


def plot_bytes(scree: ScreeDisplay, suffix: str) -> bytes:
    """Return a scree plot as the bytes of an ``.svg`` or ``.png`` file."""
    if suffix == ".svg":
        return (scree_svg(scree, standalone=True) + "\n").encode()
    need_matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 4.0), layout="constrained")
    FigureCanvasAgg(figure)
    scree.plot(ax=figure.subplots())
    stream = io.BytesIO()
    # no date inside: equal runs write equal bytes
    figure.savefig(stream, format="png", dpi=150, metadata={"Software": None})
    return stream.getvalue()
