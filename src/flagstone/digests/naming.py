"""Naming: from the equations of frames to the digests that they carry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from flagstone.digests.crc import crc_of
from flagstone.digests.digest import Digest
from flagstone.digests.layers import Frame, Solved, windows
from flagstone.digests.lfsr import folded, lfsr_of
from flagstone.digests.parities import parities_inside, parity_of, xor_of
from flagstone.digests.registers import Register, layouts, registers
from flagstone.digests.relations import rank

__all__ = ["key_stream", "name_check", "name_frame"]

#: So many places of a check are tried.
_TRIED = 64
#: The narrowest register that is told from a parity.
_NARROWEST = 3


def name_check(frame: Frame, columns: Sequence[int]) -> Digest | None:
    """Name the digest that stands in these columns; None rather than a wrong name.

    A name is given only where it explains every check bit of every frame that obeys, and where
    the frames determine so many bits of the map that chance does not. The simplest is tried first:
    XOR and parities, then CRCs, LFSR digests, and keys that start again with every byte.
    """
    chosen = tuple(columns)
    simple = xor_of(frame, chosen) or parity_of(frame, chosen)
    if simple is not None or len(chosen) < _NARROWEST:
        return simple
    found: list[Register] = []
    if len(chosen) <= 32:
        for layout in layouts(frame, chosen):
            found += registers(frame, layout)
    return crc_of(frame, chosen, found) or lfsr_of(frame, chosen, found) or folded(frame, chosen)


def name_frame(frame: Frame) -> tuple[tuple[int, ...], Digest] | None:
    """Look for check bits that have a name: where the frame ends, then the most, then the last."""
    inside = parities_inside(frame)
    if inside is not None:
        columns = tuple(frame.names.index(name) for name in inside.columns)
        return columns, inside
    if not frame.own:
        return None
    end = min(frame.dim, -(-(frame.own[-1] + 1) // 8) * 8)
    if end < frame.dim:  # a frame that is repeated in the row: the copies explain nothing
        found = name_frame(frame.cut(end))
        if found is not None:
            return found[0], _widened(found[1], frame.dim)
    last = frame.own[-1]
    places = sorted(windows(frame), key=lambda w: (w[-1] != last, -len(w), -w[-1]))
    for columns in places[:_TRIED]:
        digest = name_check(frame, columns)
        if digest is not None:
            return columns, digest
    return None


def _widened(digest: Digest, dim: int) -> Digest:
    """Return a digest of the first columns as one of rows with more columns."""
    rule = digest.rule
    assert isinstance(rule, Solved)
    matrix = np.pad(rule.matrix, ((0, 0), (0, dim - rule.matrix.shape[1])))
    return replace(digest, rule=Solved(rule.columns, matrix, rule.constant))


def key_stream(frame: Frame, solved: Solved) -> Digest:
    """Return check bits without a name: what each data bit adds, in hexadecimal."""
    w = len(solved.columns)
    keys = {
        frame.names[i]: f"0x{int(''.join(map(str, column)), 2):0{-(-w // 4)}x}"
        for i, column in enumerate(solved.matrix.T.tolist())
        if any(column)
    }
    constant = f"0x{int(''.join(map(str, solved.constant)), 2):0{-(-w // 4)}x}"
    others = [i for i in range(frame.dim) if i not in set(solved.columns)]
    return Digest(
        "linear",
        None,
        tuple(frame.names[i] for i in solved.columns),
        {"keys": keys, "constant": constant},
        f"the sum of {len(keys)} keys, one for each data bit that is 1"
        + (f", ⊕ {constant}" if solved.constant.any() else ""),
        w * rank(frame.directions[:, others]),
        solved,
    )
