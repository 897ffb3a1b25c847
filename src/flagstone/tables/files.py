"""Which files a user means: paths, directories and globs, and the format of each."""

from __future__ import annotations

import difflib
import glob
import itertools
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from flagstone.errors import InputError, Parameter
from flagstone.tables.remote import Location, RemoteFile, find_remote, is_uri
from flagstone.tables.textio import COMPRESSED

BIT_ORDERS = ("msb", "lsb", "nibble", "reversed")
FORMATS = {
    "csv": (".csv",),
    "tsv": (".tsv", ".tab"),
    "parquet": (".parquet", ".pq"),
    "arrow": (".arrow", ".feather", ".ipc", ".arrows"),
    "npy": (".npy",),
    "npz": (".npz",),
    "jsonl": (".jsonl", ".ndjson"),
    "hex": (".hex",),
    "bits": (".bits",),
}
_TEXT, _FRAMES = ("csv", "tsv"), ("hex", "bits")
APPLIES = {
    "delimiter": _TEXT,
    "header": _TEXT,
    "bit_order": _FRAMES,
    "length": _FRAMES,
    "skip_fields": _FRAMES,
}
_MOST_COMPARED = 5_000
_BY_SUFFIX = {suffix: name for name, suffixes in FORMATS.items() for suffix in suffixes}


class ReadingError(InputError):
    """How files are to be read was said wrongly; nothing is wrong with the files."""


def check_reading(options: Mapping[str, object], formats: Iterable[str]) -> None:
    """Refuse options that are wrong, or that no file of these formats can obey."""
    known = set(formats)
    for name, value in options.items():
        if value is not None and not known & set(APPLIES[name]):
            raise ReadingError(
                Parameter(name),
                f" is for {' and '.join(APPLIES[name])}, but the format is "
                f"{' and '.join(sorted(known))}; leave it out",
            )
    delimiter = options.get("delimiter")
    if delimiter is not None and not (
        isinstance(delimiter, str)
        and len(delimiter) == 1
        and delimiter.isascii()
        and delimiter not in '"\r\n\0'
    ):
        raise ReadingError(
            Parameter("delimiter"),
            f" must be one ASCII character, neither a quote nor a line end, got {delimiter!r}",
        )
    if (length := options.get("length")) is not None and (
        not isinstance(length, int) or isinstance(length, bool) or length < 1
    ):
        raise ReadingError(
            Parameter("length"), f" must be a positive number of bits, got {length!r}"
        )
    if (fields := options.get("skip_fields")) is not None and (
        not isinstance(fields, int) or isinstance(fields, bool) or not 0 <= fields <= 99
    ):
        raise ReadingError(
            Parameter("skip_fields"), f" must be a number of fields from 0 to 99, got {fields!r}"
        )
    if options.get("bit_order") not in (None, *BIT_ORDERS):
        raise ReadingError(
            Parameter("bit_order"),
            f" must be one of {', '.join(BIT_ORDERS)}, got {options['bit_order']!r}",
        )


def expand(sources: Iterable[str | Location], filesystem: Any = None) -> list[Location]:
    """Return the files that paths, directories, globs and URIs stand for, in a fixed order.

    Files of one directory or glob are sorted by path; sources keep the order given.
    """
    files: list[Location] = []
    for source in sources:
        try:
            found: Sequence[Location]
            if isinstance(source, RemoteFile):
                found = [source]
            elif filesystem is not None or is_uri(source):
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
    here = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
    raise InputError(f"{path}: no such file or directory{closest(path.name, here)}")


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


def suffix_format(path: Location) -> str | None:
    """Return the format that a file name says; None if it says none."""
    stem = path.with_suffix("") if path.suffix in COMPRESSED else path
    return _BY_SUFFIX.get(stem.suffix.lower())


def format_of(path: Location) -> str:
    """Return the format that a file name says, looking through a compression suffix."""
    found = suffix_format(path)
    if found is None:
        raise InputError(
            f"{path}: the name does not say the format; give ",
            Parameter("format"),
            f" as one of {', '.join(FORMATS)}",
        )
    return found


def closest(name: str, known: Iterable[str]) -> str:
    """Return a hint with the closest known names, or nothing; of very many, the first are tried."""
    some = [n for n in itertools.islice(known, _MOST_COMPARED) if len(n) < 100]
    names = difflib.get_close_matches(name[:100], some, n=3, cutoff=0.6)
    return f"; did you mean {' or '.join(repr(n) for n in names)}?" if names else ""
