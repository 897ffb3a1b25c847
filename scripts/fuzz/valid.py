"""Random good tables over every kind of field: answered, saved, shown again, the same."""

from __future__ import annotations

import json
import random

from scripts.fuzz.command import Fault
from scripts.fuzz.stock import Stock
from scripts.fuzz.trial import Commands, Content

__all__ = ["ValidTable"]

FIELDS = {"2": 2, "3": 3, "7": 7, "2^2": 4, "3^2": 9, "2^8": 256, "1000003": 1000003, "QQ": None}


class ValidTable(Commands):
    """A good table, whose numbers may be long but are exact: it must be answered."""

    def __init__(self, dice: random.Random, stock: Stock) -> None:
        field = dice.choice(list(FIELDS))
        order = FIELDS[field]
        n_rows, n_columns = dice.randrange(5, 60), dice.randrange(1, 42)
        digits = dice.choice([1, 6, 25]) if order is None else 1
        rank = dice.randrange(1, n_rows)
        if digits == 25:
            n_columns = min(n_columns, 6)
        elif digits == 6 and dice.random() < 0.5:
            n_rows, n_columns, rank = 40, 40, 38

        def cell() -> str:
            if order is not None:
                return str(dice.randrange(order))
            over = dice.randrange(1, 10**digits)
            top = dice.randrange(-(10**digits), 10**digits)
            return f"{top}/{over}" if digits == 6 or over % 2 else str(top)

        basis = [[cell() for _ in range(n_columns)] for _ in range(rank)]
        rows = basis + [dice.choice(basis) for _ in range(n_rows - len(basis))]
        dice.shuffle(rows)
        names = [f"c{i}" for i in range(n_columns)]
        if dice.random() < 0.5:
            name, text = "t.csv", "\n".join(",".join(row) for row in [names, *rows]) + "\n"
        else:
            name = "t.jsonl"
            text = "".join(json.dumps([_plain(x) for x in row]) + "\n" for row in rows)
        linear = dice.choice([[], ["--linear"]])
        options = ["--field", field, "--seed", str(dice.randrange(100)), "--rule"]
        t_max = dice.choice([1, dice.randrange(1, n_rows + 1)])  # 1: every direction is kept
        options += [dice.choice(["index", "heavy"]), "--t-max", str(t_max)]
        commands = [
            [
                "constraints",
                name,
                *linear,
                *options,
                "-o",
                "m.json",
                "--report",
                "r.html",
                "--json",
            ],
            ["constraints", name, *linear, *options],
            ["summarize", name, "--field", field, "-o", "s.flag", *linear],
            ["constraints", "s.flag", *linear, *options[2:], "-o", "n.json", "--plot", "p.svg"],
            ["show", "m.json", "--as", dice.choice(["text", "python"])],
            ["show", "s.flag", "--json"],
            ["compare", "m.json", "n.json"],
            ["check", "m.json", name, "--tolerance", "1"],
        ]
        if digits == 6 and n_columns > 20:  # entries of thousands of digits: slow, as they must be
            commands = [commands[0], commands[2]]
        files = {name: Content(text.encode())}
        super().__init__(f"over {field}", files, commands, must_answer=True, program=stock.program)

    def look(self) -> None:
        """Rows and their summary give one answer."""
        if len(self.ran) > 6 and "same" not in self.ran[6].out:
            raise Fault("wrong", f"rows and summary differ: {self.ran[6]}")


def _plain(text: str) -> object:
    return text if "/" in text else int(text)
