"""Digests as lines of a decoder for rtl_433, by the routines that its decoders share."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from flagstone.frames.digests.code import harmless
from flagstone.frames.digests.digest import Digest, columns_of, runs
from flagstone.frames.digests.lfsr import LFSR_ROUTINES
from flagstone.frames.digests.polynomials import mirrored


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
        check = columns_of(names, digest.columns)
        phase = check[0] % 8 if len(check) % 8 == 0 else check[0] % 4 and check[0] % 8
        test = _ROUTINES[digest.kind](names, digest, check, phase)
        if test is None or "bits" in digest.parameters:
            left.append(digest)
            continue
        where = f"{digest.columns[0]}..{digest.columns[-1]}"
        lines = [f"/* {harmless(f'{digest.name}, in {where}: {digest.formula}')} */"]
        if phase:
            n_bits = len(names) - phase
            lines.append(f"/* the bytes begin at bit {phase} */")
            lines.append(f"bitbuffer_extract_bytes(bitbuffer, row, {phase}, b, {n_bits});")
        lines += [f"if ({test}) {{", "    return DECODE_FAIL_MIC;", "}"]
        blocks.append("\n".join(lines))
    return "\n".join(blocks), left


def _parts(names: Sequence[str], data: Sequence[str], phase: int) -> list[tuple[int, int]] | None:
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


def _crc(names: Sequence[str], digest: Digest, check: Sequence[int], phase: int) -> str | None:
    given = digest.parameters
    known = given.get("catalogued", [{}])[0]
    parts = _parts(names, known.get("data", given["data"]), phase)
    value = _value(check, phase, given["byte_order"] == "little")
    reflected, w = given["refin"], given["width"]
    routine = {(4, False): "crc4", (7, False): "crc7", (8, False): "crc8", (8, True): "crc8le"}
    routine |= {(16, False): "crc16", (16, True): "crc16lsb"}
    called = routine.get((w, reflected)) if reflected == given["refout"] else None
    if parts is None or len(parts) != 1 or value is None or called is None:
        return None
    unusual = given["check_counts_as_zeros"] or given.get("nibbles_swapped")
    if unusual or given["place_of_check"] is not None:
        return None
    poly = int(given["poly"], 16)
    init = int(known.get("init", given["init_if_xorout_is_0"]), 16)
    if called == "crc16lsb":
        poly, init = mirrored(poly, 16), mirrored(init, 16)
    digits = -(-w // 4)
    start, n = parts[0]
    call = f"{called}(&b[{start}], {n}, 0x{poly:0{digits}x}, 0x{init:0{digits}x})"
    return _differ(call, int(known.get("xorout", "0"), 16), value)


def _lfsr(names: Sequence[str], digest: Digest, check: Sequence[int], phase: int) -> str | None:
    given = digest.parameters
    parts = _parts(names, given["data"], phase)
    value = _value(check, phase, given["byte_order"] == "little")
    called = LFSR_ROUTINES.get((given["order"], given["width"]))
    if parts is None or len(parts) != 1 or value is None:
        return None
    if (
        called is None
        or given.get("check_counts_as_zeros")
        or given["restarts"] not in (None, "byte")
    ):
        return None
    start, n = parts[0]
    data = f"&b[{start}], {n}"
    if given["restarts"]:
        data = f"(uint8_t[]){{xor_bytes(&b[{start}], {n})}}, 1"
    call = f"{called}({data}, {given['generator']}, {given['key']})"
    return _differ(call, int(given["xorout"], 16), value)


def _xor(names: Sequence[str], digest: Digest, check: Sequence[int], phase: int) -> str | None:
    given = digest.parameters
    parts, value = _parts(names, given["data"], phase), _value(check, phase)
    if parts is None or value is None or given["unit"] not in (4, 8):
        return None
    call = " ^ ".join(f"xor_bytes(&b[{start}], {n})" for start, n in parts)
    if given["unit"] == 4:
        call = f"(0x0f & ({call} ^ ({call}) >> 4))"
    return _differ(call, int(given["constant"], 16), value)


def _sum(names: Sequence[str], digest: Digest, check: Sequence[int], phase: int) -> str | None:
    given = digest.parameters
    parts = _parts(names, given["data"], phase)
    value = _value(check, phase, given["byte_order"] == "little")
    called = {4: "add_nibbles", 8: "add_bytes"}.get(given["unit"])
    plain = given["carry"] == "dropped" and given["order"] == "as written"
    if parts is None or value is None or called is None or not plain:
        return None
    added = " + ".join(f"{called}(&b[{start}], {n})" for start, n in parts)
    constant, mask = int(given["constant"], 16), given["modulus"] - 1
    if given["sign"] < 0:
        added = f"{given['constant']} - ({added})"
    elif constant:
        added = f"{given['constant']} + {added}"
    call = (
        f"({added}) & 0x{mask:02x}" if " " in added.replace(", ", "") else f"{added} & 0x{mask:02x}"
    )
    return _differ(f"({call})", int(given["xorout"], 16), value)


def _parity(names: Sequence[str], digest: Digest, check: Sequence[int], phase: int) -> str | None:
    given = digest.parameters
    if given["order"] != "inside" or given["unit"] != 8 or given["parity"] == "mixed":
        return None
    parts = _parts(names, given["data"], 0)
    if parts is None:
        return None
    wrong = "" if given["parity"] == "even" else "!"
    return " || ".join(f"{wrong}parity8(b[{s + i}])" for s, n in parts for i in range(n))


def _none(names: Sequence[str], digest: Digest, check: Sequence[int], phase: int) -> None:
    return None


def _differ(call: str, xorout: int, value: str) -> str:
    if not xorout:
        return f"{call} != {value}"
    return f"({call} ^ 0x{xorout:02x}) != {value}"


_ROUTINES: dict[str, Callable[[Sequence[str], Digest, Sequence[int], int], str | None]] = {
    "crc": _crc,
    "lfsr": _lfsr,
    "xor": _xor,
    "sum": _sum,
    "parity": _parity,
    "keys": _none,
    "linear": _none,
}
