"""
Do two tables agree? A key check
================================

One system stores orders, another one the lines of these orders. The order number is a key, and
in the joined table some facts are stored twice. Which ones? The equations of the joined table over
QQ answer that: totals that are sums of lines, counts that match, and a key that is composed of
other columns. Orders in which the systems disagree are listed.
"""

# %%
# Two tables
# ----------

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.tree import DecisionTreeRegressor

from flagstone import AffineSpan
from flagstone.plots import OKABE_ITO, style

SEED = 2026


def systems(n: int, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return orders and lines, amounts in cents; of one order in 250 only one line arrived."""
    rng = np.random.RandomState(seed)
    year, number = rng.choice([2024, 2025, 2026], n), rng.permutation(n) + 1
    orders = pd.DataFrame({"year": year, "number": number, "order": 100_000 * year + number})
    size = rng.randint(1, 6, n)
    lines = pd.DataFrame({"order": np.repeat(orders["order"], size).to_numpy()})
    lines["pieces"] = rng.randint(1, 4, len(lines))
    lines["cents"] = lines["pieces"] * rng.randint(99, 5000, len(lines))
    sums = lines.groupby("order").agg(pieces=("pieces", "sum"), goods=("cents", "sum"))
    orders = orders.join(sums, on="order")
    orders["shipping"] = rng.choice([0, 490, 990], n)
    orders["total"] = orders["goods"] + orders["shipping"]
    kept = ~lines["order"].duplicated() | ~lines["order"].isin(orders["order"][: n // 250])
    return orders.drop(columns="goods"), lines[kept]


orders, lines = systems(2500, 1)
lines.head()

# %%
# The joined table and its equations
# ----------------------------------

per_order = lines.groupby("order").agg(
    line_pieces=("pieces", "sum"), line_cents=("cents", "sum"), n_lines=("cents", "size")
)
joined = orders.join(per_order, on="order").sample(frac=1, random_state=SEED)
span = AffineSpan(field="QQ", contamination=0.01, random_state=SEED).fit(joined)
print(span.finding_.headline)
for line in span.finding_.lines:
    print("  ", line)

# %%
# Orders in which the systems disagree
# ------------------------------------

wrong = span.predict(joined) == -1
print(f"{wrong.sum()} orders; the first of them:")
print(joined[wrong].head(3).to_string(index=False))

# %%
# What other tools say
# --------------------
# ``order`` is a key, so every dependency order → column holds, whatever the column contains. The
# check also passes on a table of nonsense.

nonsense = joined.assign(total=np.random.RandomState(1).permutation(joined["total"]))
for name, frame in (("joined", joined), ("shuffled totals", nonsense)):
    holds = frame.groupby("order")["total"].nunique().max() == 1
    print(f"order → total in the table with {name}: {'holds' if holds else 'does not hold'}")

# %%
# A regression tree predicts totals to within some euros. It cannot say that they are sums, and
# treats lost lines as noise.

X = joined[["line_cents", "shipping", "line_pieces", "n_lines"]]
tree = DecisionTreeRegressor(max_leaf_nodes=200, random_state=SEED).fit(X, joined["total"])
off = np.abs(tree.predict(X) - joined["total"]) / 100
print(f"tree of 200 leaves: R² = {tree.score(X, joined['total']):.4f}, off by {off.mean():.2f}")

# %%
with style():
    fig, ax = plt.subplots(figsize=(6, 3), layout="constrained")
    rest = (joined["total"] - joined["shipping"] - joined["line_cents"]) / 100
    for some, color, label in ((~wrong, "blue", "agree"), (wrong, "orange", "lines are lost")):
        ax.plot(joined["total"][some] / 100, rest[some], ".", color=OKABE_ITO[color], label=label)
    ax.set_xlabel("total of the order (euros)")
    ax.set_ylabel("total - shipping - lines")
    ax.legend()
plt.show()
