"""The errors and warnings of flagstone, each in the caller's words."""

from __future__ import annotations

__all__ = [
    "BottomError",
    "FlagstoneError",
    "FormatError",
    "InputError",
    "MissingDependencyError",
    "ReplicabilityWarning",
    "WindowError",
]


class FlagstoneError(Exception):
    """Base class of every error that flagstone raises on purpose."""


class InputError(FlagstoneError, ValueError):
    """An input does not fit: the message names row, column, value and remedy."""


class WindowError(InputError):
    """The window of thresholds starts past the last set of the partition."""


class BottomError(FlagstoneError, ValueError):
    """A prediction was asked of a learner whose answer is ⊥ (no linear rule fits)."""


class FormatError(FlagstoneError, ValueError):
    """Bytes or a file that flagstone cannot read: foreign, corrupted or too new."""


class MissingDependencyError(FlagstoneError, ImportError):
    """An optional package is needed; the message says how to install it."""


class ReplicabilityWarning(UserWarning):
    """A promise that was asked for explicitly is not proven for this fit."""
