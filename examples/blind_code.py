"""
An unknown code: length, checks and generator from noisy words
==============================================================

A receiver delivers a stream of bits. It was encoded with a block code, but which one, how long its
words are and where they begin is unknown, and some bits are flipped. If the stream is cut at the
right length and offset, the words obey linear equations; otherwise they do not.
"""

# %%
# A stream
# --------
# Words of the BCH code (31, 21), which corrects two errors, with one bit in a thousand flipped:
# three words in a hundred are damaged. The receiver joined in the middle of a word.

import matplotlib.pyplot as plt
import numpy as np

from flagstone import IndexRule, LinearSpan
from flagstone.plots import OKABE_ITO, style

SEED, LENGTH, GENERATOR = 2026, 31, 0b11101101001  # x^10 + x^9 + x^8 + x^6 + x^5 + x^3 + 1


def stream(words: int, seed: int) -> np.ndarray:
    """Return a stream of bits: words of the code, a few bits flipped, the first 12 missing."""
    random = np.random.RandomState(seed)
    taps = [i for i in range(11) if GENERATOR >> (10 - i) & 1]
    message = random.randint(0, 2, size=(words, 21))
    code = np.zeros((words, LENGTH), dtype=np.int64)
    for tap in taps:
        code[:, tap : tap + 21] += message
    bits = (code % 2).ravel().astype(np.uint8)
    bits ^= (random.random_sample(len(bits)) < 0.001).astype(np.uint8)
    return bits[12:]


bits = stream(16_000, 1)
print("".join(map(str, bits[:70])), "…")

# %%
# Which length?
# -------------
# For every length n we look at the stream through windows of 2n − 1 bits, n bits apart: if n is
# right, a whole word lies in each of them, in the same place, wherever words begin. Then
# equations hold. Thresholds past the first half of the sets keep damaged words out. (Windows
# overlap, so their rows are not independent: this is exploring, and promises nothing.)


def equations(length: int, offset: int = 0, width: int = 0) -> int:
    """Return how many check equations hold in windows of this width, ``length`` bits apart."""
    width = width or length
    rows = np.lib.stride_tricks.sliding_window_view(bits[offset:], width)[::length]
    sets = len(rows) // width
    model = LinearSpan(rule=IndexRule(t_min=sets // 2, t_max=3 * sets // 4), random_state=SEED).fit(
        rows
    )
    return width - model.subspace_.dim


lengths = range(8, 66)
counts = [equations(n, width=2 * n - 1) for n in lengths]
print({n: count for n, count in zip(lengths, counts, strict=True) if count})

# %%
# And where do words begin?
# -------------------------
# More than 21 bits of a word obey equations, but fewer of them: all ten hold only where a word
# begins.

offsets = [equations(LENGTH, offset) for offset in range(LENGTH)]
begin = int(np.argmax(offsets))
print(f"words begin at bit {begin}: {offsets[begin]} equations")

# %%
# The generator
# -------------
# The words kept span a cyclic code. The last row of its reduced basis is the word of lowest
# degree: the generator polynomial.

words = np.lib.stride_tricks.sliding_window_view(bits[begin:], LENGTH)[::LENGTH]
model = LinearSpan(rule=IndexRule(t_min=0.015, t_max=0.03), random_state=SEED).fit(words)
row = model.subspace_.basis[-1]
generator = int("".join(map(str, row[np.flatnonzero(row)[0] :])), 2)
print(f"generator {generator:#b}, as encoded: {generator == GENERATOR}")
print(f"{np.mean(model.predict(words) == -1):.1%} of the words are damaged")
print(model.guarantee_)

# %%
# The stream under all rulers
# ---------------------------

with style():
    fig, axes = plt.subplots(1, 2, figsize=(8, 3), layout="constrained", width_ratios=[3, 2])
    axes[0].bar(lengths, counts, color=OKABE_ITO["blue"])
    axes[0].set_xlabel("assumed length of a word")
    axes[0].set_ylabel("equations that hold")
    axes[0].annotate("31", (31, counts[31 - 8]), ha="center", va="bottom", fontsize=9)
    axes[0].annotate("62", (62, counts[62 - 8]), ha="center", va="bottom", fontsize=9)
    colors = [OKABE_ITO["vermillion" if i == begin else "blue"] for i in range(LENGTH)]
    axes[1].bar(range(LENGTH), offsets, color=colors)
    axes[1].set_xlabel("assumed first bit, at length 31")
plt.show()
