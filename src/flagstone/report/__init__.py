"""Reports: one self-contained page, and the scree plot, of a finding."""

from flagstone.report.page import date_of, html_report, report_date, write_report
from flagstone.report.scree import plot_bytes, scree_svg
from flagstone.report.view import AnswerView

__all__ = [
    "AnswerView",
    "date_of",
    "html_report",
    "plot_bytes",
    "report_date",
    "scree_svg",
    "write_report",
]
