"""Write examples/frames.txt: radio frames that obey hidden XOR checks, a few of them damaged.

A frame is 16 bits: an extended Hamming(16, 11) code word. One frame in a hundred or so has two
flipped bits. The file is committed; this script documents how it came to be.
"""

from pathlib import Path

import numpy as np

FRAMES, DAMAGED = 600, 6
TARGET = Path(__file__).parent.parent / "examples" / "frames.txt"


def frames() -> np.ndarray:
    """Return the frames as a 0/1 array of shape (FRAMES, 16)."""
    random = np.random.RandomState(2026)
    bits = np.zeros((FRAMES, 16), dtype=np.uint8)
    data = [i for i in range(1, 16) if i & (i - 1)]
    bits[:, data] = random.randint(0, 2, size=(FRAMES, len(data)))
    for check in (1, 2, 4, 8):
        covered = [i for i in range(1, 16) if i & check and i != check]
        bits[:, check] = bits[:, covered].sum(axis=1) % 2
    bits[:, 0] = bits.sum(axis=1) % 2
    for row in random.choice(FRAMES, DAMAGED, replace=False):
        bits[row, random.choice(16, 2, replace=False)] ^= 1
    return bits


if __name__ == "__main__":
    TARGET.write_text("".join("".join(map(str, row)) + "\n" for row in frames()))
