"""Blocks of lines with blanks for all that is no frame.

A pattern says where the frame of a line starts. Patterns are slow, and the lines of a capture begin
alike: what a pattern said of one line is noted, and a kernel finds the lines that begin like it.
"""

from __future__ import annotations

import re

import numpy as np

from flagstone._kernels import kernels
from flagstone.notation import FrameProblem
from flagstone.tables.batches import Array
from flagstone.tables.layouts import DIRECTION, QUOTED, Layout

#: Beginnings that are noted for a file, and the bytes of a line that a kernel compares.
_MOST, _WIDTH = 64, 64
#: Kinds of bytes in a known beginning: this byte, any decimal or hexadecimal digit, digits that end
#: with one of a to f, anything.
_SAME, _DECIMAL, _HEX, _OPEN_END, _FREE = range(5)


class Blanking:
    """What `Layout.frame` makes of lines, for whole blocks of them.

    Lines keep their places. A line that has no frame, or is wrong, then starts with a question
    mark, which is no digit of any notation: it is read again with care.
    """

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._known: Array = np.zeros((0, 2, _WIDTH), np.uint8)

    def __call__(self, block: bytes) -> bytes:
        """Return whole lines, the last with its end, blanked."""
        layout = self._layout
        if layout.begins is None and not layout.fields:
            return block
        after = (None, DIRECTION, QUOTED).index(layout.ends)
        text, p = bytearray(block), 0
        while True:
            p = kernels.blank_lines(block, text, p, layout.fields, after, self._known)
            if p == len(block):
                return bytes(text)
            stop = block.index(b"\n", p)
            line = block[p:stop]
            text[p:stop] = self._line(line)
            found = layout.begins.match(line) if layout.begins else None
            # A digit may be part of a remote request. A kernel compares no lines near the end.
            if found and not found[0].endswith(b"R") and p + _WIDTH <= len(block):
                self._note(line, found)
            p = stop + 1

    def _line(self, line: bytes) -> bytes:
        try:
            shown = self._layout.frame(line)
        except FrameProblem:
            shown = b"?"
        return (b"?" if shown == b"{0}" else shown).ljust(len(line))

    def _note(self, line: bytes, found: re.Match[bytes]) -> None:
        """Remember how a line begins: see `Layout.begins` for which bytes may differ."""
        end = found.end()
        if end >= min(_WIDTH, len(line)) or len(self._known) == _MOST:
            return
        start, stop = found.span("name") if "name" in found.re.groupindex else (end, end)
        decimal = [i for i in range(end) if line[i : i + 1].isdigit()]
        known = np.full((2, _WIDTH), _FREE, np.uint8)
        known[0, : end + 1] = list(line[: end + 1])
        known[1, : end + 1] = _SAME
        known[1, decimal] = _DECIMAL
        known[1, [i for i in decimal[:1] if i < start]] = _SAME
        known[1, start:stop] = _HEX
        if found[0].endswith(b",") and b":" in found[0]:
            known[1, end] = _OPEN_END  # decimal digits could be a fraction of the seconds
        elif line[end] in b"0123456789abcdefABCDEF":
            known[1, end] = _HEX
        self._known = np.concatenate([self._known, known[np.newaxis]])
