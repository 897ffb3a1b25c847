"""DigestAnalysis: what frames carry, named from their equations and held against every row."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from flagstone.algebra.fields import Array
from flagstone.answers import Constraints
from flagstone.answers.relations import Relation
from flagstone.errors import InputError
from flagstone.frames.digests.digest import Digest, columns_of
from flagstone.frames.digests.frame import Frame
from flagstone.frames.digests.layers import Layers, Solved, propose
from flagstone.frames.digests.lengths import joined
from flagstone.frames.digests.naming import key_stream, name_frame
from flagstone.frames.digests.search import search

#: Where more bits than this vary, the equations are listed, and nothing is looked for.
MOST_COLUMNS = 1024
#: Sums are looked for among so many rows, the first ones, and held against all.
SAMPLE = 4096
#: Check bits without a name are a digest if there are so many, of so much of the data each.
_WIDE, _DENSE = 8, 0.2
#: Fewer neighbours than this are check bits only if they have a name or were asked for.
_FEWEST = 3


class DigestAnalysis:
    """Sorts the equations of frames, names the digest, and counts the rows that break each.

    Parameters
    ----------
    answer : Constraints
        Over GF(2), obeyed by some row.
    solve : sequence of int, optional
        The check bits; looked for otherwise.
    recalled : sequence of mappings, optional
        Digests with a name that were verified on the rows of the answer, as a finding keeps them:
        what is known as long as no rows are counted here.
    cases : sequence of int
        Columns on which the constant of a digest depends, the highest bit first.

    Attributes
    ----------
    layers : Layers
    digests : list of Digest
        The digest of the check bits, if rows were counted: named, or as a stream of keys.
    n_rows : int
    asked : bool
        Whether the caller said which the check bits are.

    Notes
    -----
    **Guarantees**

    A digest counts every row that was given, and is listed only after it was tried on them, and
    only if most of them fit it.

    Examples
    --------
    >>> import numpy as np
    >>> from flagstone import AffineSpan
    >>> data = np.random.RandomState(0).randint(0, 256, size=(500, 4), dtype=np.uint8)
    >>> check = data[:, :1] ^ data[:, 1:2] ^ data[:, 2:3] ^ data[:, 3:] ^ 0xA5
    >>> X = np.unpackbits(np.hstack([data, check]), axis=1)
    >>> analysis = DigestAnalysis(AffineSpan(random_state=1).fit(X).constraints_)
    >>> analysis.update(X)
    >>> for digest in analysis.digests:
    ...     print(f"{digest.formula}; {digest.rows_broken} of {digest.rows_verified} rows break it")
    the XOR of the bytes of x0..x31 ⊕ 0xa5; 0 of 500 rows break it
    """

    #: Digests are looked for among so many rows, the first ones.
    n_first = SAMPLE

    def __init__(
        self,
        answer: Constraints,
        solve: Sequence[int] | None = None,
        recalled: Sequence[Mapping[str, Any]] | None = None,
        cases: Sequence[int] = (),
    ) -> None:
        self.frame = Frame.of(answer)
        self.asked = solve is not None
        self._recalled: list[Digest] | None = None
        if recalled is not None:
            self._recalled = [Digest.from_dict(values, self.frame.names) for values in recalled]
        self.n_rows = 0
        self._cases = tuple(cases)
        self._solve, self._layers = solve, None if solve is None else self._solved(solve)
        self._digests: list[Digest] = []
        self._waiting: list[tuple[Array, Array | None]] | None = []
        self._broken: dict[Relation, int] = {}

    def _solved(self, columns: Sequence[int]) -> Layers:
        return Layers.solved_for(self.frame, columns)  # which refuses what cannot be

    @property
    def layers(self) -> Layers:
        """The equations, sorted: solved for the check bits of linear digests, or likely ones."""
        self._settle()
        if self._layers is None:
            known = self._digests or self._recalled or ()
            checks = [columns_of(self.frame.names, d.columns) for d in known if d.kind != "sum"]
            if not known and not self.n_rows:
                checks = [list(columns) for columns, _ in name_frame(self.frame)]
            varying = sorted({i for columns in checks for i in columns if self.frame.varies[i]})
            usable = varying and self.frame.solvable(varying)
            self._layers = self._solved(varying if usable else self._proposed())
        return self._layers

    def _proposed(self) -> tuple[int, ...]:
        proposals = propose(self.frame)
        return proposals[0] if proposals and len(proposals[0]) >= _FEWEST else ()

    @property
    def _relations(self) -> list[Relation]:
        solved = self.layers.solved
        checks = [] if solved is None else solved.relations
        return [*self.layers.pairs, *checks, *self.layers.relations]

    def update(self, rows: Array, broken: Array | None = None) -> None:
        """Count rows of bits; a mask of those that break the equations saves some work."""
        bits = np.asarray(rows, dtype=np.uint8)
        self.n_rows += len(bits)
        if self._waiting is None:
            self._count(bits, broken)
            return
        self._waiting.append((bits, broken))
        if self.n_rows >= SAMPLE:
            self._settle()

    def _count(self, bits: Array, broken: Array | None) -> None:
        suspects = bits if broken is None else bits[broken]  # others break no relation
        for relation in self._broken:
            self._broken[relation] += int(np.count_nonzero(relation.broken(suspects)))
        self._digests = [digest.measured(bits) for digest in self._digests]

    def _settle(self) -> None:
        """Look for digests among the first rows, and count the rows that waited for that."""
        if self._waiting:
            waiting = self._waiting
            self.begin(np.concatenate([bits for bits, _ in waiting]))
            for bits, broken in waiting:
                self._count(bits, broken)

    def begin(self, rows: Array) -> None:
        """Look for digests among these rows, the first ones of all, without counting them.

        Needed before rows are counted in parts (:meth:`merge`), and only then.
        """
        self._waiting = None
        first = np.asarray(rows, dtype=np.uint8)[:SAMPLE]
        found = search(self.frame.names, first, self._solve, self._cases)
        self._digests = [replace(d, rows_verified=0, rows_broken=0) for d in found]
        solved = self.layers.solved
        if not self._digests and solved is not None and (self.asked or _dense(self.frame, solved)):
            self._digests.append(key_stream(self.frame, solved))
        self._broken = dict.fromkeys(self._relations, 0)

    def join(self, rows: Array, others: Mapping[int, Array]) -> None:
        """Tell init of CRCs from xorout by frames of other lengths, by the number of their bits."""
        found, names = self.digests, self.frame.names
        self._digests = [joined(digest, names, rows, others) for digest in found]

    def empty(self) -> DigestAnalysis:
        """Return the same analysis of no rows."""
        other = copy.copy(self)
        other.n_rows, other._broken = 0, dict.fromkeys(self._broken, 0)
        other._waiting = None if self._waiting is None else []
        other._digests = [replace(d, rows_verified=0, rows_broken=0) for d in self._digests]
        return other

    def merge(self, other: DigestAnalysis) -> DigestAnalysis:
        """Return the analysis of the rows of both; each began as an :meth:`empty` copy of one.

        Sums must have been looked for (:meth:`begin`): rows that wait for that cannot be merged.
        """
        if self._waiting is not None or other._waiting is not None:
            raise InputError("call begin() with the first rows before rows are counted in parts")
        both = self.empty()
        both.n_rows = self.n_rows + other.n_rows
        both._broken = {r: n + other._broken[r] for r, n in self._broken.items()}
        both._digests = [
            replace(
                a,
                rows_verified=a.rows_verified + b.rows_verified,
                rows_broken=a.rows_broken + b.rows_broken,
            )
            for a, b in zip(self._digests, other._digests, strict=True)
        ]
        return both

    @property
    def digests(self) -> list[Digest]:
        """The digest of the check bits, named or as keys; none that most rows break."""
        if not self.n_rows:
            return list(self._recalled or ())
        self._settle()
        return [d for d in self._digests if 2 * d.rows_broken < d.rows_verified]

    @property
    def looked(self) -> bool:
        """Whether somebody looked for digests, here or when the answer was found."""
        return bool(self.n_rows) or self._recalled is not None

    def broken(self, relation: Relation) -> int | None:
        """How many rows break a relation; None where no row was counted."""
        self._settle()
        return self._broken[relation] if self.n_rows else None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values: ``pattern``, ``digest`` and ``relations`` (docs/digests.md)."""
        layers, names = self.layers, self.layers.names
        checks = [] if layers.solved is None else layers.solved.relations
        kinds = [("pair", layers.pairs), ("check", checks), ("other", layers.relations)]
        return {
            "pattern": layers.pattern,
            "digest": [d.to_dict() for d in self.digests] if self.looked else None,
            "relations": [
                {
                    "kind": kind,
                    "text": relation.text(names),
                    "columns": [names[i] for i in relation.columns],
                    "value": relation.value,
                    "rows_broken": self.broken(relation),
                }
                for kind, relations in kinds
                for relation in relations
            ],
        }


def _dense(frame: Frame, solved: Solved) -> bool:
    """Say whether check bits without a name look like a digest: wide, each of much of the data."""
    n_data = len(frame.own) - len(solved.columns)
    weights = [int(np.count_nonzero(row)) for row in solved.matrix]
    return len(weights) >= _WIDE and min(weights) >= max(3, _DENSE * n_data)


def analyze(
    answer: Any,
    solve: Sequence[int] | None = None,
    recalled: Sequence[Mapping[str, Any]] | None = None,
    cases: Sequence[int] = (),
) -> DigestAnalysis | None:
    """Return the analysis of equations that frames obey; None for all other answers.

    Where nothing was kept, so that the equations contradict each other, digests are looked for
    all the same: among the rows, without equations.
    """
    if not isinstance(answer, Constraints) or answer.field.order != 2:
        return None
    if answer.is_bottom:
        answer = Constraints(np.zeros((0, answer.dim)), np.zeros(0), names=answer.names)
    if int(Frame.of(answer).varies.sum()) > MOST_COLUMNS:
        return None
    return DigestAnalysis(answer, solve, recalled, cases)
