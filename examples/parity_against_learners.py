"""
A parity among irrelevant columns, against other learners
=========================================================

Ten switches, and an alarm that is the XOR of five of them; one label in a hundred is wrong. The
rule is short, exact, and invisible to learners that look at a few columns at a time: the alarm is
independent of any four of them. We compare accuracy, and how often two samples lead to the same
classifier.
"""

# %%
# The contest
# -----------
# 112 rows each time, a tenth of the table of all 1,024 states. A pair of runs gets two fresh
# samples and one ``random_state``. They *agree* if they predict the same on all 1,024 states.

import itertools
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.tree import DecisionTreeClassifier

from flagstone import IndexRule, ParityClassifier
from flagstone.plots import OKABE_ITO, style

warnings.simplefilter("ignore", ConvergenceWarning)  # 500 iterations are ours to choose
PAIRS, ROWS = 20, 112
STATES = np.array(list(itertools.product([0, 1], repeat=10)))
CHOSEN = [0, 1, 4, 6, 8]
TRUTH = STATES[:, CHOSEN].sum(axis=1) % 2


def sample(random: np.random.RandomState) -> tuple[np.ndarray, np.ndarray]:
    """Return fresh rows and their labels, one in a hundred flipped."""
    X = random.randint(0, 2, size=(ROWS, 10))
    y = X[:, CHOSEN].sum(axis=1) % 2 ^ (random.random_sample(ROWS) < 0.01)
    return X, y


LEARNERS = {
    "ParityClassifier": lambda seed: ParityClassifier(
        rule=IndexRule(t_min=4, t_max=6), random_state=seed
    ),
    "decision tree": lambda seed: DecisionTreeClassifier(random_state=seed),
    "random forest": lambda seed: RandomForestClassifier(50, random_state=seed),
    "gradient boosting": lambda seed: GradientBoostingClassifier(random_state=seed),
    "neural net": lambda seed: MLPClassifier((32,), max_iter=500, random_state=seed),
    "nearest neighbours": lambda seed: KNeighborsClassifier(),
    "logistic regression": lambda seed: LogisticRegression(),
}

# %%
# The window {4..6} was fixed beforehand: 112 rows of twelve columns (ten switches, a constant,
# the label) fill about ten sets, and one, two or three flipped labels spoil the first three at
# most.

results = {}
for name, make in LEARNERS.items():
    accuracy, agree = [], []
    for pair in range(PAIRS):
        random = np.random.RandomState(1000 + pair)
        runs = [make(pair).fit(*sample(random)).predict(STATES) for _ in range(2)]
        accuracy += [float(np.mean(run == TRUTH)) for run in runs]
        agree.append(np.array_equal(*runs))
    results[name] = float(np.mean(accuracy)), float(np.mean(agree))
    print(f"{name:20} accuracy {results[name][0]:.3f}   agreement {results[name][1]:.2f}")

# %%
# Accuracy *and* replicability
# ----------------------------
# The other learners guess: on states that they have not seen, a parity looks like a coin. They
# are also never twice the same. What a parity learner cannot do is say anything about rules
# that are *not* linear: see :doc:`/guide/limits`.

with style():
    fig, axis = plt.subplots(figsize=(6.5, 3.2), layout="constrained")
    names = list(results)
    for shift, index, label, color in (
        (0.2, 0, "accuracy", "blue"),
        (-0.2, 1, "agreement of two runs", "orange"),
    ):
        values = [results[name][index] for name in names]
        places = [len(names) - i + shift for i in range(len(names))]
        bars = axis.barh(places, values, 0.38, color=OKABE_ITO[color], label=label)
        axis.bar_label(bars, fmt="%.2f", padding=3, fontsize=6)
    axis.axvline(0.5, color=OKABE_ITO["grey"], linestyle=":", linewidth=1)
    axis.set_yticks(range(len(names), 0, -1), names)
    axis.set_xlim(0, 1.08)
    axis.set_xlabel("share (dotted: guessing)")
    axis.legend(loc="lower right")
plt.show()
