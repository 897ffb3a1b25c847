"""Write examples/faults.csv and examples/equations.csv, the tables of the command-line help.

faults.csv: 400 states of a small plant; the fault light is an XOR of three of its inputs and 1.
equations.csv: 300 equations over GF(7) in five unknowns that share one solution.
Both files are committed; this script documents how they came to be.
"""

import csv
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent.parent / "examples"


def faults() -> list[list[object]]:
    """Return the rows of faults.csv, names first."""
    random = np.random.RandomState(2026)
    rows: list[list[object]] = [["door", "pump", "valve", "level", "heater", "fault"]]
    for _ in range(400):
        door, pump, valve, heater = random.randint(0, 2, size=4).tolist()
        level = int(random.choice(8, p=[0.3, 0.2, 0.15, 0.1, 0.1, 0.05, 0.05, 0.05]))
        fault = pump ^ valve ^ (level >> 1 & 1) ^ 1
        rows.append(
            [
                ("open", "shut")[door],
                ("off", "on")[pump],
                valve,
                level,
                ("false", "true")[heater],
                ("no", "yes")[fault],
            ]
        )
    return rows


def equations() -> list[list[object]]:
    """Return the rows of equations.csv, names first."""
    random = np.random.RandomState(7)
    solution = np.array([3, 1, 4, 1, 5])
    A = random.randint(0, 7, size=(300, 5))
    rows: list[list[object]] = [["a0", "a1", "a2", "a3", "a4", "b"]]
    return rows + [[*a.tolist(), int(a @ solution % 7)] for a in A]


if __name__ == "__main__":
    for name, rows in (("faults.csv", faults()), ("equations.csv", equations())):
        with (FOLDER / name).open("w", newline="") as stream:
            csv.writer(stream, lineterminator="\n").writerows(rows)
