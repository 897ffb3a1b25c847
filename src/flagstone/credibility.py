"""What an answer is worth: how far the rows support it, said before anything else."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from flagstone.answers import Constraints, sparsest
from flagstone.guarantees.words import percent, sure
from flagstone.question import ParityQuestion
from flagstone.rules import rule_named
from flagstone.staircase import Plateau, Step
from flagstone.wording import counted

if TYPE_CHECKING:
    from flagstone.finding import Finding

#: More future misfits than this, and an answer is not worth acting on.
_MOST = 0.5


def support(finding: Finding) -> str | None:
    """How far the rows support the answer, at the confidence of its promises.

    "whole": most rows to come will fit it. "part": they will fit the equations that hold in all
    rows, but perhaps not the others. "none": neither is known. None: nothing was claimed, or there
    is nothing to go by.
    """
    g, answer = finding.promises, finding.answer
    if g is None or g.withheld is not None:
        return None
    if finding.nothing_kept:
        return "none"
    if answer.is_bottom or (isinstance(answer, Constraints) and not len(answer)):
        return None
    if g.eps_certified is not None and g.eps_certified < _MOST:
        return "whole"
    return "part" if _held_by_all(finding) else "none"


def _held_by_all(finding: Finding) -> int:
    """How many equations hold in all rows, and in most rows to come."""
    g = finding.promises
    if g is None or g.eps_span is None or g.eps_span >= _MOST:
        return 0
    return g.dim - finding.stairs.rank if isinstance(finding.answer, Constraints) else 0


def too_few(finding: Finding) -> bool:
    """Whether there are too few rows to support any answer, whatever a certificate may add."""
    g = finding.promises
    return support(finding) == "none" and (g is None or g.eps_span is None or g.eps_span >= _MOST)


def title(finding: Finding) -> str:
    """What was found, in a few words; that it is one of many, if it is."""
    if finding.nothing_kept:
        return f"No direction was kept: {finding.question.nothing}"
    others = finding.alternatives
    one = f", one of {others['count']} that fit" if others else ""
    return finding.question.title(finding.answer) + one


def notes(finding: Finding) -> list[str]:
    """What is to be said beside the headline: caution, hint, other rules that fit."""
    others = finding.alternatives
    said = (finding.caution, finding.hint, others["text"] if others else None)
    return [note for note in said if note is not None]


def headline(finding: Finding) -> str:
    """The title with what is known of it; what nobody should act on says so first."""
    g, known, title = finding.promises, support(finding), finding.title
    if g is None or finding.nothing_kept or finding.answer.is_bottom:
        return title
    if g.withheld is not None:
        return f"{title}; nothing is promised about rows to come"
    if known is None:
        return title
    if known == "whole":
        share, breaks = percent(g.eps_certified or 0.0), finding.question.breaks
        return (
            f"{title}; at most {share} of rows to come {breaks} ({sure(g.confidence)} confidence)"
        )
    if known == "part":
        held = _held_by_all(finding)
        hold = f"the {held} that hold{'s' if held == 1 else ''} in all of them"
        return f"{title}, but the rows support only {hold}"
    why, misfits = "too many rows do not fit", finding.rows.misfits
    if too_few(finding) or (misfits is not None and misfits < _MOST * g.n_rows):
        why = f"too few: {counted(g.n_rows, 'row')} of rank {finding.stairs.rank}"
    return f"Not supported by the rows ({why}): {title}"


def caution(finding: Finding) -> str | None:
    """A warning where more rows do not fit than was allowed for; None where not, or not counted."""
    g, misfits = finding.promises, finding.rows.misfits
    if g is None or misfits is None or finding.nothing_kept:
        return None
    m, c = g.n_rows, g.contamination
    allowed = c * m + 3 * math.sqrt(c * (1 - c) * m) if c else max(g.window.start, g.eps_asked * m)
    if misfits <= allowed:
        return None
    stated = f"the stated contamination, {100 * c:g} %" if c else f"{100 * allowed / m:.3g} %"
    return f"{100 * misfits / m:.3g} % of the rows do not fit, more than {stated}"


def partitions(finding: Finding) -> str | None:
    """How the rows were cut, and what that costs; None for rows that came as one."""
    found = {"number": 1, "empty": 0, "short": 0, **finding.provenance.get("partitions", {})}
    number, empty, short = (found[name] for name in ("number", "empty", "short"))
    if number < 2:
        return None
    text = f"{number:,} partitions"
    shards = 1 if finding.promises is None else finding.promises.n_shards
    if shards > 1:
        text += f" (what is proven loses a factor {shards:,}, what is certified does not)"
    if empty:
        text += f"; {empty:,} of them hold no rows"
    if short:
        text += f"; {short:,} are shorter than the pieces of rows that certify, and certify nothing"
    return text


def hint(finding: Finding) -> str | None:
    """Where the flag has a wider plateau than the one that was drawn; None if it has not.

    For *fresh* rows: rows that choose their own window prove nothing with it.
    """
    g, V, stairs = finding.promises, finding.subspace, finding.stairs
    if g is None or V is None:
        return None
    ends = rule_named(g.window.rule).ends(stairs)
    if finding.answer.is_bottom and isinstance(finding.question, ParityQuestion):
        return _rule_elsewhere(finding, ends)
    best = stairs.widest(ends)
    # the first set alone, of all rows with every damaged one among them, is no plateau
    if best is None or best.dim in (stairs.ambient_dim, V.dim) or best.breadth <= 1:
        return None
    start = max((end for end, _ in ends if end < g.threshold), default=0)
    end = min((end for end, _ in ends if end >= g.threshold), default=start)
    if best.breadth < 1.5 * Plateau(V.dim, start + 1, end).breadth:
        return None
    return (
        f"a wider plateau lies elsewhere: thresholds {best.first:,} to {best.last:,} give one "
        f"space of dimension {best.dim}. Choose a window there for fresh rows (suggest); chosen on "
        "these rows it would promise nothing, for they would have chosen it"
    )


def _rule_elsewhere(finding: Finding, ends: Sequence[tuple[int, Step]]) -> str | None:
    """Where a rule fits, when none does at the threshold that was drawn; None if nowhere."""
    g, flag = finding.promises, finding.flag
    if g is None or flag is None:
        return None
    label, start = np.eye(flag.dim, dtype=int)[-1:], 0
    for end, step in ends:
        # the first space that does not hold the label alone has a rule for it; if it lacks more
        # than that, the rule may be one of few rows
        if start >= g.threshold and not flag.span_at(step.first).contains(label).any():
            break
        start, dim = end, step.dim
    else:
        return None
    if step.dim < dim - 1 or Plateau(step.dim, start + 1, end).breadth <= 1:
        return None
    return (
        f"a rule fits at thresholds {start + 1:,} to {end:,}, which leave out what few rows "
        "say, such as damaged ones. Say how many may be (contamination), or choose a window there "
        "for fresh rows (suggest); chosen on these rows it would promise nothing"
    )


def alternatives(finding: Finding) -> dict[str, Any] | None:
    """How many rules fit V*, and which one this is; None where it is the only one.

    ``dim`` is the dimension of the set of rules (S25), ``proven`` says of a sparsest rule whether
    no other has fewer terms.
    """
    V, question, answer = finding.subspace, finding.question, finding.answer
    if V is None or not isinstance(question, ParityQuestion) or answer.is_bottom:
        return None
    dim = V.ambient_dim - 1 - V.dim
    if not dim:
        return None
    order = finding.field.order
    count = f"{order}^{dim}" if dim > 1 else str(order)
    count = count if order else "infinitely many"
    text = f"{count} rules fit these rows; this is one of them, "
    proven = None
    if question.choice == "sparsest":
        proven = sparsest(V, answer.dim).proven
        text += f"with the fewest terms{'' if proven else ' that a bounded search found'}"
    else:
        how = {"uniform": "drawn by the coins", "lexmin": "the lexicographically smallest"}
        text += f"{how[question.choice]}; the choice sparsest looks for one with few terms"
    return {"dim": dim, "count": count, "proven": proven, "text": text}
