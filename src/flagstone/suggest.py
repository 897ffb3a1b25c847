"""From pilot rows to a window: in the middle of the widest plateau, for *other* rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from flagstone.algebra import (
    Array,
    Field,
    FieldLike,
    Flag,
    Level,
    Plateau,
    Rows,
    Staircase,
    as_field,
    width,
)
from flagstone.checks import frame_names
from flagstone.coins import Coins, fresh_seed
from flagstone.encoding import Encoding
from flagstone.errors import InputError
from flagstone.exact import exact_column, missing_entries
from flagstone.finding import Finding
from flagstone.guarantees.coverage import contains_failure
from flagstone.guarantees.exact import check_share, smallest
from flagstone.markup import card, table
from flagstone.pipeline import Pipeline, ask
from flagstone.protocol import Protocol
from flagstone.question import ParityQuestion, Question, SpanQuestion
from flagstone.rules import rule_named
from flagstone.second_pass import SecondPass, certified_rho
from flagstone.text import agreement

#: Multiples of the pilot rows for which a forecast is made.
_FACTORS = (1, 2, 4, 8, 16, 32)
#: Samples are drawn from at most this many pilot rows and have at most this many entries; once rho
#: is this small, no more are drawn.
_MOST_ROWS, _MOST_ENTRIES, _SMALL = 1 << 16, 1 << 23, 1e-4
#: Forecasts of equations are for answers that lack one with at most this probability.
_LACKING = 0.01
#: What a forecast of one sample says of others.
EXPECTED = "an expectation: single samples certify more or less"


@dataclass(frozen=True, repr=False)
class Suggestion:
    """A protocol for fresh rows, and what it can be expected to certify.

    Attributes
    ----------
    protocol : Protocol
    plateau : Plateau
        The thresholds of the pilot rows that give one space, the widest such range.
    n_rows : int
        Of the pilot.
    forecast : tuple of (int, float or None)
        Numbers of rows, and the rho that as many rows like these would certify: a sample of them,
        drawn again at random, does; single samples certify more or less. Where that would take
        long, or rows are elsewhere (a cluster), a cautious extrapolation. It rests on rows that
        were used to choose the window, so it promises nothing.
    equations : tuple of (int, int or None)
        Numbers of rows, and the first threshold at which as many rows like these would certify, at
        99 %, that a fresh answer has all equations of the plateau (S43); None where none on the
        plateau does.
    is_bottom : bool
        Whether the answer on the plateau is ⊥: no rule fits the pilot rows.
    """

    protocol: Protocol
    plateau: Plateau
    n_rows: int
    forecast: tuple[tuple[int, float | None], ...]
    equations: tuple[tuple[int, int | None], ...] = ()
    is_bottom: bool = False

    def for_equations(self) -> Suggestion:
        """Return the protocol whose whole window certifies that fresh answers have the equations.

        It goes from the first threshold in the forecast to two thirds of the plateau, for the
        number of rows of the protocol, or else the least number in the forecast.
        """
        known = [(m, t) for m, t in self.equations if t is not None]
        max_rows = self.protocol.max_rows
        m, first = next(
            ((m, t) for m, t in known if max_rows is None or m >= max_rows), (None, None)
        )
        if m is None or first is None:
            raise InputError(
                "no number of rows in the forecast certifies that fresh answers have the equations "
                "of the plateau: too many rows break them, or the plateau is too short"
            )
        max_rows = m if max_rows is None else max_rows
        last = max(first, 2 * self.plateau.last * max_rows // (3 * self.n_rows))
        return replace(
            self, protocol=replace(self.protocol, t_min=first, t_max=last, max_rows=max_rows)
        )

    @property
    def rows_needed(self) -> int | None:
        """The least number of rows in the forecast that certifies rho ≤ 0.05."""
        return next((m for m, rho in self.forecast if rho is not None and rho <= 0.05), None)

    def __str__(self) -> str:
        p, stairs = self.protocol, self.plateau
        needed = self.rows_needed
        rows = "no forecast reaches 0.95" if needed is None else f"about {needed:,} rows"
        return (
            f"window {p.t_min:g}..{p.t_max:g} of the rows, in the middle of a plateau of dimension "
            f"{stairs.dim} (thresholds {stairs.first}..{stairs.last} of {self.n_rows:,} rows); "
            f"to certify agreement ≥ 0.95: {rows}" + "; but no rule fits there (⊥)" * self.is_bottom
        )

    def __repr__(self) -> str:
        return f"Suggestion({self})"

    def _repr_html_(self) -> str:
        p, found = self.protocol, self.plateau
        rows = [
            (f"{m:,}", "nothing" if rho is None else f"≥ {agreement(rho)}")
            for m, rho in self.forecast
        ]
        facts = [
            ("Window", f"t_min {p.t_min:g}, t_max {p.t_max:g} (shares of the rows), rule {p.rule}"),
            ("Plateau", f"thresholds {found.first:,} to {found.last:,}: dimension {found.dim}"),
            *([("Answer", "⊥: no rule fits there")] if self.is_bottom else []),
            ("Seed", p.seed),
            ("Protocol", p.fingerprint[:16]),
        ]
        title = f"A window for fresh rows, from {self.n_rows:,} pilot rows"
        head = ("Rows of each run", f"Agreement they would certify ({EXPECTED})")
        return card(title, table(facts), table(rows, head=head))


def suggestion(
    flag: Flag,
    look_again: Callable[[Finding], SecondPass | None],
    sample: Callable[[int], Rows | None],
    *,
    rule: str = "index",
    **terms: Any,
) -> Suggestion:
    """Return a window for fresh rows from the flag of pilot rows, and its forecasts.

    Parameters
    ----------
    flag : Flag
        Of the pilot rows.
    look_again : callable
        Passes over the pilot rows a second time, for the answer that the window gives on them.
    sample : callable
        Returns at most this many of the lifted pilot rows; None where they are elsewhere.
    rule, **terms
        What the protocol says besides the window.
    """
    chosen, stairs = rule_named(rule), Staircase.of(flag)
    plateau = _plateau(flag, stairs, chosen.ends(stairs), terms["question"])
    if plateau is None or plateau.first == plateau.last:
        raise InputError(
            f"the {flag.n_rows:,} pilot rows show no plateau: no two thresholds give one space "
            "other than {0}; more rows may"
        )
    third = (plateau.last - plateau.first + 1) / 3
    start, m = plateau.first - 1, flag.n_rows
    protocol = Protocol(
        t_min=_digits(max(start + third, 0.5) / m),
        t_max=_digits(max(start + 2 * third, start + 1) / m),
        rule=rule,
        **terms,
    )
    coins, encoding = Coins(protocol.seed), protocol.encoding
    finding = ask(flag, protocol.question, protocol.to_rule(), coins, encoding=encoding)
    second_pass = look_again(finding)
    assert second_pass is not None
    forecast = _forecast(second_pass, protocol, sample(_MOST_ROWS))
    equations = _forecast_equations(second_pass, protocol, plateau, flag.dim)
    return Suggestion(protocol, plateau, m, forecast, equations, finding.answer.is_bottom)


def _plateau(
    flag: Flag, stairs: Staircase, ends: Sequence[tuple[int, Level]], question: Question
) -> Plateau | None:
    """Return the widest plateau; where no rule fits it, the first with a rule, if there is one."""
    widest = stairs.widest(ends)
    if widest is None or not isinstance(question, ParityQuestion):
        return widest
    level = next(level for level in stairs.levels if level.dim == widest.dim)
    if question.has_answer(flag.span_at(level.first)):
        return widest
    return question.first_rule(flag, ends) or widest


def _forecast(
    second_pass: SecondPass, protocol: Protocol, rows: Rows | None = None
) -> tuple[tuple[int, float | None], ...]:
    """Return what multiples of the pilot rows would certify, drawn again from some lifted ones.

    Without rows to draw from, the pieces that the second pass saw are counted several times. They
    were cut for few rows, and fresh ones are cut for many, so that this asks for too many rows.
    """
    best, points, certifier = 1.0, [], second_pass.certifier
    for factor in _FACTORS:
        m, rho = second_pass.n_rows * factor, None
        if rows is None or m * width(rows) > _MOST_ENTRIES:
            rho = None if certifier is None else certifier.forecast(factor)
        elif best > _SMALL:
            rho = _drawn_again(protocol, rows, m)
        best = best if rho is None else min(best, rho)
        points.append((m, best if best < 1 else None))
    return tuple(points)


def _forecast_equations(
    second_pass: SecondPass, protocol: Protocol, plateau: Plateau, dim: int
) -> tuple[tuple[int, int | None], ...]:
    """Return from which threshold on multiples of the pilot rows would certify the equations."""
    confidence = protocol.confidence
    seen, *_ = second_pass.levels.counted(confidence) or (None,)
    if seen is None or seen.dim != plateau.dim:
        return ()
    points = []
    for factor in _FACTORS:
        m = second_pass.n_rows * factor
        more = replace(seen, n_rows=m, outside=seen.outside * factor, runs=seen.runs * factor)
        eps = more.certified(dim, confidence).eps

        def keeps(threshold: int, m: int = m, eps: float = eps) -> bool:
            return contains_failure(m, eps, threshold) <= _LACKING

        points.append((m, smallest(keeps) if keeps(plateau.last * factor) else None))
    return tuple(points)


def _drawn_again(protocol: Protocol, rows: Rows, n_rows: int) -> float | None:
    """Return the rho that a sample of this size, drawn from these rows, certifies."""
    random = np.random.RandomState(Coins(protocol.seed).integers("forecast", 1 << 32))
    drawn = rows[random.randint(0, len(rows), size=n_rows)]
    window = protocol.to_rule().window(width(rows), n_rows)
    return certified_rho(protocol.encoding.field, drawn, window, protocol.confidence)


def suggest_window(
    X: Any,
    y: Any = None,
    *,
    question: Question | None = None,
    field: FieldLike = 2,
    rule: str = "index",
    names: Sequence[str] | None = None,
    max_rows: int | None = None,
    confidence: float = 0.99,
    random_state: int | str | None = None,
) -> Suggestion:
    """Choose a window on pilot rows, to be published and used on other rows of the same source.

    Parameters
    ----------
    X, y : pilot rows over the field, and their labels if the question needs them
        Labels that are no elements of the field, such as texts, are numbered as classifiers do.
    question : Question, optional
        By default what ParityClassifier asks where there are labels, and LinearSpan elsewhere.
    field, rule
        As for estimators.
    names : sequence of str, optional
        The columns; by default those of a frame, or x0, x1, ….
    max_rows : int, optional
        How many rows each run will take.
    confidence : float
        At which the runs will certify.
    random_state : int or str, optional
        The seed to publish; drawn afresh otherwise.

    Returns
    -------
    Suggestion
        Its ``protocol`` can be saved, given to ``--protocol``, or to an estimator
        (``LinearSpan(**protocol.parameters)``).

    Notes
    -----
    **Guarantees**

    None on the pilot rows: a window that was chosen on the rows it is applied to proves nothing.
    On other rows the window is as good as any that was fixed in advance.

    Examples
    --------
    >>> import numpy as np
    >>> from flagstone import LinearSpan, suggest_window
    >>> random = np.random.RandomState(1)
    >>> X = random.randint(0, 2, size=(6000, 12))
    >>> X[:, 11] = X[:, 0] ^ X[:, 5] ^ (random.random_sample(6000) < 0.01)
    >>> suggestion = suggest_window(X[:2000], random_state=2026)
    >>> print(suggestion)
    window 0.03817..0.06383 of the rows, in the middle of a plateau of dimension 11 (thresholds \
26..179 of 2,000 rows); to certify agreement ≥ 0.95: about 4,000 rows
    >>> span = LinearSpan(**suggestion.protocol.parameters).fit(X[2000:])
    >>> print(span.formula_)
    x0 ⊕ x5 ⊕ x11 = 0
    """
    asked = question or (SpanQuestion() if y is None else ParityQuestion(intercept=True))
    F, confidence = as_field(field), float(check_share("confidence", confidence))
    rows = F.rows(X)
    labels, classes = (None, None) if y is None else _elements(F, y)
    given = frame_names(X) if names is None else names
    columns = [f"x{i}" for i in range(width(rows))] if given is None else list(given)
    label = (getattr(y, "name", None) or "y") if asked.labelled else None
    encoding = Encoding.plain(F, columns, label=label, labels=classes)
    pipeline = Pipeline.of_rows(asked, encoding, rows, labels)
    summary = pipeline.summarize()

    def sample(most: int) -> Rows:
        some = slice(None, None, -(-len(rows) // most))
        return asked.lift(F, rows[some], None if labels is None else labels[some])

    return suggestion(
        summary.summary,
        lambda finding: pipeline.second_pass(finding, summary, confidence=confidence).second_pass,
        sample,
        rule=rule,
        question=asked,
        encoding=encoding,
        seed=fresh_seed() if random_state is None else Coins(random_state).seed,
        max_rows=max_rows,
        confidence=confidence,
    )


def _elements(field: Field, y: Any) -> tuple[Array, Array | None]:
    """Return labels as elements, and what 0, 1, … mean if labels had to be numbered."""
    try:
        return field.elements(y), None
    except InputError:
        if not np.ndim(y):
            raise
        labels = exact_column(y)
        fractions = labels.dtype.kind == "f" and bool((labels != np.floor(labels)).any())
        kinds = {type(value) for value in labels.tolist()}
        if fractions or missing_entries(labels).any() or len(kinds) > 1:
            raise
        classes = np.unique(labels)
        if field.order is None or len(classes) > field.order:
            raise
        return np.searchsorted(classes, labels).astype(field.dtype), classes


def _digits(share: float) -> float:
    """Four digits are enough, and easy to publish."""
    return float(f"{min(share, 0.9999):.4g}")
