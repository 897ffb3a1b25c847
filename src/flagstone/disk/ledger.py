"""Ledgers: append-only files of JSON lines, the first of which says what they are.

    {"flagstone-audit": 2, "sha256": "…"}

Every line ends with a checksum: the SHA-256 of the checksum of the line before it (nothing for the
first line) and of the line itself without its own. So a line that was changed, left out, repeated
or moved is noticed. A line is complete or absent: a torn last line (an interrupted write) is
dropped. Anything else that is not understood stops the reader, with the number of the line, and the
file is left as it is.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flagstone.disk.reading import check_fields, json_text, parse_json, read_regular
from flagstone.disk.writing import destination, locked
from flagstone.errors import FormatError, InputError

_VERSION = 2
#: How a line ends, without the checksum itself.
_BEFORE, _AFTER = b'"sha256": "', b'"}'
_DIGITS = 64
Take = Callable[[Any], object]


def sealed(text: str, before: str = "") -> tuple[str, str]:
    """Return a JSON object with its checksum as a last field, and that checksum.

    ``before`` is the checksum of the line before.

    >>> line, checksum = sealed('{"a": 1}')
    >>> line == f'{{"a": 1, "sha256": "{checksum}"}}'
    True
    """
    checksum = hashlib.sha256((before + text).encode()).hexdigest()
    comma = "" if text == "{}" else ", "
    return f"{text[:-1]}{comma}{_BEFORE.decode()}{checksum}{_AFTER.decode()}", checksum


def _unsealed(line: bytes, before: str) -> tuple[bytes, str]:
    """Return the JSON object that was sealed, and its checksum; ValueError if it was changed."""
    start = len(line) - len(_BEFORE) - _DIGITS - len(_AFTER)
    body = line[: max(0, start)].removesuffix(b", ") + b"}"
    try:
        wanted, checksum = sealed(body.decode(), before)
    except UnicodeDecodeError:
        wanted = ""
    if wanted.encode() != line:
        raise ValueError("its checksum does not match")
    return body, checksum


def read_ledger(
    path: str | Path, kind: str, take: Take, fields: Mapping[str, type] | None = None
) -> Ledger:
    """Hand every record to ``take``; return the ledger.

    ``take`` raises ValueError for a record it does not understand. ``fields`` are those of the
    header beside the kind. A file that ends within its first line has no header yet.
    """
    data = read_regular(path)
    mark = f"flagstone-{kind}"
    start = json.dumps({mark: 0}).encode()[:-2]
    if not (data.startswith(start) or start.startswith(data)):
        raise FormatError(f"{path} is no {kind} file (its first line says otherwise)")
    ledger = Ledger(Path(path), kind)
    ledger.size = data.rfind(b"\n") + 1
    for number, line in enumerate(data[: ledger.size].split(b"\n")[:-1], 1):
        try:
            if number == 1:
                _check_version(path, parse_json(line)[mark])
            body, ledger.checksum = _unsealed(line, ledger.checksum)
            record = parse_json(body)
            if number == 1:
                ledger.header = check_fields(record, {mark: int, **(fields or {})})
            else:
                take(record)
        except ValueError as problem:
            if isinstance(problem, FormatError):
                raise
            raise FormatError(
                f"{path}, line {number} is damaged ({problem}); the file is left untouched. "
                "Restore it from a copy, or start a new one"
            ) from problem
    return ledger


def _check_version(path: str | Path, version: Any) -> None:
    if type(version) is int and version < _VERSION:
        raise FormatError(
            f"{path} was written by a development version, in format {version}, which nothing "
            "reads any more; start a new one"
        )
    if version != _VERSION:
        raise FormatError(
            f"{path} was written in format {version}, not in {_VERSION}; update flagstone"
        )


@contextlib.contextmanager
def open_ledger(
    path: str | Path, kind: str, take: Take, fields: Mapping[str, type] | None = None
) -> Iterator[Ledger]:
    """Open a ledger for appending, for this run only, as :func:`read_ledger` reads it.

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
    >>> path.read_text().splitlines()[-1][:32]
    '{"d": 4, "sha256": "67513707116f'
    """
    target = destination(path, overwrite=True)
    if target is None:
        raise InputError(f"{path}: lines are read again later, which needs a regular file")
    with locked(path):
        ledger = read_ledger(path, kind, take, fields) if target.exists() else Ledger(target, kind)
        ledger.path = target
        yield ledger


@dataclass
class Ledger:
    """A ledger, to be appended to while `open_ledger` keeps other runs from it.

    Attributes
    ----------
    path : Path
    kind : str
    header : dict or None
        The first line, if there is one.
    size : int
        How many bytes its complete lines take.
    checksum : str
        The checksum of the last one.
    """

    path: Path
    kind: str
    header: dict[str, Any] | None = None
    size: int = 0
    checksum: str = ""

    def remove(self) -> None:
        """Delete the file: its contents are kept elsewhere."""
        self.path.unlink(missing_ok=True)

    def start(self, **header: Any) -> None:
        """Begin the file anew with a first line; its contents are lost."""
        self.size, self.checksum = 0, ""
        self.header = {f"flagstone-{self.kind}": _VERSION, **header}
        self.append([self.header])

    def append(self, records: Iterable[Mapping[str, Any]]) -> None:
        """Write some lines after the last complete one: all of them, on the disk, or none."""
        lines, checksum = [], self.checksum
        for record in records:
            line, checksum = sealed(json_text(record), checksum)
            lines.append(f"{line}\n")
        rest = memoryview("".join(lines).encode())
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
        self.size, self.checksum = end, checksum
