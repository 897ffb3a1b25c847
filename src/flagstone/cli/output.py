"""Printing: JSON for programs, a few calm lines for people."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping
from typing import Any

__all__ = ["number", "percent", "print_json", "safe"]


def print_json(data: Mapping[str, Any]) -> None:
    """Print one JSON object."""
    json.dump(data, sys.stdout, indent=2, ensure_ascii=False, allow_nan=False)
    sys.stdout.write("\n")


def number(value: float) -> str:
    """Return a number for people.

    >>> number(1234567), number(0.5)
    ('1,234,567', '0.5')
    """
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


def percent(part: int, whole: int) -> str:
    """Return a share in percent, never rounded to nothing.

    >>> percent(1, 3), percent(0, 7), percent(1, 10**6)
    ('33.3 %', '0 %', '0.0001 %')
    """
    if not whole or not part:
        return "0 %"
    share = 100 * part / whole
    digits = 1 if share >= 0.1 else 1 - math.floor(math.log10(share)) - 1
    return f"{share:.{digits}f} %"


def safe(text: str) -> str:
    """Return text from data for a terminal: control characters are shown, not obeyed.

    >>> safe("a\\x1b[31mb")
    'a\\\\x1b[31mb'
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
