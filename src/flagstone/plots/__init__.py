"""Displays: objects that keep the numbers of a figure and draw them on request.

Importing this package does not import matplotlib; drawing does.
"""

from flagstone.plots.scree import ScreeDisplay
from flagstone.plots.style import OKABE_ITO, SERIES, Display, save_figure, style

__all__ = [
    "OKABE_ITO",
    "SERIES",
    "Display",
    "ScreeDisplay",
    "save_figure",
    "style",
]
