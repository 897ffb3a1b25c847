"""Lengths: one CRC over frames of several lengths, which tells init from xorout.

Frames of one length show both only together: the register begins with init, and after n bits of
data this has added init·xⁿ to what xorout adds. Two lengths give init·(xⁿ + xᵐ) modulo the
polynomial, hence init.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from flagstone.algebra import Array
from flagstone.frames.digests.catalogue import CATALOGUE
from flagstone.frames.digests.crc import crc_formula, crc_name, reflected, run
from flagstone.frames.digests.digest import Digest, columns_of, hex_text, number
from flagstone.frames.digests.polynomials import gcd, inverse, modulo, power, quotient, times

#: A length counts if this share of its frames agrees, and at least this many.
_SHARE, _FEWEST = 0.6, 2
#: Where the lengths leave more bits of init open than this, it is not told.
_EXCESS = 8
_ORDERS = ("as written", "lowest bit of each byte first")


def joined(
    digest: Digest, names: Sequence[str], rows: Array, others: Mapping[int, Array]
) -> Digest:
    """Return a CRC with init and xorout told apart by frames of other lengths, if they can be.

    The check must stand as far from the end in all of them, behind the data that it covers, which
    begin at the same bit. Where the polynomial has a factor x + 1, as many have, several pairs fit
    all lengths, and a usual one is taken.
    """
    given = digest.parameters
    if digest.kind != "crc" or given.get("case") or given["order"] not in _ORDERS:
        return digest
    check = columns_of(names, digest.columns)
    data = columns_of(names, given["data"])
    usual = [*range(data[0], check[0])] == data if data else False
    if not usual or given["check_counts_as_zeros"] or given["nibbles_swapped"]:
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
    if given["order"] == _ORDERS[1]:
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
    told = {"init": hex_text(init, w), "xorout": hex_text(xorout, w)}
    flags = (w, int(given["poly"], 16), given["refin"], given["refout"], init, xorout)
    known = [
        {"name": k.name, **told, "data": given["data"]}
        for k in CATALOGUE
        if (k.width, k.poly, k.refin, k.refout, k.init, k.xorout) == flags
    ]
    given |= told | {"lengths": lengths, "note": "told apart by frames of several lengths"}
    if known:
        given["catalogued"] = known
    formula = crc_formula(names, given)
    return replace(digest, name=crc_name(given), parameters=given, formula=formula)
