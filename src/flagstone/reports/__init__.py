"""Reports: one self-contained page, and the scree plot, of a finding."""

from flagstone.reports.page import date_of, html_report, report_date, write_report
from flagstone.reports.plot import need_matplotlib, plot_bytes
from flagstone.reports.scree import scree_svg

__all__ = [
    "date_of",
    "html_report",
    "need_matplotlib",
    "plot_bytes",
    "report_date",
    "scree_svg",
    "write_report",
]
