"""Naming: from the equations of frames to the digest that they carry."""

from __future__ import annotations

from collections.abc import Sequence

from flagstone.digests.crc import crc_of
from flagstone.digests.digest import Digest
from flagstone.digests.layers import Frame, windows
from flagstone.digests.registers import Register, layouts, registers

__all__ = ["name_check", "name_frame"]

#: So many places of a check are tried.
_TRIED = 64


def name_check(frame: Frame, columns: Sequence[int]) -> Digest | None:
    """Name the digest that stands in these columns; None rather than a wrong name.

    A name is given only where it explains every check bit of every frame that obeys, and where
    the frames determine so many bits of the map that chance does not.
    """
    chosen = tuple(columns)
    found: list[Register] = []
    for layout in layouts(frame, chosen):
        found += registers(frame, layout)
    return crc_of(frame, chosen, found)


def name_frame(frame: Frame) -> tuple[tuple[int, ...], Digest] | None:
    """Look for check bits that have a name, from the end of the frame, the most bits first."""
    for columns in windows(frame)[:_TRIED]:
        digest = name_check(frame, columns)
        if digest is not None:
            return columns, digest
    return None
