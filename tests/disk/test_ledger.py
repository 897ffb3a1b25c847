"""Ledgers: append-only, checked line by line, used by one run at a time."""

import errno
import json
import os
import signal
import subprocess
import sys
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flagstone.disk import (
    check_fields,
    json_text,
    locked,
    open_ledger,
    parse_json,
    read_ledger,
    read_regular,
    sealed,
)
from flagstone.errors import FormatError, InputError

HEADER = b'{"flagstone-notes": 2}\n'


def seal(data: bytes) -> bytes:
    """Give the lines of a ledger their checksums."""
    lines, checksum = [], ""
    for text in data.decode("latin-1").splitlines():
        if text.endswith("}"):
            text, checksum = sealed(text, checksum)
        lines.append(f"{text}\n")
    return "".join(lines).encode("latin-1")


def read(path) -> list:
    found: list = []
    read_ledger(path, "notes", found.append)
    return found


def open_once(path, take=print) -> None:
    with open_ledger(path, "notes", take):
        pass


def test_what_is_appended_is_read_again(tmp_path):
    path = tmp_path / "n.jsonl"
    with open_ledger(path, "notes", print) as ledger:
        assert ledger.header is None
        assert not path.exists()  # opening writes nothing
        ledger.start()
        ledger.append([{"a": 1}])
        ledger.append({"a": n} for n in (2, 3))
    assert read(path) == [{"a": 1}, {"a": 2}, {"a": 3}]
    assert [p.name for p in tmp_path.iterdir()] == ["n.jsonl"]


@given(cut=st.integers(0, 10**6))
@settings(deadline=None, max_examples=40)
def test_a_torn_last_line_is_dropped_wherever_it_is_torn(tmp_path_factory, cut):
    path = tmp_path_factory.mktemp("torn") / "n.jsonl"
    lines = [HEADER, *(json.dumps({"a": n}).encode() + b"\n" for n in range(4))]
    data = seal(b"".join(lines))
    path.write_bytes(data[: cut % (len(data) + 1)])
    kept: list = []
    with open_ledger(path, "notes", kept.append) as ledger:
        if ledger.header is None:
            ledger.start()
        ledger.append({"a": n} for n in range(len(kept), 4))
    assert path.read_bytes() == data


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"name,value\n", "is no notes file"),
        (b"not a ledger", "is no notes file"),
        (b'{"flagstone-audit": 1}\n', "is no notes file"),
        (b'{"flagstone-notes": 99}\n', "format 99, not in 2; update"),
        (b'{"flagstone-notes": 1}\n', "development version, in format 1, .*; start a new one"),
        (HEADER, "line 1 is damaged .its checksum does not match"),
        (seal(HEADER) + b'{"a": 1}\n', "line 2 is damaged .its checksum does not match"),
        (seal(b'{"flagstone-notes": 2, "x": 2}\n'), "line 1.*unknown field 'x'"),
        (seal(HEADER + b'{"a": 1}\nrubbish\n{"a": 2}\n'), "line 3 is damaged"),
        (seal(HEADER + b'{"a": 1}\n') + b"\n", "line 3 is damaged"),
        (seal(HEADER + b'{"a": 1, "a": 1}\n'), "line 2 .*'a' comes twice"),
        (seal(HEADER + b'{"a": NaN}\n'), "line 2 .*NaN is no JSON"),
        (seal(HEADER + b'{"a": ' + b"[" * 100_000 + b"}\n"), "line 2 .*nested too deeply"),
        (seal(HEADER + b'{"a": ' + b"9" * 5000 + b"}\n"), "line 2 is damaged"),
        (seal(HEADER) + b'{"a": "\xff"}\n', "line 2 is damaged"),
        (seal(HEADER) + b"\xff" * 90 + b"\n", "line 2 is damaged"),
        (seal(HEADER + b'{"a": "x"}\n'), "line 2 .*'a' must be of type int, got 'x'"),
        (seal(HEADER + b'{"a": true}\n'), "line 2 .*must be of type int"),
        (seal(HEADER + b"{}\n"), "line 2 .*it lacks 'a'"),
        (seal(HEADER) + b"[1]\n", "line 2 is damaged"),
    ],
)
def test_foreign_and_damaged_files_are_refused_and_untouched(tmp_path, data, words):
    path = tmp_path / "n.jsonl"
    path.write_bytes(data)
    with pytest.raises(FormatError, match=words):
        open_once(path, lambda record: check_fields(record, {"a": int}))
    assert path.read_bytes() == data
    with locked(path):  # nothing holds it any more
        pass
    assert [p.name for p in tmp_path.iterdir()] == ["n.jsonl"]


def test_no_flipped_bit_changes_what_is_read(tmp_path):
    """Every change is refused, but for the end of the last line, which looks like a torn one."""
    path = tmp_path / "n.jsonl"
    records = [{"b": "ü", "c": [1.5, None]}, {}, {"a": 2}]
    with open_ledger(path, "notes", print) as ledger:
        ledger.start()
        ledger.append(records)
    good = path.read_bytes()
    assert read(path) == records
    for bit in {*range(0, 8 * len(good), 5), 8 * len(good) - 1}:  # all places in a byte occur
        data = bytearray(good)
        data[bit // 8] ^= 1 << bit % 8
        path.write_bytes(data)
        if bit // 8 == len(good) - 1:
            assert read(path) == records[:-1]
        else:
            with pytest.raises(FormatError):
                read(path)


def test_lines_that_are_gone_repeated_or_moved_are_noticed(tmp_path):
    path = tmp_path / "n.jsonl"
    with open_ledger(path, "notes", print) as ledger:
        ledger.start()
        ledger.append({"a": n} for n in range(4))
    header, *lines = path.read_bytes().splitlines(keepends=True)
    for changed in (lines[1:], lines[:2] + lines[3:], [*lines[:2], *lines[1:]], lines[::-1]):
        path.write_bytes(header + b"".join(changed))
        with pytest.raises(FormatError, match="its checksum does not match"):
            read(path)
    path.write_bytes(header + b"".join(lines[:2]))  # as if the run had been stopped here
    assert read(path) == [{"a": 0}, {"a": 1}]


def test_only_regular_files_of_bounded_size_are_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    for name in ("pipe", "link", "."):
        with pytest.raises(InputError, match=r"is a (pipe|directory)"):
            open_once(tmp_path / name)
        with pytest.raises(InputError, match="no regular file"):
            read(tmp_path / name)
    for name in ("-", os.devnull):
        with pytest.raises(InputError, match="needs a regular file"):
            open_once(name)
    with (tmp_path / "huge").open("wb") as stream:
        stream.truncate((1 << 30) + 1)
    with pytest.raises(FormatError, match="larger than 1 GB"):
        open_once(tmp_path / "huge")


def test_no_more_memory_is_taken_than_a_file_is_long(tmp_path):
    (tmp_path / "n.json").write_bytes(b"{}")
    tracemalloc.start()
    try:
        assert read_regular(tmp_path / "n.json") == b"{}"
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


def test_a_file_that_grows_while_it_is_read_is_refused(tmp_path, monkeypatch):
    def look(handle):
        found = stat(handle)
        with (tmp_path / "n.json").open("a") as stream:
            stream.write("{}")
        return found

    (tmp_path / "n.json").write_bytes(b"{}")
    stat = os.fstat
    monkeypatch.setattr(os, "fstat", look)
    with pytest.raises(FormatError, match="grew while it was read"):
        read_regular(tmp_path / "n.json")


def test_a_full_disk_keeps_what_was_there(tmp_path, monkeypatch):
    path = tmp_path / "n.jsonl"
    fsync = os.fsync

    def full(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with open_ledger(path, "notes", print) as ledger:
        ledger.start()
        ledger.append([{"a": 1}])
        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="what it held before is kept"):
            ledger.append([{"a": 2}])
        assert read(path) == [{"a": 1}]
        monkeypatch.setattr(os, "fsync", fsync)
        ledger.append([{"a": 3}])
    assert read(path) == [{"a": 1}, {"a": 3}]


HOLD = """
import sys
from flagstone.disk import locked
with locked("n.jsonl"):
    print("locked", flush=True)
    sys.stdin.read()
"""


def test_two_runs_are_told_apart_and_a_killed_one_blocks_none(tmp_path):
    path = tmp_path / "n.jsonl"
    child = subprocess.Popen(
        [sys.executable, "-c", HOLD],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout.readline() == "locked\n"
    (tmp_path / "link.jsonl").symlink_to("n.jsonl")
    for name in ("n.jsonl", "link.jsonl"):
        with pytest.raises(InputError, match=r"\.jsonl is in use by another run"):
            open_once(tmp_path / name)
    child.send_signal(signal.SIGKILL)
    child.communicate()
    assert (tmp_path / ".n.jsonl.lock").exists()
    with open_ledger(path, "notes", print) as ledger:
        ledger.start()
        with pytest.raises(InputError, match="in use"):  # in one process, too
            open_once(path)
    assert not (tmp_path / ".n.jsonl.lock").exists()


def test_a_lock_that_cannot_be_made_names_the_file_itself():
    with pytest.raises(OSError, match=r"nothing can be written beside it.*'/proc/n\.jsonl'"):
        open_once("/proc/n.jsonl")


def test_the_file_of_a_lock_is_not_followed_elsewhere(tmp_path):
    (tmp_path / "victim").write_text("precious")
    (tmp_path / ".n.jsonl.lock").symlink_to("victim")
    with pytest.raises(OSError), locked(tmp_path / "n.jsonl"):  # noqa: PT011
        pass
    assert (tmp_path / "victim").read_text() == "precious"


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(st.characters(codec=None)),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec=None)), inner),
        max_leaves=20,
    )
)  # fmt: skip
@settings(deadline=None)
def test_json_is_the_same_again_and_prints_anywhere(value):
    text = json_text(value)
    assert parse_json(text.encode()) == json.loads(json.dumps(value))
    assert text.isprintable()


def test_a_key_that_comes_twice_is_found_at_once_among_many():
    keys = [*(f"k{i}" for i in range(300_000)), "k299999"]  # minutes, if each is held against all
    text = ",".join(f'"{key}":1' for key in keys)
    with pytest.raises(ValueError, match="'k299999' comes twice"):
        parse_json(f"{{{text}}}".encode())
