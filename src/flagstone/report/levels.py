"""The levels of a flag, each with what would be the answer there: a slider goes through them.

Without a script they are a list that unfolds; on paper, a table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from flagstone.algebra import Level, Subspace
from flagstone.answers import Constraints
from flagstone.coins import Coins
from flagstone.encoding import constant_text, news, worded
from flagstone.finding import Finding
from flagstone.guarantees import uncovered_bracket
from flagstone.plots import ScreeDisplay
from flagstone.plots.svg import BASE, TOP, ScreeDrawing
from flagstone.report.parts import items

#: The most levels that are listed, those next to the answer's.
_LEVELS = 300
#: Characters of equations in all levels together.
_CHARACTERS = 400_000
#: The bits of wider rows are not shown one by one.
_MOST_COLUMNS = 256
#: Equations of one level.
_EQUATIONS = 60
#: Entries of all matrices that are solved for this; a bound on time, not on size.
_ENTRIES = 40_000_000


@dataclass(frozen=True)
class LevelView:
    """What a page says of one level."""

    level: Level
    #: Left, right and height of the step in the drawing.
    place: tuple[float, float, float]
    #: Position of the slider for it: its middle, or the threshold that was drawn.
    stop: float
    #: Bounds on the number of rows outside; equal where they were counted.
    outside: tuple[int, int]
    is_chosen: bool
    #: The answer there, constants in one line; None where the page has no room for it.
    lines: Sequence[str] | None = field(default=None, repr=False)
    #: One character per bit: 0, 1, or ? where it varies; None over other fields.
    pattern: str | None = None


def level_views(finding: Finding, *, has_bits: bool = True) -> list[LevelView]:
    """Return the levels next to the answer's, with their answers as far as there is room.

    Examples
    --------
    >>> from flagstone.pipeline import rep_linear_span
    >>> X = [[1, 0, 1]] * 40 + [[0, 1, 0]] * 30 + [[0, 0, 1]]
    >>> finding = rep_linear_span(X, t_min=5, t_max=20, random_state=1)
    >>> for view in level_views(finding):
    ...     print(view.level.dim, view.level.first, view.pattern, view.lines, view.outside)
    3 1 ??? [] (0, 0)
    2 2 ??? ['x0 ⊕ x2 = 0'] (1, 3)
    1 31 ?0? ['x1 = 0', 'x0 ⊕ x2 = 0'] (31, 61)
    """
    flag, V, levels = finding.flag, finding.subspace, finding.stairs.levels
    if flag is None or V is None:
        return []
    chosen = next((i for i, level in enumerate(levels) if level.dim == V.dim), len(levels) - 1)
    nearest = sorted(range(len(levels)), key=lambda i: (abs(i - chosen), i))[:_LEVELS]
    scree = ScreeDisplay.of(finding)
    drawing = ScreeDrawing(scree)
    places = drawing.steps()
    answers: dict[int, tuple[Sequence[str], str | None]] = {}
    room = _CHARACTERS
    for i in nearest[: max(1, _ENTRIES // flag.dim**2)]:
        answers[i] = lines, _ = _answer(finding, flag.span_at(levels[i].first), has_bits)
        room -= sum(map(len, lines))
        if room < 0 and i != chosen:
            del answers[i]
            break
    counts, shards = flag.counts.tolist(), flag.n_shards
    exact = finding.rows.levels
    views = []
    for i in sorted(nearest):
        outside = uncovered_bracket(counts, levels[i].first, shards=shards)
        if exact is not None:
            outside = (exact[i], exact[i])
        is_chosen = levels[i].dim == V.dim
        stop = (places[i][0] + places[i][1]) / 2
        if is_chosen and scree.sets is not None and scree.threshold is not None:
            stop = drawing.x(scree.threshold)
        said = answers.get(i, (None, None))
        views.append(LevelView(levels[i], places[i], stop, outside, is_chosen, *said))
    return views


def _answer(finding: Finding, V: Subspace, has_bits: bool) -> tuple[Sequence[str], str | None]:
    """Return what the answer would be at a level, and its constants as a pattern of bits."""
    assert finding.seed is not None
    encoding = finding.encoding
    target = "y" if encoding.label is None else encoding.label.column
    answer = finding.question.read(V, Coins(finding.seed), names=encoding.names, target=target)
    pattern = None
    if (
        isinstance(answer, Constraints) and not answer.is_bottom
    ):  # constants fill one line, not many
        found = finding.news
        if found is None or V != finding.subspace:
            found = news(answer, encoding, search=False)
        constants = [constant_text(found.encoding, *pair) for pair in found.constants]
        lines = [", ".join(constants)] * bool(constants)
        lines += [worded(found.encoding, row) for row in found.rows]
        if has_bits and answer.field.order == 2 and answer.dim <= _MOST_COLUMNS:
            pattern = _pattern(answer)
    else:
        lines = list(replace(finding, answer=answer).lines)
    if len(lines) > _EQUATIONS:
        lines = [*lines[:_EQUATIONS], f"… and {len(lines) - _EQUATIONS:,} more"]
    return lines, pattern


def _pattern(answer: Constraints) -> str:
    """Return the constant bits; in reduced equations each is a row with a single 1."""
    bits = ["?"] * answer.dim
    for row, value in zip(answer.matrix, answer.rhs.tolist(), strict=True):
        if row.sum() == 1:
            bits[int(row.argmax())] = str(int(value))
    return "".join(bits)


def level_list(finding: Finding, *, has_bits: bool = True) -> tuple[str, str]:
    """Return the levels as a list, which a script turns into a slider, and what to know of it.

    With ``has_bits`` the constants of a level are shown as a pattern of bits.
    """
    views = level_views(finding, has_bits=has_bits)
    if len(views) < 2:
        return "", ""
    body = "".join(_item(finding, view) for view in views)
    return (
        f'<ol class="levels" data-top="{TOP:g}" data-base="{BASE:g}">{body}</ol>',
        f"<p>{''.join(_remarks(finding, views))}</p>",
    )


def _remarks(finding: Finding, views: Sequence[LevelView]) -> Iterator[str]:
    if finding.rows.levels is not None:
        yield "Rows outside each level were counted exactly, in the second reading."
    else:
        yield (
            "Rows outside each level are bounded by the flag (“at least – at most”): they "
            "were not counted, or the rows are too wide for that."
        )
    n_levels = len(finding.stairs.levels)
    if len(views) < n_levels:
        yield f" Of {n_levels:,} levels the {len(views):,} next to the answer’s are listed."
    told = sum(view.lines is not None for view in views)
    if told < len(views):
        yield (
            f" This page holds the equations of the {told:,} levels next to the answer’s: at most "
            f"{_CHARACTERS:,} characters, and of wide rows what is solved in little time."
        )


def _item(finding: Finding, view: LevelView) -> str:
    level, (left, right, height) = view.level, view.place
    low, high = view.outside
    sets = f"{level.first:,}" if level.multiplicity == 1 else f"{level.first:,} – {level.last:,}"
    count = f"{high:,}" if low == high else f"{low:,} – {high:,}"
    facts = [
        ("dimension", f"{level.dim:,}"),
        ("set index", sets),
        ("rows outside", count),
    ]
    if finding.question.kind in ("constraints", "span"):
        n_columns = finding.answer.dim + finding.question.ones
        implied = 0 if finding.news is None else finding.news.implied
        facts.insert(2, ("equations", f"{max(0, n_columns - level.dim - implied):,}"))
        facts[-1] = ("rows break it" if high != 1 else "row breaks it", count)
    stats = "".join(f'<span class="stat"><b>{text}</b> {name}</span>' for name, text in facts)
    chosen = " chosen" if view.is_chosen else ""
    body = ""
    if view.pattern is not None:
        octets = (view.pattern[i : i + 8] for i in range(0, len(view.pattern), 8))
        body += f'<p class="bits pattern"><span>{"</span> <span>".join(octets)}</span></p>'
    if view.lines is None:
        body += '<p class="hint">No room for its equations in this page.</p>'
    elif view.lines:
        body += items(view.lines, "equations")
    else:
        body += '<p class="hint">No equation holds: every row fits.</p>'
    mark = '<span class="stat tag">the answer</span>' if view.is_chosen else ""
    place = (
        f'data-left="{left:.1f}" data-right="{right:.1f}" data-height="{height:.1f}" '
        f'data-stop="{view.stop:.1f}"'
    )
    return (
        f'<li class="level{chosen}" {place}><details{" open" if chosen else ""}>'
        f"<summary>{stats}{mark}</summary>{body}</details></li>"
    )
