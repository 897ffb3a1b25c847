"""Which check digit do book numbers carry?

Two catalogues list ISBN-10 numbers; one in two hundred has a typo. Nobody tells us the check:
the numbers, as rows over GF(11) (an X is 10), obey one linear equation, and the replicable span
finds the same one in both catalogues. Plain elimination trips over the first typo.
"""

import numpy as np

from flagstone import EliminationClassifier, LinearSpan, ParityClassifier

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


def main() -> None:
    for name, seed in (("first", 1), ("second", 2)):
        books = catalogue(4000, seed)
        span = LinearSpan(field=11, contamination=CONTAMINATION, random_state=SEED).fit(books)
        print(f"{name} catalogue: {span.formula_}")
        print(f"  fingerprint {span.fingerprint_[:16]}")
        print(f"  {np.count_nonzero(span.predict(books) == -1)} numbers break the check")
        print(f"  {span.guarantee_}")

    rule = ParityClassifier(field=11, contamination=CONTAMINATION, random_state=SEED)
    rule.fit(books[:, :9], books[:, 9])
    print(f"\nThe last digit from the others: {rule.formula_}")
    third = catalogue(4000, 3)
    print(f"On a third catalogue: {rule.measure(third[:, :9], third[:, 9])}")
    plain = EliminationClassifier(field=11).fit(books[:, :9], books[:, 9])
    print(f"Plain elimination says: {plain.formula_}")


if __name__ == "__main__":
    main()
