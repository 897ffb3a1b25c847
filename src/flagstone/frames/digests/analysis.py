"""DigestAnalysis: the digests of frames, counted on every row, and the equations in layers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from flagstone.algebra import Array
from flagstone.answers import Constraints
from flagstone.frames.digests.digest import Digest, columns_of
from flagstone.frames.digests.frame import Frame
from flagstone.frames.digests.layers import Layers, Solved, propose
from flagstone.frames.digests.lengths import joined
from flagstone.frames.digests.naming import key_stream, name_frame
from flagstone.frames.digests.search import search

#: Where more bits than this vary, no digest is searched for.
MOST_COLUMNS = 1024
#: Digests are searched for among the first rows, this many of them, and counted on all.
SAMPLE = 4096
#: Check bits without a name are a digest if there are this many, of this share of the data each.
_WIDE, _DENSE = 8, 0.2
#: Fewer neighbours than this are check bits only if they have a name or were asked for.
_FEWEST = 3


@dataclass(frozen=True, eq=False)
class DigestAnalysis:
    """The digests of frames, and the equations that they obey; made by :func:`analyze`.

    Attributes
    ----------
    frame : Frame
        The equations.
    digests : list of Digest
        Named, or as a stream of keys; none that most rows break.
    rows : array or None
        The rows that were searched; None where only the equations are known.
    solve : sequence of int or None
        The check bits, if the caller named them.
    looked : bool
        Whether digests were searched for in rows, here or when a finding was saved.

    Examples
    --------
    >>> import numpy as np
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

    @cached_property
    def layers(self) -> Layers:
        """The equations, sorted: solved for the check bits of linear digests, or likely ones."""
        if self.solve is not None:
            return Layers.solved_for(self.frame, self.solve)
        names = self.frame.names
        checks = [columns_of(names, d.columns) for d in self.digests if d.kind != "sum"]
        if not self.digests and self.rows is None:
            checks = [list(columns) for columns, _ in name_frame(self.frame)]
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
            "digest": [d.to_dict() for d in self.digests] if self.looked else None,
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
    solve : sequence of int, optional
        The check bits; searched for otherwise.
    cases : sequence of int
        Columns on which the constant of a digest depends, the highest bit first.
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
    >>> import numpy as np
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
        return DigestAnalysis(frame, known, None, solve, recalled is not None)
    rows = np.asarray(rows, dtype=np.uint8)
    found = search(frame.names, rows[:SAMPLE], solve, cases)
    analysis = DigestAnalysis(frame, found, rows, solve, True)
    solved = analysis.layers.solved
    if not found and solved is not None and (solve is not None or _dense(frame, solved)):
        found = [key_stream(frame, solved)]
    found = [digest.measured(rows) for digest in found]
    found = [d for d in found if 2 * d.rows_broken < d.rows_verified]
    if others:
        found = [joined(digest, frame.names, rows, others) for digest in found]
    return replace(analysis, digests=found)


def _dense(frame: Frame, solved: Solved) -> bool:
    """Say whether check bits without a name look like a digest: wide, each of much of the data."""
    n_data = len(frame.own) - len(solved.columns)
    weights = [int(np.count_nonzero(row)) for row in solved.matrix]
    return len(weights) >= _WIDE and min(weights) >= max(3, _DENSE * n_data)
