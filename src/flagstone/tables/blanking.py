"""Blocks of lines with blanks for all that is no frame: line by line, or compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from flagstone.kernels.small import affordable
from flagstone.notation import FrameProblem
from flagstone.tables.batches import Array
from flagstone.tables.layouts import DIRECTION, QUOTED, Layout

#: Microseconds for each byte of a line that is looked at on its own.
_BYTE = 0.2


class Blanking:
    """What `Layout.frame` makes of lines, for whole blocks of them.

    Lines stay where they are. One that has no frame, or is wrong, begins with a question mark then,
    which is no digit of any notation: whoever reads it turns to the line itself.
    """

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._known: Any = None

    def __call__(self, block: bytes) -> bytes | Array:
        """Return whole lines, the last with its end, blanked."""
        layout = self._layout
        if layout.begins is None and not layout.fields:
            return block
        if affordable("beginnings.blank", _BYTE * len(block)):
            return b"\n".join(map(self._line, block.split(b"\n")))
        from flagstone.kernels.beginnings import Beginnings

        if self._known is None:
            self._known = Beginnings()
        ends = (None, DIRECTION, QUOTED).index(layout.ends)
        text = np.frombuffer(block, np.uint8).copy()
        p = 0
        while (p := self._known.blank(block, text, p, layout.fields, ends)) < len(text):
            stop = block.index(b"\n", p)
            line = block[p:stop]
            text[p:stop] = list(self._line(line))
            found = layout.begins.match(line) if layout.begins else None
            # a digit may be part of a remote request; for lines near the end no kernel looks ahead
            if found and not found[0].endswith(b"R") and p + 64 <= len(text):
                name = found.span("name") if "name" in found.re.groupindex else (0, 0)
                # digits after a comma may be those of a fraction of a second
                is_open = found[0].endswith(b",") and b":" in found[0]
                self._known.add(line, found.end(), name, is_open)
            p = stop + 1
        return text

    def _line(self, line: bytes) -> bytes:
        try:
            shown = self._layout.frame(line)
        except FrameProblem:
            shown = b"?"
        return (b"?" if shown == b"{0}" else shown).ljust(len(line))
