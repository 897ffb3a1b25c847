"""What all answers share: canonical text, fingerprint, equality, JSON values."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from flagstone.errors import FormatError, InputError
from flagstone.fields import Array, Field, as_field


class Answer(ABC):
    """A frozen value: equal when the mathematics is equal, whatever the columns are called."""

    field: Field

    @abstractmethod
    def _canonical(self) -> bytes: ...

    def fingerprint(self) -> str:
        """Return the SHA-256 of the canonical text (see the class), 64 hex digits."""
        return hashlib.sha256(self._canonical()).hexdigest()

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._canonical() == other._canonical()

    def __hash__(self) -> int:
        return hash(self._canonical())


def frozen(array: Array) -> Array:
    """Return a read-only copy."""
    out = np.array(array)
    out.flags.writeable = False
    return out


def check_names(names: Sequence[str] | None, dim: int) -> tuple[str, ...] | None:
    """Return names as a tuple, one per feature."""
    if names is None:
        return None
    out = tuple(str(name) for name in names)
    if len(out) != dim:
        raise InputError(f"names must name every feature: {dim} are needed, got {len(out)}")
    return out


def to_json(field: Field, values: Array) -> list[Any]:
    """Return elements as JSON values: integers, or texts such as ``"3/4"`` over QQ."""
    if field.order is None:
        return [str(v) for v in values]
    return [int(v) for v in values]


def from_json(field: Field, values: Any, what: str, dim: int | None = None) -> Array:
    """Return elements from JSON values, or raise FormatError naming what does not fit."""
    if not isinstance(values, list) or any(isinstance(v, (list, dict, bool)) for v in values):
        raise FormatError(f"{what} must be a list of elements of {field}, got {values!r}")
    if not values:
        return field.array(field.empty(0, 1))[:, 0]
    try:
        column = field.rows(_column(values), name=what)
    except InputError as error:
        raise FormatError(str(error)) from error
    if dim is not None and len(values) != dim:
        raise FormatError(f"{what} has {len(values)} entries, but {dim} are expected")
    return field.array(column)[:, 0]


def header(data: Any, kind: str) -> tuple[Mapping[str, Any], Field]:
    """Check the kind of a saved answer and return it with its field."""
    if not isinstance(data, Mapping) or data.get("kind") != kind:
        found = data.get("kind") if isinstance(data, Mapping) else type(data).__name__
        raise FormatError(f"expected a saved {kind}, got {found!r}")
    if data.get("version") != 1:
        raise FormatError(
            f"this {kind} has version {data.get('version')!r}, but only version 1 is known; "
            "a newer flagstone may read it"
        )
    try:
        return data, as_field(data["field"])
    except (KeyError, InputError) as error:
        raise FormatError(f"a saved {kind} must name its field: {error}") from error


def names_from_json(data: Mapping[str, Any], dim: int) -> tuple[str, ...] | None:
    """Return the saved names, one text per feature, or None."""
    names = data.get("names")
    if names is None:
        return None
    if (
        not isinstance(names, list)
        or len(names) != dim
        or not all(isinstance(n, str) for n in names)
    ):
        raise FormatError(f"names must be a list of {dim} texts, got {names!r}")
    return tuple(names)


def _column(values: list[Any]) -> Array:
    out = np.empty((len(values), 1), dtype=object)
    out[:, 0] = values
    return out
