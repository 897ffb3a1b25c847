"""From paths, directories, globs and URIs to one table, each file with the reader it needs."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple

from flagstone.errors import CaptureError, FormatError, InputError, Parameter
from flagstone.tables.batches import MOST_COLUMNS, Reader
from flagstone.tables.files import COMPRESSED, Location, RemoteFile, expand
from flagstone.tables.table import Table
from flagstone.wording import closest


class Format(NamedTuple):
    """How files of a format are called, and their reader, with its options and their defaults.

    Its module is imported when a file is opened: to load Arrow takes longer than to read a small
    file. Text is read from the beginning to the end, so that it may be a stream; others are not.
    """

    reader: str
    suffixes: tuple[str, ...]
    options: Mapping[str, Any] = {}
    is_text: bool = False


_READERS = {
    "csv": Format(
        "delimited:DelimitedReader", (".csv",), {"delimiter": ",", "header": None}, is_text=True
    ),
    "tsv": Format(
        "delimited:DelimitedReader",
        (".tsv", ".tab"),
        {"delimiter": "\t", "header": None},
        is_text=True,
    ),
    "parquet": Format("columnar:ParquetReader", (".parquet", ".pq")),
    "arrow": Format("columnar:ArrowReader", (".arrow", ".feather", ".ipc", ".arrows")),
    "npy": Format("arrays:NpyReader", (".npy",)),
    "npz": Format("arrays:NpzReader", (".npz",)),
    "jsonl": Format("jsonlines:JsonLinesReader", (".jsonl", ".ndjson"), is_text=True),
    "hex": Format(
        "frames:FrameReader",
        (".hex",),
        {"notation": "hex", "bit_order": "msb", "length": None},
        is_text=True,
    ),
    "bits": Format(
        "frames:FrameReader",
        (".bits",),
        {"notation": "bits", "bit_order": "msb", "length": None},
        is_text=True,
    ),
}
FORMATS = {name: known.suffixes for name, known in _READERS.items()}
TEXT_FORMATS = tuple(name for name, known in _READERS.items() if known.is_text)
BIT_ORDERS = ("msb", "lsb", "nibble", "reversed")
_BY_SUFFIX = {suffix: name for name, suffixes in FORMATS.items() for suffix in suffixes}
#: The formats that each option is for.
APPLIES = {
    option: tuple(name for name, known in _READERS.items() if option in known.options)
    for option in ("delimiter", "header", "bit_order", "length")
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
    options = {"delimiter": delimiter, "header": header, "bit_order": bit_order, "length": length}
    given = {name: value for name, value in options.items() if value is not None}
    paths = expand(sources, filesystem)
    formats = [format or _format(path) for path in paths]
    check_reading(given, formats)
    opened = partial(_reader, given=given, max_columns=max_columns)
    if isinstance(paths[0], RemoteFile):  # to open a file elsewhere is mostly to wait
        with ThreadPoolExecutor(16) as pool:
            return Table(list(pool.map(opened, paths, formats)))
    return Table(list(map(opened, paths, formats)))


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
            _reader(path, notation)
            return notation
    return None


def _reader(
    path: Location, format: str, given: Mapping[str, Any] = {}, max_columns: int = MOST_COLUMNS
) -> Reader:
    try:
        with path.open("rb"):
            pass
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    known = _READERS[format]
    module, _, name = known.reader.partition(":")
    make = getattr(import_module(f"flagstone.tables.{module}"), name)
    options = {option: given.get(option, usual) for option, usual in known.options.items()}
    reader: Reader = make(path, **options, max_columns=max_columns)
    usual = known.options.get("delimiter")
    found = getattr(reader, "delimiter", None)
    if found != given.get("delimiter", found):
        raise InputError(
            f"{path}: its first line says that {found!r} separates the cells; give ",
            Parameter("delimiter", found),
            ", or none",
        )
    if usual is None or "delimiter" in given or len(reader.columns) > 1:
        return reader
    other = next((c for c in ";\t|," if c != usual and c in reader.columns[0]), None)
    if other is not None:
        raise InputError(
            f"{path}: its only column is called {reader.columns[0]!r}; if {other!r} separates the "
            "cells, give ",
            Parameter("delimiter", other),
            ", else ",
            Parameter("delimiter", usual),
        )
    return reader
