"""Past one machine: the same pipeline over rows in partitions, on Dask.

Rows in thousands of files, in Dask arrays or in Dask frames are summarized where they are stored.
The summaries merge along a fixed tree, and the last one is asked. Same partitions, same answer,
same fingerprint, also if workers die.

>>> import dask.array as da
>>> from flagstone import LinearSpan, distributed
>>> X = da.random.RandomState(1).randint(0, 2, size=(6000, 4), chunks=2000)
>>> X = da.concatenate([X, (X[:, 0] ^ X[:, 3])[:, None]], axis=1)
>>> print(distributed.fit(LinearSpan(random_state=7), X).formula_)
x0 ⊕ x3 ⊕ x4 = 0
"""

from flagstone.errors import MissingDependencyError

try:
    import distributed  # noqa: F401
except ImportError as error:
    raise MissingDependencyError(
        "several processes, clusters and Dask collections need Dask; install it with: "
        "pip install 'flagstone[dask]'"
    ) from error

from flagstone.distributed.clusters import local_workers, running_cluster
from flagstone.distributed.executor import ClusterError, DaskExecutor
from flagstone.distributed.interface import ask, check, fit, predict, summarize
from flagstone.tables.partitions import PARTITION_BYTES, Dataset, Partition

__all__ = [
    "PARTITION_BYTES",
    "ClusterError",
    "DaskExecutor",
    "Dataset",
    "Partition",
    "ask",
    "check",
    "fit",
    "local_workers",
    "predict",
    "running_cluster",
    "summarize",
]
