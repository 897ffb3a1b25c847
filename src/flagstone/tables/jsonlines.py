"""JSON lines: one object (named columns) or one array (x0, x1, …) per line."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from flagstone.tables.batches import Array, Batch, Position, fail
from flagstone.tables.textio import line_blocks

__all__ = ["JsonLinesReader"]


@dataclass
class JsonLinesReader:
    """Rows of a JSON-lines file; the first row names the columns, the others must agree."""

    path: Path
    n_rows: int | None = None

    def __post_init__(self) -> None:
        first = next(self._records(0, 1), None)
        if first is None:
            fail(self.path, "", "is empty: one JSON object or array per line is expected")
        _, record, _, _ = first
        self.columns = tuple(record)

    def batches(
        self, columns: Sequence[str], kinds: Mapping[str, str], start: Position | None
    ) -> Iterator[Batch]:
        """Yield the columns as arrays of what the lines hold."""
        offset, line, row = start or (0, 1, 1)
        for block, after, done in line_blocks(self.path, offset, 1 << 20):
            texts = block.split(b"\n")
            n_lines = len(texts) - (not texts[-1])
            records = [(n, self._record(t, n)) for n, t in enumerate(texts, line) if t.strip()]
            line += n_lines
            if not records:
                continue
            first, row = row, row + len(records)
            values = [_array([record[name] for _, record in records]) for name in columns]
            lines = np.array([number for number, _ in records], dtype=np.int64)
            yield Batch(tuple(columns), values, first, lines, (after, line, row), done)

    def line(self, row: int) -> int | None:
        """Return the line of a row."""
        for index, (number, _, _, _) in enumerate(self._records(0, 1), 1):
            if index == row:
                return number
        return None

    def _records(self, offset: int, line: int) -> Iterator[tuple[int, dict[str, Any], int, float]]:
        for block, after, done in line_blocks(self.path, offset, 1 << 20):
            for text in block.split(b"\n")[: block.count(b"\n") or None]:
                if text.strip():
                    yield line, self._record(text, line), after, done
                line += 1

    def _record(self, text: bytes, line: int) -> dict[str, Any]:
        try:
            found = json.loads(text)
        except (ValueError, RecursionError) as error:
            fail(self.path, f"line {line}", f"is not JSON ({error})")
        if isinstance(found, list):
            found = dict(zip(_numbered(len(found)), found, strict=True))
        if not isinstance(found, dict) or not found:
            fail(self.path, f"line {line}", "must hold an object or an array with values")
        columns = getattr(self, "columns", tuple(found))
        if tuple(found) != columns and found.keys() != set(columns):
            missing = [name for name in columns if name not in found]
            extra = [name for name in found if name not in columns]
            problem = f"lacks {missing[0]!r}" if missing else f"has {extra[0]!r}, unknown so far"
            fail(
                self.path,
                f"line {line}",
                f"{problem}; every line must hold the {len(columns)} columns of the first one "
                f"({'too short' if missing else 'too long'})",
            )
        return found


@functools.lru_cache(maxsize=4)
def _numbered(n: int) -> tuple[str, ...]:
    return tuple(f"x{i}" for i in range(n))


def _array(values: list[Any]) -> Array:
    """Return one column: booleans, integers or floats as such, anything else as objects."""
    kinds = {type(value) for value in values}
    if kinds <= {int} and all(-(2**63) <= value < 2**63 for value in values):
        return np.array(values, dtype=np.int64)
    if kinds == {bool}:
        return np.array(values, dtype=bool)
    if kinds == {float}:
        return np.array(values, dtype=float)
    out = np.empty(len(values), dtype=object)
    for index, value in enumerate(values):
        out[index] = value
    return out
