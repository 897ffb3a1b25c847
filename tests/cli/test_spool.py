"""Standard input as a file: answered as the file is, and nothing is left behind."""

import os
import signal
import subprocess
import sys
import time

import pytest

from flagstone.cli.spool import OnePassStream
from flagstone.errors import InputError
from flagstone.tables import open_table
from flagstone.tables.files import RemoteFile
from flagstone.tables.opening import TEXT_FORMATS

COMMAND = (sys.executable, "-c", "from flagstone.cli import main; main()")
ROWS = "".join(f"{i:02x}{i ^ 0x5A:02x}\n" for i in range(200))


def run(*words, text=ROWS, folder=None, **options):
    environment = os.environ | {"TMPDIR": str(folder)}
    return subprocess.run(
        [*COMMAND, *words],
        input=text, capture_output=True, text=True, env=environment, **options,
    )  # fmt: skip


def test_rows_from_standard_input_are_answered_as_those_of_a_file(tmp_path):
    (tmp_path / "a.hex").write_text(ROWS)
    folder = tmp_path / "temporary"
    folder.mkdir()
    common = ("constraints", "--seed", "1", "--json")
    expected = run(*common, str(tmp_path / "a.hex"), folder=folder).stdout
    for name in ("-", "/dev/stdin"):
        found = run(*common, name, "-f", "hex", folder=folder)
        assert found.returncode == 0, found.stderr
        for key in ('"fingerprint"', '"rows"'):
            line = next(line for line in expected.splitlines() if key in line)
            assert line in found.stdout
        assert '"standard input"' in found.stdout
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "text", "message"),
    [
        (["-"], ROWS, "standard input: the name does not say the format; its first lines look"),
        (["-"], "a,b\n1,0\n", "standard input: the name does not say the format; give --format"),
        (["-", "-", "-f", "hex"], ROWS, "standard input can be read once only"),
        (["-", "-f", "hex"], "", "standard input: the file is empty"),
        (["-", "-f", "hex"], "0d\nzz\n", "standard input line 2: column 1: 'z' is not"),
    ],
)
def test_what_is_wrong_with_standard_input_is_said_in_one_line(tmp_path, words, text, message):
    found = run("constraints", *words, text=text, folder=tmp_path)
    assert found.returncode in (1, 2)
    assert found.stderr.count("\n") == 1
    assert message in found.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_signal_leaves_no_copy_behind(tmp_path):
    words = [*COMMAND, "constraints", "-", "-f", "hex"]
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    process = subprocess.Popen(
        words, stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    )
    assert process.stdin is not None
    process.stdin.write(ROWS.encode())
    process.stdin.flush()
    end = time.monotonic() + 240
    while not list(tmp_path.iterdir()):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=240)
    assert process.returncode == 130
    assert b"interrupted" in said
    assert list(tmp_path.iterdir()) == []


TEXTS = {
    "hex": ROWS * 300,
    "bits": "1010\n0110\n" * 30_000,
    "csv": "a,b\n" + "1,0\n0,1\n" * 30_000,
    "tsv": "a\tb\n" + "1\t0\n0\t1\n" * 30_000,
    "jsonl": '{"a": 1, "b": 0}\n{"a": 0, "b": 1}\n' * 8_000,
}


def test_text_is_what_can_be_a_stream():
    assert TEXTS.keys() == set(TEXT_FORMATS)


@pytest.mark.parametrize(("name", "text"), TEXTS.items())
def test_one_pass_keeps_the_beginning_alone(tmp_path, name, text):
    path = tmp_path / f"t.{name}"
    path.write_text(text)
    expected = open_table(path)
    encoding = expected.encoding(2)
    rows = [row for batch in expected.rows(encoding) for row in batch.matrix.tolist()]
    for kept, whole in ((1 << 20, True), (1 << 17, False)):
        with path.open("rb", buffering=0) as stream:
            source = OnePassStream(stream, "standard input", kept)
            table = open_table(RemoteFile(source, "stream", 1 << 62, "standard input"), format=name)
            found = [row for batch in table.rows(encoding) for row in batch.matrix.tolist()]
            assert found == rows
            assert source.whole == whole
            assert len(source.head) <= kept
            if not whole:
                with pytest.raises(InputError, match="was read in one pass and cannot be read"):
                    list(table.rows(encoding))


def test_without_a_second_reading_nothing_is_kept(tmp_path):
    folder = tmp_path / "temporary"
    folder.mkdir(mode=0o500)  # in which nothing can be made
    found = run("constraints", "-", "-f", "hex", "--seed", "1", "--no-measure", folder=folder)
    assert found.returncode == 0, found.stderr
    assert "8 check equations hold" in found.stdout
    found = run("constraints", "-", "-f", "hex", "--no-measure", text=ROWS + "0d\n", folder=folder)
    assert "standard input line 201: the row has 8 bits, others have 16" in found.stderr
