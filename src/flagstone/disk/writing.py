"""Outputs that are complete or absent, never replace other than regular files; locks on files."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
import stat
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO

from flagstone.errors import InputError, Parameter
from flagstone.processes import held_signals

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

#: Temporary files and folders, and files of locks, that are in use now.
TEMP_FILES: set[Path] = set()


def remove_temp_files() -> None:
    """Tidy up for a process that ends at once, without the blocks that would do it."""
    for path in list(TEMP_FILES):
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            with contextlib.suppress(OSError):
                path.unlink()
        TEMP_FILES.discard(path)


_PREFIX = ".flagstone-"
_KINDS = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def is_stdout(path: str | Path) -> bool:
    """Say whether a path means standard output: ``-`` or ``/dev/stdout``."""
    return os.fspath(path) in ("-", "/dev/stdout")


def destination(path: str | Path, *, overwrite: bool = False) -> Path | None:
    """Return the file that writing to a path makes or replaces; None for a stream.

    Streams are standard output and the null device. Symbolic links are followed, so that a
    link stays a link. Everything else that is no regular file is refused.
    """
    if is_stdout(path):
        return None
    try:
        found = os.stat(path)
    except FileNotFoundError:
        found = None
    except OSError as error:
        circle = "its symbolic links lead in a circle"
        reason = circle if error.errno == errno.ELOOP else error.strerror
        raise InputError(f"{path}: cannot be written ({reason})") from error
    if found is not None and not stat.S_ISREG(found.st_mode):
        if stat.S_ISCHR(found.st_mode) and _device(found) == _device(os.stat(os.devnull)):
            return None
        kind = next((word for is_kind, word in _KINDS if is_kind(found.st_mode)), "no file")
        raise InputError(f"{path} is {kind}; give the name of a regular file, or a new one")
    if not overwrite and os.path.lexists(path):
        raise _exists(path)
    real = Path(os.path.realpath(path))
    if not real.parent.is_dir():
        raise InputError(f"{path}: the directory {real.parent} does not exist")
    return real


def _device(found: os.stat_result) -> int:
    return getattr(found, "st_rdev", 0)  # Windows does not number its devices


def check_target(path: str | Path, *, overwrite: bool = False) -> None:
    """Refuse before the work what could not be written after it."""
    target = destination(path, overwrite=overwrite)
    if target is not None:
        try:
            temporary, stream = _temporary(target)
        except OSError as error:
            raise InputError(
                f"{path}: nothing can be written to the directory {target.parent} "
                f"({error.strerror})"
            ) from error
        stream.close()
        temporary.unlink()
        TEMP_FILES.discard(temporary)


def same_place(a: str | Path, b: str | Path) -> bool:
    """Say whether two paths name one file, now or once they are written."""
    if is_stdout(a) or is_stdout(b):
        return is_stdout(a) and is_stdout(b)
    if os.path.normcase(os.path.realpath(a)) == os.path.normcase(os.path.realpath(b)):
        return True
    try:
        return os.path.samefile(a, b)
    except OSError:
        return False


@contextlib.contextmanager
def atomic_file(path: str | Path, *, overwrite: bool = False) -> Iterator[IO[bytes]]:
    """Open a file for writing that takes its place only when everything is on disk.

    The bytes go to a new file beside the target, are synced, and then the file is renamed: a
    reader, a crash, a kill or a full disk never sees half of it. Without ``overwrite`` the name
    must be free at that moment, too: of several writers one wins. (A writer that is killed
    outright leaves its ``.flagstone-….tmp`` behind; no other run touches it.)
    """
    target = destination(path, overwrite=overwrite)
    if target is None:
        with _named(path), _open_stream(path) as stream:
            yield stream
        return
    with _named(path):
        temporary, stream = _temporary(target)
    try:
        with _named(path), stream:
            yield stream
            _sync(stream)
        destination(path, overwrite=overwrite)  # the file there may have changed since
        if overwrite:
            temporary.replace(target)
        else:
            _place_new(temporary, target, path)
    finally:
        temporary.unlink(missing_ok=True)
        TEMP_FILES.discard(temporary)
    _sync_directory(target.parent)


def atomic_write(
    path: str | Path, data: bytes, *, overwrite: bool = False, keep_equal: bool = False
) -> None:
    """Write bytes to a file at once, see :func:`atomic_file` and :func:`write_all`."""
    write_all({path: data}, overwrite=overwrite, keep_equal=keep_equal)


def write_all(
    files: Mapping[str | Path, bytes], *, overwrite: bool = False, keep_equal: bool = False
) -> None:
    """Write several files: all of them are on disk before the first one takes its place.

    So a disk that fills up in the middle, or an interrupt, leaves none of them. With
    ``keep_equal`` a file that holds the very bytes already is left alone, and no reason to
    refuse.
    """
    with (
        held_signals(),
        contextlib.ExitStack() as leaving,
    ):  # leaving it, the files take their place
        for path, data in files.items():
            if keep_equal and _holds(path, data):
                continue
            stream = leaving.enter_context(atomic_file(path, overwrite=overwrite))
            with _named(path):
                stream.write(data)
                _sync(stream)


@contextlib.contextmanager
def _named(path: str | Path) -> Iterator[None]:
    """Let an error of writing name the target, not the temporary file."""
    try:
        yield
    except OSError as error:
        if error.filename is None or _PREFIX in str(error.filename):
            text = f"{error.strerror or error}; nothing was written"
            raise OSError(error.errno, text, os.fspath(path)) from error
        raise  # an error of something else, with a name of its own


def _open_stream(path: str | Path) -> IO[bytes]:
    if not is_stdout(path):
        return open(path, "wb")
    sys.stdout.flush()
    return open(1, "wb", closefd=False)


def _sync(stream: IO[bytes]) -> None:
    stream.flush()
    try:
        os.fsync(stream.fileno())
    except OSError as error:
        if error.errno != errno.EINVAL:  # pipes and devices cannot be synced
            raise


def _temporary(target: Path) -> tuple[Path, IO[bytes]]:
    """Open a file beside the target under a name that no other file has."""
    while True:
        path = target.with_name(f"{_PREFIX}{secrets.token_hex(8)}.tmp")
        TEMP_FILES.add(path)  # before it is there: a signal may strike right after
        try:
            return path, path.open("xb")
        except OSError as error:
            TEMP_FILES.discard(path)
            if not isinstance(error, FileExistsError):
                raise


def _place_new(temporary: Path, target: Path, path: str | Path) -> None:
    """Give a file a name that must be free; whether it is, is decided by the file system."""
    try:
        try:
            os.link(temporary, target)
        except FileExistsError:
            raise
        except OSError:  # a file system without links: first take the name, then fill it
            target.open("xb").close()
            temporary.replace(target)
    except FileExistsError:
        raise _exists(path) from None


def _exists(path: str | Path) -> InputError:
    return InputError(f"{path} exists already; replace it with ", Parameter("overwrite", True))


def _holds(path: str | Path, data: bytes) -> bool:
    try:
        target = destination(path, overwrite=True)
        if target is None or target.stat().st_size != len(data):
            return False
        return target.read_bytes() == data
    except OSError:
        return False


def _sync_directory(path: Path) -> None:
    with contextlib.suppress(OSError):  # not every file system lets a directory be synced
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


# One run at a time: locks of the operating system, which vanish with their process


@contextlib.contextmanager
def locked(path: str | Path) -> Iterator[None]:
    """Keep other runs from a file while the block runs; InputError if one uses it already.

    The lock is on a file ``.NAME.lock`` beside it. What a killed run leaves of it locks nothing.
    """
    real = Path(os.path.realpath(path))
    beside = real.with_name(f".{real.name}.lock")
    with held_signals():  # between the two, it would be left behind
        handle = _acquire(beside, path)
        TEMP_FILES.add(beside)
    try:
        yield
    finally:
        with held_signals():
            _release(beside, handle)


def _release(beside: Path, handle: int) -> None:
    TEMP_FILES.discard(beside)
    # ours until it is closed, so no other run can have begun to use the name;
    # Windows wants it closed first, and keeps what another run has opened by then
    with contextlib.suppress(PermissionError):
        beside.unlink(missing_ok=True)
    os.close(handle)
    if sys.platform == "win32":
        with contextlib.suppress(OSError):
            beside.unlink()


def _acquire(beside: Path, path: str | Path) -> int:
    while True:
        try:
            handle = os.open(beside, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)
        except OSError as error:
            reason = f"nothing can be written beside it: {error.strerror}"
            raise OSError(error.errno, reason, os.fspath(path)) from error
        try:
            _lock(handle)
            if os.path.samestat(os.fstat(handle), os.stat(beside)):
                return handle
        except BlockingIOError:
            os.close(handle)
            raise InputError(
                f"{path} is in use by another run; wait for it to end, or choose another file"
            ) from None
        except FileNotFoundError:
            pass
        os.close(handle)  # the run that had it removed it between our two steps: once more


def _lock(handle: int) -> None:
    if sys.platform == "win32":
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError as error:  # the only reason that Windows gives
            raise BlockingIOError from error
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError:  # a file system without locks: runs cannot be told apart there
        pass
