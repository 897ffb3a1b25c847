"""Rows from standard input: kept in a temporary file, because they are read more than once."""

from __future__ import annotations

import os
import re
import shutil
import stat
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from flagstone.cli.runner import AT_END, UsageError
from flagstone.disk.leftovers import LEFTOVERS

if TYPE_CHECKING:
    from flagstone.tables.remote import Location

__all__ = ["spooled"]

_STREAM = re.compile(r"-|/dev/stdin|/dev/fd/(\d+)")


def spooled(files: Sequence[str]) -> list[str | Location]:
    """Return the files, with a copy in the place of every stream; it is removed at the end."""
    streams = [file for file in files if _is_stream(file)]
    if len({_number(file) for file in streams}) < len(streams):
        raise UsageError("standard input can be read once only; name it once")
    return [_copied(file) if _is_stream(file) else file for file in files]


def _is_stream(file: str) -> bool:
    """Say whether a name stands for an open stream; what is redirected from a file is a file."""
    return _STREAM.fullmatch(file) is not None and not (file != "-" and Path(file).is_file())


def _number(file: str) -> int:
    found = _STREAM.fullmatch(file)
    return int(found[1] or 0) if found is not None else 0


def _copied(file: str) -> Location:
    from pyarrow import fs

    from flagstone.tables.remote import RemoteFile

    number = _number(file)
    shown = "standard input" if number == 0 else file
    if number == 0 and sys.stdin is not None and sys.stdin.isatty():
        raise UsageError("standard input is a terminal; pipe the rows into it, or name a file")
    if not stat.S_ISFIFO(os.fstat(number).st_mode) and not stat.S_ISREG(os.fstat(number).st_mode):
        raise UsageError(f"{shown} is no pipe and no file; save the rows to a file first")
    handle, name = tempfile.mkstemp(prefix="flagstone-")
    path = Path(name)
    LEFTOVERS.add(path)
    AT_END.callback(_remove, path)
    with os.fdopen(handle, "wb") as copy, os.fdopen(os.dup(number), "rb") as stream:
        shutil.copyfileobj(stream, copy, 1 << 20)
    return RemoteFile(fs.LocalFileSystem(), name, path.stat().st_size, shown)


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)
    LEFTOVERS.discard(path)
