"""Text files as binary streams, compressed or not, cut at line ends."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, cast

from flagstone.errors import FormatError

__all__ = ["BLOCK", "COMPRESSED", "is_compressed", "line_blocks", "open_binary"]

BLOCK = 1 << 22
COMPRESSED = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


def is_compressed(path: Path) -> bool:
    """Say whether the suffix names a compression that is undone while reading."""
    return path.suffix in COMPRESSED


def open_binary(path: Path) -> IO[bytes]:
    """Open a file for reading, undoing the compression that its suffix names."""
    opener: Any = COMPRESSED.get(path.suffix, open)
    return cast("IO[bytes]", opener(path, "rb"))


def line_blocks(
    path: Path, offset: int = 0, block: int = BLOCK
) -> Iterator[tuple[bytes, int, float]]:
    """Yield blocks of whole lines: (bytes, offset after them, share of the file read).

    The last line needs no line end. ``offset`` counts uncompressed bytes, so a compressed
    file is read again up to it, a plain one is entered right there.
    """
    size = max(1, path.stat().st_size)
    plain = not is_compressed(path)
    with open_binary(path) as stream:
        try:
            stream.seek(offset)
            rest = b""
            while chunk := stream.read(block):
                chunk = rest + chunk
                cut = chunk.rfind(b"\n") + 1
                rest = chunk[cut:]
                if cut:
                    offset += cut
                    yield chunk[:cut], offset, offset / size if plain else 0.0
            if rest:
                yield rest, offset + len(rest), 1.0
        except (EOFError, gzip.BadGzipFile, lzma.LZMAError) as error:
            raise FormatError(f"{path} is cut short or not compressed as its name says") from error
