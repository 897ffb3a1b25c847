"""The pipeline: rows → summary → rule and coins → subspace → answer; then a second pass.

`Pipeline` is the only one. Estimators, the command line, `suggest`, `certify` and Dask call it with
shards of rows and an executor, which decides where the functions of `flagstone.shards` run.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import accumulate, pairwise
from typing import Any, Protocol

import numpy as np

from flagstone.algebra import Array, FieldLike, Flag, Rows, as_field, merge_tree, width
from flagstone.certificates import pilot_rows
from flagstone.checkpoints import ShardCheckpoint
from flagstone.checks import frame_names
from flagstone.coins import Coins, fresh_seed
from flagstone.encoding import Encoding
from flagstone.errors import InputError
from flagstone.finding import Finding
from flagstone.guarantees.exact import at_least, check_share
from flagstone.guarantees.promise import CONFIDENCE
from flagstone.measurement import Measurement
from flagstone.question import Question, SpanQuestion
from flagstone.rules import DEFAULT_EPS, SpanRule, rule_named, select_span
from flagstone.second_pass import planned
from flagstone.shards import (
    MemoryShard,
    Shard,
    ShardReview,
    ShardSummary,
    ShardTask,
    check_shard,
    count_shard,
    review_shard,
    summarize_shard,
    too_few,
)


def ask(
    summary: Flag,
    question: Question,
    rule: SpanRule,
    coins: Coins,
    *,
    encoding: Encoding | None = None,
    labels: Sequence[str] | None = None,
    conditions: Sequence[str] = (),
    withheld: str | None = None,
    sorted_rows: bool = False,
    rows: Measurement | None = None,
    seed_is_fresh: bool = False,
    provenance: Mapping[str, Any] | None = None,
    warn: bool = True,
) -> Finding:
    """Answer a question from a summary of its lifted rows.

    Parameters
    ----------
    summary : Flag
        Of the rows that ``question.lift`` makes.
    question : Question
    rule : IndexRule or HeavyRule
        How the space is chosen, and what that promises.
    coins : Coins
        The published coins: they draw the threshold, and choose what V* leaves open.
    encoding : Encoding, optional
        Names of the columns, their encoders, and what labels mean; x0, x1, … otherwise.
    labels : sequence of str, optional
        The labels, where their numbers depend on which of them the sample shows; the promises
        then hold for samples that show the same ones.
    conditions : sequence of str, optional
        What else must hold, because of how the rows came to be what they are.
    withheld : str, optional
        Why nothing can be promised about fresh samples.
    sorted_rows : bool
        Whether rows were counted and then sorted by value, so that their order says nothing.
    rows : Measurement, optional
        Rows read, where more is known than their number.
    provenance : mapping, optional
        Plain values to keep beside the answer.
    warn : bool
        Whether to warn where a promise that was asked for is not proven (`ReplicabilityWarning`).

    Notes
    -----
    **Guarantees**

    A function of (summary, question, rule, coins): equal ones give equal findings. The answer is
    read off V* and the coins alone, so it is at least as replicable as V*, whose promises are
    ``finding.promises``.

    Examples
    --------
    >>> from flagstone import Coins, Flag, IndexRule, ask
    >>> from flagstone.question import ParityQuestion
    >>> flag = Flag(3).update([[1, 0, 1], [0, 1, 0]] * 50)       # rows (x0, x1, y)
    >>> finding = ask(flag, ParityQuestion(), IndexRule(t_max=10), Coins(2026))
    >>> print(finding.answer)
    y = x0
    """
    flag = summary.copy()  # rows that are added later must leave no trace in the finding
    chosen = select_span(flag, rule, coins, warn=warn)
    setup = replace(
        chosen.guarantee.setup,
        labels=None if labels is None else tuple(labels),
        sorted_rows=sorted_rows,
        conditions=tuple(conditions),
    )
    if encoding is None:
        n_features = flag.dim - question.dim(0)
        names = [f"x{i}" for i in range(n_features)]
        encoding = Encoding.plain(flag.field, names, label="y" if question.labelled else None)
    target = "y" if encoding.label is None else encoding.label.column
    answer = question.read(chosen.subspace, coins, names=encoding.names, target=target)
    measured = replace(chosen.guarantee.measured, about="" if answer.is_bottom else question.about)
    promises = replace(chosen.guarantee, setup=setup, measured=measured)
    promises = promises.with_coverage(flag.counts.tolist())
    if withheld is not None:
        promises = promises.withhold(withheld)
    return Finding(
        question,
        answer,
        encoding,
        subspace=chosen.subspace,
        flag=flag,
        rule=rule,
        promises=promises,
        seed=coins.seed,
        seed_is_fresh=seed_is_fresh,
        rows=rows or Measurement(flag.n_rows),
        provenance=dict(provenance or {}),
    )


class Executor(Protocol):
    """Computes functions of shards: `LocalExecutor` in this process, DaskExecutor elsewhere."""

    def reduce(
        self,
        function: Callable[..., Any],
        shards: Sequence[Shard],
        merge: Callable[[Any, Any], Any],
        *,
        known: Sequence[Sequence[Any]] | None = None,
        kept: ShardCheckpoint | None = None,
    ) -> Any:
        """Return ``function(shard, *known[number])`` of all shards, merged by the fixed tree.

        Results that a checkpoint has are not computed; it keeps the others.
        """

    def each(
        self, function: Callable[[Shard], Any], shards: Sequence[Shard]
    ) -> Generator[Any, None, None]:
        """Yield the results of the shards, in their order, computed as they are asked for."""


class LocalExecutor:
    """Works on one shard after the other, in this process: see `Executor`."""

    def reduce(
        self,
        function: Callable[..., Any],
        shards: Sequence[Shard],
        merge: Callable[[Any, Any], Any],
        *,
        known: Sequence[Sequence[Any]] | None = None,
        kept: ShardCheckpoint | None = None,
    ) -> Any:
        """Return the results of all shards, merged by the fixed tree."""
        results: dict[int, Any] = {} if kept is None else dict(kept.finished)
        for number, shard in enumerate(shards):
            if number not in results:
                more = () if known is None else known[number]
                results[number] = function(shard, *more)
                if kept is not None:
                    kept.keep(number, results[number])
        return merge_tree([results[number] for number in range(len(shards))], merge)

    def each(
        self, function: Callable[[Shard], Any], shards: Sequence[Shard]
    ) -> Generator[Any, None, None]:
        """Yield the results of the shards, in their order."""
        yield from map(function, shards)


@dataclass(frozen=True)
class Pipeline:
    """Summarize the rows of shards, ask, and pass over the rows again.

    Parameters
    ----------
    task : ShardTask
        The question, the encoding, and which rows count.
    shards : sequence of Shard
        Which rows belong together. They are part of the question: other shards may give another
        answer.
    executor : Executor
        Who does the work. The answer does not depend on it.

    Examples
    --------
    >>> import numpy as np
    >>> from flagstone import GF, Coins, IndexRule
    >>> from flagstone.question import SpanQuestion
    >>> from flagstone.encoding import Encoding
    >>> from flagstone.shards import MemoryShard, ShardTask
    >>> X = np.random.RandomState(1).randint(0, 2, size=(2000, 2))[:, [0, 1, 1]]
    >>> shards = [MemoryShard(GF(2).rows(X[:1000])), MemoryShard(GF(2).rows(X[1000:]))]
    >>> task = ShardTask(SpanQuestion(), Encoding.plain(GF(2), ["a", "b", "c"]))
    >>> pipeline = Pipeline(task, shards)
    >>> summary = pipeline.summarize()
    >>> finding = pipeline.ask(summary, IndexRule(t_min=20, t_max=60), Coins(7))
    >>> finding = pipeline.certify(finding, summary)
    >>> print(finding.answer, finding.rows.misfits, finding.promises.certified.rho < 0.01)
    b ⊕ c = 0 0 True
    """

    task: ShardTask
    shards: Sequence[Shard]
    executor: Executor = field(default_factory=LocalExecutor)

    @classmethod
    def of_rows(
        cls,
        question: Question,
        encoding: Encoding,
        rows: Rows,
        labels: Array | None,
        sizes: Sequence[int] | None = None,
    ) -> Pipeline:
        """Return the pipeline of rows in memory, one shard or several of these sizes."""
        if labels is not None and len(labels) != len(rows):
            raise InputError(f"X has {len(rows):,} rows, but y has {len(labels):,} labels")
        ends = np.cumsum([len(rows)] if sizes is None else sizes).tolist()
        cuts = [slice(start, end) for start, end in pairwise([0, *ends])]
        shards = [MemoryShard(rows[cut], None if labels is None else labels[cut]) for cut in cuts]
        return cls(ShardTask(question, encoding, pilot=len(shards) > 1), shards)

    def first(self, n_rows: int | None) -> Pipeline:
        """Return the pipeline of the first rows that count, this many of them; None for all.

        Where only reading shows which rows of several shards count, they are counted first, as far
        as needed. The rows of a single shard are counted when they are summarized.
        """
        if n_rows is None:
            return self
        known = [self.task.known_rows(shard.n_rows) for shard in self.shards]
        if len(known) == 1 and known[0] is None:
            return replace(self, shards=[self.shards[0].limited(n_rows, counted=False)])
        counts: Any = iter(known)
        if None in known:
            counts = self.executor.each(partial(count_shard, self.task, most=n_rows), self.shards)
        chosen, left = [], n_rows
        try:
            for shard, count in zip(self.shards, counts, strict=False):
                chosen.append(shard.limited(min(left, count)))
                left -= min(left, count)
                if not left:
                    return replace(self, shards=chosen)
        finally:
            if None in known:
                counts.close()
        raise too_few(n_rows, n_rows - left)

    def summarize(self, kept: ShardCheckpoint | None = None) -> ShardSummary:
        """Return the summary of all shards; a checkpoint has some of them, and keeps the others."""
        begun = None if kept is None else kept.begun
        summary: ShardSummary = self.executor.reduce(
            partial(summarize_shard, self.task),
            self.shards,
            ShardSummary.merge,
            known=None if begun is None else [[begun]],
            kept=kept,
        )
        if not sum(summary.sizes):
            raise InputError(f"{self.shards[0].name}: none of the partitions holds a row")
        return summary

    def ask(self, summary: ShardSummary, rule: SpanRule, coins: Coins, **more: Any) -> Finding:
        """Answer from the summary; other parameters as of `ask`."""
        rows = Measurement(sum(summary.sizes), skipped=summary.skipped)
        task = self.task
        return ask(
            summary.summary, task.question, rule, coins, encoding=task.encoding, rows=rows, **more
        )

    def second_pass(
        self,
        finding: Finding,
        summary: ShardSummary,
        *,
        confidence: float = CONFIDENCE,
        shown: int = 0,
    ) -> ShardReview:
        """Pass over the rows again: classify and count them, and certify."""
        alone = confidence if summary.pilot is None and len(self.shards) == 1 else None
        certifier = None
        if summary.pilot is not None:
            certifier = planned(finding, summary.pilot, confidence)
        flag_needed = alone is not None or finding.spaces is not None  # levels are counted by it
        review = partial(
            review_shard,
            self.task,
            finding=replace(finding, flag=finding.flag if flag_needed else None, provenance={}),
            certifier=certifier,
            shown=shown,
            alone=alone,
        )
        sizes = list(zip(summary.sizes, accumulate(summary.sizes, initial=0), strict=False))
        found: ShardReview = self.executor.reduce(
            review, self.shards, ShardReview.merge, known=sizes
        )
        return found

    def certify(
        self,
        finding: Finding,
        summary: ShardSummary,
        *,
        confidence: float = CONFIDENCE,
        shown: int = 0,
    ) -> Finding:
        """Return the finding with what a second pass certifies and counts."""
        confidence = float(check_share("confidence", confidence))  # a finding holds plain numbers
        review = self.second_pass(finding, summary, confidence=confidence, shown=shown)
        assert review.second_pass is not None
        certifier, provenance = review.second_pass.certifier, dict(finding.provenance)
        if "partitions" in provenance:
            piece = 0 if certifier is None else certifier.piece_rows
            short = sum(0 < n and n - pilot_rows(n) < piece for n in summary.sizes)
            provenance["partitions"] = {**provenance["partitions"], "short": short}
        certified = review.second_pass.certify(finding, confidence)
        return replace(certified, provenance=provenance).with_counts(review.counted)

    def check(self, finding: Finding, shown: int) -> ShardReview:
        """Count the rows that break a finding and, without a label, each of its equations."""
        small = replace(finding, flag=None, provenance={})  # shards do not need these
        check = partial(check_shard, self.task, finding=small, shown=shown)
        found: ShardReview = self.executor.reduce(check, self.shards, ShardReview.merge)
        if not found.counted.read:
            raise InputError(f"{self.shards[0].name}: none of the partitions holds a row")
        return found


def certify(
    finding: Finding,
    X: Any,
    y: Any = None,
    *,
    confidence: float = CONFIDENCE,
    shards: Sequence[int] | None = None,
    checked: bool = False,
) -> Finding:
    """Return the finding with what the rows of its fit certify and measure.

    Parameters
    ----------
    finding : Finding
    X, y : rows over the field, and their labels as elements of it
        Those passed to fit, in the same order.
    confidence : float, default 0.99
    shards : sequence of int, optional
        How many rows each shard had, if the answer is from merged flags.
    checked : bool
        Whether the caller knows already that these are the rows.

    Notes
    -----
    **Guarantees**

    A finding keeps the flag of its rows, not the rows. So rows with another flag are refused, and
    nothing else is: rows in another order may have the same flag. What is certified then holds for
    the order given here, if that order does not depend on the values of the rows. Rows that are
    reversed or shuffled are as good; sorted rows are recognised as dependent, and nothing about
    fresh samples is promised.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.RandomState(1).randint(0, 2, size=(1000, 1)) * [1, 1, 0]
    >>> finding = rep_linear_span(X, t_min=30, t_max=60, random_state=1)
    >>> certify(finding, X).promises.certified.rho < 0.001
    True
    """
    F, promises = finding.field, finding.promises
    check_share("confidence", confidence)
    sizes = None if shards is None else [at_least("shards", size, 0) for size in shards]
    rows, labels = F.rows(X), None if y is None else F.elements(y)
    if promises is not None and promises.setup.sorted_rows:
        raise InputError(
            "rows that were counted by weights cannot certify: the order in which they were drawn "
            "is not known; fit the rows themselves"
        )
    pipeline = Pipeline.of_rows(finding.question, finding.encoding, rows, labels, sizes)
    if checked and shards is None and finding.flag is not None:
        summary = ShardSummary(finding.flag, None, (len(rows),))
        return pipeline.certify(finding, summary, confidence=confidence)
    complete = sizes is None or sum(sizes) == len(rows)
    if complete and width(rows) == len(finding.encoding.names):
        summary = pipeline.summarize()
        if summary.summary == finding.flag:
            return pipeline.certify(finding, summary, confidence=confidence)
    raise InputError("certify() needs the rows passed to fit(), in the same order")


def rep_linear_span(
    X: Any,
    *,
    field: FieldLike = 2,
    rho: float | None = None,
    eps: float = DEFAULT_EPS,
    rule: str = "index",
    t_min: int | float | None = None,
    t_max: int | float | str | None = None,
    contamination: float = 0.0,
    each: bool = False,
    random_state: int | str | None = None,
) -> Finding:
    """A subspace that covers most rows, and comes out the same on a fresh sample.

    With ``rule="heavy"`` this is Algorithm 1 (RepLinearSpan) of [NST26]; the default rule needs
    far fewer rows for the same promise.

    Parameters
    ----------
    X : array of shape (n_rows, dim), data frame or BitRows
        The rows; zero rows count as rows.
    field, rho, eps, rule, t_min, t_max, contamination, random_state
        As of :class:`~flagstone.LinearSpan`.
    each : bool, default False
        Whether the coins also draw how many of the rows are used, more than half of them, so that
        every single equation is replicable with a short window (``draw_rows`` of `IndexRule`). The
        finding is then one of the first ``finding.rows.read`` rows; two samples must have as many
        rows to draw from.

    Returns
    -------
    Finding
        Its `subspace` lies in the span of the rows; its `promises` say what is proven of it.

    References
    ----------
    .. [NST26] M. Noivirt, J. Sorrell, E. Tsfadia, "Computationally Efficient Replicable Learning
       of Parities and Applications", 2026.

    Examples
    --------
    One stray row in the second sample, and still the same answer:

    >>> import numpy as np
    >>> from flagstone.pipeline import rep_linear_span
    >>> first = np.tile([[1, 1, 0], [0, 1, 1]], (200, 1))
    >>> second = first.copy()
    >>> second[17] = [1, 0, 0]
    >>> a, b = (rep_linear_span(X, t_min=2, random_state=2026) for X in (first, second))
    >>> a.subspace == b.subspace, a.subspace.basis.tolist()
    (True, [[1, 0, 1], [0, 1, 1]])
    """
    F = as_field(field)
    coins = Coins(fresh_seed() if random_state is None else random_state)
    shape = (len(X),) if isinstance(X, (list, tuple)) else getattr(X, "shape", ())
    if shape[:1] == (0,):
        raise InputError("X has no rows: a span is chosen from at least one row")
    rows = F.rows(X)
    chosen = rule_named(
        rule,
        rho=rho,
        eps=eps,
        t_min=t_min,
        t_max=t_max,
        contamination=contamination,
        draw_rows=len(rows) if each else None,
    )
    rows = rows[: chosen.n_rows(coins)]
    flag, names = Flag(width(rows), F).update(rows), frame_names(X)
    return ask(
        flag,
        SpanQuestion(),
        chosen,
        coins,
        encoding=None if names is None else Encoding.plain(F, names),
        seed_is_fresh=random_state is None,
    )
