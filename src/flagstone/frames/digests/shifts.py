"""``xor_shift_bytes``: XORs of bytes, with some of their bits shifted.

Two routines of decoders share the name. One adds shifted copies of every second
byte; the other mixes the XOR of the bytes so far into its own high nibble after each byte.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from flagstone.algebra.fields import Array
from flagstone.answers.relations import rank
from flagstone.frames.digests.digest import Digest, holds, names_of, solved_by, span_text
from flagstone.frames.digests.frame import Frame
from flagstone.frames.digests.registers import CERTAIN, ranges

#: log2 of the masks, shifts and ranges that are tried.
_TRIED = 14
_IDENTITY = np.eye(8, dtype=np.uint8)


def shifted_of(frame: Frame, columns: tuple[int, ...]) -> Digest | None:
    """Name the ``xor_shift_bytes`` that stands in these columns; None if none does."""
    if len(columns) != 8:
        return None
    for start, end in ranges(frame, columns):
        data = [i for i in range(start, end) if i not in columns]
        free = 0 if len(data) % 8 or len(data) < 24 else rank(frame.directions[:, data])
        if 8 * free < CERTAIN + _TRIED:
            continue
        for text, blocks in (*_alternating(frame, columns, data), *_mixing(len(data) // 8)):
            matrix = np.zeros((8, frame.dim), dtype=np.uint8)
            matrix[:, data] = np.concatenate(blocks, axis=1)
            if holds(frame, columns, matrix):
                rule = solved_by(frame, columns, matrix)
                value = f"0x{int(''.join(map(str, rule.constant.tolist())), 2):02x}"
                names = tuple(frame.names[i] for i in columns)
                given = {"data": names_of(frame.names, data), "xorout": value, "routine": text}
                said = f"{text} over {span_text(frame.names, data)}"
                said += f", then ⊕ {value}" if rule.constant.any() else ""
                return Digest("keys", text, names, given, said, 8 * free, rule)
    return None


def _alternating(
    frame: Frame, columns: tuple[int, ...], data: list[int]
) -> Iterator[tuple[str, list[Array]]]:
    """Every second byte is added with copies of it, shifted up as the bits of a mask say."""
    parts = frame.directions[:, data].reshape(frame.n_free, -1, 8)
    even = np.bitwise_xor.reduce(parts[:, ::2], axis=1)
    rest = np.bitwise_xor.reduce(parts, axis=1) ^ frame.directions[:, list(columns)]
    masks = (np.arange(128)[np.newaxis] >> np.arange(7)[:, np.newaxis]) & 1
    # the highest bit of the check shows the mask: bit j of it adds bit 6 - j of the bytes
    fits = ((even[:, 1:].astype(np.int64) @ masks) & 1 == rest[:, :1]).all(axis=0)
    for mask in np.flatnonzero(fits).tolist():
        if mask:
            block = _IDENTITY.copy()
            for j in (j for j in range(7) if mask >> j & 1):
                block ^= np.eye(8, k=j + 1, dtype=np.uint8)
            blocks = [_IDENTITY if i % 2 else block for i in range(len(data) // 8)]
            yield f"xor_shift_bytes, shifts 0x{mask:02x} of every second byte", blocks


def _mixing(n_bytes: int) -> Iterator[tuple[str, list[Array]]]:
    """After each byte, the low nibble of r ⊕ (r shifted up) is added to the high nibble of r."""
    for shift in range(-4, 5):
        if shift:
            moved = (_IDENTITY ^ np.eye(8, k=shift, dtype=np.uint8))[4:]
            step = _IDENTITY.copy()
            step[:4] ^= moved
            blocks = [step]
            for _ in range(n_bytes - 1):
                blocks.insert(0, (step.astype(np.int64) @ blocks[0] & 1).astype(np.uint8))
            yield f"xor_shift_bytes, the nibble shifted by {shift}", blocks
