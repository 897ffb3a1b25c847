"""Findings and flags on disk: versioned, checksummed, written atomically, never executed.

A file is one JSON document (see :mod:`flagstone.store._container`). Newer, damaged and foreign
files are refused with a reason.
"""

from flagstone.store._container import VERSION, pack_document, read_document, write_document
from flagstone.store._files import SummaryFile, is_saved, load, save

__all__ = [
    "VERSION",
    "SummaryFile",
    "is_saved",
    "load",
    "pack_document",
    "read_document",
    "save",
    "write_document",
]
