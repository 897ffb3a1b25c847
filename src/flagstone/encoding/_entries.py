"""Entries of a column as numbers, texts or frames; the first invalid one is named."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

import numpy as np

from flagstone.algebra.fields import Array
from flagstone.checks import shown
from flagstone.exact import exact_floor, exact_integers, exact_rational, is_missing
from flagstone.notation import FrameProblem, WrittenFrame, one_frame

IS_MISSING = "the value is missing; fill it in or drop the row"
_NOT_HEX = re.compile("[^0-9a-fA-F]")


class BadEntry(ValueError):
    """An entry that an encoder refuses: its index in the batch, why, and its column."""

    def __init__(self, index: int, problem: str, column: str = "") -> None:
        super().__init__(problem)
        self.index, self.problem, self.column = index, problem, column


def refuse(bad: Array, values: Array, problem: str) -> None:
    """Raise BadEntry for the first entry that is marked as bad, if there is one."""
    if bad.any():
        index = int(np.argmax(bad))
        raise BadEntry(index, f"{shown(values[index])} {problem}")


def texts(values: Array) -> Iterable[str]:
    """Return the text of every entry: true/false for booleans, 3 for the number three."""
    if values.dtype == bool:
        return ("true" if value else "false" for value in values)
    return (
        ("true" if value else "false") if isinstance(value, (bool, np.bool_)) else str(value)
        for value in values.tolist()
    )


def whole_range(values: Array) -> tuple[int, int] | None:
    """Return the least and the largest entry of a column of integers; None for other columns."""
    is_whole = values.dtype.kind in "ui" or all(type(value) is int for value in values.tolist())
    return (int(values.min()), int(values.max())) if is_whole and len(values) else None


def is_rational(text: str) -> bool:
    """Say whether a text is a number that can be read exactly."""
    try:
        exact_rational(text)
    except ValueError:
        return False
    return True


def whole_floats(values: Array) -> Array:
    """Say of each float whether it is a whole number that no other one is rounded to."""
    with np.errstate(invalid="ignore"):
        small = np.abs(values.astype(np.promote_types(values.dtype, np.float64))) < 2.0**53
        return np.asarray((np.floor(values) == values) & small)


def integers(values: Array, hint: str = "is not a whole number") -> Array:
    """Return entries that are whole numbers as integers."""
    kind = values.dtype.kind
    if kind in "bui":
        return values
    if kind == "f":
        refuse(~whole_floats(values), values, hint)
        return values.astype(np.int64)
    found = []
    for index, value in enumerate(values.tolist()):
        if is_missing(value):
            raise BadEntry(index, IS_MISSING)
        whole = exact_floor(value)
        if whole is None or whole != value or (isinstance(value, float) and abs(value) >= 2.0**53):
            raise BadEntry(index, f"{shown(value)} {hint}")
        found.append(whole)
    return exact_integers(found)


def frame_lengths(values: Array) -> Counter[int]:
    """Count the frames of each length in a column of text.

    >>> frame_lengths(np.array(["0d55", "0d:56", "{6}b4"], dtype=object))
    Counter({16: 2, 6: 1})
    """
    return Counter(frame.n_bits for frame in frames(values))


def frames(values: Array) -> list[WrittenFrame]:
    """Return the frames that cells of text hold, one each."""
    cells = values.tolist()
    if all(type(cell) is str and cell for cell in cells) and not _NOT_HEX.search("".join(cells)):
        return [WrittenFrame(4 * len(cell), cell.encode()) for cell in cells]
    found = []
    for index, cell in enumerate(cells):
        if is_missing(cell) or cell == "":
            raise BadEntry(index, IS_MISSING)
        if not isinstance(cell, str):
            raise BadEntry(index, f"{shown(cell)} is a number, where a frame is written as text")
        try:
            found.append(one_frame(cell.encode(errors="replace")))
        except FrameProblem as problem:
            raise BadEntry(index, f"{shown(cell)} is no frame: {problem}") from None
    return found
