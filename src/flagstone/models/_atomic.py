"""Files that are there completely or not at all."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO

from flagstone.errors import InputError

__all__ = ["atomic_file", "atomic_write", "atomic_write_all", "refuse_existing"]


def refuse_existing(path: Path) -> None:
    """Raise InputError if something stands at the path already, or if it cannot be written."""
    if path.exists() or path.is_symlink():
        raise InputError(f"{path} exists already; give --force (overwrite=True) to replace it")
    if not path.parent.is_dir():
        raise InputError(f"{path}: the directory {path.parent} does not exist")


@contextlib.contextmanager
def atomic_file(path: str | Path, *, overwrite: bool = False) -> Iterator[IO[bytes]]:
    """Open a file for writing that takes its place only when everything is on disk.

    The bytes go to a temporary file beside the target, are synced, and then the file is
    renamed: a reader, a crash, a kill or a full disk never sees half of it. What a killed
    writer left behind is removed by the next one.
    """
    path = Path(path)
    with _temporary(path, overwrite) as temporary:
        with _named(path), temporary.open("wb") as stream:
            yield stream
            _sync(stream)
        temporary.replace(path)
    _sync_directory(path.parent)


def atomic_write(path: str | Path, data: bytes, *, overwrite: bool = False) -> None:
    """Write bytes to a file at once, see :func:`atomic_file`."""
    with atomic_file(path, overwrite=overwrite) as stream:
        stream.write(data)


def atomic_write_all(files: Mapping[str | Path, bytes], *, overwrite: bool = False) -> None:
    """Write several files: all of them are on disk before the first one takes its place.

    So a disk that fills up in the middle leaves none of them.
    """
    with contextlib.ExitStack() as stack:
        ready = []
        for target, data in files.items():
            path = Path(target)
            temporary = stack.enter_context(_temporary(path, overwrite))
            with _named(path), temporary.open("wb") as stream:
                stream.write(data)
                _sync(stream)
            ready.append((temporary, path))
        for temporary, path in ready:
            temporary.replace(path)
        for parent in {path.parent for _, path in ready}:
            _sync_directory(parent)


@contextlib.contextmanager
def _temporary(path: Path, overwrite: bool) -> Iterator[Path]:
    """Yield the name of a temporary file beside the target; whatever happens, it is gone after."""
    if not overwrite:
        refuse_existing(path)
    _sweep(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield temporary
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


@contextlib.contextmanager
def _named(path: Path) -> Iterator[None]:
    """Let an error of the file system name the target, not the temporary file."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def _sync(stream: IO[bytes]) -> None:
    stream.flush()
    os.fsync(stream.fileno())


def _sweep(path: Path) -> None:
    """Remove the temporary files of writers of this path that are gone."""
    for left in path.parent.glob(f".{_literal(path.name)}.*.tmp"):
        owner = left.name.rsplit(".", 2)[-2]
        if owner.isdigit() and not _is_alive(int(owner)):
            with contextlib.suppress(OSError):
                left.unlink()


def _literal(name: str) -> str:
    return "".join(f"[{c}]" if c in "*?[" else c for c in name)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _sync_directory(path: Path) -> None:
    with contextlib.suppress(OSError):  # not every file system lets a directory be synced
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
