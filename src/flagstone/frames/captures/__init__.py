"""Captures: the frames of files, and the types among them.

- :func:`read_capture` reads the frames of files, in any of :data:`FORMATS`;
- :func:`message_types` says which rows are of a type of their own, with a bound on false alarms.
"""

from flagstone.frames.captures.capture import Capture, length_text, read_capture
from flagstone.frames.captures.formats import FORMATS
from flagstone.frames.captures.types import FALSE_ALARMS, MessageType, message_types

__all__ = [
    "FALSE_ALARMS",
    "FORMATS",
    "Capture",
    "MessageType",
    "length_text",
    "message_types",
    "read_capture",
]
