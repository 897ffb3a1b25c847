"""
A ledger over the rationals
===========================

An export of invoices: net amount, tax, gross amount, discount, amount paid. How the columns depend
on each other is not documented, and one row in two hundred has a typing error. Over QQ, decimals
are exact, so the equations look as an accountant would write them; rows that break one are listed
with their cells.
"""

# %%
# The table
# ---------
# Amounts are decimals, not binary floats: 0.1 + 0.2 is 0.3. (Binary floats are read by their
# shortest decimal form, with a warning.)

from decimal import Decimal

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.tree import DecisionTreeRegressor

from flagstone import AffineSpan
from flagstone.plots import OKABE_ITO, style

SEED = 2026


def invoices(n: int, seed: int) -> pd.DataFrame:
    """Return n invoices in cents, a few with a mistyped gross amount, as decimals."""
    rng = np.random.RandomState(seed)
    net = rng.randint(500, 90_000, n)
    tax = (net * rng.choice([19, 7], n) + 50) // 100  # rounded to cents, invoice by invoice
    discount = np.where(rng.rand(n) < 0.3, rng.randint(100, 400, n), 0)
    gross = net + tax
    gross[rng.choice(n, n // 200, replace=False)] += 9  # two digits swapped
    cents = {"net": net, "tax": tax, "gross": gross, "discount": discount}
    cents["paid"] = gross - discount
    return pd.DataFrame({c: [Decimal(int(v)) / 100 for v in values] for c, values in cents.items()})


ledger = invoices(3000, 1)
ledger.head()

# %%
# Its equations
# -------------
# ``contamination`` is the share of wrong rows that we allow for: one in a hundred. The tax is
# rounded to cents, so it is no linear function of the net amount, and no such rule is reported.

span = AffineSpan(field="QQ", contamination=0.01, random_state=SEED).fit(ledger)
print(span.finding_.headline)
for line in span.finding_.lines:
    print("  ", line)
wrong = span.predict(ledger) == -1
print(f"{wrong.sum()} invoices break an equation; the first of them:")
print(ledger[wrong].head(3).to_string())

# %%
# A second export, the same seed: the same equations.

second = AffineSpan(field="QQ", contamination=0.01, random_state=SEED).fit(invoices(3000, 2))
print(f"the same fingerprint: {second.fingerprint_ == span.fingerprint_}")

# %%
# What other tools say
# --------------------
# A functional dependency {net, tax} → gross holds if no two rows with the same net amount and tax
# differ in gross. Few rows share an amount, so dependencies that mean nothing hold almost as well
# as those that do; and none of them says what is to be added to what.

for left, right in ((["net", "tax"], "gross"), (["gross", "tax"], "discount"), (["paid"], "net")):
    same = ledger.groupby(left)[right].agg(lambda group: group.value_counts().iloc[0])
    print(f"{', '.join(left)} → {right}: holds in {same.sum() / len(ledger):.1%} of the rows")

# %%
# A decision tree learns steps: it comes close on average, and is wrong by euros on single invoices.

X, y = ledger[["net", "tax"]].astype(float), ledger["gross"].astype(float)
tree = DecisionTreeRegressor(max_leaf_nodes=200, random_state=SEED).fit(X, y)
fresh = invoices(3000, 3)
off = np.abs(tree.predict(fresh[["net", "tax"]].astype(float)) - fresh["gross"].astype(float))
print(f"tree of 200 leaves: R² = {tree.score(X, y):.4f}, off by {off.median():.2f} at the median")

# %%
# On fresh invoices the equation is exact, except for typing errors.

exact = np.abs((fresh["net"] + fresh["tax"] - fresh["gross"]).astype(float))
with style():
    fig, ax = plt.subplots(figsize=(7, 2.8), layout="constrained")
    bins = np.logspace(-2, 2, 41)
    ax.hist(off.clip(0.01), bins, color=OKABE_ITO["grey"], label="decision tree")
    ax.hist(exact[exact > 0], bins, color=OKABE_ITO["orange"], label="net + tax - gross")
    ax.set_xscale("log")
    ax.set_xlabel("off by (euros); the equation is exact on all other invoices")
    ax.set_ylabel("invoices")
    ax.legend()
plt.show()
