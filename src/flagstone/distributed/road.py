"""The road over partitions: summaries merge into one, and from there on it is the same road."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from flagstone import road
from flagstone.coins import Coins, fresh_seed
from flagstone.distributed.crew import Crew
from flagstone.distributed.dataset import PARTITION_BYTES, Dataset
from flagstone.distributed.store import open_store
from flagstone.distributed.tasks import Job, Leaf
from flagstone.encoding import Encoding
from flagstone.errors import InputError, Parameter
from flagstone.fields import FieldLike
from flagstone.finding import Finding
from flagstone.flag import Flag
from flagstone.guarantees.promise import CONFIDENCE
from flagstone.histogram import Histogram
from flagstone.measurement import Measurement
from flagstone.question import Question
from flagstone.rules import SpanRule

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
    partition_size: int = PARTITION_BYTES,
    histogram: bool = False,
    certify: bool = True,
    confidence: float = CONFIDENCE,
    show_rows: int = 5,
    checkpoint: str | Path | None = None,
    seed_is_fresh: bool = False,
    **reading: Any,
) -> Finding:
    """Answer a question about rows in partitions, wherever they are and whoever reads them.

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
        See `Crew`. None is made here.
    partition_size : int
        Bytes of a partition of a Parquet file, unpacked.
    histogram : bool
        Count values instead of building flags: small domains only, and then partitions cost
        nothing.
    certify : bool
        Read the rows a second time, to certify the answer and to count what does not fit.
    confidence, show_rows
        Of what is certified; how many rows that do not fit are listed.
    checkpoint : path, optional
        Keep finished partitions here until the answer is found; for files.
    **reading
        How files are read, as of :func:`flagstone.tables.open_table`.

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
    >>> from flagstone import Coins, IndexRule, SpanQuestion, distributed
    >>> X = da.random.RandomState(1).randint(0, 2, size=(6000, 4), chunks=2000)
    >>> X = da.concatenate([X, X[:, :1]], axis=1)
    >>> rule = IndexRule(t_min=0.05, t_max=0.15)
    >>> finding = distributed.ask(X, SpanQuestion(), rule, Coins(7))
    >>> print(finding.answer, finding.promises.n_shards, finding.promises.rho_certified < 0.01)
    x0 ⊕ x4 = 0 3 True
    """
    data, encoding = _prepared(
        source,
        question,
        label=label,
        field=field,
        columns=columns,
        encode=encode,
        encoding=encoding,
        partition_size=partition_size,
        **reading,
    )
    crew = Crew(client)
    job = Job(question, encoding, histogram, pilot=certify)
    known = data.identity() if checkpoint is not None else None
    identity = digest_of(known, question.to_dict(), encoding.to_dict(), histogram, certify)
    with open_store(checkpoint, identity, coins.seed, job) as store:
        leaf = crew.summarize(data, job, store)
        finding = ask_leaf(leaf, job, rule, coins, seed_is_fresh=seed_is_fresh)
        if certify:
            finding = crew.look_again(data, job, finding, leaf, confidence, show_rows)
        store.finish()
    return finding


def digest_of(*known: Any) -> str:
    """Return an id of everything that a result depends on."""
    return hashlib.sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()


def _prepared(
    source: Any,
    question: Question,
    *,
    label: Any = None,
    encoding: Encoding | None = None,
    partition_size: int = PARTITION_BYTES,
    field: FieldLike = 2,
    columns: Sequence[str] | None = None,
    encode: Mapping[str, str] | str | None = None,
    **reading: Any,
) -> tuple[Dataset, Encoding]:
    if question.labelled and label is None:
        raise InputError(Parameter("label"), f" is needed: {question.verb} asks about one")
    if not question.labelled and label is not None:
        raise InputError(Parameter("label"), f" is given, but {question.verb} asks about none")
    beside = None if isinstance(label, str) else label
    data = source
    if not isinstance(source, Dataset):
        data = Dataset.of(source, beside, size=partition_size, **reading)
    if encoding is None:
        named = label if beside is None else "y"
        encoding = data.encoding(field, columns=columns, label=named, encode=encode)
    return data, encoding


def ask_leaf(leaf: Leaf, job: Job, rule: SpanRule, coins: Coins, **more: Any) -> Finding:
    """Ask the merged summary, and note what it was made of."""
    return road.ask(
        leaf.summary,
        job.question,
        rule,
        coins,
        encoding=job.encoding,
        rows=Measurement(sum(leaf.sizes), skipped=leaf.skipped),
        provenance=notes_of(leaf, job),
        **more,
    )


def notes_of(leaf: Leaf, job: Job) -> dict[str, Any]:
    """What is worth keeping: how many partitions there are and how long, and the labels."""
    filled = [n for n in leaf.sizes if n]
    number, empty = len(leaf.sizes), len(leaf.sizes) - len(filled)
    lengths = {"shortest": min(filled), "longest": max(filled)}
    notes: dict[str, Any] = {"partitions": {"number": number, "empty": empty, **lengths}}
    if leaf.labels is not None:
        values = sorted(leaf.labels.items())
        notes["labels"] = [[job.encoding.field.format(value), n] for value, n in values]
    return notes


def summarize(
    source: Any,
    question: Question,
    *,
    client: Any = None,
    histogram: bool = False,
    **options: Any,
) -> Flag | Histogram:
    """Return the merged flag (or histogram) of rows in partitions; parameters as of `ask`."""
    data, encoding = _prepared(source, question, **options)
    return Crew(client).summarize(data, Job(question, encoding, histogram, pilot=False)).summary


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
        Its parameters say field, rule, window, seed and confidence, and the labels (``classes``).
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
    if learner.take is not None:
        raise InputError(Parameter("take"), " is for the rows of one fit; leave it out here")
    wanted = {"*": encode} if isinstance(encode, str) else dict(encode or {})
    if learner.out_of_field == "reduce":
        wanted.setdefault("*", "mod")
    classes = getattr(learner, "classes", None)
    if isinstance(y, str) and classes is not None and y not in wanted:
        wanted = {y: "levels:" + ",".join(str(value) for value in classes), **wanted}
    if learner.confidence is not None:
        options.setdefault("confidence", learner.confidence)
    finding = ask(
        source,
        question,
        rule,
        Coins(fresh_seed() if seed is None else seed),
        label=y,
        field=learner.field,
        encode=wanted,
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
    show_rows: int = 5,
    **options: Any,
) -> Measurement:
    """Count the rows in partitions that break a finding, and say where the first of them stand.

    Parameters as of `ask`.
    """
    if label is None and finding.encoding.label is not None:
        label = finding.encoding.label.column
    known = {"label": label, "encoding": finding.encoding}
    data, _ = _prepared(source, finding.question, **known, **options)
    return Crew(client).check(data, finding, show_rows)[0]


def predict(finding: Finding, source: Any, *, client: Any = None, **reading: Any) -> Any:
    """Return a Dask array of what a finding says of each row, computed where it is asked for.

    The texts that stand for labels or elements; of findings without a label: does the row fit, 1
    or 0.
    """
    from dask import array

    data = source if isinstance(source, Dataset) else Dataset.of(source, **reading)
    parts = Crew(client).predict(data, finding)
    sizes = [math.nan if part.n_rows is None else part.n_rows for part in data.partitions]
    blocks = zip(parts, sizes, strict=True)
    return array.concatenate([array.from_delayed(p, (n,), dtype=object) for p, n in blocks])
