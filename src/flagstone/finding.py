"""Finding: one frozen value with everything that is known about an answer."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np

from flagstone import text
from flagstone.algebra import Array, Field, Flag, Staircase, Subspace
from flagstone.answers import Answer, Constraints, exact_entry
from flagstone.certificates import NestedSpaces
from flagstone.credibility import Alternatives, Credibility
from flagstone.encoding import Encoding, News, news
from flagstone.errors import BottomError, InputError, InputWarning
from flagstone.guarantees import Guarantee, Window
from flagstone.markup import card, escape, listing, table
from flagstone.measurement import Measurement, classify_rows
from flagstone.measurement import predict as predict_rows
from flagstone.question import QUESTIONS, Question, SpanQuestion
from flagstone.rules import SpanRule

#: The version of the JSON form: of files, and of what the command line prints with --json.
SCHEMA = 3

#: Of wider rows it is not counted how many each level of the flag leaves out.
MOST_COUNTED = 260


@dataclass(frozen=True, eq=False, repr=False)
class Finding:
    """An answer with what was asked, how it was chosen, and what is known about it.

    Made by :func:`flagstone.ask`, by every estimator (``finding_``), by
    :func:`~flagstone.pipeline.rep_linear_span` and by the command line. The same question, rows
    and seed give the same finding in each of them.

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
    rule : SpanRule or None
        The rule that chose it, with its parameters.
    promises : Guarantee or None
        What is proven, certified and measured.
    seed : str or None
        The published seed; ``seed_is_fresh`` if it was drawn for this run and is to be shared.
    rows : Measurement
        Rows read and, where they were counted, uncovered rows and misfits.
    provenance : mapping
        Sources, command, how files were read, digests that the rows have shown: plain values for
        people and reports.

    Examples
    --------
    >>> from flagstone import LinearSpan
    >>> finding = LinearSpan(random_state=7).fit([[1, 1, 0], [0, 1, 1]] * 50).finding_
    >>> finding
    Finding(A span of dimension 2 of 3, 1 check equation holds; at most 6.7 % of future rows do \
not fit (99 % confidence); fingerprint cb1c96c7b31e422b)
    >>> print(finding.answer)
    x0 ⊕ x1 ⊕ x2 = 0
    """

    question: Question
    answer: Answer
    encoding: Encoding
    subspace: Subspace | None = None
    flag: Flag | None = None
    rule: SpanRule | None = None
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
        options = {"intercept": constant} if answer.kind == "parity" else {}
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
        degree = self.encoding.degree
        asked = self.question.kind + (f" of degree {degree}" if degree > 1 else "")
        return self.answer.fingerprint(asked, self.encoding.labels)

    @property
    def expression(self) -> str | None:
        """The answer as a Python expression in one row ``x`` of the encoded columns.

        Over QQ the row is by name (``x["net"]``) where columns have names, and entries are read
        as they are written (by ``Fraction``), so that floats add up exactly. None for products of
        columns over a field whose elements Python does not multiply.
        """
        code, made = self.answer.expression, self.encoding.monomials
        if self.field.order is None:
            keys = range(len(made.names)) if made.is_numbered else made.names
            factors = ["*".join(exact_entry(keys[i]) for i in term) for term in made.terms]
            entry = re.escape(exact_entry(0)).replace("0", r"(\d+)")
            return re.sub(entry, lambda found: factors[int(found[1])], code)
        if self.encoding.degree == 1:
            return code
        if self.field.degree > 1:
            return None
        products = made.source()
        return re.sub(r"x\[(\d+)\]", lambda found: products[int(found[1])], code)

    @cached_property
    def stairs(self) -> Staircase:
        """The levels of the flag."""
        return Staircase(self.answer.dim, ()) if self.flag is None else Staircase.of(self.flag)

    @cached_property
    def spaces(self) -> NestedSpaces | None:
        """The levels of the flag, the smallest first; None if placing rows would take long."""
        if self.flag is None or self.flag.dim > MOST_COUNTED:
            return None
        return NestedSpaces.of_flag(self.flag, [level.dim for level in self.stairs.levels[::-1]])

    @property
    def window(self) -> Window | None:
        """What the threshold was drawn from."""
        return None if self.promises is None else self.promises.setup.window

    @property
    def threshold(self) -> int | float | None:
        """The threshold t that the coins drew."""
        return None if self.promises is None else self.promises.setup.threshold

    @property
    def margin(self) -> int | None:
        """The answer does not change if up to this many rows are altered, at the same threshold."""
        return None if self.promises is None else self.promises.measured.margin

    @property
    def is_empty(self) -> bool:
        """Whether rows showed directions, but none was kept: V* = {0}.

        The answer then says nothing about the rows; a rule is a draw of the coins alone.
        """
        return self.subspace is not None and self.subspace.dim == 0 and bool(self.stairs.levels)

    @cached_property
    def credibility(self) -> Credibility:
        """How far the rows support the answer, and where a better window may be."""
        return Credibility(self)

    @property
    def support(self) -> str | None:
        """How far the rows support the answer: see :attr:`Credibility.support`."""
        return self.credibility.support

    @property
    def is_answer(self) -> bool:
        """Whether the answer is usable: not ⊥, not empty, and supported by the rows."""
        return not (self.answer.is_bottom or self.is_empty or self.support == "none")

    @property
    def alternatives(self) -> Alternatives | None:
        """How many rules fit, and how this one was chosen; None if it is the only one."""
        return self.credibility.alternatives

    @cached_property
    def news(self) -> News | None:
        """What check equations say beyond the encoding of the columns; None for other answers."""
        if not isinstance(self.answer, Constraints) or self.answer.is_bottom:
            return None
        return news(self.answer, self.encoding)

    @property
    def words(self) -> Encoding:
        """The encoding in whose words equations and rows are shown."""
        return self.encoding if self.news is None else self.news.encoding

    # The sentences about it: each is what the function of this name says.
    title = cached_property(text.title)
    headline = cached_property(text.headline)
    lines = cached_property(text.lines)
    checks = cached_property(text.checks)
    unlisted = cached_property(text.unlisted)
    notes = cached_property(text.notes)
    caution = cached_property(text.caution)
    hint = cached_property(text.hint)
    partitions = cached_property(text.partitions)
    expression_note = cached_property(text.expression_note)

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

    def with_counts(self, rows: Measurement) -> Finding:
        """Return the finding with counted rows in place of what the flag tells of their number."""
        promises, outside = self.promises, rows.uncovered
        if promises is not None and outside is not None:
            promises = replace(promises, measured=replace(promises.measured, outside=outside))
        return replace(self, rows=rows, promises=promises)

    def predict(self, X: Any) -> Array:
        """Predict the label of each row of a table in memory, through the encoders of the finding.

        Parameters
        ----------
        X : frame or array-like of shape (n_samples, n_columns)
            A frame of pandas, polars or Arrow, whose columns are found by name, in any order; or
            an array of the feature columns in their order.

        Returns
        -------
        array of shape (n_samples,)
            Labels as texts if the finding names them (``"yes"``), as elements of the field
            otherwise. For answers without a label: 1 if the row fits, 0 if not.

        Raises
        ------
        BottomError
            When the answer is ⊥, or a rule that is only a draw of the coins.

        Examples
        --------
        >>> import pandas as pd
        >>> from flagstone import Finding
        >>> from flagstone.answers import ParityRule
        >>> finding = Finding.of(ParityRule([1, 1], 0, names=["door", "motion"], target="alarm"))
        >>> table = pd.DataFrame({"motion": [True, False], "day": ["Mon", "Tue"], "door": [1, 1]})
        >>> finding.predict(table).tolist()
        [0, 1]
        """
        from flagstone.tables.memory import encoded_rows

        rows, _ = encoded_rows(self.encoding.without_label(), X)
        elements = predict_rows(self, rows)
        if self.encoding.labels is None:
            return elements
        return np.array(self.encoding.decoded(elements), dtype=str)

    def check(self, X: Any, y: Any = None) -> Array:
        """Say for each row of a table in memory whether it fits, through the encoders.

        Parameters
        ----------
        X : frame or array-like of shape (n_samples, n_columns)
            As for :meth:`predict`.
        y : array-like, optional
            The labels, if the answer is about a label that is not a column of X.

        Returns
        -------
        array of bool, shape (n_samples,)
            False for rows that break the answer, as ``flagstone check`` counts them.

        Raises
        ------
        BottomError
            When the answer is ⊥.

        Examples
        --------
        >>> import pandas as pd
        >>> from flagstone import Finding
        >>> from flagstone.answers import Constraints
        >>> finding = Finding.of(Constraints([[1, 1, -1]], [0], "QQ", ["net", "vat", "gross"]))
        >>> table = pd.DataFrame({"net": [100, 200], "vat": [19, 38], "gross": [119, 237]})
        >>> table[~finding.check(table)]
           net  vat  gross
        1  200   38    237
        """
        from flagstone.tables.memory import encoded_rows

        if self.answer.is_bottom:
            raise BottomError("the answer is ⊥: there is nothing that rows could break")
        if (nothing := text.nothing_to_break(self)) is not None:
            warnings.warn(InputWarning(nothing), stacklevel=2)
        asked = self.encoding if self.question.labelled else self.encoding.without_label()
        rows, labels = encoded_rows(asked, X, y)
        wrong = classify_rows(self, rows, labels).wrong
        return np.ones(len(rows), dtype=bool) if wrong is None else np.asarray(~wrong)

    def save(self, path: str | PathLike[str], *, overwrite: bool = False) -> None:
        """Write a file that :func:`flagstone.load` reads; it may replace another finding.

        Any other file that exists is refused unless ``overwrite``.
        """
        from flagstone.store import save

        save(path, self, overwrite=overwrite)

    def report(
        self, path: str | PathLike[str], view: Any = None, *, overwrite: bool = False
    ) -> None:
        """Write one self-contained HTML page; an `AnswerView` shows the answer in its own way.

        It may replace another report; any other file that exists is refused unless ``overwrite``.
        """
        from flagstone.report import write_report

        write_report(path, self, view, overwrite=overwrite)

    def plot(self, ax: Any = None) -> Any:
        """Draw the staircase, with window, threshold and margin; returns the display.

        On given axes, on a new figure, or into a file: ``finding.plot("scree.svg")``.
        """
        from flagstone.plots import ScreeDisplay

        return ScreeDisplay.of(self).plot(ax)

    def to_dict(self) -> dict[str, Any]:
        """Return the facts as JSON values: what files hold (docs/formats.md).

        No sentences: :func:`flagstone.text.summary` derives those.
        """
        V, window, rows = self.subspace, self.window, self.rows
        shares = {"uncovered": rows.share(rows.uncovered), "misfits": rows.share(rows.misfits)}
        promises = None
        if self.promises is not None:
            promises = self.promises.to_dict(**shares, errs_outside=self.question.errs_outside)
        return {
            "schema": SCHEMA,
            "question": self.question.to_dict(),
            "fingerprint": self.fingerprint,
            "field": self.field.name,
            "dim": self.answer.dim,
            "answer": self.answer.to_dict(),
            "is_bottom": self.answer.is_bottom,
            "is_empty": self.is_empty,
            "subspace": None if V is None else {"dim": V.dim, "basis": self.field.texts(V.rows)},
            "seed": self.seed,
            "seed_is_fresh": self.seed_is_fresh,
            "rule": None if self.rule is None else self.rule.to_dict(),
            "window": None if window is None else {"t_min": window.t_min, "t_max": window.t_max},
            "threshold": self.threshold,
            "promises": promises,
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
        from flagstone.verification import read_finding

        return read_finding(data, name)

    def _repr_html_(self) -> str:
        g, title = self.promises, self.headline
        notes = [f"{note[0].upper()}{note[1:]}." for note in self.notes]
        seed = "" if self.seed is None else self.seed + " (fresh: share it)" * self.seed_is_fresh
        facts = [("Fingerprint", self.fingerprint[:16]), ("Seed", seed), ("Note", " ".join(notes))]
        parts = [listing(list(self.lines))] if self.lines else []
        if self.unlisted is not None:
            parts.append(f"<div>{escape(self.unlisted)}; print(finding.answer) lists all</div>")
        if g is not None:
            rows = text.promise_rows(g, self.rows.uncovered)
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
