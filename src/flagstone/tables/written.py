"""Rows and masks over GF(2) as frames: in the order and the notation of the files."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from flagstone.algebra.fields import Array
from flagstone.errors import InputError, Parameter
from flagstone.finding import Finding
from flagstone.tables.frames import reorder
from flagstone.tables.opening import suffix_format


def frame_masks(finding: Finding) -> list[str]:
    """Return the answer as frames, ``{41}cfb9f00d648``, to be ANDed with frames as written.

    The first bit as written is the most significant one of the first digit, as in the files;
    a bit order that was chosen for reading is undone. The label, if there is one, is masked out.

    Examples
    --------
    >>> from flagstone import Finding
    >>> from flagstone.answers import ParityRule
    >>> frame_masks(Finding.of(ParityRule([1, 0, 0, 0, 1], 1)))
    ['{5}88 ^ 1']
    """
    rows, sides = finding.answer.bits
    masks = [frame_text(row) for row in as_written(finding, rows)]
    return [mask + side for mask, side in zip(masks, sides, strict=True)]


def as_written(finding: Finding, rows: Array) -> Array:
    """Return rows of bits by columns as bits of frames as they are written."""
    places, width = _places(finding)
    bits = np.zeros((len(rows), width), dtype=np.uint8)
    bits[:, places] = rows
    # every bit order is its own inverse
    order = dict(finding.provenance.get("reading") or {}).get("bit_order")
    return reorder(bits, str(order or "msb"))


def is_frames(finding: Finding) -> bool:
    """Say whether the rows are frames, whose bits mean something to people, or those of a table.

    >>> from flagstone import Finding
    >>> from flagstone.answers import Constraints
    >>> is_frames(Finding.of(Constraints([[1, 1]], [0])))
    False
    """
    known = dict(finding.provenance.get("reading") or {}).get("format")
    if known is None:
        names = [
            *finding.provenance.get("sources", ()),
            *(place[0] for place in finding.rows.places),
        ]
        known = next(map(suffix_format, map(Path, map(str, names))), None)
    return known in ("hex", "bits") or any(e.holds_frames for e in finding.encoding.encoders)


def _places(finding: Finding) -> tuple[list[int], int]:
    """Return the place of each feature in a frame, and the length of a frame."""
    encoders = finding.encoding.encoders
    if len(encoders) == 1 and encoders[0].holds_frames:
        n_bits = encoders[0].width
        return list(range(n_bits)), n_bits
    features = [e.column for e in encoders]
    label = finding.encoding.label
    in_frame = label is not None and re.fullmatch(r"x\d+", label.column) is not None
    known = {f"x{i}": i for i in range(len(features) + in_frame)}
    if not known.keys() >= set(features) or not all(e.is_plain for e in encoders):
        raise InputError(
            "masks in the order of frames need every bit of a frame as a column, x0, x1, …; "
            "use masks by columns instead: ",
            Parameter("as", "masks"),
        )
    return [known[name] for name in features], len(known)


def frame_text(row: Array) -> str:
    """Return the bits of a frame in the notation of files.

    >>> frame_text(np.array([1, 0, 0, 0, 1]))
    '{5}88'
    """
    text = "".join(str(int(bit)) for bit in row)
    n_digits = -(-len(text) // 4)
    return f"{{{len(text)}}}{int(text.ljust(4 * n_digits, '0'), 2):0{n_digits}x}"
