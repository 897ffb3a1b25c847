"""Digests: what check equations over GF(2) say about frames, and what is known by a name.

- :class:`Layers`: constants, pairs, check bits and the rest;
- :class:`Digest`: what check bits are called, found by :func:`name_frame` and :func:`name_check`;
- :func:`search`: the digests of rows, in all levels of their flag;
- :class:`DigestAnalysis`: both, held against every row.
"""

from flagstone.frames.digests.code import frame_code
from flagstone.frames.digests.decoder import decoder_code
from flagstone.frames.digests.digest import Digest, span_text
from flagstone.frames.digests.frame import Frame, Relation
from flagstone.frames.digests.layers import Layers, propose
from flagstone.frames.digests.naming import key_stream, name_check, name_frame
from flagstone.frames.digests.rules import Solved
from flagstone.frames.digests.search import (
    MOST_COLUMNS,
    SAMPLE,
    DigestAnalysis,
    analyze,
    search,
)
from flagstone.frames.digests.sums import name_sums

__all__ = [
    "MOST_COLUMNS",
    "SAMPLE",
    "Digest",
    "DigestAnalysis",
    "Frame",
    "Layers",
    "Relation",
    "Solved",
    "analyze",
    "decoder_code",
    "frame_code",
    "key_stream",
    "name_check",
    "name_frame",
    "name_sums",
    "propose",
    "search",
    "span_text",
]
