"""Models and flags on disk: versioned, checksummed, written atomically, never executed.

A file is one JSON document (see :mod:`flagstone.models._container`). From version 2 on, older
versions load forever; newer, damaged and foreign files are refused with a reason.
"""

from flagstone.disk import atomic_write
from flagstone.disk import check_target as refuse_existing
from flagstone.models._container import VERSION, pack_document, read_document, write_document
from flagstone.models._layout import LAYOUTS, Layout
from flagstone.models._masks import frame_masks, mask_lines
from flagstone.models._model import Answer, Model, SummaryFile, load, save
from flagstone.models._span import SpanAnswer

__all__ = [
    "LAYOUTS",
    "VERSION",
    "Answer",
    "Layout",
    "Model",
    "SpanAnswer",
    "SummaryFile",
    "atomic_write",
    "frame_masks",
    "load",
    "mask_lines",
    "pack_document",
    "read_document",
    "refuse_existing",
    "save",
    "write_document",
]
