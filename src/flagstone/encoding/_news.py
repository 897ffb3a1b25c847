"""What equations say beyond the encoding of their columns, in few terms.

One-hot columns sum to 1 in every table, and a constant column obeys equations of its own; so do
their products with other columns. Such equations belong to the span and to the fingerprint, but a
reader knows them: what is shown is a basis of the others, each written with as few terms as a
bounded search finds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from flagstone.algebra import Array, Field, Subspace
from flagstone.answers.relations import TURNS, turned
from flagstone.encoding._column import ColumnEncoder
from flagstone.encoding._encoders import OneHot
from flagstone.encoding._encoding import Encoding

if TYPE_CHECKING:
    from flagstone.answers import Constraints

#: Larger systems are shown as they are, and sums of two equations are tried of up to this many.
_CELLS = {"bits": 1 << 16, "finite": 1 << 13, "rational": 1 << 9}
_PAIRS = {"bits": 64, "finite": 16, "rational": 8}
#: Sums of three are tried over GF(2), of up to this many.
_TRIPLES = 24


@dataclass(frozen=True)
class News:
    """The equations of an answer, parted into what is new and what was clear before.

    Attributes
    ----------
    rows : array of shape (k, d + 1)
        New equations, coefficients and right-hand side. With the others they span the answer.
    implied : int
        How many equations hold in every table with this encoding.
    constants : tuple of (column, value)
        Columns that hold one value.
    encoding : Encoding
        In whose words they are said.
    """

    rows: Array
    implied: int
    constants: tuple[tuple[int, Any], ...]
    encoding: Encoding

    def broken(self, field: Field, X: Array) -> Array:
        """Say of each row which equations it breaks: the new ones, then the constants."""
        kept = [i for i, _ in self.constants]
        values = np.array([value for _, value in self.constants], dtype=field.dtype)
        wrong = X[:, kept] != values[np.newaxis, :]
        if not len(self.rows):
            return np.asarray(wrong, dtype=bool)
        found = field.dot(field.rows(X), self.rows[:, :-1]) != self.rows[np.newaxis, :, -1]
        return np.concatenate([found, wrong], axis=1).astype(bool)


def news(answer: Constraints, encoding: Encoding, *, search: bool = True) -> News:
    """Return what the equations of an answer say beyond the encoding.

    A function of the answer and the encoding alone. Without a search, equations are shortened but
    not combined.

    Examples
    --------
    >>> from flagstone import GF
    >>> from flagstone.answers import Constraints
    >>> from flagstone.encoding import ColumnEncoder, Encoding
    >>> encoders = [ColumnEncoder.parse(c, "onehot:a,b,c") for c in "xy"]
    >>> rows = [[1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1], [0, 1, 1, 0, 1, 1]]
    >>> checks = Constraints(rows, [1, 1, 0])
    >>> found = news(checks, Encoding(GF(2), tuple(encoders)))
    >>> found.rows.tolist(), found.implied
    ([[1, 0, 0, 1, 0, 0, 0]], 2)
    """
    F, E = answer.field, answer.augmented
    words = _categories(answer, encoding)
    terms = words.monomials.terms if words.degree > 1 else [(i,) for i in range(answer.dim)]
    used, n_columns = E[:, :-1] != 0, sum(len(term) == 1 for term in terms)
    single = (used.sum(axis=1) == 1) & used[:, :n_columns].any(axis=1)  # x·y = 0 is news
    constants = tuple(
        (int(np.flatnonzero(row[:-1])[0]), row[-1]) for row in E[single]
    )  # the form is reduced: an equation e_i = v that follows is one of its rows
    groups = [range(*part.indices(answer.dim)) for e, part in words.parts if e.is_one_hot]
    form = _NormalForm(F, terms, constants, groups)
    rows = basis = E[~single]
    if form.has_groups or words.degree > 1:
        span = Subspace.span(form.reduced(rows), F, answer.dim + 1)
        basis = span.basis
        if answer.dim in span.pivots:  # rows are not one-hot: nothing is known of the columns
            form, basis = _NormalForm(F, terms, constants, []), rows
    rows = _sparse(form, rows, basis, search)
    return News(rows, len(E) - len(rows) - len(constants), constants, words)


def _categories(answer: Constraints, encoding: Encoding) -> Encoding:
    """Return the encoding with one-hot encoders where columns are called like theirs.

    A table that was encoded before has columns ``ring=n``, ``ring=o``, …: if they stand together
    and sum to 1, they are those of a category.
    """
    if sum(encoder.width for encoder in encoding.encoders) != answer.dim:
        return encoding  # features are more than the columns
    found: list[ColumnEncoder] = []
    place = 0
    for name, run in groupby(encoding.encoders, _category):
        encoders = list(run)
        stop = place + sum(encoder.width for encoder in encoders)
        sums = np.zeros((1, answer.dim + 1), dtype=int)
        sums[0, [*range(place, stop), -1]] = 1
        if name is not None and len(encoders) > 1 and answer.span.contains(sums)[0]:
            values = tuple(encoder.column.partition("=")[2] for encoder in encoders)
            encoders = [OneHot(name, values)]
        found += encoders
        place = stop
    return replace(encoding, encoders=tuple(found))


def _category(encoder: ColumnEncoder) -> str | None:
    name, equals, _ = encoder.column.partition("=")
    return name if encoder.is_plain and equals else None


@dataclass(frozen=True)
class _KnownSum:
    """Columns that sum to ``value`` times the column ``other``; to ``value`` if that is -1.

    They are products of a constant or of one-hot columns with ``factor``, some columns multiplied.
    """

    columns: list[int]
    value: Any
    other: int
    factor: tuple[int, ...]

    def take_off(self, field: Field, rows: Array, amounts: Array) -> None:
        """Subtract the sum from each row, as often as said."""
        rows[:, self.columns] = field.sub(rows[:, self.columns], amounts[:, np.newaxis])
        change = field.mul(amounts, np.full(len(rows), self.value, dtype=field.dtype))
        combine = field.sub if self.other == -1 else field.add
        rows[:, self.other] = combine(rows[:, self.other], change)


class _NormalForm:
    """Rewrites equations with what is known of constants, one-hot columns and their products.

    ``terms`` says which columns of the table each column is the product of.
    """

    def __init__(
        self,
        field: Field,
        terms: Sequence[tuple[int, ...]],
        constants: Sequence[tuple[int, Any]],
        groups: Sequence[range],
    ) -> None:
        self.field, self.dim = field, len(terms)
        self.degrees = np.array([len(term) for term in terms])
        known, place = dict(constants), {term: i for i, term in enumerate(terms)}
        bases: list[tuple[list[int], Any]] = [([i], value) for i, value in constants]
        for group in groups:
            rest = field.one
            for i in group:
                if i in known:
                    rest = field.sub(_one(field, rest), _one(field, known[i]))[0]
            if free := [i for i in group if i not in known]:
                bases.append((free, rest))
        self.has_groups = len(bases) > len(known)
        self._bases = bases
        # products of many columns first: taking them off changes those of fewer
        self._sums: list[_KnownSum] = []
        degree = max(map(len, terms), default=1)
        for factor in [*(t for t in reversed(terms) if len(t) < degree), ()]:
            has_constant = any(i in known for i in factor)
            for columns, value in bases[: len(known) if has_constant else None]:
                products = [place.get(tuple(sorted((*factor, i))), -1) for i in columns]
                if -1 not in products:
                    self._sums.append(_KnownSum(products, value, place.get(factor, -1), factor))

    def reduced(self, rows: Array, turn: int = 0) -> Array:
        """Return rows in which one column of each known sum has the coefficient 0."""
        out = np.array(rows)
        last = {columns[-1 - turn % len(columns)] for columns, _ in self._bases}

        def order(known: _KnownSum) -> tuple[int, int]:
            return -len(known.factor), -sum(i in last for i in known.factor)

        for known in sorted(self._sums, key=order):
            amounts = out[:, known.columns[-1 - turn % len(known.columns)]].copy()
            known.take_off(self.field, out, amounts)
        return out

    def shortest(self, rows: Array) -> Array:
        """Return rows with as few terms as constants and sums allow."""
        F, out = self.field, np.array(rows)
        for known in self._sums:
            part = out[:, known.columns]
            if len(known.columns) == 1:
                amounts = part[:, 0]
            elif F.order == 2:
                amounts = 2 * part.sum(axis=1, dtype=np.int64) > len(known.columns)
            else:
                amounts = np.array([_mode(row) for row in part.tolist()], dtype=F.dtype)
            known.take_off(F, out, amounts)
        return out if F.order == 2 else _stacked(F, [_scaled(F, row) for row in out], out)


def _sparse(form: _NormalForm, rows: Array, basis: Array, search: bool) -> Array:
    """Return a basis of the equations modulo what is known, the shortest ones first.

    ``basis`` is one in the reduced form. Of equally short equations those of ``rows`` are taken.
    """
    F, parts, costs, limit = form.field, [], [], math.inf
    for n, part in enumerate(_candidates(form, rows, basis, search)):
        cost = _cost(F, part, form.degrees)
        short = (cost > 0) & (cost <= limit)
        if n == 0:
            limit = cost.max(initial=0.0)  # the first ones span all
        parts.append(part[short])
        costs.append(cost[short])
    found = np.concatenate(parts)[np.argsort(np.concatenate(costs), kind="stable")]
    if len(found) <= len(basis):
        return found
    # the first ones that depend on none before them: pivots of the transpose
    chosen = Subspace.span(form.reduced(found).T, F, len(found)).pivots if len(found) else ()
    return found[list(chosen)]


def _stacked(field: Field, rows: list[Array], like: Array) -> Array:
    """Return rows as a matrix, which may be empty."""
    return np.array(rows, dtype=field.dtype).reshape(-1, like.shape[1])


def _candidates(form: _NormalForm, rows: Array, basis: Array, search: bool) -> Iterator[Array]:
    """Yield equations that may be short; the first ones span all of them."""
    F = form.field
    kind = "rational" if F.order is None else "bits" if F.order == 2 else "finite"
    # one equation is as short as it gets, where nothing but constants is known of the columns
    is_plain = not form.has_groups and form.degrees.max(initial=1) == 1
    several = len(basis) > (1 if is_plain else 0)
    search = search and several and basis.size <= _CELLS[kind]
    turns, pairs = (TURNS, _PAIRS[kind]) if search else (0, 0)
    yield form.shortest(rows)
    if basis is not rows:
        yield form.shortest(basis)
    for turn in range(turns):
        kept = form.shortest(turned(form.reduced(basis, turn), F, turn))
        yield kept
        if len(kept) <= pairs:
            yield form.shortest(_sums(F, kept))


def _sums(field: Field, rows: Array) -> Array:
    """Return sums and differences of two rows, and sums of three where there are few bits."""
    i, j = np.triu_indices(len(rows), 1)
    if field.order != 2:
        return np.concatenate([field.add(rows[i], rows[j]), field.sub(rows[i], rows[j])])
    two = rows[i] ^ rows[j]
    if len(rows) > _TRIPLES:
        return two
    later = [rows[k + 1 :] ^ pair for pair, k in zip(two, j.tolist(), strict=True)]
    return np.concatenate([two, *later])


def _cost(field: Field, rows: Array, degrees: Array) -> Array:
    """Return how long equations are; over QQ large coefficients are long, too.

    Of equally long ones, those with products of fewer columns are shorter.
    """
    used = rows[:, :-1] != 0
    lengths = used.sum(axis=1)
    if field.order is None:
        lengths = [sum(_length(c) for c in row[:-1] if c != 0) for row in rows]
    return np.asarray(np.array(lengths, dtype=float) + 1e-6 * (used @ (degrees - 1)))


def _length(number: Any) -> float:
    return 1 + math.log2(abs(number.numerator)) + math.log2(number.denominator)


def _scaled(field: Field, row: Array) -> Array:
    """Return a multiple that reads well: whole coefficients over QQ, the first one positive."""
    left = row[:-1][row[:-1] != 0]
    if not len(left) or field.order == 2:
        return row
    if field.order is None:
        bottom = math.lcm(*(c.denominator for c in left))
        top = math.gcd(*(c.numerator * (bottom // c.denominator) for c in left))
        factor = field.elements([bottom], name="scale")[0] / top
        return np.asarray(row * (factor if left[0] > 0 else -factor))
    inverse = field.inv(left[:1])
    return field.mul(row, np.full(len(row), inverse[0], dtype=field.dtype))


def _mode(values: list[Any]) -> Any:
    """Return the most frequent value; 0, then the first one, where there are several."""
    return max(values, key=lambda v: (values.count(v), v == 0, -values.index(v)))


def _one(field: Field, value: Any) -> Array:
    return np.array([value], dtype=field.dtype)
