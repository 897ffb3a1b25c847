"""
Which categories go together
============================

A table of mushrooms with ten attributes, each a category, and a class. Which values occur together,
always? With one column per value (one-hot), this is a question about equations over GF(2).
Equations that follow from the encoding (the columns of an attribute sum to 1) are counted, not
listed; the others are put into words.
"""

# %%
# The table
# ---------
# Generated, in the style of the well-known mushroom table: a musty odour comes with a missing ring
# and a yellow stalk.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.tree import DecisionTreeClassifier

from flagstone import AffineSpan, FieldEncoder, ParityClassifier
from flagstone.plots import OKABE_ITO, style

SEED = 2026


def mushrooms(n: int, seed: int) -> pd.DataFrame:
    """Return n specimens, one of 400 with an attribute that was noted wrongly."""
    rng = np.random.RandomState(seed)
    odor = rng.choice(["none", "almond", "anise", "foul", "fishy", "musty"], n,
                      p=[0.42, 0.1, 0.1, 0.22, 0.12, 0.04])  # fmt: skip
    musty, bad = odor == "musty", np.isin(odor, ["foul", "fishy", "musty"])
    table = pd.DataFrame(
        {
            "odor": odor,
            "ring": np.where(musty, "none", rng.choice(["one", "two"], n)),
            "ring_type": np.where(musty, "none", rng.choice(["pendant", "large", "flaring"], n)),
            "stalk": np.where(musty, "yellow", rng.choice(["white", "pink", "brown"], n)),
            "cap": rng.choice(["bell", "conical", "flat", "knobbed"], n),
            "gills": rng.choice(["broad", "narrow"], n),
            "spores": rng.choice(["black", "brown", "white", "green"], n),
            "habitat": rng.choice(["woods", "grass", "paths"], n),
            "class": np.where(bad, "poisonous", "edible"),
        }
    )
    for i in rng.choice(n, n // 400, replace=False):
        table.loc[i, "ring_type"] = "none" if table.loc[i, "odor"] != "musty" else "large"
    return table


table = mushrooms(4000, 1)
table.head()

# %%
# What goes together
# ------------------

encoder = FieldEncoder().set_output(transform="pandas").fit(table)
X = encoder.transform(table)
span = AffineSpan(contamination=0.01, random_state=SEED).fit(X)
print(span.finding_.headline)
for line in (*span.finding_.lines, span.finding_.unlisted):
    print("  ", line)

# %%
# A rule for the class
# --------------------
# The rule with the fewest columns that fits, the same for everyone who uses this seed.

features = X.drop(columns="class")
model = ParityClassifier(contamination=0.01, choice="sparsest", random_state=SEED)
model.fit(features, X["class"])
print(f"{model.formula_}   (class = 1 is poisonous)")
print(model.guarantee_)

# %%
# What other tools say
# --------------------
# Dependencies between whole columns: odor → class holds, and so it should. But odor → ring does
# not, as other odours come with one ring or two; that musty ones have none is lost.

for left, right in (("odor", "class"), ("odor", "ring"), ("ring", "stalk"), ("ring_type", "ring")):
    same = table.groupby(left)[right].agg(lambda group: group.value_counts().iloc[0])
    print(f"{left} → {right}: holds in {same.sum() / len(table):.1%} of the rows")

# %%
# A decision tree explains one column, the class. It is as accurate as the rule, but columns that go
# together stand in for each other in it: where it asks for the ring, the odour is meant.

tree = DecisionTreeClassifier(random_state=SEED).fit(features, X["class"])
splits = [features.columns[i] for i in tree.tree_.feature if i >= 0]
print(f"accuracy {tree.score(features, X['class']):.4f}, splits: {', '.join(splits)}")

# %%
# The picture: specimens by odour and ring type. The equation is the empty cells.

with style():
    counts = pd.crosstab(table["odor"], table["ring_type"])
    fig, ax = plt.subplots(figsize=(5.5, 3), layout="constrained")
    ax.imshow(np.log1p(counts), cmap="Blues", aspect="auto")
    for (i, j), value in np.ndenumerate(counts.to_numpy()):
        color = OKABE_ITO["orange"] if value < 10 else "white" if value > 100 else "black"
        ax.text(j, i, f"{value:,}", ha="center", va="center", color=color)
    ax.set_xticks(range(counts.shape[1]), counts.columns)
    ax.set_yticks(range(counts.shape[0]), counts.index)
    ax.set_xlabel("ring type")
plt.show()
