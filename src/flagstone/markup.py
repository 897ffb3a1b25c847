"""HTML for notebooks and pages: small cards without scripts, in the colours of their page.

Everything that may come from data is escaped here, and only here. Cards inherit text colour and
background, so that they are legible in light and in dark themes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape as escape_html
from typing import Any

#: How a badge is tinted, by its kind.
BADGES = {"proven": "0,158,115", "open": "213,94,0", "plain": "128,128,128"}

#: At most this many lines are shown.
_MANY = 20
#: At most this many characters of a line.
_WIDE = 200

_BORDER = "1px solid rgba(128,128,128,.4)"
_CELL = "text-align:left;vertical-align:top;padding:.15em 1em .15em 0;background:none;border:0"
_CARD = f"border:{_BORDER};border-radius:6px;padding:.5em .8em;margin:.2em 0;max-width:60em"


def escape(text: str) -> str:
    """Return text from data for a page: markup stays text, control characters are shown.

    >>> print(escape("<b>\\x07"))
    &lt;b&gt;\\x07
    """
    shown = (
        c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text
    )
    return escape_html("".join(shown))


def card(title: str, *parts: str) -> str:
    """Return parts, which are markup, in a frame below a title, which is text.

    >>> "&lt;i&gt;" in card("A <i>", listing(["x0 = 1"]))
    True
    """
    head = f'<div style="font-weight:600">{escape(_cut(title))}</div>'
    return f'<div style="{_CARD};overflow-x:auto">{head}{"".join(parts)}</div>'


def table(
    rows: Iterable[Sequence[str]], head: Sequence[str] = (), badges: Sequence[str] = ()
) -> str:
    """Return rows of texts as a table; the first cell of each names it.

    With ``badges``, one kind of :data:`BADGES` for each row, the last cell is a badge.
    """
    every = list(rows)
    lines = [_row(head, "th", ";font-weight:600")] if head else []
    for i, row in enumerate(every[:_MANY]):
        if not badges:
            lines.append(_row(row, "td"))
            continue
        tint = f"background:rgba({BADGES[badges[i]]},.22);border-radius:4px;padding:0 .4em"
        badge = f'<span style="{tint};white-space:nowrap">{escape(row[-1])}</span>'
        lines.append(_row(row[:-1], "td", last=badge))
    return (
        f'<table style="border-collapse:collapse;border:0;margin:.3em 0">{"".join(lines)}</table>'
        + _more(len(every))
    )


def listing(lines: Sequence[str]) -> str:
    """Return lines of text as they are, in type of one width; of many the first are shown."""
    style = "margin:.3em 0;padding:0;background:none;color:inherit;overflow-x:auto;white-space:pre"
    shown = "\n".join(escape(_cut(line)) for line in lines[:_MANY])
    return f'<pre style="{style}">{shown}</pre>{_more(len(lines))}'


def matrix(rows: Any, say: Callable[[Any], str]) -> str:
    """Return the first rows and columns of a matrix, each entry as ``say`` writes it."""
    shown = rows[:_MANY, : _WIDE // 2].tolist()
    lines = [" ".join(map(say, row)) + " …" * (rows.shape[1] > len(row)) for row in shown]
    return listing(lines) + _more(len(rows)) if lines else ""


def _row(cells: Sequence[str], tag: str, style: str = "", last: str | None = None) -> str:
    marked = [escape(_cut(cell, 5 * _WIDE)) for cell in cells] + ([] if last is None else [last])
    inner = "".join(f'<{tag} style="{_CELL}{style}">{cell}</{tag}>' for cell in marked)
    return f'<tr style="background:none">{inner}</tr>'


def _more(number: int) -> str:
    return f"<div>… and {number - _MANY:,} more</div>" if number > _MANY else ""


def _cut(text: str, most: int = _WIDE) -> str:
    return text if len(text) <= most else f"{text[:most]}…"
