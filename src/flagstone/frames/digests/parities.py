"""Parities: XORs of bytes or nibbles, also of shifted ones, and parity bits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from flagstone.algebra import Array
from flagstone.frames.digests.digest import (
    Digest,
    explained,
    hex_text,
    linear_digest,
    names_of,
    number,
    solved_by,
    span_text,
)
from flagstone.frames.digests.frame import Frame, rank
from flagstone.frames.digests.registers import CERTAIN, data_ranges

_UNITS = {4: "nibble", 8: "byte", 16: "16-bit word", 24: "24-bit word", 32: "32-bit word"}
#: The fewest bits that a name must be held against: 2^6 ranges, units and orders are tried.
_CONVINCING = CERTAIN + 6
#: log2 of the masks, shifts and ranges that are tried.
_SHIFTS = 14
_IDENTITY = np.eye(8, dtype=np.uint8)


def xor_of(frame: Frame, columns: tuple[int, ...]) -> Digest | None:
    """Name the XOR of bytes, nibbles or words that stands in these columns; None if it does not."""
    w = len(columns)
    for data in data_ranges(frame, columns) if w in _UNITS else ():
        if len(data) % w or len(data) <= w:
            continue
        rule = explained(frame, columns, data, np.tile(np.eye(w), len(data) // w), _CONVINCING)
        if rule is None or n_added(frame.directions[:, data].reshape(frame.n_free, -1, w)) < 2:
            continue
        constant = hex_text(number(rule.constant), w)
        formula = f"the XOR of the {_UNITS[w]}s of {span_text(frame.names, data)}"
        formula += f" ⊕ {constant}" if rule.constant.any() else ""
        given = {"unit": w, "constant": constant}
        return linear_digest(frame, "xor", f"XOR of {_UNITS[w]}s", rule, data, formula, given)
    return None


def n_added(units: Array) -> int:
    """Count units of directions, shape (r, n, w), that vary; two equal ones add nothing."""
    shapes = Counter(unit.tobytes() for unit in units.transpose(1, 0, 2) if unit.any())
    return sum(n % 2 for n in shapes.values())


def parity_of(frame: Frame, columns: tuple[int, ...]) -> Digest | None:
    """Name check bits that are the parities of as many bytes or nibbles, or of everything."""
    w = len(columns)
    for data in data_ranges(frame, columns):
        size = len(data) // w
        if len(data) % w or size < 2 or (w > 1 and size not in (4, 8, 16)):
            continue
        for turned in (False, True) if w > 1 else (False,):
            order = np.eye(w)[::-1] if turned else np.eye(w)
            rule = explained(frame, columns, data, np.repeat(order, size, axis=1), _CONVINCING)
            if rule is None:
                continue
            where, sense = span_text(frame.names, data), _sense(rule.constant)
            name = f"{sense} parity of " + (where if w == 1 else f"each {_UNITS[size]}")
            parameters = {
                "unit": size,
                "parity": sense,
                "order": "last unit first" if turned else "as written",
            }
            formula = f"{name}{'' if w == 1 else f' of {where}'}{', last first' if turned else ''}"
            return linear_digest(frame, "parity", name, rule, data, formula, parameters)
    return None


def parities_inside(frame: Frame) -> Digest | None:
    """Name parities that stand inside the bytes or nibbles they protect; None if there are none."""
    for size in (8, 4, 16):
        units = [list(range(i, i + size)) for i in range(0, frame.dim - size + 1, size)]
        held = [unit for unit in units if _protected(frame, unit)]
        free = sum(rank(frame.directions[:, unit]) for unit in held)
        if len(held) < 2 or free < _CONVINCING:
            continue
        columns = tuple(max(i for i in unit if frame.varies[i]) for unit in held)
        matrix = np.zeros((len(held), frame.dim), dtype=np.uint8)
        for row, unit, column in zip(matrix, held, columns, strict=True):
            row[unit] = 1
            row[column] = 0
        rule = solved_by(frame, columns, matrix)
        sense, data = _sense(rule.constant), [i for unit in held for i in unit]
        name = f"{sense} parity inside each {_UNITS[size]}"
        return Digest(
            "parity",
            name,
            tuple(frame.names[i] for i in columns),
            {"unit": size, "parity": sense, "data": names_of(frame.names, data), "order": "inside"},
            f"{name} of {span_text(frame.names, data)}",
            free,
            rule,
        )
    return None


def _protected(frame: Frame, unit: list[int]) -> bool:
    """Say whether the bits of a unit have one parity that no constants or pairs explain."""
    shown = frame.directions[:, unit]
    if (np.bitwise_xor.reduce(shown, axis=1)).any():
        return False
    counts = Counter(frame.shapes[i] for i in unit if frame.varies[i])
    return any(count % 2 for count in counts.values())


def _sense(constant: Array) -> str:
    if constant.all():
        return "odd"
    return "mixed" if constant.any() else "even"


def shifted_of(frame: Frame, columns: tuple[int, ...]) -> Digest | None:
    """Name the ``xor_shift_bytes`` that stands in these 8 columns; None if none does.

    Two routines of decoders share the name. One adds shifted copies of every second byte; the other
    mixes the XOR of the bytes so far into its own high nibble after each byte.
    """
    for data in data_ranges(frame, columns):
        if len(data) % 8 or len(data) < 24:
            continue
        for text, blocks in (*_alternating(frame, columns, data), *_mixing(len(data) // 8)):
            rule = explained(frame, columns, data, np.hstack(blocks), CERTAIN + _SHIFTS)
            if rule is not None:
                value = hex_text(number(rule.constant), 8)
                said = f"{text} over {span_text(frame.names, data)}"
                said += f", then ⊕ {value}" if rule.constant.any() else ""
                given = {"xorout": value, "routine": text}
                return linear_digest(frame, "keys", text, rule, data, said, given)
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
