"""Several findings side by side: what they share, and what each has beyond that."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from flagstone.algebra import Array, Subspace
from flagstone.answers import Constraints, ParityRule
from flagstone.errors import InputError
from flagstone.finding import Finding
from flagstone.markup import card, table
from flagstone.question import ConstraintsQuestion, Question, SubspaceQuestion


def common(*findings: Finding) -> Finding:
    """Return the finding whose answer is what all of these share.

    An equation is shared if it follows from the equations of each finding, however they are
    written. Columns count by their places; they are called as in the first finding.

    Notes
    -----
    **Guarantees**

    The fingerprint is that of any finding that gives this answer to this question. Since the
    answer is a function of the given ones, it differs from that of fresh runs only if one of these
    does: with at most the sum of their probabilities.

    Examples
    --------
    >>> from flagstone import Finding
    >>> from flagstone.answers import Constraints
    >>> a = Finding.of(Constraints([[1, 1, 0], [0, 1, 1]], [1, 0]))
    >>> b = Finding.of(Constraints([[1, 0, 1]], [1]))
    >>> print(common(a, b).answer)      # a says it too: the sum of its two equations
    x0 ⊕ x2 = 1
    >>> common(a, b).fingerprint == b.fingerprint
    True
    """
    reason = _apart(findings)
    if reason is not None:
        raise InputError(reason)
    first, field = findings[0], findings[0].field
    answers: list[Any] = [finding.answer for finding in findings]
    answer: Any = answers[0]
    if any(other != answer for other in answers):
        rows = reduce(Subspace.__and__, [other.span for other in answers]).basis
        answer = type(answer)(rows[:, :-1], rows[:, -1], field, first.encoding.names)
    return Finding(_question(findings), answer, first.encoding)


def _question(findings: tuple[Finding, ...]) -> Question:
    questions = [finding.question for finding in findings]
    if all(question == questions[0] for question in questions):
        return questions[0]
    if isinstance(questions[0], SubspaceQuestion):
        return SubspaceQuestion(affine=True)  # a subspace that may miss the origin, or may not
    return ConstraintsQuestion()  # equations of a span have constants, too: zeros


def _apart(findings: tuple[Finding, ...]) -> str | None:
    """Say why findings cannot share equations; None if they can."""
    kinds = {finding.question.kind for finding in findings}
    if kinds == {"parity"}:
        return "rules share no equations: each of them is one"
    if len(kinds) > 1 and kinds != {"span", "constraints"}:
        return f"they answer different questions ({', '.join(sorted(kinds))})"
    for what, values in (
        ("are over different fields", [finding.field.name for finding in findings]),
        ("have different numbers of columns", [str(f.answer.dim) for f in findings]),
        ("name their labels differently", [str(f.encoding.labels) for f in findings]),
    ):
        if len(set(values)) > 1:
            return f"they {what} ({', '.join(dict.fromkeys(values))})"
    return None


def beyond(finding: Finding, shared: Finding) -> list[str]:
    """Return the equations of the finding beyond the shared ones, as short as known.

    With the shared ones, and those that the encoding of the columns implies, they say what the
    finding says; none of them follows from the others.

    >>> from flagstone import Finding
    >>> from flagstone.answers import Constraints
    >>> finding = Finding.of(Constraints([[1, 0, 1, 1], [0, 1, 1, 1]], [0, 0]))
    >>> beyond(finding, Finding.of(Constraints([[1, 0, 1, 1]], [0])))
    ['x0 ⊕ x1 = 0']
    """
    answer: Any = finding.answer
    if answer == shared.answer:
        return []
    if isinstance(answer, Constraints) and answer.is_bottom:
        return list(answer.lines)  # 0 = 1, from which everything follows
    rows, lines, known = _listed_rows(finding), listed(finding), shared.answer.augmented
    assert known is not None
    # short equations first, so that a short one is chosen where several say the same
    order = np.argsort((rows[:, :-1] != 0).sum(axis=1), kind="stable")
    # the first rows that depend on none before them, shared ones before all others
    chosen = Subspace.span(np.concatenate([known, rows[order]]).T, answer.field).pivots
    return [lines[order[i - len(known)]] for i in chosen if i >= len(known)]


def listed(finding: Finding) -> tuple[str, ...]:
    """Return the equations of a finding as text, without those that the encoding implies."""
    return finding.answer.lines if finding.news is None else finding.checks


def _listed_rows(finding: Finding) -> Array:
    """Return the equations (a | b) of `listed`."""
    answer, found = finding.answer, finding.news
    if found is None:
        rows = answer.shown
        assert rows is not None
        return rows
    constants = np.full((len(found.constants), answer.dim + 1), answer.field.zero, found.rows.dtype)
    for row, (column, value) in zip(constants, found.constants, strict=True):
        row[column], row[-1] = answer.field.one, value
    return np.concatenate([found.rows, constants])


@dataclass(frozen=True)
class Comparison:
    """Two findings side by side; true if they give the same answer.

    Attributes
    ----------
    same : bool
        Whether question, answer and named labels are equal, by fingerprint.
    fingerprints : tuple of str
    shared : Finding or None
        The equations that follow from both; None where they cannot share any, see ``note``.
    only_in_first, only_in_second : tuple of str
        What each says beyond the shared equations, and beyond the encoding of its columns.
    note : str or None
        Why they share no equations, or on which rows two rules give the same label.
    dims : tuple of int or None
        The dimensions of both spans, of what they have in common, and of both together.
    settings : tuple of (name, first, second)
        What was set differently.
    """

    same: bool
    fingerprints: tuple[str, str]
    shared: Finding | None
    only_in_first: tuple[str, ...]
    only_in_second: tuple[str, ...]
    note: str | None
    dims: tuple[int, int, int, int] | None
    settings: tuple[tuple[str, Any, Any], ...]

    def __bool__(self) -> bool:
        return self.same

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as JSON values."""
        both = self.shared
        shared = None
        if both is not None:
            shared = {
                "fingerprint": both.fingerprint,
                "lines": list(listed(both)),
                "implied": 0 if both.news is None else both.news.implied,
            }
        return vars(self) | {
            "fingerprints": list(self.fingerprints),
            "shared": shared,
            "only_in_first": list(self.only_in_first),
            "only_in_second": list(self.only_in_second),
            "dims": None if self.dims is None else list(self.dims),
            "settings": [list(one) for one in self.settings],
        }

    def __str__(self) -> str:
        return "\n".join(f"{name}: {value}" for name, value in self._rows())

    def _repr_html_(self) -> str:
        return card("The same" if self.same else "Not the same", table(self._rows()))

    def _rows(self) -> list[tuple[str, str]]:
        first, second = (digits[:16] for digits in self.fingerprints)
        both = () if self.shared is None or self.same else listed(self.shared)
        found = [
            ("same", "yes" if self.same else "no"),
            ("fingerprints", first if self.same else f"{first} and {second}"),
            ("shared", "; ".join(both)),
            ("only in the first", "; ".join(self.only_in_first)),
            ("only in the second", "; ".join(self.only_in_second)),
            ("note", self.note or ""),
            *((name, f"{x} and {y}") for name, x, y in self.settings),
        ]
        return [(name, value) for name, value in found if value]


def compare(a: Finding, b: Finding) -> Comparison:
    """Compare two findings: whether they give one answer, what they share, where they differ.

    Examples
    --------
    >>> from flagstone import Finding
    >>> from flagstone.answers import Constraints
    >>> from flagstone.comparison import compare
    >>> a = Finding.of(Constraints([[1, 1, 0], [0, 1, 1]], [1, 0]))
    >>> b = Finding.of(Constraints([[1, 0, 1]], [1]))
    >>> found = compare(a, b)
    >>> found.same, found.shared.answer.lines, found.only_in_first, found.only_in_second
    (False, ('x0 ⊕ x2 = 1',), ('x1 ⊕ x2 = 0',), ())
    """
    same, note = a.fingerprint == b.fingerprint, _apart((a, b))
    left, right = listed(a), listed(b)
    only = [[line for line in left if line not in right], [ln for ln in right if ln not in left]]
    both = None
    if note is None:
        both = common(a, b)
        only = [beyond(a, both), beyond(b, both)]
    elif isinstance(a.answer, ParityRule) and isinstance(b.answer, ParityRule):
        note = _where_rules_agree(a, b) or note
    V, W = a.subspace, b.subspace
    dims = None
    if V is not None and W is not None and (V.field, V.ambient_dim) == (W.field, W.ambient_dim):
        dims = (V.dim, W.dim, (V & W).dim, (V + W).dim)
    here, there = _settings(a), _settings(b)
    return Comparison(
        same,
        (a.fingerprint, b.fingerprint),
        both,
        () if same else tuple(only[0]),
        () if same else tuple(only[1]),
        None if same else note,
        dims,
        tuple((name, x, there[name]) for name, x in here.items() if x != there[name]),
    )


def _where_rules_agree(a: Finding, b: Finding) -> str | None:
    """Say on which rows two rules give the same label; None where that cannot be said."""
    F, left, right = a.field, a.answer.augmented, b.answer.augmented
    if left is None or right is None or (F, left.shape) != (b.field, right.shape):
        return None
    if a.encoding.labels != b.encoding.labels:
        return None
    rows = F.sub(left, right)
    where = Constraints(rows[:, :-1], F.neg(rows[:, -1]), F, a.encoding.names)
    if where.is_bottom:
        return "the two rules give the same label nowhere"
    return f"the two rules give the same label where {where}" if len(where) else None


def _settings(finding: Finding) -> dict[str, Any]:
    encoding = finding.encoding
    return {
        "question": finding.question.kind,
        "seed": finding.seed,
        "columns": ", ".join(encoding.names),
        "encoders": ", ".join(encoder.text for encoder in encoding.encoders),
        "rows": finding.rows.read,
        "window": None if finding.window is None else str(finding.window),
        "threshold": finding.threshold,
    }
