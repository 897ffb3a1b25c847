"""Collect pairs until a stop rule says enough."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from flagstone.audit.intervals import check_confidence
from flagstone.audit.pairs import Outcome, run_pair
from flagstone.audit.stats import AuditStats
from flagstone.audit.store import Store, open_store
from flagstone.audit.task import Task
from flagstone.errors import InputError
from flagstone.guarantees.exact import at_least, positive
from flagstone.processes import check_jobs, held_signals, in_processes
from flagstone.progress import progress_bar

#: Pairs computed between two looks at the stop rules; surplus pairs are thrown away.
_BATCH = 32


def collect(
    *,
    tasks: Task | Sequence[Task],
    max_pairs: int = 1000,
    first_pair: int = 0,
    max_disagreements: int | None = None,
    max_width: float | None = None,
    confidence: float = 0.95,
    file: str | os.PathLike[str] | None = None,
    add: bool = False,
    n_jobs: int = 1,
    on_error: str = "count",
    progress: bool | None = None,
) -> list[AuditStats]:
    """Run pairs of each task until the first stop rule is met.

    Parameters
    ----------
    tasks : Task or sequence of Task
    max_pairs : int
        Stop after this many pairs (those in ``file`` included).
    first_pair : int
        Number of the first pair. Records of different pairs of a task add up, so a long audit can
        be shared: pairs 0 to 499 here, 500 to 999 there.
    max_disagreements : int, optional
        Stop once this many pairs disagreed.
    max_width : float, optional
        Stop once the anytime interval of the disagreement rate is at most this wide. (Of
        integrated values it is looked at after each of the first 32 pairs, then after every
        1/16 more.)
    confidence : float
        Of that interval.
    file : path, optional
        Append-only result file. Pairs it already holds are not computed again, so an interrupted
        collection continues where it stopped. (The first Ctrl-C waits for the pair at work, or,
        in several processes, for the batch; a second one does not.)
    add : bool
        Allow tasks that an existing file does not know yet.
    n_jobs : int
        Processes. The result does not depend on it: every random stream is a function of the task
        and the number of the pair, and stop rules are applied pair by pair, in order.
    on_error : {"count", "raise"}
        What to do with an exception from an estimator.
    progress : bool, optional
        Show a bar; by default on a terminal.

    Returns
    -------
    list of AuditStats
        In the order of the tasks.

    Notes
    -----
    **Guarantees**

    The same task gives the same counts, whatever ``n_jobs``, interruptions and resumptions. The
    anytime interval and every verdict stay valid under all stop rules, and when a collection is
    continued because of what it showed. Clopper–Pearson intervals do not: use them only if
    ``max_pairs`` was fixed beforehand and was the rule that stopped.

    Examples
    --------
    >>> from flagstone import LinearSpan
    >>> from flagstone.audit import Task, collect
    >>> from flagstone.distributions import uniform
    >>> task = Task(LinearSpan(t_max=3), uniform(4), m=100)
    >>> [stats] = collect(tasks=task, max_pairs=20)
    >>> stats.pairs, stats.agreements  # uniform rows always span everything
    (20, 20)
    """
    wanted = [tasks] if isinstance(tasks, Task) else list(tasks)
    if not wanted or not all(isinstance(task, Task) for task in wanted):
        raise InputError("tasks must be a Task or a non-empty sequence of them")
    if len({task.strong_id for task in wanted}) < len(wanted):
        raise InputError("two of the tasks are the same (same strong_id); give each once")
    positive("max_pairs", max_pairs)
    at_least("first_pair", first_pair, 0)
    if max_disagreements is not None:
        positive("max_disagreements", max_disagreements)
    if max_width is not None and not 0 < max_width <= 1:
        raise InputError(f"max_width must lie in (0, 1], got {max_width}")
    check_jobs(n_jobs)
    if on_error not in {"count", "raise"}:
        raise InputError(f"on_error must be 'count' or 'raise', got {on_error!r}")
    check_confidence(confidence)

    def enough(stats: AuditStats) -> bool:
        if stats.pairs >= max_pairs:
            return True
        if max_disagreements is not None and stats.disagreements >= max_disagreements:
            return True
        if max_width is None or stats.answered == 0 or not _worth_a_look(stats):
            return False
        low, high = stats.interval(confidence)
        return high - low <= max_width

    results = []
    with open_store(file, wanted, add) as store:
        for task in wanted:
            stats, known = AuditStats(task.strong_id), store.done(task)
            while (number := first_pair + stats.pairs) in known and not enough(stats):
                stats = known[number].after(stats, number)
            with progress_bar(task.name, progress) as show:
                while not enough(stats):
                    show(stats.pairs / max_pairs, f"{stats.pairs}/{max_pairs}")
                    first = first_pair + stats.pairs
                    batch = range(first, min(first + _BATCH, first_pair + max_pairs))
                    stats = _run_batch(task, batch, on_error, n_jobs, stats, enough, store)
            results.append(stats)
    return results


def _run_batch(
    task: Task,
    batch: range,
    on_error: str,
    n_jobs: int,
    stats: AuditStats,
    enough: Callable[[AuditStats], bool],
    store: Store,
) -> AuditStats:
    """Run some pairs, file them, and return the record with them."""
    kept: list[Outcome] = []
    # An interrupt that struck inside an estimator might be taken for an error of its own.
    with held_signals() as held:
        try:
            outcomes = in_processes(run_pair, [(task, pair, on_error) for pair in batch], n_jobs)
            for outcome in outcomes if n_jobs == 1 else list(outcomes):
                kept.append(outcome)
                stats = outcome.after(stats, batch[len(kept) - 1])
                # several processes have run the whole batch by now: nothing of it is thrown away
                if (held.number is not None and n_jobs == 1) or enough(stats):
                    break
        finally:  # an interrupt loses the pair at work, no other
            store.record(task, batch.start, kept)
    return stats


def _worth_a_look(stats: AuditStats) -> bool:
    """Whether the interval of integrated values, which takes some time, is due again."""
    step = 1 << max(0, stats.pairs.bit_length() - 5)
    return not stats.is_integrated or stats.pairs % step == 0
