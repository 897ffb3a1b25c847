"""
DRAM banks: XOR functions of address bits, from noisy timings
=============================================================

The bank of a memory address is determined by XORs of address bits, which vendors do not publish.
Reading two addresses of one bank in turn is slow if they are in different rows, so a timing
experiment finds pairs of addresses that share a bank. The XOR of such a pair lies in the kernel of
all bank functions. Timings are noisy, and one pair in fifty is wrong. Elimination uses all of
them, and finds nothing.
"""

# %%
# Pairs of addresses
# ------------------
# Six functions of the address bits 6 to 33, of the kind that is found on desktop machines with
# two channels. A pair is measured as "same bank" rightly in 98 % of the cases.

import matplotlib.pyplot as plt
import numpy as np

from flagstone import LinearSpan, Subspace, suggest_window
from flagstone.frames.digests import Layers
from flagstone.plots import OKABE_ITO, style

SEED = 2026
LOW, HIGH = 6, 34  # bits below 6 address bytes of one cache line
FUNCTIONS = [(6, 13), (14, 18), (15, 19), (16, 20), (17, 21), (7, 8, 9, 12, 13, 18, 19)]
NAMES = [f"a{bit}" for bit in range(LOW, HIGH)]

hidden = np.zeros((len(FUNCTIONS), HIGH - LOW), dtype=np.uint8)
for row, bits in zip(hidden, FUNCTIONS, strict=True):
    row[[bit - LOW for bit in bits]] = 1


def pairs(n: int, seed: int) -> np.ndarray:
    """Return the XORs of n pairs of addresses that were measured to share a bank."""
    random = np.random.RandomState(seed)
    kernel = Subspace.span(hidden).annihilator().basis.astype(np.uint8)
    same = random.randint(0, 2, size=(n, len(kernel))) @ kernel % 2
    wrong = random.random_sample(n) < 0.02
    same[wrong] = random.randint(0, 2, size=(int(wrong.sum()), HIGH - LOW))
    return same


# %%
# Elimination
# -----------
# The more pairs, the fewer functions: with a thousand the span is everything, and nothing
# vanishes on everything.

for n in (50, 200, 1000):
    span = Subspace.span(pairs(n, 1))
    print(f"{n:5} pairs span {span.dim} of 28 dimensions: {span.annihilator().dim} functions")

# %%
# The flag
# --------
# Two machines of the same kind are measured. The window was chosen on pilot pairs of a third,
# and published with the seed.

pilot = suggest_window(pairs(3000, 0), random_state=SEED)
print(pilot)
models = [LinearSpan(**pilot.protocol.parameters).fit(pairs(12_000, seed)) for seed in (1, 2)]
for model in models:
    print(model.fingerprint_[:16], model.guarantee_, sep="\n   ")

# %%
# The functions span a space, and any basis of it will do. The shortest sums are what one would
# wire:

layers = Layers.of(models[0].constraints_)
short = [*layers.pairs, *layers.relations]
if layers.solved is not None:
    short += layers.solved.relations
for relation in short:
    print(relation.text(NAMES))
found = np.zeros((len(short), HIGH - LOW), dtype=np.uint8)
for row, relation in zip(found, short, strict=True):
    row[list(relation.columns)] = 1
print("the hidden functions, exactly:", Subspace.span(found) == Subspace.span(hidden))

# %%
# Found and hidden
# ----------------
# Each line is a function, each column an address bit. Both span the same space: the tables may
# differ, the banks do not.

with style():
    fig, axes = plt.subplots(2, 1, figsize=(7.5, 3.6), sharex=True, layout="constrained")
    for axis, table, title in (
        (axes[0], found, "found, from 12,000 pairs with 2 % wrong"),
        (axes[1], hidden, "wired into the memory controller"),
    ):
        axis.imshow(table, cmap="Blues", vmax=1.4, aspect="auto")
        axis.set_title(title, loc="left", fontsize=9)
        axis.set_yticks(range(len(table)))
        axis.set_ylabel("function")
        axis.grid(False)
        axis.set_xticks(np.arange(-0.5, HIGH - LOW), minor=True)
        axis.grid(which="minor", axis="x", color=OKABE_ITO["grey"], linewidth=0.2)
    axes[1].set_xticks(range(HIGH - LOW), [str(bit) for bit in range(LOW, HIGH)])
    axes[1].set_xlabel("address bit")
plt.show()
