"""Parities: XORs of bytes or nibbles, and parity bits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from flagstone.algebra.fields import Array
from flagstone.answers.relations import rank
from flagstone.frames.digests.digest import Digest, holds, names_of, solved_by, span_text
from flagstone.frames.digests.frame import Frame
from flagstone.frames.digests.registers import CERTAIN, ranges

_UNITS = {4: "nibble", 8: "byte", 16: "16-bit word", 24: "24-bit word", 32: "32-bit word"}
#: log2 of the number of ranges, units and orders that are tried.
_TRIED = 6


def xor_of(frame: Frame, columns: tuple[int, ...]) -> Digest | None:
    """Name the XOR of bytes, nibbles or words that stands in these columns; None if it does not."""
    w = len(columns)
    if w not in _UNITS:
        return None
    for data in _data(frame, columns):
        if len(data) % w or len(data) <= w:
            continue
        units = frame.directions[:, data].reshape(frame.n_free, -1, w)
        if (np.bitwise_xor.reduce(units, axis=1) != frame.directions[:, list(columns)]).any():
            continue
        if n_added(units) >= 2 and w * rank(frame.directions[:, data]) >= _bar():
            matrix = np.zeros((w, frame.dim), dtype=np.uint8)
            for position, column in enumerate(data):
                matrix[position % w, column] = 1
            rule = solved_by(frame, columns, matrix)
            constant = f"0x{int(''.join(map(str, rule.constant)), 2):0{w // 4}x}"
            shown = "" if not rule.constant.any() else f" ⊕ {constant}"
            where = span_text(frame.names, data)
            return Digest(
                "xor",
                f"XOR of {_UNITS[w]}s",
                _names(frame, columns),
                {"unit": w, "constant": constant, "data": names_of(frame.names, data)},
                f"the XOR of the {_UNITS[w]}s of {where}{shown}",
                w * rank(frame.directions[:, data]),
                rule,
            )
    return None


def n_added(units: Array) -> int:
    """Count units of directions, shape (r, n, w), that vary; two equal ones add nothing."""
    shapes = Counter(unit.tobytes() for unit in units.transpose(1, 0, 2) if unit.any())
    return sum(n % 2 for n in shapes.values())


def parity_of(frame: Frame, columns: tuple[int, ...]) -> Digest | None:
    """Name check bits that are the parities of as many bytes or nibbles, or of everything."""
    w = len(columns)
    for data in _data(frame, columns):
        if len(data) % w or len(data) // w < 2:
            continue
        size = len(data) // w
        if w > 1 and size not in (4, 8, 16):
            continue
        for turned in (False, True) if w > 1 else (False,):
            matrix = np.zeros((w, frame.dim), dtype=np.uint8)
            for position, column in enumerate(data):
                unit = position // size
                matrix[w - 1 - unit if turned else unit, column] = 1
            if holds(frame, columns, matrix) and w * rank(frame.directions[:, data]) >= _bar():
                return _parity(frame, columns, data, size, turned, matrix)
    return None


def _parity(
    frame: Frame, columns: tuple[int, ...], data: list[int], size: int, turned: bool, matrix: Array
) -> Digest:
    rule, w = solved_by(frame, columns, matrix), len(columns)
    where = span_text(frame.names, data)
    sense = _sense(rule.constant)
    unit = _UNITS.get(size, f"{size} bits")
    name = f"{sense} parity of {where}" if w == 1 else f"{sense} parity of each {unit}"
    parameters = {
        "unit": size,
        "parity": sense,
        "data": names_of(frame.names, data),
        "order": "last unit first" if turned else "as written",
    }
    formula = f"{name}{'' if w == 1 else f' of {where}'}{', last first' if turned else ''}"
    bits = w * rank(frame.directions[:, data])
    return Digest("parity", name, _names(frame, columns), parameters, formula, bits, rule)


def parities_inside(frame: Frame) -> Digest | None:
    """Name parities that stand inside the bytes or nibbles they protect; None if there are none."""
    for size in (8, 4, 16):
        units = [list(range(i, i + size)) for i in range(0, frame.dim - size + 1, size)]
        held = [unit for unit in units if _protected(frame, unit)]
        free = sum(rank(frame.directions[:, unit]) for unit in held)
        if len(held) < 2 or free < _bar():
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
            _names(frame, columns),
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


def _data(frame: Frame, columns: tuple[int, ...]) -> Iterator[list[int]]:
    chosen = set(columns)
    seen = []
    for start, end in ranges(frame, columns):
        data = [i for i in range(start, end) if i not in chosen]
        if data not in seen:
            seen.append(data)
            yield data


def _sense(constant: Array) -> str:
    if constant.all():
        return "odd"
    return "mixed" if constant.any() else "even"


def _bar() -> int:
    return CERTAIN + _TRIED


def _names(frame: Frame, columns: tuple[int, ...]) -> tuple[str, ...]:
    return tuple(frame.names[i] for i in columns)
