"""SpanAnswer: a subspace as an answer that prints, checks and saves itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from flagstone.answers import Constraints
from flagstone.errors import FlagstoneError, FormatError
from flagstone.subspace import Subspace

__all__ = ["SpanAnswer", "subspace_from_dict", "subspace_to_dict"]


@dataclass(frozen=True)
class SpanAnswer:
    """The span itself, with the names of its columns.

    Examples
    --------
    >>> answer = SpanAnswer(Subspace.span([[1, 1, 0], [0, 1, 1]]))
    >>> print(answer.text)
    dimension 2 of 3, basis:
    101
    011
    >>> answer.masks
    ('0x5', '0x6')
    >>> eval(answer.expression, {"x": [1, 1, 0]})
    True
    """

    subspace: Subspace
    names: tuple[str, ...] | None = None

    @property
    def dim(self) -> int:
        """The number of columns."""
        return self.subspace.ambient_dim

    @property
    def lines(self) -> tuple[str, ...]:
        """The basis, one row each: bits over GF(2), numbers otherwise."""
        field = self.subspace.field
        gap = "" if field.order == 2 else " "
        return tuple(gap.join(field.format(x) for x in row) for row in self.subspace.basis)

    @property
    def text(self) -> str:
        """The span for people."""
        head = f"dimension {self.subspace.dim} of {self.dim}"
        return "\n".join([f"{head}, basis:", *self.lines]) if self.lines else f"{head}: {{0}}"

    @property
    def masks(self) -> tuple[str, ...]:
        """The basis as hexadecimal bit masks (bit i is column i), over GF(2)."""
        basis = self.subspace.basis
        zeros = np.zeros(len(basis), dtype=basis.dtype)
        return Constraints(basis, zeros, self.subspace.field).masks

    @property
    def expression(self) -> str:
        """A Python expression, true of a row ``x`` exactly when it lies in the span."""
        return Constraints.from_subspace(self.subspace).expression

    def check(self, X: Any) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Say of each row whether it lies in the span."""
        return self.subspace.contains(X)

    def fingerprint(self) -> str:
        """Return the fingerprint of the subspace."""
        return self.subspace.fingerprint()

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON form."""
        names = None if self.names is None else list(self.names)
        return {"kind": "span", "version": 1, "names": names, **subspace_to_dict(self.subspace)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> SpanAnswer:
        """Read the form that :meth:`to_dict` writes."""
        names = data.get("names")
        return cls(subspace_from_dict(data), None if names is None else tuple(map(str, names)))


def subspace_to_dict(V: Subspace) -> dict[str, Any]:
    """Return a subspace as JSON: field, ambient dimension, and its basis as rows of text."""
    gap = "" if V.field.order == 2 else " "
    rows = [gap.join(V.field.format(x) for x in row) for row in V.basis]
    return {"field": V.field.name, "ambient_dim": V.ambient_dim, "basis": rows}


def subspace_from_dict(data: Mapping[str, Any]) -> Subspace:
    """Read the form that :func:`subspace_to_dict` writes."""
    try:
        rows = [list(row) if data["field"] == "GF(2)" else row.split() for row in data["basis"]]
        numbers = rows if data["field"] == "QQ" else [[int(x) for x in row] for row in rows]
        V = Subspace.span(numbers, data["field"], dim=data["ambient_dim"])
        if subspace_to_dict(V)["basis"] != list(data["basis"]):
            raise ValueError("its basis is not the canonical one")
    except (KeyError, TypeError, ValueError, AttributeError, FlagstoneError) as error:
        raise FormatError(f"the subspace cannot be read ({error})") from error
    return V
