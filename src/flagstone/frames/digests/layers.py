"""Layers: the equations of frames, sorted into constants, pairs, check bits and the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from flagstone.algebra import Array, Subspace
from flagstone.answers import Constraints
from flagstone.answers.relations import sparse_basis
from flagstone.errors import InputError, Parameter
from flagstone.frames.digests.frame import Frame, Relation
from flagstone.frames.digests.rules import Solved

#: How many proposals of check bits are tried, among how many that can be solved for.
_PROPOSALS, _LOOKED_AT = 24, 128
#: The widest check that is looked for.
_WIDEST = 32
#: Equations look alike where the lightest has this share of the terms of the heaviest.
_ALIKE = 0.5


@dataclass(frozen=True, eq=False)
class Layers:
    """What equations say about frames, in layers; together they are the equations.

    Attributes
    ----------
    frame : Frame
        Pattern and points.
    pairs : tuple of Relation
        Equal (value 0) and opposite (1) bits, each with the first of its kind.
    solved : Solved or None
        The check bits.
    relations : tuple of Relation
        What else holds, in sums as short as a bounded search finds; in long frames, in any.

    Notes
    -----
    **Guarantees**

    Constants, pairs, check bits and relations are a basis of the equations: none is lost, none
    follows from the others.

    Examples
    --------
    >>> from flagstone.answers import Constraints
    >>> checks = Constraints([[1,0,0,0,0,0], [0,1,1,0,0,0], [0,1,0,1,1,1]], [1, 0, 0])
    >>> layers = Layers.of(checks, solve=[5])
    >>> layers.pattern, [pair.text(layers.names) for pair in layers.pairs]
    ('1?????', ['x1 ⊕ x2 = 0'])
    >>> layers.solved.lines(layers.names)
    ['x5 = x1 ⊕ x3 ⊕ x4']
    """

    frame: Frame
    pairs: tuple[Relation, ...]
    solved: Solved | None
    relations: tuple[Relation, ...]

    @classmethod
    def of(cls, constraints: Constraints, solve: Sequence[int] | None = None) -> Layers:
        """Sort the equations, solved for the given columns, or for those that look like checks."""
        frame = Frame.of(constraints)
        if solve is None:
            proposals = propose(frame)
            solve = proposals[0] if proposals else ()
        return cls.solved_for(frame, solve)

    @classmethod
    def solved_for(cls, frame: Frame, columns: Sequence[int]) -> Layers:
        """Sort the equations of a frame, solved for these columns; none for no check bits."""
        chosen = tuple(columns)
        _check(frame, chosen)
        # a copy of a check bit must not explain it, unless nothing else does
        pairs = tuple(p for p in frame.pairs if p.columns[1] not in chosen)
        rest = _rest(frame, chosen, pairs)
        if not frame.settle(chosen, rest):
            pairs = tuple(p for p in pairs if p.columns[0] not in chosen)
            rest = _rest(frame, chosen, pairs)
        equations = _equations(frame, rest)
        relations = map(Relation.of_row, equations if frame.is_long else sparse_basis(equations))
        others = tuple(Relation(tuple(rest[i] for i in r.columns), r.value) for r in relations)
        solved = _solved(frame, chosen, rest, others) if chosen else None
        return cls(frame, pairs, solved, others)

    @property
    def pattern(self) -> str:
        """One character per column: 0, 1 or ?."""
        return self.frame.pattern

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self.frame.names


@lru_cache(maxsize=8)  # names and proposals ask for the same
def windows(frame: Frame) -> list[tuple[int, ...]]:
    """Return neighbours that can be solved for: those that end the frame, the widest, the last.

    In long frames, that would take too long.

    >>> from flagstone.answers import Constraints
    >>> windows(Frame.of(Constraints([[1,0,1,0,1,0], [0,1,0,1,0,1]], [0, 0])))[0]
    (4, 5)
    """
    own, found = frame.own, list[tuple[int, ...]]()
    if not own or frame.is_long:
        return []
    part = frame.seen(own)  # a copy explains nothing
    spare = min(len(frame.own) - frame.n_free, _WIDEST)
    start = len(own)
    for end in range(len(own), 0, -1):
        start = min(start, end)  # part of what can be solved for can be solved for
        while end - start < spare and start and own[start - 1] == own[end - 1] - (end - start):
            if not part.solvable(range(start - 1, end)):
                break
            start -= 1
        widths = {end - start, *(w for w in (4, 8, 16, 24, 32) if w < end - start)} - {0}
        found += [own[end - width : end] for width in widths]
    return sorted(found, key=lambda w: (w[-1] != own[-1], -len(w), -w[-1]))


def propose(frame: Frame) -> list[tuple[int, ...]]:
    """Return columns that may be check bits, the likeliest first.

    They are neighbours, and the equations can be solved for all of them. First come those whose
    equations look alike, the heaviest with at most twice as many terms as the lightest; of these,
    the bits that end the frame; then the most; then the last.

    Examples
    --------
    >>> from flagstone.answers import Constraints
    >>> propose(Frame.of(Constraints([[1,0,1,0,1,0], [0,1,0,1,0,1]], [0, 0])))[0]
    (4, 5)
    """
    scored = []
    for columns in windows(frame)[:_LOOKED_AT]:
        data = [i for i in frame.own if i not in columns]
        weights = [len(r.columns) for r in _solved(frame, columns, data, ()).relations]
        alike = _ALIKE * max(weights) <= min(weights)
        ends = columns[-1] == frame.own[-1]
        scored.append((not alike, not ends, -len(columns), -columns[-1], columns))
    return [columns for *_, columns in sorted(scored)[:_PROPOSALS]]


def _rest(frame: Frame, chosen: tuple[int, ...], pairs: tuple[Relation, ...]) -> list[int]:
    """Return the columns that vary, are no check bits, and follow no other column."""
    taken = {*chosen, *(pair.columns[1] for pair in pairs)}
    return [i for i in np.flatnonzero(frame.varies).tolist() if i not in taken]


def _check(frame: Frame, chosen: tuple[int, ...]) -> None:
    if len(set(chosen)) != len(chosen):
        raise InputError(Parameter("solve", _named(frame, chosen)), " names a column twice")
    constant = [i for i in chosen if not frame.varies[i]]
    if constant:
        raise InputError(
            Parameter("solve", _named(frame, chosen)),
            f" holds {_named(frame, constant)}, constant in these equations: leave it out",
        )
    others = [i for i in range(frame.dim) if i not in set(chosen)]
    if chosen and not frame.settle(chosen, others):
        free = [i for i in chosen if not frame.settle([i], others)] or list(chosen)
        raise InputError(
            Parameter("solve", _named(frame, chosen)),
            f": the equations do not say what {_named(frame, free)} is, given the other columns",
        )


def _named(frame: Frame, columns: Sequence[int]) -> str:
    return ",".join(frame.names[i] for i in columns)


def _equations(frame: Frame, columns: Sequence[int]) -> Array:
    """Return the equations (a | b) among some columns alone."""
    if not columns:
        return np.zeros((0, 1), dtype=np.uint8)
    shown = frame.directions[:, list(columns)]
    A = Subspace.span(shown, dim=len(columns)).annihilator().basis
    b = (A.astype(np.int64) @ frame.point[list(columns)].astype(np.int64)) & 1
    return np.concatenate([A, b[:, np.newaxis].astype(np.uint8)], axis=1)


def _solved(
    frame: Frame, columns: tuple[int, ...], data: Sequence[int], others: Sequence[Relation]
) -> Solved:
    """Solve for columns by data, with terms taken out by the other relations where that helps."""
    order = [*columns, *data]
    E = _equations(frame, order)[: len(columns)]  # reduced, so the check columns come first
    matrix = np.zeros((len(columns), frame.dim), dtype=np.uint8)
    matrix[:, list(data)] = E[:, len(columns) : -1]
    constant = E[:, -1].copy()
    for relation in others:
        row = np.zeros(frame.dim, dtype=np.uint8)
        row[list(relation.columns)] = 1
        lighter = (matrix ^ row).sum(axis=1) < matrix.sum(axis=1)
        matrix[lighter] ^= row
        constant[lighter] ^= relation.value
    return Solved(columns, matrix, constant)
