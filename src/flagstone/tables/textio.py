"""Text files as binary streams, cut at line ends; compression is known by what they hold."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import itertools
import lzma
import re
import zlib
from collections.abc import Iterator
from typing import IO, Any, cast

from flagstone.errors import FormatError
from flagstone.exact import exact_integer
from flagstone.tables.limits import MOST_ROW_BYTES, check_row_bytes
from flagstone.tables.remote import Location

BLOCK = 1 << 22
_WHOLE = re.compile(r"([+-]?[0-9]+)(?:\.0*)?")
#: By suffix, for names; and how files of each kind begin, whatever they are called.
COMPRESSED = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_MAGIC: dict[re.Pattern[bytes], Any] = {
    re.compile(rb"\x1f\x8b\x08"): gzip.open,
    re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)"): bz2.open,
    re.compile(rb"\xfd7zXZ\0"): lzma.open,
}
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


def open_binary(path: Location) -> IO[bytes]:
    """Open a file for reading, undoing a compression that its first bytes show."""
    stream = path.open("rb")
    try:
        start = cast("io.BufferedReader", stream).peek(10)[:10]
        if start.startswith(_UTF16):
            raise FormatError(
                f"{path} is UTF-16 text; save it as UTF-8 (iconv -f utf-16 -t utf-8, or in "
                "PowerShell: Out-File -Encoding utf8)"
            )
        opener = next((opener for magic, opener in _MAGIC.items() if magic.match(start)), None)
        return stream if opener is None else cast("IO[bytes]", _Inside(opener(stream), stream))
    except BaseException:
        stream.close()
        raise


class _Inside(io.BufferedReader):
    """A compressed stream, and the file it is read from, closed together."""

    def __init__(self, stream: Any, file: IO[bytes]) -> None:
        super().__init__(stream)
        self._file = file

    def close(self) -> None:
        super().close()
        self._file.close()


@contextlib.contextmanager
def opened(path: Location) -> Iterator[IO[bytes]]:
    """Open a file as :func:`open_binary` does; damage to a compressed one is a FormatError."""
    with open_binary(path) as stream:
        try:
            yield stream
        except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
            if not _is_compressed(stream):
                raise
            raise FormatError(f"{path} is compressed, and cut short or damaged") from error


def _is_compressed(stream: IO[bytes]) -> bool:
    return isinstance(getattr(stream, "raw", None), (gzip.GzipFile, bz2.BZ2File, lzma.LZMAFile))


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
    file is read again up to it, a plain one is entered right there. A byte-order mark is left out.
    """
    size = max(1, path.stat().st_size)
    with opened(path) as stream:
        plain = not _is_compressed(stream)
        if offset:
            stream.seek(offset)
        if not offset and cast("io.BufferedReader", stream).peek(3)[:3] == _BYTE_ORDER_MARK:
            offset = len(stream.read(3))
        pieces: list[bytes] = []  # of a line whose end is still to come
        while chunk := stream.read(block):
            cut = chunk.rfind(b"\n") + 1
            if cut:
                whole = b"".join([*pieces, memoryview(chunk)[:cut]])
                pieces = []
                offset += len(whole)
                yield whole, offset, offset / size if plain else 0.0
            pieces.append(chunk[cut:])
            check_row_bytes(path, f"the line at byte {offset:,}", sum(map(len, pieces)))
        if rest := b"".join(pieces):
            yield rest, offset + len(rest), 1.0
