"""Digests as lines of a decoder for rtl_433, by the routines that its decoders share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from flagstone.frames.digests.code import harmless
from flagstone.frames.digests.digest import Digest, columns_of, hex_text, runs, span_text
from flagstone.frames.digests.lfsr import LFSR_ROUTINES
from flagstone.frames.digests.polynomials import mirrored
from flagstone.frames.digests.rules import Cases


def decoder_code(names: Sequence[str], digests: Sequence[Digest]) -> tuple[str, list[Digest]]:
    """Return code that leaves a decoder where a check is wrong, and digests without a routine.

    Parameters
    ----------
    names : sequence of str
        The columns, one for each bit of the frame; its bytes are in ``b``.
    digests : sequence of Digest

    Examples
    --------
    >>> import numpy as np
    >>> from flagstone.frames.digests.sums import name_sums
    >>> data = np.random.RandomState(0).randint(0, 256, size=(50, 3), dtype=np.uint8)
    >>> X = np.unpackbits(np.column_stack([data, data.sum(axis=1) & 255]).astype(np.uint8), axis=1)
    >>> names = [f"x{i}" for i in range(32)]
    >>> print(decoder_code(names, name_sums(names, X))[0].splitlines()[1])
    if ((add_bytes(&b[0], 3) & 0xff) != b[3]) {
    """
    blocks, left = [], []
    for digest in digests:
        check = digest.rule.checks
        phase = check[0] % 8 if len(check) % 8 == 0 else check[0] % 4 and check[0] % 8
        test = _test(names, digest, check, phase)
        if test is None:
            left.append(digest)
            continue
        where = span_text(names, check)
        lines = [f"/* {harmless(f'{digest.name}, in {where}: {digest.formula}')} */"]
        if phase:
            n_bits = len(names) - phase
            lines.append(f"/* the bytes begin at bit {phase} */")
            lines.append(f"bitbuffer_extract_bytes(bitbuffer, row, {phase}, b, {n_bits});")
        lines += [f"if ({test}) {{", "    return DECODE_FAIL_MIC;", "}"]
        blocks.append("\n".join(lines))
    return "\n".join(blocks), left


Parts = list[tuple[int, int]]


def _test(names: Sequence[str], digest: Digest, check: Sequence[int], phase: int) -> str | None:
    """Return what is true of a frame that does not pass; None where there is no routine."""
    if isinstance(digest.rule, Cases):  # a constant for each case
        return None
    given = {**digest.parameters, **next(iter(digest.parameters.get("catalogued", ())), {})}
    if digest.kind == "complement":
        pairs = [columns_of(names, pair) for pair in given["pairs"]]
        bytes_ = [[(place - phase) // 8 for place in pair] for pair in pairs]
        return " || ".join(f"(b[{i}] ^ b[{j}]) != 0xff" for i, j in bytes_)
    routine = _ROUTINES.get(digest.kind)
    if routine is None or "bits" in given:
        return None
    inside = digest.kind == "parity"  # its check bits are part of the data
    parts = _parts(names, given["data"], 0 if inside else phase)
    called = None if parts is None else routine(given, parts)
    if inside or called is None:
        return called
    value = _value(check, phase, given.get("byte_order") == "little")
    xorout = int(given.get("xorout", "0"), 16)
    if value is None:
        return None
    if digest.kind == "sum" and given.get("nibbles_swapped"):
        value = f"({value} >> 4 | ({value} & 0x0f) << 4)"
    return f"({called} ^ 0x{xorout:02x}) != {value}" if xorout else f"{called} != {value}"


def _parts(names: Sequence[str], data: Sequence[str], phase: int) -> Parts | None:
    """Return columns as runs of bytes (first, how many); None where they are none."""
    found = runs(columns_of(names, data))
    if any((first - phase) % 8 or (last + 1 - phase) % 8 for first, last in found):
        return None
    return [((first - phase) // 8, (last + 1 - first) // 8) for first, last in found]


def _value(check: Sequence[int], phase: int, little: bool = False) -> str | None:
    """Return what stands in the check columns, as C."""
    byte, bit, width = (check[0] - phase) // 8, (check[0] - phase) % 8, len(check)
    if check[-1] - check[0] != width - 1:
        return None
    if width == 16 and bit == 0:
        high, low = (byte + 1, byte) if little else (byte, byte + 1)
        return f"(b[{high}] << 8 | b[{low}])"
    if bit + width > 8:
        return None
    shifted = f"b[{byte}] >> {8 - bit - width}" if bit + width < 8 else f"b[{byte}]"
    return shifted if width == 8 else f"({shifted} & 0x{(1 << width) - 1:02x})"


def _crc(given: Mapping[str, Any], parts: Parts) -> str | None:
    w, reflected = given["width"], given["refin"]
    routine = {(4, False): "crc4", (7, False): "crc7", (8, False): "crc8", (8, True): "crc8le"}
    routine |= {(16, False): "crc16", (16, True): "crc16lsb"}
    called = routine.get((w, reflected)) if reflected == given["refout"] else None
    unusual = given["check_counts_as_zeros"] or given.get("nibbles_swapped")
    if called is None or len(parts) != 1 or unusual or given["place_of_check"] is not None:
        return None
    poly = int(given["poly"], 16)
    init = int(given.get("init", given["init_if_xorout_is_0"]), 16)
    if called == "crc16lsb":
        poly, init = mirrored(poly, 16), mirrored(init, 16)
    start, n = parts[0]
    return f"{called}(&b[{start}], {n}, {hex_text(poly, w)}, {hex_text(init, w)})"


def _lfsr(given: Mapping[str, Any], parts: Parts) -> str | None:
    called = LFSR_ROUTINES.get((given["order"], given["width"]))
    unusual = given.get("check_counts_as_zeros") or given["restarts"] not in (None, "byte")
    if called is None or len(parts) != 1 or unusual:
        return None
    start, n = parts[0]
    data = f"&b[{start}], {n}"
    if given["restarts"]:
        data = f"(uint8_t[]){{xor_bytes({data})}}, 1"
    return f"{called}({data}, {given['generator']}, {given['key']})"


def _xor(given: Mapping[str, Any], parts: Parts) -> str | None:
    if given["unit"] not in (4, 8):
        return None
    call = " ^ ".join(f"xor_bytes(&b[{start}], {n})" for start, n in parts)
    if given["unit"] == 4:
        call = f"(0x0f & ({call} ^ ({call}) >> 4))"
    elif len(parts) > 1:
        call = f"({call})"
    constant = int(given["constant"], 16)
    return f"({call} ^ 0x{constant:02x})" if constant else call


def _sum(given: Mapping[str, Any], parts: Parts) -> str | None:
    called = {4: "add_nibbles", 8: "add_bytes"}.get(given["unit"])
    if called is None or given["carry"] != "dropped" or given["order"] != "as written":
        return None
    added = " + ".join(f"{called}(&b[{start}], {n})" for start, n in parts)
    modulus = given["modulus"]
    if modulus & modulus - 1:  # of a negative number, C has another remainder
        return None if given["sign"] < 0 else f"({given['constant']} + {added}) % {modulus}"
    if given["sign"] < 0:
        added = f"({given['constant']} - ({added}))"
    elif int(given["constant"], 16):
        added = f"({given['constant']} + {added})"
    elif len(parts) > 1:
        added = f"({added})"
    return f"({added} & 0x{modulus - 1:02x})"


def _parity(given: Mapping[str, Any], parts: Parts) -> str | None:
    if given["order"] != "inside" or given["unit"] != 8 or given["parity"] == "mixed":
        return None
    wrong = "" if given["parity"] == "even" else "!"
    return " || ".join(f"{wrong}parity8(b[{s + i}])" for s, n in parts for i in range(n))


_ROUTINES: dict[str, Callable[[Mapping[str, Any], Parts], str | None]] = {
    "crc": _crc,
    "lfsr": _lfsr,
    "xor": _xor,
    "sum": _sum,
    "parity": _parity,
}
