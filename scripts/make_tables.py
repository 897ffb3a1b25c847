"""Write faults.csv, equations.csv, invoices.csv and survey.csv to examples, for help and guide.

faults.csv: 400 states of a small plant; the fault light is an XOR of three of its inputs and 1.
equations.csv: 300 equations over GF(7) in five unknowns that share one solution.
invoices.csv: 800 invoices with tax at two rates; in four of them the gross amount is mistyped.
survey.csv: 900 questionnaires with skip logic; in three of them a skipped question is answered.
The files are committed; this script documents how they came to be.
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


def invoices() -> list[list[object]]:
    """Return the rows of invoices.csv, names first."""
    random = np.random.RandomState(19)
    rows: list[list[object]] = [["customer", "net", "vat", "gross", "shipping"]]
    wrong = set(random.choice(800, 4, replace=False).tolist())
    for i in range(800):
        net = int(random.randint(500, 90_000))
        vat = (net * int(random.choice([19, 7])) + 50) // 100
        shipping = int(random.choice([0, 490, 990]))
        amounts = [net, vat, net + vat + (9 if i in wrong else 0), shipping]
        rows.append([int(random.randint(100, 400)), *(f"{cents / 100:.2f}" for cents in amounts)])
    return rows


def survey() -> list[list[object]]:
    """Return the rows of survey.csv, names first; a question that was not asked is empty."""
    random = np.random.RandomState(23)
    rows: list[list[object]] = [["smokes", "daily", "children", "care", "region"]]
    wrong = set(random.choice(900, 3, replace=False).tolist())
    for i in range(900):
        smokes, daily, children, care, region = (
            str(random.choice(values))
            for values in (
                ["never", "former", "daily"],
                ["1-10", "11-20", "over 20"],
                ["none", "one", "more"],
                ["home", "nursery", "school"],
                ["north", "east", "south", "west"],
            )
        )
        children = "none" if i in wrong else children
        asked = children != "none" or i in wrong
        rows.append([smokes, daily * (smokes == "daily"), children, care * asked, region])
    return rows


if __name__ == "__main__":
    tables = (faults, equations, invoices, survey)
    for name, rows in ((table.__name__, table()) for table in tables):
        with (FOLDER / f"{name}.csv").open("w", newline="") as stream:
            csv.writer(stream, lineterminator="\n").writerows(rows)
