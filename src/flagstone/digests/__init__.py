"""Digests: what check equations over GF(2) say about frames, and what is known by a name.

- :class:`Layers`: constants, pairs, check bits and the rest;
- :class:`Digest`: what check bits are called, found by :func:`name_frame` and :func:`name_check`;
- :class:`Survey`: both, held against every row.
"""

from flagstone.digests.code import check_code
from flagstone.digests.decoder import decoder_code
from flagstone.digests.digest import Digest, span_text
from flagstone.digests.frame import Frame
from flagstone.digests.layers import Layers, Solved, propose
from flagstone.digests.naming import key_stream, name_check, name_frame
from flagstone.digests.relations import Relation
from flagstone.digests.sums import name_sums
from flagstone.digests.survey import MOST_COLUMNS, SAMPLE, Survey, surveyed

__all__ = [
    "MOST_COLUMNS",
    "SAMPLE",
    "Digest",
    "Frame",
    "Layers",
    "Relation",
    "Solved",
    "Survey",
    "check_code",
    "decoder_code",
    "key_stream",
    "name_check",
    "name_frame",
    "name_sums",
    "propose",
    "span_text",
    "surveyed",
]
