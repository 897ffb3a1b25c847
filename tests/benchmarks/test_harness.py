"""The benchmarks run, agree with each other and render; how fast is not asked here."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks import __main__ as command
from benchmarks import floors, harness, inputs, memory, peers, plot, report
from flagstone import Flag, stable_partition

FLOORS, Floor, judge = floors.FLOORS, floors.Floor, floors.judge
Bench, Contestant, Result = harness.Bench, harness.Contestant, harness.Result


def quiet() -> Bench:
    bench = Bench(quick=True, show=False)
    bench.suite = "some"
    return bench


def fake(key: str, value: float, rows: int | None = None, unit: str = "s") -> Result:
    suite, case, who = key.split("/")
    dim = int(case.partition("d=")[2].split()[0]) if "d=" in case else None
    return Result(suite, case, who, value, unit, value, 1, rows, dim)


def test_contestants_take_turns_and_the_first_round_is_dropped():
    seen = []
    contestants = [
        Contestant("a", 1, lambda _: seen.append("a")),
        Contestant("b", 1, lambda _: seen.append("b")),
        Contestant("slow", 1, lambda _: seen.append("s"), slow=True),
    ]
    times = harness.interleave(contestants, least=4, most=9, seconds=0.0)
    assert "".join(seen) == "ab" + "abs" * 2 + "ab" * 2
    assert {who: len(spent) for who, spent in times.items()} == {"a": 4, "b": 4, "slow": 2}


def test_rounds_stop_at_the_most_while_time_is_left():
    times = harness.interleave([Contestant("a", 1, lambda _: None)], least=1, most=6, seconds=60.0)
    assert len(times["a"]) == 6


@pytest.mark.parametrize("clock", harness.CLOCKS)
def test_both_clocks_run_while_work_is_done(clock: str):
    found = Bench(quick=True, clock=clock, show=False).compare(
        "c", [Contestant("a", 1, lambda _: sum(range(10**5)))]
    )
    assert found["a"].value > 0


def test_preparation_is_handed_over_fresh_each_time():
    got = []
    ready = iter(range(100))
    contestant = Contestant("a", 1, got.append, lambda: next(ready))
    harness.interleave([contestant], least=3, most=3, seconds=0.0)
    assert got == [0, 1, 2, 3]


def test_different_answers_on_the_same_rows_stop_the_run():
    contestants = [Contestant("a", 5, lambda _: 3), Contestant("b", 5, lambda _: 4)]
    with pytest.raises(harness.Disagreement, match="a says 3, b says 4, on the same 5 rows"):
        harness.interleave(contestants, least=1, most=1, seconds=0.0)
    contestants[1] = Contestant("b", 6, lambda _: 4)
    harness.interleave(contestants, least=1, most=1, seconds=0.0)


def test_a_prefix_doubles_until_time_is_used():
    assert harness.prefix(lambda n: None, 1000, seconds=60.0) == 1000
    assert harness.prefix(lambda n: None, 1000, seconds=0.0) == 64
    assert harness.prefix(lambda n: None, 10, seconds=0.0) == 10


def test_results_carry_rates_and_names():
    found = quiet().compare("case d=3", [Contestant("a", 100, lambda _: None)], dim=3)
    assert found["a"].key == "some/case d=3/a"
    assert found["a"].rate == pytest.approx(100 / found["a"].value)
    assert Result(**json.loads(json.dumps(found["a"].to_dict()))) == found["a"]


@pytest.mark.parametrize("kind", inputs.KINDS)
@pytest.mark.parametrize("dim", [20, 64, 130])
def test_inputs_are_fixed_and_have_the_rank_they_are_named_for(kind, dim):
    rows = inputs.bit_rows(kind, 700, dim)
    assert rows == inputs.bit_rows(kind, 700, dim)
    assert rows.shape == (700, dim)
    rank = Flag(dim).update(rows).rank
    if kind == "uniform":
        assert rank == dim
    elif kind == "low-rank":
        assert dim // 4 - 3 <= rank <= dim // 4
    elif kind in ("planted", "frames", "sparse"):
        assert dim // 2 < rank <= dim
        weights = rows.unpack().sum(axis=1)
        assert kind != "sparse" or set(weights.tolist()) <= {1, 3}
    elif kind == "repeats":
        assert dim // 2 < rank <= len(np.unique(rows.words, axis=0)) < 300
    else:
        assert rank <= len(np.unique(rows.words, axis=0)) <= dim


def test_frames_obey_their_digest_but_for_one_in_a_hundred():
    flag = Flag(40).update(inputs.bit_rows("frames", 20_000, 40))
    assert flag.rank == 40
    assert flag.dim_at(100) == 30


def test_widths_are_drawn_anew_for_each_release():
    dims = inputs.drawn_dims()
    assert dims == inputs.drawn_dims(inputs.DRAW) != inputs.drawn_dims("another")
    assert list(dims) == sorted(set(dims))
    assert {64, 65, 128, 129, 256, 257} < set(dims) <= set(range(20, 3001))


@pytest.mark.parametrize("kind", inputs.KINDS)
@pytest.mark.parametrize("dim", [1, 20, 64, 65, 128, 200])
def test_m4ri_finds_the_rank_of_the_flag(kind, dim):
    if peers.versions()["M4RI"] is None:
        pytest.skip(f"M4RI is not installed: {peers.INSTALL['M4RI']}")
    rows = inputs.bit_rows(kind, 300, max(dim, 4))
    matrix = peers.Matrix(rows)
    rank = Flag(rows.dim).update(rows).rank
    assert matrix.fill().echelonize_m4ri() == rank
    assert matrix.fill().echelonize() == rank


@pytest.mark.parametrize("kind", inputs.KINDS)
def test_other_peers_find_the_rank_of_the_flag(kind):
    rows = inputs.bit_rows(kind, 80, 20)
    X = rows.unpack()
    rank = Flag(20).update(rows).rank
    assert peers.numpy_rank(rows) == rank
    assert peers.naive_rank(rows) == len(stable_partition(X)[0]) == rank
    versions = peers.versions()
    if versions["ldpc"] is not None:
        assert peers.ldpc_rank(X) == rank
    if versions["python-flint"] is not None:
        assert peers.flint_matrix(X).rank() == rank


def test_a_child_process_measures_the_memory_it_needed():
    extra = memory.in_child(_touch, megabytes=40)
    assert 35e6 < extra < 60e6
    with pytest.raises(RuntimeError, match="unexpected keyword"):
        memory.in_child(_touch, gigabytes=1)


def _touch(megabytes: int) -> int:
    return memory.extra_memory(lambda: np.ones(megabytes << 20, dtype=np.uint8).sum())


# A child imports the function by the name of its module, as the suites' own functions are.
_touch.__module__ = "tests.benchmarks.test_harness"


def test_floors_compare_times_per_row():
    results = [fake("s/c/us", 2.0, 100), fake("s/c/peer", 1.0, 10), fake("s/c/size", 7e6)]
    limits = [
        Floor("g", "within", "s/c/us", 0.3, "s/c/peer"),
        Floor("g", "not within", "s/c/us", 0.1, "s/c/peer"),
        Floor("g", "faster", "s/c/us", 5.0, "s/c/peer", faster=True),
        Floor("g", "not so much faster", "s/c/us", 5.1, "s/c/peer", faster=True),
        Floor("g", "absolute", "s/c/size", 8e6, unit="bytes"),
        Floor("g", "unknown", "s/c/nobody", 1.0),
        Floor("g", "no peer", "s/c/us", 1.0, "s/c/nobody"),
    ]
    verdicts = judge(results, limits)
    assert [v.holds for v in verdicts] == [True, False, True, False, True, None, None]
    assert verdicts[0].value == pytest.approx(0.2)
    lines = report.floor_lines(verdicts)
    assert lines[0].startswith("holds")
    assert lines[1].startswith("MISSES")
    assert "7 MB" in lines[4]


def fake_run() -> list[Result]:
    """One result for every name that the floors know, and every line of the summary."""
    keys = {k for f in FLOORS for k in (f.result, f.against) if k is not None}
    for _, dim in inputs.SIZES:
        keys |= {f"flag_uint8/uniform d={dim}/{who}" for who in ("flagstone", "naive", "ldpc")}
        keys |= {f"flag_gf2/{kind} d={dim}/flagstone" for kind in inputs.KINDS}
        keys |= {f"flag_gf2/{kind} d={dim}/M4RI" for kind in inputs.KINDS}
    results = [fake(key, 0.5, 1000) for key in sorted(keys) if "memory" not in key]
    results += [fake(key, 5e6, unit="bytes") for key in sorted(keys) if "memory" in key]
    results += [
        Result("growth", f"m={m} d=20", who, m * 1e-7, rows=m, dim=20)
        for who in ("naive", "M4RI")
        for m in (10**3, 10**4)
    ]
    return results


def test_every_floor_is_judged_on_a_full_run():
    assert all(v.holds is not None for v in judge(fake_run()))


def test_the_page_shows_every_suite_and_floor():
    results = fake_run()
    described = command.machine.describe()
    text = report.page(described, results, judge(results), ["a note"])
    for floor in FLOORS:
        assert floor.text in text
    for suite in {r.suite for r in results}:
        assert f"## {report.SUITES[suite]}" in text
    assert described["cpu"] in text
    assert "- a note" in text
    assert "| our time ÷ M4RI, uniform | 1.00 | 1.00 |" in text
    widths = {line.count("|") for line in report.summary(results).splitlines()}
    assert widths == {len(inputs.SIZES) + 2}


def test_an_empty_run_renders_too():
    assert "| – |" in report.summary([])


def test_the_block_in_a_readme_is_replaced_and_nothing_else():
    text = f"before\n{report.START}\nold\n{report.STOP}\nafter\n"
    once = report.replace_block(text, "| table |")
    assert once == f"before\n{report.START}\n\n| table |\n\n{report.STOP}\nafter\n"
    assert report.replace_block(once, "| table |") == once
    assert report.replace_block("no marks", "| table |") is None


@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_the_picture_is_drawn(tmp_path: Path, suffix: str):
    pytest.importorskip("matplotlib")
    path = tmp_path / f"scaling.{suffix}"
    plot.draw(fake_run(), path)
    assert path.stat().st_size > 5000


def test_a_missing_peer_is_named_and_the_run_goes_on(monkeypatch, tmp_path, capsys):
    import benchmarks.flag_finite

    monkeypatch.setattr(benchmarks.flag_finite, "SIZES", ((1000, 20),))
    monkeypatch.setattr(benchmarks.flag_finite, "OTHERS", ())
    monkeypatch.setattr(peers, "versions", lambda: dict.fromkeys(peers.INSTALL))
    output = tmp_path / "run.json"
    assert command.main(["--quick", "--only", "flag_finite", "--output", str(output)]) == 0
    run = json.loads(output.read_text())
    assert "M4RI is not installed and left out (apt-get install libm4ri-dev)" in run["notes"]
    assert {r["who"] for r in run["results"]} == {"flagstone"}
    assert run["machine"]["cores"] >= 1
    assert "floors hold" in capsys.readouterr().out


def test_a_suite_that_fails_does_not_stop_the_others(monkeypatch, capsys):
    import benchmarks.merge
    import benchmarks.packing

    def broken(bench: Bench) -> None:
        raise RuntimeError("out of order")

    monkeypatch.setattr(benchmarks.merge, "run", broken)
    monkeypatch.setattr(benchmarks.packing, "run", lambda bench: bench.record("c", "w", 1.0))
    assert command.main(["--quick", "--only", "merge", "--only", "packing"]) == 1
    assert "these suites failed: merge" in capsys.readouterr().err


def test_strict_fails_where_a_floor_is_missed_or_not_measured(monkeypatch):
    import benchmarks.packing

    monkeypatch.setattr(benchmarks.packing, "run", lambda bench: None)
    assert command.main(["--quick", "--only", "packing"]) == 0
    assert command.main(["--quick", "--only", "packing", "--strict"]) == 1
