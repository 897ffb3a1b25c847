"""Who works on the partitions: a Dask cluster, or this process; the same tree of tasks for both."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from flagstone._version import __version__
from flagstone.certification import planned
from flagstone.digests import SAMPLE, Survey
from flagstone.distributed import tasks
from flagstone.distributed.dataset import Dataset, need_dask
from flagstone.distributed.store import LeafStore
from flagstone.distributed.tasks import Job, Leaf, Seen
from flagstone.errors import FlagstoneError, InputError
from flagstone.finding import Finding
from flagstone.flag import merge_tree
from flagstone.measurement import Measurement

Told = Callable[[int, int], object]


class ClusterError(FlagstoneError, RuntimeError):
    """The cluster, not the data, is why there is no answer; the message says what to do."""


class Crew:
    """Runs tasks over partitions, and merges what they return by the fixed tree.

    Parameters
    ----------
    client : distributed.Client, optional
        Whose cluster does the work. Without one, the client that is active in this process, if
        there is one, or the scheduler that Dask is configured for; else threads of this process
        where kernels release the interpreter's lock, which those of QQ do not.
    told : callable, optional
        Called after every partition with how many are done, and how many there are.
    """

    def __init__(self, client: Any = None, told: Told | None = None) -> None:
        self._dask = need_dask()
        self.told = told or (lambda done, total: None)
        if client is None and self._dask.config.get("scheduler", None) == "dask.distributed":
            from distributed import default_client

            client = default_client()
        self.client = client
        if client is not None:
            _check_versions(client)

    def summarize(self, data: Dataset, job: Job, store: LeafStore | None = None) -> Leaf:
        """Read every partition that is not in the store, and merge all leaves."""
        kept = store or LeafStore("")
        shared = self._shared(job)
        leaves = [
            self._task(tasks.read_rows, shared, part.name, part.rows, part.label, part.limit)
            if number not in kept.leaves
            else self._shared(kept.leaves[number])
            for number, part in enumerate(data.partitions)
        ]
        known = dict(kept.leaves)
        found: Leaf = self._root(leaves, Leaf.merge, job, known, kept.keep)
        if not sum(found.sizes):
            raise InputError(f"{data.partitions[0].name}: none of the partitions holds a row")
        return found

    def look_again(
        self, data: Dataset, job: Job, finding: Finding, leaf: Leaf, confidence: float, shown: int
    ) -> Finding:
        """Read all rows a second time: certify, and count what does not fit."""
        seen = self.second_look(data, job, finding, leaf, confidence, shown)
        return seen.certified(finding, confidence, leaf.sizes)

    def second_look(
        self,
        data: Dataset,
        job: Job,
        finding: Finding,
        leaf: Leaf,
        confidence: float,
        shown: int,
        survey: Survey | None = None,
    ) -> Seen:
        """Return what a second reading shows, to a survey of frames, too."""
        if survey is not None:
            survey.look_for_sums(self._first_rows(data, job, leaf.sizes, SAMPLE))
        certifier = None
        if leaf.pilot is not None:
            certifier = planned(finding, leaf.pilot, confidence)
        flag = None if finding.spaces is None else finding.flag  # rows are counted by its levels
        found = replace(_slim(finding), flag=flag)
        shared = [self._shared(value) for value in (job, found, certifier, survey)]
        looks = [
            self._task(tasks.look_again, *shared, part.name, part.rows, part.label, n, shown)
            for part, n in zip(data.partitions, leaf.sizes, strict=True)
        ]
        seen: Seen = self._root(looks, Seen.merge, job)
        return seen

    def _first_rows(self, data: Dataset, job: Job, sizes: Sequence[int], n_rows: int) -> Any:
        """Return the features of the first rows of all partitions together."""
        heads, left, shared = [], n_rows, self._shared(job)
        for part, size in zip(data.partitions, sizes, strict=True):
            if left > 0:
                given = (shared, part.name, part.rows, part.label, min(size, left))
                heads.append(self._task(tasks.head, *given))
                left -= size
        told, self.told = self.told, lambda done, total: None
        rows = self._root(heads, lambda a, b: np.concatenate([a, b]), job)
        self.told = told
        return rows

    def check(self, data: Dataset, finding: Finding, shown: int) -> tuple[Measurement, Any]:
        """Count the rows that break a finding and, without a label, each of its equations."""
        job = Job(finding.question, finding.encoding)
        shared = [self._shared(job), self._shared(_slim(finding))]
        parts = [
            self._task(tasks.check_rows, *shared, part.name, part.rows, part.label, shown)
            for part in data.partitions
        ]

        def merge(a: Any, b: Any) -> Any:
            counted = a[0] + b[0]
            return counted.first(shown), None if a[1] is None else a[1] + b[1]

        counted, broken = self._root(parts, merge, job)
        if not counted.read:
            raise InputError(f"{data.partitions[0].name}: none of the partitions holds a row")
        return counted, broken

    def predict(self, data: Dataset, finding: Finding) -> list[Any]:
        """Return the predictions of each partition, still to be computed: Dask's delayed values."""
        job = Job(finding.question, finding.encoding.without_label())
        shared = [self._shared(job), self._shared(_slim(finding))]
        return [
            self._task(tasks.predict_rows, *shared, part.name, part.rows)
            for part in data.partitions
        ]

    def in_order(self, parts: Sequence[Any]) -> Iterator[Any]:
        """Yield the values of delayed parts in their order, a few ahead at a time."""
        if self.client is None:
            for number, part in enumerate(parts):
                (value,) = self._locally([part], True, lambda key, value: None)
                self.told(number + 1, len(parts))
                yield value
            return
        ahead = 2 * max(1, len(self.client.scheduler_info()["workers"]))
        with self._watched(parts):
            waiting = [self.client.compute(part) for part in parts[:ahead]]
            for number in range(len(parts)):
                value = waiting.pop(0).result()
                self.told(number + 1, len(parts))
                if number + ahead < len(parts):
                    waiting.append(self.client.compute(parts[number + ahead]))
                yield value

    def _shared(self, value: Any) -> Any:
        """One value for many tasks: it travels to each worker once."""
        name = f"flagstone-{type(value).__name__.lower()}-{uuid.uuid4().hex}"
        return self._dask.delayed(value, name=name, traverse=False)

    def _task(self, function: Callable[..., Any], *given: Any) -> Any:
        # a name of its own for every run: results that a cluster still holds are not mistaken
        name = f"{function.__name__}-{uuid.uuid4().hex}"
        wrapped = self._dask.delayed(function, pure=False, traverse=False)
        return wrapped(*given, dask_key_name=name)

    def _root(
        self,
        parts: list[Any],
        merge: Callable[[Any, Any], Any],
        job: Job,
        known: dict[int, Any] | None = None,
        keep: Callable[[int, Any], None] | None = None,
    ) -> Any:
        """Compute the parts and merge them by the tree; ``keep`` is handed each part once."""
        numbers = {part.key: number for number, part in enumerate(parts)}
        left = set(numbers.values()) - set(known or ())
        merged = self._dask.delayed(merge, pure=False, traverse=False)
        root = merge_tree(
            parts, lambda a, b: merged(a, b, dask_key_name=f"merge-{uuid.uuid4().hex}")
        )

        def done(key: Any, value: Callable[[], Any]) -> None:
            number = numbers.get(key)
            if number in left:
                left.discard(number)
                if keep is not None:
                    keep(number, value())
                self.told(len(parts) - len(left), len(parts))

        if self.client is None:
            threaded = job.encoding.field.order is not None
            return self._locally([root], threaded, lambda key, value: done(key, lambda: value))[0]
        from distributed import as_completed

        with self._watched(parts):
            first = self.client.compute([part for part in parts if numbers[part.key] in left])
            last = self.client.compute(root)
            for future in as_completed(first, loop=self.client.loop):
                done(future.key, future.result)
            del first  # from here on workers keep only what is still to be merged
            return last.result()

    def _locally(self, roots: list[Any], threaded: bool, done: Callable[..., None]) -> Any:
        from dask.callbacks import Callback

        scheduler = self._dask.config.get("scheduler", "threads" if threaded else "synchronous")
        with Callback(posttask=lambda key, value, *_: done(key, value)):
            return self._dask.compute(*roots, scheduler=scheduler)

    @contextlib.contextmanager
    def _watched(self, parts: Sequence[Any]) -> Iterator[None]:
        """Say in our words what becomes of a cluster that is lost."""
        from distributed.comm.core import CommClosedError

        from distributed import KilledWorker

        address = self.client.scheduler.address if self.client.scheduler else "the cluster"
        try:
            yield
        except KilledWorker as error:
            raise ClusterError(
                f"{address}: workers died again and again over one task ({error.task}); a "
                "partition may need more memory than a worker has"
            ) from error
        except FlagstoneError:
            raise
        except Exception as error:
            lost = isinstance(error, (CommClosedError, TimeoutError, OSError))
            if lost or "ancelled" in type(error).__name__ or self.client.status != "running":
                raise ClusterError(
                    f"{address}: the cluster went away before the work was done; with a "
                    "checkpoint, the same run goes on where it was"
                ) from error
            raise


def _slim(finding: Finding) -> Finding:
    """Without what tasks do not need."""
    return replace(finding, flag=None, provenance={})


def _version() -> str:
    return __version__


def _check_versions(client: Any) -> None:
    """Refuse workers without this very version of flagstone, by their addresses."""
    for worker, found in sorted(client.run(_version, on_error="return").items()):
        if isinstance(found, OSError):
            continue  # it has just died; who comes in its place is asked by the tasks themselves
        if isinstance(found, Exception):
            raise ClusterError(f"worker {worker} cannot load flagstone ({found}); install it there")
        if found != __version__:
            raise ClusterError(
                f"worker {worker} has flagstone {found}, but {__version__} asks; install one "
                "version everywhere"
            )
