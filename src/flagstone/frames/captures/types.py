"""Message types: rows of one capture that obey equations of their own.

A type is proposed by some of the rows, and tested: by a bit whose sides obey more equations than
all rows together, or by what rows have in common that fit nothing. Two tests, `obey_their_own` and
`syndrome_beyond_chance`, err with a proven probability where all rows are of one type, and those
that do not fit it are damaged independently of each other.
"""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from flagstone.algebra import AffineSubspace, Array, BitRows, Flag, Staircase, Subspace
from flagstone.answers import Constraints
from flagstone.certificates import first_of_runs
from flagstone.coins import Coins
from flagstone.errors import ReplicabilityWarning
from flagstone.finding import Finding
from flagstone.frames.digests import Frame
from flagstone.guarantees.binomial import binomial_above, share_at_most
from flagstone.measurement import Measurement
from flagstone.pipeline import ask
from flagstone.question import ConstraintsQuestion
from flagstone.rules import IndexRule, SpanRule

#: How often a capture of one type, some of its rows damaged, is said to hold another one, at most.
FALSE_ALARMS = 0.001
#: How many rows are looked at, the first ones.
MOST_ROWS = 65_536
#: The most types that are told apart, and the most bits that do so, one after the other.
MOST_TYPES, _DEPTH = 8, 3
#: How many equations of its own a type needs, besides relations of the payload.
_FEWEST_CHECKS = 4
#: Fewer different rows than this are no type, and fewer rows no side of a bit.
_FEWEST, _SMALLEST = 4, 16
#: How many rows of a type are looked at, half of them to choose and half to test.
_SAMPLE = 2048
#: Damage flips at most one in this many of the bits that equations look at.
_FLIPPED = 4
#: The most equations that are listed for the difference of two types.
_SHOWN = 4


@dataclass(frozen=True, eq=False)
class MessageType:
    """Some rows of a capture, and the equations that they obey.

    Attributes
    ----------
    answer : Constraints
        Nothing is promised about fresh rows: these were chosen by what they say.
    rows : array of int
        Which rows fit it.
    space : Subspace or None
        What its rows (x, 1) span; None where they are too few to show more than constants.
    told_by : str
        What tells its rows from others, in a few words; empty where nothing had to.
    """

    answer: Constraints
    rows: Array
    space: Subspace | None
    told_by: str = ""


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
    the two tests say, each errs with a probability that is proven there, together
    ``FALSE_ALARMS`` = 0.001. Not proven: that equal rows, which the search for a bit keeps on one
    side of its halves, change nothing. Not promised: anything about rows that depend on each other,
    such as a reading that drifts.

    Examples
    --------
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
    rows = rows[:MOST_ROWS]
    search = _TypeSearch(rows, finding, rule, coins)
    types = search.by_bits(search.type_of(finding, np.arange(len(rows))))
    types.sort(key=lambda found: -len(found.rows))
    while len(types) < MOST_TYPES and (found := search.among_the_rest(types)) is not None:
        types.append(found)
    return types


class _TypeSearch:
    """Looks for types among rows."""

    def __init__(self, rows: Array, finding: Finding, rule: SpanRule, coins: Coins) -> None:
        self._bits, self._encoding = rows, finding.encoding
        self._rows = np.hstack([rows, np.ones((len(rows), 1), dtype=np.uint8)])  # (x, 1)
        self._rule, self._coins, self._whole = rule, coins, finding.subspace

    def by_bits(self, whole: MessageType, depth: int = _DEPTH) -> list[MessageType]:
        """Tell rows apart by a bit, and each side again; the whole where no bit does."""
        bit = None
        if depth:
            rows = self._rows[whole.rows[:_SAMPLE]]
            bit = _discriminating_bit(rows, whole.answer, self._rule, self._coins)
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
            found = self.type_of(finding, np.arange(len(self._bits)), told_by)
            types += self.by_bits(found, depth - 1)
        return types

    def type_of(self, finding: Finding, among: Array, told_by: str = "") -> MessageType:
        """Return the type of those rows that fit a finding."""
        answer: Any = finding.answer
        rows = among[answer.check(self._bits[among])]
        return MessageType(answer, rows, finding.subspace, told_by)

    def _asked(self, index: Array, rule: SpanRule) -> Finding:
        """Return the equations of some rows, and how many of these break them."""
        flag, question = Flag(self._rows.shape[1]).update(self._rows[index]), ConstraintsQuestion()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ReplicabilityWarning)  # nothing is promised anyway
            found = ask(flag, question, rule, self._coins, encoding=self._encoding)
        wrong = int((~found.answer.check(self._bits[index])).sum())  # type: ignore[attr-defined]
        return replace(found, rows=Measurement(len(index), wrong, wrong))

    def among_the_rest(self, types: Sequence[MessageType]) -> MessageType | None:
        """Look for a type among the rows that fit none of these."""
        taken = np.concatenate([found.rows for found in types])
        index = np.setdiff1d(np.arange(len(self._bits)), taken)
        _, first = np.unique(self._bits[index], axis=0, return_index=True)
        distinct = self._rows[index[np.sort(first)]]
        if len(distinct) < _FEWEST:
            return None
        samples = [self._rows[found.rows[:_SAMPLE]] for found in types]
        known = [rows[first_of_runs(rows)] for rows in samples]
        candidates = [self._own_equations(index, distinct, known, types)]
        for number in range(1, len(types) + 1):
            candidates.append(self._other_constants(index, distinct, known, types, number))
        found = [candidate for candidate in candidates if candidate is not None]
        return max(found, key=lambda t: len(t.rows) * len(t.answer), default=None)

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
        usual = {syndrome for rows in known for syndrome in _syndromes(equations, rows)}
        syndromes = _syndromes(equations, distinct)
        counts = Counter(syndrome for syndrome in syndromes if syndrome not in usual)
        # one bit that is wrong again and again is damage all the same
        common = next((s for s, _ in counts.most_common() if sum(s) > 1), None)
        share = FALSE_ALARMS / 8 / len(known)
        if common is None or not syndrome_beyond_chance(
            equations, len(known), counts.total(), counts[common], share
        ):
            return None
        # they may be rows of any known type, in which a reading has left its usual range
        members = distinct[[syndrome == common for syndrome in syndromes]]
        if any(self._shares_check(one, members) for one in types):
            return None
        values = equations.rhs ^ np.array(common, dtype=np.uint8)
        other = Constraints(equations.matrix, values, equations.field, equations.names)
        rows = index[other.check(self._bits[index])]
        changed = [other.lines[i] for i in np.flatnonzero(common)]
        said = ", ".join(changed[:_SHOWN]) + (", …" if len(changed) > _SHOWN else "")
        told_by = f"the constants of type {number}, but {said}"
        finding = self._asked(rows, self._rule)
        if finding.support != "whole":
            return MessageType(other, rows, None, f"{told_by}; too few rows to say more")
        return self.type_of(finding, rows, told_by)

    def _shares_check(self, one: MessageType, rows: Array) -> bool:
        """Say whether rows (x, 1) may have the check of this type, and other readings."""
        if broken_checks(one.answer, rows[:, :-1]) < _FEWEST_CHECKS:
            return True
        if one.space is None or self._whole is None:
            return False
        # few rows of a type obey much by chance: what matters is the check that they have together
        together = one.space + Subspace.span(rows ^ rows[0], dim=rows.shape[1])
        return own_checks(together, self._whole) >= _FEWEST_CHECKS

    def _own_equations(
        self, index: Array, distinct: Array, known: list[Array], types: Sequence[MessageType]
    ) -> MessageType | None:
        """Rows that obey equations of their own."""
        halves = _halves(len(distinct))
        spans = _spans(distinct[halves == 0])
        share = FALSE_ALARMS / 4 / len(spans)
        if not any(obey_their_own(V, known, distinct[halves == 1], share) for V in spans):
            return None

        def evidence(U: Subspace) -> float:
            hits = int(U.contains(distinct).sum()) - U.dim  # U.dim rows always lie in a span
            return -hits * math.log(most_frequent(U, known, share))

        U = max(_spans(distinct), key=evidence)
        for one in types:
            if one.space is None or own_checks(U, one.space) < _FEWEST_CHECKS:
                return None
        members = index[U.contains(self._rows[index])]
        finding = self._asked(members, IndexRule(t_min=1, t_max=1))
        return self.type_of(finding, members, "equations of its own")


def _syndromes(equations: Constraints, rows: Array) -> list[tuple[int, ...]]:
    """Say of each row (x, 1) which equations it breaks."""
    return list(map(tuple, equations.syndrome(rows[:, :-1]).tolist()))


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


def _discriminating_bit(
    rows: Array, answer: Constraints, rule: SpanRule, coins: Coins
) -> int | None:
    """Return the bit that tells types of rows (x, 1) apart best; None where no bit does.

    The rows obey the answer, that of all rows together.

    Notes
    -----
    **Guarantees**

    Equal rows are together in the half that chooses bit and equations, or in the other one, which
    tests them, once each. A bit that is no more than a constant to the others, so that the rows
    of one side are those of the other, drawn independently, plus a fixed row, is returned with
    probability at most half of ``FALSE_ALARMS`` (`obey_their_own`).
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
        enough = V.dim - _FEWEST_CHECKS
        if all(_reaches(side, j, enough) for side, j in zip(sides, indices, strict=True)):
            continue
        spaces = [
            Flag(flag.dim).update(side).span_at(j) for side, j in zip(sides, indices, strict=True)
        ]
        more = [V.dim - 1 - space.dim for space in spaces]
        saved = sum(len(side) * n for side, n in zip(sides, more, strict=True))
        if max(more) >= _FEWEST_CHECKS and (best is None or saved > best[0]):
            best = saved, bit, spaces
    if best is None:
        return None
    _, bit, spaces = best
    for value, space in enumerate(spaces):
        here = test[:, bit] == value
        if own_checks(space, V) >= _FEWEST_CHECKS and obey_their_own(
            space, [test[~here]], test[here], FALSE_ALARMS / 4
        ):
            return bit
    return None


def syndrome_beyond_chance(
    equations: Constraints, n_types: int, n: int, most: int, failure: float
) -> bool:
    """Say whether damage would so often break the very same equations: ``most`` of ``n`` rows.

    Notes
    -----
    **Guarantees**

    False with probability at least 1 − failure if the rows are independent, each is one of
    ``n_types`` = r known types, and in each of them w ≥ 1 of the d bits that some equation holds
    were flipped, at places drawn uniformly, for any w up to a quarter of them. If no more than
    c of these bits stand in the same equations, the last place drawn hits a given syndrome with
    probability at most c/(d − w + 1) ≤ q. Rows with a syndrome of undamaged rows are not seen, so
    that this becomes q/(1 − rq). Some syndrome is that of i given rows with at most the (i−1)-th
    power of it, and there are C(n, i) choices of rows.

    Examples
    --------
    >>> hamming = Constraints([[1,0,1,0,1,0,1], [0,1,1,0,0,1,1], [0,0,0,1,1,1,1]], [0, 0, 0])
    >>> [syndrome_beyond_chance(hamming, 1, 10, most, 0.001) for most in (6, 7, 8)]
    [False, False, True]
    """
    columns = Counter(tuple(column) for column in equations.matrix.T.tolist() if any(column))
    d = sum(columns.values())
    q = max(columns.values(), default=d + 1) / (d - d // _FLIPPED + 1)
    if most < 2 or q * (n_types + 1) >= 1:
        return False
    q /= 1 - n_types * q
    return math.log(math.comb(n, most)) + (most - 1) * math.log(q) <= math.log(failure)


def obey_their_own(U: Subspace, known: Sequence[Array], rows: Array, failure: float) -> bool:
    """Say whether more rows lie in U than damaged rows of the known types would.

    Notes
    -----
    **Guarantees**

    False with probability at least 1 − failure if each row is one of a known type (of which those
    given are a sample), plus damage of any kind that does not depend on what the row says, and U
    was chosen without these rows. Let E hold the equations of U. Whatever the damage e is, the row
    t + e lies in U only if Et = −Ee, which has at most the probability p of the most frequent value
    of Et. So hits are at most binomial; p is bounded from the known rows (Clopper and Pearson), at
    half the failure.

    Examples
    --------
    >>> random = np.random.RandomState(0)
    >>> known = random.randint(0, 2, size=(200, 9))
    >>> own = random.randint(0, 2, size=(20, 9)) * [1, 1, 1, 1, 1, 0, 0, 0, 0]
    >>> U = Subspace.span(np.eye(9, dtype=int)[:5])
    >>> obey_their_own(U, [known], own, 0.001), obey_their_own(U, [known], known[:20], 0.001)
    (True, False)
    """
    hits = int(U.contains(rows).sum())
    share = most_frequent(U, known, failure / 2)
    return binomial_above(len(rows), share, hits - 1) <= failure / 2


def most_frequent(U: Subspace, known: Sequence[Array], failure: float) -> float:
    """Bound the probability of what known rows say most often about the equations of U."""
    F, E, shares = U.field, U.annihilator().basis, []
    for sample in known:
        if not len(E) or not len(sample):
            return 1.0
        values = F.dot(F.rows(sample, dim=U.ambient_dim), E)
        counts = np.unique(values, axis=0, return_counts=True)[1]
        shares.append(share_at_most(int(counts.max()), len(sample), failure / len(known)))
    return max(shares)


def own_checks(space: Subspace, whole: Subspace) -> int:
    """Count the equations of rows (x, 1) of a type that only a check of its own explains.

    Those of ``whole`` are not counted, whatever their right-hand sides; nor are constants and
    relations of two bits: a reading that drifts, or passes a power of two, has such relations, too.

    Examples
    --------
    >>> whole = Subspace.full(7)
    >>> own_checks(Subspace.span(np.eye(7, dtype=int)[3:]), whole)      # x0 = x1 = x2 = 0
    0
    >>> own_checks(Subspace.span([[1, 1, 1, 1, 1, 1, 0]]).annihilator(), whole)
    1
    """
    answer = Constraints.from_subspace(AffineSubspace.from_homogeneous(space))
    if answer.is_bottom:
        return 0
    rows = answer.augmented
    constant = np.zeros((1, rows.shape[1]), dtype=np.uint8)
    constant[0, -1] = 1
    payload_relations = [constant, rows[rows[:, :-1].sum(axis=1) == 1]]
    for pair in Frame.of(answer).pairs:
        payload_relations.append(np.bincount([*pair.columns], minlength=rows.shape[1])[np.newaxis])
    known = whole.annihilator() + Subspace.span(np.concatenate(payload_relations))
    return (known + space.annihilator()).dim - known.dim


def broken_checks(answer: Constraints, rows: Array) -> int:
    """Count the equations that rows break now and then, and that only another check explains.

    Rows of the same type break its equations all in the same way, or as their bits break its
    constants and relations of two bits: a reading that leaves its usual range does that.

    Examples
    --------
    >>> answer = Constraints([[1, 0, 0, 0], [0, 1, 1, 1]], [0, 0])    # x0 = 0, x1 ⊕ x2 ⊕ x3 = 0
    >>> broken_checks(answer, np.array([[0, 0, 0, 1], [1, 0, 0, 0]]))  # x3 ⊕ x0 is the check
    0
    >>> broken_checks(answer, np.array([[1, 0, 0, 1], [1, 0, 0, 0]]))
    1
    """
    broken = answer.syndrome(rows)
    broken = broken ^ broken[0]
    payload_relations = broken[:, answer.shown[:, :-1].sum(axis=1) <= 2]
    ranks = [Subspace.span(part, dim=part.shape[1]).dim for part in (broken, payload_relations)]
    return ranks[0] - ranks[1]
