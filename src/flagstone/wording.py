"""Wording: numbers and their nouns, for whatever people read."""

from __future__ import annotations


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
