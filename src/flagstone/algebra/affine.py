"""AffineSubspace: a canonical, immutable value, possibly empty."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from flagstone.algebra.fields import Array, Field, FieldLike
from flagstone.algebra.lift import chunks
from flagstone.algebra.subspace import Subspace
from flagstone.errors import InputError
from flagstone.markup import card, listing, matrix, table


class AffineSubspace:
    """An affine subspace p + V of F^d, possibly empty, in canonical form.

    The point is the representative that is zero in the pivot columns of V, so equal affine
    subspaces are equal values.

    Attributes
    ----------
    field : Field
    ambient_dim : int
        The dimension d of the space around it.
    direction : Subspace
        The subspace V of differences ({0} when empty).

    Examples
    --------
    >>> from flagstone import AffineSubspace, Subspace
    >>> A = AffineSubspace.from_point([1, 1, 1], Subspace.span([[1, 1, 0]]))
    >>> A.point.tolist(), A.direction.basis.tolist()
    ([0, 0, 1], [[1, 1, 0]])
    >>> A.contains([[1, 1, 1], [1, 0, 1]]).tolist()
    [True, False]
    >>> AffineSubspace.empty(3)
    AffineSubspace(empty, in GF(2)^3)
    """

    __slots__ = ("_point", "ambient_dim", "direction", "field")

    field: Field
    ambient_dim: int
    direction: Subspace
    _point: Array | None

    def __init__(self) -> None:
        raise TypeError(
            "make one with AffineSubspace.from_point(p, V), .from_homogeneous(V) or .empty(d)"
        )

    @classmethod
    def _make(cls, point: Array | None, direction: Subspace) -> AffineSubspace:
        self = object.__new__(cls)
        if point is not None:
            point = point.copy()
            point.flags.writeable = False
        values = {"field": direction.field, "ambient_dim": direction.ambient_dim}
        for name, value in (values | {"direction": direction, "_point": point}).items():
            object.__setattr__(self, name, value)
        return self

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("an AffineSubspace is immutable")

    @classmethod
    def from_point(cls, point: Any, direction: Subspace) -> AffineSubspace:
        """Return point + direction."""
        return cls._make(direction.reduce([point])[0], direction)

    @classmethod
    def empty(cls, dim: int, field: FieldLike = 2) -> AffineSubspace:
        """Return the empty affine subspace of F^dim."""
        return cls._make(None, Subspace.zero(dim, field))

    @classmethod
    def from_homogeneous(cls, V: Subspace) -> AffineSubspace:
        """Return {x : (x, 1) ∈ V} for a subspace V of F^(d+1); empty if V has no such vector."""
        F, d = V.field, V.ambient_dim - 1
        if d < 1:
            raise InputError("a homogeneous subspace needs at least two columns: (x, 1)")
        B = V.basis
        lifted = np.flatnonzero(B[:, d] != 0)
        if not len(lifted):
            return cls.empty(d, F)
        first = F.mul(B[lifted[0]], F.inv(B[lifted[0], d]))
        level = F.sub(B, F.mul(B[:, d][:, np.newaxis], first[np.newaxis, :]))
        return cls.from_point(first[:d], Subspace.span(level[:, :d], F))

    def homogeneous(self) -> Subspace:
        """Return the span of {(x, 1) : x in A}, a subspace of F^(d+1)."""
        F, d = self.field, self.ambient_dim
        points = self.points()
        ones = np.ones((len(points), 1), dtype=np.uint8)
        lifted = np.concatenate([points, F.array(F.rows(ones))], axis=1)
        return Subspace.span(lifted, F, dim=d + 1)

    @property
    def is_empty(self) -> bool:
        """Whether it contains no point."""
        return self._point is None

    @property
    def dim(self) -> int:
        """The dimension of the direction; −1 when empty."""
        return -1 if self._point is None else self.direction.dim

    @property
    def point(self) -> Array:
        """The canonical point."""
        if self._point is None:
            raise InputError("the affine subspace is empty: it has no point")
        return self._point

    def contains(self, X: Any) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Say of each row of X whether it lies in the affine subspace."""
        rows = self.field.rows(X, dim=self.ambient_dim)
        if self._point is None:
            return np.zeros(len(rows), dtype=bool)
        out = np.empty(len(rows), dtype=bool)
        for piece in chunks(*rows.shape):
            representative = self.direction.reduce(rows[piece])
            out[piece] = (representative == self._point).all(axis=1)
        return out

    def points(self) -> Array:
        """Return dim + 1 affinely spanning points: the canonical one, it plus each basis row."""
        if self._point is None:
            return self.field.array(self.field.empty(0, self.ambient_dim))
        point = self._point[np.newaxis, :]
        return np.concatenate([point, self.field.add(self.direction.basis, point)])

    def equations(self) -> tuple[Array, Array]:
        """Return (A, b), A in reduced row echelon form, with {x : Ax = b}; 0 = 1 when empty."""
        F = self.field
        if self._point is None:
            return F.array(F.empty(1, self.ambient_dim)), np.array([F.one], dtype=F.dtype)
        A = self.direction.annihilator().basis
        b = F.dot(F.rows(A, dim=self.ambient_dim), self._point[np.newaxis, :])[:, 0]
        return A, b

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AffineSubspace):
            return NotImplemented
        if self.is_empty or other.is_empty:
            return self.is_empty == other.is_empty and self.direction == other.direction
        return self.direction == other.direction and np.array_equal(self.point, other.point)

    def __hash__(self) -> int:
        return hash(self.fingerprint())

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        if self._point is None:
            return AffineSubspace.empty, (self.ambient_dim, self.field)
        return AffineSubspace.from_point, (self._point, self.direction)

    def __repr__(self) -> str:
        if self.is_empty:
            return f"AffineSubspace(empty, in {self.field}^{self.ambient_dim})"
        return (
            f"AffineSubspace(dim={self.dim} of {self.field}^{self.ambient_dim}, "
            f"fingerprint={self.fingerprint()[:16]})"
        )

    def _repr_html_(self) -> str:
        where = f"of {self.field}^{self.ambient_dim}"
        facts = [("Fingerprint", self.fingerprint()[:16])]
        if self.is_empty:
            return card(f"Empty affine subspace {where}", table(facts))
        say = self.field.format
        parts = [matrix(self.point[None, :], say), *[listing(["+ the span of"])] * (self.dim > 0)]
        parts.append(matrix(self.direction.basis, say))
        return card(f"Affine subspace of dimension {self.dim} {where}", *parts, table(facts))

    def fingerprint(self) -> str:
        """Return the SHA-256 of the canonical text, 64 hex digits.

        As for :meth:`Subspace.fingerprint`, with the first line ``flagstone affine v1``,
        ``dim -1`` and no rows when empty, and otherwise the point before the rows.
        """
        head = (
            f"flagstone affine v1\nfield {self.field}\nambient {self.ambient_dim}\ndim {self.dim}\n"
        )
        body = b""
        if self._point is not None:
            body = self.field.canonical_text(self._point[np.newaxis, :])
            body += self.field.canonical_text(self.direction.basis)
        return hashlib.sha256(head.encode() + body).hexdigest()
