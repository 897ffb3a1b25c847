"""The errors and warnings of flagstone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter in a message, with or without a value.

    Python users read its name in Python; the command line turns ``t_max`` into ``--t-max``.

    >>> print(Parameter("t_max"), Parameter("rule", "heavy"), sep=" / ")
    t_max / rule='heavy'
    """

    name: str
    value: Any = None

    def __str__(self) -> str:
        return self.name if self.value is None else f"{self.name}={self.value!r}"


class _Worded(Exception):
    """A message made of texts and parameters, worded by the interface that shows it."""

    def __str__(self) -> str:
        return self.worded(str)

    def worded(self, say: Callable[[Parameter], str]) -> str:
        """Return the message with every parameter as ``say`` puts it.

        >>> error = InputError(Parameter("t_max"), " must be positive")
        >>> str(error), error.worded(lambda p: "--" + p.name.replace("_", "-"))
        ('t_max must be positive', '--t-max must be positive')
        """
        return "".join(say(p) if isinstance(p, Parameter) else str(p) for p in self.args)


class FlagstoneError(_Worded):
    """Base class of every error that flagstone raises on purpose."""


class InputError(FlagstoneError, ValueError):
    """An input does not fit: the message names row, column, value and remedy."""


class CaptureError(InputError):
    """A file may be a capture, with times or identifiers beside its frames.

    The last part of the message says what reads it.
    """


class EntryTypeError(InputError, TypeError):
    """An entry is not a number."""


class WindowError(InputError):
    """No threshold can be drawn: the window ends before it begins, or past the number of rows."""


class BottomError(FlagstoneError, ValueError):
    """The answer predicts nothing: it is ⊥, or a rule that only the coins chose."""


class FormatError(FlagstoneError, ValueError):
    """Bytes or a file that flagstone cannot read: foreign, corrupted or too new."""


class MissingDependencyError(FlagstoneError, ImportError):
    """An optional package is needed; the message says how to install it."""


class InputWarning(_Worded, UserWarning):
    """An input can be read, but probably does not mean what was intended."""


class ReplicabilityWarning(_Worded, UserWarning):
    """A promise that was asked for explicitly is not proven for this fit."""
