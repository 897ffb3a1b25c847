"""Small parts of a page: lists with a limit, tables, texts to copy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from flagstone.markup import escape

#: The most lines of a list that are shown.
MANY = 200


def items(lines: Sequence[str], name: str, most: int = MANY) -> str:
    """Return lines of text as a list; of many the first are shown, and the rest is counted."""
    shown = "".join(f"<li>{escape(line)}</li>" for line in lines[:most])
    if len(lines) > most:
        shown += f'<li class="more">… and {len(lines) - most:,} more, in the saved file</li>'
    return f'<ul class="{name}" data-copy>{shown}</ul>'


def copied(text: str) -> str:
    """Return text as it is, in type of one width, with a button that copies it."""
    return f"<pre data-copy>{escape(text)}</pre>"


def folded(summary: str, body: str) -> str:
    """Return markup below a line of text that opens it."""
    return f"<details><summary>{escape(summary)}</summary>{body}</details>"


def table(head: Sequence[str], rows: Iterable[Sequence[str]], numbers: Sequence[int] = ()) -> str:
    """Return rows of markup as a table; columns of numbers are aligned to the right."""

    def cells(tag: str, row: Sequence[str]) -> str:
        return "".join(
            f'<{tag} class="number">{cell}</{tag}>' if i in numbers else f"<{tag}>{cell}</{tag}>"
            for i, cell in enumerate(row)
        )

    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    return scrolled(
        f"<table><thead><tr>{cells('th', head)}</tr></thead><tbody>{body}</tbody></table>"
    )


def scrolled(body: str) -> str:
    """Return markup that may be wider than the page."""
    return f'<div class="scroll">{body}</div>'


def bits(text: str, marks: frozenset[int] = frozenset()) -> str:
    """Return the bits of a frame, 0, 1 or ?, by byte and with marks.

    >>> bits("0000000011", frozenset({1}))
    '<span>0<mark>0</mark>000000</span> <span>11</span>'
    """
    text = text.replace(" ", "")
    marked = [f"<mark>{bit}</mark>" if i in marks else bit for i, bit in enumerate(text)]
    groups = ("".join(marked[i : i + 8]) for i in range(0, len(marked), 8))
    return " ".join(f"<span>{group}</span>" for group in groups)
