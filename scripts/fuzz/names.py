"""Hostile names and seeds: terminal escapes, shell text, markup, half characters."""

from __future__ import annotations

import functools
import json
import random
import shlex

from scripts.fuzz.trial import MARKUP, Content, Fault, Trial

__all__ = ["HOSTILE", "named"]

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


def named(dice: random.Random) -> Trial:
    """Return a trial in which columns, labels, levels, files and seeds have such names."""
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
        ["learn", name, f"--label={label}", "-e", "auto", f"--seed={seed}", f"--output={finding}"],
        ["learn", name, f"--label={label}", f"--seed={seed}"],
        ["constraints", name, "--json", "-e", "auto", f"--seed={seed}"],
        ["span", name, f"--columns={columns[0]}", "--report", "r.html", "--plot", "p.svg"],
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
    judge = functools.partial(_judge_proposals, names)
    return Trial("names", {name: Content(data)}, commands, also=judge)


def _quoted(cell: object) -> str:
    return '"' + str(cell).replace('"', '""') + '"'


def _judge_proposals(columns: list[str], trial: Trial) -> None:
    """Check that what a message proposes to paste is, to a shell, one word with a column's name."""
    for words, done in zip(trial.commands, trial.ran, strict=True):
        _, found, text = done.err.partition("--encode ")
        if not found or "COLUMN=" in text[:20]:
            continue
        reader = shlex.shlex(text, posix=True, punctuation_chars=True)
        reader.whitespace_split = True
        word = reader.get_token() or ""
        # names that cannot be printed cannot be pasted either, but must be as harmless
        shown = [name if name.isprintable() else "" for name in columns]
        if word != "auto" and not any(word.startswith(f"{n}=" if n else "") for n in shown):
            raise Fault("manners", f"{words}: unsafe to paste: {done.err}")
