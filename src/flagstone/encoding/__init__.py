"""Encodings: how the columns of a table become elements of a field, and labels again.

Values of the core: an encoding is a function of its own text alone, never of the data, so that
two people who publish it encode alike.
"""

from flagstone.encoding._column import (
    MARKERS,
    MISSING,
    BadEntry,
    ColumnEncoder,
    frame_lengths,
    texts,
)
from flagstone.encoding._encoding import Encoding
from flagstone.encoding._monomials import Monomials
from flagstone.encoding._news import News, news
from flagstone.encoding._words import cells, constant_text, number_text, worded, worded_rule

__all__ = [
    "MARKERS",
    "MISSING",
    "BadEntry",
    "ColumnEncoder",
    "Encoding",
    "Monomials",
    "News",
    "cells",
    "constant_text",
    "frame_lengths",
    "news",
    "number_text",
    "texts",
    "worded",
    "worded_rule",
]
