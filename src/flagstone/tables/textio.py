"""Text files as binary streams, compressed or not, cut at line ends."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import itertools
import lzma
import re
import zlib
from collections.abc import Iterator
from typing import IO, Any, cast

from flagstone.errors import FormatError
from flagstone.exact import exact_integer
from flagstone.tables.limits import MOST_ROW_BYTES, check_row_bytes
from flagstone.tables.remote import Location, binary_file

__all__ = [
    "BLOCK",
    "COMPRESSED",
    "is_compressed",
    "line_blocks",
    "lines",
    "open_binary",
    "opened",
    "whole_number",
]

BLOCK = 1 << 22
_WHOLE = re.compile(r"([+-]?[0-9]+)(?:\.0*)?")
COMPRESSED = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


def is_compressed(path: Location) -> bool:
    """Say whether the suffix names a compression that is undone while reading."""
    return path.suffix in COMPRESSED


def open_binary(path: Location) -> IO[bytes]:
    """Open a file for reading, undoing the compression that its suffix names."""
    opener: Any = COMPRESSED.get(path.suffix)
    return path.open("rb") if opener is None else cast("IO[bytes]", opener(binary_file(path), "rb"))


@contextlib.contextmanager
def opened(path: Location) -> Iterator[IO[bytes]]:
    """Open a file as :func:`open_binary` does; damage to a compressed one is a FormatError."""
    with open_binary(path) as stream:
        try:
            yield stream
        except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
            if not is_compressed(path):
                raise
            raise FormatError(f"{path} is cut short or not compressed as its name says") from error


def whole_number(cell: str) -> int | None:
    """Return the whole number that a cell holds, however it is written, or None.

    >>> whole_number("+1"), whole_number(" -7.0"), whole_number("0.5"), whole_number("1e3")
    (1, -7, None, None)
    """
    if cell.isdigit() and cell.isascii() and len(cell) < 19:  # nearly always
        return int(cell)
    found = _WHOLE.fullmatch(cell.strip())
    return None if found is None else exact_integer(found[1])


def lines(path: Location) -> Iterator[bytes]:
    """Yield the lines of a file with their ends, one of them in memory at a time."""
    with opened(path) as stream:
        for number in itertools.count(1):
            line = stream.readline(MOST_ROW_BYTES + 1)
            if not line:
                return
            check_row_bytes(path, f"line {number}", len(line))
            yield line


def line_blocks(
    path: Location, offset: int = 0, block: int = BLOCK
) -> Iterator[tuple[bytes, int, float]]:
    """Yield blocks of whole lines: (bytes, offset after them, share of the file read).

    The last line needs no line end. ``offset`` counts uncompressed bytes, so a compressed
    file is read again up to it, a plain one is entered right there.
    """
    size = max(1, path.stat().st_size)
    plain = not is_compressed(path)
    with opened(path) as stream:
        stream.seek(offset)
        pieces: list[bytes] = []  # of a line whose end is still to come
        while chunk := stream.read(block):
            cut = chunk.rfind(b"\n") + 1
            if cut:
                whole = b"".join([*pieces, chunk[:cut]])
                pieces = []
                offset += len(whole)
                yield whole, offset, offset / size if plain else 0.0
            pieces.append(chunk[cut:])
            check_row_bytes(path, f"the line at byte {offset:,}", sum(map(len, pieces)))
        if rest := b"".join(pieces):
            yield rest, offset + len(rest), 1.0
