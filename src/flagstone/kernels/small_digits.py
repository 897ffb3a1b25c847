"""Lines of digits and nothing else, in plain NumPy: the small twin of `digits` (see `small`)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from flagstone.kernels.small import affordable
from flagstone.kernels.small_gf2 import pack_bits

Array = NDArray[np.int64]
#: Microseconds for a line of digits, and for one that somebody has to read with care.
_EASY, _HARD = 0.5, 30.0
_BLANKS = b" \t\r\v\f"


def parse(
    block: bytes | NDArray[np.uint8],
    line: int,
    alphabet: tuple[bytes, int, bytes],
    n_bits: int,
    keep_only: bool,
) -> tuple[NDArray[np.uint64], range | Array, Array, int, int]:
    """Read whole lines as `digits.parse` does; more of them may be hard."""
    most = len(block) * alphabet[1] / n_bits  # lines: to count them takes as long as to read them
    found = None
    if affordable("digits.parse", _EASY * most):
        found = _parse(bytes(block), line, alphabet, n_bits)
    if found is not None:
        return found
    from flagstone.kernels import digits

    return digits.parse(block, line, digits.classes(*alphabet), n_bits, keep_only)


def _parse(
    block: bytes, line: int, alphabet: tuple[bytes, int, bytes], n_bits: int
) -> tuple[NDArray[np.uint64], Array, Array, int, int] | None:
    """Read lines that are nothing but digits; None if others would take longer than is allowed."""
    digits, width, _ = alphabet
    lines = block.split(b"\n")[:-1]
    shown = [text.strip(_BLANKS) for text in lines]
    easy = [len(text) * width == n_bits and not text.translate(None, digits) for text in shown]
    if not affordable("digits.parse", _HARD * (len(lines) - sum(easy))):
        return None
    rows = np.flatnonzero(easy)
    text = b"".join(text for text, plain in zip(shown, easy, strict=True) if plain)
    values = _VALUES[np.frombuffer(text, np.uint8)].reshape(len(rows), n_bits // width)
    bits = np.unpackbits(values[:, :, np.newaxis], axis=2, bitorder="big")[:, :, 8 - width :]
    ends = np.cumsum([len(text) + 1 for text in lines]) - 1
    starts = np.concatenate([[0], ends[:-1] + 1])
    hard = np.flatnonzero(~np.array(easy, bool))
    return (
        pack_bits(bits.reshape(len(rows), n_bits)),
        rows + line,
        np.stack([hard + line, starts[hard], ends[hard]], axis=1),
        0,
        len(lines),
    )


#: The value of each digit, by its byte.
_VALUES = np.zeros(256, np.uint8)
for _digit in b"0123456789abcdefABCDEF":
    _VALUES[_digit] = int(bytes([_digit]), 16)
