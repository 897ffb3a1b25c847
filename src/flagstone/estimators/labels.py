"""Labels as the caller has them: a checked vector, and the distinct ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import column_or_1d

from flagstone.algebra.fields import Array
from flagstone.errors import InputError, Parameter
from flagstone.exact import exact_array, exact_integers, missing_entries
from flagstone.tables.memory import refuse_masked

_SHOWN = 5


def label_vector(y: Any, n_rows: int, owner: str) -> Array:
    """Return y as a vector of as many labels as there are rows."""
    if y is None:
        raise InputError(f"{owner} requires y to be passed, but the target y is None")
    refuse_masked(y, "y")
    try:
        labels: Array = column_or_1d(exact_array(y), warn=True)
    except ValueError as error:
        raise InputError(f"y must be one label per row: {error} Choose one column") from None
    labels = _plain(labels)
    gaps = ~np.isfinite(labels) if labels.dtype.kind == "f" else missing_entries(labels)
    if gaps.any():
        row = int(np.argmax(gaps))
        raise InputError(
            f"y: row {row} is {labels[row]}, a missing or infinite label; drop the row first"
        )
    if len(labels) != n_rows:
        raise InputError(
            f"Found input variables with inconsistent numbers of samples: X has {n_rows} row(s), "
            f"y has {len(labels)} label(s)"
        )
    return labels


def label_name(y: Any, taken: Array) -> str:
    """Return the name of a series, or of the only column of a frame; ``y`` if it has none."""
    columns = getattr(y, "columns", None)
    name = getattr(y, "name", None) if columns is None else next(iter(columns), None)
    return name if isinstance(name, str) and name.strip() and name not in taken else "y"


def named_classes(classes: Any) -> Array | None:
    """Return the sorted distinct labels that a caller names, or None."""
    if classes is None:
        return None
    refuse_masked(classes, "classes")
    try:
        named = exact_array(classes)
    except ValueError:
        named = np.empty((0, 0))
    if named.ndim != 1 or not len(named):
        raise InputError(
            Parameter("classes"), f" must be a list of all labels that can occur, got {classes!r}"
        )
    return distinct(_plain(named))


def distinct(labels: Array) -> Array:
    """Return the sorted distinct labels, without sorting if there are only two numbers."""
    if labels.dtype.kind in "bui" and len(labels):
        low, high = labels.min(), labels.max()
        if low == high:
            return np.array([low])
        if labels.dtype.kind == "b" or int(high) - int(low) == 1:
            return np.array([low, high])
    try:
        return np.unique(labels)
    except TypeError:
        kinds = sorted({type(v).__name__ for v in labels.tolist()})
        raise InputError(f"y mixes labels of types {', '.join(kinds)}; use one type") from None


def refuse_label(label: Any, classes: Array) -> None:
    """Raise for an unknown label."""
    value = label.item() if isinstance(label, np.generic) else label
    raise InputError(
        f"y holds {value!r}, a label that does not go with those known "
        f"({some_of(classes.tolist())}); drop its rows, or name every label that can occur when "
        "the estimator is made: classes=[...]"
    )


def some_of(labels: Sequence[Any], say: Callable[[Any], str] = repr) -> str:
    """Return the first few labels as text."""
    return ", ".join(map(say, labels[:_SHOWN])) + (", …" if len(labels) > _SHOWN else "")


def legend(classes: Array | None) -> str:
    """Say which element each label is, if labels are numbered."""
    numbered = [] if classes is None else list(enumerate(classes.tolist()))
    return some_of(numbered, lambda pair: f"{pair[1]!r} is {pair[0]}")


def _plain(labels: Array) -> Array:
    """Return booleans in an object array as such, and integers as int64 if all of them fit.

    Signed and unsigned integers side by side would become floats.
    """
    if labels.dtype != object and labels.dtype != np.uint64:
        return labels
    kinds = {type(v) for v in labels.tolist()}
    if kinds and kinds <= {bool, np.bool_}:
        return labels.astype(bool)
    return exact_integers(labels.tolist()) if kinds == {int} else labels
