"""From a plain function to a verb: shared options in, exit codes and one-line errors out."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import os
import sys
import warnings
from collections.abc import Callable
from typing import Any, get_type_hints

import typer

from flagstone.errors import (
    BottomError,
    FlagstoneError,
    InputError,
    Parameter,
    ReplicabilityWarning,
    WindowError,
)

__all__ = [
    "ARGUMENTS",
    "BOTTOM",
    "ERROR",
    "FAILED",
    "INTERRUPTED",
    "MISUSE",
    "OK",
    "USAGE",
    "UsageError",
    "misused",
    "verb",
]

#: What typer raises for words it does not know: the root of click's errors, which typer
#: imports or brings along, depending on its version.
MISUSE: Any = typer.BadParameter.__mro__[2]

#: The words of the command line, for the record that repeats a run.
ARGUMENTS: list[str] = []

OK, ERROR, USAGE, BOTTOM, FAILED, INTERRUPTED = 0, 1, 2, 3, 4, 130


class UsageError(FlagstoneError):
    """The command line itself is wrong: exit code 2."""


class Interrupted(Exception):
    """The user stopped the run; the message says how to go on."""


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
        for name, (record, names) in records.items():
            given[name] = record(**{field: given.pop(field) for field in names})
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
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.showwarning = _show_warning
        try:
            return function(**given)
        except UsageError as error:
            return _complain(error, USAGE)
        except BottomError as error:
            return _complain(error, BOTTOM)
        except FlagstoneError as error:
            # what begins with a parameter is about the command, whatever the data
            about = isinstance(error, InputError) and not isinstance(error, WindowError)
            misuse = about and error.args and isinstance(error.args[0], Parameter)
            return _complain(error, USAGE if misuse else ERROR)
        except BrokenPipeError:
            # the reader of our output (head, less) has enough: not an error of ours
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return OK
        except Interrupted as error:
            return _complain(error, INTERRUPTED)
        except KeyboardInterrupt:
            return _complain("interrupted; nothing was written", INTERRUPTED)
        except OSError as error:
            where = f"{error.filename}: " if error.filename else ""
            return _complain(f"{where}{error.strerror or error}; nothing was written", ERROR)
        except MemoryError:
            return _complain("not enough memory; choose fewer columns", ERROR)


def misused(error: Any) -> int:
    """Say in one line what is wrong with the words of a command, and where to look."""
    path = error.ctx.command_path if getattr(error, "ctx", None) is not None else "flagstone"
    text = " ".join(error.format_message().split()).rstrip(".")
    return _complain(f"{text}; see: {path} --help", USAGE)


def _complain(error: object, code: int) -> int:
    text = " ".join(_worded(error).split())
    print(f"flagstone: {'' if code == INTERRUPTED else 'error: '}{text}", file=sys.stderr)
    return code


def _worded(message: object) -> str:
    """Return a message in the words of the command line."""
    from flagstone.cli.words import as_option

    if isinstance(message, (FlagstoneError, ReplicabilityWarning)):
        return message.worded(as_option)
    return str(message)


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    text = " ".join(_worded(message).split())
    print(f"flagstone: warning: {text}", file=sys.stderr)
