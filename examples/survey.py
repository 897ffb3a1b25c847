"""
A survey with skip logic
========================

A questionnaire asks about smoking only those who smoke, and about children only parents. In the
export such questions are empty. Are they empty exactly where they should be? With
``missing="level"`` an empty cell is a value like any other, and the skip logic appears as
equations. Answers that violate it are listed.
"""

# %%
# The answers
# -----------

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.tree import DecisionTreeClassifier, export_text

from flagstone import AffineSpan, FieldEncoder
from flagstone.plots import OKABE_ITO, style

SEED = 2026


def survey(n: int, seed: int) -> pd.DataFrame:
    """Return n questionnaires; in one of 300 a skipped question was answered anyway."""
    rng = np.random.RandomState(seed)
    smokes = rng.choice(["never", "former", "daily"], n, p=[0.55, 0.25, 0.2])
    children = rng.choice(["none", "one", "more"], n, p=[0.4, 0.25, 0.35])
    daily = rng.choice(["1-10", "11-20", "over 20"], n).astype(object)
    quit_by = rng.choice(["patch", "alone", "course"], n).astype(object)
    care = rng.choice(["home", "nursery", "school"], n).astype(object)
    daily[smokes != "daily"] = None
    quit_by[smokes != "former"] = None
    care[children == "none"] = None
    for i in rng.choice(n, n // 300, replace=False):
        care[i] = "home"
    table = {"smokes": smokes, "daily": daily, "quit_by": quit_by, "children": children}
    return pd.DataFrame(table | {"care": care, "region": rng.choice(list("NESW"), n)})


answers = survey(4000, 1)
answers.head()

# %%
# The skip logic
# --------------
# One column per value. The columns of a question always sum to 1; such equations are only counted.

encoder = FieldEncoder(missing="level").set_output(transform="pandas").fit(answers)
X = encoder.transform(answers)
span = AffineSpan(contamination=0.01, random_state=SEED).fit(X)
print(span.finding_.headline)
for line in (*span.finding_.lines, span.finding_.unlisted):
    print("  ", line)

# %%
# Which answers break it
# ----------------------

wrong = span.predict(X) == -1
print(answers[wrong][["children", "care"]].value_counts(dropna=False).to_string())

# %%
# What other tools say
# --------------------
# The dependency children → care does not hold, because parents answer differently. That it holds
# for people without children cannot be expressed as a functional dependency.

shown = answers.fillna("(missing)")
for left, right in (("children", "care"), ("care", "children"), ("smokes", "daily")):
    most = shown.groupby(left)[right].nunique().max()
    print(f"{left} → {right}: {'holds' if most == 1 else 'does not hold'}")

# %%
# A decision tree finds the rule if you choose the column to explain and the values to group. You
# have to fit one tree per question, and its other splits are noise.

asked = (shown["care"] == "(missing)").to_numpy()
others = pd.get_dummies(shown.drop(columns="care"))
tree = DecisionTreeClassifier(max_depth=3, random_state=SEED).fit(others, asked)
print(export_text(tree, feature_names=list(others.columns), max_depth=2))

# %%
# The picture: which values of which questions go together. Dark: always or never.

with style():
    fig, ax = plt.subplots(figsize=(6.5, 3.2), layout="constrained")
    left = ["smokes", "children"]
    right = ["daily", "quit_by", "care"]
    rows = pd.get_dummies(shown[left])
    columns = pd.get_dummies(shown[right]).filter(like="(missing)")
    share = rows.T.astype(float) @ columns.astype(float) / rows.sum().to_numpy()[:, None]
    ax.imshow(2 * np.abs(share - 0.5), cmap="Blues", vmin=0, vmax=1, aspect="auto")
    for (i, j), value in np.ndenumerate(share.to_numpy()):
        color = "white" if abs(value - 0.5) > 0.3 else OKABE_ITO["black"]
        ax.text(j, i, f"{100 * value:.3g} %", ha="center", va="center", color=color)
    ax.set_xticks(range(len(right)), [f"{name} empty" for name in right])
    ax.set_yticks(range(len(rows.columns)), [c.replace("_", " = ") for c in rows.columns])
plt.show()
