"""Which space do these radio frames live in?

`frames.txt` holds 600 frames of 16 bits. They obey XOR checks that nobody wrote down, and six of
them were damaged on the way. Elimination over all frames sees every damage. The flag sees how
*often* each space is filled, so the space that fills nearly all of its sets stands out, and the
span of a set drawn by published coins is the same for almost any other sample of frames.
"""

from pathlib import Path

import numpy as np

from flagstone.coins import Coins
from flagstone.flag import Flag
from flagstone.subspace import Subspace

SEED = 2026
WINDOW = range(7, 38)


def main() -> None:
    text = (Path(__file__).parent / "frames.txt").read_text().split()
    frames = np.array([[int(bit) for bit in line] for line in text], dtype=np.uint8)

    everything = Subspace.span(frames)
    print(f"{len(frames)} frames of {frames.shape[1]} bits.")
    print(f"All of them together span {everything.dim} dimensions: a single damage is enough.\n")

    flag = Flag(frames.shape[1]).update(frames)
    print("The stable partition, as a flag of nested spaces:")
    for level in flag.levels():
        first, last = level.first_index, level.first_index + level.multiplicity - 1
        print(f"  sets {first:>3} to {last:>3} span a space of dimension {level.dim:>2}")

    t = WINDOW[Coins(SEED).integers("threshold", len(WINDOW))]
    span = flag.span_at(t)
    checks = span.annihilator()
    print(f"\nSeed {SEED} picks set {t}: dimension {span.dim}, hence {checks.dim} XOR checks:")
    for row in checks.basis:
        print("  " + " ⊕ ".join(f"x{i}" for i in np.flatnonzero(row)) + " = 0")
    broken = np.flatnonzero(~span.contains(frames))
    print(f"Frames that break them: {', '.join(map(str, broken))}")
    print(f"Fingerprint of the span: {span.fingerprint()[:16]}")


if __name__ == "__main__":
    main()
