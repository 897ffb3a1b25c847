"""From a plain function to a verb: shared options in, exit codes and one-line errors out."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import inspect
import os
import signal
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any, get_type_hints

import typer

from flagstone.cli.output import Plain, spell_out, tell
from flagstone.cli.stopping import at_work, signal_seen
from flagstone.errors import (
    BottomError,
    FlagstoneError,
    InputError,
    InputWarning,
    Parameter,
    ReplicabilityWarning,
    WindowError,
)

#: What typer raises for words it does not know: the root of click's errors, which typer
#: imports or brings along, depending on its version.
MISUSE: Any = typer.BadParameter.__mro__[2]

#: The words of the command line, for the record that repeats a run.
ARGUMENTS: list[str] = []

#: What a verb holds, to be let go when it ends.
AT_END = contextlib.ExitStack()

OK, ERROR, USAGE, BOTTOM, FAILED = 0, 1, 2, 3, 4


class UsageError(FlagstoneError):
    """The command line itself is wrong: exit code 2."""


class Interrupted(Exception):
    """The user stopped the run; the message says how to go on, the cause by which signal."""


def run(words: Sequence[str]) -> int:
    """Run the command line; return its exit code."""
    from flagstone.cli.app import app

    spell_out()
    ARGUMENTS[:] = words
    try:
        with contextlib.redirect_stdout(Plain(sys.stdout)):
            code = app(args=list(words) or ["--help"], prog_name="flagstone", standalone_mode=False)
    except MISUSE as error:
        path = error.ctx.command_path if getattr(error, "ctx", None) is not None else "flagstone"
        code = _complain(f"{error.format_message().rstrip('.')}; see: {path} --help", USAGE)
    return int(code or OK) if words else USAGE


def verb(function: Callable[..., int]) -> Callable[..., None]:
    """Turn a function that returns an exit code into a Typer command.

    Parameters whose annotation is a record of :mod:`flagstone.cli.options` are spread into
    that record's fields on the command line.
    """
    hints = get_type_hints(function, include_extras=True)
    parameters: list[inspect.Parameter] = []
    records: dict[str, tuple[Any, list[str]]] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        hint = hints[name]
        if dataclasses.is_dataclass(hint):
            fields = dataclasses.fields(hint)
            records[name] = (hint, [field.name for field in fields])
            types = get_type_hints(hint, include_extras=True)
            parameters += [_keyword(f.name, types[f.name], f.default) for f in fields]
        else:
            parameters.append(_keyword(name, hint, parameter.default))

    @functools.wraps(function)
    def command(**given: Any) -> None:
        from flagstone.disk import is_stdout

        # what is said must not mix with an output that goes to standard output
        aside = any(is_stdout(given.get(name) or "") for name in ("output", "report", "plot"))
        for name, (record, names) in records.items():
            given[name] = record(**{field: given.pop(field) for field in names})
        with contextlib.redirect_stdout(Plain(sys.stderr) if aside else sys.stdout):
            raise typer.Exit(_guarded(function, given))

    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    return command


def _keyword(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    if default is dataclasses.MISSING:
        default = inspect.Parameter.empty
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
    )


def _guarded(function: Callable[..., int], given: dict[str, Any]) -> int:
    """Run a verb; every expected failure becomes one line on stderr and an exit code."""
    try:
        return _at_work(function, given)
    except KeyboardInterrupt as stop:  # a signal that struck between the work and its end
        return _complain(*_explained(stop))


def _tell_of_compiling() -> None:
    """Let the kernels say on standard error that a first run waits for their compiler."""
    import logging

    handler = logging.Handler()
    handler.emit = lambda record: tell(record.getMessage())  # type: ignore[method-assign]
    kernels = logging.getLogger("flagstone.kernels")
    kernels.addHandler(handler)
    kernels.setLevel(logging.INFO)


def _at_work(function: Callable[..., int], given: dict[str, Any]) -> int:
    from flagstone.disk.leftovers import remove_leftovers
    from flagstone.kernels import small

    if sys.argv[1:] == ARGUMENTS:  # a process of its own, with somebody who waits for it
        small.ALONE = True
        _tell_of_compiling()
    with warnings.catch_warnings(), at_work():
        warnings.simplefilter("default")
        warnings.showwarning = _show_warning
        try:
            with AT_END:
                code = function(**given)
            sys.stdout.flush()
            return code
        except BrokenPipeError:
            # the reader of our output (head, less) has enough: not an error of ours
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return OK
        except BaseException as error:
            remove_leftovers()  # of a block that the signal struck before it could tidy up
            return _complain(*_explained(error))


def _explained(error: BaseException) -> tuple[object, int]:
    """Return what to say of an error, and the exit code; raise it again if it is a bug."""
    if isinstance(error, Interrupted):
        return error, 128 + getattr(error.__cause__, "number", signal.SIGINT)
    if isinstance(error, KeyboardInterrupt) or signal_seen() is not None:
        # what the signal struck may have made another error of it
        return "interrupted", 128 + (signal_seen() or signal.SIGINT)
    if isinstance(error, UsageError):
        return error, USAGE
    if isinstance(error, BottomError):
        return error, BOTTOM
    if isinstance(error, FlagstoneError):
        # what begins with a parameter is about the command, whatever the data
        about = isinstance(error, InputError) and not isinstance(error, WindowError)
        misuse = about and error.args and isinstance(error.args[0], Parameter)
        return error, USAGE if misuse else ERROR
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror or error}", ERROR
    if isinstance(error, MemoryError):
        return "not enough memory; choose fewer columns or rows", ERROR
    raise error


def _complain(error: object, code: int) -> int:
    text = _worded(error)
    tell(text if code > 128 else f"error: {text}")
    return code


def _worded(message: object) -> str:
    """Return a message in the words of the command line."""
    from flagstone.cli.words import as_option

    if isinstance(message, (FlagstoneError, InputWarning, ReplicabilityWarning)):
        return message.worded(as_option)
    return str(message)


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    if signal_seen() is None:
        tell(f"warning: {_worded(message)}")
