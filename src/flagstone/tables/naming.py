"""Which columns a text means: a name, a byte or bit of a frame, or a range of them.

``b3.5`` is bit 5 of byte 3. Bytes are counted from 0 in the order of the row, the bits of a byte
from 7, its first column, to 0, its last: as in a data sheet, bit 0 of a byte as written is its
least significant one. So ``b0.7`` is ``x0``, ``b3.5`` is ``x26``, and ``b3`` is ``x24..x31``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from flagstone.errors import InputError

_BIT = re.compile(r"b(\d{1,7})(?:\.([0-7]))?")
_NUMBERED = re.compile(r"(.*)\[(\d+)\]")


def columns_meant(text: str, names: Sequence[str]) -> list[int]:
    """Return the places of the columns that a text means, none if it means none.

    Examples
    --------
    >>> names = [f"x{i}" for i in range(41)]
    >>> columns_meant("x13..x15", names), columns_meant("b3.5", names)
    ([13, 14, 15], [26])
    >>> columns_meant("b4..b5", names)
    [32, 33, 34, 35, 36, 37, 38, 39, 40]
    >>> columns_meant("x99", names), columns_meant("b4.7..x34", names)
    ([], [32, 33, 34])
    >>> columns_meant("a..b..c", ["a..b", "c"])
    [0, 1]
    """
    place = {name: i for i, name in enumerate(names)}
    if text in place:
        return [place[text]]
    if ".." not in text:
        return _bits(text, place)
    for dots in range(len(text) - 1):  # a name may hold two dots itself
        if text[dots : dots + 2] != "..":
            continue
        first, last = text[:dots], text[dots + 2 :]
        start, end = _bits(first, place), _bits(last, place)
        if start and end:
            if start[0] > end[-1]:
                raise InputError(f"the range {text} runs backwards: write {last}..{first}")
            return list(range(start[0], end[-1] + 1))
    return []


def _bits(text: str, place: dict[str, int]) -> list[int]:
    """Return the places of one name, or of the bits of a byte, as far as there are any."""
    if text in place:
        return [place[text]]
    found = _BIT.fullmatch(text)
    if found is None:
        return []
    start = 8 * int(found[1])
    bits = range(start, start + 8) if found[2] is None else [start + 7 - int(found[2])]
    columns = {m[1] for name in place if (m := _NUMBERED.fullmatch(name))}
    column = columns.pop() if len(columns) == 1 else None
    known = [{f"x{i}", f"{column}[{i}]"} & place.keys() for i in bits]
    return [place[name] for some in known for name in some]
