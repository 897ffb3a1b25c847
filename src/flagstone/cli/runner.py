"""Run a verb: from the words of the command line to an exit code, and errors in one line."""

from __future__ import annotations

import contextlib
import importlib
import signal
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from flagstone._version import __version__
from flagstone.cli.console import (
    ARGUMENTS,
    AT_END,
    BOTTOM,
    ERROR,
    OK,
    USAGE,
    Interrupted,
    Plain,
    UsageError,
    discard,
    option_here,
    output_paths,
    owners,
    print_json,
    print_stderr,
    safe,
    spare_stderr,
    spell_out,
)
from flagstone.cli.help import GENERAL, manual_page, overview, verb_help
from flagstone.cli.parser import CommandLineError, HelpAsked
from flagstone.cli.process import (
    at_work,
    is_memory_error,
    lacks_memory,
    memory_sentence,
    signal_seen,
)
from flagstone.cli.verbs import VERBS
from flagstone.disk.writing import is_stdout, remove_temp_files
from flagstone.errors import (
    BottomError,
    FlagstoneError,
    InputError,
    InputWarning,
    Parameter,
    ReplicabilityWarning,
    WindowError,
)
from flagstone.wording import closest

#: The module that prints completion scripts.
COMPLETION = "flagstone.cli.completion"


def run(words: Sequence[str]) -> int:
    """Run the command line; return its exit code."""
    spell_out()
    ARGUMENTS[:] = words
    try:
        return _guarded(lambda: _run(list(words)))
    finally:
        ARGUMENTS.clear()
        _settle_output()


def _run(words: list[str]) -> int:
    """Print what is asked for before any verb, or call the verb."""
    first, *rest = words or ["--help"]
    if first == "help":  # flagstone help VERB
        first, *rest = [*rest, "--help"]
    if first in ("-h", "--help", "--help-all"):
        print(overview(everything=first == "--help-all"))
        return OK if words else USAGE
    if first == "--version":
        print(f"flagstone {__version__}")
        return OK
    if first == "--print-man":
        print(manual_page())
        return OK
    if first.partition("=")[0] == "--print-completion":
        shell = first.partition("=")[2] or "".join(rest[:1])
        return int(importlib.import_module(COMPLETION).command(shell))
    if first not in VERBS:
        kind = "option" if first.startswith("-") else "verb"
        known = VERBS if kind == "verb" else [flag.split()[-1] for flag in GENERAL]
        raise CommandLineError(f"there is no {kind} {first!r}{closest(first, known, 1)}")
    verb = VERBS[first]
    try:
        options = verb.parse(rest)
    except HelpAsked as asked:
        print(verb_help(verb, everything=asked.everything))
        return OK
    if lacks_memory():
        raise MemoryError
    # messages must not mix with an output that goes to standard output
    aside = any(map(is_stdout, output_paths(options)))
    with contextlib.redirect_stdout(Plain(sys.stderr if aside else sys.stdout)):
        module, _, name = verb.function.partition(":")
        return int(getattr(importlib.import_module(module), name)(options))


def _guarded(function: Callable[[], int]) -> int:
    """Do some work; an expected failure becomes one line on stderr and an exit code."""
    try:
        with warnings.catch_warnings(), at_work():
            warnings.simplefilter("default")
            # those of libraries are for developers
            for kind in (DeprecationWarning, PendingDeprecationWarning):
                warnings.simplefilter("ignore", kind)
            warnings.showwarning = _Warnings()
            code = OK
            try:
                with AT_END:
                    code = function()
                sys.stdout.flush()
                return code
            except BrokenPipeError:
                # head or less has read enough: that is no error, and changes no answer
                discard(sys.stdout)
                return code
            except BaseException as error:
                remove_temp_files()  # of a block that the signal struck before it could tidy up
                said = _explained(error)
                _settle_output()
                return _complain(*said)
    except KeyboardInterrupt as stop:  # a signal that struck between the work and its end
        return _complain(*_explained(stop))


def _settle_output() -> None:
    """Flush standard output; discard what cannot be printed."""
    try:
        (sys.__stdout__ or sys.stdout).flush()
    except OSError:
        discard(sys.stdout)
    except ValueError:  # it is closed
        pass


def _explained(error: BaseException) -> tuple[object, int]:
    """Return the message of an error, and the exit code; raise it again if it is a bug."""
    if isinstance(error, Interrupted):
        return error, 128 + getattr(error.__cause__, "number", signal.SIGINT)
    if isinstance(error, KeyboardInterrupt) or signal_seen() is not None:
        # code that the signal interrupted may have raised another error
        return "interrupted", 128 + (signal_seen() or signal.SIGINT)
    if isinstance(error, CommandLineError):
        having = owners(error.option)
        here = f"there is no option {error.option} here; it belongs to {', '.join(having)}"
        return f"{here if having else error}; see: {error.path} --help", USAGE
    if isinstance(error, UsageError):
        return error, USAGE
    if isinstance(error, BottomError):
        return error, BOTTOM
    if isinstance(error, FlagstoneError):
        # a message that begins with a parameter is about the command, not about the data
        about = isinstance(error, InputError) and not isinstance(error, WindowError)
        misuse = about and error.args and isinstance(error.args[0], Parameter)
        return error, USAGE if misuse else ERROR
    if is_memory_error(error):
        return memory_sentence(), ERROR
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror or error}", ERROR
    raise error


def _complain(error: object, code: int) -> int:
    text = _worded(error)
    if "--json" in ARGUMENTS:
        found = {"error": safe(" ".join(text.split())), "exit_code": code}
        with spare_stderr():
            print_json(found, sys.stderr, indent=None)
    else:
        print_stderr(text if code > 128 else f"error: {text}")
    return code


def _worded(message: object) -> str:
    """Return a message in the words of the command line."""
    if isinstance(message, (FlagstoneError, InputWarning, ReplicabilityWarning)):
        return message.worded(option_here)
    return str(message)


class _Warnings:
    """Prints each warning once: a library may repeat one in every run of an audit."""

    def __init__(self) -> None:
        self._said: set[str] = set()

    def __call__(self, message: Warning | str, *_: Any, **__: Any) -> None:
        text = _worded(message)
        if signal_seen() is None and text not in self._said:
            self._said.add(text)
            print_stderr(f"warning: {text}")
