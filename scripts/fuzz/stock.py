"""Good files of every format, the commands that read them, and what undisturbed runs make."""

from __future__ import annotations

import bz2
import functools
import gzip
import io
import json
import lzma
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from scripts.fuzz.command import Program
from scripts.fuzz.trial import fresh_folder

__all__ = ["PACKERS", "PLAIN", "Sample", "Stock"]

PLAIN = ("csv", "tsv", "jsonl", "hex", "bits")
PACKERS = {
    "gz": lambda data: gzip.compress(data, mtime=0),
    "bz2": bz2.compress,
    "xz": lzma.compress,
}
#: Files whose lines hold more than frames: tables refuse them.
CAPTURES = ("receiver.hex", "can.hex")
#: Parts of names of files whose columns have none.
NAMELESS = (".hex", ".bits", ".npy", "arrays", "matrix")

#: Read a table; {} is the file, LABEL its last column.
TABLE_COMMANDS = [
    *[["read()", "{}"]] * 5,
    ["constraints", "{}", "--seed", "1", "-e", "auto"],
    ["constraints", "{}", "--json", "--contamination", "0.1", "-e", "auto"],
    ["frames", "{}", "--seed", "1", "--json"],
    ["frames", "{}", "--skip-bad-lines", "--truncate", "--by", "file"],
    [
        "constraints",
        "--linear",
        "{}",
        "-e",
        "auto",
        "-o",
        "m.json",
        "--report",
        "r.html",
        "--plot",
        "p.svg",
    ],
    ["constraints", "--linear", "{}", "--field", "QQ", "--as", "python"],
    ["constraints", "--linear", "{}", "--field", "7", "-e", "auto", "--json"],
    ["learn", "{}", "-l", "LABEL", "--seed", "1", "--json", "-e", "auto"],
    ["learn", "{}", "-l", "LABEL", "--intercept"],
    ["equations", "{}", "-l", "LABEL", "--field", "QQ", "-e", "auto"],
    ["subspace", "{}", "-l", "LABEL", "--affine", "-e", "auto"],
    ["summarize", "{}", "-o", "out.flag", "--checkpoint", "c.ckpt", "-e", "auto"],
    ["summarize", "{}", "-o", "out.flag", "--field", "QQ", "-e", "auto"],
    ["predict", "constraints.json", "{}"],
    ["check", "constraints.json", "{}", "--json"],
    ["audit", "{}", "--pairs", "2", "--t-max", "3", "--json", "-e", "auto"],
    ["plan", "--pilot", "{}", "--seed", "1", "-e", "auto", "-o", "p.json"],
]
#: Read a finding.
FINDING_COMMANDS = [
    ["load()", "{}"],
    ["show", "{}"],
    ["show", "{}", "--json"],
    ["show", "{}", "--report", "r.html", "--plot", "p.svg"],
    *(["show", "{}", "--as", form] for form in ("text", "basis", "masks", "frames", "python")),
    *(["frames", "{}", "--as", form] for form in ("text", "c", "python", "rtl_433")),
    ["frames", "{}", "--json", "--report", "r.html"],
    ["compare", "{}", "constraints.json"],
    ["compare", "{}", "{}", "--json"],
    ["predict", "{}", "t.csv"],
    ["check", "{}", "t.csv", "--max-misfits", "3"],
    ["constraints", "--linear", "{}", "--json"],
    ["merge", "{}", "constraints.flag", "-o", "out.flag"],
]
#: Read a flag.
SUMMARY_COMMANDS = [
    ["load()", "{}"],
    ["load()", "{}"],
    ["show", "{}"],
    ["show", "{}", "--json", "--plot", "p.svg"],
    ["constraints", "{}", "--seed", "1"],
    ["constraints", "--linear", "{}", "--seed", "1", "--json", "--rule", "heavy"],
    ["learn", "{}", "--seed", "1", "-o", "out.json", "--report", "r.html"],
    ["merge", "{}", "constraints.flag", "-o", "out.flag"],
    ["merge", "{}", "{}", "-o", "out.flag"],
    ["compare", "{}", "constraints.json"],
]


@dataclass(frozen=True)
class Sample:
    """A good file, what reads it, whether it is sealed, and what must stand beside it."""

    what: str
    name: str
    data: bytes
    commands: list[list[str]]
    is_sealed: bool = False
    beside: tuple[str, ...] = ()


def matrix() -> np.ndarray:
    """Return rows of bits, of which the last is a parity of others."""
    rows = np.random.RandomState(5).randint(0, 2, (40, 6))
    rows[:, 5] = rows[:, 0] ^ rows[:, 1]
    return rows


def tables() -> dict[str, bytes]:
    """Return the table in every format, by file name."""
    import pyarrow as pa
    from pyarrow import feather, parquet

    rows = matrix()
    names = list("abcdef")
    lines = [",".join(names), *(",".join(map(str, row)) for row in rows.tolist())]
    text = "\n".join(lines) + "\n"
    levels = "door,level,f\n" + "".join(
        f"{'shut' if a else 'open'},{a + 2 * b + 4 * c},{f}\n" for a, b, c, _, _, f in rows.tolist()
    )
    frames = "".join(f"{{6}}{int(''.join(map(str, row)), 2) << 2:02x}\n" for row in rows.tolist())
    bytes_ = [np.packbits(np.resize(row, 48)).tobytes().hex(" ") for row in rows]
    files = {
        "t.csv": text.encode(),
        "t.tsv": text.replace(",", "\t").encode(),
        "levels.csv": levels.encode(),
        "fractions.csv": b"a,b,f\n1/2,-3,25\n7/3,1e3,-12\n1/3,5,6\n2,2,1\n",
        "objects.jsonl": "".join(
            json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows.tolist()
        ).encode(),
        "arrays.jsonl": "".join(json.dumps(row) + "\n" for row in rows.tolist()).encode(),
        "t.hex": frames.encode(),
        "receiver.hex": "".join(
            f"[{i % 3:02}] {{48}} {text} : {int(text.replace(' ', ''), 16):048b}\n"
            for i, text in enumerate(bytes_)
        ).encode(),
        "can.hex": "".join(
            f"({i}.5) can0 12{i % 2}#{text.replace(' ', '')}\n" for i, text in enumerate(bytes_)
        ).encode(),
        "written.hex": (
            "/* by\nhand */ " + " ; c\n".join(text.replace(" ", ":") for text in bytes_)
        ).encode(),
        "codes.jsonl": "".join(
            json.dumps({"codes": [f"{{48}}{text.replace(' ', '')}"] * 2}) + "\n" for text in bytes_
        ).encode(),
        "t.bits": "".join("".join(map(str, row)) + "\n" for row in rows.tolist()).encode(),
    }
    for name in ("t.csv", "arrays.jsonl", "t.hex", "t.bits"):
        for suffix, pack in PACKERS.items():
            files[f"{name}.{suffix}"] = pack(files[name])
    table = pa.table({name: rows[:, i].astype(np.uint8) for i, name in enumerate(names)})
    texts = pa.array(["yes" if bit else "a text that a view shows" for bit in rows[:, 0]])
    mixed = table.append_column("t", texts).append_column("u", texts.dictionary_encode())
    mixed = mixed.append_column("v", texts.cast(pa.string_view()))
    for name, options in (
        ("plain", {"use_dictionary": False, "compression": None}),
        ("snappy", {"compression": "snappy"}),
        ("pages", {"data_page_version": "2.0", "compression": "zstd"}),
    ):
        for prefix, content in (("", table), ("mixed-", mixed.drop_columns("v"))):
            stream = io.BytesIO()
            parquet.write_table(content, stream, row_group_size=25, **options)
            files[f"{prefix}{name}.parquet"] = stream.getvalue()
    for compression in ("uncompressed", "lz4", "zstd"):
        for prefix, content in (("", table), ("mixed-", mixed)):
            stream = io.BytesIO()
            feather.write_feather(content, stream, compression=compression, chunksize=25)
            files[f"{prefix}{compression}.arrow"] = stream.getvalue()
    stream = io.BytesIO()
    with pa.ipc.new_stream(stream, mixed.schema) as writer:
        writer.write_table(mixed, max_chunksize=25)
    files["mixed.arrows"] = stream.getvalue()
    for name, array in (
        ("u1", rows.astype(np.uint8)),
        ("f8", rows / 1.0),
        ("U", rows.astype("U2")),
    ):
        stream = io.BytesIO()
        np.save(stream, np.asfortranarray(array) if name == "f8" else array)
        files[f"{name}.npy"] = stream.getvalue()
    for name, save, members in (
        ("matrix", np.savez, {"X": rows.astype(np.int8)}),
        ("columns", np.savez_compressed, {"a": rows[:, 0], "b": rows[:, 1], "f": rows[:, 5]}),
    ):
        stream = io.BytesIO()
        save(stream, **members)
        files[f"{name}.npz"] = stream.getvalue()
    return files


#: Commands that make findings and summaries.
_ENCODED = ["-e", "door=levels:open,shut", "-e", "level=bits:3"]
SAVED = [
    ["constraints", "t.csv", "--seed", "1", "-o", "constraints.json"],
    ["constraints", "t.csv", "--field", "7", "-o", "seven.json", "--seed", "1"],
    ["frames", "t.bits", "--seed", "1", "-o", "frames.json"],
    ["constraints", "--linear", "t.bits", "--seed", "1", "-o", "span.json"],
    [
        "constraints",
        "--linear",
        "fractions.csv",
        "--field",
        "QQ",
        "-o",
        "rational.json",
        "--seed",
        "1",
    ],
    ["learn", "levels.csv", "-l", "f", *_ENCODED, "--seed", "1", "-o", "learn.json"],
    ["equations", "t.csv", "-l", "f", "--seed", "1", "-o", "equations.json"],
    ["summarize", "t.csv", "-o", "constraints.flag"],
    ["summarize", "wide.bits", "-o", "wide.flag"],
    ["summarize", "fractions.csv", "--field", "QQ", "-o", "rational.flag"],
    ["summarize", "t.csv", "--field", "2^8", "-o", "eight.flag", "--linear"],
    ["summarize", "levels.csv", "-l", "f", *_ENCODED, "--for", "learn", "-o", "learn.flag"],
]


@dataclass
class Stock:
    """What trials start from.

    ``program`` is tried; ``good`` makes the good files, and the outputs to compare with. They are
    the same but where a test plants a fault in the first.
    """

    program: Program
    good: Program
    folder: Path
    made: dict[str, object] = field(default_factory=dict)  #: kept by trials, by their name

    @functools.cached_property
    def files(self) -> dict[str, bytes]:
        """Every good file, by its name."""
        files = tables()
        wide = np.concatenate([matrix()] * 4, axis=1)
        files["wide.bits"] = "".join("".join(map(str, row)) + "\n" for row in wide).encode()
        with fresh_folder(self.folder / "stock") as folder:
            for name, data in files.items():
                (folder / name).write_bytes(data)
            # or their damage says nothing
            reading = [["frames" if name in CAPTURES else "read()", name] for name in files]
            for words in [*reading, *SAVED]:
                ran = self.good.run(words, folder)
                if ran.code not in (0, 3):
                    raise RuntimeError(f"a good file cannot be made: {ran}")
            return {path.name: path.read_bytes() for path in folder.iterdir()}

    @functools.cached_property
    def samples(self) -> list[Sample]:
        """The good files that trials damage."""
        found = []
        for name, data in self.files.items():
            what = name.partition(".")[2]
            what = "packed" if "." in what else what
            if what == "json":
                beside = ("constraints.json", "t.csv", "constraints.flag")
                found.append(Sample("finding", name, data, FINDING_COMMANDS, True, beside))
            elif what == "flag":
                beside = ("constraints.json", "constraints.flag")
                found.append(Sample("summary", name, data, SUMMARY_COMMANDS, True, beside))
            else:
                label = "x5" if any(part in name for part in NAMELESS) else "f"
                words = [[label if w == "LABEL" else w for w in words] for words in TABLE_COMMANDS]
                found.append(Sample(what, name, data, words, False, ("constraints.json",)))
        return found
