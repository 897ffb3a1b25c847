"""The words of the command line: parameters as options, and the command to type again."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from flagstone.cli.runner import ARGUMENTS, UsageError
from flagstone.cli.verbs import OutputOptions
from flagstone.errors import InputError, Parameter

#: A tab cannot be typed into most shells; the command line takes (and shows) it spelled out.
TAB, TAB_AS_TYPED = "\t", r"\t"
#: Options that are not called as their parameter is.
_OPTIONS = {
    "fit_intercept": "--intercept",
    "max_pairs": "--pairs",
    "n_jobs": "--jobs",
    "overwrite": "--force",
    "random_state": "--seed",
}

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "ki": 1 << 10, "mi": 1 << 20, "gi": 1 << 30}
_SIZE = re.compile(r"(\d{1,18})\s*([kmg]i?|)b?", re.IGNORECASE)

_Value = TypeVar("_Value")


def as_option(parameter: Parameter) -> str:
    """Return a parameter, with its value if it has one, as it is typed.

    >>> from flagstone.errors import Parameter
    >>> as_option(Parameter("t_max")), as_option(Parameter("rule", "heavy"))
    ('--t-max', '--rule heavy')
    >>> as_option(Parameter("encode", {"level": "bits:4"})), as_option(Parameter("overwrite", True))
    ('--encode level=bits:4', '--force')
    """
    option = _OPTIONS.get(parameter.name, "--" + parameter.name.replace("_", "-"))
    value = parameter.value
    if value is None or value is True:
        return option
    if value is False:
        return f"{option[:2]}no-{option[2:]}"
    if isinstance(value, Mapping):
        value = [f"{key}={text}" for key, text in value.items()]
    values = value if isinstance(value, (list, tuple)) else [value]
    return " ".join(f"{option} {shlex.quote(str(v).replace(TAB, TAB_AS_TYPED))}" for v in values)


def size_of(option: str, text: str, *, least: int = 1) -> int:
    """Return a number of bytes as typed: 64MB, 256MiB, or plain.

    >>> size_of("--cache-size", "64MB"), size_of("--cache-size", "1 GiB")
    (64000000, 1073741824)
    """
    found = _SIZE.fullmatch(text.strip())
    size = -1 if found is None else int(found[1]) * _UNITS[found[2].lower()]
    if not least <= size < 1 << 63:
        raise UsageError(f"{option} must be a size such as 64MB or 256MiB, got {text!r}")
    return size


def parsed(parse: Callable[..., _Value], *values: Any) -> _Value:
    """Read the value of an option; one that cannot be read is a mistake in the command."""
    try:
        return parse(*values)
    except InputError as error:
        raise UsageError(*error.args) from error


#: Tabs, spelled out: they cannot be copied from a page.
_SPELLED = {TAB: TAB_AS_TYPED, f"--delimiter={TAB}": f"--delimiter={TAB_AS_TYPED}"}


def rerun_command(seed: str | None, outputs: OutputOptions | None = None) -> str:
    """Return the command line as typed, with the seed added if it was drawn afresh.

    With ``outputs`` it writes none of them: they exist by now, and are not to be replaced.
    """
    words = [_SPELLED.get(word, word) for word in ARGUMENTS]
    if outputs is not None:
        words = [word for word in words if word != "--force"]
        for name, value in (
            ("--output", outputs.output),
            ("-o", outputs.output),
            ("--report", outputs.report),
            ("--plot", outputs.plot),
        ):
            words = _without(words, name, value)
    end = words.index("--") if "--" in words else len(words)
    given = any(word == "--seed" or word.startswith("--seed=") for word in words)
    if seed is not None and not given:
        words[end:end] = ["--seed", seed]
    return shlex.join(["flagstone", *words])


def _without(words: list[str], name: str, value: str | None) -> list[str]:
    """Leave an option with this value out, in each of the ways to write it."""
    if value is None:
        return words
    kept: list[str] = []
    for word in words:
        if word == value and kept and kept[-1] == name:
            kept.pop()
        elif word not in (f"{name}={value}", f"{name}{value}"):
            kept.append(word)
    return kept
