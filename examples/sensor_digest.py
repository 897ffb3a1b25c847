"""
A radio sensor's digest, from two captures
==========================================

A cheap weather sensor sends five bytes and an undocumented check byte. Two people record it
independently; one frame in fifty arrives damaged. Each looks for the equations that nearly all of
their *own* frames obey, with one published seed. They get the same equations, the name of the
checksum, and code for a decoder.
"""

# %%
# Two captures
# ------------
# The sensor sends its identity, a channel, battery and temperature, humidity, and the digest
# that rtl_433 calls ``lfsr_digest8``. The captures share nothing but the sensor.

import contextlib
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from flagstone import load
from flagstone.cli import main
from flagstone.frames.digests import analyze
from flagstone.plots import OKABE_ITO, style

SEED = 2026


def digest(frames: np.ndarray, generator: int = 0x98, key: int = 0xF1) -> np.ndarray:
    """Return the LFSR digest of each frame: the sum of the register's states where bits are 1."""
    total = np.zeros(len(frames), dtype=np.uint8)
    for bit in np.unpackbits(frames, axis=1).T:
        total ^= bit * np.uint8(key)
        key = key >> 1 ^ generator if key & 1 else key >> 1
    return total


def capture(n: int, seed: int) -> np.ndarray:
    """Return n frames of six bytes, one in fifty of them damaged on the air."""
    random = np.random.RandomState(seed)
    temperature = np.clip(random.normal(210, 60, n), -200, 600).astype(int) + 500
    frames = np.column_stack(
        [
            np.full(n, 0x5D),
            random.randint(0, 256, n),  # a new identity after every change of batteries
            random.randint(0, 4, n) << 4 | temperature >> 8,
            temperature & 0xFF,
            np.clip(random.normal(60, 15, n), 0, 99).astype(int),
        ]
    ).astype(np.uint8)
    frames = np.column_stack([frames, digest(frames)])
    bits = np.unpackbits(frames, axis=1)
    hit = np.flatnonzero(random.random_sample(n) < 0.02)
    bits[hit] ^= (random.random_sample((len(hit), bits.shape[1])) < 0.1).astype(np.uint8)
    return np.packbits(bits, axis=1)


folder = Path(tempfile.mkdtemp())
for name, rows, seed in (("pilot", 4000, 0), ("lab-a", 20_000, 1), ("lab-b", 20_000, 2)):
    lines = [bytes(frame).hex(" ") for frame in capture(rows, seed)]
    (folder / f"{name}.hex").write_text("\n".join(lines) + "\n")
print("\n".join(lines[:3]))


def flagstone(command: str) -> None:
    """Run the command line, as a shell would."""
    print(f"$ flagstone {command}")
    with contextlib.suppress(SystemExit), contextlib.chdir(folder):
        main(command.split())


# %%
# A protocol
# ----------
# The window is chosen on pilot frames, which are not used again: ``plan --pilot`` finds the widest
# plateau of their flag and puts a window into its middle. Both labs use the same protocol file.

flagstone(
    f"plan --pilot pilot.hex --for constraints --seed {SEED} --max-rows 20000 -o protocol.json"
)

# %%
# One command each
# ----------------

for lab in "ab":
    flagstone(f"frames lab-{lab}.hex --protocol protocol.json -o {lab}.json --max-misfits 0")
    print()

# %%
# The same? Sixteen digits over the telephone answer that.

a, b = (load(folder / f"{lab}.json") for lab in "ab")
print(a.fingerprint[:16], b.fingerprint[:16], a.fingerprint == b.fingerprint)

# %%
# Code for a decoder
# ------------------

flagstone("frames a.json --as c")

# %%
# The digest as a picture
# -----------------------
# What each data bit adds to the check byte. Constant bits add nothing that frames could show;
# every other column is the key, shifted: the register at work. Both captures draw the same
# picture.

fig, axes = plt.subplots(2, 1, figsize=(7.5, 4), sharex=True, layout="constrained")
for axis, lab in zip(axes, "ab", strict=True):
    frames = np.array(
        [list(bytes.fromhex(line)) for line in (folder / f"lab-{lab}.hex").read_text().splitlines()]
    )
    X = np.unpackbits(frames.astype(np.uint8), axis=1)
    analysis = analyze(load(folder / f"{lab}.json").answer, X)
    found = analysis.digests[0]
    with style():
        axis.imshow(analysis.layers.solved.matrix[:, :40], cmap="Blues", vmax=1.4, aspect="auto")
        for i, sign in enumerate(analysis.layers.pattern[:40]):
            if sign != "?":
                axis.axvspan(i - 0.5, i + 0.5, color=OKABE_ITO["grey"], alpha=0.25, linewidth=0)
        for byte in range(1, 5):
            axis.axvline(8 * byte - 0.5, color=OKABE_ITO["grey"], linewidth=0.8)
        axis.set_title(
            f"lab {lab}: {found.name}; {found.rows_broken} of {found.rows_verified:,} frames "
            "do not fit",
            fontsize=9,
            loc="left",
        )
        axis.set_ylabel("check bit")
        axis.grid(False)
axes[1].set_xticks(np.arange(3.5, 40, 8), [f"byte {i}" for i in range(5)])
axes[1].set_xlabel("data bits (grey: constant in all frames)")
plt.show()
