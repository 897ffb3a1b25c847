"""From paths, directories, globs and URIs to one table, each file with the reader it needs."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from flagstone.errors import FormatError, InputError, InputWarning, Parameter
from flagstone.tables.batches import Reader
from flagstone.tables.files import (
    APPLIES,
    FORMATS,
    ReadingError,
    check_reading,
    closest,
    expand,
    format_of,
)
from flagstone.tables.limits import MOST_COLUMNS
from flagstone.tables.remote import Location, RemoteFile
from flagstone.tables.table import Table


def open_table(
    *sources: str | Location,
    format: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    bit_order: str | None = None,
    length: int | None = None,
    skip_fields: int | None = None,
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
    bit_order, length, skip_fields
        For hex and bits, see :class:`~flagstone.tables.frames.FrameReader`; the order of bits is
        "msb" unless told.
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
        "skip_fields": skip_fields,
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
    _say(readers)
    return Table(readers)


def _format(path: Location) -> str:
    """Return the format that a name says; if it says none, say what the lines look like."""
    try:
        return format_of(path)
    except InputError:
        notation = _looks_like(path)
        if notation is None:
            raise
    raise InputError(
        f"{path}: the name does not say the format; its first lines look like frames: give ",
        Parameter("format", notation),
    )


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


def _say(readers: Sequence[Reader]) -> None:
    """Say what was taken for something else than frames, once for all files of which it holds."""
    told: dict[tuple[object, ...], list[Reader]] = {}
    for reader in readers:
        if (layout := getattr(reader, "layout", None)) is not None and layout.said:
            told.setdefault((layout.what, *layout.said[1:]), []).append(reader)
    for found in told.values():
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        said = found[0].layout.said  # type: ignore[attr-defined]
        warnings.warn(InputWarning(f"{found[0].path}{more}: ", *said), stacklevel=3)


def _reader(path: Location, format: str, options: Mapping[str, Any], most: int) -> Reader:
    try:
        with path.open("rb"):
            pass
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    if format in ("csv", "tsv"):
        from flagstone.tables.delimited import DelimitedReader

        given, usual = options["delimiter"], {"csv": ",", "tsv": "\t"}[format]
        reader = DelimitedReader(path, given or usual, options["header"], max_columns=most)
        other = next((c for c in ";\t|," if c != usual and c in reader.columns[0]), None)
        if given is None and len(reader.columns) == 1 and other is not None:
            raise InputError(
                f"{path}: its only column is called {reader.columns[0]!r}; if {other!r} separates "
                "the cells, give ",
                Parameter("delimiter", other),
                ", else ",
                Parameter("delimiter", usual),
            )
        return reader
    if format in ("hex", "bits"):
        from flagstone.tables.frames import FrameReader

        order = options["bit_order"] or "msb"
        length, fields = options["length"], options["skip_fields"]
        return FrameReader(path, format, order, length, fields, max_columns=most)
    if format == "jsonl":
        from flagstone.tables.jsonlines import JsonLinesReader

        return JsonLinesReader(path, max_columns=most)
    if format in ("parquet", "arrow"):
        from flagstone.tables import columnar

        tabular = columnar.ParquetReader if format == "parquet" else columnar.ArrowReader
        return tabular(path, max_columns=most)
    from flagstone.tables import arrays

    matrix = arrays.NpyReader if format == "npy" else arrays.NpzReader
    return matrix(path, max_columns=most)
