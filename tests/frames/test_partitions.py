"""Frames in partitions: the same digests, whoever reads the rows."""

import dask.array as da
import numpy as np

from flagstone import Coins, IndexRule
from flagstone.distributed import DaskExecutor, Dataset
from flagstone.frames.digests import analyze
from flagstone.pipeline import Pipeline
from flagstone.question import ConstraintsQuestion
from flagstone.shards import ShardTask
from tests.frames.digests import oracle


def test_an_analysis_sees_the_rows_of_all_partitions():
    """Digests are named and counted as in one process; sums look at the first rows of all."""
    rng = np.random.default_rng(4)
    payload = oracle.skewed(rng, 6000, 4)
    both = np.column_stack([payload, np.bitwise_xor.reduce(payload, axis=1)])
    checks = both.astype(np.int64).sum(axis=1) & 255
    X = oracle.damaged(rng, oracle.frames(both, checks, 8), 0.01)[0]
    data = Dataset.of(da.from_array(X, chunks=(1700, -1)))
    task = ShardTask(ConstraintsQuestion(), data.encoding(2))
    pipeline = Pipeline(task, data.partitions, DaskExecutor())
    summary = pipeline.summarize()
    finding = pipeline.ask(summary, IndexRule(contamination=0.01), Coins(2026))
    alone, spread = analyze(finding.answer), analyze(finding.answer)
    alone.update(X)
    (spread,) = pipeline.second_pass(finding, summary, observers=[spread]).observers
    assert spread.to_dict() == alone.to_dict()
    assert [(d.kind, d.rows_verified) for d in spread.digests] == [("xor", 6000), ("sum", 6000)]
