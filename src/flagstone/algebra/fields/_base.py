"""What every field offers, and the way from a caller's table to canonical rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Protocol, TypeAlias

import numpy as np

from flagstone.algebra.bitrows import BitRows
from flagstone.algebra.fields._tables import as_table
from flagstone.errors import InputError
from flagstone.exact import Array, exact_array

Rows: TypeAlias = "BitRows | Array"
FieldLike: TypeAlias = "Field | int | str"


def width(rows: Rows) -> int:
    """Return the number of columns of rows in internal form."""
    return rows.dim if isinstance(rows, BitRows) else int(rows.shape[1])


class FlagState(Protocol):
    """The state of a counted flag, as a kernel holds it."""

    def insert(self, rows: Array, weights: Array | None) -> None:
        """Insert rows in order, each as often as its weight says."""

    def dump(self) -> tuple[Array, Array]:
        """Return an adapted basis by falling count, and the counts."""

    def copy(self) -> FlagState:
        """Return a state that shares nothing with this one."""


class Kernel(Protocol):
    """Linear algebra over one field on matrices of its rows; ``dim`` is their number of columns."""

    def rref(self, dim: int, M: Array) -> tuple[Array, Array]:
        """Return the non-zero rows of the reduced row echelon form, and the pivot columns."""

    def reduce(self, X: Array, R: Array, pivots: Array) -> Array:
        """Return X minus the combinations of R, reduced echelon, that clear its pivot columns."""

    def dot(self, X: Array, W: Array) -> Array:
        """Return the products ⟨x_i, w_j⟩."""

    def merge(self, dim: int, X: Array, cx: Array, Y: Array, cy: Array) -> tuple[Array, Array]:
        """Return an adapted basis of the merge of two flags, and its falling counts."""

    def flag(self, dim: int) -> FlagState:
        """Return the state of an empty flag."""

    def flag_load(self, dim: int, basis: Array, counts: Array) -> FlagState:
        """Return the state of the flag that an adapted basis with falling counts describes."""


class Field(ABC):
    """A field F: what its elements are, and who computes with them.

    Get one from ``GF(order)`` or ``QQ``; a plain order or the text ``"QQ"`` is accepted
    wherever a field is.

    Attributes
    ----------
    order : int or None
        The number of elements q; None for the rationals.
    characteristic, degree : int
        p and k of GF(p^k); 0 and 1 for the rationals.
    name : str
        ``"GF(2)"``, ``"GF(7)"``, ``"GF(2^8)"``, ``"QQ"``.
    dtype : numpy dtype
        The dtype of canonical arrays: the smallest unsigned integer that holds q − 1;
        object (of ``Fraction``) for the rationals.

    Examples
    --------
    >>> from flagstone import GF
    >>> F = GF(4)
    >>> F
    GF(2^2)
    >>> x = F.array(F.rows([[0, 1, 2, 3]]))
    >>> F.mul(x, F.mul(x, F.mul(x, x))).tolist() == x.tolist()  # a^q = a
    True
    """

    order: int | None
    characteristic: int
    degree: int
    name: str
    dtype: np.dtype[Any]

    def __repr__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:
        return self.order == other.order if isinstance(other, Field) else NotImplemented

    def __hash__(self) -> int:
        return hash((Field, self.order))

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        from flagstone.algebra.fields._lookup import as_field

        return as_field, (self.name,)

    def rows(
        self, X: Any, *, dim: int | None = None, name: str = "X", reduce: bool = False
    ) -> Rows:
        """Validate a table and return it as rows in the field's internal form.

        Parameters
        ----------
        X : BitRows, array, nested list, data frame or sparse matrix, shape (n_rows, n_columns)
        dim : int, optional
            The number of columns there must be.
        name : str
            What the caller calls the table, for error messages.
        reduce : bool
            Map every integer into the field (modulo its order; fractions are floored)
            instead of refusing those outside.

        Raises
        ------
        InputError
            Naming row, column, value and remedy.
        """
        table = as_table(X, dim=dim, name=name)
        if isinstance(table, BitRows):
            return self._packed(table, name)
        return self._canonical(table, name, reduce)

    def trusted(self, elements: Array) -> Rows:
        """Return a matrix of the field's dtype as rows, without looking at its entries again."""
        return np.ascontiguousarray(elements)

    def array(self, rows: Rows) -> Array:
        """Return rows as a plain array of the field's dtype."""
        return rows.unpack() if isinstance(rows, BitRows) else rows

    def elements(self, values: Any, *, name: str = "y", reduce: bool = False) -> Array:
        """Validate a vector and return it as elements of the field's dtype."""
        vector = exact_array(values)
        if vector.ndim != 1:
            raise InputError(f"{name} must be one value per row, got {vector.ndim} dimension(s)")
        return self.array(self.rows(vector[:, np.newaxis], name=name, reduce=reduce))[:, 0]

    @cached_property
    def zero(self) -> Any:
        """The element 0, in the form that canonical arrays hold."""
        return self.array(self.empty(1, 1))[0, 0]

    @cached_property
    def one(self) -> Any:
        """The element 1, in the form that canonical arrays hold."""
        return self.array(self.rows([[1]]))[0, 0]

    @property
    @abstractmethod
    def kernel(self) -> Kernel:
        """Who computes with matrices over this field."""

    @abstractmethod
    def empty(self, n_rows: int, dim: int) -> Rows:
        """Return all-zero rows in internal form."""

    def stack(self, *parts: Rows) -> Rows:
        """Put rows below each other."""
        if len(parts) == 1:
            return parts[0]
        return self.wrap(np.concatenate([self.matrix(part) for part in parts]), width(parts[0]))

    def format(self, value: Any) -> str:
        """Return the text of one element."""
        return str(int(value))

    def texts(self, rows: Rows) -> list[str]:
        """Return each row as a text: bits over GF(2), elements apart by spaces otherwise.

        >>> from flagstone import GF
        >>> GF(2).texts(GF(2).rows([[1, 0, 1]])), GF(5).texts(GF(5).rows([[4, 0]]))
        (['101'], ['4 0'])
        """
        if self.order == 2:
            digits = self.array(rows).astype(np.uint8) + np.uint8(ord("0"))
            return [row.tobytes().decode() for row in digits]
        return [" ".join(map(self.format, row)) for row in self.array(rows).tolist()]

    def canonical_text(self, array: Array) -> bytes:
        """Return lines of entries apart by one space: what fingerprints are of."""
        if self.order is not None and self.order <= 10 and array.size:
            text = np.full((array.shape[0], 2 * array.shape[1]), ord(" "), dtype=np.uint8)
            text[:, ::2] = array + np.uint8(ord("0"))
            text[:, -1] = ord("\n")
            return text.tobytes()
        return b"".join(" ".join(map(self.format, row)).encode() + b"\n" for row in array.tolist())

    def from_texts(self, texts: Sequence[str], dim: int) -> Rows:
        """Return the rows of which these are the :meth:`texts`; any other text is refused."""
        table: list[list[Any]] = [list(t) if self.order == 2 else t.split() for t in texts]
        if self.order is not None:
            table = [[int(x) for x in row] for row in table]
        rows = self.rows(table, dim=dim) if table else self.empty(0, dim)
        if self.texts(rows) != list(texts):
            raise InputError("elements are written in another way than texts of rows have them")
        return rows

    @abstractmethod
    def _canonical(self, table: Array, name: str, reduce: bool) -> Rows: ...

    def _packed(self, rows: BitRows, name: str) -> Rows:
        return self._canonical(rows.unpack(), name, False)

    @abstractmethod
    def add(self, a: Any, b: Any) -> Array:
        """Add elementwise."""

    @abstractmethod
    def neg(self, a: Any) -> Array:
        """Negate elementwise."""

    @abstractmethod
    def mul(self, a: Any, b: Any) -> Array:
        """Multiply elementwise."""

    @abstractmethod
    def inv(self, a: Any) -> Array:
        """Invert elementwise; zero has no inverse and raises ZeroDivisionError."""

    def sub(self, a: Any, b: Any) -> Array:
        """Subtract elementwise."""
        return self.add(a, self.neg(b))

    def rref(self, rows: Rows) -> tuple[Rows, Array]:
        """Return the reduced row echelon form (its non-zero rows) and the pivot columns."""
        dim = width(rows)
        R, pivots = self.kernel.rref(dim, self.matrix(rows))
        return self.wrap(R, dim), pivots

    def completed_inverse(self, basis: Rows) -> Array:
        """Return the inverse of a basis that unit vectors complete to one of the whole space.

        >>> from flagstone import GF
        >>> GF(2).completed_inverse(GF(2).rows([[1, 1, 0]])).tolist()
        [[1, 1, 0], [0, 1, 0], [0, 0, 1]]
        """
        r, dim = basis.shape
        one = np.full((dim, dim), self.zero, dtype=self.dtype)
        np.fill_diagonal(one, self.one)
        both = self.trusted(np.concatenate([self.array(basis), one[:r, :r]], axis=1))
        reduced, pivots = self.rref(both)  # (R | T): R = T·basis is 1 in the columns of its pivots
        R, free = self.array(reduced), np.delete(np.arange(dim), pivots)
        inverse = np.empty_like(one)
        inverse[pivots] = np.concatenate([R[:, dim:], self.neg(R[:, free])], axis=1)
        inverse[free] = one[r:]
        return inverse

    def reduce(self, rows: Rows, basis: Rows, pivots: Array) -> Rows:
        """Subtract the combination of an echelon basis that cancels its pivot columns."""
        residual = self.kernel.reduce(self.matrix(rows), self.matrix(basis), pivots)
        return self.wrap(residual, width(rows))

    def dot(self, rows: Rows, W: Any) -> Array:
        """Return the inner products ⟨x_i, w_j⟩ as an array of shape (n_rows, n_vectors)."""
        vectors = self.rows(W, dim=width(rows), name="W")
        return self.kernel.dot(self.matrix(rows), self.matrix(vectors))

    def merge(self, X: Rows, cx: Array, Y: Rows, cy: Array) -> tuple[Rows, Array]:
        """Merge two counted adapted bases (docs/theory/flag.md) into one."""
        dim = width(X)
        Z, cz = self.kernel.merge(dim, self.matrix(X), cx, self.matrix(Y), cy)
        return self.wrap(Z, dim), cz

    def nonzero(self, rows: Rows) -> Array:
        """Say of each row whether it has a non-zero entry."""
        return np.asarray((self.matrix(rows) != 0).any(axis=1), dtype=bool)

    def matrix(self, rows: Rows) -> Array:
        """Return rows as the array that kernels take."""
        return rows.words if isinstance(rows, BitRows) else rows

    def wrap(self, matrix: Array, dim: int) -> Rows:
        """Return an array that a kernel made as rows."""
        return matrix
