"""Partitions without a cluster: same partitions, same answer, whichever process reads them."""

import base64
import dataclasses
import importlib
import json
import sys
import zipfile

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fsspec.implementations.zip import ZipFileSystem
from hypothesis import given, settings
from hypothesis import strategies as st

from flagstone import (
    AffineSpan,
    Coins,
    Flag,
    IndexRule,
    LinearEquations,
    LinearSpan,
    ParityClassifier,
    SubspaceClassifier,
    ask,
    certify,
    distributed,
    load,
)
from flagstone.algebra.fields import as_field
from flagstone.algebra.flag import merge_flags
from flagstone.certificates import pilot_rows
from flagstone.checkpoints import ShardCheckpoint, open_checkpoint
from flagstone.disk import open_ledger, sealed
from flagstone.distributed import DaskExecutor, Dataset
from flagstone.errors import FormatError, InputError, MissingDependencyError
from flagstone.pipeline import Pipeline
from flagstone.question import (
    ConstraintsQuestion,
    EquationsQuestion,
    ParityQuestion,
    SpanQuestion,
    SubspaceQuestion,
)
from flagstone.shards import ShardTask, summarize_shard
from tests.distributed.conftest import PARTS, ROWS, WIDTH, frames

RULE, COINS = IndexRule(t_min=0.02, t_max=0.06), Coins(2026)


def by_hand(parts, question, rule=RULE, labels=None, field=2):
    """The finding of the merged flags of the parts, certified on their rows."""
    F = as_field(field)
    ys = [None] * len(parts) if labels is None else labels
    flags = []
    for X, y in zip(parts, ys, strict=True):
        rows = question.lift(F, F.rows(X), None if y is None else F.elements(y))
        flags.append(Flag(question.dim(X.shape[1]), F).update(rows))
    finding = ask(merge_flags(flags), question, rule, COINS)
    y = None if labels is None else np.concatenate(labels)
    return certify(finding, np.concatenate(parts), y, shards=[len(X) for X in parts])


def same(a, b):
    """Whether two findings say the same, but for names, places and how rows were read."""
    assert a.fingerprint == b.fingerprint
    assert a.flag.to_bytes() == b.flag.to_bytes()
    assert a.promises == b.promises
    counts = [(r.read, r.uncovered, r.misfits) for r in (a.rows, b.rows)]
    assert counts[0] == counts[1]
    return True


@pytest.mark.parametrize("question", [SpanQuestion(), ConstraintsQuestion()])
def test_arrays_frames_and_files_are_one_road(parts, folder, question):
    wanted = by_hand(parts, question)
    assert wanted.promises.setup.n_shards == PARTS
    assert wanted.promises.certified.rho < 0.01
    X = da.from_array(np.concatenate(parts), chunks=(ROWS, 5))  # columns are put together
    found = distributed.ask(X, question, RULE, COINS)
    assert same(found, wanted)
    assert found.provenance["partitions"] == {
        "number": PARTS,
        "empty": 0,
        "shortest": ROWS,
        "longest": ROWS,
        "short": 0,
    }
    frame = dd.from_delayed(
        [dask.delayed(pd.DataFrame)(p, columns=[f"b{i}" for i in range(WIDTH)]) for p in parts]
    )
    assert not frame.known_divisions
    assert same(distributed.ask(frame, question, RULE, COINS), wanted)
    assert same(distributed.ask(str(folder), question, RULE, COINS), wanted)
    files = sorted(folder.iterdir())
    assert same(distributed.ask(files, question, RULE, COINS), wanted)
    with dask.config.set(scheduler="synchronous"):
        assert same(distributed.ask(str(folder), question, RULE, COINS), wanted)
    unknown = da.from_delayed(dask.delayed(parts[0]), (np.nan, WIDTH), dtype=np.uint8)
    rest = da.from_array(np.concatenate(parts[1:]), chunks=(ROWS, -1))
    assert same(distributed.ask(da.concatenate([unknown, rest]), question, RULE, COINS), wanted)


def test_the_size_of_partitions_is_stated_and_part_of_the_run(folder, parts):
    whole = Dataset.of(folder)
    assert [p.n_rows for p in whole.partitions] == [ROWS] * PARTS
    group = max(g[2] for g in whole.table.readers[0]._groups)
    cut = Dataset.of(folder, partition=2 * group)
    assert [p.n_rows for p in cut.partitions] == [2000] * (2 * PARTS)
    halves = [half for X in parts for half in (X[:2000], X[2000:])]
    found = distributed.ask(cut, SpanQuestion(), RULE, COINS)
    assert same(found, by_hand(halves, SpanQuestion()))
    assert found.fingerprint == distributed.ask(whole, SpanQuestion(), RULE, COINS).fingerprint
    with pytest.raises(InputError, match="partition must be an integer of at least 1"):
        Dataset.of(folder, partition=0)
    with pytest.raises(InputError, match="partition='days' must be"):
        Dataset.of(folder, partition="days")


LABELLED = [
    (ParityQuestion(intercept=True), ParityClassifier()),
    (ParityQuestion(intercept=False), ParityClassifier(fit_intercept=False)),
    (EquationsQuestion(), LinearEquations()),
    (SubspaceQuestion(affine=True), SubspaceClassifier(affine=True)),
]


@pytest.mark.parametrize(("question", "estimator"), LABELLED)
@pytest.mark.parametrize("field", [2, 7, "2^8", "QQ"])
def test_every_question_with_a_label_through_both_doors(question, estimator, field):
    if field == "QQ" and question.kind == "parity":
        question = dataclasses.replace(question, choice="lexmin")
        estimator = ParityClassifier(fit_intercept=question.intercept, choice="lexmin")
    high = {2: 2, 7: 7, "2^8": 256, "QQ": 5}[field]
    random = np.random.RandomState(3)
    parts = [random.randint(0, high, size=(150, 3)) for _ in range(3)]
    labels = [X[:, 0].copy() for X in parts]
    if question.kind == "subspace":
        labels = [(X[:, 0] == X[:, 1]).astype(int) for X in parts]
    rule = IndexRule(t_min=2, t_max=6)
    wanted = by_hand(parts, question, rule, labels, field)
    X = da.from_array(np.concatenate(parts), chunks=(150, 3))
    y = da.from_array(np.concatenate(labels), chunks=150)
    found = distributed.ask(X, question, rule, COINS, label=y, field=field)
    assert same(found, wanted)
    fitted = distributed.fit(
        estimator.set_params(field=field, rule=IndexRule(t_min=2, t_max=6), random_state=2026),
        X,
        y,
    )
    assert fitted.fingerprint_ == wanted.fingerprint
    assert fitted.guarantee_ == wanted.promises
    here = X.compute()
    if hasattr(fitted, "predict"):
        assert len(fitted.predict(here[:5])) == 5
    with pytest.raises(InputError, match="cannot be added: the finding was made elsewhere"):
        fitted.partial_fit(here, y.compute())


@pytest.mark.parametrize("estimator", [LinearSpan(), AffineSpan()])
def test_spans_are_fitted_and_may_be_adopted_from_a_file(estimator, folder, tmp_path):
    estimator.set_params(rule=IndexRule(t_min=0.02, t_max=0.06), random_state=2026, certify=0.95)
    fitted = distributed.fit(estimator, str(folder))
    assert fitted.feature_names_in_.tolist() == [f"b{i}" for i in range(WIDTH)]
    assert fitted.guarantee_.certified.confidence == 0.95
    fitted.finding_.save(tmp_path / "found.json")
    again = type(estimator)().adopt(load(tmp_path / "found.json"))
    assert again.fingerprint_ == fitted.fingerprint_
    X = pd.DataFrame(frames(99), columns=again.feature_names_in_)
    assert np.array_equal(again.predict(X), fitted.predict(X))
    with pytest.raises(InputError, match=r"answers SpanQuestion|answers ConstraintsQuestion"):
        ParityClassifier().adopt(again.finding_)


def test_named_labels_have_one_fingerprint(tmp_path):
    random = np.random.RandomState(5)
    parts = []
    for number in range(3):
        X = random.randint(0, 2, size=(400, 4))
        frame = pd.DataFrame(X, columns=list("abcd"))
        frame["fault"] = np.where(X[:, 0] ^ X[:, 2], "yes", "no")
        frame.to_csv(tmp_path / f"{number}.csv", index=False)
        parts.append(frame)
    whole = pd.concat(parts)
    alone = ParityClassifier(classes=["no", "yes"], random_state=7)
    alone.fit(whole[list("abcd")], whole["fault"])
    spread = ParityClassifier(classes=["no", "yes"], random_state=7)
    distributed.fit(spread, str(tmp_path), "fault")
    assert spread.fingerprint_ == alone.fingerprint_
    assert spread.classes_.tolist() == ["no", "yes"]
    assert spread.predict(whole[list("abcd")]).tolist() == whole["fault"].tolist()
    assert spread.score(whole[list("abcd")], whole["fault"]) == 1
    frame = dd.from_pandas(whole, npartitions=4)
    assert distributed.fit(spread, frame, "fault").fingerprint_ == alone.fingerprint_
    found = distributed.predict(spread.finding_, frame).compute()
    assert found.tolist() == frame["fault"].compute().tolist()
    with pytest.raises(InputError, match="levels:no,yes"):
        distributed.fit(ParityClassifier(random_state=7), str(tmp_path), "fault")
    with pytest.raises(InputError, match="label is needed"):
        distributed.fit(ParityClassifier(), str(tmp_path))
    with pytest.raises(InputError, match="label is given"):
        distributed.fit(LinearSpan(), str(tmp_path), "fault")


def test_what_shards_cost_and_what_they_do_not(parts):
    """The proven bounds lose the factor R; the certificate, inside a plateau, does not (S34)."""
    rows = np.concatenate(parts)
    one = distributed.ask(da.from_array(rows, chunks=(-1, -1)), SpanQuestion(), RULE, COINS)
    many = distributed.ask(da.from_array(rows, chunks=(ROWS, -1)), SpanQuestion(), RULE, COINS)
    assert (one.promises.setup.n_shards, many.promises.setup.n_shards) == (1, PARTS)
    assert many.promises.proven.rho is None or many.promises.proven.rho > one.promises.proven.rho
    assert many.promises.measured.bracket[1] > one.promises.measured.bracket[1]
    assert many.promises.certified.rho < 2 * one.promises.certified.rho + 1e-6


def test_partitions_shorter_than_a_piece_certify_nothing_and_say_so(parts):
    rows = np.concatenate(parts)
    short = distributed.ask(da.from_array(rows, chunks=(16, -1)), SpanQuestion(), RULE, COINS)
    assert short.promises.certified.rho is None
    assert short.provenance["partitions"]["short"] == len(rows) // 16
    assert "shorter than the pieces of rows that certify" in short.partitions


def test_empty_partitions_are_counted_and_harmless(parts):
    pieces = [parts[0], parts[0][:0], parts[1], parts[2][:0]]
    blocks = [da.from_delayed(dask.delayed(p), (np.nan, WIDTH), dtype=np.uint8) for p in pieces]
    found = distributed.ask(da.concatenate(blocks), SpanQuestion(), RULE, COINS)
    assert same(found, by_hand(parts[:2], SpanQuestion()))
    assert found.provenance["partitions"]["empty"] == 2
    nothing = da.from_array(parts[0][:0], chunks=(1, -1))
    with pytest.raises(InputError, match="partition 0: none of the partitions holds a row"):
        distributed.ask(nothing, SpanQuestion(), RULE, COINS)


def test_bad_partitions_are_named(parts, tmp_path):
    bad = parts[1].copy()
    bad[17, 4] = 2
    X = da.from_array(np.concatenate([parts[0], bad]), chunks=(ROWS, -1))
    with pytest.raises(InputError, match="partition 1 row 18, column 'x4': 2 is not an element"):
        distributed.ask(X, SpanQuestion(), RULE, COINS)
    good = pd.DataFrame(parts[0][:, :2], columns=["a", "b"])
    for other, words in [
        (good.rename(columns={"b": "c"}), "partition 1: there is no column 'b'"),
        (good.astype({"b": str}), "partition 1 row 1, column 'b'"),
        (good.astype({"b": float}).mask(good["a"] == 9), None),
        (good.assign(b=[None, *good["b"][1:]]), "partition 1 row 1, column 'b': the value is"),
        (good.assign(b=[{1}, *good["b"][1:]]), "partition 1, column 'b': a column must hold"),
    ]:
        frame = dd.from_delayed(
            [dask.delayed(good), dask.delayed(other)], meta=good, verify_meta=False
        )
        if words is None:
            assert distributed.ask(frame, SpanQuestion(), RULE, COINS).rows.read == 2 * ROWS
            continue
        with pytest.raises(InputError, match=words):
            distributed.ask(frame, SpanQuestion(), RULE, COINS)
    y = da.from_array(parts[0][:, 0], chunks=ROWS // 2)
    with pytest.raises(InputError, match="the rows have 1 partitions, but their labels 2"):
        distributed.fit(ParityClassifier(), da.from_array(parts[0], chunks=(ROWS, -1)), y)
    uneven = da.from_array(parts[0][:, 0], chunks=((1000, 3000),))
    halves = da.from_array(parts[0], chunks=(2000, -1))
    with pytest.raises(InputError, match="partition 0: 2,000 rows, but 1,000 labels"):
        distributed.fit(ParityClassifier(), halves, uneven)
    hidden = da.concatenate(
        [da.from_delayed(dask.delayed(parts[0][:n, 0]), (np.nan,), dtype=int) for n in (1000, 3000)]
    )
    with pytest.raises(
        InputError, match=r"partition [01]: 2,000 rows, but its labels have the shape"
    ):
        distributed.fit(ParityClassifier(), halves, hidden)
    with pytest.raises(InputError, match="delimiter is for files"):
        distributed.ask(X, SpanQuestion(), RULE, COINS, delimiter=";")
    with pytest.raises(InputError, match="labels in a column"):
        distributed.ask(str(tmp_path), ParityQuestion(), RULE, COINS, label=y)
    with pytest.raises(InputError, match="rows are a matrix or a frame"):
        distributed.ask(y, SpanQuestion(), RULE, COINS)


def test_a_damaged_row_group_is_named_and_nothing_is_written(folder, tmp_path):
    from pyarrow import parquet

    for path in folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    victim = tmp_path / "part-3.parquet"
    column = parquet.ParquetFile(victim).metadata.row_group(2).column(5)
    data = bytearray(victim.read_bytes())
    start = column.dictionary_page_offset or column.data_page_offset
    data[start : start + column.total_compressed_size] = b"\xff" * column.total_compressed_size
    victim.write_bytes(data)
    with pytest.raises(FormatError, match=r"part-3.parquet, row group 2 is cut short or damaged"):
        distributed.ask(str(tmp_path), SpanQuestion(), RULE, COINS)


def test_without_dask_it_is_said_what_to_install(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("flagstone.distributed")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'flagstone\[dask\]'"):
        importlib.import_module("flagstone.distributed")


def test_rows_that_coins_draw_are_those_of_one_partition(folder):
    rule = IndexRule(t_max=60, draw_rows=ROWS)
    with pytest.raises(InputError, match="draw_rows is for rows that are summarized together"):
        distributed.ask(str(folder), SpanQuestion(), rule, COINS)
    found = distributed.ask(str(folder), SpanQuestion(), rule, COINS, partition="none")
    assert found.rows.read == rule.n_rows(COINS)
    assert found.answer == distributed.ask(str(folder), SpanQuestion(), RULE, COINS).answer


def test_what_does_not_go_with_rows_that_coins_draw_is_refused(folder, tmp_path):
    rule = IndexRule(t_max=60, draw_rows=ROWS)
    rows = Dataset.of(str(folder), partition="none").first(100)
    with pytest.raises(InputError, match=r"draw_rows decides how many .* leave out max_rows"):
        distributed.ask(rows, SpanQuestion(), rule, COINS)
    whole = {"partition": "none", "checkpoint": tmp_path / "leaves.jsonl"}
    with pytest.raises(InputError, match="draw_rows with a checkpoint needs a seed"):
        distributed.ask(str(folder), SpanQuestion(), rule, COINS, seed_is_fresh=True, **whole)
    found = distributed.ask(str(folder), SpanQuestion(), rule, COINS, **whole)
    assert found.rows.read == rule.n_rows(COINS)


def test_a_run_with_a_fresh_seed_goes_on_with_the_seed_it_began_with(folder, tmp_path, monkeypatch):
    checkpoint = tmp_path / "leaves.jsonl"
    fresh = {"checkpoint": checkpoint, "seed_is_fresh": True}

    def stopped(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("flagstone.pipeline.Pipeline.ask", stopped)
        with pytest.raises(KeyboardInterrupt):
            distributed.ask(str(folder), SpanQuestion(), RULE, Coins("first"), **fresh)
    found = distributed.ask(str(folder), SpanQuestion(), RULE, Coins("second"), **fresh)
    assert found.seed == "first"
    assert (
        found.threshold == distributed.ask(folder, SpanQuestion(), RULE, Coins("first")).threshold
    )


def test_finished_partitions_are_kept_and_not_read_again(folder, tmp_path, monkeypatch):
    data = tmp_path / "data"
    data.mkdir()
    for path in folder.iterdir():
        (data / path.name).write_bytes(path.read_bytes())
    last = data / "part-5.parquet"
    good = last.read_bytes()
    cut = bytearray(good)
    cut[4:2000] = b"\xff" * 1996
    checkpoint = tmp_path / "leaves.jsonl"
    read = []

    def counted(task, shard, *rest):
        read.append(shard.name)
        return summarize_shard(task, shard, *rest)

    monkeypatch.setattr("flagstone.pipeline.summarize_shard", counted)

    def run(**more):
        read.clear()
        with dask.config.set(scheduler="synchronous"):
            return distributed.ask(
                str(data), SpanQuestion(), RULE, COINS, checkpoint=checkpoint, **more
            )

    before = Dataset.identity
    monkeypatch.setattr(Dataset, "identity", lambda self, shards: "the same files")
    last.write_bytes(bytes(cut))
    with pytest.raises(FormatError, match=r"part-5.parquet"):
        run()
    finished = set(read) - {str(last)}
    assert finished
    last.write_bytes(good)
    found = run()
    assert set(read) == {str(path) for path in data.iterdir()} - finished
    assert not checkpoint.exists()
    monkeypatch.setattr(Dataset, "identity", before)
    assert same(found, distributed.ask(str(folder), SpanQuestion(), RULE, COINS))
    # a checkpoint of another run is refused, and so is a damaged one
    last.write_bytes(bytes(cut))
    with pytest.raises(FormatError):
        run()
    last.write_bytes(good)
    with pytest.raises(InputError, match="belongs to another run"):
        run()
    monkeypatch.setattr(Dataset, "identity", lambda self, shards: "the same files")
    checkpoint.unlink()
    last.write_bytes(bytes(cut))
    with pytest.raises(FormatError):
        run()
    lines = checkpoint.read_text().splitlines()
    start = json.loads(lines[0])["sha256"]
    leaf = json.loads(lines[1])["leaf"]
    other = base64.b64encode(Flag(3).to_bytes()).decode()
    for wrong in (
        {},
        leaf | {"sizes": [1, 2]},
        leaf | {"sizes": [True]},
        leaf | {"summary": other},
        leaf | {"summary": "no base64"},
        leaf | {"labels": [["a", 1]]},
        leaf | {"labels": 3},
    ):
        record, _ = sealed(json.dumps({"partition": 0, "leaf": wrong}), start)
        checkpoint.write_text(f"{lines[0]}\n{record}\n")
        with pytest.raises(FormatError, match="damaged"):
            run()


def on_dask(task, data):
    """The pipeline of the rows to take, by threads of this process."""
    return Pipeline(task, data.partitions, DaskExecutor()).first(data.max_rows)


def small_store(path, n_partitions=3):
    """A checkpoint of the first partitions; return its job and their leaves."""
    X = da.from_array(np.eye(4, dtype=int)[[0, 1, 1, 2, 0, 3]], chunks=(6 // n_partitions, 4))
    data = Dataset.of(X)
    job = ShardTask(SpanQuestion(), data.encoding(2))
    with open_checkpoint(path, "mine", "7", job, n_partitions) as store:
        on_dask(job, data).summarize(store)
        return job, dict(store.finished)


def test_no_flipped_bit_of_a_checkpoint_changes_a_leaf(tmp_path):
    path = tmp_path / "leaves.jsonl"
    job, leaves = small_store(path)
    assert sorted(leaves) == [0, 1, 2]
    last = json.loads(path.read_text().splitlines()[-1])["partition"]
    good = path.read_bytes()
    for bit in [*range(0, 8 * len(good) - 8, 11), 8 * len(good) - 8]:
        data = bytearray(good)
        data[bit // 8] ^= 1 << bit % 8
        path.write_bytes(data)
        if bit // 8 < len(good) - 1:
            with pytest.raises(FormatError), open_checkpoint(path, "mine", "7", job, 3):
                pass
        else:  # the end of the last line: as if it were torn
            with open_checkpoint(path, "mine", "7", job, 3) as store:
                assert store.seed == "7"
                assert sorted(store.finished) == sorted({0, 1, 2} - {last})


@pytest.mark.parametrize("numbers", [(0, 0), (3,), (-1,)])
def test_partitions_that_cannot_be_are_refused(tmp_path, numbers):
    path = tmp_path / "leaves.jsonl"
    job, leaves = small_store(path)
    with open_ledger(path, "leaves", print, {"id": str, "seed": str, "partitions": int}) as ledger:
        ledger.start(id="mine", seed="7", partitions=3)
        ledger.append({"partition": n, "leaf": leaves[0].to_dict()} for n in numbers)
    with (
        pytest.raises(FormatError, match=r"damaged \((partition 0 comes twice|there is no part)"),
        open_checkpoint(path, "mine", "7", job, 3),
    ):
        pass


def test_what_is_asked_for_wins_over_a_checkpoint(tmp_path):
    path = tmp_path / "leaves.jsonl"
    job, _ = small_store(path)
    before = path.read_bytes()
    with (
        pytest.raises(InputError, match="was begun with seed '7', not with '5'"),
        open_checkpoint(path, "mine", "5", job, 3),
    ):
        pass
    with (
        pytest.raises(InputError, match="is about 3 partitions, but there are 4"),
        open_checkpoint(path, "mine", "7", job, 4),
    ):
        pass
    assert path.read_bytes() == before
    # a seed that was drawn gives way to the one that the run was begun with
    with open_checkpoint(path, "mine", "5", job, 3, seed_is_fresh=True) as store:
        assert store.seed == "7"


def test_summaries_are_fetched_only_for_a_checkpoint(folder, tmp_path, monkeypatch):
    """They are large and many: where nothing is kept, workers merge them among themselves."""
    kept = []
    monkeypatch.setattr(ShardCheckpoint, "keep", lambda self, *leaf: kept.append(leaf))
    distributed.ask(str(folder), SpanQuestion(), RULE, COINS)
    assert kept == []
    path = tmp_path / "c.jsonl"
    distributed.ask(str(folder), SpanQuestion(), RULE, COINS, checkpoint=path)
    assert len(kept) == PARTS


def test_files_elsewhere_are_read_where_they_are(folder, tmp_path):
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        for path in sorted(folder.iterdir()):
            archive.write(path, f"deep/{path.name}")
    filesystem = ZipFileSystem(str(tmp_path / "all.zip"))
    found = distributed.ask("deep", SpanQuestion(), RULE, COINS, filesystem=filesystem)
    assert same(found, distributed.ask(str(folder), SpanQuestion(), RULE, COINS))


def test_labels_may_hold_commas_and_quotes(tmp_path):
    rng = np.random.default_rng(3)
    X = rng.integers(0, 2, size=(400, 3))
    classes = ["a, b", 'say "no"']
    frame = pd.DataFrame(X, columns=list("pqr"))
    frame["kind"] = [classes[i] for i in X[:, 0] ^ X[:, 2]]
    frame.to_csv(tmp_path / "t.csv", index=False)
    learner = ParityClassifier(classes=classes, random_state=7)
    found = distributed.fit(learner, str(tmp_path / "t.csv"), "kind")
    assert (found.predict(X) == frame["kind"]).all()


def test_check_and_predict_map_over_partitions(folder, parts):
    finding = distributed.ask(str(folder), ConstraintsQuestion(), RULE, COINS)
    counted = distributed.check(finding, str(folder), max_misfits=3)
    assert (counted.read, counted.misfits) == (finding.rows.read, finding.rows.misfits)
    assert len(counted.places) == 3
    assert counted.places == finding.rows.places[:3]
    found = distributed.predict(finding, str(folder)).compute()
    assert (found == "0").sum() == counted.misfits
    X = da.from_array(np.concatenate(parts), chunks=(ROWS, -1))
    assert distributed.summarize(X, ConstraintsQuestion()) == finding.flag


def test_so_many_first_rows(folder, parts):
    rows = Dataset.of(folder).first(ROWS + 1500)
    chosen = on_dask(ShardTask(SpanQuestion(), rows.encoding(2)), rows)
    assert [(p.n_rows, p.limit) for p in chosen.shards] == [(ROWS, ROWS), (1500, 1500)]
    found = distributed.ask(rows, SpanQuestion(), RULE, COINS)
    assert same(found, by_hand([parts[0], parts[1][:1500]], SpanQuestion()))
    with pytest.raises(InputError, match="asks for more rows than there are"):
        Dataset.of(folder).first(10**6)


def frames_in_a_column(folder, n_files=3, n_rows=400):
    """Frames of 16 bits as text, every third one cut to 8 bits; return the whole ones."""
    rng = np.random.default_rng(6)
    kept = []
    for number in range(n_files):
        words = rng.integers(0, 1 << 16, size=n_rows)
        cells = [f"{word:04x}"[: 2 if i % 3 == 2 else 4] for i, word in enumerate(words)]
        pq.write_table(pa.table({"data": cells}), folder / f"{number}.parquet", row_group_size=100)
        whole = np.array([word for i, word in enumerate(words) if i % 3 != 2])
        kept.append(whole[:, None] >> np.arange(15, -1, -1) & 1)
    return kept


@pytest.mark.parametrize("n_rows", [1, 266, 267, 268, 600, 801])
def test_so_many_first_rows_where_some_are_left_out(tmp_path, n_rows):
    parts = frames_in_a_column(tmp_path)
    assert [len(part) for part in parts] == [267, 267, 267]
    rows = Dataset.of(str(tmp_path)).first(n_rows)
    encoding = rows.encoding(2, encode={"data": "hex:16"})
    wanted = [part for part in np.split(np.concatenate(parts)[:n_rows], [267, 534]) if len(part)]
    found = distributed.ask(rows, SpanQuestion(), RULE, COINS, encoding=encoding)
    assert found.rows.read == n_rows
    assert same(found, by_hand(wanted, SpanQuestion()))
    assert distributed.check(found, rows).read == n_rows
    assert len(distributed.predict(found, rows).compute()) == n_rows


def test_fewer_rows_than_asked_for_after_some_are_left_out(tmp_path):
    frames_in_a_column(tmp_path)
    rows = Dataset.of(str(tmp_path)).first(802)  # of 1,200 before
    encoding = rows.encoding(2, encode={"data": "hex:16"})
    with pytest.raises(InputError, match=r"max_rows=802 asks for more rows than there are \(801\)"):
        distributed.ask(rows, SpanQuestion(), RULE, COINS, encoding=encoding)


def test_a_tenth_of_the_rows_that_count_is_pilot(tmp_path):
    """Rows that planned certificates must not be those that certify."""
    frames_in_a_column(tmp_path)
    data = Dataset.of(str(tmp_path))
    leaf = on_dask(
        ShardTask(SpanQuestion(), data.encoding(2, encode={"data": "hex:16"})), data
    ).summarize()
    assert leaf.sizes == (267, 267, 267)
    assert leaf.pilot.n_rows == 3 * pilot_rows(267)


def rows_with_gaps(folder):
    """Three Parquet files of 100 rows each, of which every fifth lacks a value."""
    rng, kept = np.random.default_rng(8), []
    for number in range(3):
        X = rng.integers(0, 2, size=(100, 5))
        gap = np.arange(100) % 5 == 0
        columns = [pa.array(column, mask=gap if i == 1 else None) for i, column in enumerate(X.T)]
        pq.write_table(pa.table(columns, names=list("abcde")), folder / f"{number}.parquet")
        kept.append(X[~gap])
    return kept


@pytest.mark.parametrize("n_rows", [80, 81, 150, 240])
def test_first_rows_where_rows_with_missing_values_are_dropped(tmp_path, n_rows):
    parts = rows_with_gaps(tmp_path)
    rows = Dataset.of(str(tmp_path)).first(n_rows)
    encoding = rows.encoding(2, missing="drop")
    wanted = [part for part in np.split(np.concatenate(parts)[:n_rows], [80, 160]) if len(part)]
    found = distributed.ask(rows, SpanQuestion(), RULE, COINS, encoding=encoding)
    assert found.rows.read == n_rows
    assert same(found, by_hand(wanted, SpanQuestion()))
    assert len(distributed.predict(found, rows).compute()) == n_rows


def test_a_tenth_of_the_rows_without_gaps_is_pilot(tmp_path):
    """Rows that planned certificates must not be those that certify."""
    rows_with_gaps(tmp_path)
    data = Dataset.of(str(tmp_path))
    task = ShardTask(SpanQuestion(), data.encoding(2, missing="drop"))
    leaf = on_dask(task, data).summarize()
    assert leaf.sizes == (80, 80, 80)
    assert leaf.pilot.n_rows == 3 * pilot_rows(80) != 3 * pilot_rows(100)


@pytest.mark.parametrize("kind", ["parquet", "csv"])
@pytest.mark.parametrize("n_rows", [1, 300, 301, 450])
def test_so_many_first_rows_where_runs_count_once(tmp_path, kind, n_rows):
    X = np.arange(900)[:, None] >> np.arange(9, -1, -1) & 1
    parts = [np.repeat(part, 2, axis=0) for part in np.split(X, 3)]
    for number, part in enumerate(parts):
        frame = pd.DataFrame(part, columns=[f"x{i}" for i in range(10)])
        path = tmp_path / f"{number}.{kind}"
        frame.to_csv(path, index=False) if kind == "csv" else frame.to_parquet(path)
    data = Dataset.of(str(tmp_path)).first(n_rows)
    pipeline = on_dask(ShardTask(SpanQuestion(), data.encoding(2), deduplicate=True), data)
    leaf = pipeline.summarize()
    cuts = [n for n in (min(300, n_rows), max(0, n_rows - 300)) if n]
    assert leaf.sizes == tuple(cuts)
    wanted = [Flag(10).update(part) for part in np.split(X[:n_rows], np.cumsum(cuts)[:-1])]
    assert leaf.summary == merge_flags(wanted)
    assert leaf.pilot.n_rows == sum(map(pilot_rows, cuts))
    finding = pipeline.ask(leaf, RULE, COINS)
    assert pipeline.certify(finding, leaf, shown=5).rows.read == n_rows


def test_a_partition_that_changes_after_it_was_counted_is_refused(tmp_path):
    frame = pd.DataFrame({"a": [0, 1] * 50, "b": [1, 0] * 50})
    for name in ("s", "t"):
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    data = Dataset.of(str(tmp_path)).first(180)
    chosen = on_dask(ShardTask(SpanQuestion(), data.encoding(2)), data)
    frame[:70].to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(InputError, match=r"t.csv: it had 80 rows, and has 70 now"):
        chosen.summarize()


def test_rows_of_one_partition_are_counted_as_they_are_read(tmp_path):
    pd.DataFrame({"a": [0, 1] * 50, "b": [1, 0] * 50}).to_csv(tmp_path / "t.csv", index=False)
    data = Dataset.of(str(tmp_path / "t.csv")).first(101)
    chosen = on_dask(ShardTask(SpanQuestion(), data.encoding(2)), data)
    with pytest.raises(InputError, match=r"max_rows=101 asks for more rows than there are \(100\)"):
        chosen.summarize()


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.integers(1, 60), min_size=1, max_size=9),
    st.integers(0, 2**32 - 1),
)
def test_any_cut_equals_the_merged_flags(sizes, seed):
    random = np.random.RandomState(seed)
    parts = [random.randint(0, 2, size=(n, 4)) for n in sizes]
    X = da.from_array(np.concatenate(parts), chunks=(tuple(sizes), 4))
    flag = distributed.summarize(X, SpanQuestion())
    assert flag == merge_flags([Flag(4).update(part) for part in parts])
