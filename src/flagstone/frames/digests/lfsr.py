"""LFSR digests, as radio sensors have them: a key that rolls on with every bit of the message."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from flagstone.algebra import Array, Subspace
from flagstone.frames.digests.crc import register_matrix
from flagstone.frames.digests.digest import (
    Digest,
    explained,
    hex_text,
    linear_digest,
    number,
    span_text,
)
from flagstone.frames.digests.frame import Frame, rank
from flagstone.frames.digests.parities import n_added
from flagstone.frames.digests.registers import (
    CANDIDATES,
    CERTAIN,
    MIRRORED,
    ByteLayout,
    Register,
    ranges,
    registers,
)
from flagstone.frames.digests.rules import Solved

_ORDERS = ("as written", "last bit first", "lowest bit of each byte first", "last byte first")
#: The routines of rtl_433 whose key rolls right, by the order of the data and the width.
LFSR_ROUTINES = {
    ("as written", 8): "lfsr_digest8",
    ("as written", 16): "lfsr_digest16",
    ("last byte first", 8): "lfsr_digest8_reverse",
}
_UNITS = {8: "bytes", 4: "nibbles", 16: "16-bit words"}


def lfsr_of(frame: Frame, columns: tuple[int, ...], found: Iterable[Register]) -> Digest | None:
    """Name the LFSR digest among registers that fit; None where there is none."""
    candidates = sorted(
        (register for register in found if not register.layout.filled),
        key=lambda r: (_ORDERS.index(r.layout.order), r.layout.little, -1 in r.layout.data),
    )
    if not candidates:
        return None
    register = candidates[0]
    layout, rule = register.layout, register_matrix(frame, columns, register)
    data = layout.covered()
    bits = dict(zip(columns, rule.constant.tolist(), strict=True))
    parameters = _parameters(register) | {
        "restarts": None,
        "check_counts_as_zeros": -1 in layout.data,
        "xorout": hex_text(number(bits[i] for i in layout.word), layout.width),
    }
    parameters["rtl_433"] = LFSR_ROUTINES.get((layout.order, layout.width))
    name = (
        f"LFSR-{layout.width} digest, generator {parameters['generator']}, key {parameters['key']}"
    )
    formula = _formula(parameters, span_text(frame.names, data))
    return linear_digest(frame, "lfsr", name, rule, data, formula, parameters)


def _parameters(register: Register) -> dict[str, Any]:
    """Return generator and key of the first bit that enters, for a key that rolls to the right.

    The same digest from the last bit on rolls to the left: ``turned``.
    """
    w, layout = register.layout.width, register.layout
    return {
        "width": w,
        "generator": hex_text(register.poly >> 1, w),
        "key": hex_text(register.keys()[0], w),
        "shift": "right",
        "order": layout.order,
        "turned": {
            "generator": hex_text(register.poly & (1 << w) - 1, w),
            "key": hex_text(register.key, w),
            "shift": "left",
            "order": MIRRORED[layout.order],
        },
        "byte_order": ("little" if layout.little else "big") if w > 8 else None,
    }


def _formula(parameters: dict[str, Any], data: str) -> str:
    text = (
        f"key {parameters['key']}, rolled right with generator {parameters['generator']}, "
        f"data {parameters['order']} (or key {parameters['turned']['key']}, rolled left with "
        f"generator {parameters['turned']['generator']}, data {parameters['turned']['order']})"
    )
    if parameters["byte_order"] == "little":
        text += ", bytes lowest first"
    if parameters["restarts"]:
        text += f", the key starts again with every {parameters['restarts']}"
    if int(parameters["xorout"], 16):
        text += f", then ⊕ {parameters['xorout']}"
    return f"{text}, over {data}"


def folded(frame: Frame, columns: tuple[int, ...]) -> Digest | None:
    """Name a digest of the XOR of bytes alone: its keys start again with every byte."""
    w = len(columns)
    for unit, start, end in _folds(frame, columns):
        data = list(range(start, end))
        parts = frame.directions[:, data].reshape(frame.n_free, -1, unit)
        fold = np.bitwise_xor.reduce(parts, axis=1)
        shown = np.concatenate([fold, frame.directions[:, list(columns)]], axis=1)
        if rank(shown) != unit or rank(fold) < unit or n_added(parts) < 2:
            continue
        small = Frame(shown, np.zeros(unit + w, dtype=np.uint8), tuple("x" * (unit + w)))
        keys = Subspace.span(shown).basis[:, unit:]  # what each bit of a unit adds
        if not keys.any(axis=1).all():
            continue  # bits that add nothing: a field in another code, no digest
        needed = unit * w + CANDIDATES + CERTAIN
        rule = explained(frame, columns, data, np.tile(keys.T, len(data) // unit), needed)
        if rule is not None:
            return _restarting(frame, small, unit, data, keys, rule)
    return None


def _folds(frame: Frame, columns: tuple[int, ...]) -> Iterable[tuple[int, int, int]]:
    for unit in _UNITS:
        for start, end in ranges(frame, columns):
            inside = any(start <= i < end for i in columns)
            if not inside and end > start and (end - start) % unit == 0:
                yield unit, start, end
            elif inside and start < columns[0] and (columns[0] - start) % unit == 0:
                yield unit, start, columns[0]
            elif inside and end > columns[-1] + 1 and (end - columns[-1] - 1) % unit == 0:
                yield unit, columns[-1] + 1, end


def _restarting(
    frame: Frame, small: Frame, unit: int, data: list[int], keys: Array, rule: Solved
) -> Digest:
    """Return a digest whose keys start again with every unit: those of a register, or any."""
    w, units, where = len(rule.columns), _UNITS[unit], span_text(frame.names, data)
    given = {"restarts": units.removesuffix("s"), "xorout": hex_text(number(rule.constant), w)}
    inner, word = tuple(range(unit)), tuple(range(unit, unit + w))
    found = [
        register
        for order, bits in (("as written", inner), ("last bit first", inner[::-1]))
        for register in registers(small, ByteLayout(bits, word, order))
    ]
    if found:
        kind, parameters = "lfsr", _parameters(found[0]) | given
        name = (
            f"LFSR-{w} digest of the XOR of {units}, generator {parameters['generator']}, "
            f"key {parameters['key']}"
        )
        formula = _formula(parameters, where)
    else:
        words = [hex_text(number(row), w) for row in keys.tolist()]
        kind, parameters = "keys", {"keys": words} | given
        name = f"keys added for the bits of the XOR of {units}"
        formula = (
            f"keys {' '.join(words)} for the bits of the XOR of the {units} of {where}, "
            "highest bit first"
        )
        formula += f", then ⊕ {given['xorout']}" if rule.constant.any() else ""
    return linear_digest(frame, kind, name, rule, data, formula, parameters)
