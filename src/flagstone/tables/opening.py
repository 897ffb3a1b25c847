"""From paths, directories, globs and URIs to one table, each file with the reader it needs."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import Any

from flagstone.errors import CaptureError, FormatError, InputError, Parameter
from flagstone.tables.batches import MOST_COLUMNS, Reader
from flagstone.tables.files import COMPRESSED, Location, RemoteFile, expand
from flagstone.tables.table import Table
from flagstone.wording import closest

#: The reader of each format, and how its files are called. Its module is imported when a file is
#: opened: to load Arrow takes longer than to read a small file.
_READERS: dict[str, tuple[str, tuple[str, ...]]] = {
    "csv": ("delimited:DelimitedReader", (".csv",)),
    "tsv": ("delimited:DelimitedReader", (".tsv", ".tab")),
    "parquet": ("columnar:ParquetReader", (".parquet", ".pq")),
    "arrow": ("columnar:ArrowReader", (".arrow", ".feather", ".ipc", ".arrows")),
    "npy": ("arrays:NpyReader", (".npy",)),
    "npz": ("arrays:NpzReader", (".npz",)),
    "jsonl": ("jsonlines:JsonLinesReader", (".jsonl", ".ndjson")),
    "hex": ("frames:FrameReader", (".hex",)),
    "bits": ("frames:FrameReader", (".bits",)),
}
FORMATS = {name: suffixes for name, (_, suffixes) in _READERS.items()}
BIT_ORDERS = ("msb", "lsb", "nibble", "reversed")
_BY_SUFFIX = {suffix: name for name, suffixes in FORMATS.items() for suffix in suffixes}
_TEXT, _FRAMES = ("csv", "tsv"), ("hex", "bits")
#: The formats that each option is for.
APPLIES = {
    "delimiter": _TEXT,
    "header": _TEXT,
    "bit_order": _FRAMES,
    "length": _FRAMES,
}
#: What the value of an option must be.
_MUST: dict[str, tuple[Callable[[Any], bool], str]] = {
    "delimiter": (
        lambda v: isinstance(v, str) and len(v) == 1 and v.isascii() and v not in '"\r\n\0',
        "one ASCII character, neither a quote nor a line end",
    ),
    "length": (lambda v: _is_integer(v) and v >= 1, "a positive number of bits"),
    "bit_order": (lambda v: v in BIT_ORDERS, f"one of {', '.join(BIT_ORDERS)}"),
}


class ReadingError(InputError):
    """The options for reading files are wrong, not the files."""


def check_reading(options: Mapping[str, object], formats: Iterable[str]) -> None:
    """Refuse options that are wrong, or that do not apply to these formats."""
    known = set(formats)
    given = {name: value for name, value in options.items() if value is not None}
    for name in given:
        if not known & set(APPLIES[name]):
            raise ReadingError(
                Parameter(name),
                f" is for {' and '.join(APPLIES[name])}, but the format is "
                f"{' and '.join(sorted(known))}; leave it out",
            )
    for name, (is_good, must) in _MUST.items():
        if name in given and not is_good(given[name]):
            raise ReadingError(Parameter(name), f" must be {must}, got {given[name]!r}")


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def suffix_format(path: Location) -> str | None:
    """Return the format that a file name says; None if it says none."""
    stem = path.with_suffix("") if path.suffix in COMPRESSED else path
    return _BY_SUFFIX.get(stem.suffix.lower())


def format_of(path: Location) -> str:
    """Return the format that a file name says, looking through a compression suffix."""
    found = suffix_format(path)
    if found is None:
        raise CaptureError(
            f"{path}: the name does not say the format; give ",
            Parameter("format"),
            f" as one of {', '.join(FORMATS)}; if this is the capture of a receiver or a bus, ",
            "it is read by: flagstone frames FILE",
        )
    return found


def open_table(
    *sources: str | Location,
    format: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    bit_order: str | None = None,
    length: int | None = None,
    max_columns: int = MOST_COLUMNS,
    filesystem: Any = None,
) -> Table:
    """Open files, directories, globs or URIs as one table.

    Parameters
    ----------
    *sources : str or Path
        Files; directories (all files in them, sorted); glob patterns such as
        ``"logs/**/*.csv"`` (sorted); URIs of files or directories elsewhere, such as
        ``"s3://bucket/frames"``, of any filesystem that Arrow or fsspec knows.
    format : str, optional
        csv, tsv, parquet, arrow, npy, npz, jsonl, hex or bits; read off each name otherwise.
    delimiter, header
        For csv and tsv, see :class:`~flagstone.tables.delimited.DelimitedReader`.
    bit_order, length
        For hex and bits, see :class:`~flagstone.tables.frames.FrameReader`; the order of bits is
        "msb" by default.
    max_columns : int
        Files with more columns are refused before memory is spent on them.
    filesystem : pyarrow.fs.FileSystem or fsspec filesystem, optional
        On which the sources are paths.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "frames.hex"
    >>> _ = path.write_text("{6} b4 ; the first\\n{6} 48\\n")
    >>> table = open_table(path)
    >>> table.columns
    ('x0', 'x1', 'x2', 'x3', 'x4', 'x5')
    >>> [batch.matrix.tolist() for batch in table.rows(table.encoding(field=2))]
    [[[1, 0, 1, 1, 0, 1], [0, 1, 0, 0, 1, 0]]]
    """
    if format is not None and format not in FORMATS:
        raise ReadingError(
            Parameter("format"),
            f" must be one of {', '.join(FORMATS)}, got {format!r}{closest(format, FORMATS)}",
        )
    options = {
        "delimiter": delimiter,
        "header": header,
        "bit_order": bit_order,
        "length": length,
    }
    formats = [(path, format or _format(path)) for path in expand(sources, filesystem)]
    check_reading(options, [name for _, name in formats])

    def opened(found: tuple[Location, str]) -> Reader:
        return _reader(*found, options, max_columns)

    if isinstance(formats[0][0], RemoteFile):  # to open a file elsewhere is mostly to wait
        with ThreadPoolExecutor(16) as pool:
            readers = list(pool.map(opened, formats))
    else:
        readers = list(map(opened, formats))
    return Table(readers)


def _format(path: Location) -> str:
    """Return the format that a name says; if it says none, say what the lines look like."""
    found = suffix_format(path)
    if found is None:
        notation = _looks_like(path)
        if notation is None:
            return format_of(path)
        raise InputError(
            f"{path}: the name does not say the format; its first lines look like frames: give ",
            Parameter("format", notation),
        )
    return found


def _looks_like(path: Location) -> str | None:
    """Return the notation in which the first lines are frames, if there is one."""
    with path.open("rb") as stream:
        cells = b"," in stream.read(1000)  # 1,0,1 is rather a table
    for notation in ("hex",) if cells else ("bits", "hex"):
        with contextlib.suppress(InputError, FormatError, OSError), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _reader(path, notation, dict.fromkeys(APPLIES), MOST_COLUMNS)
            return notation
    return None


def _reader(path: Location, format: str, options: Mapping[str, Any], most: int) -> Reader:
    try:
        with path.open("rb"):
            pass
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    module, _, name = _READERS[format][0].partition(":")
    make = getattr(import_module(f"flagstone.tables.{module}"), name)
    given: dict[str, Any] = {k: v for k, v in options.items() if format in APPLIES[k]}
    if format in _FRAMES:
        given |= {"notation": format, "bit_order": given["bit_order"] or "msb"}
    usual = {"csv": ",", "tsv": "\t"}.get(format)
    if usual is not None:
        given["delimiter"] = given["delimiter"] or usual
    reader: Reader = make(path, **given, max_columns=most)
    if usual is None:
        return reader
    other = next((c for c in ";\t|," if c != usual and c in reader.columns[0]), None)
    if options["delimiter"] is None and len(reader.columns) == 1 and other is not None:
        raise InputError(
            f"{path}: its only column is called {reader.columns[0]!r}; if {other!r} separates the "
            "cells, give ",
            Parameter("delimiter", other),
            ", else ",
            Parameter("delimiter", usual),
        )
    return reader
