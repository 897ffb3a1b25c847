"""Which window should be the default? Replicability at equal coverage, over a wide family of laws.

    python scripts/window_study.py > rows.csv            # every number, some ten minutes
    python scripts/window_study.py --table rows.csv      # means over the family, for docs

A window may depend on public numbers only: {1 + ⌈a·m/D⌉..1 + ⌈b·m/D⌉}, for shares a ≤ b; and, for
comparison, {1..1} (elimination) and {1..1 + ⌊0.1·m/D⌋}. "From 16" windows start at t = 16, where
the equations of a space without violations can be certified (S43): as far as {0.05·m/D..0.1·m/D}
allows it, or wherever there are 32 rows or more for each dimension. The family: rows of a subspace
of dimension 3D/4, of which 0 to 5 % are damaged (uniform); units with masses 2^-i ("geometric"),
1/i ("Zipf") and falling linearly ("ladder"). Counted are, with the threshold integrated out: how
often two samples agree, what share of the clean rows lies in the answer, and, of planted
subspaces, how often the answer is that very subspace.
"""

from __future__ import annotations

import csv
import itertools
import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from flagstone import BitRows, Flag, Subspace

SHARES = (0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7)
STARTS = (0.0, 0.25, 0.5, 0.75)
DAMAGES = (0.0, 0.005, 0.01, 0.02, 0.05)
UNITS = ("geometric", "Zipf", "ladder")
SIZES, DIMS = (100, 300, 1000, 3000, 10_000, 100_000, 1_000_000), (5, 20, 50, 100)
MEASURED = ("replicability", "coverage", "found")
#: Its name, and the shares a and b.
Window = tuple[str, float, float]
WINDOWS: tuple[Window, ...] = (
    ("elimination", 0.0, 0.0),
    ("rounded down", 0.0, 0.1),
    ("from 16, within eps", 0.05, 0.1),
    ("from 16, of 32 D rows", 0.05, 0.1),
    *((f"{100 * a:g} % skipped", a * b, b) for b in SHARES for a in STARTS),
)
#: The first threshold of the windows "from 16".
CERTIFIABLE = 16


@dataclass
class Chain:
    """What a sample answers at each threshold: space i up to ends[i], the last one for ever."""

    ends: list[int]
    keys: list[object]
    kept: list[float]
    found: list[float]


def unit_chain(name: str, m: int, dim: int, rng: np.random.RandomState) -> Chain:
    """Units need no flag: V_t is spanned by those seen t times."""
    masses = {
        "geometric": 0.5 ** np.arange(1, dim + 1),
        "Zipf": 1 / np.arange(1, dim + 1),
        "ladder": np.arange(dim, 0, -1.0),
    }[name]
    masses = masses if name == "geometric" else masses / masses.sum()
    counts = rng.multinomial(m, [*masses, max(0.0, 1 - masses.sum())])[:-1]
    ends = np.unique(counts[counts > 0]).tolist()
    seen = [counts >= end for end in ends] + [np.zeros(dim, bool)]
    kept = [float(masses[kinds].sum() / masses.sum()) for kinds in seen]
    return Chain(ends, [kinds.tobytes() for kinds in seen], kept, [np.nan] * len(kept))


def planted_chain(damage: float, m: int, dim: int, rng: np.random.RandomState) -> Chain:
    """The flag does not care about the basis: the first axes span the subspace."""
    rank = max(1, 3 * dim // 4)
    words = rng.randint(0, 2**64, size=(m, -(-dim // 64)), dtype=np.uint64)
    hit = rng.random_sample(m) < damage
    words &= _mask(dim, words.shape[1])
    words[~hit] &= _mask(rank, words.shape[1])
    flag = Flag(dim).update(BitRows(words, dim))
    U = Subspace.span(np.eye(dim, dtype=np.uint8)[:rank])
    spaces = [flag.span_at(level.first) for level in flag.levels()] + [Subspace.zero(dim)]
    kept = [2.0 ** ((V & U).dim - rank) for V in spaces]
    found = [float(V == U) for V in spaces]
    return Chain([level.last for level in flag.levels()], list(spaces), kept, found)


def _mask(bits: int, width: int) -> np.ndarray:
    return np.array([(1 << min(64, max(0, bits - 64 * k))) - 1 for k in range(width)], np.uint64)


def thresholds(window: Window, m: int, dim: int) -> tuple[int, int]:
    """First and last threshold."""
    name, *shares = window
    round_ = math.floor if name == "rounded down" else math.ceil
    first, last = (1 + round_(round(share * m / dim, 9)) for share in shares)
    if name == "from 16, within eps":
        first = max(first, min(CERTIFIABLE, last))
    elif name == "from 16, of 32 D rows" and m >= 32 * dim:
        first = max(first, CERTIFIABLE)
    return first, max(first, last)


def parts(chains: tuple[Chain, ...], first: int, last: int) -> Iterator[tuple[int, list[int]]]:
    """Stretches of {first..last} on which no chain changes: how long, and where each chain is."""
    t = first
    while t <= last:
        at = [int(np.searchsorted(chain.ends, t)) for chain in chains]
        stops = [c.ends[i] for c, i in zip(chains, at, strict=True) if i < len(c.ends)]
        stop = min([last, *stops])
        yield stop - t + 1, at
        t = stop + 1


def judge(pair: tuple[Chain, Chain], first: int, last: int) -> tuple[float, float, float]:
    """Agreement, coverage and subspaces found, the threshold integrated out."""
    total = np.zeros(3)
    for length, (i, j) in parts(pair, first, last):
        a, b = pair
        same = float(a.keys[i] == b.keys[j])
        kept, found = (a.kept[i] + b.kept[j]) / 2, (a.found[i] + b.found[j]) / 2
        total += length * np.array([same, kept, found])
    same, kept, found = total / (last - first + 1)
    return same, kept, found


def study() -> Iterator[dict[str, object]]:
    """One row for each law, size, dimension and window."""
    laws = [*DAMAGES, *UNITS]
    for law, m, dim in itertools.product(laws, SIZES, DIMS):
        if dim > m / 2:
            continue
        rng = np.random.RandomState([laws.index(law), m, dim])
        pairs = 16 if m <= 10_000 else 8 if m <= 100_000 else 3
        draw: Any = unit_chain if law in UNITS else planted_chain
        drawn = [(draw(law, m, dim, rng), draw(law, m, dim, rng)) for _ in range(pairs)]
        for window in WINDOWS:
            first, last = thresholds(window, m, dim)
            means = np.mean([judge(pair, first, last) for pair in drawn], axis=0)
            place = dict(zip(("window", "a", "b"), window, strict=True))
            numbers = dict(zip(MEASURED, means.round(4).tolist(), strict=True))
            yield {"law": law, "m": m, "dim": dim, **place, "pairs": pairs, **numbers}


def table(path: str) -> None:
    """Print the means over the family: all of it, few rows, damaged subspaces, units."""
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    groups: dict[str, Callable[[dict[str, str]], bool]] = {
        "all": lambda row: True,
        "m < 10 D": lambda row: int(row["m"]) < 10 * int(row["dim"]),
        "32 to 320 D": lambda row: 32 <= int(row["m"]) / int(row["dim"]) < 320,
        "damaged": lambda row: row["law"] not in (*UNITS, "0.0"),
        "units": lambda row: row["law"] in UNITS,
    }
    print("| a | b | " + " | ".join(groups) + " |")
    print("|---|---|" + "---|" * len(groups))
    for name, a, b in dict.fromkeys((row["window"], row["a"], row["b"]) for row in rows):
        cells = []
        for chosen in groups.values():
            mine = [row for row in rows if (row["window"], row["a"], row["b"]) == (name, a, b)]
            values = np.array([[float(row[n]) for n in MEASURED] for row in mine if chosen(row)])
            known = [v[~np.isnan(v)] for v in values.T]
            cells.append(" / ".join(f"{v.mean():.3f}" for v in known if len(v)))
        label = f"{float(a):g} | {float(b):g}" if "skipped" in name else f"{name} | {float(b):g}"
        print(f"| {label} | " + " | ".join(cells) + " |")


def main() -> int:
    if len(sys.argv) > 2 and sys.argv[1] == "--table":
        table(sys.argv[2])
        return 0
    rows = study()
    first = next(rows)
    writer = csv.DictWriter(sys.stdout, list(first), lineterminator="\n")
    writer.writeheader()
    writer.writerow(first)
    writer.writerows(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
