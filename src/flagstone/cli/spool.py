"""Rows from standard input: kept in a temporary file, or read in one pass where that is enough."""

from __future__ import annotations

import io
import os
import re
import shutil
import stat
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from flagstone.cli.console import AT_END, UsageError
from flagstone.disk.writing import TEMP_FILES
from flagstone.errors import InputError
from flagstone.tables.files import Location, RemoteFile

_STREAM = re.compile(r"-|/dev/stdin|/dev/fd/(\d+)")
#: Bytes of a stream that are kept, because its beginning is looked at before it is read.
_KEPT = 1 << 24
_UNKNOWN = 1 << 62


def spooled(files: Sequence[str], *, once: bool = False) -> list[str | Location]:
    """Return the files, with a copy in the place of every stream; it is removed at the end.

    With ``once``, a stream stands for itself.
    """
    numbers = [_stream_number(file) for file in files]
    streams = [number for number in numbers if number is not None]
    if len(set(streams)) < len(streams):
        raise UsageError("standard input can be read once only; name it once")
    return [
        file if number is None else _location(number, file, once=once)
        for number, file in zip(numbers, files, strict=True)
    ]


def _stream_number(file: str) -> int | None:
    """Return the open stream that a name stands for; one redirected from a file is that file."""
    found = _STREAM.fullmatch(file)
    if found is None or (file != "-" and Path(file).is_file()):
        return None
    return int(found[1] or 0)


def _location(number: int, file: str, *, once: bool) -> Location:
    """Return where the rows of a stream are: in a copy, or in itself."""
    shown = "standard input" if number == 0 else file
    if number == 0 and sys.stdin is not None and sys.stdin.isatty():
        raise UsageError("standard input is a terminal; pipe the rows into it, or name a file")
    kind = os.fstat(number).st_mode
    if not stat.S_ISFIFO(kind) and not stat.S_ISREG(kind):
        raise UsageError(f"{shown} is no pipe and no file; save the rows to a file first")
    stream = AT_END.enter_context(os.fdopen(os.dup(number), "rb", buffering=0))
    if once:
        return RemoteFile(OnePassStream(stream, shown), "stream", _UNKNOWN, shown)
    from pyarrow import fs

    handle, name = tempfile.mkstemp(prefix="flagstone-")
    path = Path(name)
    TEMP_FILES.add(path)
    AT_END.callback(TEMP_FILES.discard, path)
    AT_END.callback(path.unlink, missing_ok=True)
    with os.fdopen(handle, "wb") as copy:
        shutil.copyfileobj(stream, copy, 1 << 20)
    return RemoteFile(fs.LocalFileSystem(), name, path.stat().st_size, shown)


class OnePassStream:
    """A filesystem of one stream, which is read once; its beginning may be looked at before."""

    def __init__(self, stream: Any, shown: str, kept: int = _KEPT) -> None:
        self.stream, self.shown, self.kept = stream, shown, kept
        self.head = bytearray()
        self.whole = True  #: whether the head is all that was read

    def open_input_file(self, _: str) -> io.RawIOBase:
        """Open the stream from its beginning."""
        if not self.whole:
            raise InputError(
                f"{self.shown} was read in one pass and cannot be read again, to say more; leave "
                "out --no-measure, or save the rows to a file"
            )
        return _Pass(self)


class _Pass(io.RawIOBase):
    """One look at a stream."""

    def __init__(self, source: OnePassStream) -> None:
        self._source, self._place = source, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._place

    def seek(self, place: int, whence: int = 0) -> int:
        if whence == 0 and place <= len(self._source.head) and self._source.whole:
            self._place = place
        elif whence == 0 and place >= self._place:
            while self._place < place and self.read(min(1 << 20, place - self._place)):
                pass
        elif not (whence == 1 and place == 0):
            raise OSError("a stream is read forwards")
        return self._place

    def readinto(self, buffer: Any) -> int:
        source = self._source
        data = bytes(source.head[self._place : self._place + len(buffer)])
        if not data:
            data = source.stream.read(len(buffer)) or b""
            if source.whole and len(source.head) + len(data) <= source.kept:
                source.head += data
            elif data:
                source.whole = False
        buffer[: len(data)] = data
        self._place += len(data)
        return len(data)
