"""Hostile files: a short answer, whatever a file announces; never a crash, a hang or all memory."""

import bz2
import csv
import gzip
import io
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import feather, parquet

from flagstone.errors import FormatError, InputError
from flagstone.tables import arrays, open_table
from flagstone.tables.batches import MOST_COLUMNS, Request

#: Reads every file it is given and prints what came of it; memory is bounded, so is time.
READ = """
import contextlib, json, re, resource, sys
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
from flagstone.errors import FlagstoneError
from flagstone.tables import open_table
for path in sys.argv[1:]:
    try:
        rows = 0
        table = open_table(path)
        for _, batch in table.batches():
            for index in range(len(table.columns)):
                str(batch.column(index).tolist())
            rows += len(batch)
        found = f"{rows} rows"
    except FlagstoneError as error:
        found = f"{type(error).__name__}: {error}"
    print(json.dumps(found), flush=True)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
with contextlib.suppress(OSError):  # on Linux the other number counts the parent, too
    peak = int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])
print(peak, file=sys.stderr)
"""


def outcomes(paths, most_kib=4 << 20):
    """Read files in a process of its own; a crash or a traceback there fails the test.

    So does a process that once held more memory than ``most_kib``.
    """
    words = [sys.executable, "-c", READ, *map(str, paths)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    bad = str(paths[len(found)]) if len(found) < len(paths) else "none"
    assert done.returncode == 0, f"exit code {done.returncode} at {bad}: {done.stderr[-2000:]}"
    assert int(done.stderr.split()[-1]) < most_kib
    return found


# -- Arrow and Parquet ------------------------------------------------------------------------


def columnar_files():
    """Small files of every encoding, as bytes."""
    bits = np.arange(60) % 2
    table = pa.table(
        {
            "a": bits.astype(np.uint8),
            "b": bits.astype(float),
            "t": ["x" if bit else "yy" for bit in bits],
            "d": pa.array(["u", "v", "w"] * 20).dictionary_encode(),
            "f": bits.astype(bool),
        }
    )
    views = table.append_column("v", pa.array(["a text that is a view"] * 60, pa.string_view()))
    files = {}
    for compression, name in (("uncompressed", "plain"), ("lz4", "lz4"), ("zstd", "zstd")):
        stream = io.BytesIO()
        feather.write_feather(table, stream, compression=compression, chunksize=25)
        files[f"{name}.feather"] = stream.getvalue()
    stream = io.BytesIO()
    with pa.ipc.new_stream(stream, views.schema) as writer:
        writer.write_table(views, max_chunksize=25)
    files["views.arrows"] = stream.getvalue()
    for name, options in (
        ("plain", {"use_dictionary": False, "compression": None}),
        ("snappy", {"compression": "snappy"}),
        ("pages", {"data_page_version": "2.0", "compression": "zstd"}),
    ):
        stream = io.BytesIO()
        parquet.write_table(table, stream, row_group_size=25, **options)
        files[f"{name}.parquet"] = stream.getvalue()
    return files


def mutant(data, rng):
    """Return bytes with a few changed: single bits, and the sizes and offsets that hurt most."""
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 4])):
        at = rng.randrange(len(data))
        how = rng.randrange(5)
        if how == 0:
            data[at] ^= 1 << rng.randrange(8)
        elif how == 1:
            data[at : at + 4] = rng.choice([b"\xff\xff\xff\x7f", b"\xff" * 4, b"\0\0\0\x80"])
        elif how == 2:
            data[at : at + 8] = rng.choice([b"\xff" * 7 + b"\x7f", b"\xff" * 8, b"\0" * 4 + b"\1"])
        elif how == 3:
            data[at] = rng.randrange(256)
        else:
            del data[at : at + rng.randrange(1, 9)]
    return bytes(data)


def test_damaged_arrow_and_parquet_files_never_crash_the_reader(tmp_path):
    rng = random.Random(3)
    whole = columnar_files()
    paths = []
    for number in range(420):
        name = list(whole)[number % len(whole)]
        path = tmp_path / f"{number}-{name}"
        path.write_bytes(whole[name] if number < len(whole) else mutant(whole[name], rng))
        paths.append(path)
    found = outcomes(paths)
    assert found[: len(whole)] == ["60 rows"] * len(whole)
    rest = found[len(whole) :]
    assert sum(text.startswith("FormatError") for text in rest) > 200
    assert all(text.startswith(("FormatError", "InputError")) or text == "60 rows" for text in rest)


@pytest.mark.parametrize("rows", [[0, 2**31 - 1, 5], [0, 5, 3]])
def test_offsets_beyond_their_buffer_are_refused(tmp_path, rows):
    offsets = pa.py_buffer(np.array(rows, dtype=np.int32))
    bad = pa.StringArray.from_buffers(2, offsets, pa.py_buffer(b"hello"))
    batch = pa.RecordBatch.from_arrays([bad], ["t"])
    with pa.ipc.new_stream(tmp_path / "t.arrows", batch.schema) as writer:
        writer.write_batch(batch)
    (found,) = outcomes([tmp_path / "t.arrows"])
    assert found.startswith("FormatError")


def test_a_short_buffer_drops_no_rows_silently(tmp_path):
    stream = io.BytesIO()
    batch = pa.RecordBatch.from_arrays([pa.array(range(9))], ["a"])
    with pa.ipc.new_stream(stream, batch.schema) as writer:
        writer.write_batch(batch)
    whole, size = stream.getvalue(), (72).to_bytes(8, "little")  # of nine integers
    for at in (whole.find(size), whole.rfind(size)):  # one is the buffer's, one the message's
        (tmp_path / "t.arrows").write_bytes(whole[:at] + b"\x40" + whole[at + 1 :])
        with pytest.raises(FormatError, match="damaged"):
            list(open_table(tmp_path / "t.arrows").batches())


@pytest.mark.parametrize("format", ["npy", "feather", "parquet"])
def test_a_file_cut_short_while_it_is_read_ends_in_an_error(tmp_path, format):
    path = tmp_path / f"t.{format}"
    column = np.random.RandomState(0).randint(0, 2, 2_000_000).astype(np.uint8)
    if format == "npy":
        np.save(path, column[:, np.newaxis])
    elif format == "feather":
        feather.write_feather(pa.table({"a": column}), path, compression="uncompressed")
    else:
        parquet.write_table(pa.table({"a": column}), path, row_group_size=200_000)
    code = (
        "import os, sys\n"
        "from flagstone.errors import FormatError\n"
        "from flagstone.tables import open_table\n"
        "batches = open_table(sys.argv[1]).batches()\n"
        "next(batches)\n"
        "os.truncate(sys.argv[1], 4096)\n"
        "try:\n    print(sum(int(batch.column(0).sum()) for _, batch in batches))\n"
        "except FormatError as error:\n    print('FormatError')\n"
    )
    words = [sys.executable, "-c", code, str(path)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (0, "FormatError\n"), done.stderr


def test_a_text_that_many_rows_share_is_held_once(tmp_path):
    """Sixteen megabytes fifty thousand times over, from files of little more than that."""
    text = "x" * (1 << 24)
    shared = pa.DictionaryArray.from_arrays(pa.array(np.zeros(50_000, np.int32)), [text])
    feather.write_feather(pa.table({"t": shared}), tmp_path / "t.feather")
    parquet.write_table(pa.table({"t": shared}), tmp_path / "t.parquet")
    for name in ("t.feather", "t.parquet"):
        ((_, batch),) = open_table(tmp_path / name).batches()
        values = batch.column(0)
        assert values[0] == text
        assert all(value is values[0] for value in values.tolist())


def test_views_of_one_long_text_are_bounded(tmp_path):
    """A hundred views of sixteen megabytes: legal, small on disk, too much for a batch."""
    size = 1 << 24
    views = np.tile(np.array([size, 0x78787878, 0, 0], dtype="<i4"), 100)
    data = pa.py_buffer(b"x" * size)
    column = pa.Array.from_buffers(pa.string_view(), 100, [None, pa.py_buffer(views), data])
    batch = pa.RecordBatch.from_arrays([column], ["t"])
    with pa.ipc.new_stream(tmp_path / "t.arrows", batch.schema) as writer:
        writer.write_batch(batch)
    with pytest.raises(FormatError, match="its texts are 1,677,721,600 bytes long"):
        list(open_table(tmp_path / "t.arrows").batches())


def test_null_values_of_a_dictionary_are_missing_where_they_are_used(tmp_path):
    for codes, message in (([0, 0], None), ([0, 1], "row 2, column 't': the value is missing")):
        column = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int8()), ["x", None])
        feather.write_feather(pa.table({"t": column}), tmp_path / "t.feather")
        table = open_table(tmp_path / "t.feather")
        if message is None:
            assert [batch.column(0).tolist() for _, batch in table.batches()] == [["x", "x"]]
        else:
            with pytest.raises(InputError, match=message):
                table.encoding(2, encode="auto")


def test_columns_of_lists_are_refused_by_name(tmp_path):
    parquet.write_table(pa.table({"a": [[1], [0, 1]]}), tmp_path / "t.parquet")
    with pytest.raises(InputError, match=r"column 'a': holds list<.*must hold numbers"):
        list(open_table(tmp_path / "t.parquet").batches())


# -- files that announce more than they hold ----------------------------------------------------


def npy(shape, descr="'|u1'", data=b"", fortran=False):
    """Return an NPY file with this header, true or not."""
    header = f"{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}"
    text = header.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + data


def npz(**members):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(f"{name}.npy", data)
    return stream.getvalue()


WIDE = 300_000
SMALL = {
    "no-rows.npy": (npy((0, 10**12)), "InputError", "1,000,000,000,000 columns"),
    "one-row.npy": (npy((1, 10**12)), "FormatError", "shape (1, 1000000000000)"),
    "no-columns.npy": (npy((10**12, 0)), "InputError", "has no columns"),
    "negative.npy": (npy((-1, -5)), "FormatError", "shape (-1, -5)"),
    "empty-text.npy": (npy((10**12, 1), "'<U0'"), "InputError", "entries of type"),
    "no-rows.npz": (npz(X=npy((0, 10**12))), "InputError", "1,000,000,000,000 columns"),
    "one-row.npz": (npz(X=npy((1, 10**12))), "FormatError", "shape (1, 1000000000000)"),
    "long-text.npz": (
        npz(X=npy((1, 1), f"'<U{2**24 + 1}'", bytes(4 * 2**24 + 4))),
        "InputError",
        "longer than 64 MiB",
    ),
    "wide.npy": (npy((1, WIDE), data=bytes(WIDE)), "InputError", "300,000 columns"),
    "wide.csv": (",".join(f"c{i}" for i in range(WIDE)).encode() + b"\n", "InputError", "300,000"),
    "wide.jsonl": (b"[" + b"0," * (WIDE - 1) + b"0]\n", "InputError", "300,000 columns"),
    "wide.bits": (b"0" * WIDE + b"\n", "InputError", "300,000 columns"),
    "announced.hex": (b"{" + b"9" * 5000 + b"}ab\n", "InputError", "line 1"),
    "deep.jsonl": (b"[" * 100_000 + b"]" * 100_000 + b"\n", "InputError", "line 1"),
    "nested.jsonl": (b'{"a": ' + b"[" * 300 + b"]" * 300 + b"}\n", "InputError", "inside a row"),
}


def test_small_files_that_announce_much_are_answered_at_once(tmp_path):
    bomb = tmp_path / "bomb.csv.gz"
    with gzip.open(bomb, "wb", compresslevel=1) as stream:
        for _ in range(80):
            stream.write(b"1" * (1 << 20))
    paths = [bomb, tmp_path / "bomb.bits.gz", tmp_path / "bomb.jsonl.gz"]
    for path in paths[1:]:
        path.write_bytes(bomb.read_bytes())
    for name, (data, _, _) in SMALL.items():
        paths.append(tmp_path / name)
        paths[-1].write_bytes(data)
    for text, (kind, part) in zip(
        outcomes(paths),
        [("InputError", "longer than 64 MiB")] * 3 + [case[1:] for case in SMALL.values()],
        strict=True,
    ):
        assert text.startswith(kind), text
        assert part in text


#: One line each, just below the longest that is read, or a quarter of it:
#: (start, what is repeated, end, message).
LINES = {
    "blanks.hex": (b"", b"1 ", b"1", "134,217,724 columns"),
    "blanks.bits": (b"", b"1 ", b"1", "33,554,431 columns"),
    "separators.hex": (b"", b"11:", b"11", "blanks and separators"),
    "prefixes.hex": (b"", b"0x11 ", b"0x11", "blanks and separators"),
    "frames.hex": (b"", b"1/", b"1", "write fewer frames on each line"),
    "lengths.hex": (b"", b"{4}8", b"{4}8", "write fewer frames on each line"),
    "long.hex": (b"", b"8" * 1000 + b"/", b"8" * 1000, "write fewer frames on each line"),
    "comment.hex": (b"11 ;", b"11;", b"11", "looks like more bytes of the row"),
    "comments.hex": (b"11 ", b"/**/", b"", "comments"),
    "cells.csv": (b"", b"11,", b"11", " cells (told apart by "),
    "quoted.csv": (b'"', b"11,", b'"', "cells"),
    "row.csv": (b"a,b\n1,0\n", b"11,", b"11", "line 3: has 22,369,"),
    "lists.jsonl": (b"[", b"[],", b"1]", "values and names"),
    "objects.jsonl": (b"[", b"{},", b"1]", "values and names"),
    "codes.jsonl": (
        b"{" + b"".join(b'"c%d":1,' % i for i in range(9000)) + b'"codes":[', b'"8",', b'"8"]}',
        "values and names",
    ),
}  # fmt: skip
FULL_LENGTH = ("blanks.hex", "blanks.bits", "long.hex", "row.csv")
#: The same with as many parts as are read, or with that many of them.
N_PARTS = {"frames.bits": 300_000, "wide.jsonl": 349_000, "codes.jsonl": 1_200}
ALLOWED = {
    "frames.bits": (b"", b"1/", b"1", "300001 rows"),
    "wide.hex": (b"", b"11:", b"11", "8,388,608 columns"),
    "wide.csv": (b"", b"11,", b"11", "1,048,576 columns"),
    "wide.jsonl": (b"[", b"[],", b"1]", "columns"),
    "codes.jsonl": (
        b"{" + b"".join(b'"c%d":1,' % i for i in range(900)) + b'"codes":[', b'"8",', b'"8"]}',
        "cells in all its frames",
    ),
}  # fmt: skip


def packed(path, start, part, n_parts, end):
    """Write one line, compressed: a part over and over, as streams in a row."""
    blocks, more = divmod(n_parts, 1 << 20)
    block = gzip.compress(part * (1 << 20), 1) if blocks else b""
    rest = gzip.compress(part * more + end + b"\n", 1)
    path.write_bytes(gzip.compress(start, 1) + block * blocks + rest)
    return path


def test_memory_is_limited_for_rows_of_many_parts(tmp_path):
    """A part of one byte takes 100 bytes of memory and more once it is told from the others."""
    cases: dict[int, list[tuple]] = {1_000_000: [], 400_000: []}  # by KiB that they may take
    for name, (start, part, end, message) in LINES.items():
        full = name in FULL_LENGTH
        n_bytes = (1 << (26 if full else 24)) - len(start) - len(end) - 2
        line = start, part, n_bytes // len(part), end
        cases[1_000_000 if full else 400_000].append((f"most-{name}", *line, message))
    for name, (start, part, end, message) in ALLOWED.items():
        line = start, part, N_PARTS.get(name, (1 << 20) - 1), end
        cases[1_000_000].append((f"many-{name}", *line, message))
    for most_kib, some in cases.items():
        paths = [packed(tmp_path / f"{name}.gz", *line) for name, *line, _ in some]
        for text, (name, *_, message) in zip(outcomes(paths, most_kib), some, strict=True):
            assert message in text, (name, text)


def test_a_bomb_of_two_kilobytes_is_refused_at_once(tmp_path):
    block = bz2.compress(b"1 " * 449_000)
    (tmp_path / "t.hex.bz2").write_bytes(block * 74)  # streams in a row are one file
    assert (tmp_path / "t.hex.bz2").stat().st_size < 4000
    (found,) = outcomes([tmp_path / "t.hex.bz2"], most_kib=500_000)
    assert "InputError" in found
    assert "has 132,904,000 columns, but up to 131,072 are read" in found


def test_frames_that_repeat_many_columns_come_in_several_batches(tmp_path):
    codes, other = ["{4}8", "{4}9"] * 50, {f"c{i}": i % 2 for i in range(400)}
    line = json.dumps(other | {"codes": codes}) + "\n"
    (tmp_path / "t.jsonl").write_text(line * 50)
    table = open_table(tmp_path / "t.jsonl")
    batches = [batch for _, batch in table.batches()]
    assert [len(batch) for batch in batches] == [2700, 2300]
    assert batches[1].place(table.files[0], 0).line == 28
    start = (0, *batches[0].after)
    (rest,) = [batch for _, batch in table.batches(start=start)]
    assert (rest.first_row, len(rest), rest.column(400).tolist()) == (2701, 2300, codes * 23)
    assert rest.after == batches[1].after


def test_the_limit_of_columns_can_be_raised(tmp_path):
    path = tmp_path / "t.npy"
    np.save(path, np.ones((1, MOST_COLUMNS + 1), dtype=np.uint8))
    with pytest.raises(InputError, match="ask for more with max_columns=131073"):
        open_table(path)
    table = open_table(path, max_columns=MOST_COLUMNS + 1)
    assert len(table.columns) == MOST_COLUMNS + 1
    with pytest.raises(InputError, match="there is no column 'x-1'"):
        table.encoding(2, columns=["x-1"])


def test_forty_thousand_columns_are_no_matter(tmp_path):
    """Every list of names is gone through once: by pairs this would take minutes."""
    names = [f"c{i}" for i in range(40_000)]
    path = tmp_path / "t.csv"
    path.write_text(",".join(names) + "\n" + ",".join(["1"] * len(names)) + "\n")
    table = open_table(path)
    encoding = table.encoding(2, columns=[*names, "-c7"], encode=dict.fromkeys(names[:7], "mod"))
    (batch,) = table.rows(encoding)
    assert batch.matrix.shape == (1, 39_999)
    path.write_text(",".join([*names, "c39999"]) + "\n")
    with pytest.raises(InputError, match="two columns are called 'c39999'"):
        open_table(path)


# -- what is no file, and what is no text -------------------------------------------------------


def test_only_regular_files_are_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("p.csv")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("s.csv")
        for source in ("/dev/zero", "/dev/null", "p.csv", "s.csv"):
            with pytest.raises(
                InputError, match=r"pipe, a device or a socket.*save them to a file"
            ):
                open_table(source, format="csv")
        (tmp_path / "a.csv").write_text("a\n1\n")
        assert [file.name for file in open_table(tmp_path).files] == ["a.csv"]
        assert [file.name for file in open_table("*.csv").files] == ["a.csv"]


def test_links_that_go_round_are_followed_once(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "a.csv").write_text("a\n1\n")
    (tmp_path / "logs" / ".hidden.csv").write_text("a\n1\n")
    for name in ("one", "two", "three"):  # by way of links, 3^40 paths
        (tmp_path / "logs" / name).symlink_to(tmp_path / "logs")
    os.symlink("self.csv", "self.csv")
    for pattern in ("logs", "logs/**/*.csv", "**/a.csv", str(tmp_path / "lo*" / "*.csv")):
        assert [file.name for file in open_table(pattern).files] == ["a.csv"], pattern
    assert [file.name for file in open_table("logs/.*.csv").files] == [".hidden.csv"]
    (tmp_path / "logs").rename(tmp_path / ".logs")
    assert [file.name for file in open_table(".logs/*.csv").files] == ["a.csv"]
    with pytest.raises(InputError, match=r"self\.csv: cannot be read .its symbolic links lead"):
        open_table("self.csv")
    for name in ("x" * 5000, "a\0b.csv", "**x/a**.csv"):
        with pytest.raises(InputError):
            open_table(name)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (npy((1, 1), "'<U2'", b"\0\0\x11\0" + b"a\0\0\0"), "row 1: .* no valid Unicode"),
        (npy((2, 1), "'<U1'", b"a\0\0\0" + b"\0\xd8\0\0"), "row 2: .* no valid Unicode"),
        (npy((1, 1), "'>U1'", b"\0\0\xd8\0"), "row 1: .* no valid Unicode"),
        (npy((2,), "[('a', '<i4', (3,))]", bytes(24)), "entries of type"),
        (npy((2,), "[('a', [('b', '<i4')])]", bytes(8)), "entries of type"),
        (npy((2,), "[('a\\ud800', '|u1')]", bytes(2)), "name of a column is no valid Unicode"),
        (npy((1, 1), "'<M8[ns]'", bytes(8)), "entries of type"),
        (npy((1, 1), "'|V3'", bytes(3)), "entries of type"),
    ],
)
def test_arrays_of_what_is_no_entry_are_refused(tmp_path, data, message):
    (tmp_path / "t.npy").write_bytes(data)
    with pytest.raises(InputError, match=message):
        list(open_table(tmp_path / "t.npy").batches())


def test_arrays_of_every_order_and_kind_are_read_as_numpy_reads_them(tmp_path, monkeypatch):
    monkeypatch.setattr(arrays, "rows_per_batch", lambda n, b: 3)
    matrix = np.arange(20).reshape(10, 2) % 7
    for array in (
        matrix, matrix.astype(">i2"), np.asfortranarray(matrix), matrix.astype("U3"),
        matrix.astype(">U1"), matrix % 2 == 0, matrix / 2,
    ):  # fmt: skip
        np.save(tmp_path / "t.npy", array)
        table = open_table(tmp_path / "t.npy")
        batches = [batch for _, batch in table.batches()]
        assert np.concatenate([batch.values for batch in batches]).tolist() == array.tolist()
        rest = [batch.values for _, batch in table.batches(["x1"], start=(0, 6))]
        assert np.concatenate(rest).tolist() == array[6:, 1:].tolist()
    named = np.array([(1, "ä"), (0, "b")], dtype=[("zahl", "<i4"), ("größe→", "<U2")])
    with pytest.warns(UserWarning, match="format 3.0"):
        np.save(tmp_path / "t.npy", named)
    table = open_table(tmp_path / "t.npy")
    assert table.columns == ("zahl", "größe→")
    assert [batch.column(1).tolist() for _, batch in table.batches()] == [["ä", "b"]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1}\n{"a": 1, "a": 0}\n', "line 2: .*the name 'a' occurs twice"),
        ('["x"]\n["\\ud800"]\n', "line 2: .*surrogates not allowed"),
        ('{"\\udfff": 1}\n', "line 1: .*surrogates not allowed"),
        ('{"a": 1}\n{"a": [1]}\n', "line 2, column 'a': an array or object inside a row"),
    ],
)
def test_json_lines_that_cannot_be_written_again_are_refused(tmp_path, text, message):
    (tmp_path / "t.jsonl").write_text(text)
    with pytest.raises(InputError, match=message):
        list(open_table(tmp_path / "t.jsonl").batches())


@pytest.mark.parametrize("text", ["a,b\n1,1\r0,0\n", "a,b\r1,1\r", "a\nx\ry\n"])
def test_carriage_returns_end_no_line(tmp_path, text):
    (tmp_path / "t.csv").write_bytes(text.encode())
    with pytest.raises(InputError, match=r"line \d: a carriage return stands outside quotes"):
        list(open_table(tmp_path / "t.csv").batches())


def test_carriage_returns_in_quotes_are_part_of_a_level(tmp_path):
    (tmp_path / "t.csv").write_bytes(b'a,b\r\n"x\ry",1\r\nz,0\r\n')
    table = open_table(tmp_path / "t.csv")
    encoding = table.encoding(2, encode="auto")
    assert encoding.encoders[0].values == ("x\ry", "z")
    assert type(encoding).from_dict(encoding.to_dict()) == encoding
    assert [batch.matrix.tolist() for batch in table.rows(encoding)] == [[[0, 1], [1, 0]]]
    with pytest.raises(InputError, match="put those with a line end in quotes"):
        table.encoding(2, encode={"a": "levels:x\ry,z"})


@pytest.mark.parametrize(
    ("rows", "line"),
    [
        ('1,2\n3,"4\n5,6\n7,8\n', 3),
        ('1,2\n"3,4\n5,6\n', 3),  # and too few cells
        ('1,2\n\n3,"4\r\n5,6\r\n', 4),
        ('1,2\n3,"4\n', 3),
        ('1,2\n3,"4', 3),
        ('1,2\n3,"\n\n\n', 3),
        ('1,"x""\n3,4\n', 2),
        ('1,"x\ny"\n3,"4\n', 4),
        ('1,"x\n2,"y\n3,4\n', 2),  # closed by the quote of another cell
    ],
)
@pytest.mark.parametrize("kind", ["text", "integer"])
def test_a_quote_that_is_not_closed_is_named(tmp_path, rows, line, kind):
    (tmp_path / "t.csv").write_bytes(f"a,b\n{rows}".encode())
    (reader,) = open_table(tmp_path / "t.csv").readers
    message = rf"line {line}: a quote opens a cell here, and none closes it.*; add the closing"
    with pytest.raises(InputError, match=message):
        list(reader.batches(Request("ab", dict.fromkeys("ab", kind))))


def test_a_quote_that_is_not_closed_is_named_where_a_few_rows_are_looked_at(tmp_path):
    (tmp_path / "t.csv").write_text('a,b\n1,"x\ny"\n2,"z\n3,4\n' + "5,6\n" * 100)
    table = open_table(tmp_path / "t.csv")
    with pytest.raises(InputError, match="line 4: a quote opens a cell here"):
        next(table.readers[0].batches(Request("ab", {}, most=3)))
    (tmp_path / "t.csv").write_text('a,b\n1,"x\ny"\n2,"z\n3,4"\n' + "5,6\n" * 100)
    batch = next(open_table(tmp_path / "t.csv").readers[0].batches(Request("ab", {}, most=3)))
    assert batch.column(1)[0] == "x\ny"


@pytest.mark.parametrize("names", ['a,"b', '"a,b', 'a,"b\nc"'])
def test_a_quote_that_is_not_closed_among_the_names_is_told(tmp_path, names):
    (tmp_path / "t.csv").write_text(f"{names}\n1,2\n")
    with pytest.raises(InputError, match="line 1: a quote opens the name of a column, and none"):
        open_table(tmp_path / "t.csv")


@given(st.lists(st.tuples(*[st.text('a1",; \n', max_size=4)] * 3), min_size=1), st.booleans())
def test_cells_with_quotes_and_line_ends_are_read_as_they_were_written(rows, every):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.csv"
        with path.open("w", newline="") as stream:
            style = csv.QUOTE_ALL if every else csv.QUOTE_MINIMAL
            csv.writer(stream, quoting=style, lineterminator="\n").writerows(
                [("a", "b", "c"), *rows]
            )
        (reader,) = open_table(path).readers
        found = [
            batch.column(i).tolist()
            for batch in reader.batches(Request("abc", {}))
            for i in range(3)
        ]
        assert [tuple(row) for row in zip(*found, strict=True)] == rows


@pytest.mark.parametrize("row", ['1,5" pipe', '1,"5"" pipe"', '1,"x"y', '1,x"y"', '1,""', '"",1'])
def test_quotes_within_cells_open_none(tmp_path, row):
    (tmp_path / "t.csv").write_text(f"a,b\n{row}\n3,4\n{row}\n")
    (reader,) = open_table(tmp_path / "t.csv").readers
    assert [len(batch) for batch in reader.batches(Request("ab", {}))] == [3]


@pytest.mark.parametrize("ending", ["arrow", "arrows"])
def test_a_dictionary_of_records_is_refused_as_records_are(tmp_path, ending):
    levels = pa.array([{"x": 1}, {"x": 2}])
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0], pa.int32()), levels)
    table = pa.table({"a": [0, 1, 1], "s": column})
    path = tmp_path / f"t.{ending}"
    write = pa.ipc.new_file if ending == "arrow" else pa.ipc.new_stream
    with write(str(path), table.schema) as stream:
        stream.write_table(table)
    found = open_table(path)
    with pytest.raises(InputError, match=r"column 's': holds dictionary<.*must hold numbers"):
        found.encoding(2, encode="auto")


def test_a_table_of_blank_lines_is_given_up(tmp_path):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"\n" * 10 + b"a,b\n1,0\n"))
    assert open_table(path).columns == ("a", "b")
    path.write_bytes(gzip.compress(b"\r\n" * 1_100_000))
    with pytest.raises(InputError, match="begins with 1,000,000 blank lines: column names and"):
        open_table(path)
