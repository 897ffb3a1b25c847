"""Message types: rows of one capture that obey equations of their own."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from flagstone.algebra import Array, BitRows, Flag, Staircase, Subspace
from flagstone.answers import Constraints
from flagstone.certificates import first_of_runs
from flagstone.coins import Coins
from flagstone.errors import ReplicabilityWarning
from flagstone.finding import Finding
from flagstone.frames.captures.evidence import (
    FALSE_ALARMS,
    FEWEST_CHECKS,
    broken_checks,
    most_frequent,
    obey_their_own,
    own_checks,
    syndrome_beyond_chance,
)
from flagstone.frames.digests import Frame
from flagstone.measurement import Measurement
from flagstone.pipeline import ask
from flagstone.question import ConstraintsQuestion
from flagstone.rules import IndexRule, SpanRule

#: How many rows are looked at, the first ones.
MOST_ROWS = 65_536
#: The most types that are told apart, and the most bits that do so, one after the other.
MOST_TYPES, _DEPTH = 8, 3
#: The most equations that are listed for the difference of two types.
_SHOWN = 4
#: Fewer different rows than this are no type.
_FEWEST = 4
#: How many rows are looked at, half of them to choose and half to test.
SAMPLE = 2048
#: Fewer rows than this are no side.
_SMALLEST = 16

_CHOSEN = (
    "these rows were told apart by what they say, so nothing is promised about fresh ones; tell "
    "fresh rows apart in the same way beforehand, and ask for each type by itself"
)


@dataclass(frozen=True, eq=False)
class MessageType:
    """Some rows of a capture, and the equations that they obey.

    Attributes
    ----------
    finding : Finding
        Only that of all rows together makes promises: other rows were chosen by what they say.
    rows : array of int
        Which rows fit it.
    told_by : str
        What tells its rows from others, in a few words; empty where nothing had to.
    """

    finding: Finding
    rows: Array
    told_by: str = ""

    @property
    def answer(self) -> Constraints:
        """Its equations."""
        answer: Any = self.finding.answer
        return answer  # type: ignore[no-any-return]


def message_types(finding: Finding, rows: Array, rule: SpanRule, coins: Coins) -> list[MessageType]:
    """Tell the types of rows apart; one where nothing speaks for more.

    Parameters
    ----------
    finding : Finding
        The equations (affine, over GF(2)) of all rows together.
    rows : array of bits
        Of more than `MOST_ROWS`, the first ones are looked at.
    rule : SpanRule
    coins : Coins
        As for the finding.

    Notes
    -----
    First, a *bit* tells types apart where the rows on a side of it obey at least four equations
    more than all rows together that are neither constants nor relations of two bits, which
    payloads have, too. Bit and equations are chosen on half of the rows, and tested on the
    others.

    Second, among rows that fit nothing, those are a type that have the very same other constants
    than a known one, and another check than any of them; or that obey equations of their own, which
    are chosen on half of the rows and tested on the others.

    **Guarantees**

    If all rows are of one type, drawn independently, and those that do not fit it are damaged as
    `captures.evidence` says, each test errs with a probability that is proven there,
    together ``FALSE_ALARMS`` = 0.001. Not proven: that equal rows, which the search for a bit keeps
    on one side of its halves, change nothing. Not promised: anything about rows that depend on each
    other, such as a reading that drifts.

    Examples
    --------
    >>> import numpy as np
    >>> from flagstone import Coins, Flag, IndexRule, ask
    >>> from flagstone.question import ConstraintsQuestion
    >>> random = np.random.RandomState(1)
    >>> X = random.randint(0, 2, size=(600, 24)).astype(np.uint8)
    >>> X[:, 16:] = X[:, :8] ^ X[:, 8:16] * X[:, :1]     # a check that looks at x0
    >>> lifted = np.hstack([X, np.ones((600, 1), dtype=int)])
    >>> rule, coins = IndexRule(), Coins(7)
    >>> finding = ask(Flag(25).update(lifted), ConstraintsQuestion(), rule, coins)
    >>> for found in message_types(finding, X, rule, coins):
    ...     print(found.told_by, len(found.rows), len(found.answer))
    x0 = 0 315 9
    x0 = 1 285 9
    """
    answer: Any = finding.answer
    rows = rows[:MOST_ROWS]
    search = _TypeSearch(rows, finding, rule, coins)
    types = search.by_bits(MessageType(finding, np.flatnonzero(answer.check(rows))))
    types.sort(key=lambda found: -len(found.rows))
    while len(types) < MOST_TYPES and (found := search.among_the_rest(types)) is not None:
        types.append(found)
    return types


class _TypeSearch:
    """Looks for types among kept rows."""

    def __init__(self, rows: Array, finding: Finding, rule: SpanRule, coins: Coins) -> None:
        self._bits, self._encoding = rows, finding.encoding
        self._rows = np.hstack([rows, np.ones((len(rows), 1), dtype=np.uint8)])  # (x, 1)
        self._rule, self._coins, self._whole = rule, coins, finding.subspace

    def by_bits(self, whole: MessageType, depth: int = _DEPTH) -> list[MessageType]:
        """Tell rows apart by a bit, and each side again; the whole where no bit does."""
        bit = None
        if depth:
            rows = self._rows[whole.rows[:SAMPLE]]
            bit = discriminating_bit(rows, whole.answer, self._rule, self._coins)
        if bit is None:
            return [whole]
        types = []
        for value in (0, 1):
            side = whole.rows[self._bits[whole.rows, bit] == value]
            finding = self._asked(side, self._rule)
            if finding.is_empty:
                return [whole]
            said = f"{self._encoding.names[bit]} = {value}"
            told_by = f"{whole.told_by}, {said}" if whole.told_by else said
            found = self._type(finding, np.arange(len(self._bits)), told_by)
            types += self.by_bits(found, depth - 1)
        return types

    def _sample(self, index: Array) -> Array:
        """Return the first of these rows, one of each run of equal ones."""
        rows = self._rows[index[:SAMPLE]]
        return rows[first_of_runs(rows)]

    def _asked(self, index: Array, rule: SpanRule) -> Finding:
        """Answer the question for some rows."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ReplicabilityWarning)  # nothing is promised anyway
            found = ask(
                Flag(self._rows.shape[1]).update(self._rows[index]),
                ConstraintsQuestion(),
                rule,
                self._coins,
                encoding=self._encoding,
            )
        wrong = int((~found.answer.check(self._bits[index])).sum())  # type: ignore[attr-defined]
        return replace(found, rows=Measurement(len(index), wrong, wrong))

    def _type(self, finding: Finding, among: Array, told_by: str) -> MessageType:
        """Return the type of the rows that fit, with nothing promised about fresh ones."""
        answer: Any = finding.answer
        if finding.promises is not None:
            finding = replace(finding, promises=finding.promises.withhold(_CHOSEN))
        return MessageType(finding, among[answer.check(self._bits[among])], told_by)

    def among_the_rest(self, types: Sequence[MessageType]) -> MessageType | None:
        """Look for a type among the rows that fit none of these."""
        index = self.rest(types)
        _, first = np.unique(self._bits[index], axis=0, return_index=True)
        distinct = np.sort(first)
        if len(distinct) < _FEWEST:
            return None
        known = [self._sample(found.rows) for found in types]
        candidates = [self._own_equations(index, distinct, known, types)]
        for number in range(1, len(types) + 1):
            candidates.append(self._other_constants(index, distinct, known, types, number))
        found = [candidate for candidate in candidates if candidate is not None]
        return max(found, key=lambda t: len(t.rows) * len(t.answer), default=None)

    def rest(self, types: Sequence[MessageType]) -> Array:
        """Return the rows that fit none of the types."""
        taken = np.zeros(len(self._bits), dtype=bool)
        for found in types:
            taken[found.rows] = True
        return np.flatnonzero(~taken)

    def _other_constants(
        self,
        index: Array,
        distinct: Array,
        known: list[Array],
        types: Sequence[MessageType],
        number: int,
    ) -> MessageType | None:
        """Rows with the very same other constants than a type, and another check than any."""
        base = types[number - 1].answer
        part = base.matrix.sum(axis=1) == 1
        equations = Constraints(base.matrix[part], base.rhs[part], base.field, base.names)
        if not len(equations):
            return None
        usual = {
            cluster.syndrome for rows in known for cluster in clusters(equations, rows[:, :-1])
        }
        bits = self._bits[index[distinct]]
        found = [each for each in clusters(equations, bits) if each.syndrome not in usual]
        n = sum(len(cluster.rows) for cluster in found)
        # one bit that is wrong again and again is damage all the same
        found = [cluster for cluster in found if not cluster.columns]
        share = FALSE_ALARMS / 8 / len(known)
        if not found or not syndrome_beyond_chance(
            equations, len(known), n, len(found[0].rows), share
        ):
            return None
        # they may be rows of any known type, in which a reading has left its usual range
        members = self._rows[index[distinct]][list(found[0].rows)]
        if any(self._shares_check(one, members) for one in types):
            return None
        values = equations.rhs ^ np.array(found[0].syndrome, dtype=np.uint8)
        other = Constraints(equations.matrix, values, equations.field, equations.names)
        rows = index[other.check(self._bits[index])]
        finding, few = self._asked(rows, self._rule), ""
        if finding.support != "whole":
            few, counted = "; too few rows to say more", Measurement(len(rows), 0, 0)
            finding = Finding(ConstraintsQuestion(), other, self._encoding, rows=counted)
        changed = [other.lines[i] for i in np.flatnonzero(found[0].syndrome)]
        said = ", ".join(changed[:_SHOWN]) + (", …" if len(changed) > _SHOWN else "")
        return self._type(finding, rows, f"the constants of type {number}, but {said}{few}")

    def _shares_check(self, one: MessageType, rows: Array) -> bool:
        """Say whether rows (x, 1) may have the check of this type, and other readings."""
        if broken_checks(one.answer, rows[:, :-1]) < FEWEST_CHECKS:
            return True
        V = one.finding.subspace
        if V is None or self._whole is None:
            return False
        # few rows of a type obey much by chance: what matters is the check that they have together
        together = V + Subspace.span(rows ^ rows[0], dim=V.ambient_dim)
        return own_checks(together, self._whole) >= FEWEST_CHECKS

    def _own_equations(
        self, index: Array, distinct: Array, known: list[Array], types: Sequence[MessageType]
    ) -> MessageType | None:
        """Rows that obey equations of their own."""
        rows = self._rows[index[distinct]]
        halves = _halves(len(rows))
        spans = _spans(rows[halves == 0])
        share = FALSE_ALARMS / 4 / len(spans)
        if not any(obey_their_own(V, known, rows[halves == 1], share) for V in spans):
            return None

        def evidence(U: Subspace) -> float:
            hits = int(U.contains(rows).sum()) - U.dim  # U.dim rows always lie in a span
            return -hits * math.log(most_frequent(U, known, share))

        U = max(_spans(rows), key=evidence)
        for one in types:
            V = one.finding.subspace
            if V is None or own_checks(U, V) < FEWEST_CHECKS:
                return None
        members = index[U.contains(self._rows[index])]
        finding = self._asked(members, IndexRule(t_min=1, t_max=1))
        return self._type(finding, members, "equations of its own")


def _halves(n: int) -> Array:
    """Return 0 or 1 for each of n rows; devices that take turns are in both halves.

    >>> _halves(8).tolist()
    [0, 1, 1, 0, 1, 0, 0, 1]
    """
    return np.array([i.bit_count() % 2 for i in range(n)])


def _spans(rows: Array) -> list[Subspace]:
    """Return the spaces of the flag of these rows."""
    flag = Flag(rows.shape[1]).update(rows)
    return [flag.span_at(level.first) for level in flag.levels()]


def _reaches(rows: BitRows, index: int, dim: int) -> bool:
    """Say whether the set of this index spans this many dimensions; often the first rows tell."""
    first = index * rows.dim + 16  # V_j only grows with further rows
    flag = Flag(rows.dim).update(rows[:first])
    return flag.dim_at(index) >= dim or flag.update(rows[first:]).dim_at(index) >= dim


def discriminating_bit(
    rows: Array, answer: Constraints, rule: SpanRule, coins: Coins
) -> int | None:
    """Return the bit that tells types of rows (x, 1) apart best; None where no bit does.

    Parameters
    ----------
    rows : array
        That obey the answer, all of them or a sample.
    answer : Constraints
        Of all rows together.
    rule, coins : SpanRule, Coins
        How equations are chosen, here and on each side.

    Notes
    -----
    **Guarantees**

    Equal rows are together in the half that chooses bit and equations, or in the other one, which
    tests them, once each. A bit that is no more than a constant to the others, so that the rows
    of one side are those of the other, drawn independently, plus a fixed row, is returned with
    probability at most half of ``FALSE_ALARMS`` (`evidence.obey_their_own`).
    """
    _, first, same = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    half = _halves(len(first))[np.argsort(np.argsort(first))]
    choose, test = rows[half[same.ravel()] == 0], rows[np.sort(first[half == 1])]
    if not len(choose):
        return None
    packed = answer.field.rows(choose)
    flag = Flag(rows.shape[1]).update(packed)
    t = rule.draw(rule.window(flag.dim, flag.n_rows), coins)
    index = rule.index(Staircase.of(flag), t)
    V, best = flag.span_at(index), None
    for bit in Frame.of(answer).own:
        sides = [packed[choose[:, bit] == value] for value in (0, 1)]
        if min(map(len, sides)) < _SMALLEST:
            continue
        # of fewer rows each direction is seen less often
        indices = [max(1, index * len(side) // len(choose)) for side in sides]
        enough = V.dim - FEWEST_CHECKS
        if all(_reaches(side, j, enough) for side, j in zip(sides, indices, strict=True)):
            continue
        spaces = [
            Flag(flag.dim).update(side).span_at(j) for side, j in zip(sides, indices, strict=True)
        ]
        more = [V.dim - 1 - space.dim for space in spaces]
        saved = sum(len(side) * n for side, n in zip(sides, more, strict=True))
        if max(more) >= FEWEST_CHECKS and (best is None or saved > best[0]):
            best = saved, bit, spaces
    if best is None:
        return None
    _, bit, spaces = best
    for value, space in enumerate(spaces):
        here = test[:, bit] == value
        if own_checks(space, V) >= FEWEST_CHECKS and obey_their_own(
            space, [test[~here]], test[here], FALSE_ALARMS / 4
        ):
            return bit
    return None


@dataclass(frozen=True)
class Cluster:
    """Rows that break the same equations.

    Attributes
    ----------
    syndrome : tuple of int
        For each equation of the answer, whether they break it.
    rows : tuple of int
        Which rows they are.
    columns : tuple of int
        Bits of which one alone, turned over, breaks just these equations.
    """

    syndrome: tuple[int, ...]
    rows: tuple[int, ...]
    columns: tuple[int, ...]


def clusters(answer: Constraints, misfits: Array) -> list[Cluster]:
    """Sort rows by the equations that they break, the most frequent first.

    Examples
    --------
    >>> import numpy as np
    >>> from flagstone.answers import Constraints
    >>> checks = Constraints([[1, 0, 1, 1], [0, 1, 1, 0]], [0, 0])
    >>> for cluster in clusters(checks, np.array([[0, 0, 0, 1], [1, 0, 0, 0], [0, 0, 1, 0]])):
    ...     print(cluster)
    Cluster(syndrome=(1, 0), rows=(0, 1), columns=(0, 3))
    Cluster(syndrome=(1, 1), rows=(2,), columns=(2,))
    """
    members: dict[tuple[int, ...], list[int]] = {}
    for i, syndrome in enumerate(map(tuple, answer.syndrome(misfits).tolist())):
        members.setdefault(syndrome, []).append(i)
    columns: dict[tuple[int, ...], list[int]] = {}
    for j, column in enumerate(map(tuple, answer.shown[:, :-1].T.tolist())):
        columns.setdefault(column, []).append(j)
    found = [
        Cluster(syndrome, tuple(rows), tuple(columns.get(syndrome, [])))
        for syndrome, rows in members.items()
    ]
    return sorted(found, key=lambda cluster: (-len(cluster.rows), cluster.rows))
