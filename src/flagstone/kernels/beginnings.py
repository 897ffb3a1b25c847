"""What stands beside frames in their lines, blanked: the compiled way for lines that begin alike.

A pattern is slow, and the lines of a capture begin alike. So where a pattern has said how far the
beginning of one line goes, it goes as far in others with the same bytes, the first digit included:
other digits may differ, and those of a name in hexadecimal notation.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from flagstone.kernels._characters import unlike as unlike_at
from flagstone.kernels._jit import jit, merged
from flagstone.kernels._text import LINE, SPACE, after_blanks, is_blank, is_over, line_end

_QUOTE, _ODD = tuple(b"'?")
_HEADING = np.frombuffer(b"bitbuffer::", np.uint8)
#: What may stand after a frame: nothing, the direction of a CAN log, the bytes as text in quotes.
NOTHING, DIRECTION, QUOTED = 0, 1, 2
#: Beginnings that are known at a time, and the bytes of a line that are looked at.
_MOST, _WIDTH = 64, 64


class Beginnings:
    r"""Known beginnings of lines.

    Examples
    --------
    >>> known = Beginnings()
    >>> known.add(b"17.5 0d55", 5)
    >>> block = b"17.5 0d55\n18.5 0d56\n27.5 0d57\n" + b" " * 64 + b"\n"
    >>> text = np.frombuffer(block, np.uint8).copy()
    >>> known.blank(block, text, 0, 0, NOTHING)
    20
    >>> bytes(text[:30])
    b'     0d55\n     0d56\n27.5 0d57\n'
    """

    def __init__(self) -> None:
        self._shapes = np.zeros((_MOST, _WIDTH), np.uint8)
        self._facts = np.zeros((_MOST, 3), np.int64)  # end, first digit, whether it is open
        self._names = np.zeros(_MOST, np.uint64)
        self._n = 0

    def add(
        self, line: bytes, end: int, name: tuple[int, int] = (0, 0), is_open: bool = False
    ) -> None:
        """Remember how a line begins, up to ``end``, where a digit or something else follows.

        Parameters
        ----------
        line : bytes
        end : int
        name : tuple of int
            From where to where any hexadecimal digits may stand.
        is_open : bool
            Decimal digits that follow are no part of it only where a to f comes after them.
        """
        if end < min(_WIDTH, len(line)):
            at = self._n % _MOST
            self._shapes[at, : end + 1] = list(line[: end + 1])
            first = next((i for i, c in enumerate(line[: name[0] or end]) if c in b"0123456789"), 0)
            self._facts[at] = end, first, is_open
            self._names[at] = (1 << name[1]) - (1 << name[0])
            self._n += 1

    def blank(self, block: bytes, text: NDArray[np.uint8], p: int, fields: int, ends: int) -> int:
        """Blank in ``text`` what is no frame in whole lines, from ``p`` on; return where to go on.

        There begins a line as none that is known, or the end is near. With ``fields``, so many of
        them and no known beginnings are blanked. A line that needs a closer look, having no frame,
        begins with a question mark then.
        """
        n = self._n
        known = self._shapes[:n], self._facts[:n], self._names[:n]
        source = np.frombuffer(block, np.uint8)
        return int(_blank(source, text, p, fields, ends, *known, _HEADING))


@jit
def _blank(
    source: Any, text: Any, p: int, fields: int, after: int, shapes: Any, facts: Any, names: Any,
    heading: Any,
) -> Any:  # fmt: skip
    recent = 0
    while p < len(text):
        start = p
        p = after_blanks(source, p)
        if is_over(source, p):
            p = line_end(source, p) + 1
            continue
        same = 0
        while same < len(heading) and source[p + same] == heading[same]:
            same += 1
        is_odd = False
        if same == len(heading):
            p = line_end(source, p)
        elif fields > 0:
            for _ in range(fields):
                while source[p] != LINE and not is_blank(source[p]):
                    p += 1
                p = after_blanks(source, p)
                is_odd = is_odd or is_over(source, p)
        else:
            if start + _WIDTH > len(text):
                return start
            if not _begins(source, start, shapes, facts, names, recent):
                recent = 0
                while not _begins(source, start, shapes, facts, names, recent):
                    recent += 1
                    if recent >= len(facts):
                        return start
            p = start + facts[recent, 0]
        stop = line_end(source, p)
        for i in range(start, p):
            text[i] = SPACE
        if after != NOTHING:
            for i in range(_cut(source, p, stop, after), stop):
                text[i] = SPACE
        if is_odd or (p < stop and is_over(text, after_blanks(text, p))):
            text[start] = _ODD
        p = stop + 1
    return p


@merged
def _begins(text: Any, start: int, shapes: Any, facts: Any, names: Any, which: int) -> Any:
    """Say whether a line begins as one that is known does; no line end is part of one."""
    if which >= len(facts):
        return False
    end, first, is_open = facts[which, 0], facts[which, 1], facts[which, 2]
    unlike = unlike_at(text, start, shapes, which, 0)
    if names[which] != np.uint64(0):
        unlike &= unlike_at(text, start, shapes, which, 1) | ~names[which]
    mine = (np.uint64(1) << np.uint64(end)) - np.uint64(1)
    if unlike & mine != np.uint64(0) or text[start + first] != shapes[which, first]:
        return False
    p = start + end
    if is_open:
        while 48 <= text[p] <= 57:
            p += 1
        return _is_hex(text[p])
    if _is_hex(shapes[which, end]):
        return _is_hex(text[p])
    return text[p] == shapes[which, end]


@merged
def _cut(text: Any, p: int, stop: int, after: int) -> Any:
    """Return where what stands after a frame begins, between ``p`` and the end of the line."""
    last = stop - 1
    while last >= p and is_blank(text[last]):
        last -= 1
    if last < p:
        return stop
    if after == DIRECTION:
        alone = last == p or is_blank(text[last - 1])
        return last if alone and text[last] in (82, 84) else stop
    if text[last] == _QUOTE:
        for i in range(p, last):
            if text[i] == _QUOTE and (i == p or is_blank(text[i - 1])):
                return i
    return stop


@merged
def _is_hex(c: Any) -> Any:
    return 48 <= c <= 57 or 97 <= c | 32 <= 102
