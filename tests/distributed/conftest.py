"""Data in partitions, written once; a cluster of separate processes, started once."""

import functools
import logging

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

PARTS, ROWS, WIDTH = 6, 4000, 12


def frames(seed, n_rows=ROWS, width=WIDTH):
    """Rows with one check equation that one row in a hundred breaks."""
    random = np.random.RandomState(seed)
    X = random.randint(0, 2, size=(n_rows, width)).astype(np.uint8)
    X[:, -1] = X[:, 0] ^ X[:, 3] ^ (random.random_sample(n_rows) < 0.01)
    return X


@pytest.fixture
def patient(monkeypatch):
    """Commands wait two minutes for a scheduler: on a busy machine it answers late."""
    from flagstone import distributed

    patience = functools.partial(distributed.running_cluster, patience=120.0)
    monkeypatch.setattr(distributed, "running_cluster", patience)


@pytest.fixture(scope="session")
def parts():
    return [frames(seed) for seed in range(PARTS)]


@pytest.fixture(scope="session")
def folder(parts, tmp_path_factory):
    """The parts as Parquet files, in row groups of a thousand rows."""
    place = tmp_path_factory.mktemp("parts")
    for number, X in enumerate(parts):
        table = pa.table({f"b{i}": X[:, i] for i in range(WIDTH)})
        parquet.write_table(table, place / f"part-{number}.parquet", row_group_size=1000)
    return place


@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    """Two workers, each a process of its own that is started again if it dies."""
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        dashboard_address="127.0.0.1:0",
        local_directory=tmp_path_factory.mktemp("dask"),
        silence_logs=logging.CRITICAL,
    ) as found:
        yield found


@pytest.fixture
def client(cluster):
    from distributed import Client

    with Client(cluster, set_as_default=False) as found:
        found.wait_for_workers(1, timeout=240)
        yield found
