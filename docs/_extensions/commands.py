"""The reference of the command line, read off the program itself, so that it cannot go stale."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

PAGE = "verbs"
MARK = "<!-- verbs -->"


def _plain(text: str) -> str:
    """Keep a cell of a table in one cell, and its signs as they are."""
    for sign in "\\*_<>[]{}$":
        text = text.replace(sign, f"\\{sign}")
    return " ".join(text.split()).replace("|", "\\|")


def _options(command: Any, context: Any) -> Iterator[str]:
    """Yield arguments and options in their groups, each group a table."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for option in command.params:
        record = option.get_help_record(context)
        if record is not None:
            panel = option.rich_help_panel or option.param_type_name.capitalize() + "s"
            groups.setdefault(panel, []).append(record)
    for name, records in groups.items():
        yield f"**{name}**\n"
        yield "| | |"
        yield "|---|---|"
        for words, text in records:
            yield f"| `{words.replace('|', '/')}` | {_plain(text)} |"
        yield ""


def _verb(name: str, summary: str, command: Any) -> Iterator[str]:
    context = command.make_context(name, [], resilient_parsing=True)
    yield f"## {name}\n"
    text = inspect.cleandoc(command.help or summary)
    yield from (f"{_plain(part)}\n" for part in text.split("\n\n"))
    usage = " ".join(command.collect_usage_pieces(context))
    yield f"```text\nflagstone {name} {usage}\n```\n"
    yield "```console"
    yield from (f"$ {example}" for example in command.examples)
    yield "```\n"
    yield from _options(command, context)
    if command.json_keys:
        yield "**Keys of `--json`**\n"
        yield "| key | |"
        yield "|---|---|"
        for key, meaning in command.json_keys.items():
            marked = re.sub(r"[a-z_]+(?![^(]*[)])", r"`\g<0>`", key)  # but not what is in (…)
            yield f"| {marked} | {_plain(meaning)} |"
        yield ""


def reference() -> str:
    """Return exit codes, and every verb with its options, examples and JSON keys, as Markdown."""
    import typer

    from flagstone.cli import VERBS
    from flagstone.cli.app import app

    group: Any = typer.main.get_command(app)
    context = group.make_context("flagstone", [], resilient_parsing=True)
    lines = [_plain(part) + "\n" for part in inspect.cleandoc(group.help).split("\n\n")]
    lines += ["| verb | |", "|---|---|"]
    lines += [f"| [`{name}`](#{name}) | {_plain(text)} |" for name, text in VERBS.items()]
    lines.append("")
    for name, summary in VERBS.items():
        lines += _verb(name, summary, group.get_command(context, name))
    return "\n".join(lines)


def fill(app: Any, name: str, source: list[str]) -> None:
    """Put the reference where the page asks for it."""
    if name == PAGE:
        source[0] = source[0].replace(MARK, reference())


def setup(app: Any) -> dict[str, bool]:
    """Fill the page when it is read."""
    app.connect("source-read", fill)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
