"""Partitions belong to the question: with the same ones, one process or many find the same."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from flagstone import load
from flagstone.cli import main
from flagstone.tables.table import Table

WINDOW = ["--seed", "2026", "--t-min", "0.02", "--t-max", "0.06"]


@pytest.fixture
def rows(tmp_path, monkeypatch, patient):
    """Damaged rows with a label in three Parquet files, and the same as text."""
    random = np.random.RandomState(3)
    for name in ("packed", "text"):
        (tmp_path / name).mkdir()
    for number, n_rows in enumerate((1500, 900, 2100)):
        X = np.repeat(random.randint(0, 2, size=(n_rows // 3, 7)), 3, axis=0)
        random.shuffle(X)
        X[:, 6] = X[:, 0] ^ X[:, 3] ^ (random.random_sample(n_rows) < 0.01)
        table = pa.table({f"b{i}": X[:, i] for i in range(7)})
        parquet.write_table(table, f"{tmp_path}/packed/{number}.parquet", row_group_size=300)
        csv.write_csv(table, f"{tmp_path}/text/{number}.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def found(words, output):
    """Run the command line here; return what it wrote but the command itself."""
    with pytest.raises(SystemExit) as done:
        main([*words, "-o", output])
    assert done.value.code == 0
    content = json.loads(Path(output).read_text())["content"]
    del content["provenance"]["command"]
    return content


CASES = {
    "files": ["constraints", "packed", "--partition", "files"],
    "text": ["constraints", "text", "--partition", "files"],
    "size": ["constraints", "packed", "--partition", "9kB"],
    "label": ["learn", "text", "--label", "b6", "--contamination", "0.02", "--partition", "files"],
    "runs": ["constraints", "text", "--deduplicate-runs", "--partition", "files"],
    "maximum": ["constraints", "text", "--max-rows", "2000", "--partition", "files"],
    "maximum of runs": [
        *("constraints", "packed", "--max-rows", "2000", "--deduplicate-runs"),
        *("--partition", "9kB"),
    ],
    "checkpoint": ["constraints", "packed", "--partition", "files", "--checkpoint", "run.ckpt"],
    "not measured": ["learn", "packed", "--label", "b6", "--partition", "files", "--no-measure"],
}


@pytest.mark.parametrize("case", CASES)
def test_one_process_and_a_cluster_write_the_same_finding(rows, cluster, case):
    words = [*CASES[case], *(WINDOW if "--contamination" not in CASES[case] else WINDOW[:2])]
    local = found(words, "local.json")
    spread = found([*words, "--cluster", cluster.scheduler_address], "spread.json")
    assert local == spread
    assert local["provenance"]["partition"] == ("9000" if "9kB" in words else "files")
    assert local["provenance"]["partitions"]["number"] > 1
    assert not (rows / "run.ckpt").exists()


def test_workers_alone_mean_files_and_say_so(rows, capfd):
    words = ["constraints", "packed", *WINDOW]
    script = [sys.executable, "-c", "from flagstone.cli import main; main()", *words]
    done = subprocess.run(
        [*script, "--workers", "2", "-o", "w.json"], capture_output=True, text=True
    )
    assert done.returncode == 0
    assert "cut by files (--partition files)" in done.stderr
    spread = json.loads((rows / "w.json").read_text())["content"]
    del spread["provenance"]["command"]
    assert spread == found([*words, "--partition", "files"], "f.json")
    whole = found(words, "whole.json")
    assert whole["provenance"]["partition"] == "none"
    assert whole == found([*words, "--partition", "none"], "none.json")
    assert load("w.json").promises.setup.n_shards == 3
    assert load("whole.json").promises.setup.n_shards == 1


PILOT = ["plan", "--pilot", "text", "--for", "constraints", "--seed", "7"]


def test_a_protocol_fixes_the_partition(rows, cluster, capsys):
    with pytest.raises(SystemExit):
        main([*PILOT, "--partition", "files", "-o", "p.json"])
    assert load("p.json").partition == "files"
    words = ["constraints", "packed", "--protocol", "p.json", "--max-rows", "4000"]
    words = words if load("p.json").max_rows is None else words[:-2]
    local = found(words, "a.json")
    assert local["provenance"]["partition"] == "files"
    assert local == found([*words, "--cluster", cluster.scheduler_address], "b.json")
    capsys.readouterr()
    with pytest.raises(SystemExit) as done:
        main([*words, "--partition", "none"])
    assert done.value.code == 2
    assert "--partition is fixed by p.json" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main([*PILOT, "-o", "whole.json"])
    assert load("whole.json").to_dict()["partition"] == "none"
    words = ["constraints", "packed", "--protocol", "whole.json", "--workers", "2"]
    with pytest.raises(SystemExit) as done:
        main(words)
    assert done.value.code == 2
    assert "one part (--partition none) are read by one process" in capsys.readouterr().err


@pytest.mark.parametrize("elsewhere", [False, True])
def test_a_stopped_run_goes_on_with_unfinished_files(rows, cluster, monkeypatch, capsys, elsewhere):
    """Any number of processes may resume: a checkpoint knows partitions, not processes."""
    from flagstone.algebra.flag import Flag

    words = ["constraints", "text", "--partition", "files", *WINDOW]
    expected = found(words, "whole.json")
    words += ["--checkpoint", "run.ckpt"]
    update, read = Flag.update, []

    def struck(self, lifted, *more):
        if len(lifted) > 1600:  # the third file
            raise KeyboardInterrupt
        return update(self, lifted, *more)

    with monkeypatch.context() as patch:
        patch.setattr(Flag, "update", struck)
        with pytest.raises(SystemExit) as done:
            main([*words, "-o", "m.json"])
    assert done.value.code == 130
    assert "run.ckpt holds 2 finished partitions. To resume" in capsys.readouterr().err
    if elsewhere:
        words += ["--cluster", cluster.scheduler_address]
    else:
        opened = Table.rows

        def counted(self, *given, **more):
            read.append(self.files[0].name)
            return opened(self, *given, **more)

        monkeypatch.setattr(Table, "rows", counted)
    assert found(words, "m.json") == expected
    if not elsewhere:
        assert read[0] == "2.csv"
        assert read.count("2.csv") == 1  # kept in memory for the second pass
        assert sorted(set(read)) == ["0.csv", "1.csv", "2.csv"]
    assert not (rows / "run.ckpt").exists()
