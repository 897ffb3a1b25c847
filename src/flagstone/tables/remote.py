"""Files that are not on this machine's disk: on any filesystem that Arrow or fsspec knows.

A `RemoteFile` has as much of a path as the readers of this package need.
"""

from __future__ import annotations

import io
import re
import shutil
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from types import SimpleNamespace
from typing import IO, Any, TypeAlias, cast

from flagstone.errors import InputError, MissingDependencyError

#: Bytes of an unpacked member of an archive that are kept in memory.
_IN_MEMORY = 1 << 26
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


@dataclass(frozen=True)
class RemoteFile:
    """One file of a filesystem of Arrow's, by the name that its user knows."""

    filesystem: Any
    path: str
    size: int
    shown: str

    def __str__(self) -> str:
        return self.shown

    @property
    def name(self) -> str:
        """The last part of the path."""
        return PurePosixPath(self.path).name

    @property
    def suffix(self) -> str:
        """What follows the last dot of the name, with it."""
        return PurePosixPath(self.path).suffix

    def with_suffix(self, suffix: str) -> PurePosixPath:
        """The path with another suffix, to read a name through a compression."""
        return PurePosixPath(self.path).with_suffix(suffix)

    def stat(self) -> Any:
        """As much as readers ask for: ``st_size``."""
        return SimpleNamespace(st_size=self.size)

    def open(self, mode: str = "rb") -> IO[bytes]:
        """Open the file for reading bytes, at any place in it."""
        return cast("IO[bytes]", io.BufferedReader(self.arrow_file()))

    def arrow_file(self) -> Any:
        """Open the file as Arrow reads it.

        A member of a ZIP archive is unpacked first, in memory or, if it is large, to a temporary
        file: to seek in it is to unpack it again and again, and in some versions of Python, where
        others read from the archive at the same time, ends up at the wrong place.
        """
        import pyarrow as pa
        from pyarrow import fs

        handler = getattr(self.filesystem, "handler", None)
        if not isinstance(handler, fs.FSSpecHandler):
            return self.filesystem.open_input_file(self.path)
        opened = handler.fs.open(self.path, mode="rb")
        if isinstance(opened, zipfile.ZipExtFile):
            with opened as member:
                opened = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115
                shutil.copyfileobj(member, opened)
            opened.seek(0)
        return pa.PythonFile(opened, mode="r")


Location: TypeAlias = Path | RemoteFile


def is_uri(source: object) -> bool:
    """Say whether a source names a filesystem: ``s3://bucket/frames``."""
    return isinstance(source, str) and _URI.match(source) is not None


def arrow_file(path: Location) -> Any:
    """Open a file as Arrow reads it."""
    import pyarrow as pa

    if isinstance(path, RemoteFile):
        return path.arrow_file()
    return pa.OSFile(str(path))


def binary_file(path: Location) -> Any:
    """Return what other libraries open: a path as it is, a remote file as a stream."""
    return path.open("rb") if isinstance(path, RemoteFile) else path


def from_anywhere(path: Location) -> Location:
    """Return a file that processes in other folders find, too, and that keeps its name."""
    if isinstance(path, RemoteFile) or path.is_absolute():
        return path
    from pyarrow import fs

    return RemoteFile(fs.LocalFileSystem(), str(path.absolute()), path.stat().st_size, str(path))


def find_remote(source: str, filesystem: Any = None) -> list[RemoteFile]:
    """Return the file of a URI, or all files below it, sorted; hidden ones are left out.

    ``filesystem`` is one of Arrow's or fsspec's, on which ``source`` is a path; without it the URI
    says which one.
    """
    from pyarrow import fs

    try:
        if filesystem is None:
            filesystem, path = _resolve(source)
        else:
            known = isinstance(filesystem, fs.FileSystem)
            filesystem = filesystem if known else fs.PyFileSystem(fs.FSSpecHandler(filesystem))
            path = source
        found = filesystem.get_file_info(path)
        if found.type == fs.FileType.File:
            return [RemoteFile(filesystem, path, found.size, source)]
        if found.type != fs.FileType.Directory:
            raise InputError(f"{source}: no such file or directory there")
        below = filesystem.get_file_info(fs.FileSelector(path, recursive=True))
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        reason = " ".join(str(error).split())[:200]
        raise InputError(f"{source}: cannot be read ({reason})") from error
    files = []
    for info in sorted(below, key=lambda info: str(info.path)):
        inside = str(info.path).removeprefix(path).strip("/")
        if info.type == fs.FileType.File and not re.search(r"(^|/)[._]", inside):
            files.append(
                RemoteFile(filesystem, info.path, info.size, f"{source.rstrip('/')}/{inside}")
            )
    if not files:
        raise InputError(f"{source}: the directory holds no files")
    return files


def _resolve(uri: str) -> tuple[Any, str]:
    """Return the filesystem of a URI and the path on it; Arrow's own come before fsspec's."""
    from pyarrow import fs

    if "::" not in uri:  # chains, such as zip://member::archive.zip, are fsspec's
        try:
            return cast("tuple[Any, str]", fs.FileSystem.from_uri(uri))
        except ValueError as unknown:
            if "nrecognized filesystem" not in str(unknown):
                raise
    scheme = uri.partition("://")[0]
    try:
        from fsspec.core import url_to_fs

        filesystem, path = url_to_fs(uri)
    except ImportError as error:
        raise MissingDependencyError(
            f"{uri}: Arrow knows no filesystem {scheme!r}; install fsspec and its package for it "
            f"({error})"
        ) from error
    return fs.PyFileSystem(fs.FSSpecHandler(filesystem)), path
