"""Small pieces of a page: lists that say where they end, tables, texts to be copied."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

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


def unfolding(listed: Sequence[Any], most: int, show: Callable[[Sequence[Any]], str]) -> str:
    """Return the first of a list as markup; the others unfold below."""
    if len(listed) <= most:
        return show(listed)
    return show(listed[:most]) + folded(f"{len(listed) - most} more", show(listed[most:]))


def misfit_list(listed: Sequence[str]) -> str:
    """Return rows that do not fit, which are markup, as a list."""
    return f'<ol class="misfits">{"".join(listed)}</ol>'


def table(head: Sequence[str], rows: Iterable[Sequence[str]], numbers: Sequence[int] = ()) -> str:
    """Return rows of markup as a table; columns of numbers are aligned to the right."""

    def cells(tag: str, row: Sequence[str]) -> str:
        return "".join(
            f'<{tag} class="number">{cell}</{tag}>' if i in numbers else f"<{tag}>{cell}</{tag}>"
            for i, cell in enumerate(row)
        )

    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    return (
        f'<div class="scroll"><table><thead><tr>{cells("th", head)}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )
