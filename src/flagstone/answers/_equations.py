"""Equations: `Constraints` that rows obey, and `LinearSystem`, a small one for a large one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from flagstone.algebra import AffineSubspace, Array, BitRows, Field, Subspace, as_field
from flagstone.answers._base import (
    Answer,
    check_names,
    equation,
    expression,
    feature_names,
    from_json,
    frozen,
    header,
    to_json,
)
from flagstone.answers._solve import VectorCoins, pick_solution
from flagstone.answers.relations import short_equations
from flagstone.errors import BottomError, FormatError, InputError
from flagstone.exact import exact_array
from flagstone.wording import counted

_CHUNK = 4096


@dataclass(frozen=True, eq=False, repr=False)
class Equations(Answer):
    """Equations Ax = b over a field, in the reduced row echelon form of (A | b)."""

    matrix: Array
    rhs: Array
    field: Field = 2  # type: ignore[assignment]
    names: tuple[str, ...] | None = None

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
    def augmented(self) -> Array:
        """The rows (A | b)."""
        return np.concatenate([self.matrix, self.rhs[:, np.newaxis]], axis=1)

    @property
    def is_bottom(self) -> bool:
        """Whether the equations include 0 = 1, so that no row obeys them."""
        return bool(len(self) and not (self.matrix[-1] != 0).any())

    @property
    def span(self) -> Subspace:
        """The span of the equations (a, b): those that follow from them."""
        return Subspace.span(self.augmented, self.field, self.dim + 1)

    @property
    def solutions(self) -> AffineSubspace:
        """The affine subspace of all solutions; empty if there is none."""
        if self.is_bottom:
            return AffineSubspace.empty(self.dim, self.field)
        point = pick_solution(self.span, choice="lexmin", coins=None, name="solution")
        direction = Subspace.span(self.matrix, self.field, self.dim).annihilator()
        return AffineSubspace.from_point(point, direction)

    def __len__(self) -> int:
        return len(self.rhs)

    @property
    def shown(self) -> Array:
        return self.augmented

    def syndrome(self, X: Any) -> Array:
        """Return ⟨a, x⟩ − b for each row and shown equation (a | b): zero where it holds."""
        return self._syndrome(X, self.shown)

    def _syndrome(self, X: Any, equations: Array) -> Array:
        F = self.field
        rows = F.rows(X, dim=self.dim)
        if not len(self):
            return np.full((len(rows), 0), F.zero, dtype=F.dtype)
        return F.sub(F.dot(rows, equations[:, :-1]), equations[np.newaxis, :, -1])

    def check(self, X: Any) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Say of each row whether it obeys all equations."""
        # any equations of the same space will do: short ones take long to find
        return np.asarray((self._syndrome(X, self.augmented) == 0).all(axis=1), dtype=bool)

    @property
    def lines(self) -> tuple[str, ...]:
        """The equations for people, one text each."""
        return self._texts(self.shown)

    @property
    def canonical_lines(self) -> tuple[str, ...]:
        """The rows of the reduced echelon form, one text each: the same for equal answers."""
        return self._texts(self.augmented)

    def _texts(self, rows: Array) -> tuple[str, ...]:
        names = feature_names(self.names, self.dim)
        return tuple(equation(self.field, row[:-1], names, row[-1]) for row in rows)

    @property
    def text(self) -> str:
        """The equations for people, one per line."""
        return "\n".join(self.lines) or "(no equations: every row obeys them)"

    @property
    def expression(self) -> str:
        """A Python expression, true of a row ``x`` of plain numbers exactly when it obeys all."""
        parts = []
        for row in self.shown:
            left = expression(self.field, row[:-1])
            right = expression(self.field, row[:0], row[-1])
            parts.append(f"({left}) == {right}")
        return " and ".join(parts) or "True"

    def _side(self, value: Any) -> str:
        return f" = {value}"

    def to_dict(self) -> dict[str, Any]:
        return {
            "field": self.field.name,
            "dim": self.dim,
            "matrix": [to_json(self.field, row) for row in self.matrix],
            "rhs": to_json(self.field, self.rhs),
            "names": None if self.names is None else list(self.names),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        field, dim, names = header(data)
        matrix, rhs = data.get("matrix"), data.get("rhs")
        if not isinstance(matrix, list) or not isinstance(rhs, list) or len(matrix) != len(rhs):
            raise FormatError("saved equations need one right-hand side per row of their matrix")
        A = [from_json(field, row, f"row {i} of matrix", dim) for i, row in enumerate(matrix)]
        table = np.stack(A) if A else field.array(field.empty(0, dim))
        return cls(table, from_json(field, rhs, "rhs"), field, names)

    def __repr__(self) -> str:
        shown = "; ".join(self.lines[:3]) + ("; …" if len(self) > 3 else "")
        count = f"{counted(len(self), 'equation')} in {counted(self.dim, 'unknown')}"
        return f"{type(self).__name__}({count}{': ' if shown else ''}{shown})"


@dataclass(frozen=True, eq=False, repr=False)
class Constraints(Equations):
    """The linear equations Ax = b that all vectors of a subspace obey.

    The rows (A | b) are in reduced row echelon form, so equal spaces give equal constraints. They
    are shown, and their syndrome is taken, in a basis with fewer terms where one is found
    (``shown``; ``canonical_lines`` has the echelon form).

    Parameters
    ----------
    matrix : array of shape (k, d)
    rhs : array of shape (k,)
    field : Field, int or str
    names : sequence of str, optional
        What the columns are called; x0, x1, … otherwise. No part of equality.

    Attributes
    ----------
    lines, canonical_lines : tuple of str
        The equations as text: with few terms, and in echelon form.
    shown : array of shape (k, d + 1)
        The equations of ``lines`` as rows (a | b).
    dim : int
        The number of columns d.

    Notes
    -----
    They answer three questions: which equations rows obey with a constant (``constraints``) and
    without one (``span``), and which the positive examples obey (``subspace``).

    Examples
    --------
    A code word of the [7, 4] Hamming code obeys three checks; a damaged one shows where:

    >>> from flagstone import Subspace
    >>> from flagstone.answers import Constraints
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

    kind: ClassVar[str] = "constraints"

    @property
    def span(self) -> Subspace:
        """The equations (a, b) that follow from these: all equations if no row obeys."""
        return Subspace.full(self.dim + 1, self.field) if self.is_bottom else super().span

    @cached_property
    def shown(self) -> Array:
        """The rows (a | b) of a basis with few terms, by a bounded search."""
        rows = self.augmented
        return rows if self.is_bottom else frozen(short_equations(rows, self.field))

    @property
    def subspace(self) -> Subspace | AffineSubspace:
        """The rows that obey: a subspace if all right-hand sides are 0, else an affine one."""
        return self.solutions if (self.rhs != 0).any() else self.solutions.direction

    @property
    def basis_lines(self) -> tuple[str, ...]:
        """The rows that obey, as text: a basis, after a point if there is a constant."""
        V, F = self.subspace, self.field
        points = [V.point] if isinstance(V, AffineSubspace) and not V.is_empty else []
        rows = V.direction.basis if isinstance(V, AffineSubspace) else V.basis
        return (
            f"dimension {V.dim} of {self.dim}" + (", basis:" if V.dim > 0 else ""),
            *(f"{F.texts(point[np.newaxis])[0]} +" for point in points),
            *F.texts(rows),
        )

    @classmethod
    def from_subspace(
        cls, V: Subspace | AffineSubspace, *, names: Sequence[str] | None = None
    ) -> Constraints:
        """Return the equations of V: its annihilator, or Ax = b of an affine subspace.

        Notes
        -----
        **Guarantees**

        ``check(X)`` is true of exactly the rows in V. Of an empty affine subspace the only
        equation is 0 = 1, which no row obeys.
        """
        if isinstance(V, AffineSubspace):
            A, b = V.equations()
        else:
            A = V.annihilator().basis
            b = np.full(len(A), V.field.zero, dtype=V.field.dtype)
        return cls(A, b, V.field, check_names(names, V.ambient_dim))


@dataclass(frozen=True, eq=False)
class Contradiction:
    """A derivation of 0 = 1: add these multiples of these equations.

    Attributes
    ----------
    rows : tuple of int
        Which equations.
    multipliers : array
        What each is multiplied with.
    field : Field
    """

    rows: tuple[int, ...]
    multipliers: Array
    field: Field

    def verify(self, A: Any, b: Any) -> bool:
        """Say whether the combination of these equations of Ax = b is indeed 0 = 1.

        Parameters
        ----------
        A : array, frame, sparse matrix or BitRows of shape (m, n)
        b : array of shape (m,)
        """
        F, rows = self.field, list(self.rows)
        if hasattr(A, "tocsr"):
            A = A.tocsr()
        elif not isinstance(A, BitRows):
            A = exact_array(A)
        right = exact_array(b)
        short = min(A.shape[0], len(right))
        if short <= max(rows):
            raise InputError(
                f"the derivation uses equation {max(rows)}, but there are {short}; give all "
                "equations it was derived from"
            )
        left = F.array(F.rows(A[rows], name="A"))
        table = np.concatenate([left, F.elements(right[rows], name="b")[:, np.newaxis]], axis=1)
        total = F.dot(F.rows(table.T), self.multipliers[np.newaxis, :])[:, 0]
        return not (total[:-1] != 0).any() and bool(total[-1] == F.one)

    def __str__(self) -> str:
        terms = " + ".join(
            f"equation {i}" if m == 1 else f"{self.field.format(m)}·(equation {i})"
            for i, m in zip(self.rows, self.multipliers, strict=True)
        )
        return f"{terms} gives 0 = 1"


@dataclass(frozen=True, eq=False, repr=False)
class LinearSystem(Equations):
    """The kept equations of a replicable span of equations (a, b), each standing for ⟨a, x⟩ = b.

    Parameters
    ----------
    matrix : array of shape (k, n)
    rhs : array of shape (k,)
    field : Field, int or str
    names : sequence of str, optional
        What the unknowns are called; x0, x1, … otherwise. No part of equality.

    Attributes
    ----------
    is_feasible : bool
    contradiction : Contradiction or None
        Where the kept system says 0 = 1.
    solutions : AffineSubspace
        All solutions.

    Notes
    -----
    They are the kept equations themselves: what follows from them is what was covered.

    Examples
    --------
    >>> from flagstone.answers import LinearSystem
    >>> system = LinearSystem([[1, 1, 0], [0, 1, 1], [1, 0, 1]], [1, 0, 1])
    >>> print(system)
    x0 ⊕ x2 = 1
    x1 ⊕ x2 = 0
    >>> system.solve().tolist()
    [0, 1, 1]

    An infeasible system says why: some combination of the equations is 0 = 1.

    >>> A, b = [[1, 1, 0], [0, 1, 1], [1, 0, 1]], [1, 0, 0]
    >>> broken = LinearSystem(A, b)
    >>> broken.is_feasible
    False
    >>> print(broken.derive_contradiction(A, b))
    equation 0 + equation 1 + equation 2 gives 0 = 1
    """

    kind: ClassVar[str] = "equations"

    @classmethod
    def from_subspace(cls, V: Subspace, *, names: Sequence[str] | None = None) -> LinearSystem:
        """Read the system off the span V* of rows (a, b): it is V* itself.

        Notes
        -----
        **Guarantees**

        Every solution satisfies each equation inside V*, hence all but an ε of the input when
        V* covers all but an ε; when the input is solvable so is the system, since V* lies in
        its span.
        """
        if V.ambient_dim < 2:
            raise InputError("an equation (a, b) needs at least two columns")
        B = V.basis
        return cls(B[:, :-1], B[:, -1], V.field, check_names(names, V.ambient_dim - 1))

    @property
    def is_feasible(self) -> bool:
        """Whether there is a solution."""
        return not self.is_bottom

    @property
    def contradiction(self) -> Contradiction | None:
        """The kept equation that reads 0 = 1, or None when the system is feasible."""
        if self.is_feasible:
            return None
        return Contradiction((len(self) - 1,), frozen(np.array([self.field.one])), self.field)

    def solve(self, *, choice: str = "lexmin", coins: VectorCoins | None = None) -> Array:
        """Return one solution: the lexicographically smallest, or a uniform one by coins.

        Over QQ, where nothing is smallest, ``"lexmin"`` sets the free unknowns to 0.

        Raises
        ------
        BottomError
            When the system is infeasible.
        """
        if not self.is_feasible:
            raise BottomError(
                "the kept equations have no solution: they include 0 = 1; "
                "derive_contradiction(A, b) shows which input equations clash"
            )
        return pick_solution(self.span, choice=choice, coins=coins, name="solution")

    def derive_contradiction(self, A: Any, b: Any) -> Contradiction:
        """Derive 0 = 1 from the input equations that an infeasible system keeps.

        Parameters
        ----------
        A : array of shape (m, n)
        b : array of shape (m,)
            The input equations, or enough of them to span the kept system.

        Returns
        -------
        Contradiction
            At most n + 1 rows of the input with their multipliers.
        """
        if self.is_feasible:
            raise InputError("the system is feasible: there is no contradiction to derive")
        F, V = self.field, self.span
        left = F.array(F.rows(A, dim=self.dim, name="A"))
        table = np.concatenate([left, F.elements(b, name="b")[:, np.newaxis]], axis=1)
        chosen = _independent_rows(table, V)
        combination = np.concatenate([table[chosen].T, _unit(F, self.dim)], axis=1)
        span = Subspace.span(combination, F)
        if not len(chosen) or len(chosen) in span.pivots:
            raise InputError("these equations do not span the kept system; give all of its input")
        multipliers = pick_solution(span, choice="lexmin", coins=None, name="contradiction")
        used = np.flatnonzero(multipliers != 0)
        rows = tuple(int(i) for i in np.asarray(chosen)[used])
        return Contradiction(rows, frozen(multipliers[used]), F)


def _unit(field: Field, n: int) -> Array:
    """Return the column e_{n+1}."""
    column = field.array(field.empty(n + 1, 1)).copy()
    column[n, 0] = field.one
    return column


def _independent_rows(table: Array, V: Subspace) -> list[int]:
    """Return the first rows of the table inside V that are linearly independent."""
    F = V.field
    chosen: list[int] = []
    span = Subspace.zero(V.ambient_dim, F)
    for start in range(0, len(table), _CHUNK):
        chunk = table[start : start + _CHUNK]
        new = start + np.flatnonzero(V.contains(chunk) & ~span.contains(chunk))
        candidates = chosen + new.tolist()
        if len(candidates):
            # Pivot columns of the transpose are the first independent rows.
            chosen = [candidates[p] for p in Subspace.span(table[candidates].T, F).pivots]
            span = Subspace.span(table[chosen], F, V.ambient_dim)
        if span == V:
            break
    return chosen
