"""The reference of the command line, read off the table of verbs, so that it cannot go stale."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from flagstone.cli import help
from flagstone.cli.parser import Verb
from flagstone.cli.verbs import VERB_GROUPS, VERBS

PAGE = "verbs"
MARK = "<!-- verbs -->"


def _plain(text: str) -> str:
    """Keep a cell of a table in one cell, and its signs as they are."""
    for sign in "\\*_<>[]{}$":
        text = text.replace(sign, f"\\{sign}")
    return " ".join(text.split()).replace("|", "\\|")


def _table(cells: Mapping[str, str], head: str) -> Iterator[str]:
    """Yield a table of two columns, the second one plain text."""
    yield f"| {head} | meaning |"
    yield "|---|---|"
    yield from (f"| {left} | {_plain(right)} |" for left, right in cells.items())
    yield ""


def _verb(verb: Verb) -> Iterator[str]:
    """Yield what the page says about a verb."""
    yield f"## {verb.name}\n"
    yield from (f"{_plain(part)}\n" for part in verb.description)
    yield f"```text\n{help.usage(verb).removeprefix('Usage: ')}\n```\n"
    yield "```console"
    yield from (f"$ {example}" for example in verb.examples)
    yield "```\n"
    for group, rows in help.option_tables(verb.options.values()):
        yield f"**{group}**\n"
        yield from _table({f"`{usage}`": text for usage, text in rows}, "option")
    yield "**Keys of `--json`**\n"
    # names are marked, but not what is in (…)
    marked = {re.sub(r"[a-z_]+(?![^(]*[)])", r"`\g<0>`", key): key for key in verb.json_keys}
    yield from _table({key: verb.json_keys[name] for key, name in marked.items()}, "key")


def reference() -> str:
    """Return exit codes, and every verb with its options, examples and JSON keys, as Markdown."""
    lines = [f"{_plain(help.ABOUT)}\n"]
    for group, verbs in VERB_GROUPS.items():
        lines.append(f"**{group}**\n")
        lines += _table({f"[`{verb.name}`](#{verb.name})": verb.summary for verb in verbs}, "verb")
    lines.append("**Options of the command itself**\n")
    lines += _table({f"`{flags}`": text for flags, text in help.GENERAL.items()}, "option")
    lines.append("**Exit codes**\n")
    lines += _table(help.EXIT_CODES, "exit code")
    for verb in VERBS.values():
        lines += _verb(verb)
    return "\n".join(lines)


def fill(app: Any, name: str, source: list[str]) -> None:
    """Put the reference where the page asks for it."""
    if name == PAGE:
        source[0] = source[0].replace(MARK, reference())


def setup(app: Any) -> dict[str, bool]:
    """Fill the page when it is read."""
    app.connect("source-read", fill)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
