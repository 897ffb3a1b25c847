"""The road: summary → flag → subspace → answer, once, for every door.

``ask`` is the only way from rows to an answer. Estimators, the command line, audits and
experiments fill a summary and call it; none of them holds a second copy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from flagstone.certificates import pilot_rows
from flagstone.certification import SecondLook, planned
from flagstone.coins import Coins
from flagstone.encoding import Encoding
from flagstone.errors import InputError
from flagstone.fields import Array, Rows, width
from flagstone.finding import Finding
from flagstone.flag import Flag, merge_tree
from flagstone.guarantees.promise import CONFIDENCE
from flagstone.histogram import Histogram
from flagstone.lift import chunks
from flagstone.measurement import Measurement
from flagstone.question import Question
from flagstone.rules import SpanRule, select_span
from flagstone.subspace import Subspace


def ask(
    summary: Flag | Histogram,
    question: Question,
    rule: SpanRule,
    coins: Coins,
    *,
    encoding: Encoding | None = None,
    labels: Sequence[str] | None = None,
    conditions: Sequence[str] = (),
    withheld: str | None = None,
    in_values: bool = False,
    rows: Measurement | None = None,
    seed_is_fresh: bool = False,
    provenance: Mapping[str, Any] | None = None,
) -> Finding:
    """Answer a question from a summary of its lifted rows.

    Parameters
    ----------
    summary : Flag or Histogram
        Of the rows that ``question.lift`` makes.
    question : Question
    rule : IndexRule or HeavyRule
        How the space is chosen, and what that promises.
    coins : Coins
        The published coins: they draw the threshold, and whatever V* leaves open.
    encoding : Encoding, optional
        Names of the columns, their encoders, and what labels stand for; x0, x1, … otherwise.
    labels : sequence of str, optional
        The labels, where their numbers depend on which of them the sample shows; the promises
        then hold for samples that show the same ones.
    conditions : sequence of str, optional
        What else must hold, because of how the rows came to be what they are.
    withheld : str, optional
        Why nothing can be promised about fresh samples.
    in_values : bool
        Whether the rows of a flag were counted by value, so that nobody knows in which order they
        came; of a histogram this is known.
    rows : Measurement, optional
        Rows read, where more is known than their number.
    provenance : mapping, optional
        Plain values to keep beside the answer.

    Notes
    -----
    **Guarantees**

    A function of (summary, question, rule, coins): equal ones give equal findings. The answer is
    read off V* and the coins alone, so it is at least as replicable as V*, whose promises are
    ``finding.promises``.

    Examples
    --------
    >>> from flagstone import Coins, Flag, IndexRule, ParityQuestion, ask
    >>> flag = Flag(3).update([[1, 0, 1], [0, 1, 0]] * 50)       # rows (x0, x1, y)
    >>> finding = ask(flag, ParityQuestion(), IndexRule(t_max=10), Coins(2026))
    >>> print(finding.answer)
    y = x0
    """
    flag = summary.to_flag()
    if flag is summary:
        flag = flag.copy()  # rows that are added later must leave no trace in the finding
    chosen = select_span(flag, rule, coins)
    promises = replace(
        chosen.guarantee,
        labels=None if labels is None else tuple(labels),
        in_values=in_values or isinstance(summary, Histogram),
        conditions=tuple(conditions),
    )
    promises = promises.with_coverage(flag.counts.tolist(), chosen.subspace.dim)
    if withheld is not None:
        promises = promises.withhold(withheld)
    if encoding is None:
        n_features = flag.dim - question.dim(0)
        names = [f"x{i}" for i in range(n_features)]
        encoding = Encoding.plain(flag.field, names, label="y" if question.labelled else None)
    target = "y" if encoding.label is None else encoding.label.column
    return Finding(
        question,
        question.read(chosen.subspace, coins, names=encoding.names, target=target),
        encoding,
        chosen.subspace,
        flag,
        promises,
        coins.seed,
        seed_is_fresh,
        rows or Measurement(flag.n_rows),
        dict(provenance or {}),
    )


class Seen(NamedTuple):
    """What is seen of each row.

    Attributes
    ----------
    outside : array of bool, or None
        Whether it lies outside V*; None where V* is not known (a bare answer).
    wrong : array of bool, or None
        Whether it breaks the answer; None where there is nothing to break (⊥).
    place : array of int, or None
        How many of {0} and the levels of the flag do not hold it; None where nobody looked.
    """

    outside: Array | None
    wrong: Array | None
    place: Array | None = None

    def levels(self, finding: Finding) -> tuple[int, ...] | None:
        """Count the rows outside each level of the flag."""
        if self.place is None:
            return None
        n_levels = len(finding.stairs.steps)
        if n_levels <= 12:  # counting in bins would take longer
            levels = range(n_levels, 0, -1)
            return tuple(int(np.count_nonzero(self.place > level)) for level in levels)
        return tuple(np.bincount(self.place, minlength=n_levels + 2)[:1:-1].cumsum().tolist())


def look(
    finding: Finding,
    rows: Rows,
    labels: Array | None,
    again: SecondLook | None = None,
) -> Seen:
    """Say of each row whether it lies outside V*, and whether it breaks the answer.

    Rows are in the field's internal form, labels elements. Rows of the fit may certify on the way;
    they are also asked how far down the flag they lie, of which V* is a level, or {0}.
    """
    F, question, V = finding.field, finding.question, finding.subspace
    spaces = None if again is None or V is None else finding.spaces
    outside, wrong, places = [], [], []
    for piece in list(chunks(len(rows), V.ambient_dim if V else 0)) or [slice(0, 0)]:
        y = None if labels is None else labels[piece]
        left_out = None
        if V is not None:
            lifted = question.lift(F, rows[piece], y)
            if spaces is None:
                left_out = ~V.contains(lifted)
            else:
                places.append(spaces.first_space(spaces.coordinates(lifted)))
                left_out = places[-1] > (0, *spaces.dims).index(V.dim)
            if again is not None:
                again.update(lifted, left_out)
        outside.append(left_out)
        wrong.append(question.misfits(finding.answer, rows[piece], y, left_out))
    return Seen(_joined(outside), _joined(wrong), _joined(places))


def _joined(parts: Sequence[Array | None]) -> Array | None:
    known = [part for part in parts if part is not None]
    return np.concatenate(known) if known else None


def certify(
    finding: Finding,
    X: Any,
    y: Any = None,
    *,
    confidence: float = CONFIDENCE,
    shards: Sequence[int] | None = None,
    checked: bool = False,
) -> Finding:
    """Return the finding with what its rows, the very ones of the fit, certify and measure.

    Parameters
    ----------
    finding : Finding
    X, y : rows over the field, and their labels as elements of it
        In the order of the fit; rows that make another flag are refused.
    confidence : float, default 0.99
    shards : sequence of int, optional
        How many rows each shard had, if the answer is from merged flags.
    checked : bool
        Whether the caller knows already that these are the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from flagstone import rep_linear_span
    >>> X = np.random.RandomState(1).randint(0, 2, size=(1000, 1)) * [1, 1, 0]
    >>> finding = rep_linear_span(X, t_min=30, t_max=60, random_state=1)
    >>> certify(finding, X).promises.rho_certified < 0.001
    True
    >>> finding.certified(X) == certify(finding, X)
    True
    """
    F, question = finding.field, finding.question
    rows, labels = F.rows(X), None if y is None else F.elements(y)
    ends = np.cumsum([len(rows)] if shards is None else shards).tolist()
    cuts = [slice(start, end) for start, end in pairwise([0, *ends])]
    parts = [(rows[cut], None if labels is None else labels[cut]) for cut in cuts]
    kind: Any = Histogram if finding.promises and finding.promises.in_values else Flag

    def summed_up(pieces: list[tuple[Rows, Array | None]]) -> Flag | Histogram:
        dim = question.dim(width(rows))
        found: list[Any] = [kind(dim, F).update(question.lift(F, *piece)) for piece in pieces]
        whole: Flag | Histogram = merge_tree(found, kind.merge)
        return whole

    if not checked and (ends[-1] != len(rows) or summed_up(parts).to_flag() != finding.flag):
        raise InputError(
            "an answer is certified on the rows of its fit, in their order; these are others"
        )
    pilots = [pilot_rows(len(part)) for part, _ in parts]
    first = [(x[:n], None if z is None else z[:n]) for n, (x, z) in zip(pilots, parts, strict=True)]
    certifier = planned(finding, summed_up(first), confidence)
    looks, counted = [], Measurement(0, 0, 0)
    for n, part in zip(pilots, parts, strict=True):
        looks.append(SecondLook(finding, certifier, n))
        counted += measure(finding, *part, again=looks[-1])
    seen = merge_tree(looks, SecondLook.merge)
    return replace(seen.certify(finding, confidence), rows=counted)


def measure(
    finding: Finding,
    rows: Rows,
    labels: Array | None = None,
    weights: Array | None = None,
    *,
    again: SecondLook | None = None,
) -> Measurement:
    """Count exactly how many of these rows V* leaves out, and how many break the answer."""
    seen = look(finding, rows, labels, again)

    def count(mask: Array | None) -> int | None:
        if mask is None:
            return None
        return int(np.count_nonzero(mask) if weights is None else weights[mask].sum())

    total = len(rows) if weights is None else int(weights.sum())
    levels = seen.levels(finding) if weights is None else None
    return Measurement(total, count(seen.outside), count(seen.wrong), levels=levels)


def inside(finding: Finding, rows: Rows, labels: Array | None = None) -> Array:
    """Say of each row whether V* holds it; without labels, whether it does with some label.

    Outside of V*, an answer owes nothing to the rows that it was read off.
    """
    V, question, F = finding.subspace, finding.question, finding.field
    if V is None:
        raise InputError("this finding was made of a bare answer: no span is known behind it")
    if labels is not None or not question.labelled:
        return V.contains(question.lift(F, rows, labels))
    lifted = F.array(question.lift(F, rows, np.full(len(rows), F.zero, dtype=F.dtype)))
    shadow = Subspace.span(V.basis[:, :-1], F, dim=V.ambient_dim - 1)
    return shadow.contains(lifted[:, :-1])
