"""CSV and TSV: read in blocks by Arrow, with every problem traced to its line."""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn

import numpy as np
import pyarrow as pa
from pyarrow import csv as pacsv

from flagstone.checks import shown
from flagstone.disk import repeated
from flagstone.encoding import MARKERS
from flagstone.errors import InputError, Parameter
from flagstone.exact import exact_integers, truth_value, whole_number
from flagstone.tables.arrow_columns import as_numpy
from flagstone.tables.batches import Array, Batch, Reader, Request, numbered
from flagstone.tables.files import line_blocks, lines

#: What Arrow raises for text that it does not take.
_REFUSALS = (pa.ArrowInvalid, pa.ArrowKeyError, UnicodeDecodeError)
_NUMBER = re.compile(r"[+-]?\d+(\.\d*)?([eE][+-]?\d+)?")
#: Text in which every quote that opens a cell is closed: of text without quotes, quotes inside
#: cells, quoted cells, and quoted cells of one line that go on.
_CLOSED = rb"""(?x) (?: [^"]++ | (?<!\A)(?<![\n%(sign)b])"
    | "(?:[^"]++|"")*+" (?= [\r\n%(sign)b] | \Z ) | "(?:[^"\n]++|"")*+" )*+"""
_CLOSE = "add the closing quote, or remove this one"
#: What spreadsheets write above the names of the columns.
_SEPARATOR = re.compile(rb"(?:\xef\xbb\xbf)?(?i:sep)=([ !#-/:-@\[-`{-~\t])\r?\n?")
#: Blank lines before the first one that is not: a small compressed file may hold any number.
_MOST_BLANK = 1_000_000


@dataclass
class DelimitedReader(Reader):
    """Rows of a delimited text file; every row is one line.

    Parameters
    ----------
    path : Path
    delimiter : str
    header : bool, optional
        Whether the first line names the columns. Left open, a first line that looks like
        data is an error rather than a guess; without a header columns are x0, x1, …

    A first line such as ``sep=;``, which spreadsheets write, names the delimiter and is no row.
    """

    position_size: ClassVar[int] = 3
    delimiter: str = ","
    header: bool | None = None

    def __post_init__(self) -> None:
        self._n_before = 0  # lines before the first one of cells
        found = next(self._records(), None)
        if found is None:
            self.fail("", "is empty: a line of column names and rows are expected")
        self._header_line, cells = found
        self.check_width(len(cells))
        cells = [cell.strip() for cell in cells]
        if self.header is None:
            counting = [str(i) for i in range(len(cells))]
            if all(_NUMBER.fullmatch(cell) for cell in cells) and cells != counting:
                self.fail(
                    f"line {self._header_line}",
                    f"looks like data, not like column names ({', '.join(cells[:4])}…); give ",
                    Parameter("header", False),
                    " if it is a row, ",
                    Parameter("header", True),
                    " if not",
                )
            self.header = True
        if self.header:
            self.columns = tuple(cells)
            twice = repeated(cells)
            if twice is not None:
                self.fail(
                    f"line {self._header_line}",
                    f"two columns are called {twice!r}; rename one, or give ",
                    Parameter("header", False),
                    " if the file has no line of names",
                )
        else:
            self._header_line = self._n_before
            self.columns = numbered(len(cells))

    def batches(self, asked: Request) -> Iterator[Batch]:
        """Yield the columns, each read as the kind it must have.

        Arrow is handed one block of whole lines at a time, in memory of its own. Left to read
        the file itself it reads ahead in a thread, which would call back into an interpreter
        that may be shutting down.
        """
        offset, line, row = asked.start or (self._data_offset(), self._header_line + 1, 1)
        for block, after, done in line_blocks(self.path, offset):
            part = block
            if asked.most < len(block):
                held = (text for text in io.BytesIO(block) if text.strip(b"\r\n"))
                part = b"".join(itertools.islice(held, asked.most))
            n_lines = _n_lines(block)
            values: Array | list[Array] | None = self._digits(part, asked)
            if values is None:
                try:
                    values = self._columns(part, asked)
                except InputError:
                    self._check_quotes(block, line)
                    raise
                if values is not None and b'"' in part:
                    n_part = n_lines if part is block else _n_lines(part)
                    if self._may_be_open(part, n_part, len(values[0])):
                        self._check_quotes(block, line)
            first_line, line = line, line + n_lines
            if values is None:
                continue
            first, row = row, row + len(values if isinstance(values, np.ndarray) else values[0])
            lines = _lines_of_rows(block, range(first_line, line), row - first)
            yield Batch(values, first, lines, (after, line, row), done)

    def _data_offset(self) -> int:
        """Return where the rows begin: after the line of column names, if there is one."""
        return sum(map(len, itertools.islice(lines(self.path), self._header_line)))

    def _digits(self, block: bytes, asked: Request) -> Array | None:
        """Read a block in which every cell is one digit at once; None if it is another.

        A line is then as long as any other, and differs from a line of zeros by its digits alone.
        """
        end = b"\r\n" if block.endswith(b"\r\n") else b"\n"
        zeros = self.delimiter.encode().join([b"0"] * len(self.columns)) + end
        whole = all(asked.kinds.get(name, "integer") == "integer" for name in asked.columns)
        separates = self.delimiter.isascii() and not self.delimiter.isdigit()
        if not (block and whole and separates) or len(block) % len(zeros):
            return None
        table = np.frombuffer(block, dtype=np.uint8).reshape(-1, len(zeros))
        table = table ^ np.frombuffer(zeros, dtype=np.uint8)
        most = table.max(axis=0)
        cells = slice(0, 2 * len(self.columns), 2)
        if most[1::2].any() or most[2 * len(self.columns) :].any() or most[cells].max() > 9:
            return None
        digits = table[:, cells]
        if tuple(asked.columns) == self.columns:
            return digits
        return digits[:, self._places(asked)]

    def _places(self, asked: Request) -> list[int]:
        places = {name: index for index, name in enumerate(self.columns)}
        return [places[name] for name in asked.columns]

    def _may_be_open(self, block: bytes, n_lines: int, n_rows: int) -> bool:
        """Say whether a cell of a block goes on to another line, or beyond the last one."""
        if n_rows != n_lines and n_rows != sum(map(bool, map(_bare, block.split(b"\n")))):
            return True
        last = block[block.rfind(b"\n", 0, len(block) - 1) + 1 :]
        if not _bare(last):
            last = _bare(block).rpartition(b"\n")[2]
        return self._open_quote(last) < len(last)

    def _check_quotes(self, block: bytes, line: int) -> None:
        """Refuse a quote that opens a cell, and that none closes."""
        place = self._open_quote(block)
        if place < len(block):
            opened = line + block.count(b"\n", 0, place)
            last = line + block.rstrip(b"\r\n").count(b"\n")
            self.fail(
                f"line {opened}",
                "a quote opens a cell here, and none closes it"
                + f" up to line {last}" * (last > opened)
                + f"; {_CLOSE}",
            )

    def _open_quote(self, text: bytes) -> int:
        """Return the place of the first quote that opens a cell and is not closed, or the end.

        A cell of several lines that goes on after its closing quote is not closed, either: that
        quote opens another cell.
        """
        closed = _CLOSED % {b"sign": re.escape(self.delimiter.encode())}
        found = re.match(closed, text)
        assert found is not None
        return found.end()

    def _columns(self, block: bytes, asked: Request) -> list[Array] | None:
        """Read a block of lines by Arrow; None if all are blank."""
        if block.count(b"\r") > block.count(b"\r\n"):
            self._check_carriage_returns(block, asked)
        try:
            found = self._read(block, asked)
        except _REFUSALS as problem:
            return None if "Empty CSV" in str(problem) else self._with_care(block, asked, problem)
        if found is None:
            return None
        return [as_numpy(found.column(i), self, c) for i, c in enumerate(asked.columns)]

    def _with_care(self, block: bytes, asked: Request, problem: Exception) -> list[Array]:
        """Read whole numbers as text: 1.0, +1 or True is none to Arrow, which told this problem."""
        whole = [c for c in asked.columns if asked.kinds.get(c) == "integer"]
        kinds = {**asked.kinds, **dict.fromkeys(whole, "text")}
        try:
            found = self._read(block, asked._replace(kinds=kinds))
        except _REFUSALS:
            self._explain(asked, problem)
        columns = {c: as_numpy(found.column(i), self, c) for i, c in enumerate(asked.columns)}
        for c in whole:
            cells = columns[c].tolist()
            different = {cell for cell in cells if cell is not None}
            if any(_cell_problem(cell, "integer", asked.gaps) for cell in different):
                self._explain(asked, problem)
            known = {cell: _whole(cell) for cell in different}
            numbers = [known.get(cell) for cell in cells]
            full = [number for number in numbers if number is not None]
            is_full = len(full) == len(numbers)
            columns[c] = exact_integers(full) if is_full else np.array(numbers, dtype=object)
        return list(columns.values())

    def _check_carriage_returns(self, block: bytes, asked: Request) -> None:
        """Refuse those outside quotes, which end a row to Arrow, but no line to anybody else."""
        for line in block.split(b"\n"):
            try:
                bare = line.decode(errors="replace").rstrip("\r")
                next(csv.reader([bare], delimiter=self.delimiter), None)
            except csv.Error as error:
                self._explain(asked, error)

    def _read(self, block: bytes, asked: Request) -> Any:
        columns, kinds = asked.columns, asked.kinds
        types = {"integer": pa.int64(), "number": pa.float64(), "text": pa.string()}
        memory = pa.allocate_buffer(len(block))
        memoryview(memory).cast("B")[:] = block
        found = pacsv.read_csv(
            pa.BufferReader(memory),
            read_options=pacsv.ReadOptions(
                column_names=list(self.columns), block_size=len(block) + 1, use_threads=False
            ),
            parse_options=pacsv.ParseOptions(delimiter=self.delimiter),
            convert_options=pacsv.ConvertOptions(
                include_columns=list(columns),
                column_types={c: types[kinds.get(c, "text")] for c in columns},
                strings_can_be_null=False,
                null_values=["", *MARKERS] if asked.gaps else [],
            ),
        )
        batches = found.combine_chunks().to_batches()
        return batches[0] if batches else None

    def _records(self) -> Iterator[tuple[int, list[str]]]:
        """Yield (line, cells) of every line that is not blank."""
        number = 0
        try:
            blank = True
            for number, raw in enumerate(lines(self.path), 1):
                if number == 1 and (named := _SEPARATOR.fullmatch(raw)):
                    self.delimiter, self._n_before = named[1].decode(), 1
                    continue
                if not raw.strip(b"\r\n"):
                    if blank and number == _MOST_BLANK:
                        reason = f"begins with {number:,} blank lines: column names and rows are "
                        self.fail("", reason + "expected")
                    continue
                is_head, blank = blank and self.header is not False, False
                cells = raw.count(self.delimiter.encode()) + 1  # or fewer, with quotes
                what = f"cells (told apart by {self.delimiter!r})"
                self.check_parts(f"line {number}", cells, what, self.max_columns)
                bare = raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
                if is_head and self._open_quote(bare.encode()) < len(bare.encode()):
                    reason = "a quote opens the name of a column, and none closes it on this line"
                    self.fail(f"line {number}", f"{reason}; {_CLOSE}")
                if bare:
                    yield number, next(csv.reader([bare], delimiter=self.delimiter))
        except UnicodeDecodeError:
            remedy = f"convert the file first (of Latin-1: iconv -f latin1 -t utf-8 {self.path})"
            self.fail(f"line {number}", f"is not UTF-8 text; {remedy}")
        except csv.Error as error:
            reason = "a carriage return stands outside quotes; lines must end in \\n or \\r\\n"
            reason = reason if "new-line" in str(error) else f"cannot be read ({error})"
            self.fail(f"line {number}", reason)
        except (EOFError, OSError) as error:
            self.fail(f"after line {number}", f"cannot be read ({error})")

    def _explain(self, asked: Request, error: Exception) -> NoReturn:
        """Find the line that the fast reader stumbled over, and say what is wrong with it."""
        records = self._records()
        if self.header:
            next(records, None)
        places = dict(zip(asked.columns, self._places(asked), strict=True))
        for number, cells in records:
            if len(cells) != len(self.columns):
                self.fail(
                    f"line {number}",
                    f"the row has {len(cells)} cell(s), but there are {len(self.columns)} columns "
                    f"({'too short' if len(cells) < len(self.columns) else 'too long'})",
                )
            for name, index in places.items():
                kind = asked.kinds.get(name, "text")
                problem = _cell_problem(cells[index], kind, asked.gaps)
                if problem:
                    self.fail(f"line {number}, column {name!r}", problem)
        raise InputError(f"{self.path}: {error}") from error


def _n_lines(block: bytes) -> int:
    return block.count(b"\n") + (not block.endswith(b"\n"))


def _bare(text: bytes) -> bytes:
    return text.rstrip(b"\r\n")


def _lines_of_rows(block: bytes, lines: range, n_rows: int) -> range | Array:
    """Return the lines that hold rows: all of them, but for blank ones."""
    if n_rows == len(lines) or not (
        b"\n\n" in block or b"\n\r\n" in block or block[:1] in (b"\n", b"\r")
    ):
        return lines
    numbers = [n for n, text in zip(lines, block.split(b"\n"), strict=False) if text.strip(b"\r")]
    return np.array(numbers, dtype=np.int64)


def _whole(cell: str) -> int | None:
    """Return the whole number that a cell holds, 1 for true and 0 for false; None for another."""
    truth = truth_value(cell)
    return whole_number(cell) if truth is None else truth


def _cell_problem(cell: str, kind: str, gaps: bool) -> str | None:
    """Say why a cell cannot be read as its kind, or None if it can."""
    if kind == "text" or (gaps and (not cell.strip() or cell in MARKERS)):
        return None
    if not cell.strip():
        return "the value is missing; fill it in or drop the row"
    if kind == "number":
        try:
            float(cell)
        except ValueError:
            return f"{shown(cell)} is not a number"
        return None
    try:
        if _whole(cell) is not None:
            return None
    except ValueError as error:
        return f"the number {error}"
    return f"{shown(cell)} is not a whole number; choose another encoder for the column"
