"""Captures that hold frames of several types, or frames that fit none.

- :class:`Capture` keeps rows while they are read: those that fit the equations, and those that do
  not, up to a budget;
- :func:`clusters` sorts what does not fit by the equations that it breaks;
- :func:`message_types` says which rows are of a type of their own, with a bound on false alarms.
"""

from flagstone.frames.captures.capture import MOST_ROWS, Capture, Cluster, clusters
from flagstone.frames.captures.evidence import FALSE_ALARMS
from flagstone.frames.captures.types import MOST_TYPES, MessageType, message_types

__all__ = [
    "FALSE_ALARMS",
    "MOST_ROWS",
    "MOST_TYPES",
    "Capture",
    "Cluster",
    "MessageType",
    "clusters",
    "message_types",
]
