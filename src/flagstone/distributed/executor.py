"""DaskExecutor: shards are worked on by a Dask cluster, or by threads of this process."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any

from dask import config
from dask.base import compute
from dask.callbacks import Callback
from dask.delayed import delayed
from distributed.comm.core import CommClosedError

from distributed import KilledWorker, as_completed, default_client, get_worker
from flagstone._version import __version__
from flagstone.algebra import merge_tree
from flagstone.checkpoints import ShardCheckpoint
from flagstone.errors import FlagstoneError, InputError
from flagstone.shards import Shard
from flagstone.tables.partitions import Partition


class ClusterError(FlagstoneError, RuntimeError):
    """The cluster, not the data, is why there is no answer; the message says what to do."""


class DaskExecutor:
    """Runs functions on partitions, and merges what they return by the fixed tree.

    Parameters
    ----------
    client : distributed.Client, optional
        Whose cluster does the work. Without one, the client that is active in this process, if
        there is one, or the scheduler that Dask is configured for; else threads of this process.

    Attributes
    ----------
    on_progress : callable
        Called after every partition with how many are done, and how many there are.
    """

    def __init__(self, client: Any = None) -> None:
        self.on_progress: Callable[[int, int], object] = lambda done, total: None
        if client is None and config.get("scheduler", None) == "dask.distributed":
            client = default_client()
        self.client = client
        if client is not None:
            _check_versions(client)

    def reduce(
        self,
        function: Callable[..., Any],
        shards: Sequence[Shard],
        merge: Callable[[Any, Any], Any],
        *,
        known: Sequence[Sequence[Any]] | None = None,
        kept: ShardCheckpoint | None = None,
    ) -> Any:
        """Compute a function of every shard, and merge: see `flagstone.pipeline.Executor`."""
        finished = {} if kept is None else dict(kept.finished)
        parts = self.delayed(function, shards, known)
        for number, value in finished.items():
            parts[number] = self._shared(value)
        numbers = {part.key: number for number, part in enumerate(parts)}
        left = set(numbers.values()) - set(finished)
        merged = delayed(merge, pure=False, traverse=False)
        root = merge_tree(
            parts, lambda a, b: merged(a, b, dask_key_name=f"merge-{uuid.uuid4().hex}")
        )

        def done(key: Any, value: Callable[[], Any]) -> None:
            number = numbers.get(key)
            if number in left:
                left.discard(number)
                if kept is not None:
                    kept.keep(number, value())
                self.on_progress(len(parts) - len(left), len(parts))

        if self.client is None:
            return self._locally(root, lambda key, value: done(key, lambda: value))
        with self._watched():
            first = self.client.compute([part for part in parts if numbers[part.key] in left])
            last = self.client.compute(root)
            for future in as_completed(first, loop=self.client.loop):
                done(future.key, future.result)
            del first  # from here on workers keep only what is still to be merged
            return last.result()

    def each(
        self, function: Callable[[Shard], Any], shards: Sequence[Shard]
    ) -> Generator[Any, None, None]:
        """Yield the values of all shards in their order, a few of them computed ahead."""
        parts = self.delayed(function, shards)
        if self.client is None:
            for number, part in enumerate(parts):
                value = self._locally(part)
                self.on_progress(number + 1, len(parts))
                yield value
            return
        ahead = 2 * max(1, len(self.client.scheduler_info()["workers"]))
        with self._watched():
            waiting = [self.client.compute(part) for part in parts[:ahead]]
            for number in range(len(parts)):
                value = waiting.pop(0).result()
                self.on_progress(number + 1, len(parts))
                if number + ahead < len(parts):
                    waiting.append(self.client.compute(parts[number + ahead]))
                yield value

    def delayed(
        self,
        function: Callable[..., Any],
        shards: Sequence[Any],
        known: Sequence[Sequence[Any]] | None = None,
    ) -> list[Any]:
        """Return the values of all shards, still to be computed: Dask's delayed values."""
        shared = self._shared(function)
        run = delayed(_on_partition, pure=False, traverse=False)
        parts = []
        for number, shard in enumerate(shards):
            # a name of its own for every run: results that a cluster still holds are not mistaken
            name = f"partition-{uuid.uuid4().hex}"
            # rows and labels may be delayed themselves, which Dask sees in arguments only
            about = (shard.name, shard.rows, shard.label, shard.n_rows, shard.limit)
            more = () if known is None else known[number]
            parts.append(run(__version__, shared, *about, *more, dask_key_name=name))
        return parts

    def _shared(self, value: Any) -> Any:
        """One value for many tasks: it travels to each worker once."""
        name = f"flagstone-{type(value).__name__.lower()}-{uuid.uuid4().hex}"
        return delayed(value, name=name, traverse=False)

    def _locally(
        self, root: Any, done: Callable[[Any, Any], None] = lambda key, value: None
    ) -> Any:
        with Callback(posttask=lambda key, value, *_: done(key, value)):
            return compute(root, scheduler=config.get("scheduler", "threads"))[0]

    @contextlib.contextmanager
    def _watched(self) -> Iterator[None]:
        """Explain a lost cluster in one sentence."""
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


def _on_partition(
    version: str,
    function: Callable[..., Any],
    name: str,
    rows: Any,
    label: Any,
    n_rows: int | None,
    limit: int | None,
    *more: Any,
) -> Any:
    """Run a function on one partition, in whichever process this is; the caller has a version."""
    if version != __version__:
        raise InputError(
            f"worker {get_worker().address} has flagstone {__version__}, but {version} asks; "
            "install one version everywhere"
        )
    return function(Partition(name, rows, label, n_rows, limit), *more)


def worker_version() -> str:
    """Return the version of flagstone, of whichever process is asked."""
    return __version__


def _check_versions(client: Any) -> None:
    """Refuse workers without this very version of flagstone, by their addresses."""
    for worker, found in sorted(client.run(worker_version, on_error="return").items()):
        if isinstance(found, OSError):
            continue  # it has just died; who comes in its place is asked by the tasks themselves
        if isinstance(found, Exception):
            raise ClusterError(f"worker {worker} cannot load flagstone ({found}); install it there")
        if found != __version__:
            raise ClusterError(
                f"worker {worker} has flagstone {found}, but {__version__} asks; install one "
                "version everywhere"
            )
