"""A real cluster of separate processes: the same bytes, whatever workers do or die of."""

import contextlib
import io
import json
import logging
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import flagstone
from distributed import Client, LocalCluster
from flagstone import Coins, IndexRule, distributed
from flagstone.checkpoints import open_checkpoint
from flagstone.cli import main
from flagstone.disk import open_ledger
from flagstone.distributed import ClusterError, DaskExecutor, Dataset, executor
from flagstone.errors import FormatError, InputError
from flagstone.pipeline import Pipeline
from flagstone.question import ConstraintsQuestion, SpanQuestion
from flagstone.shards import ShardTask
from tests.distributed.conftest import PARTS, frames

RULE, COINS = IndexRule(t_min=0.02, t_max=0.06), Coins(2026)
CUT_BY_FILES = (
    "flagstone: the rows are cut by files (--partition files), because several processes read"
)
FLAGSTONE = [sys.executable, "-c", "from flagstone.cli import main; main()"]


@pytest.fixture
def own_cluster(tmp_path):
    """A scheduler and its workers, to be lost."""
    return lambda n_workers=1, processes=True: LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        processes=processes,
        dashboard_address="127.0.0.1:0",
        local_directory=tmp_path,
        silence_logs=logging.CRITICAL,
    )


def asked(source, client=None, **more):
    return distributed.ask(source, ConstraintsQuestion(), RULE, COINS, client=client, **more)


def content(finding):
    """Everything a finding says, as it would be saved."""
    return json.dumps(finding.to_dict(), sort_keys=True)


def test_one_two_or_four_workers_give_the_same_bytes(client, own_cluster, folder):
    wanted = content(asked(str(folder)))
    assert content(asked(str(folder), client)) == wanted
    for number in (1, 4):
        with (
            own_cluster(number, processes=False) as cluster,
            Client(cluster, set_as_default=False) as other,
        ):
            assert len(other.run(os.getpid)) == number
            assert content(asked(str(folder), other)) == wanted


def test_an_active_client_is_found_and_a_foreign_one_never_made(client, folder, cluster):
    wanted = content(asked(str(folder)))
    assert DaskExecutor().client is None
    with Client(cluster) as active:
        assert DaskExecutor().client is active
        assert content(asked(str(folder))) == wanted


def test_collections_on_a_cluster(client, parts):
    import dask.array as da

    X = da.from_array(np.concatenate(parts), chunks=(len(parts[0]), -1))
    assert content(asked(X, client)) == content(asked(X))
    finding = asked(X)
    assert distributed.check(finding, X, client=client).misfits == finding.rows.misfits
    found = client.compute(distributed.predict(finding, X, client=client)).result()
    assert (found == "0").sum() == finding.rows.misfits


class Killer:
    """Kills a worker when this many partitions of a pass are done."""

    def __init__(self, client, moments, dice=None):
        self.client, self.moments, self.kills = client, list(moments), 0
        self.dice = dice or random.Random(1)
        self.calls = 0

    def __call__(self, done, total):
        self.calls += 1
        while self.moments and self.calls >= self.moments[0]:
            self.moments.pop(0)
            known = self.client.scheduler_info()["workers"]
            nannies = [
                nanny
                for nanny in self.client.cluster.workers.values()
                if nanny.worker_address in known and nanny.status.name == "running"
            ]
            if nannies:  # a worker that is only just starting would not be started again
                os.kill(self.dice.choice(sorted(n.pid for n in nannies if n.pid)), signal.SIGKILL)
                self.kills += 1


def killed(client, source, moments, dice=None):
    """The finding of a run in which workers die after this many partitions were done."""
    workers = DaskExecutor(client)
    workers.on_progress = killer = Killer(client, moments, dice)
    data = Dataset.of(source)
    task = ShardTask(ConstraintsQuestion(), data.encoding(2))
    pipeline = Pipeline(task, data.partitions, workers)
    summary = pipeline.summarize()
    notes = {"partition": "files", **summary.notes(task.encoding)}
    finding = pipeline.ask(summary, RULE, COINS, provenance=notes)
    return pipeline.certify(finding, summary, shown=5), killer.kills


def test_workers_that_are_killed_change_nothing(client, folder):
    """While leaves are read, while the last ones merge, and during the second pass."""
    finding, kills = killed(client, folder, [2, PARTS, PARTS + 2])
    assert kills == 3
    assert content(finding) == content(asked(str(folder)))
    client.wait_for_workers(1, timeout=240)


@pytest.mark.statistical
def test_twenty_kills_at_random_moments(own_cluster, folder):
    dice = random.Random(2026)
    wanted, kills = content(asked(str(folder))), 0
    while kills < 20:
        with own_cluster(2) as cluster, Client(cluster, set_as_default=False) as client:
            moments = sorted(dice.sample(range(1, 2 * PARTS + 1), 4))
            finding, more = killed(client, folder, moments, dice)
        assert content(finding) == wanted
        kills += more


def test_a_damaged_partition_is_named_through_the_cluster(client, folder, tmp_path):
    for path in folder.iterdir():
        shutil.copy(path, tmp_path)
    victim = tmp_path / "part-4.parquet"
    column = parquet.ParquetFile(victim).metadata.row_group(1).column(0)
    data = bytearray(victim.read_bytes())
    start = column.dictionary_page_offset or column.data_page_offset
    data[start : start + column.total_compressed_size] = b"\xff" * column.total_compressed_size
    victim.write_bytes(data)
    with pytest.raises(FormatError, match=r"part-4.parquet, row group 1 is cut short or damaged"):
        asked(str(tmp_path), client)
    bad = frames(1)
    bad[3, 2] = 5
    table = pa.table({f"b{i}": bad[:, i] for i in range(bad.shape[1])})
    parquet.write_table(table, victim)
    with pytest.raises(InputError, match=r"part-4.parquet row 4, column 'b2': 5 is not an element"):
        asked(str(tmp_path), client)


def test_workers_of_another_version_are_refused_by_name(client, folder, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(executor, "__version__", "9.9")
        with pytest.raises(ClusterError, match=r"worker tcp://\S+ has flagstone \S+, but 9.9 asks"):
            asked(str(folder), client)
    data, here = Dataset.of(folder), DaskExecutor(client)
    pipeline = Pipeline(ShardTask(SpanQuestion(), data.encoding(2)), data.partitions, here)
    monkeypatch.setattr(executor, "__version__", "9.9")  # of workers that joined later, too
    with pytest.raises(InputError, match=r"worker tcp://\S+ has flagstone \S+, but 9.9 asks"):
        pipeline.summarize()


def test_a_lost_scheduler_costs_only_unfinished_partitions(own_cluster, folder, tmp_path):
    """With the checkpoint, another cluster reads what the first one had not finished."""
    checkpoint = tmp_path / "leaves.jsonl"
    data = Dataset.of(folder)
    task = ShardTask(ConstraintsQuestion(), data.encoding(2))
    with own_cluster() as first, Client(first, set_as_default=False) as client:
        lost = DaskExecutor(client)

        def lose(done, total):
            if done == 3:
                first.close()

        lost.on_progress = lose
        pipeline = Pipeline(task, data.partitions, lost)
        with (
            pytest.raises(ClusterError, match="the cluster went away"),
            open_checkpoint(checkpoint, "id", "2026", task, PARTS) as kept,
        ):
            pipeline.summarize(kept)
    n_kept = len(checkpoint.read_text().splitlines()) - 1
    assert 3 <= n_kept < PARTS
    with own_cluster() as second, Client(second, set_as_default=False) as client:
        again, told = DaskExecutor(client), []
        again.on_progress = lambda done, total: told.append(done)
        with open_checkpoint(checkpoint, "id", "2026", task, PARTS) as kept:
            assert len(kept.finished) == n_kept
            pipeline = Pipeline(task, data.partitions, again)
            summary = pipeline.summarize(kept)
    assert len(told) == PARTS - n_kept
    assert summary.summary.to_bytes() == asked(str(folder)).flag.to_bytes()


def run(*words, cwd):
    """Run the command line in this process."""
    out, err = io.StringIO(), io.StringIO()
    with (
        contextlib.chdir(cwd),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        pytest.raises(SystemExit) as end,
    ):
        main(list(words))
    return end.value.code, out.getvalue(), err.getvalue()


def test_the_command_line_on_a_cluster(cluster, patient, folder, tmp_path):
    window = ["--seed", "2026", "--t-min", "0.02", "--t-max", "0.06"]
    remote = ["--cluster", cluster.scheduler_address]
    code, out, err = run(
        "constraints",
        str(folder),
        *window,
        *remote,
        "-o",
        "m.json",
        "--checkpoint",
        "c",
        cwd=tmp_path,
    )
    assert (code, err.splitlines()) == (0, [CUT_BY_FILES])
    assert "24,000 read, in 6 partitions (what is proven loses a factor 6" in out
    assert not (tmp_path / "c").exists()
    found = flagstone.load(tmp_path / "m.json")
    assert found.fingerprint == asked(str(folder)).fingerprint
    assert found.promises == asked(str(folder)).promises
    # summarize of each file and merge make the same bytes as one run over all of them
    two = sorted(map(str, folder.iterdir()))[:2]
    for number, path in enumerate(two):
        assert run("summarize", path, "-o", f"{number}.flag", cwd=tmp_path)[0] == 0
    assert run("merge", "0.flag", "1.flag", "-o", "merged.flag", cwd=tmp_path)[0] == 0
    assert run("summarize", *two, *remote, "-o", "spread.flag", cwd=tmp_path)[0] == 0
    assert (tmp_path / "merged.flag").read_bytes() == (tmp_path / "spread.flag").read_bytes()
    code, out, _ = run("check", "m.json", str(folder), *remote, "--json", cwd=tmp_path)
    assert (code, json.loads(out)["rows"]["misfits"]) == (4, found.rows.misfits)
    assert run("predict", "m.json", str(folder), "-o", "a.csv", cwd=tmp_path)[0] == 0
    small = ["--partition", "20kB"]
    assert (
        run("predict", "m.json", str(folder), *remote, *small, "-o", "b.csv", cwd=tmp_path)[0] == 0
    )
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    code, out, err = run(
        "plan", "--pilot", str(folder), "--seed", "7", *remote, "--json", cwd=tmp_path
    )
    assert json.loads(out)["rows"] == 24_000


def test_as_many_rows_are_taken_as_without_workers(cluster, patient, tmp_path):
    """Runs that count once, and frames of other lengths, do not count; exactly N rows are used."""
    rng = np.random.default_rng(5)
    words = [f"{word:06x}" for word in rng.integers(0, 1 << 23, size=700) * 2 | 1]
    lines = [
        line for i, w in enumerate(words) for line in (w, w, *(["abcd"] if i % 9 == 0 else []))
    ]
    half = len(lines) // 2
    (tmp_path / "rows").mkdir()
    for name, part in (("a", lines[:half]), ("b", lines[half:])):
        table = pa.table({"data": part})
        parquet.write_table(table, tmp_path / "rows" / f"{name}.parquet", row_group_size=100)
    asked = ["constraints", "rows", "--encode", "data=hex:24", "--seed", "7", "--t-min", "0.01"]
    asked += ["--t-max", "0.03", "--max-rows", "600", "--deduplicate-runs", "--json"]
    alone = run(*asked, cwd=tmp_path)
    remote = ["--cluster", cluster.scheduler_address]
    spread = run(*asked, *remote, cwd=tmp_path)
    assert (alone[0], spread[0]) == (0, 0), spread
    found = [json.loads(out) for _, out, _ in (alone, spread)]
    assert [one["rows"]["read"] for one in found] == [600, 600]
    assert found[0]["fingerprint"] == found[1]["fingerprint"]
    asked[asked.index("600")] = "720"
    for words in (asked, [*asked, *remote]):
        code, out, err = run(*words, cwd=tmp_path)
        assert (code, out) == (2, "")
        assert "--max-rows 720 asks for more rows than there are (70" in err


def test_local_workers_and_what_is_refused(folder, tmp_path):
    window = ["--seed", "2026", "--t-min", "0.02", "--t-max", "0.06"]
    (tmp_path / "joblib.py").write_text("raise SystemExit('code of the current folder ran')")
    (tmp_path / "numpy.py").write_text("raise SystemExit('code of the current folder ran')")
    words = ["constraints", str(folder), *window, "--workers", "2", "--json"]
    script = [sys.executable, "-P", *FLAGSTONE[1:], *words]
    done = subprocess.run(script, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0
    assert done.stderr.splitlines() == [CUT_BY_FILES]
    assert json.loads(done.stdout)["fingerprint"] == asked(str(folder)).fingerprint
    (tmp_path / "numpy.py").unlink()
    (tmp_path / "joblib.py").unlink()
    for words, said in [
        (["--workers", "2", "--cluster", "tcp://127.0.0.1:1"], "leave one out"),
        (["--partition", "huge"], "--partition must be none, files, or a size such as 64MB"),
        (["--workers", "2", "--partition", "none"], "cut the rows with --partition files"),
        (["--cluster", "tcp://127.0.0.1:1"], "no scheduler answers there"),
        (["--cluster", "nonsense"], "--cluster must be an address such as tcp://host:8786"),
    ]:
        code, _, err = run("constraints", str(folder), *words, cwd=tmp_path)
        assert code in (1, 2)
        assert said in err
        assert len(err.splitlines()) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_run_goes_on_with_what_is_done(cluster, tmp_path, number):
    data = tmp_path / "data"
    data.mkdir()
    for i in range(30):
        rows = frames(i, 4000, 40)
        table = pa.table({f"b{j}": rows[:, j] for j in range(40)})
        parquet.write_table(table, data / f"{i:02}.parquet")
    words = ["constraints", "data", "--seed", "7", "--cluster", cluster.scheduler_address]
    words += ["--partition", "files"]
    words += ["--checkpoint", "c.jsonl", "-o", "m.json"]
    child = subprocess.Popen(
        [*FLAGSTONE, *words],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    ledger = tmp_path / "c.jsonl"
    deadline = time.monotonic() + 240
    while not ledger.exists() or len(ledger.read_bytes().splitlines()) < 4:
        assert time.monotonic() < deadline
        assert child.poll() is None, child.communicate()
        time.sleep(0.01)
    child.send_signal(number)
    _, err = child.communicate(timeout=240)
    assert child.returncode == 128 + number
    assert re.search(r"interrupted; c.jsonl holds \d+ finished partitions. To resume", err), err
    assert len(err.splitlines()) == 1
    assert not (tmp_path / "m.json").exists()
    # a checkpoint that says another seed than the command is refused, however well it is sealed
    good, records = ledger.read_bytes(), []
    fields = {"id": str, "seed": str, "partitions": int}
    with open_ledger(ledger, "leaves", records.append, fields) as changed:
        header = {name: changed.header[name] for name in fields}
        changed.start(**(header | {"seed": "5"}))
        changed.append(records)
    code, out, err = run(*words, cwd=tmp_path)
    assert (code, out) == (1, "")
    assert "c.jsonl was begun with seed '5', not with '7'" in err
    assert len(err.splitlines()) == 1
    ledger.write_bytes(good)
    code, _, err = run(*words, cwd=tmp_path)
    assert code == 0, err
    assert not ledger.exists()
    found = flagstone.load(tmp_path / "m.json")
    again = distributed.ask(str(data), ConstraintsQuestion(), IndexRule(), Coins(7))
    assert found.flag.to_bytes() == again.flag.to_bytes()
    assert found.promises == again.promises


def test_what_the_loop_of_a_client_says_is_not_said_twice(cluster, tmp_path):
    """Ctrl-C may strike before Dask's call has a future to cancel: its own NameError is logged."""
    lines = [
        "import time",
        "from types import SimpleNamespace",
        "from flagstone.cli.reader import AT_END, dask_executor",
        f"at = SimpleNamespace(cluster={cluster.scheduler_address!r}, workers=None)",
        "loop = dask_executor(at).client.loop",
        "loop.add_callback(lambda: 1 / 0)",
        "loop.asyncio_loop.call_exception_handler({'message': 'a task was destroyed'})",
        "time.sleep(0.2)",
        "AT_END.close()",
    ]
    script = [sys.executable, "-c", "\n".join(lines)]
    done = subprocess.run(script, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
