"""
A decision tree and a 3-junta, learned exactly
==============================================

A parity learner answers ⊥ if no linear rule fits. But every function of three switches, and every
decision tree of depth three, is a sum of *products* of at most three columns. With ``degree=3``
products are added as columns, and the same learner finds the rule, with the same guarantees for
the larger number of columns.
"""

# %%
# Two rules on ten switches
# -------------------------
# A *junta* depends on three switches only; the tree asks three questions on each path. The switches
# are not fair: the first is on in half of the rows, the last in one of twenty.

import time
import warnings

import matplotlib.pyplot as plt
import numpy as np

from flagstone import GF, ParityClassifier
from flagstone.encoding import Monomials
from flagstone.errors import ReplicabilityWarning
from flagstone.plots import OKABE_ITO, style

ROWS, PAIRS = 20_000, 20
SHARES = np.linspace(0.5, 0.05, 10)


def tree(X: np.ndarray) -> np.ndarray:
    """A decision tree of depth three."""
    left = np.where(X[:, 2] == 1, X[:, 4], 1 - X[:, 5])
    right = np.where(X[:, 7] == 1, X[:, 1], X[:, 9])
    return np.where(X[:, 0] == 1, left, right)


def junta(X: np.ndarray) -> np.ndarray:
    """Most of three switches are on."""
    return (X[:, 1] + X[:, 6] + X[:, 8] >= 2).astype(int)


def sample(rule, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return fresh rows and their labels."""
    X = (np.random.RandomState(seed).random_sample((ROWS, 10)) < SHARES).astype(int)
    return X, rule(X)


# %%
# How many columns that makes is known before a row is read:

names = tuple(f"x{i}" for i in range(10))
for degree in (1, 2, 3):
    print(f"degree {degree}: {Monomials(GF(2), degree, names).count} products")

# %%
# Linear against degree 3
# -----------------------

warnings.simplefilter("ignore", ReplicabilityWarning)  # what ⊥ means is said below
results = {}
for name, rule in (("tree", tree), ("3-junta", junta)):
    for degree in (1, 3):
        equal, bottom, accuracy, begun = 0, 0, [], time.perf_counter()
        for pair in range(PAIRS):
            a, b = (
                ParityClassifier(degree=degree, random_state=pair).fit(*sample(rule, 2 * pair + i))
                for i in (1, 2)
            )
            bottom += a.is_bottom_
            equal += a.fingerprint_ == b.fingerprint_
            if not a.is_bottom_:
                X, y = sample(rule, 1000 + pair)
                accuracy.append(float((a.predict(X) == y).mean()))
        right = float(np.mean(accuracy)) if accuracy else 0.0
        results[f"{name}, degree {degree}"] = right, equal / PAIRS, bottom / PAIRS
        print(
            f"{name}, degree {degree}: ⊥ in {bottom} of {PAIRS}, accuracy {right:.4f}, equal rules "
            f"in {equal} of {PAIRS} ({(time.perf_counter() - begun) / PAIRS:.2f} s a pair)"
        )

# %%
# The junta as it is written:

X, y = sample(junta, 1)
model = ParityClassifier(degree=3, choice="sparsest", random_state=2026).fit(X, y)
print(model.formula_)

# %%
# The linear learner answers ⊥ every time, which is right: no linear rule fits. In degree 3 the
# rule is right on 99.96 % of fresh rows. Two samples give *equal* rules in 12 of 20 pairs: three
# switches that are rarely on together are a rare direction, and one sample may lack it. Where it is
# missing, the rules differ on these few rows only. More rows help, as many as 177 columns need.

with style():
    fig, axis = plt.subplots(figsize=(6.0, 2.6), layout="constrained")
    kinds = (("right", "blue"), ("equal rules", "orange"), ("⊥", "grey"))
    for shift, (label, color) in zip((0.27, 0.0, -0.27), kinds, strict=True):
        values = [found[[k[0] for k in kinds].index(label)] for found in results.values()]
        places = [len(results) - i + shift for i in range(len(results))]
        bars = axis.barh(places, values, 0.25, color=OKABE_ITO[color], label=label)
        axis.bar_label(bars, fmt="%.2f", padding=3, fontsize=6)
    axis.set_yticks(range(len(results), 0, -1), list(results))
    axis.set_xlim(0, 1.12)
    axis.set_xlabel("share of pairs (right: of rows)")
    axis.legend(loc="lower right", fontsize=6)
plt.show()
