"""How much of a file is taken at its word: checked before memory is spent on what it announces."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence

from flagstone.errors import FlagstoneError, FormatError, InputError, Parameter
from flagstone.tables.remote import Location

#: Flags take memory in proportion to the square of the columns: 2 GiB for so many over GF(2).
MOST_COLUMNS = 1 << 17
#: A row is held in memory as a whole, and compressed files unpack to much more than their size.
MOST_ROW_BYTES = 1 << 26
#: A cell, a value or a comment takes 100 to 250 bytes of memory once it is told from the others,
#: however short its text is.
MOST_PARTS = 1 << 20


def check_width(path: Location, n_columns: int, most: int = MOST_COLUMNS) -> None:
    """Refuse a file without columns, or with more of them than anybody asked for."""
    if n_columns < 1:
        raise InputError(f"{path}: has no columns")
    if n_columns > most:
        raise InputError(
            f"{path}: has {n_columns:,} columns, but up to {most:,} are read: memory grows with "
            "their square. Keep fewer, or ask for more with ",
            Parameter("max_columns", n_columns),
        )


def check_names(path: Location, names: Sequence[str]) -> None:
    """Refuse two columns of one name, and names that cannot be written down."""
    twice = repeated(names)
    if twice is not None:
        raise InputError(f"{path}: two columns are called {twice!r}; rename one")
    try:
        "".join(names).encode()
    except UnicodeEncodeError as error:
        raise InputError(f"{path}: the name of a column is no valid Unicode ({error})") from None


def check_row_bytes(path: Location, where: str, n_bytes: int) -> None:
    """Refuse a row that is longer than any table needs."""
    if n_bytes > MOST_ROW_BYTES:
        raise InputError(
            f"{path} {where} is longer than {MOST_ROW_BYTES >> 20} MiB, the most that one row may "
            "take; is this a file of rows, one per line?"
        )


def check_parts(path: Location, where: str, n_parts: int, what: str, most: int = 0) -> None:
    """Refuse a row that would take far more memory than its text, before it is taken apart."""
    most = max(MOST_PARTS, most)
    if n_parts > most:
        raise InputError(
            f"{path} {where}: has {n_parts:,} {what}, but up to {most:,} are read: each takes "
            "memory of its own; is this a file of rows, one per line?"
        )


def repeated(names: Iterable[str]) -> str | None:
    """Return the first name that occurs a second time.

    >>> repeated(["a", "b", "a"])
    'a'
    """
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


@contextlib.contextmanager
def reading(path: Location, kind: str) -> Iterator[None]:
    """Turn what the parser of a format meets in a damaged file into a FormatError."""
    try:
        yield
    except FlagstoneError:
        raise
    except Exception as error:  # parsers raise whatever they meet
        reason = " ".join(str(error).split())[:160] or type(error).__name__
        raise FormatError(
            f"{path} is no {kind} file, or it is cut short or damaged ({reason})"
        ) from error
