"""JSON lines: one object (named columns) or one array (x0, x1, …) per line.

A receiver writes the frames of a message as an array, ``"codes": ["{41}…", …]`` or
``"rows": [{"len": 41, "data": "…"}, …]``: each of them is a row.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np

from flagstone.disk import repeated
from flagstone.errors import Parameter
from flagstone.exact import exact_integer, exact_integers
from flagstone.tables.batches import Array, Batch, Reader, Request, numbered
from flagstone.tables.files import BYTE_ORDER_MARK, line_blocks, lines

#: A batch ends after the line with which it has this many cells.
_MOST_CELLS = 1 << 20


class JsonLinesReader(Reader):
    """Rows of a JSON-lines file; the first row names the columns, the others must agree."""

    position_size: ClassVar[int] = 3

    def __post_init__(self) -> None:
        for number, line in enumerate(lines(self.path), 1):
            text = line.removeprefix(BYTE_ORDER_MARK if number == 1 else b"").removesuffix(b"\n")
            if text.strip():
                self.columns = tuple(self._record(text, number))
                return
        self.fail("", "is empty: one JSON object or array per line is expected")

    def batches(self, asked: Request) -> Iterator[Batch]:
        """Yield the values of the lines as arrays, one per column."""
        columns = asked.columns
        offset, line, row = asked.start or (0, 1, 1)
        for block, after, done in line_blocks(self.path, offset):
            offset = after - len(block)
            texts = block.split(b"\n")
            texts = texts if texts[-1] else texts[:-1]
            records: list[tuple[int, dict[str, Any]]] = []
            for number, text in enumerate(texts, 1):
                if text.strip():
                    records += self._rows(columns, line, self._record(text, line))
                line, offset = line + 1, min(offset + len(text) + 1, after)
                # frames repeat the other columns of their line: cells can be many more than bytes
                is_full = len(records) * len(columns) >= _MOST_CELLS or number == len(texts)
                if not records or not is_full:
                    continue
                first, row = row, row + len(records)
                numbers = np.array([number for number, _ in records], dtype=np.int64)
                values = [_array([record[name] for _, record in records]) for name in columns]
                yield Batch(values, first, numbers, (offset, line, row), done)
                records = []

    def _rows(
        self, columns: Sequence[str], line: int, record: dict[str, Any]
    ) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield a record as rows: one, or one for each frame of a message that was sent often."""
        frames = {}
        for name in columns:
            value = record[name]
            if isinstance(value, (list, dict)):
                found = [_frame_text(item) for item in (value if type(value) is list else [value])]
                if None in found:
                    self.fail(
                        f"line {line}, column {name!r}",
                        "an array or object inside a row; a column must hold numbers, text, true "
                        "and false, or frames",
                    )
                frames[name] = found
        if not frames:
            yield line, record
            return
        lengths = {len(found) for found in frames.values()}
        if len(lengths) > 1:
            self.fail(
                f"line {line}",
                f"{' and '.join(map(repr, frames))} hold different numbers of frames; choose one "
                "with ",
                Parameter("columns"),
            )
        n_frames, chosen = lengths.pop(), {name: record[name] for name in columns}
        self.check_parts(f"line {line}", n_frames * len(columns), "cells in all its frames")
        for index in range(n_frames):
            yield line, chosen | {name: found[index] for name, found in frames.items()}

    def _record(self, text: bytes, line: int) -> dict[str, Any]:
        n_values = sum(map(text.count, (b",", b":", b"[", b"{")))  # or fewer, with texts
        self.check_parts(f"line {line}", n_values, "values and names", 4 * self.max_columns)
        try:
            found = _parse(text)
        except (ValueError, RecursionError) as error:
            self.fail(f"line {line}", f"is not JSON that can be read ({error})")
        if not isinstance(found, (dict, list)) or not found:
            self.fail(f"line {line}", "must hold an object or an array with values")
        self.check_width(len(found))
        if isinstance(found, list):
            found = dict(zip(numbered(len(found)), found, strict=True))
        columns = self.columns or tuple(found)
        if tuple(found) != columns and found.keys() != (known := set(columns)):
            missing = [name for name in columns if name not in found]
            extra = [name for name in found if name not in known]
            problem = f"lacks {missing[0]!r}" if missing else f"has {extra[0]!r}, unknown so far"
            self.fail(
                f"line {line}",
                f"{problem}; every line must hold the {len(columns)} columns of the first one "
                f"({'too short' if missing else 'too long'})",
            )
        return found


def _frame_text(item: Any) -> str | None:
    """Return a frame as receivers write it: ``"{41}…"``, or its length and its digits."""
    if isinstance(item, dict) and item.keys() >= {"len", "data"}:
        length, digits = item["len"], item["data"]
        return f"{{{length}}}{digits}" if type(length) is int and type(digits) is str else None
    return item if isinstance(item, str) else None


def _parse(text: bytes) -> Any:
    """Parse one line: no name twice, integers of any length, text that can be written again."""
    try:
        found = json.loads(text, object_pairs_hook=_object)
    except ValueError as error:
        if "limit" not in str(error):  # of the digits that Python reads at once
            raise
        found = json.loads(text, object_pairs_hook=_object, parse_int=exact_integer)
    if b"\\u" in text:
        json.dumps(found, ensure_ascii=False).encode()  # half a surrogate pair is no text
    return found


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError(f"the name {repeated(name for name, _ in pairs)!r} occurs twice")
    return found


def _array(values: list[Any]) -> Array:
    """Return one column: booleans, integers or floats as such, anything else as objects."""
    kinds = set(map(type, values))
    if kinds <= {int}:
        return exact_integers(values)
    if kinds in ({bool}, {float}):
        return np.array(values)
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out
