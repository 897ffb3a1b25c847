"""Wording: numbers and their nouns, and names that may have been meant."""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Iterable

_MOST_COMPARED = 5_000


def counted(number: int, noun: str, verb: str = "") -> str:
    """Return a number with its noun and, if given, a verb, both in the right form.

    A verb is written as after one of them: "breaks", "is", "was", "does not fit".

    >>> counted(1, "row"), counted(1200, "row"), counted(0, "check equation")
    ('1 row', '1,200 rows', '0 check equations')
    >>> counted(1, "row", "breaks"), counted(2, "row", "breaks"), counted(2, "row", "does not fit")
    ('1 row breaks', '2 rows break', '2 rows do not fit')
    """
    if number == 1:
        return f"1 {noun} {verb}".rstrip()
    first, *rest = verb.split() or [""]
    plural = {"is": "are", "was": "were", "does": "do"}.get(first, first.removesuffix("s"))
    return " ".join([f"{number:,} {noun}s", plural, *rest]).rstrip()


def closest(name: str, known: Iterable[str], most: int = 3) -> str:
    """Return a hint with the closest known names, or nothing; only the first 5,000 are tried.

    >>> closest("hight", ["height", "width"])
    "; did you mean 'height'?"
    >>> closest("VAT", ["net", "vat"])
    "; did you mean 'vat'?"
    """
    some = [n for n in itertools.islice(known, _MOST_COMPARED) if len(n) < 100]
    names = [n for n in some if n.casefold() == name.casefold()][:most]
    names = names or difflib.get_close_matches(name[:100], some, n=most, cutoff=0.6)
    return f"; did you mean {' or '.join(repr(n) for n in names)}?" if names else ""
