"""Layouts: what stands in a row of a summary beside the features."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from flagstone.errors import FormatError
from flagstone.fields import Array, Field

__all__ = ["LAYOUTS", "Layout"]


@dataclass(frozen=True, slots=True)
class Layout:
    """Rows (x), (x, 1), (x, y) or (x, 1, y): features, a constant if affine, a label if any.

    Examples
    --------
    >>> from flagstone import GF
    >>> Layout(ones=True, label=True).rows(np.array([[0, 1, 1]], dtype=np.uint8), GF(2)).tolist()
    [[0, 1, 1, 1]]
    >>> print(Layout(ones=True), Layout(label=True).dim(20))
    (x, 1) 21
    """

    ones: bool = False
    label: bool = False

    def __str__(self) -> str:
        return f"(x{', 1' if self.ones else ''}{', y' if self.label else ''})"

    def dim(self, n_features: int) -> int:
        """Return the dimension D of the rows."""
        return n_features + self.ones + self.label

    def rows(self, matrix: Array, field: Field) -> Array:
        """Put the constant into encoded rows, whose last column is the label if there is one."""
        if not self.ones:
            return matrix
        n_features = matrix.shape[1] - self.label
        order: Literal["C", "F"] = "C" if matrix.flags.c_contiguous else "F"
        out = np.empty((len(matrix), matrix.shape[1] + 1), dtype=matrix.dtype, order=order)
        out[:, :n_features] = matrix[:, :n_features]
        out[:, n_features] = Fraction(1) if field.order is None else 1
        out[:, n_features + 1 :] = matrix[:, n_features:]
        return out

    def to_dict(self) -> dict[str, bool]:
        """Return a JSON form."""
        return {"ones": self.ones, "label": self.label}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Layout:
        """Read the form that :meth:`to_dict` writes."""
        ones, label = data.get("ones"), data.get("label")
        if not isinstance(ones, bool) or not isinstance(label, bool):
            raise FormatError("the layout of the rows cannot be read")
        return cls(ones, label)


LAYOUTS = {
    "span": Layout(),
    "constraints": Layout(ones=True),
    "learn": Layout(label=True),
    "equations": Layout(label=True),
}
