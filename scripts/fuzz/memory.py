"""Small files that unpack to much text: memory must not grow with it."""

from __future__ import annotations

import random

from scripts.fuzz.stock import PACKERS, Stock
from scripts.fuzz.trial import Commands, Content

__all__ = ["Expanding"]

BLOCK = 1 << 20  #: bytes of text in one compressed stream
#: Text by format, repeated without end: rows, or one row without end.
TEXTS = {
    "csv": [b"1,", b"1,0,1,0,1,1\n", b"1", b'"', b"\n", b" ", b"ab,cd,", b"1;"],
    "tsv": [b"1\t", b"1\t0\n"],
    "hex": [b"ab", b"ab ", b"0xab, ", b"{8}ab\n", b"ab\n", b"1 1 ", b": ", b"/*", b"#"],
    "bits": [b"1 ", b"10", b"1\n", b"1,", b" ", b"101101\n"],
    "jsonl": [b"[", b"[1,0]\n", b"1,", b'{"a":', b"{}\n", b'{"a":1,"b":0}\n'],
}
VERBS = [
    ["constraints"],
    ["constraints", "--linear", "-e", "auto"],
    ["summarize", "-o", "s.flag"],
    ["learn", "-l", "f"],
    ["check", "constraints.json"],
    ["plan"],
    ["frames"],
]


class Expanding(Commands):
    """A small compressed file of up to 512 MiB of text, read by one command."""

    def __init__(self, dice: random.Random, stock: Stock) -> None:
        format = dice.choice(sorted(TEXTS))
        unit = dice.choice(TEXTS[format])
        packing = dice.choice(sorted(PACKERS))
        start = {"csv": b"a,b,f\n", "tsv": b"a\tf\n", "jsonl": b"[1,"}.get(format, b"")
        pack = PACKERS[packing]
        times = dice.choice([16, 48, 60, 63, 64, 512])  # a row may have up to 64 MiB
        if dice.random() < 0.5:
            start = b""
        # every format of compression takes streams one after the other
        body = pack((unit * (BLOCK // len(unit) + 1))[: BLOCK - len(start)])
        name = f"t.{format}.{packing}"
        verb, *options = dice.choice(VERBS)
        if verb == "plan":
            words = [verb, "--pilot", name]
        elif verb == "check":
            words = [verb, *options, name]
        else:
            words = [verb, name, *options]
        files = {name: Content(pack(start) + body * times)}
        files["constraints.json"] = Content(stock.files["constraints.json"])
        super().__init__(f"{format}: {unit!r}", files, [words], program=stock.program)
