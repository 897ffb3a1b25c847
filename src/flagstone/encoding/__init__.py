"""Encodings: how the columns of a table become elements of a field, and labels again.

Values of the core: an encoding is a function of its own text alone, never of the data, so that
two people who publish it encode alike.
"""

from flagstone.encoding._column import ENCODERS, MARKERS, ColumnEncoder, number_text
from flagstone.encoding._encoders import (
    MISSING,
    MOST_CATEGORIES,
    Element,
    Hex,
    Levels,
    Mod,
    OneHot,
    grouped_numbers,
    listing,
)
from flagstone.encoding._encoding import Encoding
from flagstone.encoding._entries import (
    BadEntry,
    frame_lengths,
    is_rational,
    texts,
    whole_floats,
    whole_range,
)
from flagstone.encoding._monomials import Monomials
from flagstone.encoding._news import News, news
from flagstone.encoding._words import cells, constant_text, worded, worded_rule

__all__ = [
    "ENCODERS",
    "MARKERS",
    "MISSING",
    "MOST_CATEGORIES",
    "BadEntry",
    "ColumnEncoder",
    "Element",
    "Encoding",
    "Hex",
    "Levels",
    "Mod",
    "Monomials",
    "News",
    "OneHot",
    "cells",
    "constant_text",
    "frame_lengths",
    "grouped_numbers",
    "is_rational",
    "listing",
    "news",
    "number_text",
    "texts",
    "whole_floats",
    "whole_range",
    "worded",
    "worded_rule",
]
