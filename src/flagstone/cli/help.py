"""The text of the help: one line for each option, in groups, with examples; and the manual page."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator

from flagstone._version import __version__
from flagstone.cli.console import BOLD, CYAN, painted
from flagstone.cli.parser import GROUPS, Option, Verb
from flagstone.cli.verbs import VERB_GROUPS, VERBS

ABOUT = "Replicable answers from tables and frames: two samples, one seed, the same rule."
GENERAL = {
    "-h, --help": "Show the options that matter most",
    "--help-all": "Show all options, and the keys of --json",
    "--version": "Show the version",
    "--print-completion SHELL": "Print a completion script for bash, zsh or tcsh",
    "--print-man": "Print the manual page, for man",
}
EXIT_CODES = {
    "0": "ok",
    "1": "error",
    "2": "wrong usage: an unknown option, a bad value, or one that does not apply",
    "3": "no answer: ⊥, a contradiction, or nothing that the rows support",
    "4": "a check failed, two findings differ, or an audit rejects a claim",
    "130": "stopped by Ctrl-C",
    "143": "stopped by SIGTERM",
}
#: What the environment says, for the manual page.
_ENVIRONMENT = {
    "NO_COLOR": "Any value turns colour off",
    "FLAGSTONE_CPU": "Kernels to use: python, portable, avx2 or avx512",
}
OVERVIEW_EXAMPLES = (
    "flagstone constraints examples/frames.txt -f bits --contamination .01",
    "flagstone learn examples/faults.csv -l fault --encode auto",
)
#: Columns of the names, and of a line.
_NAMES, _LINE = 28, 100


def overview(*, everything: bool = False) -> str:
    """Return the help of the whole command, with that of every verb if asked for."""
    lines = ["Usage: flagstone VERB [OPTIONS] ...", "", ABOUT]
    for group, verbs in VERB_GROUPS.items():
        lines += _table(group, ((verb.name, verb.summary) for verb in verbs), 13)
    lines += _table("Options", GENERAL.items())
    lines += _table("Exit codes", EXIT_CODES.items(), 6)
    lines += _examples(OVERVIEW_EXAMPLES)
    lines += ["", "flagstone VERB --help says more about a verb."]
    text = "\n".join(lines)
    if everything:
        helps = (verb_help(verb, everything=True) for verb in VERBS.values())
        text = "\n\n\n".join([text, *helps])
    return text


def verb_help(verb: Verb, *, everything: bool = False) -> str:
    """Return the help of a verb: its common options, or all of them and the keys of --json."""
    lines = [usage(verb), ""]
    for part in verb.description:
        lines += textwrap.wrap(part, _width())
    listed = verb.listed(everything=everything)
    for group, rows in option_tables(listed):
        lines += _table(group, rows)
    hidden = len(verb.options) - len(listed)
    if hidden:
        lines += ["", f"{hidden} more options: flagstone {verb.name} --help-all"]
    lines += _examples(verb.examples)
    if everything and verb.json_keys:
        lines += _table("Keys of --json", verb.json_keys.items())
    return "\n".join(lines)


def option_tables(options: Iterable[Option]) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield each group that has any of these options, with their usage and help."""
    options = list(options)
    for group in GROUPS:
        rows = [(option.usage, described(option)) for option in options if option.group == group]
        if rows:
            yield group, rows


def usage(verb: Verb) -> str:
    """Return the line that says how a verb is called."""
    needed = [f"{o.names[0]} {o.value}" for o in verb.options.values() if o.required]
    arguments = [o.usage for o in verb.options.values() if o.is_argument]
    return " ".join(["Usage: flagstone", verb.name, "[OPTIONS]", *needed, *arguments])


def described(option: Option) -> str:
    """Return the help of an option, with its default."""
    default = f"{option.default:g}" if isinstance(option.default, float) else option.default
    shown = option.value and default is not None
    return f"{option.help} (default: {default})" if shown else option.help


def _examples(examples: Iterable[str]) -> list[str]:
    return ["", painted("Examples:", BOLD, sys.stdout), *(f"  {example}" for example in examples)]


def _table(title: str, rows: Iterable[tuple[str, str]], names: int = _NAMES) -> Iterator[str]:
    """Yield a titled table of two columns."""
    yield ""
    yield painted(f"{title}:", BOLD, sys.stdout)
    for name, text in rows:
        first, *more = textwrap.wrap(text, max(20, _width() - names - 3)) or [""]
        if len(name) > names:
            yield f"  {painted(name, CYAN, sys.stdout)}"
            name = ""
        yield f"  {painted(f'{name:<{names}}', CYAN, sys.stdout)} {first}"
        for line in more:
            yield f"  {'':<{names}} {line}"


def _width() -> int:
    """Return how wide the help may be: a terminal that is narrow has its lines wrapped."""
    return min(_LINE, shutil.get_terminal_size().columns) if sys.stdout.isatty() else _LINE


def manual_page() -> str:
    """Return the manual page flagstone(1), as the macros of man read it."""
    lines = [f'.TH FLAGSTONE 1 "" "flagstone {__version__}" "User Commands"', ".nh", ".ad l"]
    lines += [".SH NAME", _roff(f"flagstone - {ABOUT[0].lower()}{ABOUT[1:].rstrip('.')}")]
    lines += [".SH SYNOPSIS", _roff("flagstone VERB [OPTIONS] ..."), ".br"]
    lines += [_roff("flagstone VERB --help | --help-all")]
    for group, verbs in VERB_GROUPS.items():
        lines += [f".SH {group.upper()}", *_entries((verb.name, verb.summary) for verb in verbs)]
    lines += [".SH OPTIONS", *_entries(GENERAL.items())]
    for verb in VERBS.values():
        lines += _manual_of(verb)
    lines += [".SH EXIT STATUS", *_entries(EXIT_CODES.items())]
    lines += [".SH ENVIRONMENT", *_entries(_ENVIRONMENT.items())]
    lines += [".SH EXAMPLES", *_verbatim(OVERVIEW_EXAMPLES)]
    return "\n".join(lines)


def _manual_of(verb: Verb) -> list[str]:
    """Return the section of a verb: usage, description, all options, examples, keys of --json."""
    lines = [f".SH FLAGSTONE {verb.name.upper()}", _roff(usage(verb).removeprefix("Usage: "))]
    for part in verb.description:
        lines += [".PP", _roff(part)]
    for group, rows in option_tables(verb.options.values()):
        lines += [f".SS {group}", *_entries(rows)]
    lines += [".SS Examples", *_verbatim(verb.examples)]
    return [*lines, ".SS Keys of \\-\\-json", *_entries(verb.json_keys.items())]


def _entries(rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    for name, text in rows:
        yield from (".TP", rf"\fB{_roff(name)}\fR", _roff(text))


def _verbatim(lines: Iterable[str]) -> list[str]:
    return [".nf", *map(_roff, lines), ".fi"]


def _roff(text: str) -> str:
    """Return text that man prints as it is: its own signs are escaped, others are named.

    >>> _roff("-f, --format: ⊥ or a\\\\b")
    '\\\\&\\\\-f, \\\\-\\\\-format: \\\\[u22A5] or a\\\\eb'
    """
    escaped = text.replace("\\", r"\e").replace("-", r"\-").replace("'", r"\(aq")
    named = "".join(c if c.isascii() else rf"\[u{ord(c):04X}]" for c in escaped)
    return rf"\&{named}"
