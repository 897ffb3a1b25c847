"""The words of the command line: a parameter of the library is an option here."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from flagstone.cli.runner import UsageError
from flagstone.errors import InputError, Parameter

#: A tab cannot be typed into most shells; the command line takes (and shows) it spelled out.
TAB, TAB_AS_TYPED = "\t", r"\t"
#: Options that are not called as their parameter is.
_OPTIONS = {
    "add": "--add",
    "fit_intercept": "--intercept",
    "max_pairs": "--pairs",
    "n_jobs": "--jobs",
    "overwrite": "--force",
    "random_state": "--seed",
    "take": "--max-rows",
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
