"""Two goes over the rows: kept in memory or read twice, ahead or not, the same bytes."""

import json

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv as pacsv
from pyarrow import parquet

from flagstone.tables import encoded
from flagstone.tables.files import line_blocks
from flagstone.tables.table import Table

COMMAND = ["constraints", "--contamination", "0.01", "--seed", "3", "--max-misfits", "30"]
KINDS = {
    "digits.csv": [],
    "gaps.csv": [],
    "t.parquet": [],
    "t.npy": [],
    "t.jsonl": [],
    "t.bits": ["--length", "9"],
}
#: Lines that are no rows before the first row, and before the others that do not fit.
BEFORE = {"digits.csv": (1, 1), "gaps.csv": (1, 2), "t.jsonl": (0, 0), "t.bits": (0, 2)}
#: Bytes for 3,000 rows of a word each, and for some of them.
ALL, SOME = 3000 * 8, 3000


@pytest.fixture
def files(place):
    """The same damaged rows as digits, with a blank line, typed, and as frames."""
    random = np.random.RandomState(1)
    rows = random.randint(0, 2, size=(3000, 9))
    rows[:, 8] = rows[:, :3].sum(axis=1) % 2
    rows[::150, 8] ^= 1
    table = pa.table({f"b{i}": rows[:, i] for i in range(9)})
    pacsv.write_csv(table, place / "digits.csv")
    lines = (place / "digits.csv").read_text().splitlines(keepends=True)
    lines[7:7] = ["\n"]
    (place / "gaps.csv").write_text("".join(lines))
    parquet.write_table(table, place / "t.parquet", row_group_size=700)
    np.save(place / "t.npy", rows)
    (place / "t.jsonl").write_text("".join(f"{row}\n" for row in rows.tolist()))
    frames = ["".join(map(str, row)) for row in rows.tolist()]
    frames[100:100] = ["1011", "# the one before is of another length"]
    (place / "t.bits").write_text("\n".join(frames))
    return place


@pytest.fixture
def readings(monkeypatch):
    """How often tables were read from the beginning."""
    starts = []
    rows = Table.rows

    def counted(self, encoding, start=None, **options):
        starts.append(start)
        return rows(self, encoding, start, **options)

    monkeypatch.setattr(Table, "rows", counted)
    return starts


def cut(monkeypatch, size):
    """Have batches of about this many bytes, or rows."""
    for module in ("delimited", "jsonlines", "frames"):
        monkeypatch.setattr(
            f"flagstone.tables.{module}.line_blocks",
            lambda path, offset=0, block=0: line_blocks(path, offset, size),
        )
    for module in ("columnar", "arrays"):
        monkeypatch.setattr(
            f"flagstone.tables.{module}.rows_per_batch", lambda n, b=0: max(1, size // 9)
        )


@pytest.mark.parametrize("name", KINDS)
def test_the_same_bytes_however_rows_come(run, files, name, monkeypatch, readings):
    words = [*COMMAND, name, *KINDS[name]]
    expected = None
    for room, overlap, size in (
        (ALL * 3, True, 1 << 22),
        (ALL * 3, False, 1000),
        (0, True, 1000),
        (0, False, 1 << 22),
        (SOME, True, 777),
    ):
        with monkeypatch.context() as patch:
            patch.setattr("flagstone.cli.reader.CACHE_BYTES", room)
            cut(patch, size)
            if not overlap:
                patch.setattr("flagstone.cli.reader.prefetch", lambda items: items)
            readings.clear()
            ran = run(*words, "-o", "m.json")
            assert ran.code == 0, ran.err
            assert len(readings) == (1 if room > ALL else 2)
        found = (files / "m.json").read_bytes(), ran.out
        (files / "m.json").unlink()
        expected = expected or found
        assert found == expected
    places = json.loads(expected[0])["content"]["rows"]["places"]
    rows = [1, *range(151, 3001, 150)]
    lines = [None if name not in BEFORE else row + BEFORE[name][row > 1] for row in rows]
    assert places == [[name, row, line] for row, line in zip(rows, lines, strict=True)]


@pytest.mark.parametrize("name", KINDS)
def test_an_error_in_a_late_row_has_the_same_words(run, files, name, monkeypatch):
    path = files / name
    if name == "t.npy":
        rows = np.load(path)
        rows[2990, 4] = 3
        np.save(path, rows)
    elif name == "t.parquet":
        table = parquet.read_table(path)
        column = table["b4"].to_numpy().copy()
        column[2990] = 3
        parquet.write_table(table.set_column(4, "b4", pa.array(column)), path, row_group_size=700)
    else:
        lines = path.read_text().split("\n")
        at = len(lines) - 5
        lines[at] = lines[at].replace("0", "3").replace("1", "3")
        path.write_text("\n".join(lines))
    said = set()
    for room, size in ((0, 1 << 22), (SOME, 1000), (ALL * 3, 777)):
        with monkeypatch.context() as patch:
            patch.setattr("flagstone.cli.reader.CACHE_BYTES", room)
            cut(patch, size)
            ran = run(*COMMAND, name, *KINDS[name], "--encode", "*=element")
        assert ran.code == 1
        said.add(ran.err)
    assert len(said) == 1, said


@pytest.mark.parametrize(
    ("words", "twice"),
    [
        ([], False),
        (["--cache-size", "1MB"], False),
        (["--cache-size", "24kB"], False),
        (["--cache-size", "23kB"], True),
        (["--cache-size", "0"], True),
    ],
)
def test_rows_are_read_once_where_they_fit(run, files, readings, words, twice):
    assert run(*COMMAND, "t.npy", *words).code == 0
    assert readings == [None] * (1 + twice)


def test_rows_that_are_needed_once_are_not_kept(run, files, monkeypatch):
    added = []
    monkeypatch.setattr(encoded, "_size", lambda batch: added.append(batch) or 1)
    assert run(*COMMAND, "t.npy", "--no-measure").code == 0
    assert run("summarize", "t.npy", "-o", "t.flag").code == 0
    assert len(added) == 2  # the first batch of each run had no room


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["--cache-size", "much"],
            "--cache-size must be a size such as 64MB or 256MiB, got 'much'",
        ),
        (["--cache-size", "-1"], "--cache-size must be a size"),
        (["--cache-size", "1MB", "--workers", "2"], "--cache-size is for one process"),
    ],
)
def test_what_cannot_be_kept_is_said(run, files, words, said):
    ran = run(*COMMAND, "t.npy", *words)
    assert ran.code == 2
    assert said in ran.err


def test_a_resumed_run_reads_what_it_has_not_kept(run, files, monkeypatch, readings):
    """Half of the rows are behind it: the second go reads all of them again."""
    from flagstone.algebra.flag import Flag

    cut(monkeypatch, 9000)
    words = [*COMMAND, "t.npy", "--checkpoint", "c.ckpt", "--checkpoint-every", "0"]
    assert run(*COMMAND, "t.npy", "-o", "whole.json").code == 0
    update = Flag.update

    def struck(self, rows):
        if self.n_rows >= 2000 and len(rows) > 500:
            raise KeyboardInterrupt
        return update(self, rows)

    with monkeypatch.context() as patch:
        patch.setattr(Flag, "update", struck)
        assert run(*words, "-o", "m.json").code == 130
    readings.clear()
    ran = run(*words, "-o", "m.json")
    assert ran.code == 0
    assert "resuming after 2,000 rows" in ran.err
    assert readings == [[0, 2000], None]
