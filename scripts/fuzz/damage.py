"""Good files made bad: by bytes, by numbers, by structure; their checksums mended or not."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import random
import re
import zipfile
from collections.abc import Callable
from typing import Any

from scripts.fuzz.names import HOSTILE
from scripts.fuzz.stock import PACKERS, PLAIN, Sample, Stock
from scripts.fuzz.trial import Commands, Content

__all__ = ["DamagedFile", "FlippedBits", "damaged_text"]

Dice = random.Random
COPIES = 60  #: files that one process reads

NUMBERS = ["0", "-1", "1e999999999", "-1e-999999999", "1e400", "9" * 25, "9" * 5000, "1_000", "nan"]
NUMBERS += ["1/0", "1000000000000", "9223372036854775807", "9223372036854775808", "4294967296"]
NUMBERS += ["0x10", "٣", "1.5", "1/3", "true", "inf", "", " "]
WORDS = [b"\xff\xff\xff\x7f", b"\xff" * 4, b"\0\0\0\x80", b"\xff" * 7 + b"\x7f", b"\xff" * 8]
WORDS += [b"\0" * 4 + b"\1", b"\0" * 8, b"\1\0\0\0"]
BYTES = [
    b"\0",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\r",
    b"\r\n",
    b"\n\n",
    b'"',
    b"\x1b[31m",
    b"\xc2\x9b",
]
BYTES += [b"\xed\xa0\x80", b",", b"\t", b"{", b"}", b"[" * 3000, b"'", b"\\", b"\xe2\x80\xae"]
VALUES: list[Any] = [None, True, False, 0, 1, -1, 2**31, 2**63 - 1, 2**63, 10**30, 1.5, -0.0, 1e308]
VALUES += ["", "0", "x", "GF(2)", "QQ", "GF(9)", "GF(1000003)", "GF(2^16)", "1e999999999", "1/0"]
VALUES += ["9" * 5000, [], {}, [[]], [0], [1, 0, 1], {"a": 1}, "read", "measure", "Flag", "flag"]
VALUES += [10**11, "levels:a,a", "bits:100000000000", 3 * [10**12]]


class DamagedFile(Commands):
    """A damaged file, read by one command."""

    def __init__(self, dice: Dice, stock: Stock) -> None:
        what = dice.choice(sorted({sample.what for sample in stock.samples}))
        sample = dice.choice([sample for sample in stock.samples if sample.what == what])
        if dice.random() < 0.02:
            content = _no_file(dice)
        else:
            content = Content(_again(dice, sample, stock.files))
        words = [word.replace("{}", sample.name) for word in dice.choice(sample.commands)]
        if not sample.is_sealed and dice.random() < 0.1:
            words += dice.choice(
                [["--format", dice.choice([*PLAIN, "npy", "npz", "arrow", "parquet"])]]
                + [["--delimiter", dice.choice(";|\t \0")], ["--length", "6"], ["--no-header"]]
                + [["--columns", dice.choice(["a,b", "-a", "*", "[", "x*"])]]
                + [["--bit-order", "lsb"]]
            )
        beside = {name: Content(stock.files[name]) for name in sample.beside}
        super().__init__(what, beside | {sample.name: content}, [words], program=stock.program)


class FlippedBits(Commands):
    """Many copies of a binary file, each with one bit flipped, read by one process."""

    def __init__(self, dice: Dice, stock: Stock) -> None:
        what = dice.choice([*["parquet"] * 5, "arrow", "arrows", "npy", "npz", "packed"])
        sample = dice.choice([sample for sample in stock.samples if sample.what == what])
        start = _footer_start(sample.data) if what == "parquet" else 0
        files = {}
        for number in range(COPIES):
            at = dice.randrange(start, len(sample.data))
            files[f"{number:02}-{sample.name}"] = Content(_flipped(dice, sample.data, at))
        super().__init__(what, files, [["rows()", *files]], program=stock.program)


def _again(dice: Dice, sample: Sample, good: dict[str, bytes]) -> bytes:
    data = sample.data
    for _ in range(dice.choice([1, 1, 1, 2, 4])):
        data = _once(dice, sample, data, good)
    return data


def _once(dice: Dice, sample: Sample, data: bytes, good: dict[str, bytes]) -> bytes:
    inside: Callable[[], bytes] | None = None  # damage below the checksum or the packing
    packing = sample.name.rpartition(".")[2]
    if sample.is_sealed:
        inside = lambda: _document(dice, data)  # noqa: E731
    elif packing in PACKERS:
        plain = good[sample.name.removesuffix("." + packing)]
        inside = lambda: PACKERS[packing](damaged_text(dice, plain))  # noqa: E731
    elif packing == "npy":
        inside = lambda: _npy(dice, data)  # noqa: E731
    elif packing == "npz":
        inside = lambda: _npz(dice, data)  # noqa: E731
    elif packing == "parquet":
        inside = lambda: _footer(dice, data)  # noqa: E731
    elif sample.what in PLAIN:
        inside = lambda: damaged_text(dice, data)  # noqa: E731
    if inside is not None and dice.random() < 0.75:
        try:
            return inside()
        except Exception:
            pass  # an earlier blow has broken the packing itself
    return _bytes(dice, data)


def _flipped(dice: Dice, data: bytes, at: int) -> bytes:
    """Turn over one bit of a byte."""
    return data[:at] + bytes([data[at] ^ 1 << dice.randrange(8)]) + data[at + 1 :]


def _footer_start(data: bytes) -> int:
    """Return where a Parquet file begins to say what it holds."""
    return len(data) - 8 - int.from_bytes(data[-8:-4], "little")


def _bytes(dice: Dice, data: bytes) -> bytes:
    """Change some bytes: a bit, a size, an offset; cut, doubled, put in or gone."""
    if not data:
        return dice.choice(BYTES)
    at = dice.randrange(len(data))
    size = dice.choice([1, 4, 8, 64])
    how = dice.randrange(8)
    if how == 0:
        return _flipped(dice, data, at)
    if how <= 2:
        word = dice.choice(WORDS)
        at -= dice.choice([0, at % 4])  # where sizes and offsets stand
        return data[:at] + word + data[at + len(word) :]
    if how == 3:
        return data[:at] + data[at + size :]
    if how == 4:
        return data[:at]
    if how == 5:
        return data[:at] + data[at : at + size] * dice.choice([2, 3, 1000]) + data[at + size :]
    if how == 6:
        other = dice.randrange(len(data))
        return data[:at] + data[other : other + size] + data[at + size :]
    return data[:at] + bytes([dice.randrange(256)]) + data[at + 1 :]


def damaged_text(dice: Dice, data: bytes) -> bytes:
    """Change a number, put something in, or let the table grow out of all proportion."""
    how = dice.random()
    if how < 0.4:
        return _number(dice, data)
    if how < 0.7:
        at = dice.randrange(len(data) + 1)
        return data[:at] + dice.choice(BYTES) + data[at:]
    if how < 0.8:
        at = dice.randrange(len(data) + 1)
        name = dice.choice(HOSTILE).encode("utf-8", "surrogatepass")
        return data[:at] + name + data[at:]
    if how < 0.82:
        return data.replace(b"\n", _columns(dice) + b"\n", 1)
    if how < 0.9:
        lines = data.splitlines(keepends=True)
        dice.shuffle(lines)
        return b"".join(lines * dice.choice([1, 1, 30]))
    return _bytes(dice, data)


def _columns(dice: Dice) -> bytes:
    """Return very many cells, all different or not."""
    n = dice.choice([40_000, 300_000])
    return b"," + b",".join(b"c%d" % i for i in range(n)) if dice.random() < 0.5 else b",1" * n


def _number(dice: Dice, data: bytes) -> bytes:
    found = list(re.finditer(rb"-?\d+", data))
    if not found:
        return data + dice.choice(NUMBERS).encode()
    one = dice.choice(found)
    return data[: one.start()] + dice.choice(NUMBERS).encode() + data[one.end() :]


def _npy(dice: Dice, data: bytes) -> bytes:
    """Let the header of an array announce something else."""
    start = 10
    end = start + int.from_bytes(data[8:10], "little")
    header, rest = data[start:end], data[end:]
    types = [b"'|O'", b"'<U0'", b"'<U100000000'", b"'|V8'", b"'<c16'", b"'<M8[s]'", b"'<f2'"]
    types += [b"[('a', '<i8'), ('b', '<f8')]", b"('<i4', (2, 2))", b"'>i8'", b"'|S3'", b"'|b1'"]
    shapes = [b"(0, 1000000000000)", b"(1, 1000000000000)", b"(1000000000000, 0)", b"()", b"(240,)"]
    shapes += [b"(-1, -5)", b"(40, 6, 1)", b"(1000000000000, 1)", b"(1, 300000)", b"(40, 6L)"]
    how = dice.randrange(4)
    if how == 0:
        header = re.sub(rb"\([^)]*\)", dice.choice(shapes), header, count=1)
    elif how == 1:
        header = re.sub(rb"'descr': '[^']*'", b"'descr': " + dice.choice(types), header)
    elif how == 2:
        header = _number(dice, header)
    else:
        header = _bytes(dice, header)
    return data[:8] + (len(header) % 65536).to_bytes(2, "little") + header + rest


def _npz(dice: Dice, data: bytes) -> bytes:
    """Damage a member of an archive, or its name, and pack it again."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {info.filename: archive.read(info) for info in archive.infolist()}
    name = dice.choice(sorted(members))
    member = members.pop(name)
    if dice.random() < 0.3:
        name = dice.choice(HOSTILE).replace("\ud800", "") + ".npy"
    else:
        member = _npy(dice, member)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for key, value in (members | {name: member}).items():
            archive.writestr(zipfile.ZipInfo(key), value)
    return stream.getvalue()


def _footer(dice: Dice, data: bytes) -> bytes:
    """Damage what a Parquet file says of itself."""
    start = _footer_start(data)
    if dice.random() < 0.7:
        return _flipped(dice, data, dice.randrange(start, len(data) - 8))
    footer = _bytes(dice, data[start:-8])
    return data[:start] + footer + len(footer).to_bytes(4, "little") + data[-4:]


def _document(dice: Dice, data: bytes) -> bytes:
    """Change a value of a document, or the flag inside, and mend every checksum."""
    document = json.loads(data)
    content = document["content"]
    if "bytes" in content and dice.random() < 0.4:
        inner = _summary(dice, base64.b64decode(content["bytes"]))
        content["bytes"] = base64.b64encode(inner).decode()
    else:
        _change(dice, content if dice.random() < 0.95 else document)
    document.pop("sha256", None)
    text = json.dumps(document, sort_keys=True, separators=(",", ":"))
    document["sha256"] = hashlib.sha256(text.encode()).hexdigest()
    return json.dumps(document).encode()


def _summary(dice: Dice, data: bytes) -> bytes:
    start = 18
    end = start + int.from_bytes(data[14:18], "little")
    header, body = data[start:end], data[end:-32]
    if dice.random() < 0.5:
        found = json.loads(header)
        _change(dice, found)
        header = json.dumps(found, sort_keys=True, separators=(",", ":")).encode()
    else:
        body = (_number if dice.random() < 0.3 else _bytes)(dice, body)
    whole = data[:14] + len(header).to_bytes(4, "little") + header + body
    return whole + hashlib.sha256(whole).digest()


def _change(dice: Dice, tree: Any) -> None:
    """Change something somewhere inside of a JSON object or list."""
    while True:
        keys = list(tree) if isinstance(tree, dict) else range(len(tree))
        if not keys:
            return
        key = dice.choice(keys)
        if not isinstance(tree[key], (dict, list)) or not tree[key] or dice.random() < 0.25:
            break
        tree = tree[key]
    how = dice.randrange(8)
    value = tree[key]
    if how == 0:
        del tree[key]
    elif how == 1 and isinstance(tree, dict):
        tree[dice.choice(["x", key + " ", ""])] = tree.pop(key)
    elif how == 2 and isinstance(tree, list):
        tree.insert(key, value)
    elif how == 3 and type(value) is int:
        tree[key] = value + dice.choice([1, -1, 2**32, -(2**63)])
    elif how == 4 and isinstance(value, str) and value:
        tree[key] = _bytes(dice, value.encode()).decode("utf-8", "replace")
    elif how == 5:
        tree[key] = dice.choice([HOSTILE, VALUES])[dice.randrange(len(HOSTILE))]
    elif how == 6:
        deep: Any = value
        for _ in range(dice.choice([1, 400])):
            deep = [deep]
        tree[key] = deep
    else:
        tree[key] = dice.choice(VALUES)


def _no_file(dice: Dice) -> Content:
    """Return what is no regular file."""
    links = ["/dev/zero", "/dev/null", "/dev/stdin", "nowhere", ".", "/proc/self/mem", "loop"]
    if dice.random() < 0.4:
        return Content(is_pipe=True)
    return Content(link=dice.choice(links))
