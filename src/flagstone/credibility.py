"""What an answer is worth: how far the rows support it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from flagstone.algebra import Plateau, Subspace
from flagstone.answers import Constraints, sparsest
from flagstone.encoding import news
from flagstone.errors import InputError
from flagstone.guarantees.promise import MOST_OUTSIDE
from flagstone.question import ParityQuestion
from flagstone.rules import rule_named

if TYPE_CHECKING:
    from flagstone.finding import Finding


@dataclass(frozen=True)
class Alternatives:
    """The rules that fit V*, if there is more than one.

    ``dim`` is the dimension of the set of rules (S25), ``count`` their number: ``"2^3"``, or
    ``"infinitely many"``. ``choice`` says how this one was chosen; ``proven``, of a sparsest rule,
    whether no other has fewer terms. ``differ`` is the dimension, and ``different`` the number, of
    those that differ on some row that the encoding can make: the columns of a category sum to 1.
    """

    dim: int
    count: str
    choice: str
    proven: bool | None
    differ: int
    different: str


@dataclass(frozen=True)
class ProductsOfColumns:
    """Products of the next degree, for rows on which no rule fits.

    ``count`` of them are rows of dimension ``dim``. Of the ``n_rows`` rows something is kept by
    thresholds up to ``n_rows // dim``, whatever the rows are; ``first`` is the first threshold of
    the same rule.
    """

    degree: int
    count: int
    dim: int
    n_rows: int
    first: int

    @property
    def have_room(self) -> bool:
        """Whether something is certainly kept at the first threshold."""
        return self.first * self.dim <= self.n_rows


class Credibility:
    """How far the rows of a finding support its answer: states, which `flagstone.text` words."""

    def __init__(self, finding: Finding) -> None:
        self._finding, self._promises = finding, finding.promises

    @property
    def support(self) -> str | None:
        """How far the rows support the answer, at the confidence of its promises.

        "whole": most future rows will fit it. "part": they will fit the equations that hold in all
        rows, but perhaps not the others. "none": neither is known. None: nothing was claimed, or
        nothing is known yet, such as before a second pass over the rows (`is_unmeasured`).
        """
        finding, g = self._finding, self._promises
        if g is None or g.withheld is not None:
            return None
        if finding.is_empty:
            return "none"
        if finding.answer.is_bottom or not self.claims_something:
            return None
        if g.certified.eps is not None and g.certified.eps < MOST_OUTSIDE:
            return "whole"
        if self.is_unmeasured:
            return None
        return "part" if self.held_by_all else "none"

    @property
    def claims_something(self) -> bool:
        """Whether there is a rule, or at least one equation."""
        answer = self._finding.answer
        return not isinstance(answer, Constraints) or len(answer) > 0

    @property
    def is_unmeasured(self) -> bool:
        """Whether there was no second pass over the rows, and one would say more."""
        g, counted = self._promises, self._finding.rows.uncovered is not None
        if g is None or not self._spans_most:
            return False
        # rows that were counted by weights are measured, but cannot be certified
        return g.is_unmeasured and (not counted or g.setup.sorted_rows)

    @property
    def _spans_most(self) -> bool:
        """Whether most future rows are certified to lie in the span of these rows."""
        g = self._promises
        return g is not None and g.certified.span is not None and g.certified.span < MOST_OUTSIDE

    @property
    def held_by_all(self) -> int:
        """How many equations hold in all rows, and in most future rows."""
        stairs = self._finding.stairs
        if not self._spans_most or not isinstance(self._finding.answer, Constraints):
            return 0
        return stairs.ambient_dim - stairs.rank

    @property
    def too_few(self) -> bool:
        """Whether there are too few rows to support any answer, with or without a certificate."""
        return self.support == "none" and not self._spans_most

    @property
    def has_few_rows(self) -> bool:
        """Whether too few rows, not rows that do not fit, are why the answer is not supported."""
        g, misfits = self._promises, self._finding.rows.misfits
        if g is None or self.too_few:
            return True
        return misfits is not None and misfits < MOST_OUTSIDE * g.setup.n_rows

    @property
    def exceeded(self) -> float | None:
        """The allowed number of misfits if there are more; None otherwise, or if unknown."""
        g, misfits = self._promises, self._finding.rows.misfits
        if g is None or misfits is None or self._finding.is_empty:
            return None
        m, c = g.setup.n_rows, g.asked.contamination
        allowed = max(g.setup.window.start, g.asked.eps * m)
        if c:
            allowed = c * m + 3 * math.sqrt(c * (1 - c) * m)
        return allowed if misfits > allowed else None

    @cached_property
    def plateau(self) -> Plateau | None:
        """Thresholds that give a more stable space, or the first rule if the answer is ⊥."""
        finding, g = self._finding, self._promises
        V, stairs = finding.subspace, finding.stairs
        if g is None or V is None:
            return None
        ends = rule_named(g.setup.window.rule).ends(stairs)
        if finding.answer.is_bottom and isinstance(finding.question, ParityQuestion):
            flag = finding.flag
            return (
                None if flag is None else finding.question.first_rule(flag, ends, g.setup.threshold)
            )
        best = stairs.widest(ends)
        # the first set alone, of all rows with every damaged one among them, is no plateau
        if best is None or best.dim in (stairs.ambient_dim, V.dim) or best.breadth <= 1:
            return None
        start = max((end for end, _ in ends if end < g.setup.threshold), default=0)
        end = min((end for end, _ in ends if end >= g.setup.threshold), default=start)
        if best.breadth < 1.5 * Plateau(V.dim, start + 1, end).breadth:
            return None
        # a space with more directions may leave no answer
        return best if best.dim < V.dim or self._has_answer(best) else None

    def _has_answer(self, plateau: Plateau) -> bool:
        """Whether the space of a plateau has an answer; not known without the flag."""
        flag, stairs = self._finding.flag, self._finding.stairs
        if flag is None:
            return False
        level = next(level for level in stairs.levels if level.dim == plateau.dim)
        return self._finding.question.has_answer(flag.span_at(level.first))

    @cached_property
    def alternatives(self) -> Alternatives | None:
        """How many rules fit V*, and which one this is; None if it is the only one."""
        V, question = self._finding.subspace, self._finding.question
        answer, order = self._finding.answer, self._finding.field.order
        if V is None or not isinstance(question, ParityQuestion) or answer.is_bottom:
            return None
        dim = V.ambient_dim - 1 - V.dim
        if not dim:
            return None
        differ = self._differ(dim)
        proven = sparsest(V, answer.dim).proven if question.choice == "sparsest" else None
        counts = _power(order, dim), _power(order, differ)
        return Alternatives(dim, counts[0], question.choice, proven, differ, counts[1])

    def _differ(self, dim: int) -> int:
        """Return the dimension of the rules that fit V* modulo those that the encoding makes 0."""
        V, encoding, answer = self._finding.subspace, self._finding.encoding, self._finding.answer
        if V is None or not any(e.is_one_hot or "=" in e.column for e in encoding.encoders):
            return dim
        label = np.zeros((1, V.ambient_dim), dtype=V.basis.dtype)
        label[0, -1] = V.field.one
        free = (V + Subspace.span(label, V.field)).annihilator().basis  # differences of two rules
        constant = np.full(len(free), V.field.zero, dtype=V.field.dtype)
        if V.ambient_dim > answer.dim + 1:
            constant = V.field.sub(constant, free[:, answer.dim])
        found = news(Constraints(free[:, : answer.dim], constant, V.field), encoding, search=False)
        return len(found.rows) + len(found.constants)

    @property
    def products(self) -> ProductsOfColumns | None:
        """Products of columns of the next degree; None if there are no others, or too many."""
        finding, g = self._finding, self._promises
        if g is None or finding.rule is None:
            return None
        made, setup = finding.encoding.monomials, g.setup
        try:
            more = replace(made, degree=made.degree + 1)
            more.check_memory()
            dim = finding.question.dim(more.count)
            first = finding.rule.window(dim, setup.n_rows, setup.n_shards).t_min
        except InputError:
            return None
        if more.count == made.count:
            return None
        return ProductsOfColumns(more.degree, more.count, dim, setup.n_rows, first)


def _power(order: int | None, dim: int) -> str:
    """Return the number of elements of a space, as text."""
    if order is None:
        return "infinitely many"
    return f"{order}^{dim}" if dim > 1 else str(order**dim)
