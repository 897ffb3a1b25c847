"""Subspace: a canonical, immutable value."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from flagstone.algebra.fields import Array, Field, FieldLike, Rows, as_field, width
from flagstone.algebra.lift import chunks
from flagstone.checks import checked_dim
from flagstone.errors import InputError
from flagstone.markup import card, matrix, table


class Subspace:
    """A linear subspace of F^d, held by its reduced row echelon form.

    The form is canonical, so equal subspaces are equal values with equal hashes and equal
    fingerprints. Make one with :meth:`span`, :meth:`zero` or :meth:`full`.

    Attributes
    ----------
    field : Field
    dim, ambient_dim : int
        Its dimension, and d.
    basis : array of shape (dim, ambient_dim)
        The reduced row echelon form, read-only.
    pivots : tuple of int
        The pivot column of each basis row, rising.

    Examples
    --------
    >>> from flagstone import Subspace
    >>> V = Subspace.span([[1, 1, 0], [0, 1, 1], [1, 0, 1]])
    >>> V.dim, V.basis.tolist()
    (2, [[1, 0, 1], [0, 1, 1]])
    >>> V.contains([[1, 1, 0], [1, 0, 0]]).tolist()
    [True, False]

    The annihilator holds the equations of V, and taking it twice gives V back:

    >>> V.annihilator().basis.tolist()
    [[1, 1, 1]]
    >>> V.annihilator().annihilator() == V
    True
    """

    __slots__ = ("_pivots", "_rows", "ambient_dim", "dim", "field")

    field: Field
    dim: int
    ambient_dim: int
    _rows: Rows
    _pivots: Array

    def __init__(self) -> None:
        raise TypeError("make a subspace with Subspace.span(X), Subspace.zero(d) or .full(d)")

    @classmethod
    def _make(cls, field: Field, rows: Rows, pivots: Array) -> Subspace:
        self = object.__new__(cls)
        values = {"_rows": rows, "_pivots": pivots, "field": field}
        for name, value in (values | {"dim": len(pivots), "ambient_dim": width(rows)}).items():
            object.__setattr__(self, name, value)
        return self

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("a Subspace is immutable")

    @classmethod
    def span(cls, X: Any, field: FieldLike = 2, dim: int | None = None) -> Subspace:
        """Return the span of the rows of X (``dim`` is needed only when X has no rows)."""
        F = as_field(field)
        return cls.of_rows(F.rows(X, dim=dim), F)

    @classmethod
    def of_rows(cls, rows: Rows, field: Field) -> Subspace:
        """Return the span of rows that are already in the field's internal form."""
        basis, pivots = field.rref(rows)
        return cls._make(field, basis, pivots)

    @classmethod
    def zero(cls, dim: int, field: FieldLike = 2) -> Subspace:
        """Return the zero subspace of F^dim."""
        F = as_field(field)
        return cls._make(F, F.empty(0, checked_dim(dim)), np.zeros(0, dtype=np.int64))

    @classmethod
    def full(cls, dim: int, field: FieldLike = 2) -> Subspace:
        """Return F^dim."""
        F = as_field(field)
        eye = F.rows(np.eye(checked_dim(dim), dtype=np.uint8))
        return cls._make(F, eye, np.arange(dim, dtype=np.int64))

    @property
    def rows(self) -> Rows:
        """The basis in the field's internal form (packed over GF(2)), read-only."""
        return _read_only(self._rows) if isinstance(self._rows, np.ndarray) else self._rows

    @property
    def basis(self) -> Array:
        """The reduced row echelon form as a plain read-only array."""
        return _read_only(self.field.array(self._rows))

    @property
    def pivots(self) -> tuple[int, ...]:
        """The pivot columns, rising."""
        return tuple(self._pivots.tolist())

    def contains(self, X: Any) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Say of each row of X whether it lies in the subspace."""
        rows = self.field.rows(X, dim=self.ambient_dim)
        out = np.empty(len(rows), dtype=bool)
        for piece in chunks(*rows.shape):
            residual = self.field.reduce(rows[piece], self._rows, self._pivots)
            out[piece] = ~self.field.nonzero(residual)
        return out

    def reduce(self, X: Any) -> Array:
        """Return the canonical representative of each row modulo the subspace.

        It is zero in every pivot column; two rows differ by an element of the subspace
        exactly when their representatives are equal.
        """
        rows = self.field.rows(X, dim=self.ambient_dim)
        return self.field.array(self.field.reduce(rows, self._rows, self._pivots))

    def annihilator(self) -> Subspace:
        """Return {a : ⟨a, v⟩ = 0 for all v in V}: the equations that V obeys."""
        F, d, R = self.field, self.ambient_dim, self.basis
        free = np.delete(np.arange(d), self._pivots)
        N = F.array(F.empty(len(free), d)).copy()
        if len(free):
            N[np.arange(len(free)), free] = F.one
            N[:, self._pivots] = F.neg(R[:, free].T)
        return Subspace.of_rows(F.rows(N, dim=d), F)

    def __add__(self, other: Subspace) -> Subspace:
        self._same_space(other)
        return Subspace.of_rows(self.field.stack(self._rows, other._rows), self.field)

    def __and__(self, other: Subspace) -> Subspace:
        self._same_space(other)
        return (self.annihilator() + other.annihilator()).annihilator()

    def __le__(self, other: Subspace) -> bool:
        self._same_space(other)
        return self.dim <= other.dim and bool(other.contains(self._rows).all())

    def __ge__(self, other: Subspace) -> bool:
        return other <= self

    def __lt__(self, other: Subspace) -> bool:
        return self <= other and self.dim < other.dim

    def __gt__(self, other: Subspace) -> bool:
        return other < self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Subspace):
            return NotImplemented
        return (
            self.field == other.field
            and self.ambient_dim == other.ambient_dim
            and self.dim == other.dim
            and np.array_equal(self.field.matrix(self._rows), other.field.matrix(other._rows))
        )

    def __hash__(self) -> int:
        return hash((self.field, self.ambient_dim, self.fingerprint()))

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return Subspace.span, (self._rows, self.field, self.ambient_dim)

    def __repr__(self) -> str:
        return (
            f"Subspace(dim={self.dim} of {self.field}^{self.ambient_dim}, "
            f"fingerprint={self.fingerprint()[:16]})"
        )

    def _repr_html_(self) -> str:
        return card(
            f"Subspace of dimension {self.dim} of {self.field}^{self.ambient_dim}",
            matrix(self.basis, self.field.format),
            table([("Fingerprint", self.fingerprint()[:16])]),
        )

    def fingerprint(self) -> str:
        """Return the SHA-256 of the canonical text, 64 hex digits.

        The text is, in UTF-8 with a newline after each line: ``flagstone subspace v1``, then
        ``field`` and the field's name, ``ambient`` and d, ``dim`` and the dimension, then the
        rows of the reduced row echelon form, entries apart by one space.

        Examples
        --------
        >>> import hashlib
        >>> from flagstone import Subspace
        >>> text = "flagstone subspace v1\\nfield GF(2)\\nambient 3\\ndim 1\\n1 0 1\\n"
        >>> V = Subspace.span([[1, 0, 1]])
        >>> V.fingerprint() == hashlib.sha256(text.encode()).hexdigest()
        True
        """
        head = (
            f"flagstone subspace v1\nfield {self.field}\nambient {self.ambient_dim}\n"
            f"dim {self.dim}\n"
        )
        return hashlib.sha256(head.encode() + self.field.canonical_text(self.basis)).hexdigest()

    def _same_space(self, other: Subspace) -> None:
        if not isinstance(other, Subspace):
            raise TypeError(f"expected a Subspace, got {type(other).__name__}")
        if self.field != other.field or self.ambient_dim != other.ambient_dim:
            raise InputError(
                f"the subspaces live in different spaces: {self.field}^{self.ambient_dim} "
                f"and {other.field}^{other.ambient_dim}"
            )


def _read_only(array: Array) -> Array:
    view = array.view()
    view.flags.writeable = False
    return view
