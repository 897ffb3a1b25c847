"""Study: frames of one length, their equations and digests, and which are damaged."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from flagstone.algebra import GF, Array, Flag
from flagstone.answers import Constraints
from flagstone.coins import Coins
from flagstone.encoding import Encoding
from flagstone.errors import ReplicabilityWarning
from flagstone.finding import Finding
from flagstone.frames.captures import Capture
from flagstone.frames.digests import Digest, DigestAnalysis, Solved, analyze, frame_code
from flagstone.frames.digests.digest import broken_by
from flagstone.frames.ruler import bit_text
from flagstone.frames.strength import Strength, Unseen
from flagstone.guarantees.promise import CONFIDENCE
from flagstone.pipeline import ask, certify
from flagstone.question import ConstraintsQuestion
from flagstone.rules import SpanRule
from flagstone.tables import Place

_NO_CAPTURE = Capture((), (), ())


class DamagedFrame(NamedTuple):
    """A frame that breaks a digest: where it stands, its bits, those that may be wrong, and why.

    If one flipped bit explains the damage, that bit is marked, or all that would do so; else
    those that are constant in other frames.
    """

    place: Place
    bits: str
    marks: tuple[int, ...]
    said: str = ""


@dataclass(frozen=True, eq=False)
class Study:
    """Frames of one length, and what was found in them.

    Attributes
    ----------
    rows : array of shape (n, bits)
    places : sequence of Place
    finding : Finding
        The equations that the frames obey; the digests are in its provenance.
    analysis : DigestAnalysis or None
    capture : Capture
        The frames as they were read, and what was said about that; empty for a saved finding.

    Examples
    --------
    >>> data = np.random.RandomState(0).randint(0, 256, size=(500, 4), dtype=np.uint8)
    >>> check = data[:, :1] ^ data[:, 1:2] ^ data[:, 2:3] ^ data[:, 3:]
    >>> X = np.unpackbits(np.hstack([data, check]), axis=1)
    >>> X[3, 9] ^= 1
    >>> from flagstone import Coins, IndexRule
    >>> found = study(X, [Place("f", i + 1, i + 1) for i in range(500)], IndexRule(), Coins(1))
    >>> [digest.name for digest in found.digests]
    ['XOR of bytes']
    >>> [frame.place.line for frame in found.damaged(5)]
    [4]
    """

    rows: Array
    places: Sequence[Place]
    finding: Finding
    analysis: DigestAnalysis | None
    capture: Capture = _NO_CAPTURE

    @property
    def digests(self) -> list[Digest]:
        """The digests that were found."""
        return [] if self.analysis is None else self.analysis.digests

    @property
    def checks(self) -> list[Digest]:
        """What a frame must pass: the digests, and bytes that are the complements of others."""
        return [] if self.analysis is None else self.analysis.checks

    @property
    def named(self) -> list[Digest]:
        """The digests with a name."""
        return [digest for digest in self.digests if digest.name]

    @cached_property
    def broken(self) -> Array:
        """Which frames break a digest; without any digest, which break the equations."""
        if self.checks:
            return broken_by(self.checks, self.rows)
        answer = self.finding.answer
        if not isinstance(answer, Constraints) or answer.is_bottom:
            return np.zeros(len(self.rows), dtype=bool)
        return ~answer.check(self.rows)

    @cached_property
    def pattern(self) -> str:
        """One character for each bit: 0, 1, or ? where it varies among frames without damage."""
        if not len(self.rows):
            varies = "?" * self.rows.shape[1]
            return varies if self.analysis is None else self.analysis.layers.pattern
        good = self.rows[~self.broken]
        share = (good if len(good) else self.rows).mean(axis=0)
        return "".join("0" if s == 0 else "1" if s == 1 else "?" for s in share.tolist())

    @property
    def strength(self) -> Strength | None:
        """How many wrong frames pass the digests; None without any."""
        if not self.checks:
            return None
        return Strength.of(self.checks, self.rows.shape[1], self.finding.answer)

    @property
    def unseen(self) -> Unseen | None:
        """The data bits whose part in the digest no frame shows; None without a digest."""
        good = self.rows[~self.broken]
        if not self.checks or self.analysis is None:
            return None
        if not len(good):  # a saved finding knows in which directions its frames differed
            good = np.pad(self.analysis.frame.directions, ((1, 0), (0, 0)))
        checks = {i for digest in self.checks for i in digest.rule.checks}
        return Unseen.of(good, sorted(checks))

    def source_code(self, language: str, strict: bool = False) -> str:
        """Return ``check_frame`` for the digests; with strict, for the equations, too.

        The code takes frames as the file has them, if no line code but ``reverse-bytes`` was
        undone; else as they are after that.
        """
        reading = dict(self.finding.provenance.get("reading") or {})
        codes, n = list(reading.get("decode") or ()), self.rows.shape[1]
        order, notes = None, []
        if codes == ["reverse-bytes"]:
            order = [i for at in range(0, n, 8) for i in reversed(range(at, min(at + 8, n)))]
        elif codes:
            notes.append(f"They are given after decoding: {', '.join(codes)}.")
        if reading.get("sync"):
            notes.append(f"They begin after {reading['sync']}.")
        equations, note = _as_rule(self.finding.answer) if strict else None, " ".join(notes)
        return frame_code(n, self.checks, language, equations=equations, order=order, note=note)

    def damaged(self, most: int) -> list[DamagedFrame]:
        """Return the first frames that are damaged, with marked bits; those that a finding kept."""
        if not len(self.rows):
            return self._kept()[:most]
        found = []
        for i in np.flatnonzero(self.broken)[:most].tolist():
            bits = "".join(map(str, self.rows[i].tolist()))
            found.append(DamagedFrame(self.places[i], bits, *self._marks(self.rows[i])))
        return found

    @property
    def n_damaged(self) -> int:
        """The number of damaged frames; of a saved finding, of those that it kept."""
        return int(self.broken.sum()) if len(self.rows) else len(self._kept())

    def _kept(self) -> list[DamagedFrame]:
        kept = self.finding.rows
        rows = np.array([list(map(int, text)) for text in kept.values], dtype=np.uint8)
        broken = broken_by(self.checks, rows) if self.checks else [True] * len(rows)
        found = zip(kept.places, kept.values, broken, strict=True)
        return [DamagedFrame(Place(*place), text, ()) for place, text, bad in found if bad]

    def _marks(self, row: Array) -> tuple[tuple[int, ...], str]:
        """Return the bits of a frame that may be wrong, and what is said about them."""
        unusual = tuple(
            i
            for i, (bit, usual) in enumerate(zip(row.tolist(), self.pattern, strict=True))
            if usual not in ("?", str(bit))
        )
        turned = row ^ np.eye(len(row), dtype=np.uint8)
        repairs = np.flatnonzero(~broken_by(self.checks, turned)).tolist() if self.checks else []
        # a bit that is constant, and as it must be, was not flipped
        repairs = [i for i in repairs if (i in unusual if unusual else self.pattern[i] == "?")]
        if not repairs:
            return unusual, ""
        few = f"one of {len(repairs)} bits" if len(repairs) > 1 else bit_text(repairs[0])
        return tuple(repairs), f"{few} flipped?"


def _as_rule(answer: Any) -> Solved | None:
    """Return equations as one rule; None where there are none."""
    if not isinstance(answer, Constraints) or answer.is_bottom or not len(answer):
        return None
    matrix, first = answer.matrix.astype(np.uint8), answer.matrix.argmax(axis=1)
    matrix[range(len(matrix)), first] = 0
    return Solved(tuple(first.tolist()), matrix, np.asarray(answer.rhs, dtype=np.uint8))


def study(
    rows: Array,
    places: Sequence[Place],
    rule: SpanRule,
    coins: Coins,
    *,
    solve: Sequence[int] | None = None,
    cases: Sequence[int] = (),
    others: Mapping[int, Array] | None = None,
    confidence: float = CONFIDENCE,
    shown: int = 50,
    skipped: int = 0,
    seed_is_fresh: bool = False,
    provenance: Mapping[str, Any] | None = None,
) -> Study:
    """Find the equations and the digests of frames of one length.

    Parameters
    ----------
    rows : array of bits, shape (n, bits)
    places : sequence of Place
        Where each frame stands.
    rule, coins : SpanRule, Coins
        As for every answer.
    solve, cases, others
        As for :func:`flagstone.frames.digests.analyze`.
    shown : int
        The most frames that do not fit in the finding.
    skipped : int
        Frames of other lengths.
    """
    question, field = ConstraintsQuestion(), GF(2)
    encoding = Encoding.plain(field, [f"x{i}" for i in range(rows.shape[1])])
    flag = Flag(rows.shape[1] + 1).update(question.lift(field, field.rows(rows)))
    with warnings.catch_warnings():  # it is about the equations, and in their promises, too
        warnings.simplefilter("ignore", ReplicabilityWarning)
        asked = ask(
            flag,
            question,
            rule,
            coins,
            encoding=encoding,
            seed_is_fresh=seed_is_fresh,
            provenance=provenance,
        )
    finding = certify(asked, rows, confidence=confidence, checked=True)
    analysis = analyze(finding.answer, rows, solve=solve, cases=cases, others=others)
    found = Study(rows, places, finding, analysis)
    answer: Any = finding.answer
    bad = np.flatnonzero(~answer.check(rows))[:shown].tolist() if finding.rows.misfits else []
    counted = replace(
        finding.rows,
        skipped=skipped,
        places=tuple((str(places[i].file), places[i].row, places[i].line) for i in bad),
        values=tuple("".join(map(str, rows[i].tolist())) for i in bad),
    )
    kept = {**finding.provenance, "digest": [digest.to_dict() for digest in found.checks]}
    return replace(found, finding=replace(finding, rows=counted, provenance=kept))


def saved_study(finding: Finding, solve: Sequence[int] | None = None) -> Study:
    """Return the study of a saved finding, without frames."""
    recalled = finding.provenance.get("digest")
    analysis = None
    if finding.question.kind == "constraints":
        analysis = analyze(finding.answer, solve=solve, recalled=recalled)
    empty = np.zeros((0, len(finding.encoding.names)), dtype=np.uint8)
    return Study(empty, [], finding, analysis)
