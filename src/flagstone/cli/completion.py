"""Completion scripts for shells, made by shtab from the table of verbs."""

from __future__ import annotations

import argparse

from flagstone.cli.console import OK, UsageError
from flagstone.cli.help import GENERAL
from flagstone.cli.verbs import VERBS
from flagstone.errors import MissingDependencyError

try:
    import shtab
except ImportError as error:
    raise MissingDependencyError(
        "completion scripts need shtab: pip install 'flagstone[completion]'"
    ) from error

SHELLS = ("bash", "zsh", "tcsh")
#: Values that are completed as names of files or directories.
_PATHS = {
    "DIRECTORY": shtab.DIRECTORY,
    **dict.fromkeys(("FILE", "FINDING", "FLAG", "FIRST", "SECOND"), shtab.FILE),
}


def command(shell: str) -> int:
    """Print the completion script of a shell."""
    if shell not in SHELLS:
        raise UsageError(f"--print-completion must be one of {', '.join(SHELLS)}, got {shell!r}")
    print(shtab.complete(_parser(), shell))
    return OK


def _parser() -> argparse.ArgumentParser:
    """Return the whole command line as one parser, which knows where files are meant."""
    parser = argparse.ArgumentParser("flagstone", add_help=False)
    for flags, text in GENERAL.items():
        names, _, _ = flags.partition(" SHELL")
        choices = {"choices": SHELLS} if "SHELL" in flags else {"action": "store_true"}
        parser.add_argument(*names.split(", "), help=text, **choices)
    verbs = parser.add_subparsers()
    for verb in VERBS.values():
        found = verb.parser()
        found.add_argument("-h", "--help", "--help-all", action="store_true", help="Show help")
        for action in found._actions:
            if action.metavar in _PATHS:
                setattr(action, "complete", _PATHS[action.metavar])  # noqa: B010
        verbs.add_parser(verb.name, parents=[found], add_help=False, help=verb.summary)
    return parser
