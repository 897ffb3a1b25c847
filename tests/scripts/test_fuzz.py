"""The harness sees what it should; the corpus of old failures, and some fresh cases, pass."""

import json
import random
import signal

import pytest

from flagstone.models import pack_document
from flagstone.models._container import unpack_document
from scripts.fuzz import damage
from scripts.fuzz.__main__ import CORPUS, Record, Worker, fuzz, table
from scripts.fuzz.names import HOSTILE, named
from scripts.fuzz.trial import Content, Fault, Ran, Trial, _judge, _judge_files
from scripts.fuzz.valid import valid

SOURCE = CORPUS.parents[1] / "src"
#: Forty cases of this seed are of all parts, and quick: one of them stops a run once.
SEED, FRESH = "421", 40


@pytest.fixture
def worker(tmp_path):
    started = Worker(SEED, tmp_path, 4, 300, SOURCE)
    yield started
    started.end()


def test_what_once_failed_and_some_fresh_cases(worker, tmp_path):
    record = Record(tmp_path / "ledger.jsonl", SEED)
    with record.opened():
        fuzz(record, worker, seconds=600, cases=FRESH, failed=tmp_path / "failed")
    found = record.to_dict()
    assert found["faults"] == []
    assert found["parts"]["corpus"]["cases"] == len(list(CORPUS.glob("*.json"))) > 10
    assert found["all"]["cases"] == FRESH + found["parts"]["corpus"]["cases"]
    assert all(part["answered"] for part in found["parts"].values())
    assert found["all"]["kills"] + found["all"]["signals"] > 0
    again = Record(tmp_path / "ledger.jsonl", SEED)
    with again.opened():
        assert again.next == FRESH
    assert again.to_dict()["parts"] == found["parts"]
    assert f"{found['all']['cases']}" in table(found)


def test_a_crash_and_a_hang_are_seen_and_survived(worker, tmp_path):
    good = Trial("x", {}, [["plan", "--dim", "3", "--rho", "0.1"]]).to_dict()
    assert "fault" not in worker.ask(good)
    worker._process.send_signal(signal.SIGSEGV)
    assert worker.ask(good)["fault"] == "crash"
    assert "fault" not in worker.ask(good)
    worker._seconds = 1
    long = ["audit", "--law", "uniform", "--dim", "9", "--rows", "9", "--pairs", "1000000"]
    assert worker.ask(Trial("x", {}, [long]).to_dict())["fault"] == "hang"


@pytest.mark.parametrize(
    ("ran", "kind"),
    [
        (Ran(0, "{}", ""), None),
        (Ran(1, "", "flagstone: error: no\n"), None),
        (Ran(1, "", "flagstone: error: not enough memory; choose fewer columns\n"), "crash"),
        (Ran(1, "", "Traceback (most recent call last):\n"), "traceback"),
        (Ran(70, "", ""), "manners"),
        (Ran(1, "", "oops\n"), "manners"),
        (Ran(1, "half", "flagstone: error: no\n"), "manners"),
        (Ran(0, '"\x1b[31m"', ""), "manners"),
        (Ran(0, '"\udc9b"', ""), "manners"),
        (Ran(0, "no json", ""), "manners"),
    ],
)
def test_every_fault_is_seen(ran, kind):
    if kind is None:
        _judge(["show", "x", "--json"], ran)
    else:
        with pytest.raises(Fault) as caught:
            _judge(["show", "x", "--json"], ran)
        assert caught.value.kind == kind


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        (".flagstone-0.tmp", b"", "loss"),
        ("r.html", b"<p><img src=x onerror=alert(1)></p>", "manners"),
        ("p.svg", b"<svg>&</svg>", "manners"),
        ("m.json", b'"\x1b"', "manners"),
    ],
)
def test_every_bad_output_is_seen(tmp_path, monkeypatch, name, data, kind):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_bytes(data)
    with pytest.raises(Fault) as caught:
        _judge_files(tmp_path, set())
    assert caught.value.kind == kind


def test_unsafe_proposals_are_seen():
    trial = named(random.Random(0))
    ok = Ran(1, "", "flagstone: error: …: --encode auto\n")
    trial.ran = [ok] * len(trial.commands)
    trial.also(trial)
    trial.also.args[0][:] = ["x'; touch PWNED; echo '"]
    trial.ran[0] = Ran(1, "", """error: --encode 'x'"'"'; touch PWNED; echo '"'"'=levels:a,b'\n""")
    trial.also(trial)
    trial.ran[0] = Ran(1, "", "error: --encode x'; touch PWNED; echo '=levels:a,b\n")
    with pytest.raises(Fault):
        trial.also(trial)


def test_a_case_is_a_function_of_its_seed():
    for make in (named, valid):
        assert make(random.Random("1/7")).to_dict() == make(random.Random("1/7")).to_dict()
        assert make(random.Random("1/7")).to_dict() != make(random.Random("1/8")).to_dict()


def test_trials_survive_their_json_form():
    files = {"a": Content(b"\xff"), "b": Content(b"x", 3), "c": Content(link="a")}
    files |= {"d": Content(is_pipe=True), "half\udcff": Content("é".encode())}
    trial = Trial("x", files, [["show", "a"]], must_answer=True)
    assert Trial.from_dict(json.loads(json.dumps(trial.to_dict()))) == trial


def test_damaged_documents_have_right_checksums():
    dice = random.Random(1)
    data = pack_document("finding", {"a": [1, {"b": "c"}], "d": HOSTILE[0]})
    said = set()
    for _ in range(200):
        try:
            said.add(str(unpack_document(damage._document(dice, data))))
        except ValueError as error:
            said.add(str(error))
    assert len(said) > 50
    assert not any("checksum" in text for text in said)
