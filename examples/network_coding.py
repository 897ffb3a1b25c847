"""
Network coding over GF(2^8), with polluted packets
==================================================

In network coding, every node sends random combinations of the packets it has received. A receiver
that has enough of them solves for the originals. A single node that injects garbage breaks this:
its packets are combined further, and elimination, which uses the first independent packets, decodes
noise. The honest packets lie in *one* space of known shape, and the flag finds it.
"""

# %%
# A picture, in packets
# ---------------------
# 24 rows of 48 grey pixels, each row a packet of 48 bytes. A coded packet is a combination of
# all 24 over GF(2^8), preceded by its 24 coefficients: 72 bytes.

import matplotlib.pyplot as plt
import numpy as np

from flagstone import GF, IndexRule, LinearSpan, Subspace
from flagstone.plots import style

SEED, ROWS, COLUMNS = 2026, 24, 48
F = GF(2**8)

y, x = np.mgrid[0:ROWS, 0:COLUMNS]
image = (90 + 80 * np.sin(x / 5) * np.cos(y / 4)).astype(np.uint8)
image[6:18, 8:40] = np.where((x + y)[6:18, 8:40] % 8 < 4, 240, 20)  # a flag, of stones
originals = np.hstack([np.eye(ROWS, dtype=np.uint8), image])


def received(n: int, seed: int) -> np.ndarray:
    """Return n packets as they arrive at one sink; two in a hundred are polluted."""
    random = np.random.RandomState(seed)
    coefficients = random.randint(0, 256, size=(n, ROWS))
    packets = F.dot(F.rows(coefficients), originals.T).astype(np.uint8)
    polluted = random.random_sample(n) < 0.02
    packets[polluted, ROWS:] = random.randint(0, 256, size=(int(polluted.sum()), COLUMNS))
    return packets


sinks = [received(1500, seed) for seed in (1, 2)]

# %%
# Elimination
# -----------
# The first 24 independent packets, solved: one polluted packet among them is enough.

first = Subspace.span(sinks[0][:40], F)
print(f"40 packets span {first.dim} dimensions, not {ROWS}")
plain = np.array(first.basis, dtype=np.uint8)[:ROWS, ROWS:]

# %%
# The flag
# --------
# Packets as they came, no filtering. Polluted ones fill few sets of the partition. The reduced
# basis of the space that is kept *is* the solution: the identity, and the picture.

models = [
    LinearSpan(rule=IndexRule(t_min=0.01, t_max=0.025), field="2^8", random_state=SEED).fit(packets)
    for packets in sinks
]
for model, packets in zip(models, sinks, strict=True):
    bad = np.count_nonzero(model.predict(packets) == -1)
    print(f"dimension {model.subspace_.dim}, {bad} polluted packets, {model.fingerprint_[:16]}")
decoded = [np.array(model.subspace_.basis, dtype=np.uint8) for model in models]
print("decoded:", all(np.array_equal(basis, originals) for basis in decoded))

# %%
# What the sinks see
# ------------------

with style():
    fig, axes = plt.subplots(1, 3, figsize=(8, 1.9), layout="constrained")
    for axis, shown, title in (
        (axes[0], plain, "elimination"),
        (axes[1], decoded[0][:, ROWS:], "replicable span, first sink"),
        (axes[2], decoded[1][:, ROWS:], "replicable span, second sink"),
    ):
        axis.imshow(shown, cmap="gray", vmin=0, vmax=255)
        axis.set_title(title, fontsize=9)
        axis.axis("off")
plt.show()
