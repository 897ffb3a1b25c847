"""Hostile names and seeds: terminal escapes, shell text, markup, half characters."""

from __future__ import annotations

import io
import json
import random
import shlex
import zipfile

import numpy as np

from scripts.fuzz.command import Fault
from scripts.fuzz.stock import Stock
from scripts.fuzz.trial import MARKUP, Commands, Content

__all__ = ["HOSTILE", "HostileNames", "OddNames"]

HOSTILE = [
    "x'; touch PWNED; echo '",
    '"; touch PWNED; "',
    "$(touch PWNED)",
    "`touch PWNED`",
    "a\nb",
    "a\r\nflagstone: all is well",
    "\x1b[31mred\x1b[0m",
    "\x1b]0;title\x07",
    "c1\x9b31m",
    "tab\tand\x00nul",
    "half\ud800",
    "\u202eright to left",
    "zero\u200bwidth\ufeff",
    f"{MARKUP} onerror=alert(1)>",
    "</script><script>alert(1)</script>",
    "{0.__class__}%s%n",
    "x] + __import__('os').system('touch PWNED') + x[",
    "-rf",
    "--force",
    "=1+1",
    "a,b",
    "a=b",
    "[ab]*?",
    "..",
    "✓ ⊕ é 漢字",
    "n" * 300,
    " ",
    "",
]  # fmt: skip


class HostileNames(Commands):
    """Columns, labels, levels, files and seeds with such names, in all that is printed."""

    def __init__(self, dice: random.Random, stock: Stock) -> None:
        columns = dice.sample(HOSTILE, 3)
        label, level, other, seed = (dice.choice(HOSTILE) for _ in range(4))
        rows = [[dice.randrange(2) for _ in range(3)] for _ in range(30)]
        format = dice.choice(["csv", "jsonl"])
        named_levels = [[*row, (level, other)[row[0] ^ row[1]]] for row in rows]
        if dice.random() < 0.3:  # something that no encoder was given for
            columns, named_levels = columns[:2], [[other, *row[2:]] for row in named_levels]
        names = [*columns, label]
        if format == "csv":
            text = "\n".join(",".join(map(_quoted, row)) for row in [names, *named_levels]) + "\n"
        else:
            lines = [json.dumps(dict(zip(names, row, strict=True))) for row in named_levels]
            text = "\n".join(lines) + "\n"
        stem = dice.choice([*HOSTILE, "no text\udcff"])
        for never in ("/", "\0", "\ud800"):  # in a file's name
            stem = stem.replace(never, "")
        name, finding = f"{stem[:80]}.{format}", f"{stem[:80]}.json"
        commands = [
            [
                "learn",
                name,
                f"--label={label}",
                "-e",
                "auto",
                f"--seed={seed}",
                f"--output={finding}",
            ],
            ["learn", name, f"--label={label}", f"--seed={seed}"],
            ["constraints", name, "--json", "-e", "auto", f"--seed={seed}"],
            [
                "constraints",
                "--linear",
                name,
                f"--columns={columns[0]}",
                "--report",
                "r.html",
                "--plot",
                "p.svg",
            ],
            ["show", finding, "--as", dice.choice(["text", "masks", "frames", "basis", "python"])],
            ["show", finding, "--json", "--report", "q.html", "--plot", "q.svg"],
            ["show", finding, f"--seed={other}"],
            ["predict", finding, name, "--json"],
            ["check", finding, name],
            ["compare", finding, finding],
            [dice.choice(HOSTILE), name],
            ["plan", f"--{other}"],
            ["audit", name, f"--label={label}", "--pairs", "2", f"--seed={seed}", "-e", "auto"],
            ["summarize", name, "-o", f"{finding}.flag", f"--seed={seed}", "-e", "auto"],
            ["constraints", f"{finding}.flag", f"--seed={other}"],
        ]
        data = text.encode("utf-8", "surrogatepass" if dice.random() < 0.5 else "backslashreplace")
        self._names = names
        super().__init__("table", {name: Content(data)}, commands, program=stock.program)

    def look(self) -> None:
        """Check that what a message proposes to paste is one word to a shell."""
        # names that cannot be printed cannot be pasted either, but must be as harmless
        shown = [name if name.isprintable() else "" for name in self._names]
        for ran in self.ran:
            _, found, text = ran.err.partition("--encode ")
            if not found or "COLUMN=" in text[:20]:
                continue
            reader = shlex.shlex(text, posix=True, punctuation_chars=True)
            reader.whitespace_split = True
            word = reader.get_token() or ""
            if word != "auto" and not any(word.startswith(f"{n}=" if n else "") for n in shown):
                raise Fault("message", f"unsafe to paste: {ran}")


def _quoted(cell: object) -> str:
    return '"' + str(cell).replace('"', '""') + '"'


#: Names that are good, and that a program which parses its own text would misread.
ODD = ["x0", "x1", "x2", "X", "y", "0", "17", "data..raw", "x0..x2", "a, b", "a,b", "b3.5", "a=b"]
ODD += [
    "a ⊕ b",
    "1 ⊕ a",
    "x0 = 1",
    "not a",
    "a b",
    " a",
    "a:b",
    "*",
    "[a]",
    "-",
    "auto",
    "é",
    "漢字",
]
ODD += [
    "a.npy",
    "a/b",
    "../a",
    "a\\b",
    "arr_0",
    "hex",
    "a;b",
    "a#b",
    "(a)",
    "a^b",
    "{a}",
    "n" * 200,
]


class OddNames(Commands):
    """Good data whose columns, or arrays in an archive, have odd names: answered all the same."""

    def __init__(self, dice: random.Random, stock: Stock) -> None:
        names = dice.sample(ODD, 3)
        archive = dice.random() < 0.5
        make = _archive if archive else _frames
        format = "npz" if archive else dice.choice(["csv", "jsonl"])
        seed = dice.random()
        files, commands = {}, []
        for stem, called in (("plain", ["m", "u", "v"]), ("odd", names)):
            name = f"{stem}.{format}"
            files[name] = Content(make(random.Random(seed), called, format))
            options = [name, "--seed", "1", "--json", "-e", "auto"]
            # blanks around the names of a CSV file do not count
            label = called[2].strip() if format == "csv" else called[2]
            commands += [
                ["constraints", *options, "-o", f"{stem}.json"],
                ["learn", *options, f"--label={label}"],
                ["show", f"{stem}.json", "--json", "--as", "text"],
                ["show", f"{stem}.json"],
            ]
        # a vector may be called like a column of the matrix, which is called x0, x1, x2 here
        self._may_refuse = archive and bool({"x0", "x1", "x2"} & set(names[1:]))
        super().__init__("archive" if archive else "column", files, commands, program=stock.program)

    def look(self) -> None:
        """Odd names and plain ones give the same answers."""
        half = len(self.ran) // 2
        for plain, odd in zip(self.ran[:half], self.ran[half:], strict=True):
            if plain.code != odd.code:
                if not self._may_refuse:
                    raise Fault("wrong", f"good names are refused: {odd}, not {plain}")
            elif plain.code == 0 and "--json" in plain.words:
                keys = [json.loads(ran.out).get("fingerprint") for ran in (plain, odd)]
                if keys[0] != keys[1]:
                    raise Fault("wrong", f"names change the answer: {odd}, not {plain}")


def _archive(dice: random.Random, names: list[str], format: str) -> bytes:
    rows = np.array([[dice.randrange(2) for _ in range(5)] for _ in range(60)], dtype=np.uint8)
    rows[:, 4] = rows[:, 0] ^ rows[:, 3]
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:  # np.savez takes no names with a slash
        for name, array in zip(names, (rows[:, :3], rows[:, 3], rows[:, 4]), strict=True):
            with archive.open(f"{name}.npy", "w") as member:
                np.save(member, array)
    return stream.getvalue()


def _frames(dice: random.Random, names: list[str], format: str) -> bytes:
    """Frames of 40 bits that end in a CRC-8, beside two columns of bits."""
    rows = []
    for _ in range(120):
        frame = bytes(dice.randrange(256) for _ in range(4))
        check = 0
        for byte in frame:
            check ^= byte
            for _ in range(8):
                check = ((check << 1) ^ (0x07 if check & 128 else 0)) & 255
        rows.append([(frame + bytes([check])).hex(), str(frame[0] & 1), str(frame[1] & 1)])
    if format == "jsonl":
        lines = [json.dumps(dict(zip(names, row, strict=True))) for row in rows]
    else:
        lines = [",".join(map(_quoted, row)) for row in [names, *rows]]
    return ("\n".join(lines) + "\n").encode()
