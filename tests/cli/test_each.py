"""``constraints --each``: an answer for each table, and what they share."""

import json
import weakref

import numpy as np
import pytest

from flagstone.tables.encoded import RowCache


def tables(place) -> list[str]:
    """Two tables over GF(7) with a + b + c = 3; in the second one a is constant, too."""
    random = np.random.RandomState(3)
    names = ["one.csv", "two.csv"]
    for name in names:
        a, b = random.randint(0, 7, size=(2, 400))
        a = a if name == "one.csv" else np.full(400, 5)
        lines = [f"{x},{y},{(3 - x - y) % 7}" for x, y in zip(a, b, strict=True)]
        (place / name).write_text("a,b,c\n" + "\n".join(lines) + "\n")
    return names


def test_each_says_what_tables_share(run, place):
    names = tables(place)
    done = run("constraints", *names, "--each", "--field", "7", "--seed", "1")
    assert done.code == 0
    head, *lines = done.out.split("\n\n")[0].split("\n")
    assert head == "1 check equation holds in all 2 files:"
    assert lines == ["  a + b + c = 3 (mod 7)"]
    assert "beyond what they share:\n    a = 5\n" in done.out
    assert done.out.endswith("\nseed          1\n")


def test_each_in_json_is_what_single_runs_say(run, place):
    names = tables(place)
    words = ["--field", "7", "--seed", "1", "--json"]
    found = json.loads(run("constraints", *names, "--each", *words).out)
    assert (found["seed"], found["seed_is_fresh"]) == ("1", False)
    for name, one in zip(names, found["files"], strict=True):
        alone = json.loads(run("constraints", name, *words).out)
        assert one["name"] == name
        assert one["finding"]["fingerprint"] == alone["fingerprint"]
        assert one["finding"].keys() == alone.keys() - {"outputs"}
    assert found["common"]["fingerprint"] == found["files"][0]["finding"]["fingerprint"]
    assert [one["beyond"] for one in found["files"]] == [[], ["a = 5"]]


def test_rows_of_files_that_are_done_are_not_kept(run, place, monkeypatch):
    caches, kept = [], []

    class Watched(RowCache):
        def __init__(self, room):
            super().__init__(room)
            if room:  # that of the next file
                kept.append([len(cache()) for cache in caches if cache() is not None])
                caches.append(weakref.ref(self))

    monkeypatch.setattr("flagstone.cli.reader.RowCache", Watched)
    assert run("constraints", *tables(place), "--each", "--field", "7", "--seed", "1").code == 0
    assert len(kept) == 2
    assert not any(map(sum, kept))


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ([], "flagstone: interrupted. With --checkpoint FILE a run can be resumed\n"),
        (["--each"], "flagstone: interrupted\n"),
        (["--deduplicate-runs"], "flagstone: interrupted\n"),
    ],
)
def test_an_interrupted_run_that_takes_no_checkpoint_names_none(
    run, place, monkeypatch, more, said
):
    def struck(self):
        raise KeyboardInterrupt

    monkeypatch.setattr("flagstone.cli.work.Run.read", struck)
    done = run("constraints", *tables(place), "--field", "7", "--seed", "1", *more)
    assert (done.code, done.err) == (130, said)


def bits(place, name, X):
    (place / name).write_text("".join("".join(map(str, row)) + "\n" for row in X.tolist()))


def test_promises_add_up_over_files_that_keep_nothing_this_time(run, place):
    """The third file keeps nothing at t > 1000, and would at other thresholds."""
    rng = np.random.default_rng(3)
    for name in "ab":
        bits(place, name, np.ones((2000, 2), dtype=int))
    bits(place, "c", rng.integers(0, 2, size=(2000, 2)))
    words = ["-f", "bits", "--each", "--t-min", "1", "--t-max", "2000", "--seed", "5", "--json"]
    found = json.loads(run("constraints", "a", "b", "c", *words, "--no-measure").out)
    assert [file["finding"]["is_empty"] for file in found["files"]] == [0, 0, 1]
    rhos = [file["finding"]["promises"]["proven"]["rho"] for file in found["files"]]
    assert found["common"]["files"] == 2
    assert found["common"]["rho"] == pytest.approx(sum(rhos))
    assert found["common"]["confidence"] == 1


def test_no_set_of_files_promises_more_than_sets_of_files_keep(run, place):
    """The third file keeps something in some sets, and nothing in others."""
    words = ["-f", "bits", "--each", "--t-min", "5", "--t-max", "80", "--seed", "3", "--json"]
    shared, promised = [], []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        for name, rows in (("a", 4000), ("b", 4000), ("c", 481)):
            X = rng.integers(0, 2, size=(rows, 12))
            X[:, 11] = X[:, 0] ^ X[:, 1]
            if name == "c":
                X[:, 0], X[:, 3] = 0, X[:, 4]
            bits(place, name, X)
        common = json.loads(run("constraints", "a", "b", "c", *words).out)["common"]
        shared.append(common["fingerprint"])
        promised.append(1 if common["rho"] is None else common["rho"])
    assert len(set(shared)) == 2
    assert min(promised) > 0.3


def test_a_file_without_any_direction_counts_as_one_that_keeps_none(run, place):
    """Whether zeros are all a file shows is not settled by V*, of which the promise is."""
    bits(place, "a", np.tile([1, 1, 0], (100, 1)))
    bits(place, "b", np.zeros((100, 3), dtype=int))
    bits(place, "c", np.repeat([[0, 0, 0], [0, 1, 1]], [99, 1], axis=0))
    words = ["-f", "bits", "--linear", "--each", "--t-min", "2", "--t-max", "9", "--seed", "3"]
    for names in ("aab", "aac"):
        found = json.loads(run("constraints", *names, *words, "--json").out)
        assert found["common"]["files"] == 2
        assert found["files"][2]["beyond"] is None


def test_a_window_that_one_file_is_too_short_for_names_the_file(run, place):
    (place / "long.csv").write_text("a,b\n" + "1,0\n0,1\n" * 30)
    (place / "short.csv").write_text("a,b\n" + "1,0\n0,1\n" * 2)
    done = run("constraints", "long.csv", "short.csv", "--each", "--t-min", "2", "--t-max", "9")
    assert done.code == 1
    assert done.err.startswith("flagstone: error: short.csv: --t-max 9 asks for more sets than")
