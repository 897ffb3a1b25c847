"""Finding: one frozen value that holds everything worth saying or saving about an answer."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np

from flagstone import credibility
from flagstone.answers import Answer, Constraints
from flagstone.certificates.spaces import NestedSpaces
from flagstone.coins import Coins
from flagstone.encoding import Encoding
from flagstone.errors import FlagstoneError, FormatError, InputError
from flagstone.fields import Field
from flagstone.flag import Flag
from flagstone.guarantees import Guarantee, Window
from flagstone.guarantees.rows import promise_rows
from flagstone.markup import card, listing, table
from flagstone.measurement import Measurement
from flagstone.question import QUESTIONS, Question, SpanQuestion, question_from_dict
from flagstone.rules import rule_named
from flagstone.staircase import Staircase
from flagstone.subspace import Subspace

#: The version of the JSON form: of files, and of what the command line prints with --json.
SCHEMA = 2

#: Of wider rows nobody counts how many each level of the flag leaves out.
MOST_COUNTED = 260

#: What the parts of a provenance must be, where they are there.
_PROVENANCE: dict[str, type] = {
    **dict.fromkeys(("sources", "labels", "digest"), list),
    **dict.fromkeys(("reading", "partitions"), dict),
    **dict.fromkeys(("summary", "command"), str),
}


@dataclass(frozen=True, eq=False, repr=False)
class Finding:
    """An answer with what was asked, how it was chosen, and what is known about it.

    Made by :func:`flagstone.ask`, by every estimator (``finding_``), by
    :func:`flagstone.rep_linear_span` and by the command line; the same question, rows and seed
    give the same finding at each of these doors.

    Attributes
    ----------
    question : Question
    answer : Answer
        The learned thing: a rule, equations, a system.
    encoding : Encoding
        How the columns of a table become features and label, with their names.
    subspace : Subspace or None
        V*, the replicable span behind the answer. None, like everything below, in a finding made
        of a bare answer (:meth:`of`).
    flag : Flag or None
        The flag it was chosen from.
    promises : Guarantee or None
        What is proven, with the window and the threshold.
    seed : str or None
        The published seed; ``seed_is_fresh`` if it was drawn for this run and is to be shared.
    rows : Measurement
        Rows read and, where somebody counted, uncovered rows and misfits.
    provenance : mapping
        Sources, command, how files were read, digests that the rows have shown: plain values for
        people and reports.

    Examples
    --------
    >>> from flagstone import LinearSpan
    >>> finding = LinearSpan(random_state=7).fit([[1, 1, 0], [0, 1, 1]] * 50).finding_
    >>> finding
    Finding(A span of dimension 2 of 3, 1 check equation holds; at most 10.8 % of rows to come do \
not fit (99 % confidence); fingerprint cb1c96c7b31e422b)
    >>> print(finding.answer)
    x0 ⊕ x1 ⊕ x2 = 0
    """

    question: Question
    answer: Answer
    encoding: Encoding
    subspace: Subspace | None = None
    flag: Flag | None = None
    promises: Guarantee | None = None
    seed: str | None = None
    seed_is_fresh: bool = False
    rows: Measurement = field(default_factory=lambda: Measurement(0))
    provenance: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, answer: Any) -> Finding:
        """Wrap a bare answer, so that it can be saved, applied and reported."""
        if not isinstance(answer, Answer):
            raise InputError(
                "a finding is made of a ParityRule, Constraints or LinearSystem, got "
                f"{type(answer).__name__}"
            )
        kind = QUESTIONS[answer.kind]
        constant = answer.augmented is not None and bool((answer.augmented[:, -1] != 0).any())
        choice = "lexmin" if answer.field.order is None else "uniform"
        options = {"intercept": constant, "choice": choice} if answer.kind == "parity" else {}
        question = kind(**options)
        if isinstance(answer, Constraints) and not constant:
            question = SpanQuestion()  # equations without a constant are those of a span
        names = answer.names or tuple(f"x{i}" for i in range(answer.dim))
        label = getattr(answer, "target", "y") if question.labelled else None
        return cls(question, answer, Encoding.plain(answer.field, names, label=label))

    @property
    def field(self) -> Field:
        """The field of rows and answer."""
        return self.answer.field

    @cached_property
    def fingerprint(self) -> str:
        """64 hex digits over question, field, dimension, answer and named labels.

        Never over seed, window, number of rows, column names or promises: equal answers to
        equal questions have equal fingerprints, wherever they come from.
        """
        return self.answer.fingerprint(self.question.kind, self.encoding.labels)

    @cached_property
    def stairs(self) -> Staircase:
        """The levels of the flag."""
        return Staircase(self.answer.dim, ()) if self.flag is None else Staircase.of(self.flag)

    @cached_property
    def spaces(self) -> NestedSpaces | None:
        """The levels of the flag, the smallest first; None where rows take long to place there."""
        if self.flag is None or self.flag.dim > MOST_COUNTED:
            return None
        return NestedSpaces.of_flag(self.flag, [step.dim for step in self.stairs.steps[::-1]])

    @property
    def window(self) -> Window | None:
        """What the threshold was drawn from."""
        return None if self.promises is None else self.promises.window

    @property
    def threshold(self) -> int | float | None:
        """The threshold t that the coins drew."""
        return None if self.promises is None else self.promises.threshold

    @property
    def margin(self) -> int | None:
        """No so many altered rows change the answer, with the threshold held fixed."""
        return None if self.promises is None else self.promises.margin

    @property
    def nothing_kept(self) -> bool:
        """Whether rows showed directions, but none was kept: V* = {0}.

        The answer then says nothing about the rows; a rule is a draw of the coins alone.
        """
        return self.subspace is not None and self.subspace.dim == 0 and bool(self.stairs.steps)

    @property
    def support(self) -> str | None:
        """How far the rows support the answer: see :func:`flagstone.credibility.support`."""
        return credibility.support(self)

    @property
    def is_answer(self) -> bool:
        """Whether there is something to act on: neither ⊥, nor nothing kept, nor unsupported."""
        return not (self.answer.is_bottom or self.nothing_kept or self.support == "none")

    @property
    def title(self) -> str:
        """What was found, in a few words."""
        return credibility.title(self)

    @property
    def headline(self) -> str:
        """The title with what is known of it; what nobody should act on says so first."""
        return credibility.headline(self)

    @property
    def caution(self) -> str | None:
        """A warning where more rows do not fit than was allowed for."""
        return credibility.caution(self)

    @property
    def hint(self) -> str | None:
        """Where the flag has a wider plateau than the one that was drawn; None if it has not."""
        return credibility.hint(self)

    @cached_property
    def alternatives(self) -> dict[str, Any] | None:
        """How many rules fit, and which this is; None where it is the only one."""
        return credibility.alternatives(self)

    @property
    def notes(self) -> list[str]:
        """What is to be said beside the headline: caution, hint, other rules that fit."""
        return credibility.notes(self)

    @cached_property
    def directions(self) -> list[dict[str, Any]]:
        """How often each direction was seen, whether it was kept, and the direction itself."""
        if self.flag is None or self.subspace is None:
            return []
        basis, counts = self.flag.adapted_basis()
        kept: Any = self.subspace.contains(basis) if len(counts) else []
        return [
            {"count": int(count), "kept": bool(inside), "vector": vector}
            for vector, count, inside in zip(self.field.texts(basis), counts, kept, strict=True)
        ]

    @property
    def partitions(self) -> str | None:
        """How the rows were cut, and what that costs; None for rows that came as one."""
        return credibility.partitions(self)

    def certified(self, X: Any, y: Any = None, **options: Any) -> Finding:
        """Return the finding with what its rows certify: see :func:`flagstone.certify`."""
        found: Finding = above("road").certify(self, X, y, **options)
        return found

    def save(self, path: str | PathLike[str], *, overwrite: bool = False) -> None:
        """Write a file that every door reads; one with other contents is refused."""
        above("models").save(path, self, overwrite=overwrite)

    def report(
        self, path: str | PathLike[str], survey: Any = None, *, overwrite: bool = False
    ) -> None:
        """Write one self-contained HTML page; a `Survey` of the rows names their digest there."""
        above("reports").write_report(path, self, survey, overwrite=overwrite)

    def plot(self, ax: Any = None) -> Any:
        """Draw the staircase, with window, threshold and margin; returns the display."""
        return above("plots").ScreeDisplay.of(self).plot(ax)

    def to_dict(self) -> dict[str, Any]:
        """Return the documented JSON form (docs/formats.md), ready to be saved or printed."""
        answer, V, window, rows = self.answer, self.subspace, self.window, self.rows
        maskable = self.field.order == 2 and answer.augmented is not None
        shares = {"uncovered": rows.share(rows.uncovered), "misfits": rows.share(rows.misfits)}
        kept = None if V is None else {"dim": V.dim, "basis": self.field.texts(V.rows)}
        return {
            "schema": SCHEMA,
            "kind": self.question.kind,
            "question": self.question.to_dict(),
            "title": self.title,
            "headline": self.headline,
            "support": self.support,
            "caution": self.caution,
            "hint": self.hint,
            "alternatives": self.alternatives,
            "fingerprint": self.fingerprint,
            "field": self.field.name,
            "dim": answer.dim,
            "answer": {
                "text": answer.text,
                "lines": list(answer.lines),
                "masks": list(answer.mask_lines) if maskable else None,
                "expression": answer.expression,
                "is_bottom": answer.is_bottom,
                "value": answer.to_dict(),
            },
            "nothing_kept": self.nothing_kept,
            "subspace": kept,
            "seed": self.seed,
            "seed_is_fresh": self.seed_is_fresh,
            "rule": None if window is None else window.rule,
            "window": None if window is None else {"t_min": window.t_min, "t_max": window.t_max},
            "threshold": self.threshold,
            "margin": self.margin,
            "promises": None
            if self.promises is None
            else self.promises.to_dict(**shares, errs_outside=self.question.errs_outside),
            "rows": rows.to_dict(),
            "levels": self.stairs.to_list(),
            "directions": self.directions,
            "columns": list(self.encoding.names),
            "encoding": self.encoding.to_dict(),
            "provenance": dict(self.provenance),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], name: str = "this finding") -> Finding:
        """Read the form that :meth:`to_dict` writes; anything else is refused with a reason."""
        try:
            if data["schema"] != SCHEMA:
                raise FormatError(f"its schema is {data['schema']!r}, only {SCHEMA} is known")
            finding = cls._read(data)
            finding._check_run()
            if finding.to_dict() != dict(data):
                raise FormatError("its parts contradict each other")
        except (
            LookupError, TypeError, ValueError, AttributeError, ArithmeticError, FlagstoneError
        ) as error:  # fmt: skip
            raise FormatError(f"{name}: no valid finding ({error})") from error
        return finding

    @classmethod
    def _read(cls, data: Mapping[str, Any]) -> Finding:
        question = question_from_dict(data["question"])
        answer = question.answer_type.from_dict(data["answer"]["value"])
        F, rows = answer.field, Measurement.from_dict(data["rows"])
        encoding = Encoding.from_dict(data["encoding"])
        if (encoding.field, len(encoding.names)) != (F, answer.dim):
            raise FormatError("its columns are not those of its answer")
        subspace = flag = promises = None
        if data["promises"] is not None:
            window = Window(data["rule"], data["window"]["t_min"], data["window"]["t_max"])
            promises = Guarantee.from_dict(data["promises"], window, data["threshold"])
            D = question.dim(answer.dim)
            subspace = Subspace.of_rows(F.from_texts(data["subspace"]["basis"], D), F)
            counts = np.array([d["count"] for d in data["directions"]], dtype=np.int64)
            basis = F.from_texts([d["vector"] for d in data["directions"]], D)
            flag = Flag.of_basis(F, D, basis, counts, promises.n_rows, promises.n_shards)
        return cls(
            question,
            answer,
            encoding,
            subspace,
            flag,
            promises,
            data["seed"],
            bool(data["seed_is_fresh"]),
            rows,
            dict(data["provenance"]),
        )

    def _check_run(self) -> None:
        """Refuse what no run makes: coins draw t, t chooses V*, and V* is read as the answer."""
        question, answer, promises = self.question, self.answer, self.promises
        label = self.encoding.label
        target = "y" if label is None else label.column
        names = answer.names or tuple(f"x{i}" for i in range(answer.dim))
        if (names, getattr(answer, "target", target)) != (self.encoding.names, target):
            raise FormatError("its columns are not those of its answer")
        if question.labelled != (label is not None) or not isinstance(self.seed, (str, type(None))):
            raise FormatError("it lacks a label or a seed, or has one too many")
        if any(
            not isinstance(self.provenance.get(name, kind()), kind)
            for name, kind in _PROVENANCE.items()
        ):
            raise FormatError("its provenance cannot be read")
        numbers = [*self.provenance.get("partitions", {}).values()]
        numbers += [pair[-1] for pair in self.provenance.get("labels", [])]
        if any(type(number) is not int for number in numbers):
            raise FormatError("it counts partitions or labels in no whole numbers")
        question.check(self.field)
        self.field.from_texts(self.rows.values, answer.dim + question.labelled)
        if promises is None or self.flag is None or self.seed is None:
            if (promises, self.flag, self.seed) != (None, None, None):
                raise FormatError("promises need a flag and a seed")
            return
        coins, rule = Coins(self.seed), rule_named(promises.window.rule)
        t = rule.draw(promises.window, coins)
        V = self.flag.span_at(rule.index(self.stairs, t))
        again = question.read(V, coins, names=names, target=target)
        if (t, V, again.to_dict()) != (promises.threshold, self.subspace, answer.to_dict()):
            raise FormatError("its seed, its flag and its answer belong to different runs")
        dims = [step.dim for step in self.stairs.steps]
        if self.rows.read != self.flag.n_rows or not self.rows.agrees(dims, V.dim):
            raise FormatError("it counts other rows than its flag")
        if promises.dim != self.flag.dim:
            raise FormatError("it promises something for rows of another length")
        if not promises.is_covered_by(self.flag.counts.tolist(), V.dim):
            raise FormatError("its flag does not certify what it says")

    def _repr_html_(self) -> str:
        g, title = self.promises, self.headline
        notes = [f"{note[0].upper()}{note[1:]}." for note in self.notes]
        seed = "" if self.seed is None else self.seed + " (fresh: share it)" * self.seed_is_fresh
        facts = [("Fingerprint", self.fingerprint[:16]), ("Seed", seed), ("Note", " ".join(notes))]
        parts = [listing(list(self.answer.lines) or [self.answer.text])]
        if g is not None:
            rows = promise_rows(g, self.rows.uncovered)
            parts.append(table([row[:3] for row in rows], badges=[row[3] for row in rows]))
        return card(title, *parts, table([fact for fact in facts if fact[1]]))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Finding):
            return NotImplemented
        return self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __repr__(self) -> str:
        fresh = f", seed {self.seed!r} drawn afresh: share it" if self.seed_is_fresh else ""
        return f"Finding({self.headline}; fingerprint {self.fingerprint[:16]}{fresh})"


def above(name: str) -> Any:
    """Load a package that lies above the core, when it is asked for: the only way up."""
    return importlib.import_module(f"flagstone.{name}")
