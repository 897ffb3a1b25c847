"""Monomials: products of columns as columns of their own, so that linear answers have a degree."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from flagstone.algebra.fields import Field, Rows, width
from flagstone.algebra.lift import chunks
from flagstone.checks import checked_integer
from flagstone.errors import InputError, Parameter

#: The most memory for a flag of D columns, which keeps D² elements, and for rows of D columns.
MOST_BYTES = 2 << 30
MOST_DEGREE = 64
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Monomials:
    """All monomials of degree 1 to ``degree`` in some columns that can matter over a field.

    Over GF(2) no column occurs twice, as x² = x. Over other fields exponents are allowed, and the
    degree is less than q, so that no two monomials are the same function. Of columns that exclude
    each other, such as those of a one-hot encoder, no two occur together: their product is 0.

    Parameters
    ----------
    field : Field
    degree : int
        The largest total degree; below q for a field of q > 2 elements.
    names : tuple of str
        The columns.
    groups : tuple of int, optional
        A number for each column. Columns with a number other than -1 hold 0 or 1, so their powers
        are left out; those with the same number exclude each other. By default all are -1.

    Notes
    -----
    **Guarantees**

    Sorted by degree, then by columns, so that the columns themselves come first. A function of the
    parameters alone, never of rows.

    Examples
    --------
    >>> from flagstone import GF
    >>> squares = Monomials(GF(2), 2, ("a", "b", "c"))
    >>> squares.columns
    ('a', 'b', 'c', 'a·b', 'a·c', 'b·c')
    >>> squares.expand(GF(2).rows([[1, 0, 1]])).unpack().tolist()
    [[1, 0, 1, 0, 1, 0]]
    >>> Monomials(GF(7), 2, ("a", "b")).columns
    ('a', 'b', 'a²', 'a·b', 'b²')
    >>> Monomials(GF(2), 3, tuple(f"x{i}" for i in range(100))).count
    166750
    """

    field: Field
    degree: int
    names: tuple[str, ...]
    groups: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        q = self.field.order
        must = " must be an integer of at least 1"
        if checked_integer(self.degree, 1, Parameter("degree"), must) > MOST_DEGREE:
            raise InputError(
                Parameter("degree"), f" must be at most {MOST_DEGREE}, got {self.degree}"
            )
        if q is not None and q > 2 and self.degree >= q:
            raise InputError(
                Parameter("degree"),
                f" must be below {q} over {self.field.name}, where x^{q} = x, got {self.degree}",
            )

    @property
    def count(self) -> int:
        """How many monomials there are, found without listing them."""
        ways = [1] + [0] * self.degree  # ways[k]: monomials of degree k in the columns so far
        sizes = Counter(self._groups)
        free = sizes.pop(-1, 0)
        powers = 1 if self.field.order == 2 else self.degree
        for options in itertools.chain(
            itertools.repeat([1] * powers, free), ([size] for size in sizes.values())
        ):
            for k in range(self.degree, 0, -1):
                ways[k] += sum(n * ways[k - i] for i, n in enumerate(options, 1) if i <= k)
        return sum(ways) - 1

    @property
    def _groups(self) -> tuple[int, ...]:
        return self.groups or (-1,) * len(self.names)

    @property
    def is_numbered(self) -> bool:
        """Whether the columns are called x0, x1, …, as those of an array are."""
        return self.names == tuple(f"x{i}" for i in range(len(self.names)))

    def check_memory(self, n_rows: int = 0) -> None:
        """Refuse more monomials than memory allows, for a flag and for this many rows."""
        D, bits = self.count, 1 if self.field.order == 2 else 8 * self.field.dtype.itemsize
        needed = D * (D + n_rows) * bits // 8
        if self.degree > 1 and needed > MOST_BYTES:
            what = "a flag" if D >= n_rows else f"{n_rows:,} rows at a time"
            raise InputError(
                Parameter("degree", self.degree),
                f" makes {D:,} monomials of {len(self.names):,} columns; {what} of them would "
                f"take {needed / (1 << 30):.3g} GiB, and up to {MOST_BYTES >> 30} GiB are spent: "
                "choose fewer columns or a smaller degree"
                + ("" if D >= n_rows else ", or add the rows in parts"),
            )

    @cached_property
    def terms(self) -> tuple[tuple[int, ...], ...]:
        """The columns of each monomial, as often as they occur in it."""
        self.check_memory()
        places, groups = range(len(self.names)), self._groups
        combine = itertools.combinations
        if self.field.order != 2:
            combine = itertools.combinations_with_replacement  # type: ignore[assignment]
        found = (term for k in range(1, self.degree + 1) for term in combine(places, k))
        if max(groups, default=-1) < 0:
            return tuple(found)

        def matters(term: Sequence[int]) -> bool:
            excluding = [groups[i] for i in term if groups[i] >= 0]
            return len(set(excluding)) == len(excluding)

        return tuple(filter(matters, found))

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The names of the monomials: ``x0·x1``, ``x0²·x1``."""
        return tuple(
            "·".join(self.names[i] + _power(n) for i, n in Counter(term).items())
            for term in self.terms
        )

    def expand(self, rows: Rows) -> Rows:
        """Return rows of columns as rows of monomials."""
        if self.degree == 1:
            return rows
        assert width(rows) == len(self.names)
        self.check_memory(len(rows))
        pieces = list(chunks(len(rows), len(self.terms))) or [slice(0, 0)]
        return self.field.stack(*(self._products(rows[piece]) for piece in pieces))

    def _products(self, rows: Rows) -> Rows:
        F, table = self.field, self.field.array(rows)
        out = np.empty((len(table), len(self.terms)), dtype=F.dtype, order="F")
        place: dict[tuple[int, ...], int] = {}
        for at, term in enumerate(self.terms):  # every term but its last column came before
            last = table[:, term[-1]]
            out[:, at] = last if len(term) == 1 else F.mul(out[:, place[term[:-1]]], last)
            place[term] = at
        return F.trusted(out)

    def source(self, variable: str = "x") -> list[str]:
        """Return each monomial as a Python expression in one row of the columns.

        >>> from flagstone import GF
        >>> Monomials(GF(2), 2, ("a", "b")).source()
        ['x[0]', 'x[1]', 'x[0]*x[1]']
        """
        return ["*".join(f"{variable}[{i}]" for i in term) for term in self.terms]


def _power(exponent: int) -> str:
    return "" if exponent == 1 else str(exponent).translate(_SUPERSCRIPTS)
