"""Files: which ones are meant, on this machine or elsewhere, and their bytes and lines.

A `RemoteFile`, on any filesystem that Arrow or fsspec knows, has as much of a path as readers need.
How it is opened stands in `flagstone.tables.remote`, which is imported when one is: it loads Arrow,
which takes longer than a small file. Compression is known by what a file holds.
"""

from __future__ import annotations

import bz2
import contextlib
import errno
import glob
import gzip
import io
import itertools
import lzma
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from types import SimpleNamespace
from typing import IO, Any, TypeAlias, cast

from flagstone.errors import FormatError, InputError
from flagstone.wording import closest

#: A row is held in memory as a whole, and compressed files unpack to much more than their size.
MOST_ROW_BYTES = 1 << 26
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
BLOCK = 1 << 22
#: By suffix, for names; and how files of each kind begin, under any name.
COMPRESSED = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_MAGIC: dict[re.Pattern[bytes], Any] = {
    re.compile(rb"\x1f\x8b\x08"): gzip.open,
    re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)"): bz2.open,
    re.compile(rb"\xfd7zXZ\0"): lzma.open,
}
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True)
class RemoteFile:
    """One file of a filesystem of Arrow's, by the name that its user knows."""

    filesystem: Any
    path: str
    size: int
    shown: str

    def __str__(self) -> str:
        return self.shown

    @property
    def name(self) -> str:
        """The last part of the path."""
        return PurePosixPath(self.path).name

    @property
    def suffix(self) -> str:
        """What follows the last dot of the name, with it."""
        return PurePosixPath(self.path).suffix

    def with_suffix(self, suffix: str) -> PurePosixPath:
        """The path with another suffix, to read a name through a compression."""
        return PurePosixPath(self.path).with_suffix(suffix)

    def stat(self) -> Any:
        """As much as readers ask for: ``st_size``."""
        return SimpleNamespace(st_size=self.size)

    def open(self, mode: str = "rb") -> IO[bytes]:
        """Open the file for reading bytes, at any place in it."""
        from flagstone.tables.remote import arrow_file

        return cast("IO[bytes]", io.BufferedReader(arrow_file(self)))


Location: TypeAlias = Path | RemoteFile


def is_uri(source: object) -> bool:
    """Say whether a source names a filesystem: ``s3://bucket/frames``."""
    return isinstance(source, str) and _URI.match(source) is not None


def binary_file(path: Location) -> Any:
    """Return what other libraries open: a path as it is, a remote file as a stream."""
    return path.open("rb") if isinstance(path, RemoteFile) else path


def expand(sources: Iterable[str | Location], filesystem: Any = None) -> list[Location]:
    """Return the files that paths, directories, globs and URIs name, in a fixed order.

    Files of one directory or glob are sorted by path; sources keep the order given.
    """
    files: list[Location] = []
    for source in sources:
        try:
            found: Sequence[Location]
            if isinstance(source, RemoteFile):
                found = [source]
            elif filesystem is not None or is_uri(source):
                from flagstone.tables.remote import find_remote

                found = find_remote(str(source), filesystem)
            else:
                found = _expand(Path(source))
            empty = next((file for file in found if file.stat().st_size == 0), None)
        except OSError as error:
            raise InputError(f"{source}: cannot be read ({error.strerror})") from error
        if empty is not None:
            raise InputError(f"{empty}: the file is empty")
        files += found
    if not files:
        raise InputError("no file was given")
    return files


def _expand(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    if path.is_dir():
        found = sorted(
            p
            for p in path.rglob("*")
            if p.is_file() and not any(q.startswith((".", "_")) for q in p.relative_to(path).parts)
        )
        if not found:
            raise InputError(f"{path}: the directory holds no files")
        return found
    if path.exists() or str(path) == "-":
        raise InputError(
            f"{path}: rows cannot be read from a pipe, a device or a socket, because they are read "
            "more than once; save them to a file first, or pipe them into the command with - for "
            "the file"
        )
    if glob.has_magic(str(path)):
        found = _matching(path)
        if not found:
            raise InputError(f"{path}: no file matches this pattern")
        return found
    if path.is_symlink():
        raise InputError(f"{path}: cannot be read ({_lost(path)})")
    here = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
    raise InputError(f"{path}: no such file or directory{closest(path.name, here)}")


def _lost(link: Path) -> str:
    """Say why a symbolic link leads to no file."""
    try:
        link.stat()
    except OSError as error:
        if error.errno == errno.ELOOP:
            return "its symbolic links lead in a circle"
    return f"it is a symbolic link to {link.readlink()}, which does not exist"


def _matching(pattern: Path) -> list[Path]:
    """Return the files of a glob; unlike the glob module, ``**`` does not go round in links."""
    try:
        found = list(Path(pattern.anchor).glob(str(pattern.relative_to(pattern.anchor))))
    except ValueError as error:
        raise InputError(f"{pattern}: this is no pattern of file names ({error})") from error
    named = set(pattern.parts)
    if not any(part.startswith(".") and glob.has_magic(part) for part in named):
        found = [p for p in found if all(q[0] != "." or q in named for q in p.parts)]
    return sorted(p for p in found if p.is_file())


@contextlib.contextmanager
def opened(path: Location) -> Iterator[IO[bytes]]:
    """Open a file for reading, undoing a compression that its first bytes show.

    Damage to a compressed file is a FormatError.
    """
    with path.open("rb") as file:
        start = cast("io.BufferedReader", file).peek(10)[:10]
        if start.startswith(_UTF16):
            raise FormatError(
                f"{path} is UTF-16 text; save it as UTF-8 (iconv -f utf-16 -t utf-8, or in "
                "PowerShell: Out-File -Encoding utf8)"
            )
        opener = next((opener for magic, opener in _MAGIC.items() if magic.match(start)), None)
        if opener is None:
            yield file
            return
        try:
            with io.BufferedReader(opener(file)) as unpacked:
                yield unpacked
        except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
            raise FormatError(f"{path} is compressed, and cut short or damaged") from error


def _is_compressed(stream: IO[bytes]) -> bool:
    return isinstance(getattr(stream, "raw", None), (gzip.GzipFile, bz2.BZ2File, lzma.LZMAFile))


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
        if not offset and cast("io.BufferedReader", stream).peek(3)[:3] == BYTE_ORDER_MARK:
            offset = len(stream.read(3))
        pieces: list[bytes] = []  # of a line whose end is not read yet
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


def check_row_bytes(path: Location, where: str, n_bytes: int) -> None:
    """Refuse a row that is longer than any table needs."""
    if n_bytes > MOST_ROW_BYTES:
        raise InputError(
            f"{path}: {where} is longer than {MOST_ROW_BYTES >> 20} MiB, the most that one row "
            "may take; is this a file of rows, one per line?"
        )
