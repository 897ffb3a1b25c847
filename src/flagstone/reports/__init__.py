"""Reports: one self-contained page, and the scree plot, of a saved model."""

from flagstone.reports.page import html_report
from flagstone.reports.plot import need_matplotlib, plot_bytes
from flagstone.reports.scree import Scree, scree_svg

__all__ = ["Scree", "html_report", "need_matplotlib", "plot_bytes", "scree_svg"]
