"""
A first flag: which space do these frames live in?
==================================================

``frames.txt`` holds 600 frames of 16 bits. They obey unknown XOR checks, and six of them were
damaged in transmission. Elimination over all frames is misled by each damaged one. The flag counts
how *often* each space is filled, so the space that nearly all sets span stands out, and the span of
a set drawn by published coins is the same for almost any other sample of frames.
"""

# %%
# All frames together
# -------------------

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from flagstone import Coins, Flag, Subspace
from flagstone.plots import OKABE_ITO, style

SEED = 2026
WINDOW = range(7, 38)

folder = next(
    f for f in (Path("examples"), Path("../examples"), Path()) if (f / "frames.txt").exists()
)
text = (folder / "frames.txt").read_text().split()
frames = np.array([[int(bit) for bit in line] for line in text], dtype=np.uint8)

everything = Subspace.span(frames)
print(f"{len(frames)} frames of {frames.shape[1]} bits.")
print(f"All of them together span {everything.dim} dimensions: a single damage is enough.")

# %%
# Set by set
# ----------
# Put each frame into the first set whose span does not contain it. The spans of the sets are
# nested: a flag.

flag = Flag(frames.shape[1]).update(frames)
for level in flag.levels():
    first, last = level.first, level.last
    print(f"sets {first:>3} to {last:>3} span a space of dimension {level.dim:>2}")

# %%
# Coins pick a set
# ----------------

t = WINDOW[Coins(SEED).integers("threshold", len(WINDOW))]
span = flag.span_at(t)
checks = span.annihilator()
print(f"Seed {SEED} picks set {t}: dimension {span.dim}, hence {checks.dim} XOR checks:")
for row in checks.basis:
    print("  " + " ⊕ ".join(f"x{i}" for i in np.flatnonzero(row)) + " = 0")
broken = np.flatnonzero(~span.contains(frames))
print(f"Frames that break them: {', '.join(map(str, broken))}")
print(f"Fingerprint of the span: {span.fingerprint()[:16]}")

# %%
# The staircase
# -------------
# Two sets show the damage. Fifty agree on one space of dimension 11. Any threshold on that step
# gives the same answer, for this sample and for nearly every other.

with style():
    fig, axis = plt.subplots(figsize=(6.5, 3), layout="constrained")
    dims = [flag.dim_at(j) for j in range(1, 60)]
    axis.bar(range(1, 60), dims, width=0.9, color=OKABE_ITO["sky"])
    axis.axvspan(WINDOW[0] - 0.5, WINDOW[-1] + 0.5, color=OKABE_ITO["green"], alpha=0.2)
    axis.bar([t], [flag.dim_at(t)], width=0.9, color=OKABE_ITO["blue"])
    axis.annotate(f"the coins draw t = {t}", (t, 11), ha="center", va="bottom", fontsize=8)
    axis.annotate("damaged frames", (1.5, 15), xytext=(4, 15.2), va="center", fontsize=8)
    axis.set_ylim(0, 17)
    axis.set_xlabel("set j of the partition (green: the window)")
    axis.set_ylabel("dimension of its span")
plt.show()
