"""
The check digit of book numbers, over GF(11)
============================================

Two catalogues list ISBN-10 numbers; one in two hundred has a typo. The check is not given: the
numbers, as rows over GF(11) (an X is 10), obey one linear equation, and flagstone finds the same
one in both catalogues. Plain elimination fails at the first typo.
"""

# %%
# Two catalogues
# --------------

import matplotlib.pyplot as plt
import numpy as np

from flagstone import LinearSpan, ParityClassifier
from flagstone.estimators import EliminationClassifier
from flagstone.plots import OKABE_ITO, style

SEED = 2026
TYPOS = 0.005
CONTAMINATION = 0.01  # what we allow for: twice that


def catalogue(n: int, seed: int) -> np.ndarray:
    """Return n valid numbers, a few of them with one digit mistyped."""
    rng = np.random.RandomState(seed)
    digits = rng.randint(0, 10, size=(n, 9))
    check = (-digits @ np.arange(10, 1, -1)) % 11
    numbers = np.column_stack([digits, check])
    wrong = rng.choice(n, size=int(TYPOS * n), replace=False)
    place = rng.randint(0, 9, size=len(wrong))
    numbers[wrong, place] = (numbers[wrong, place] + rng.randint(1, 10, size=len(wrong))) % 10
    return numbers


# %%
# The equation
# ------------
# ``LinearSpan`` asks which equations Ax = 0 nearly all rows obey. There is one, and each
# catalogue finds it by itself.

spans = {}
for name, seed in (("first", 1), ("second", 2)):
    books = catalogue(8000, seed)
    span = LinearSpan(field=11, contamination=CONTAMINATION, random_state=SEED).fit(books)
    spans[name] = span, books
    print(f"{name} catalogue: {span.formula_}")
    print(f"  fingerprint {span.fingerprint_[:16]}")
    print(f"  {np.count_nonzero(span.predict(books) == -1)} numbers break the check")
    print(f"  {span.guarantee_}")

# %%
# The last digit as a rule
# ------------------------

rule = ParityClassifier(field=11, contamination=CONTAMINATION, random_state=SEED)
rule.fit(books[:, :9], books[:, 9])
print(f"The last digit from the others: {rule.formula_}")
third = catalogue(4000, 3)
print(f"On a third catalogue: {rule.measure(third[:, :9], third[:, 9])}")

# %%
# Elimination uses every number. A single typo makes the system unsolvable, and the answer
# ⊥.

plain = EliminationClassifier(field=11).fit(books[:, :9], books[:, 9])
print(f"Plain elimination says: {plain.formula_}")

# %%
# How the flag tells
# ------------------
# The sets of the stable partition shrink as rare directions run out. Typos fill the first sets
# only: there the span is the whole space. From then on, for hundreds of sets, it is the
# hyperplane of valid numbers. The threshold that the coins draw lies past the 80 sets that 1 %
# of bad rows could fill, and so on the long step.

with style():
    fig, axes = plt.subplots(1, 2, figsize=(8, 3), layout="constrained", width_ratios=[3, 2])
    for (name, (span, _)), color, dashes in zip(
        spans.items(), ("blue", "orange"), ("-", "--"), strict=True
    ):
        dims = [span.flag_.dim_at(j) for j in range(1, 900)]
        axes[0].plot(
            range(1, 900),
            dims,
            dashes,
            drawstyle="steps-mid",
            color=OKABE_ITO[color],
            label=f"{name} catalogue",
        )
    low, high = span.finding_.window.t_min, span.finding_.window.t_max
    axes[0].axvspan(low, high, color=OKABE_ITO["green"], alpha=0.2, label="window of thresholds")
    axes[0].set_xlabel("set j of the partition")
    axes[0].set_ylabel("dimension of its span")
    axes[0].legend(loc="lower left")
    coefficients = spans["first"][0].constraints_.augmented[0, :10]
    axes[1].bar(range(1, 11), coefficients, color=OKABE_ITO["blue"])
    axes[1].set_xticks(range(1, 11))
    axes[1].set_xlabel("digit")
    axes[1].set_title("what both found: Σ k·digit(k) = 0 (mod 11)", fontsize=8)
    axes[1].set_ylabel("coefficient (mod 11)")
plt.show()
