"""From the words of Python to those of the command line: t_min is --t-min here."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator

from flagstone.cli.runner import UsageError
from flagstone.errors import InputError

__all__ = ["in_options", "option_values"]

_WORDS = (
    (re.compile(r"\bt_max=\"paper\""), "--t-max paper"),
    (re.compile(r"\brule=\"(\w+)\""), r"--rule \1"),
    (re.compile(r"^(rho|eps|delta|dim|rule|contamination|field)(?= (?:must|×))"), r"--\1"),
    (re.compile(r"(?<!-)\bt_(min|max)\b"), r"--t-\1"),
    (re.compile(r"\bcontamination=$"), "--contamination"),
)


def in_options(text: str) -> str:
    """Return a message about parameters as one about options.

    >>> in_options('t_max="paper" is for Algorithm 1: use it with rule="heavy", or drop t_max')
    '--t-max paper is for Algorithm 1: use it with --rule heavy, or drop --t-max'
    >>> in_options("rho must lie strictly between 0 and 1, got 2")
    '--rho must lie strictly between 0 and 1, got 2'
    """
    for pattern, replacement in _WORDS:
        text = pattern.sub(replacement, text)
    return text


@contextlib.contextmanager
def option_values(*, usage: bool = True) -> Iterator[None]:
    """Say what is wrong with parameters in the words of options.

    With ``usage`` the values themselves are wrong, whatever the data: a usage error. Only
    for code whose messages hold nothing that came from data.
    """
    try:
        yield
    except InputError as error:
        text = in_options(str(error))
        raise (UsageError(text) if usage else type(error)(text)) from error
