"""Ledgers: append-only files of JSON lines, the first of which says what they are.

A line is complete or absent: a torn last line (an interrupted write) is dropped. Anything else
that is not understood stops the reader, with the number of the line, and the file is left as it is.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flagstone.disk.locking import locked
from flagstone.disk.reading import check_fields, json_text, parse_json, read_regular
from flagstone.disk.writing import destination
from flagstone.errors import FormatError, InputError

_VERSION = 1
Take = Callable[[Any], object]


def read_ledger(
    path: str | Path, kind: str, take: Take, fields: Mapping[str, type] | None = None
) -> tuple[dict[str, Any] | None, int]:
    """Hand every record to ``take``; return the header and the length of the complete lines.

    ``take`` raises ValueError for a record it does not understand. ``fields`` are those of the
    header beside the kind. A file that ends within its first line has no header yet.
    """
    data = read_regular(path)
    mark = f"flagstone-{kind}"
    start = json.dumps({mark: 0}).encode()[:-2]
    if not (data.startswith(start) or start.startswith(data)):
        raise FormatError(f"{path} is no {kind} file (its first line says otherwise)")
    complete = data.rfind(b"\n") + 1
    header = None
    for number, line in enumerate(data[:complete].split(b"\n")[:-1], 1):
        try:
            record = parse_json(line)
            if number > 1:
                take(record)
            elif record[mark] == _VERSION:
                header = check_fields(record, {mark: int, **(fields or {})})
        except ValueError as problem:
            raise FormatError(
                f"{path}, line {number} is damaged ({problem}); the file is left untouched. "
                "Restore it from a copy, or start a new one"
            ) from problem
        if header is None:
            raise FormatError(
                f"{path} was written in format {record[mark]}, not in {_VERSION}; update flagstone"
            )
    return header, complete


@contextlib.contextmanager
def open_ledger(
    path: str | Path, kind: str, take: Take, fields: Mapping[str, type] | None = None
) -> Iterator[Ledger]:
    """Open a ledger for appending, for this run alone, as :func:`read_ledger` reads it.

    Opening writes nothing.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "notes.jsonl"
    >>> with open_ledger(path, "notes", print) as ledger:
    ...     ledger.start()
    ...     ledger.append([{"a": 1}, {"b": 2}])
    >>> with path.open("a") as file:
    ...     _ = file.write('{"c": to')
    >>> with open_ledger(path, "notes", print) as ledger:
    ...     ledger.append([{"d": 4}])
    {'a': 1}
    {'b': 2}
    >>> print(path.read_text(), end="")
    {"flagstone-notes": 1}
    {"a": 1}
    {"b": 2}
    {"d": 4}
    """
    target = destination(path, overwrite=True)
    if target is None:
        raise InputError(f"{path}: lines are read again later, which needs a regular file")
    with locked(path):
        found = read_ledger(path, kind, take, fields) if target.exists() else (None, 0)
        yield Ledger(target, kind, *found)


@dataclass
class Ledger:
    """An open ledger: its file, its kind, its header if it has one, its complete bytes."""

    path: Path
    kind: str
    header: dict[str, Any] | None
    size: int

    def remove(self) -> None:
        """Delete the file: everything it stood for is kept elsewhere."""
        self.path.unlink(missing_ok=True)

    def start(self, **header: Any) -> None:
        """Begin the file anew with a first line; whatever it held is gone."""
        self.size = 0
        self.header = {f"flagstone-{self.kind}": _VERSION, **header}
        self.append([self.header])

    def append(self, records: Iterable[Mapping[str, Any]]) -> None:
        """Write some lines after the last complete one: all of them, on the disk, or none."""
        rest = memoryview("".join(json_text(record) + "\n" for record in records).encode())
        end = self.size + len(rest)
        handle = os.open(self.path, os.O_WRONLY | os.O_CREAT, 0o666)
        with open(handle, "wb", buffering=0) as file:
            try:
                file.truncate(self.size)
                file.seek(self.size)
                while rest:
                    rest = rest[file.write(rest) :]
                os.fsync(handle)
            except OSError as error:
                with contextlib.suppress(OSError):
                    file.truncate(self.size)
                text = f"{error.strerror}; what it held before is kept"
                raise OSError(error.errno, text, str(self.path)) from error
        self.size = end
