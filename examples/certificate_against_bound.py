"""
What a certificate saves
========================

How likely is it that a second capture gives a different answer? There are three ways to know: a
bound that holds for every distribution, before a row is seen; a certificate from the rows
themselves, at a stated confidence; and the true value, measured with many captures. For a
probability of 0.05 the bound needs 2 · 10⁹ rows. Here captures of 2,000 rows already agree, and
15,000 rows certify it.
"""

# %%
# Frames
# ------
# As in ``make demo``: 33 payload bits, some hardly ever set, 8 check bits, one frame in fifty
# damaged. The window is a fraction of the rows, the same for all sizes.

import matplotlib.pyplot as plt
import numpy as np

from flagstone import AffineSpan, IndexRule, plan
from flagstone.guarantees import index_rho
from flagstone.plots import OKABE_ITO, style

SEED = 2026
DIM = 42  # 41 bits and the constant
T_MIN, T_MAX = 0.012, 0.020
_random = np.random.RandomState(41)
KEYS, CONSTANT = _random.randint(0, 2, size=(33, 8)), _random.randint(0, 2, size=8)


def capture(m: int, seed: int) -> np.ndarray:
    """Return m frames."""
    random = np.random.RandomState(seed)
    payload = (random.random_sample((m, 33)) < np.geomspace(0.5, 0.06, 33)).astype(np.uint8)
    frames = np.hstack([payload, (payload @ KEYS + CONSTANT) % 2]).astype(np.uint8)
    hit = np.flatnonzero(random.random_sample(m) < 0.02)
    frames[hit] ^= (random.random_sample((len(hit), 41)) < 0.1).astype(np.uint8)
    return frames


def model() -> AffineSpan:
    """Return the learner that all captures share."""
    return AffineSpan(rule=IndexRule(t_min=T_MIN, t_max=T_MAX), random_state=SEED)


# %%
# For every number of rows: the bound, certificates of four captures, and the share of forty
# captures that differ from the most frequent answer.

sizes = [2_000, 5_000, 10_000, 15_000, 20_000, 30_000, 50_000]
bounds, certified, differing = [], [], []
for m in sizes:
    fits = [model().fit(capture(m, seed)) for seed in range(4)]
    window = fits[0].finding_.window
    bounds.append(index_rho(DIM, window.length, start=window.start, n_rows=m))
    found = [fit.guarantee_ for fit in fits]
    certified.append([1.0 if f.certified.rho is None else f.certified.rho for f in found])
    prints = [fit.fingerprint_ for fit in fits]
    if m <= 10_000:
        prints += [model().fit(capture(m, seed)).fingerprint_ for seed in range(4, 40)]
    most = max(prints.count(one) for one in set(prints))
    differing.append(1 - most / len(prints))
    print(
        f"{m:7,} rows: bound {bounds[-1]:7.2f}, certified {np.median(certified[-1]):.1e} (median), "
        f"{differing[-1]:.2f} of {len(prints)} captures differ"
    )

# %%
# Rows for ρ ≤ 0.05, in advance:

print(plan(dim=DIM, rho=0.05, eps=0.1))

# %%
# The gap, closed
# ---------------
# A bound above 1 says nothing. The certificates begin to speak at some ten thousand rows, and
# soon say more than anybody needs (the plot ends at 1e-9).

with style():
    fig, axis = plt.subplots(figsize=(7, 3.4), layout="constrained")
    axis.plot(
        sizes, bounds, "--s", color=OKABE_ITO["orange"], label="proven for every distribution"
    )
    for column in range(4):
        axis.plot(
            sizes,
            [max(row[column], 1e-9) for row in certified],
            "o",
            color=OKABE_ITO["blue"],
            alpha=0.7,
            label="certified, four captures" if column == 0 else None,
        )
    axis.plot(
        sizes, [max(float(np.median(row)), 1e-9) for row in certified], color=OKABE_ITO["blue"]
    )
    axis.axhline(1, color=OKABE_ITO["grey"], linestyle=":", linewidth=1)
    axis.annotate("a bound above 1 says nothing", (sizes[-1], 1.5), fontsize=7, ha="right")
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_ylim(3e-10, 3e2)
    axis.set_xticks(sizes, [f"{m:,}" for m in sizes])
    axis.minorticks_off()
    axis.set_xlabel("rows of a capture")
    axis.set_ylabel("probability ρ that\ntwo captures differ")
    axis.legend(loc="lower left")
plt.show()
