"""The whole story in half a minute: two labs, one seed, the same hidden checks.

Two labs record radio frames of 41 bits: 33 bits of payload and an 8-bit digest that is a linear
function of them (with a constant), as cheap sensors send it. The digest is unknown. The payload
is skewed (some bits are rarely set), and each frame is damaged in transmission with probability
2 %. Each lab asks which check equations its own frames obey, with one published seed; its own rows
then certify how often a fresh capture gives the same answer.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from flagstone.algebra import AffineSubspace, Subspace
from flagstone.answers import Constraints
from flagstone.finding import Finding
from flagstone.store import load

ROWS, PAYLOAD, DIGEST, DAMAGED = 50_000, 33, 8, 0.02
FOLDER = Path("build") / "demo"


def digest_matrix() -> tuple[np.ndarray, np.ndarray]:
    """Return the hidden digest: y = xK + c over GF(2)."""
    random = np.random.RandomState(41)
    return random.randint(0, 2, size=(PAYLOAD, DIGEST)), random.randint(0, 2, size=DIGEST)


def capture(lab_seed: int, rows: int = ROWS) -> np.ndarray:
    """Return fresh frames of one lab, shape (rows, 41)."""
    random = np.random.RandomState(lab_seed)
    K, c = digest_matrix()
    often = np.geomspace(0.5, 0.06, PAYLOAD)  # how often each payload bit is set
    payload = (random.random_sample((rows, PAYLOAD)) < often).astype(np.uint8)
    frames = np.concatenate([payload, (payload @ K + c) % 2], axis=1).astype(np.uint8)
    hit = np.flatnonzero(random.random_sample(rows) < DAMAGED)
    frames[hit] ^= (random.random_sample((len(hit), PAYLOAD + DIGEST)) < 0.1).astype(np.uint8)
    return frames


def write_hex(frames: np.ndarray, path: Path) -> None:
    """Write frames as receivers print them: {41}cfb9f00d648."""
    bits = frames.shape[1]
    padded = np.pad(frames, ((0, 0), (0, -bits % 8)))
    digits = -(-bits // 4)
    lines = (f"{{{bits}}}{bytes(row).hex()[:digits]}\n" for row in np.packbits(padded, axis=1))
    path.write_text("".join(lines))


def planted() -> Constraints:
    """Return the checks that were planted, in canonical form."""
    K, c = digest_matrix()
    A = np.concatenate([K.T, np.eye(DIGEST, dtype=np.int64)], axis=1)
    direction = Subspace.span(A).annihilator()
    point = np.concatenate([np.zeros(PAYLOAD, dtype=np.int64), c])
    return Constraints.from_subspace(AffineSubspace.from_point(point, direction))


def flagstone(command: str, lines: int | None = None) -> None:
    """Run the command line as a user would; show what it prints, or only the first lines."""
    print(f"\n$ flagstone {command}", flush=True)
    program = [sys.executable, "-c", "from flagstone.cli import main; main()"]
    done = subprocess.run(
        [*program, *shlex.split(command)], check=True, stdout=subprocess.PIPE, text=True
    )
    print("".join(done.stdout.splitlines(keepends=True)[:lines]), end="", flush=True)


def main() -> int:
    begin = time.perf_counter()
    FOLDER.mkdir(parents=True, exist_ok=True)
    print(f"Two labs record {ROWS:,} frames each; one in {1 / DAMAGED:.0f} is damaged.")
    for lab, lab_seed in (("a", 1), ("b", 2)):
        write_hex(capture(lab_seed), FOLDER / f"lab-{lab}.txt")
    findings = []
    for lab in ("a", "b"):
        name = FOLDER / f"lab-{lab}"
        flagstone(
            f"constraints {name}.txt --format hex --contamination {DAMAGED} --seed 2026 "
            f"-o {name}.json --report {name}.html --plot {name}.svg --force"
        )
        findings.append(load(f"{name}.json"))
    flagstone(f"compare {FOLDER / 'lab-a.json'} {FOLDER / 'lab-b.json'}")

    print("\nPlain elimination uses every frame (the window {1..1}: the span of all rows):")
    for lab in ("a", "b"):
        name = FOLDER / f"lab-{lab}"
        flagstone(f"constraints {name}.txt --format hex --t-max 1 --no-measure --seed 2026", 2)

    a, b = findings
    assert isinstance(a, Finding)
    assert isinstance(b, Finding)
    same = a.fingerprint == b.fingerprint
    right = a.answer == planted()
    print(f"\nSame equations from both labs: {'yes' if same else 'NO'}")
    print(f"Exactly the {DIGEST} planted checks:  {'yes' if right else 'NO'}")
    print(f"Open {FOLDER / 'lab-a.html'} for the report. {time.perf_counter() - begin:.0f} s")
    return 0 if same and right else 1


if __name__ == "__main__":
    sys.exit(main())
