"""Constraints: the linear equations that rows obey."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from flagstone.answers._base import (
    Answer,
    check_names,
    from_json,
    frozen,
    header,
    names_from_json,
    to_json,
)
from flagstone.answers._solve import zero
from flagstone.answers._text import equation, expression, feature_names, mask
from flagstone.errors import FormatError, InputError
from flagstone.fields import Array, Field, as_field
from flagstone.subspace import AffineSubspace, Subspace, canonical_text

__all__ = ["Constraints"]


@dataclass(frozen=True, eq=False, repr=False)
class Equations(Answer):
    """Equations Ax = b over a field, in the reduced row echelon form of (A | b)."""

    matrix: Array
    rhs: Array
    field: Field = 2  # type: ignore[assignment]
    names: tuple[str, ...] | None = None

    _kind: ClassVar[str] = "equations"

    def __post_init__(self) -> None:
        field = as_field(self.field)
        A, b = np.asarray(self.matrix), np.asarray(self.rhs)
        if A.ndim != 2 or A.shape[1] < 1 or b.shape != (len(A),):
            raise InputError(
                "a system needs a matrix with one right-hand side per row, got shapes "
                f"{A.shape} and {b.shape}"
            )
        left = field.array(field.rows(A, name="matrix"))
        right = field.array(field.rows(b[:, np.newaxis], name="rhs"))
        echelon = Subspace.span(np.concatenate([left, right], axis=1), field, A.shape[1] + 1).basis
        object.__setattr__(self, "field", field)
        object.__setattr__(self, "matrix", frozen(echelon[:, :-1]))
        object.__setattr__(self, "rhs", frozen(echelon[:, -1]))
        object.__setattr__(self, "names", check_names(self.names, A.shape[1]))

    @property
    def dim(self) -> int:
        """The number of unknowns."""
        return int(self.matrix.shape[1])

    @property
    def is_contradictory(self) -> bool:
        """Whether the equations include 0 = 1, so that no row obeys them."""
        return bool(len(self) and not (self.matrix[-1] != 0).any())

    def __len__(self) -> int:
        return len(self.rhs)

    def syndrome(self, X: Any) -> Array:
        """Return Ax − b for each row, shape (n_rows, n_equations): zero where it holds."""
        F = self.field
        rows = F.rows(X, dim=self.dim)
        if not len(self):
            return np.full((len(rows), 0), zero(F), dtype=F.dtype)
        return F.sub(F.dot(rows, self.matrix), self.rhs[np.newaxis, :])

    def check(self, X: Any) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Say of each row whether it obeys all equations."""
        return np.asarray((self.syndrome(X) == 0).all(axis=1), dtype=bool)

    @property
    def lines(self) -> tuple[str, ...]:
        """The equations for people, one text each."""
        names = feature_names(self.names, self.dim)
        return tuple(
            equation(self.field, row, names, b)
            for row, b in zip(self.matrix, self.rhs, strict=True)
        )

    @property
    def text(self) -> str:
        """The equations for people, one per line."""
        return "\n".join(self.lines) or "(no equations: every row obeys them)"

    @property
    def expression(self) -> str:
        """A Python expression, true of a row ``x`` of plain numbers exactly when it obeys all."""
        parts = []
        for row, b in zip(self.matrix, self.rhs, strict=True):
            left = expression(self.field, row)
            right = expression(self.field, row[:0], b)
            parts.append(f"({left}) == {right}")
        return " and ".join(parts) or "True"

    @property
    def masks(self) -> tuple[str, ...]:
        """The left-hand sides as hexadecimal bit masks (bit i is column i), over GF(2)."""
        if self.field.order != 2:
            raise InputError(f"bit masks exist over GF(2) only, these are over {self.field}")
        return tuple(mask(row) for row in self.matrix)

    def to_dict(self) -> dict[str, Any]:
        """Return the equations as JSON values; ``from_dict`` reads them back."""
        return {
            "kind": self._kind,
            "version": 1,
            "field": self.field.name,
            "dim": self.dim,
            "matrix": [to_json(self.field, row) for row in self.matrix],
            "rhs": to_json(self.field, self.rhs),
            "names": None if self.names is None else list(self.names),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Return the equations that :meth:`to_dict` wrote."""
        data, field = header(data, cls._kind)
        dim, matrix, rhs = data.get("dim"), data.get("matrix"), data.get("rhs")
        if not isinstance(dim, int) or isinstance(dim, bool) or dim < 1:
            raise FormatError(f"dim must be a positive integer, got {dim!r}")
        if not isinstance(matrix, list) or not isinstance(rhs, list) or len(matrix) != len(rhs):
            raise FormatError("a saved system needs one right-hand side per row of its matrix")
        A = [from_json(field, row, f"row {i} of matrix", dim) for i, row in enumerate(matrix)]
        table = np.stack(A) if A else field.array(field.empty(0, dim))
        return cls(table, from_json(field, rhs, "rhs"), field, names_from_json(data, dim))

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        shown = "; ".join(self.lines[:3]) + ("; …" if len(self) > 3 else "")
        count = f"{len(self)} equation{'' if len(self) == 1 else 's'} in {self.dim} unknowns"
        return f"{type(self).__name__}({count}{': ' if shown else ''}{shown})"

    def _canonical(self) -> bytes:
        head = (
            f"flagstone {self._kind} v1\nfield {self.field}\nunknowns {self.dim}\n"
            f"equations {len(self)}\n"
        )
        body = np.concatenate([self.matrix, self.rhs[:, np.newaxis]], axis=1)
        return head.encode() + canonical_text(self.field, body)


@dataclass(frozen=True, eq=False, repr=False)
class Constraints(Equations):
    """The linear equations Ax = b that all vectors of a subspace obey.

    The rows (A | b) are in reduced row echelon form, so equal spaces give equal constraints.

    Parameters
    ----------
    matrix : array of shape (k, d)
    rhs : array of shape (k,)
    field : Field, int or str
    names : sequence of str, optional
        What the columns are called; x0, x1, … otherwise. No part of equality.

    Attributes
    ----------
    lines : tuple of str
        The equations as text.
    dim : int
        The number of columns d.

    Notes
    -----
    The fingerprint is the SHA-256 of this text, in UTF-8 with a newline after each line:
    ``flagstone constraints v1``, ``field`` and the field's name, ``unknowns`` and d,
    ``equations`` and k, then the rows of (A | b), entries apart by one space.

    Examples
    --------
    A code word of the [7, 4] Hamming code obeys three checks; a damaged one shows where:

    >>> from flagstone import Constraints, Subspace
    >>> words = [[1,0,0,0,0,1,1], [0,1,0,0,1,0,1], [0,0,1,0,1,1,0], [0,0,0,1,1,1,1]]
    >>> checks = Constraints.from_subspace(Subspace.span(words))
    >>> print(checks)
    x0 ⊕ x2 ⊕ x4 ⊕ x6 = 0
    x1 ⊕ x2 ⊕ x5 ⊕ x6 = 0
    x3 ⊕ x4 ⊕ x5 ⊕ x6 = 0
    >>> checks.check(words).tolist()
    [True, True, True, True]
    >>> checks.syndrome([[1, 0, 0, 1, 0, 1, 1]]).tolist()   # column 3 damaged: its own column
    [[0, 0, 1]]
    """

    _kind: ClassVar[str] = "constraints"

    @classmethod
    def from_subspace(
        cls, V: Subspace | AffineSubspace, *, names: Sequence[str] | None = None
    ) -> Constraints:
        """Return the equations of V: its annihilator, or Ax = b of an affine subspace.

        Guarantees
        ----------
        ``check(X)`` is true of exactly the rows in V. Of an empty affine subspace the only
        equation is 0 = 1, which no row obeys.
        """
        if isinstance(V, AffineSubspace):
            A, b = V.equations()
        else:
            A = V.annihilator().basis
            b = np.full(len(A), zero(V.field), dtype=V.field.dtype)
        return cls(A, b, V.field, check_names(names, V.ambient_dim))
