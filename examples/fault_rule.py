"""From a table with booleans, categories and numbers to a rule that two sites agree on.

A machine reports faults when an odd number of conditions hold: the guard is open, it is the
night shift, the level is odd. Two sites log their own days; one label in three hundred is
wrong. The encoders are chosen once and published with the seed, so that both encode alike.
"""

import numpy as np
import pandas as pd

from flagstone import FieldEncoder, ParityClassifier

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


def main() -> None:
    table, _ = log(3000, 0)
    published = FieldEncoder().fit(table).encoders_
    print(f"published: seed {SEED}, encoders {published}\n")
    for site in (1, 2):
        table, labels = log(3000, site)
        encoder = FieldEncoder(encoders=published).set_output(transform="pandas")
        model = ParityClassifier(fit_intercept=True, contamination=0.01, random_state=SEED)
        model.fit(encoder.fit_transform(table), labels == "fault")
        print(f"site {site}: {model.formula_}   fingerprint {model.fingerprint_[:16]}")
        print(f"  {model.measure(encoder.transform(table), labels == 'fault')}")


if __name__ == "__main__":
    main()
