"""Files elsewhere: found by their URI on any filesystem that Arrow or fsspec knows, and opened."""

from __future__ import annotations

import re
import shutil
import tempfile
import zipfile
from typing import Any, cast

import pyarrow as pa
from pyarrow import fs

from flagstone.errors import InputError, MissingDependencyError
from flagstone.tables.files import Location, RemoteFile

#: Bytes of an unpacked member of an archive that are kept in memory.
_IN_MEMORY = 1 << 26


def arrow_file(path: Location) -> Any:
    """Open a file as Arrow reads it.

    A member of a ZIP archive is unpacked first, in memory or, if it is large, to a temporary
    file: to seek in it is to unpack it again and again, and in some versions of Python, where
    others read from the archive at the same time, ends up at the wrong place.
    """
    if not isinstance(path, RemoteFile):
        return pa.OSFile(str(path))
    handler = getattr(path.filesystem, "handler", None)
    if not isinstance(handler, fs.FSSpecHandler):
        return path.filesystem.open_input_file(path.path)
    opened = handler.fs.open(path.path, mode="rb")
    if isinstance(opened, zipfile.ZipExtFile):
        with opened as member:
            opened = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115
            shutil.copyfileobj(member, opened)
        opened.seek(0)
    return pa.PythonFile(opened, mode="r")


def from_anywhere(path: Location) -> Location:
    """Return a file that processes in other folders find, too, and that keeps its name."""
    if isinstance(path, RemoteFile) or path.is_absolute():
        return path
    return RemoteFile(fs.LocalFileSystem(), str(path.absolute()), path.stat().st_size, str(path))


def find_remote(source: str, filesystem: Any = None) -> list[RemoteFile]:
    """Return the file of a URI, or all files below it, sorted; hidden ones are left out.

    ``filesystem`` is one of Arrow's or fsspec's, on which ``source`` is a path; without it the URI
    says which one.
    """
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
