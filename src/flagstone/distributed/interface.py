"""The pipeline over rows in partitions, for Dask collections and for files."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from flagstone.algebra import FieldLike, Flag
from flagstone.checkpoints import digest_of, open_checkpoint
from flagstone.coins import Coins, fresh_seed
from flagstone.distributed.executor import DaskExecutor
from flagstone.encoding import Encoding, Levels
from flagstone.errors import InputError, Parameter
from flagstone.finding import Finding
from flagstone.guarantees.promise import CONFIDENCE
from flagstone.measurement import Measurement
from flagstone.pipeline import Pipeline
from flagstone.question import Question
from flagstone.rules import SpanRule
from flagstone.shards import ShardTask, predict_shard, predict_task
from flagstone.tables.partitions import Dataset

E = TypeVar("E")


def ask(
    source: Any,
    question: Question,
    rule: SpanRule,
    coins: Coins,
    *,
    label: Any = None,
    field: FieldLike = 2,
    columns: Sequence[str] | None = None,
    encode: Mapping[str, str] | str | None = None,
    encoding: Encoding | None = None,
    client: Any = None,
    partition: str | int = "files",
    certify: bool = True,
    confidence: float = CONFIDENCE,
    max_misfits: int = 5,
    checkpoint: str | Path | None = None,
    seed_is_fresh: bool = False,
    **reading: Any,
) -> Finding:
    """Answer a question about rows in partitions, wherever they are.

    Parameters
    ----------
    source : path or URI, list of them, Dask array, Dask frame, or Dataset
        Parquet, Arrow, CSV, JSON lines, NumPy, frames of bits; see `Dataset.of`.
    question, rule, coins
        As of :func:`flagstone.ask`.
    label : str, or Dask array or series
        For questions with a label: its column, or the labels beside the rows.
    field, columns, encode
        How columns become rows over a field, as of :meth:`flagstone.tables.Table.encoding`;
        ``encoding`` says all of it at once.
    client : distributed.Client, optional
        See `DaskExecutor`. None is made here.
    partition : "none", "files" or int
        How files are cut, which is part of the question: see `Dataset.of`.
    certify : bool
        Read the rows a second time, to certify the answer and to count what does not fit.
    confidence, max_misfits
        Of what is certified; how many rows that do not fit are listed.
    checkpoint : path, optional
        Keep finished partitions here until the answer is found; for files.
    **reading
        How files are read, as of :func:`flagstone.tables.open_table`; ``degree``, up to which
        products of columns are used.

    Notes
    -----
    **Guarantees**

    A function of the rows, of how they are cut into partitions, and of the parameters; never of
    workers, threads, order of completion or failures. Equal to writing the flag of each partition
    with ``flagstone summarize``, merging them with ``flagstone merge`` and asking that flag. Of R
    partitions the proven bounds lose a factor R; what is certified from the rows does not (S34),
    as long as a partition is longer than the pieces of rows that certify.

    Examples
    --------
    >>> import dask.array as da
    >>> from flagstone import Coins, IndexRule, distributed
    >>> from flagstone.question import SpanQuestion
    >>> X = da.random.RandomState(1).randint(0, 2, size=(6000, 4), chunks=2000)
    >>> X = da.concatenate([X, X[:, :1]], axis=1)
    >>> rule = IndexRule(t_min=0.05, t_max=0.15)
    >>> finding = distributed.ask(X, SpanQuestion(), rule, Coins(7))
    >>> promises = finding.promises
    >>> print(finding.answer, promises.setup.n_shards, promises.certified.rho < 0.01)
    x0 ⊕ x4 = 0 3 True
    """
    data, pipeline = _prepared(
        source,
        question,
        client,
        pilot=certify,
        label=label,
        field=field,
        columns=columns,
        encode=encode,
        encoding=encoding,
        partition=partition,
        **reading,
    )
    used, task = rule.n_rows(coins), pipeline.task
    if used is not None:
        _check_drawn_rows(data, seed_is_fresh and checkpoint is not None)
    pipeline, encoding = pipeline.first(data.max_rows if used is None else used), task.encoding
    known = data.identity(pipeline.shards) if checkpoint is not None else None
    identity = digest_of(known, question.to_dict(), encoding.to_dict(), certify)
    with open_checkpoint(
        checkpoint,
        identity,
        coins.seed,
        task,
        len(pipeline.shards),
        seed_is_fresh=seed_is_fresh,
    ) as kept:
        summary = pipeline.summarize(None if checkpoint is None else kept)
        coins = Coins(kept.seed)
        notes = {"partition": data.cut, **summary.notes(encoding)}
        finding = pipeline.ask(summary, rule, coins, seed_is_fresh=seed_is_fresh, provenance=notes)
        if certify:
            finding = pipeline.certify(finding, summary, confidence=confidence, shown=max_misfits)
        kept.finish()
    return finding


def _check_drawn_rows(data: Dataset, resumes_with_another_seed: bool) -> None:
    """Refuse what does not go with a number of rows that is drawn by the coins."""
    drawn = Parameter("draw_rows")
    if len(data.partitions) > 1:
        raise InputError(drawn, " is for rows that are summarized together: do not cut them")
    if data.max_rows is not None:
        raise InputError(
            drawn, " decides how many rows are used: leave out ", Parameter("max_rows")
        )
    if resumes_with_another_seed:
        raise InputError(drawn, " with a checkpoint needs a seed, which decides what is read")


def _prepared(
    source: Any,
    question: Question,
    client: Any,
    *,
    pilot: bool = False,
    label: Any = None,
    encoding: Encoding | None = None,
    partition: str | int = "files",
    field: FieldLike = 2,
    columns: Sequence[str] | None = None,
    encode: Mapping[str, str] | str | None = None,
    degree: int = 1,
    **reading: Any,
) -> tuple[Dataset, Pipeline]:
    """Return rows in partitions, and the pipeline over all of them."""
    if question.labelled and label is None:
        raise InputError(Parameter("label"), f" is needed: {question.verb} asks about one")
    if not question.labelled and label is not None:
        raise InputError(Parameter("label"), f" is given, but {question.verb} asks about none")
    beside = None if isinstance(label, str) else label
    data = source
    if not isinstance(source, Dataset):
        data = Dataset.of(source, beside, partition=partition, **reading)
    if encoding is None:
        named = label if beside is None else "y"
        encoding = data.encoding(field, columns=columns, label=named, encode=encode)
        encoding = replace(encoding, degree=degree)
        encoding.monomials.check_memory()
    task = ShardTask(question, encoding, pilot=pilot)
    return data, Pipeline(task, data.partitions, DaskExecutor(client))


def summarize(
    source: Any,
    question: Question,
    *,
    client: Any = None,
    **options: Any,
) -> Flag:
    """Return the merged flag of rows in partitions; parameters as of `ask`."""
    data, pipeline = _prepared(source, question, client, **options)
    return pipeline.first(data.max_rows).summarize().summary


def fit(
    estimator: E,
    source: Any,
    y: Any = None,
    *,
    encode: Mapping[str, str] | str | None = None,
    **options: Any,
) -> E:
    """Fit an estimator on rows in partitions.

    Parameters
    ----------
    estimator : LinearSpan, AffineSpan, ParityClassifier, LinearEquations or SubspaceClassifier
        Its parameters say field, rule, seed and what to certify, and the labels (``classes``).
    source, y
        As ``source`` and ``label`` of `ask`. Labels that are no elements of the field are a column
        of a frame or a file, named by ``classes`` or by an encoder.
    encode, **options
        As of `ask`.

    Returns
    -------
    estimator
        Itself, fitted: it predicts and reports as if the rows had been here.

    Examples
    --------
    >>> import dask.array as da
    >>> from flagstone import ParityClassifier, distributed
    >>> X = da.random.RandomState(1).randint(0, 2, size=(6000, 6), chunks=3000)
    >>> rule = distributed.fit(ParityClassifier(random_state=7), X, X[:, 1] ^ X[:, 4])
    >>> rule.formula_
    'y = x1 ⊕ x4'
    """
    learner: Any = estimator
    question, rule, seed = learner.asks()
    wanted = {"*": encode} if isinstance(encode, str) else dict(encode or {})
    classes = getattr(learner, "classes", None)
    if isinstance(y, str) and classes is not None and y not in wanted:
        listed = Levels(y, tuple(str(value) for value in classes))
        wanted = {y: listed.text, **wanted}
    if isinstance(learner.certify, bool):
        options.setdefault("certify", learner.certify)
    else:
        options.setdefault("confidence", learner.certify)
    finding = ask(
        source,
        question,
        rule,
        Coins(fresh_seed() if seed is None else seed),
        label=y,
        field=learner.field,
        encode=wanted,
        degree=getattr(learner, "degree", 1),
        seed_is_fresh=seed is None,
        **options,
    )
    return learner.adopt(finding)  # type: ignore[no-any-return]


def check(
    finding: Finding,
    source: Any,
    label: Any = None,
    *,
    client: Any = None,
    max_misfits: int = 5,
    **options: Any,
) -> Measurement:
    """Count the rows in partitions that break a finding, and say where the first ones are.

    Parameters as of `ask`.
    """
    if label is None and finding.encoding.label is not None:
        label = finding.encoding.label.column
    known = {"label": label, "encoding": finding.encoding}
    data, pipeline = _prepared(source, finding.question, client, **known, **options)
    return pipeline.first(data.max_rows).check(finding, max_misfits).counted


def predict(finding: Finding, source: Any, *, client: Any = None, **reading: Any) -> Any:
    """Return a Dask array of what a finding says about each row, computed on the workers.

    Labels or elements as texts; for findings without a label: does the row fit, 1
    or 0.
    """
    from dask import array  # takes longer to load than all the rest

    data = source if isinstance(source, Dataset) else Dataset.of(source, **reading)
    executor, task = DaskExecutor(client), predict_task(finding)
    shards = Pipeline(task, data.partitions, executor).first(data.max_rows).shards
    known = [task.known_rows(s.n_rows) if s.limit is None else s.limit for s in shards]
    sizes = [math.nan if n is None else n for n in known]
    parts = executor.delayed(partial(predict_shard, task, finding=finding), shards)
    blocks = zip(parts, sizes, strict=True)
    return array.concatenate([array.from_delayed(p, (n,), dtype=object) for p, n in blocks])
