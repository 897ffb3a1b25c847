"""Small checks of what the caller hands in: a width, integers, weights."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from flagstone.errors import InputError, Parameter
from flagstone.exact import Array, exact_array, exact_floor

_MOST_ROWS = 2**63 - 1


def shown(value: Any) -> str:
    """Return what an error message shows of a value: its repr, cut to a readable length.

    Examples
    --------
    >>> shown(np.int64(7)), shown("ab"), shown(10**5000)
    ('7', "'ab'", '<int, too long to write out>')
    """
    value = value.item() if isinstance(value, np.generic) else value
    try:
        text = repr(value)
    except ValueError:  # Python writes out integers up to a length only
        return f"<{type(value).__name__}, too long to write out>"
    return text if len(text) <= 80 else f"{text[:60]}…"


def checked_integer(value: Any, least: int, *must: str | Parameter) -> int:
    """Return an integer of at least ``least``; otherwise say what must hold and what was given.

    >>> checked_integer(2.5, 1, "a table needs at least one row")
    Traceback (most recent call last):
    ...
    flagstone.errors.InputError: a table needs at least one row, got 2.5
    """
    try:
        number = least - 1 if isinstance(value, (bool, np.bool_)) else operator.index(value)
    except TypeError:
        number = least - 1
    if number < least:
        raise InputError(*must, f", got {shown(value)}")
    return number


def frame_names(X: Any) -> list[str] | None:
    """Return the names of a frame's columns; None if they have none, or numbers."""
    names = list(getattr(X, "column_names", getattr(X, "columns", ())))  # of Arrow; of the others
    if not names or not all(isinstance(name, str) for name in names):
        return None
    if len(set(names)) < len(names):
        raise InputError(
            "X has two columns of the same name; rename one of them, or pass X.to_numpy()"
        )
    return names


def checked_dim(dim: Any) -> int:
    """Return a positive number of columns, or say what was given."""
    return checked_integer(dim, 1, "dim must be a positive number of columns")


def owner_of(estimator: Any, attribute: str) -> Any | None:
    """Return the fitted estimator with an attribute: itself, or what it wraps.

    That is the last step of a pipeline, and the best estimator of a search.
    """
    while estimator is not None and not hasattr(estimator, attribute):
        steps = getattr(estimator, "steps", None)
        inner = getattr(estimator, "best_estimator_", None) or getattr(
            estimator, "estimator_", None
        )
        estimator = steps[-1][1] if steps else inner
    return estimator


def checked_total(seen: int, more: int) -> int:
    """Return how many rows there are with these, or say that counts do not reach so far."""
    if seen + more > _MOST_ROWS:
        raise InputError(f"up to {_MOST_ROWS} rows are counted; these would be more")
    return seen + more


def checked_weights(weights: Any, n_rows: int, name: str = "weights") -> tuple[Array | None, int]:
    """Return weights as int64 (None for all ones) and their sum, or say which one is bad.

    >>> checked_weights([2, 0, 1], 3)[1]
    3
    >>> checked_weights([2, -1, 1], 3)
    Traceback (most recent call last):
    ...
    flagstone.errors.InputError: weights: row 1 has weight -1; weights say how often a row \
counts, so they must be whole numbers ≥ 0 and below 2^63
    """
    if weights is None:
        return None, n_rows
    try:
        array = exact_array(weights)
    except ValueError:
        raise InputError(f"{name} must be one number per row, got a ragged list") from None
    if array.shape != (n_rows,):
        raise InputError(
            f"{name} must be one number per row, shape ({n_rows},), got shape {array.shape}"
        )
    if array.dtype.kind not in "buifO":
        raise InputError(f"{name} must be whole numbers ≥ 0, got dtype {array.dtype}")
    if array.dtype.kind == "O":  # integers past 64 bits, or no numbers at all
        whole = [exact_floor(w) for w in array]
        good = np.array(
            [
                n is not None and n == w and 0 <= n <= _MOST_ROWS
                for n, w in zip(whole, array, strict=True)
            ],
            dtype=bool,
        )
    else:
        good = array >= 0
    if array.dtype.kind == "u":
        good &= array <= np.uint64(_MOST_ROWS)
    elif array.dtype.kind == "f":  # 2^63 − 1 is no float: compare with the first one above it
        good &= (array < np.float64(2**63)) & (np.floor(array) == array)
    if not good.all():
        row = int(np.argmin(good))
        raise InputError(
            f"{name}: row {row} has weight {shown(array[row])}; weights say how often a row "
            "counts, so they must be whole numbers ≥ 0 and below 2^63"
        )
    counts = np.ascontiguousarray(array, dtype=np.int64)
    fits = int(counts.max(initial=0)) * len(counts) <= _MOST_ROWS
    return counts, int(counts.sum()) if fits else sum(counts.tolist())
