"""Findings and flags on disk: versioned, checksummed, written atomically, never executed.

A file is one JSON document (see :mod:`flagstone.models._container`). Newer, damaged and foreign
files are refused with a reason.
"""

from flagstone.models._container import VERSION, pack_document, read_document, write_document
from flagstone.models._files import SummaryFile, is_saved, load, save
from flagstone.models._masks import as_written, frame_code, frame_masks, frame_text, row_texts

__all__ = [
    "VERSION",
    "SummaryFile",
    "as_written",
    "frame_code",
    "frame_masks",
    "frame_text",
    "is_saved",
    "load",
    "pack_document",
    "read_document",
    "row_texts",
    "save",
    "write_document",
]
