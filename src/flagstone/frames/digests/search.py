"""Search: the digests of rows, whatever share of them is damaged.

Sums come first: they are tried on the rows themselves, and rows that break one are damaged. What is
linear is then looked for in every space of the flag of the other rows. Where few rows are damaged
in the same way, one of these spaces holds the valid frames, or part of them, and nothing else; a
digest that is found there is held against all rows, and the best one is reported with its level.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence, Set
from dataclasses import replace

import numpy as np

from flagstone.algebra import GF, AffineSubspace, Array, Flag, Subspace
from flagstone.coins import Coins
from flagstone.frames.digests.cases import Cases, case_of, differences, with_cases
from flagstone.frames.digests.digest import Digest, broken_by, columns_of
from flagstone.frames.digests.frame import Frame
from flagstone.frames.digests.naming import explains, name_check, name_frame, name_register
from flagstone.frames.digests.sums import name_sums
from flagstone.question import ConstraintsQuestion

#: How many spaces of a flag are searched: at bytes alone, and everywhere.
_LEVELS = (8, 4)
#: A digest that fits this share of the rows, and has this many bits, ends the search.
_SHARE, _WIDE = 0.9, 8
#: Where no level shows a digest, sets of rows are searched: rows of a set, and sets.
_FEW, _TRIES = 10, 12
#: What at most one row in this many shows may be damage.
_SETS = 100
#: So many more rows than columns span all columns, almost surely.
_SPARE = 8


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
        sums = [digest for digest in sums if {*columns_of(names, digest.columns)} == {*solve}]
        return sums or _linear(names, rows, frozenset(), solve, cases)
    taken = frozenset(i for digest in sums for i in columns_of(names, digest.columns))
    good = rows[~broken_by(sums, rows)]
    found: list[Digest] = []
    if sums:  # what is left without the sums; a digest may cover them, too
        zeroed = np.where([i in taken for i in range(len(names))], 0, good).astype(np.uint8)
        found = _linear(names, zeroed, taken, None, cases)
    found = found or _linear(names, good, taken, None, cases)
    return [*(digest.measured(rows) for digest in found), *sums]


def _sums(names: Sequence[str], rows: Array, cases: Sequence[int]) -> list[Digest]:
    if not cases:
        return [digest.measured(rows) for digest in name_sums(names, rows)]
    numbers = case_of(rows, cases)
    found = name_sums(
        names, rows, cases, numbers, lambda r: Cases.fitted(r, cases, rows).broken(rows)
    )
    return [with_cases(digest, names, cases, rows).measured(rows) for digest in found]


def flag_levels(
    names: Sequence[str], rows: Array, cases: Sequence[int] = ()
) -> list[tuple[int, Frame]]:
    """Return the spaces of the flag of rows, each with its level, the most distinct ones first.

    V_j is distinct where it is also V_k for many k > j, in proportion: damage has few rows in each
    direction, the valid frames have many.
    """
    field, d = GF(2), rows.shape[1]
    if cases:
        flag = Flag(d).update(field.rows(differences(rows, cases)))
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
        found.append((level.first, Frame(space.basis, point, tuple(names))))
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
            found = [with_cases(digest, names, cases, rows) for digest in found]
        found = [replace(digest, level=level).measured(rows) for digest in found]
        return [d for d in found if 2 * d.rows_broken < d.rows_verified]

    def named(frame: Frame, level: int | None, thorough: bool) -> list[Digest]:
        if solve is None:
            return measured([digest for _, digest in name_frame(frame, taken, thorough)], level)
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

    best: list[Digest] = []
    levels = flag_levels(names, rows, cases)
    for thorough in (False, True) if solve is None else (True,):
        for level, frame in levels[: _LEVELS[thorough]]:
            found = named(frame, level, thorough)
            if _weight(found) > _weight(best):
                best = max(again(found, frame, thorough), found, key=_weight)
            if best and _enough(best):
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


def _weight(digests: Sequence[Digest]) -> int:
    """Return how many bits of rows digests explain."""
    return sum(len(d.columns) * (d.rows_verified - d.rows_broken) for d in digests)


def _enough(digests: Sequence[Digest]) -> bool:
    share = 1 - max(d.rows_broken / d.rows_verified for d in digests)
    return share >= _SHARE and max(len(d.columns) for d in digests) >= _WIDE
