"""Outputs: whole or absent, never in the place of a pipe, a device or a link."""

import errno
import os
import socket
import stat
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from flagstone.disk import atomic_file, atomic_write, check_target, same_place, write_all, writing
from flagstone.errors import InputError


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def special(tmp_path):
    """One of everything that is no regular file, without content of value."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("pipe")
    (tmp_path / "circle").symlink_to("circle")
    ours, theirs = os.openpty()
    (tmp_path / "device").symlink_to(os.ttyname(theirs))
    place = os.getcwd()
    os.chdir(tmp_path)  # the name of a socket must be short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        os.chdir(place)
        yield tmp_path
    os.close(ours)
    os.close(theirs)


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("pipe", "is a pipe; give the name of a regular file"),
        ("folder", "is a directory"),
        (".", "is a directory"),
        ("link", "is a pipe"),
        ("circle", "lead in a circle"),
        ("device", "is a device"),
        ("socket", "is a socket"),
        ("pipe/m.json", "cannot be written"),
        ("nowhere/m.json", "nowhere does not exist"),
    ],
)
def test_nothing_but_regular_files_is_replaced(special, name, words, overwrite):
    before = {path.name: path.lstat().st_mode for path in special.iterdir()}
    for write in (
        lambda: atomic_write(special / name, b"x", overwrite=overwrite),
        lambda: check_target(special / name, overwrite=overwrite),
    ):
        with pytest.raises(InputError, match=words):
            write()
    assert {path.name: path.lstat().st_mode for path in special.iterdir()} == before


def test_what_became_a_pipe_meanwhile_stays_one(tmp_path):
    def write() -> None:
        with atomic_file(tmp_path / "m", overwrite=True) as stream:
            stream.write(b"x")
            os.mkfifo(tmp_path / "m")

    with pytest.raises(InputError, match="is a pipe"):
        write()
    assert stat.S_ISFIFO((tmp_path / "m").stat().st_mode)
    assert names(tmp_path) == ["m"]


def test_links_stay_links(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "file").write_text("old")
    (tmp_path / "link").symlink_to("real/file")
    (tmp_path / "dangling").symlink_to("real/new")
    for name in ("link", "dangling"):
        with pytest.raises(InputError, match="exists already"):
            atomic_write(tmp_path / name, b"x")
        atomic_write(tmp_path / name, name.encode(), overwrite=True)
        assert (tmp_path / name).is_symlink()
    assert (tmp_path / "real" / "file").read_text() == "link"
    assert (tmp_path / "real" / "new").read_text() == "dangling"
    assert names(tmp_path) == ["dangling", "link", "real"]


def test_the_null_device_is_written_to(tmp_path):
    null = tmp_path / "null"
    if os.geteuid() == 0:  # one of our own: root could rename over the real one
        os.mknod(null, stat.S_IFCHR | 0o666, os.stat(os.devnull).st_rdev)
    else:
        null.symlink_to(os.devnull)
    check_target(null)
    atomic_write(null, b"gone")
    assert stat.S_ISCHR(null.stat().st_mode)
    assert names(tmp_path) == ["null"]


def test_standard_output_is_a_target():
    program = "from flagstone.disk import write_all; print('first'); write_all({%r: b'then'})"
    for name in ("-", "/dev/stdout"):
        done = subprocess.run(
            [sys.executable, "-c", program % name], capture_output=True, check=True
        )
        assert done.stdout == b"first\nthen"


def test_permissions_are_those_of_the_umask(tmp_path):
    before = os.umask(0o027)
    try:
        atomic_write(tmp_path / "new", b"x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640


def run_threads(work, count: int) -> None:
    threads = [threading.Thread(target=work, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_every_one_of_four_threads_writes_whole_files(tmp_path):
    path, bad = tmp_path / "m", []
    texts = {bytes([65 + number]) * 50_000 for number in range(4)}

    def work(number: int) -> None:
        for _ in range(25):
            atomic_write(path, bytes([65 + number]) * 50_000, overwrite=True)
            if path.read_bytes() not in texts:
                bad.append(number)

    run_threads(work, 4)
    assert not bad
    assert path.read_bytes() in texts
    assert names(tmp_path) == ["m"]


@pytest.mark.parametrize("links", [True, False])
def test_without_overwrite_one_of_many_threads_wins(tmp_path, monkeypatch, links):
    def no_links(*_):
        raise OSError(errno.EPERM, "no hard links here")

    if not links:
        monkeypatch.setattr(os, "link", no_links)
    ready = threading.Barrier(8)
    won, lost = [], []

    def work(number: int) -> None:
        try:
            with atomic_file(tmp_path / "m") as stream:
                stream.write(b"%d" % number * 1000)
                ready.wait()  # every one of them has found the name free
            won.append(number)
        except InputError as error:
            lost.append(str(error))

    run_threads(work, 8)
    [winner] = won
    assert len(lost) == 7
    assert all("exists already; replace it with overwrite=True" in text for text in lost)
    assert (tmp_path / "m").read_bytes() == b"%d" % winner * 1000
    assert names(tmp_path) == ["m"]


def test_without_overwrite_one_of_two_processes_wins(tmp_path):
    program = """
import sys
from flagstone.disk import atomic_file
with atomic_file("m") as stream:
    stream.write(sys.argv[1].encode() * 1000)
    stream.flush()
    print("ready", flush=True)
    sys.stdin.read(1)
"""
    children = [
        subprocess.Popen(
            [sys.executable, "-c", program, letter],
            cwd=tmp_path,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for letter in "ab"
    ]
    for child in children:
        assert child.stdout.readline() == "ready\n"
    errors = [child.communicate("\n", timeout=240)[1] for child in children]
    assert sorted(child.returncode for child in children) == [0, 1]
    [error] = filter(None, errors)
    assert "exists already" in error
    assert names(tmp_path) == ["m"]
    winner = "ab"[[child.returncode for child in children].index(0)]
    assert (tmp_path / "m").read_text() == winner * 1000


def test_a_planted_temporary_name_is_neither_followed_nor_removed(tmp_path, monkeypatch):
    tokens = iter(["planted", "free"])
    monkeypatch.setattr(writing.secrets, "token_hex", lambda _: next(tokens))
    (tmp_path / "victim").write_text("precious")
    planted = tmp_path / ".flagstone-planted.tmp"
    planted.symlink_to("victim")
    atomic_write(tmp_path / "m", b"data")
    assert (tmp_path / "victim").read_text() == "precious"
    assert planted.is_symlink()
    assert (tmp_path / "m").read_bytes() == b"data"
    assert names(tmp_path) == [planted.name, "m", "victim"]


def test_a_failing_writer_leaves_nothing_behind(tmp_path):
    path = tmp_path / "out.bin"
    atomic_write(path, b"before")

    def write_half() -> None:
        with atomic_file(path, overwrite=True) as stream:
            stream.write(b"half")
            raise RuntimeError("power cut")

    with pytest.raises(RuntimeError, match="power cut"):
        write_half()
    assert path.read_bytes() == b"before"
    assert names(tmp_path) == ["out.bin"]


def test_errors_name_the_target_unless_they_are_of_another_file(tmp_path, monkeypatch):
    def full(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def read_another() -> None:
        with atomic_file(tmp_path / "m"):
            (tmp_path / "another").read_bytes()

    with pytest.raises(FileNotFoundError) as caught:
        read_another()
    assert caught.value.filename == str(tmp_path / "another")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left on device; nothing was written") as caught:
        write_all({tmp_path / "a": b"1", tmp_path / "b": b"2"})
    assert caught.value.filename == str(tmp_path / "a")
    assert names(tmp_path) == []


def test_all_or_none(tmp_path):
    (tmp_path / "b").write_text("in the way")
    with pytest.raises(InputError, match="b exists already"):
        write_all({tmp_path / "a": b"1", tmp_path / "b": b"2"})
    assert names(tmp_path) == ["b"]
    with pytest.raises(InputError, match="b exists already"):
        write_all({tmp_path / "a": b"1", tmp_path / "b": b"2"}, keep_equal=True)
    assert names(tmp_path) == ["b"]
    (tmp_path / "b").write_bytes(b"2")
    before = (tmp_path / "b").stat()
    write_all({tmp_path / "a": b"1", tmp_path / "b": b"2"}, keep_equal=True)
    assert (tmp_path / "a").read_bytes() == b"1"
    assert (tmp_path / "b").stat().st_ino == before.st_ino


def test_a_folder_that_cannot_be_written_to_is_noticed_before_the_work():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o555)
        user = os.geteuid()
        try:
            if user == 0:  # root may write anywhere
                os.seteuid(65534)
            with pytest.raises(InputError, match=r"m: nothing can be written to the directory .*"):
                check_target(folder / "m")
        finally:
            os.seteuid(user)
        folder.chmod(0o755)
        check_target(folder / "m")
        assert names(folder) == []


def test_two_spellings_of_one_place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert same_place("a.json", "./a.json")
    assert same_place("a.json", tmp_path / "x" / ".." / "a.json")
    assert not same_place("a.json", "b.json")
    Path("a.json").write_text("")
    os.link("a.json", "hard.json")
    Path("soft.json").symlink_to("a.json")
    Path("away").symlink_to(tmp_path)
    for other in ("hard.json", "soft.json", "away/a.json", "away/hard.json"):
        assert same_place("a.json", other)
    assert same_place("new.json", "away/new.json")
    assert same_place("-", "/dev/stdout")
    assert not same_place("-", "a.json")
