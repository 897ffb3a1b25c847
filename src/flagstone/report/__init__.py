"""Reports: one self-contained page about a finding."""

from flagstone.report.page import date_of, html_report, report_date, write_report
from flagstone.report.view import AnswerView

__all__ = [
    "AnswerView",
    "date_of",
    "html_report",
    "report_date",
    "write_report",
]
