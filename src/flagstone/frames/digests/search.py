"""Search: the digests of rows, whatever share of them is damaged, and the equations beside them.

Sums come first: they are tried on the rows themselves, and rows that break one are damaged. What is
linear is then looked for in every space of the flag of the other rows. Where few rows are damaged
in the same way, one of these spaces holds the valid frames, or part of them, and nothing else; a
digest that is found there is held against all rows, and the best one is reported with its level.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from flagstone.algebra import GF, AffineSubspace, Array, Flag, Subspace
from flagstone.answers import Constraints
from flagstone.coins import Coins
from flagstone.frames.digests.complements import name_complement
from flagstone.frames.digests.crc import crc_formula, joined
from flagstone.frames.digests.digest import (
    Digest,
    broken_by,
    columns_of,
    different_rows,
    hex_text,
    span_text,
)
from flagstone.frames.digests.frame import Frame
from flagstone.frames.digests.layers import Layers, propose
from flagstone.frames.digests.naming import (
    explains,
    key_stream,
    name_check,
    name_frame,
    name_register,
)
from flagstone.frames.digests.registers import CERTAIN
from flagstone.frames.digests.rules import Cases, Solved, Sum, case_of
from flagstone.frames.digests.sums import name_sums
from flagstone.question import ConstraintsQuestion

#: Where more bits than this vary, no digest is searched for.
MOST_COLUMNS = 4096
#: Digests are searched for among the first rows, this many of them, and counted on all.
SAMPLE = 4096
#: Check bits without a name are a digest if there are this many, of this share of the data each.
_WIDE, _DENSE = 8, 0.2
#: Fewer neighbours than this are check bits only if they have a name or were asked for.
_FEWEST = 3
#: How many spaces of a flag are searched: at bytes alone, and everywhere.
_LEVELS = (8, 4)
#: A digest that fits this share of the rows, and is wide, ends the search.
_SHARE = 0.9
#: Where no level shows a digest, sets of rows are searched: rows of a set, and sets.
_FEW, _TRIES = 10, 12
#: What at most one row in this many shows may be damage.
_SETS = 100
#: This many rows more than columns span all columns, almost surely.
_SPARE = 8


@dataclass(frozen=True, eq=False)
class DigestAnalysis:
    """The digests of frames, and the equations that they obey; made by :func:`analyze`.

    Attributes
    ----------
    frame : Frame
        The equations.
    digests : list of Digest
        Named, or as a stream of keys if chance cannot explain it; none that most rows break.
    rows : array or None
        The rows that were searched; None where only the equations are known.
    solve : sequence of int or None
        The check bits, if the caller named them.
    looked : bool
        Whether digests were searched for in rows, here or when a finding was saved.
    complement : Digest or None
        Bytes that are the complements of others; payloads have such bytes, too.

    Examples
    --------
    >>> from flagstone import AffineSpan
    >>> data = np.random.RandomState(0).randint(0, 256, size=(300, 2), dtype=np.uint8)
    >>> X = np.unpackbits(np.hstack([data, data[:, :1] ^ data[:, 1:]]), axis=1)
    >>> analysis = analyze(AffineSpan(random_state=1).fit(X).constraints_, X)
    >>> [digest["kind"] for digest in analysis.to_dict()["digest"]]
    ['xor']
    """

    frame: Frame
    digests: list[Digest]
    rows: Array | None = None
    solve: Sequence[int] | None = None
    looked: bool = False
    complement: Digest | None = None

    @property
    def checks(self) -> list[Digest]:
        """What a frame must pass: its digests, and bytes that are the complements of others."""
        return [*self.digests, *([] if self.complement is None else [self.complement])]

    @cached_property
    def layers(self) -> Layers:
        """The equations, sorted: solved for the check bits of linear digests, or likely ones."""
        if self.solve is not None:
            return Layers.solved_for(self.frame, self.solve)
        known = self.digests
        if not known and self.rows is None:
            known = name_frame(self.frame)
        checks = [d.rule.checks for d in known if d.kind != "sum"]
        varying = sorted({i for columns in checks for i in columns if self.frame.varies[i]})
        if not varying or not self.frame.solvable(varying):
            proposals = propose(self.frame)
            likely = bool(proposals) and len(proposals[0]) >= _FEWEST
            varying = list(proposals[0]) if likely else []
        return Layers.solved_for(self.frame, varying)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values: ``pattern``, ``digest`` and ``relations`` (docs/digests.md)."""
        layers, names, rows = self.layers, self.layers.names, self.rows
        checks = [] if layers.solved is None else layers.solved.relations
        kinds = [("pair", layers.pairs), ("check", checks), ("other", layers.relations)]
        return {
            "pattern": layers.pattern,
            "digest": [d.to_dict() for d in self.checks] if self.looked else None,
            "relations": [
                {
                    "kind": kind,
                    "text": relation.text(names),
                    "columns": [names[i] for i in relation.columns],
                    "value": relation.value,
                    "rows_broken": None if rows is None else int(relation.broken(rows).sum()),
                }
                for kind, relations in kinds
                for relation in relations
            ],
        }


def analyze(
    answer: Any,
    rows: Array | None = None,
    *,
    solve: Sequence[int] | None = None,
    cases: Sequence[int] = (),
    others: Mapping[int, Array] | None = None,
    recalled: Sequence[Mapping[str, Any]] | None = None,
) -> DigestAnalysis | None:
    """Return the digests of rows of bits that obey equations; None for all other answers.

    Where the equations contradict each other, since nothing was kept, the rows are searched all
    the same.

    Parameters
    ----------
    answer : Constraints
        Over GF(2).
    rows : array of shape (n, d), optional
        Without rows, the digests are those of ``recalled``.
    solve, cases : sequence of int
        As for :func:`search`.
    others : mapping from bits to rows
        Frames of other lengths: they tell init of a CRC from xorout.
    recalled : sequence of mappings, optional
        Digests as a finding keeps them.

    Notes
    -----
    **Guarantees**

    A digest is listed only after it was tried on every row, and only if most of them fit it.

    Examples
    --------
    >>> from flagstone import AffineSpan
    >>> data = np.random.RandomState(0).randint(0, 256, size=(500, 4), dtype=np.uint8)
    >>> check = data[:, :1] ^ data[:, 1:2] ^ data[:, 2:3] ^ data[:, 3:] ^ 0xA5
    >>> X = np.unpackbits(np.hstack([data, check]), axis=1)
    >>> analysis = analyze(AffineSpan(random_state=1).fit(X).constraints_, X)
    >>> for digest in analysis.digests:
    ...     print(f"{digest.formula}; {digest.rows_broken} of {digest.rows_verified} rows break it")
    the XOR of the bytes of x0..x31 ⊕ 0xa5; 0 of 500 rows break it
    """
    if not isinstance(answer, Constraints) or answer.field.order != 2:
        return None
    if answer.is_bottom:
        answer = Constraints(np.zeros((0, answer.dim)), np.zeros(0), names=answer.names)
    frame = Frame.of(answer)
    if int(frame.varies.sum()) > MOST_COLUMNS:
        return None
    if solve is not None:
        Layers.solved_for(frame, solve)  # refuses what cannot be solved for
    if rows is None or not len(rows):
        known = [Digest.from_dict(values, frame.names) for values in recalled or ()]
        digests = [digest for digest in known if digest.kind != "complement"]
        complement = next((digest for digest in known if digest.kind == "complement"), None)
        return DigestAnalysis(frame, digests, None, solve, recalled is not None, complement)
    rows = np.asarray(rows, dtype=np.uint8)
    found = search(frame.names, rows[:SAMPLE], solve, cases)
    analysis = DigestAnalysis(frame, found, rows, solve, True)
    solved = analysis.layers.solved
    if not found and solved is not None and (solve is not None or _dense(frame, solved)):
        found = [key_stream(frame, solved)]
    found = [digest.measured(rows) for digest in found]
    found = [d for d in found if 2 * d.rows_broken < d.rows_verified]
    found = [d for d in found if d.name or solve is not None or _is_beyond_chance(d, rows)]
    if others:
        found = [joined(digest, frame.names, rows, others) for digest in found]
    taken = {i for digest in found for i in digest.rule.checks}
    complement = name_complement(frame.names, rows[:SAMPLE], taken)
    complement = None if complement is None else complement.measured(rows)
    return replace(analysis, digests=found, complement=complement)


def _dense(frame: Frame, solved: Solved) -> bool:
    """Say whether check bits without a name look like a digest: wide, each of much of the data."""
    n_data = len(frame.own) - len(solved.columns)
    weights = [int(np.count_nonzero(row)) for row in solved.matrix]
    return len(weights) >= _WIDE and min(weights) >= max(3, _DENSE * n_data)


def _is_beyond_chance(digest: Digest, rows: Array) -> bool:
    bits = len(digest.columns) * different_rows(digest, rows)
    return bits >= digest.candidate_bits + CERTAIN


def search(
    names: Sequence[str],
    rows: Array,
    solve: Sequence[int] | None = None,
    cases: Sequence[int] = (),
) -> list[Digest]:
    """Return the digests of rows of bits, measured on these rows: linear ones, then sums.

    Parameters
    ----------
    names : sequence of str
        Of the columns.
    rows : array of shape (n, d)
    solve : sequence of int, optional
        The check bits; looked for otherwise.
    cases : sequence of int
        Columns on which the constant of a digest depends, the highest bit first.

    Examples
    --------
    >>> data = np.random.RandomState(0).randint(0, 256, size=(90, 4), dtype=np.uint8)
    >>> check = np.bitwise_xor.reduce(data, axis=1)
    >>> X = np.unpackbits(np.column_stack([data, check]), axis=1)
    >>> X[::30, 3] ^= 1                                       # one row in thirty is damaged
    >>> [digest] = search([f"x{i}" for i in range(40)], X)
    >>> digest.name, digest.rows_broken
    ('XOR of bytes', 3)
    """
    sums = _sums(names, rows, cases)
    if solve is not None:
        sums = [digest for digest in sums if {*digest.rule.checks} == {*solve}]
        return sums or _linear(names, rows, frozenset(), solve, cases)
    taken = frozenset(i for digest in sums for i in digest.rule.checks)
    good = rows[~broken_by(sums, rows)]
    found: list[Digest] = []
    if sums:  # what is left without the sums; a digest may cover them, too
        zeroed = np.where([i in taken for i in range(len(names))], 0, good).astype(np.uint8)
        found = _linear(names, zeroed, taken, None, cases)
    found = found or _linear(names, good, taken, None, cases)
    return [*(digest.measured(rows) for digest in found), *sums]


def _sums(names: Sequence[str], rows: Array, cases: Sequence[int]) -> list[Digest]:
    found = name_sums(names, rows, cases)
    if cases:
        found = [_with_cases(digest, names, cases, rows) for digest in found]
    return [digest.measured(rows) for digest in found]


def _with_cases(digest: Digest, names: Sequence[str], columns: Sequence[int], X: Array) -> Digest:
    """Return a digest with a constant for each case, and the table of constants."""
    assert isinstance(digest.rule, Solved | Sum)
    rule = Cases.fitted(digest.rule, columns, X)
    w = len(digest.columns)
    table = {f"{c:#x}": hex_text(v, w) for c, v in rule.constants.items()}
    bits = span_text(names, columns)
    how = "added" if isinstance(rule.rule, Sum) else "XORed to the check bits"
    plain = digest.formula
    if isinstance(rule.rule, Solved):
        given = digest.parameters
        covered = next(iter(given.get("catalogued", ())), given).get("data", [])
        plain = f"{digest.name}, over {span_text(names, columns_of(names, covered))}"
        if digest.kind == "crc":
            bare = {key: value for key, value in given.items() if key != "catalogued"}
            plain = crc_formula(names, bare | {"init": "0", "xorout": "0", "data": covered})
    formula = f"{plain}; the constant that is {how} depends on {bits}: "
    formula += ", ".join(f"{case}: {value}" for case, value in table.items())
    parameters = {
        **digest.parameters,
        "case": {"bits": [names[i] for i in columns], "table": table},
    }
    return replace(digest, rule=rule, formula=formula, parameters=parameters)


def _differences(X: Array, columns: Sequence[int]) -> Array:
    """Return differences of rows of the same case: what is constant in each case is gone.

    >>> _differences(np.array([[0, 1], [1, 1], [0, 0]]), [0]).tolist()
    [[0, 1]]
    """
    case = case_of(X, columns)
    order = np.argsort(case, kind="stable")
    same = case[order][1:] == case[order][:-1]
    return np.asarray((X[order][1:] ^ X[order][:-1])[same])


def flag_levels(
    names: Sequence[str], rows: Array, cases: Sequence[int] = ()
) -> list[tuple[int, Frame]]:
    """Return the spaces of the flag of rows, each with its level, the most distinct ones first.

    V_j is distinct where it is also V_k for many k > j, in proportion: damage has few rows in each
    direction, the valid frames have many.
    """
    field, d = GF(2), rows.shape[1]
    if cases:
        flag = Flag(d).update(field.rows(_differences(rows, cases)))
    else:
        flag = Flag(d + 1).update(ConstraintsQuestion().lift(field, field.rows(rows)))
    levels = [level for level in flag.levels() if level.dim <= d]
    levels.sort(key=lambda level: math.log(level.first / (level.last + 1)))
    found = []
    for level in levels:
        space, point = flag.span_at(level.first), rows[0]
        if not cases:
            affine = AffineSubspace.from_homogeneous(space)
            if affine.is_empty:
                continue
            space, point = affine.direction, affine.point
        found.append((level.first, Frame(space.basis, point, tuple(names), bool(cases))))
    return found


def usual_frame(names: Sequence[str], rows: Array, cases: Sequence[int] = ()) -> Frame | None:
    """Return the space of what more than one row in a hundred shows; None where it is empty.

    Of sets that are too many for all of them to span what varies, the last are small by chance.
    """
    varying = int((rows != rows[:1]).any(axis=0).sum())
    most = max(1, min(1 + len(rows) // _SETS, len(rows) // (varying + _SPARE)))
    frames = [frame for level, frame in flag_levels(names, rows, cases) if level <= most]
    return min(frames, key=lambda frame: frame.n_free, default=None)


def _linear(
    names: Sequence[str],
    rows: Array,
    taken: Set[int],
    solve: Sequence[int] | None = None,
    cases: Sequence[int] = (),
) -> list[Digest]:
    """Return the linear digests that fit the most rows times bits, over all levels."""

    def measured(found: Sequence[Digest], level: int | None) -> list[Digest]:
        if cases:
            found = [_with_cases(digest, names, cases, rows) for digest in found]
        found = [replace(digest, level=level).measured(rows) for digest in found]
        return [d for d in found if 2 * d.rows_broken < d.rows_verified]

    def named(frame: Frame, level: int | None, thorough: bool) -> list[Digest]:
        if solve is None:
            return measured(name_frame(frame, taken, thorough), level)
        digest = name_check(frame, solve) if frame.solvable(solve) else None
        return measured([] if digest is None else [digest], level)

    def again(found: list[Digest], frame: Frame, thorough: bool) -> list[Digest]:
        """Name what all rows that fit show, if more varies among them than in the frame."""
        whole = flag_levels(names, rows[~broken_by(found, rows)], cases)
        widest = max((frame for _, frame in whole), key=lambda f: f.n_free, default=frame)
        more = widest.n_free > frame.n_free
        return named(widest, found[0].level, thorough) if more else []

    def telling(found: Sequence[Digest]) -> bool:
        """Say whether a digest is more than copies of bits, if damage is left out."""
        frame = usual_frame(names, rows[~broken_by(found, rows)])
        return frame is not None and all(explains(frame, digest) for digest in found)

    ones = rows.sum(axis=0, dtype=int)
    usual = _SETS * np.minimum(ones, len(rows) - ones) > len(rows)

    def weight(digests: Sequence[Digest]) -> tuple[int, int]:
        """Return how many bits of rows digests explain: of those that often vary, and of all."""
        fits = [(list(d.rule.checks), d.rows_verified - d.rows_broken) for d in digests]
        often = sum(int(usual[checks].sum()) * n for checks, n in fits)
        return often, sum(len(checks) * n for checks, n in fits)

    def enough(digests: Sequence[Digest]) -> bool:
        share = 1 - max(d.rows_broken / d.rows_verified for d in digests)
        wide = any(usual[list(d.rule.checks)].sum() >= _WIDE for d in digests)
        return share >= _SHARE and wide

    best: list[Digest] = []
    levels = flag_levels(names, rows, cases)
    for thorough in (False, True) if solve is None else (True,):
        for level, frame in levels[: _LEVELS[thorough]]:
            found = named(frame, level, thorough)
            if weight(found) > weight(best):
                best = max(again(found, frame, thorough), found, key=weight)
            if best and enough(best):
                return best
        if best or thorough or taken or cases:
            continue
        for frame in _few_rows(names, rows):
            digest = name_register(frame)
            found = [] if digest is None else measured([digest], None)
            if found and (confirmed := again(found, frame, False)) and telling(confirmed):
                return confirmed
    return best


def _few_rows(names: Sequence[str], rows: Array) -> Iterator[Frame]:
    """Return what a few rows span, for several choices: some of them hold no damaged row.

    A register follows from a few rows, while a level of the flag needs many more rows than there
    are data bits.
    """
    different = np.unique(rows, axis=0)
    if len(different) < 2 * _FEW:
        return
    coins = Coins(0)
    for k in range(_TRIES):
        chosen = {coins.integers(f"row {i} of set {k}", len(different)) for i in range(_FEW)}
        some = different[sorted(chosen)]
        space = Subspace.span(some[1:] ^ some[0], dim=rows.shape[1])
        yield Frame(space.basis, some[0], tuple(names))
