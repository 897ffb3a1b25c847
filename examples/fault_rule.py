"""
From a data frame to a rule that two sites agree on
===================================================

A machine reports faults when an odd number of conditions hold: the guard is open, it is the night
shift, the level is odd. Two sites log their own days; one label in three hundred is wrong. The
encoders are chosen once and published with the seed, so that both encode alike.
"""

# %%
# Tables as they are
# ------------------

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from flagstone import FieldEncoder, ParityClassifier
from flagstone.plots import OKABE_ITO, style

SEED = 2026


def log(n: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Return one site's table and its labels."""
    rng = np.random.RandomState(seed)
    table = pd.DataFrame(
        {
            "open": rng.randint(0, 2, n).astype(bool),
            "shift": np.array(["day", "night"])[rng.randint(0, 2, n)],
            "level": rng.randint(0, 8, n),
        }
    )
    fault = table["open"].to_numpy() ^ (table["shift"] == "night").to_numpy()
    fault = fault ^ (table["level"].to_numpy() % 2 == 1)
    fault[rng.choice(n, size=n // 300, replace=False)] ^= True
    return table, np.where(fault, "fault", "fine")


log(3000, 0)[0].head()

# %%
# Encoders, published
# -------------------
# Chosen on a table of its own: an encoder that looked at the data it is used on would be one
# more thing that two samples could disagree about.

published = FieldEncoder().fit(log(3000, 0)[0]).encoders_
print(f"seed {SEED}, encoders {published}")

# %%
# Two sites
# ---------

models = {}
for site in (1, 2):
    table, labels = log(3000, site)
    encoder = FieldEncoder(encoders=published).set_output(transform="pandas")
    X, fault = encoder.fit_transform(table), labels == "fault"
    models[site] = ParityClassifier(contamination=0.01, random_state=SEED).fit(X, fault)
    print(f"site {site}: {models[site].formula_}   fingerprint {models[site].fingerprint_[:16]}")
    print(f"  {models[site].measure(X, fault)}")
    print(f"  {models[site].guarantee_}")

# %%
# What each column does
# ---------------------
# Left: how often the fault occurs where a column is 1; no column alone says anything. Right:
# the coefficients of the rule, the same at both sites.

with style():
    fig, axes = plt.subplots(1, 2, figsize=(8, 2.8), layout="constrained", sharey=True)
    names, places = list(X.columns), np.arange(X.shape[1])
    rates = [fault[X[name].to_numpy() == 1].mean() for name in names]
    axes[0].barh(places, rates, color=OKABE_ITO["grey"])
    axes[0].axvline(0.5, color="black", linestyle=":", linewidth=1)
    axes[0].set_xlim(0, 1)
    axes[0].set_xlabel("share of faults where the column is 1")
    for site, shift, color in ((1, -0.2, "blue"), (2, 0.2, "orange")):
        axes[1].barh(
            places + shift, models[site].coef_, 0.38, color=OKABE_ITO[color], label=f"site {site}"
        )
    axes[1].set_xticks([0, 1])
    axes[1].set_xlabel("coefficient of the rule")
    axes[1].legend(loc="lower right")
    axes[0].set_yticks(places, names)
    axes[0].invert_yaxis()
plt.show()
