"""LinearSystem: a small system of equations that stands for a large one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from flagstone.algebra.bitrows import BitRows
from flagstone.algebra.fields import Array, Field
from flagstone.algebra.subspace import Subspace
from flagstone.answers._base import check_names, frozen
from flagstone.answers._constraints import Equations
from flagstone.answers._solve import VectorCoins, pick_solution
from flagstone.errors import BottomError, InputError
from flagstone.exact import exact_array

_CHUNK = 4096


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
