"""CRCs: registers whose key is the polynomial itself, with the name that standards give them.

Frames of one length show init and xorout only together: the register begins with init, and after n
bits of data this has added init·xⁿ to what xorout adds. Two lengths give init·(xⁿ + xᵐ) modulo the
polynomial, hence init: :func:`joined`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from flagstone.algebra import Array
from flagstone.frames.digests.catalogue import ALIASES, CATALOGUE, Known
from flagstone.frames.digests.digest import (
    Digest,
    columns_of,
    hex_text,
    linear_digest,
    names_of,
    number,
    solved_by,
    span_text,
)
from flagstone.frames.digests.frame import Frame
from flagstone.frames.digests.polynomials import (
    gcd,
    inverse,
    mirrored,
    modulo,
    power,
    quotient,
    times,
)
from flagstone.frames.digests.registers import ByteLayout, Register
from flagstone.frames.digests.rules import Solved
from flagstone.wording import counted

#: A narrower check needs neither init nor xorout by chance, with some bytes left out.
_TELLING = 8
#: A length counts if this share of its frames agrees, and at least this many.
_SHARE, _FEWEST = 0.6, 2
#: Where the lengths leave more bits of init open than this, it is not told.
_EXCESS = 8
#: How many bits after the data are not in the frame: zeros that fill a byte, or bytes by case.
_FILL, _APPENDED = 4, (8, 16)
_REFLECTED = {"as written": False, "lowest bit of each byte first": True}


def crc_of(frame: Frame, columns: tuple[int, ...], found: Sequence[Register]) -> Digest | None:
    """Name the CRC among registers that fit, a catalogued one first; None where none is a CRC."""
    candidates: list[tuple[tuple[bool | int, ...], Digest]] = []
    for register in found:
        for seen in (register, register.mirrored()):
            if seen.key == power(seen.layout.width, seen.poly):
                digest = _described(frame, columns, seen)
                plain = _REFLECTED.get(seen.layout.order) == seen.backwards
                gap = -1 in seen.layout.data or seen.layout.filled
                rank_of = (
                    "catalogued" not in digest.parameters,
                    not plain,
                    gap,
                    seen.layout.little != (seen.backwards and len(columns) > 8),
                    len(candidates),
                )
                candidates.append((rank_of, digest))
    if candidates:
        return min(candidates, key=lambda pair: pair[0])[1]
    return _longer(frame, columns, found)


def _longer(frame: Frame, columns: tuple[int, ...], found: Sequence[Register]) -> Digest | None:
    """Name a CRC of a known polynomial whose data end with bits that are not in the frame.

    Rubicson fills the last byte with zeros; AUTOSAR appends a data id that depends on the counter.
    Without cases, no bytes are appended: an LFSR digest is meant, whose key may be the same by
    chance.
    """
    known = {k.poly for k in CATALOGUE if k.width == len(columns)}
    for n_bits in _APPENDED if frame.by_case else (_FILL,):
        for register in found:
            for seen in (register, register.mirrored()):
                w, layout = seen.layout.width, seen.layout
                if (
                    seen.key == power(w + n_bits, seen.poly)
                    and seen.poly ^ 1 << w in known
                    and (len(layout.data) + n_bits) % 8 == 0
                    and _REFLECTED.get(layout.order) == seen.backwards
                    and not (-1 in layout.data or layout.filled or layout.swapped)
                ):
                    return _described(frame, columns, seen, n_bits)
    return None


def _described(
    frame: Frame, columns: tuple[int, ...], register: Register, appended: int = 0
) -> Digest:
    """Return a CRC, whose data may go on with some bits: these are taken to be zeros."""
    layout, w = register.layout, register.layout.width
    low = register.poly ^ 1 << w
    bits = [0 if i < 0 else int(frame.point[i]) for i in layout.data] + [0] * appended
    word = number(int(frame.point[i]) for i in layout.word)
    skipped, known = (0, []) if appended else _catalogued(frame, register, bits, word)
    # constant bytes may be covered or not: without them where that needs neither init nor xorout
    plain = (s for s in _skipped(frame, layout) if word == run(bits[s:], register.poly, 0, w))
    bare = 0 if known or appended or w < _TELLING else next(plain, 0)
    data, moved = layout.covered(bare), layout.moved
    effect = word ^ run(bits[bare:], register.poly, 0, w)
    init = modulo(times(power(bare - len(bits), register.poly), effect), register.poly)
    parameters: dict[str, Any] = {
        "width": w,
        "poly": hex_text(low, w),
        "refin": _REFLECTED.get(layout.order),
        "refout": register.backwards,
        "order": layout.order,
        "byte_order": ("little" if layout.little else "big") if w > 8 else None,
        "nibbles_swapped": layout.swapped,
        "data": names_of(frame.names, data),
        "check_counts_as_zeros": -1 in layout.data,
        "place_of_check": names_of(frame.names, moved) if moved else None,
        "init_if_xorout_is_0": hex_text(init, w),
        "xorout_if_init_is_0": hex_text(reflected(effect, w, register.backwards), w),
        "note": "frames of one length show init and xorout only together",
    }
    if appended == _FILL:
        parameters["bits_not_in_frame"] = appended
    elif appended:
        parameters["bytes_not_in_frame"] = appended // 8
    elif known:
        covered = names_of(frame.names, layout.covered(skipped))
        parameters["catalogued"] = [_entry(one, covered) for one in known]
    elif w % 8 == 0:
        turned = _catalogued(frame, register, bits, word, turned=True)[1]
        parameters["if_lowest_bit_is_first"] = [one.name for one in turned]
    rule = register_matrix(frame, columns, register, skipped if known else bare)
    name, formula = crc_name(parameters), crc_formula(frame.names, parameters)
    return linear_digest(frame, "crc", name, rule, data, formula, parameters)


def also_called(name: str) -> str:
    """Return the name of a digest, and what else it is called.

    >>> also_called("CRC-16/IBM-3740"), also_called("XOR of bytes")
    ('CRC-16/IBM-3740 (CRC-16/CCITT-FALSE)', 'XOR of bytes')
    """
    return f"{name} ({ALIASES[name]})" if name in ALIASES else name


def crc_name(given: Mapping[str, Any]) -> str:
    """Return what the catalogue calls a CRC, or its polynomial."""
    names = dict.fromkeys(entry["name"] for entry in given.get("catalogued", ()))
    plain = f"CRC-{given['width']} with polynomial {given['poly']}"
    if some := _appended(given):
        plain += f" and {some} that {'is' if some == '1 byte' else 'are'} not in the frame"
    return " or ".join(names) or plain


def _appended(given: Mapping[str, Any]) -> str:
    """Return how much of the data is not in the frame, as text; empty if nothing is."""
    found = ((given.get(f"{unit}s_not_in_frame"), unit) for unit in ("byte", "bit"))
    return next((counted(n, unit) for n, unit in found if n), "")


def crc_formula(names: Sequence[str], given: Mapping[str, Any]) -> str:
    """Return how to compute a CRC with these parameters; the first name of the catalogue counts."""
    known = next(iter(given.get("catalogued", ())), given)
    if "init" in known:
        start = f"init {known['init']}, xorout {known['xorout']}"
    elif int(given["init_if_xorout_is_0"], 16):
        start = f"init {given['init_if_xorout_is_0']} with xorout 0, "
        start += f"or init 0 with xorout {given['xorout_if_init_is_0']}"
    else:
        start = "init 0, xorout 0"
    parts = [f"polynomial {given['poly']}", start]
    if given["refin"] and given["refout"]:
        parts.append("reflected")
    elif given["refout"] or given["order"] != "as written":
        output = "reflected" if given["refout"] else "as it is"
        parts += [f"output {output}", f"data {given['order']}"]
    if given["byte_order"] == "little":
        parts.append("bytes lowest first")
    if given["nibbles_swapped"]:
        parts.append("nibbles of the check swapped")
    parts.append(f"over {span_text(names, columns_of(names, known['data']))}")
    if some := _appended(given):
        parts.append(f"then {some} 0, in the place of those not in the frame")
    if given["check_counts_as_zeros"]:
        parts.append("the check itself as zeros")
    formula = ", ".join(parts)
    others = given.get("if_lowest_bit_is_first")
    if others and known is given:
        formula += f" ({' or '.join(others)}, if the lowest bit of each byte comes first)"
    if given["place_of_check"]:
        moved = span_text(names, columns_of(names, given["place_of_check"]))
        formula += f", with {moved} in the place of the check"
    if "lengths" in given:
        formula += f" (the same for lengths of {', '.join(map(str, given['lengths']))} bits)"
    return formula


def register_matrix(
    frame: Frame, columns: tuple[int, ...], register: Register, skipped: int = 0
) -> Solved:
    """Return the check bits as a register computes them, without the first bits, this many."""
    layout, w = register.layout, register.layout.width
    row = {column: j for j, column in enumerate(columns)}
    matrix = np.zeros((len(columns), frame.dim), dtype=np.uint8)
    for column, key in list(zip(layout.data, register.keys(), strict=True))[skipped:]:
        for j, check in enumerate(layout.word):
            if column >= 0 and key >> (w - 1 - j) & 1:
                matrix[row[check], column] = 1
    return solved_by(frame, columns, matrix)


def _entry(known: Known, data: Sequence[str]) -> dict[str, Any]:
    """Return an entry of the catalogue as parameters of a digest."""
    init, xorout = (hex_text(value, known.width) for value in (known.init, known.xorout))
    return {"name": known.name, "init": init, "xorout": xorout, "data": list(data)}


def _catalogued(
    frame: Frame, register: Register, bits: list[int], word: int, turned: bool = False
) -> tuple[int, list[Known]]:
    """Return entries that give the check of one frame, hence of all, and how many bits these skip.

    The number comes first. ``turned``: those that would, if the lowest bit of each byte came first.
    """
    layout, poly, w = register.layout, register.poly, register.layout.width
    refin, refout = _REFLECTED.get(layout.order), register.backwards
    if refin is None:
        return 0, []
    model = (w, poly ^ 1 << w, refin != turned, refout != turned)
    fitting = [k for k in CATALOGUE if (k.width, k.poly, k.refin, k.refout) == model]
    for skipped in _skipped(frame, layout):
        found = [
            k
            for k in fitting
            if run(bits[skipped:], poly, k.init, w) ^ reflected(k.xorout, w, k.refout) == word
        ]
        if found:
            return skipped, found
    return 0, []


def _skipped(frame: Frame, layout: ByteLayout) -> list[int]:
    """Return how many constant bits at the beginning may be no part of the data.

    They may be or not: whole bytes, and what leaves whole bytes.
    """
    leading = 0
    for i in layout.data:
        if i >= 0 and frame.varies[i]:
            break
        leading += 1
    return [*range(0, leading + 1, 8), *range(len(layout.data) % 8 or 8, leading + 1, 8)]


def reflected(value: int, w: int, backwards: bool) -> int:
    """Return a value that is added after reflection as the register sees it, or back."""
    return mirrored(value, w) if backwards else value


def run(bits: Sequence[int], poly: int, init: int, w: int) -> int:
    register, top = init, 1 << (w - 1)
    for bit in bits:
        out = bool(register & top) ^ bool(bit)
        register = register << 1 & (1 << w) - 1
        if out:
            register ^= poly & (1 << w) - 1
    return register


def joined(
    digest: Digest, names: Sequence[str], rows: Array, others: Mapping[int, Array]
) -> Digest:
    """Return a CRC with init and xorout told apart by frames of other lengths, if they can be.

    The check must stand as far from the end in all of them, behind the data that it covers, which
    begin at the same bit. Where the polynomial has a factor x + 1, as many have, several pairs fit
    all lengths, and a usual one is taken.
    """
    given = digest.parameters
    if digest.kind != "crc" or given.get("case") or given["order"] not in _REFLECTED:
        return digest
    check = digest.rule.checks
    data = columns_of(names, given["data"])
    usual = [*range(data[0], check[0])] == data if data else False
    if not usual or _appended(given) or given["check_counts_as_zeros"] or given["nibbles_swapped"]:
        return digest
    w, poly = given["width"], int(given["poly"], 16) | 1 << given["width"]
    effects = {}
    for length, frames in {rows.shape[1]: rows, **others}.items():
        start = check[0] + length - rows.shape[1]
        if start > data[0]:
            values = Counter(_effect(row, data[0], start, digest, poly) for row in frames.tolist())
            (value, n), *_ = values.most_common(1)
            if n >= max(_FEWEST, _SHARE * len(frames)):
                effects[start - data[0]] = value
    (n, first), *more = effects.items()
    for m, second in more:
        for init in _inits(power(n, poly) ^ power(m, poly), first ^ second, poly, digest):
            out = first ^ modulo(times(init, power(n, poly)), poly)
            added = {k: modulo(times(init, power(k, poly)), poly) ^ out for k in effects}
            if added == effects:
                lengths = sorted(k + rows.shape[1] - n for k in effects)
                return _told(digest, names, init, reflected(out, w, given["refout"]), lengths)
    return digest


def _inits(step: int, difference: int, poly: int, digest: Digest) -> list[int]:
    """Return every init with init·step = difference modulo poly, the likeliest first.

    Lengths never show a factor x + 1 of the polynomial: then there are two, or more. One that the
    catalogue has is likely, then zeros and ones.
    """
    shared = gcd(poly, step)
    rest, excess = quotient(poly, shared), shared.bit_length() - 1
    if modulo(difference, shared) or excess > _EXCESS:
        return []
    inverted = inverse(quotient(step, shared), rest) if rest > 1 else 0
    if inverted is None:
        return []
    one = modulo(times(inverted, quotient(difference, shared)), rest)
    given, ones = digest.parameters, (1 << digest.parameters["width"]) - 1
    known = {
        k.init for k in CATALOGUE if (k.width, k.poly) == (given["width"], int(given["poly"], 16))
    }
    found = [one ^ times(rest, k) for k in range(1 << excess)]
    return sorted(found, key=lambda init: (init not in known, init not in (0, ones), init))


def _effect(row: list[int], first: int, start: int, digest: Digest, poly: int) -> int:
    """Return what init and xorout add to the check of a frame."""
    given = digest.parameters
    w, bits, check = given["width"], row[first:start], row[start : start + given["width"]]
    if given["refin"]:
        bits = [bit for i in range(0, len(bits), 8) for bit in reversed(bits[i : i + 8])]
    if given["byte_order"] == "little":
        check = [bit for i in range(w - 8, -1, -8) for bit in check[i : i + 8]]
    check = check[::-1] if given["refout"] else check
    return run(bits, poly, 0, w) ^ number(check)


def _told(
    digest: Digest, names: Sequence[str], init: int, xorout: int, lengths: Sequence[int]
) -> Digest:
    """Return a CRC with these constants, by the name that the catalogue has for it."""
    given = {key: value for key, value in digest.parameters.items() if key != "catalogued"}
    w = given["width"]
    model = (w, int(given["poly"], 16), init, given["refin"], given["refout"], xorout)
    known = [_entry(k, given["data"]) for k in CATALOGUE if k[1:-1] == model]
    given |= {"init": hex_text(init, w), "xorout": hex_text(xorout, w), "lengths": lengths}
    given["note"] = "told apart by frames of several lengths"
    if known:
        given["catalogued"] = known
    formula = crc_formula(names, given)
    return replace(digest, name=crc_name(given), parameters=given, formula=formula)
