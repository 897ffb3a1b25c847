"""Line codes: from the levels that were received to the bits that were meant."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import numpy as np

from flagstone.algebra import Array

#: How many varying pairs of bits must be complementary before Manchester code is suggested.
_FEWEST_PAIRS = 8
_FLIP = bytes([1, 0])


def invert(frame: bytes) -> bytes:
    """Return a frame with every bit the other one."""
    return frame.translate(_FLIP + bytes(range(2, 256)))


def nrzi(frame: bytes) -> bytes:
    """Return a 1 for each change of level and a 0 where the level stays (NRZ-M).

    >>> list(nrzi(bytes([0, 1, 1, 0])))
    [1, 0, 1]
    """
    return bytes(a ^ b for a, b in pairwise(frame))


def reverse_bytes(frame: bytes) -> bytes:
    """Return a frame with the bits of every byte in the other order: least significant bit first.

    >>> list(reverse_bytes(bytes([1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0])))
    [0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 1]
    """
    return b"".join(frame[i : i + 8][::-1] for i in range(0, len(frame), 8))


def manchester(frame: bytes, phase: int = 0) -> bytes:
    """Return one bit for each pair, IEEE 802.3: 01 is 1 and 10 is 0; it ends at any other pair.

    >>> list(manchester(bytes([0, 1, 1, 0, 0, 1, 1, 1])))
    [1, 0, 1]
    """
    first, second = frame[phase::2], frame[phase + 1 :: 2]
    end = next((i for i, (a, b) in enumerate(zip(first, second, strict=False)) if a == b), None)
    return second[: len(second) if end is None else end]


def differential_manchester(frame: bytes, phase: int = 0) -> bytes:
    """Return a 0 for each bit cell that begins with a change of level, 1 for one that does not.

    It ends at a cell without a change in its middle. The first cell has none before it, and is
    only the reference. Of the last cell, the first half is enough.

    >>> list(differential_manchester(bytes([0, 1, 0, 1, 1, 0, 1, 0])))
    [0, 1, 0]
    >>> list(differential_manchester(bytes([0, 1, 0, 1, 1, 0, 1])))
    [0, 1, 0]
    """
    n_good = len(manchester(frame, phase))
    end = phase + 2 * n_good
    n_halves = 2 * n_good + (end + 1 == len(frame))
    ends, begins = frame[phase + 1 : end : 2], frame[phase + 2 : phase + n_halves : 2]
    return bytes(int(a == b) for a, b in zip(ends, begins, strict=False))


#: By the name that ``--decode`` takes.
LINE_CODES: Mapping[str, Callable[..., bytes]] = {
    "manchester": manchester,
    "differential-manchester": differential_manchester,
    "invert": invert,
    "nrzi": nrzi,
    "reverse-bytes": reverse_bytes,
}
_PAIRED = ("manchester", "differential-manchester")


def decode(frames: Sequence[bytes], code: str) -> tuple[list[bytes], str]:
    """Undo a line code; pairs begin with the first or the second bit, as more of them fit.

    Returns
    -------
    decoded : list of bytes
    said : str
        What the reader should know about it.
    """
    call = LINE_CODES[code]
    if code not in _PAIRED:
        return [call(frame) for frame in frames], ""
    decoded = [[call(frame, phase) for frame in frames] for phase in (0, 1)]
    sizes = [sum(map(len, some)) for some in decoded]
    phase = int(sizes[1] > sizes[0])
    good = decoded[phase]
    cut = sum(
        2 * len(bits) < len(frame) - phase - 3 for bits, frame in zip(good, frames, strict=True)
    )
    said = f"pairs begin with bit {phase}"
    return good, said + (f"; {cut:,} frames end at a pair that is none" if cut else "")


def suggest(rows: Array) -> str | None:
    """Return the option that undoes a line code, if pairs of bits are complementary.

    Examples
    --------
    >>> bits = np.random.RandomState(1).randint(0, 2, size=(50, 12)).astype(np.uint8)
    >>> suggest(np.stack([1 - bits, bits], axis=2).reshape(50, 24)), suggest(bits)
    ('manchester', None)
    """
    for phase in (0, 1):
        n = (rows.shape[1] - phase) // 2
        first, second = rows[:, phase : phase + 2 * n : 2], rows[:, phase + 1 : phase + 2 * n : 2]
        share = (first != second).mean(axis=0)
        varies = np.minimum(second.mean(axis=0), 1 - second.mean(axis=0)) > 0.02
        differ = share[varies]
        if len(differ) >= _FEWEST_PAIRS and differ.min() > 0.8 and differ.mean() > 0.95:
            return "manchester"
    return None
