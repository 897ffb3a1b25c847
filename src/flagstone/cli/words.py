"""The words of the command line: a parameter of the library is an option here."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from flagstone.cli.runner import UsageError
from flagstone.errors import InputError, Parameter

__all__ = ["TAB", "TAB_AS_TYPED", "as_option", "parsed"]

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
}

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


def parsed(parse: Callable[..., _Value], *values: Any) -> _Value:
    """Read the value of an option; one that cannot be read is a mistake in the command."""
    try:
        return parse(*values)
    except InputError as error:
        raise UsageError(*error.args) from error
