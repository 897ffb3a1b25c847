"""Each kind of trial sees a planted fault; what once failed passes; the page is of this code."""

import json
import os
import resource
import subprocess
import sys
import warnings
from collections import Counter
from pathlib import Path

import pytest

from scripts.fuzz import command, page
from scripts.fuzz.__main__ import CORPUS, Record, one_case
from scripts.fuzz.command import FAULTS, Fault, Program
from scripts.fuzz.kinds import KINDS
from scripts.fuzz.stock import Stock, tables
from scripts.fuzz.trial import Commands, Content

#: A program that does all that is asked of it: every answer is the same.
GOOD = """
import json, os, pathlib, sys
words = sys.argv[1:]
if "--cluster" in words:
    sys.exit("flagstone: error: no scheduler answers at " + words[words.index("--cluster") + 1])
if "no-such-file.csv" in words or any(word.startswith("/no/") for word in words):
    sys.exit("flagstone: error: no such file")
if sys.stdout is None:
    sys.exit("flagstone: error: standard output is closed")
for option in ("-o", "--output", "--results", "--checkpoint"):
    if option in words:
        pathlib.Path(words[words.index(option) + 1]).write_text('{"sha256": 1}\\n')
try:
    print("{}" if "--json" in words else "same = 1", flush=True)
except OSError as error:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.exit(f"flagstone: error: {error.strerror}")
"""
OTHER = GOOD.replace("""'{"sha256": 1}""", """'{"sha256": 2}""").replace('"{}"', """'{"x": 2}'""")
STUBBORN = """
import signal, time
signal.signal(signal.SIGTERM, signal.default_int_handler)
time.sleep(2)
"""
REFUSING = """
import json, sys
found = {"error": "no", "exit_code": 1}
sys.exit(json.dumps(found) if "--json" in sys.argv else "flagstone: error: no")
"""
#: For each kind a program with a fault, and the fault that must be seen.
PLANTED = {
    "files": ("raise KeyError('footer')", "traceback"),
    "flipped bits": ("import os; os.abort()", "crash"),
    "memory": ("x = b'1' * {size}", "memory"),
    "valid": (REFUSING, "wrong"),
    "hostile names": (r"print('\x1b[31m')", "message"),
    "odd names": ("raise KeyError('data')", "traceback"),
    "ledgers": (OTHER, "wrong"),
    "checkpoints": (OTHER, "wrong"),
    "stops": (STUBBORN, "traceback"),
    "stopped groups": (STUBBORN, "traceback"),
    "processes": (OTHER, "wrong"),
    "clusters": ("import sys; sys.exit('flagstone: error: it is not there')", "message"),
    "surroundings": ("import sys; sys.stdout.write(1)", "traceback"),
}


#: As a library it refuses every file, after it has run what is planted.
LIBRARY = """
class FlagstoneError(Exception): pass
def __getattr__(name):
    import flagstone.planted
    raise FlagstoneError(name)
"""


def program(folder, source, planted=""):
    """Make a package with this command line, which runs ``planted`` when it is asked to read."""
    (folder / "flagstone").mkdir(parents=True)
    for name, text in (("__init__", LIBRARY), ("__main__", source), ("planted", planted)):
        (folder / "flagstone" / f"{name}.py").write_text(text)
    return Program(folder)


@pytest.fixture
def stock(tmp_path):
    good = program(tmp_path / "good", GOOD)
    made = Stock(good, good, tmp_path / "work")
    made.files = tables() | {"constraints.json": b'{"content": {"a": 1}}', "wide.flag": b"x"}
    made.files["constraints.flag"] = made.files["wide.flag"]
    return made


@pytest.mark.parametrize("kind", PLANTED)
def test_a_planted_fault_is_seen(kind, stock, tmp_path, monkeypatch):
    source, expected = PLANTED[kind]
    if kind == "memory":  # a child begins with the pages of this process, which may be many
        own = int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
        monkeypatch.setattr(command, "MEMORY", own + 200_000_000)
        source = source.format(size=own + 250_000_000)
    if kind not in ("hostile names", "stops", "stopped groups"):  # GOOD is too simple for these
        assert one_case("1", kind, 0, stock)[1] is None
    stock.program = program(tmp_path / "bad", source, source)
    found = (one_case("1", kind, number, stock)[1] for number in range(30))
    assert expected in (fault.kind for fault in found if fault is not None)


def test_a_hang_is_seen(stock, tmp_path):
    slow = program(tmp_path / "slow", "import time; time.sleep(60)")
    (tmp_path / "case").mkdir()
    with pytest.raises(Fault) as caught:
        slow.run(["show"], tmp_path / "case", seconds=1)
    assert caught.value.kind == "hang"


def test_what_once_failed_and_some_fresh_cases(tmp_path):
    words = ["--kinds", "files,valid", "--cases", "2", "--seed", "421"]
    words += ["--minutes", "20", "--json", str(tmp_path / "found.json"), "--failed", str(tmp_path)]
    environment = os.environ | {"PYTHONPATH": str(page.ROOT / "src")}
    run = [sys.executable, "-m", "scripts.fuzz", *words]
    done = subprocess.run(run, cwd=page.ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    counts = json.loads((tmp_path / "found.json").read_text())["counts"]
    assert counts["corpus"]["cases"] == len(list(CORPUS.glob("*.json"))) > 10
    assert all(counts[kind]["cases"] == 2 for kind in ("files", "valid"))


def test_trials_survive_their_json_form():
    files = {"a": Content(b"\xff"), "b": Content(b"x", 3), "c": Content(link="a")}
    files |= {"d": Content(is_pipe=True), "half\udcff": Content("é".encode())}
    trial = Commands("x", files, [["show", "a"]], must_answer=True, program=None)
    again = Commands.from_dict(json.loads(json.dumps(trial.to_dict())), None)
    assert vars(again) == vars(trial)


def test_the_page_says_what_a_run_found(tmp_path, monkeypatch):
    monkeypatch.setattr(page, "PAGE", tmp_path / "page.md")
    record = Record("77")
    trial = Commands("csv", {}, [], program=None)
    trial.counts = Counter(commands=1200)
    record.add("files", 3, trial, None)
    page.write(record, 5, page.ROOT / "src")
    assert "No case failed." in page.PAGE.read_text()
    record.add("files", 8, trial, Fault("hang", "no end"))
    page.write(record, 5, page.ROOT / "src")
    text = page.PAGE.read_text()
    assert "5 minutes, 2 cases, 2,400 commands; seed 77" in text
    assert "- hang: csv (1 ×, for example `files:8`)" in text
    assert all(f"**{name}**" in text for name in (*KINDS, *FAULTS))
    assert page.named_digest() == page.digest(page.ROOT / "src" / "flagstone")


def test_the_page_is_of_these_readers():
    named, now = page.named_digest(), page.digest(page.ROOT / "src" / "flagstone")
    assert named is not None
    if named != now:
        warnings.warn(
            f"{page.PAGE.name} is of other readers ({named}, now {now}); to write it again: "
            "make fuzz PAGE=1 MINUTES=60",
            stacklevel=1,
        )
