"""Addresses at which no cluster works: one sentence each, in time."""

import contextlib
import socket
import subprocess
import sys
import threading
import time

import pytest

from flagstone.distributed import ClusterError, running_cluster

HTTP = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"
#: What else listens on ports: what it says to a client that connects.
OTHERS = {
    "ssh": b"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n",
    "http": HTTP,
    "ones": b"\xff" * 64,
    "zeros": bytes(64),
    "one frame of 4 GiB": (1 << 32).to_bytes(8, "little"),
    "frames without end": (1 << 32).to_bytes(8, "little") + b"\x01" + bytes(40),
    "text": b"hello\n",
    "nothing": b"",
}


@contextlib.contextmanager
def listener(said, *, hang_up=False):
    """Listen, say something to everyone who connects, and give the address."""
    kept = []

    def serve():
        with contextlib.suppress(OSError):
            while True:
                connection, _ = server.accept()
                kept.append(connection)
                with contextlib.suppress(OSError):
                    connection.sendall(said)
                if hang_up:
                    connection.close()

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"tcp://127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)
    thread.join()
    for connection in kept:
        connection.close()


@pytest.mark.parametrize("hang_up", [False, True])
@pytest.mark.parametrize("what", OTHERS)
def test_what_is_no_scheduler_is_named_in_time(what, hang_up):
    with listener(OTHERS[what], hang_up=hang_up) as address:
        start = time.monotonic()
        with pytest.raises(ClusterError) as caught, running_cluster(address, 1.0):
            raise AssertionError("there is no cluster")
    assert str(caught.value).startswith(f"{address}: no scheduler answers there (")
    if what in ("ssh", "http", "ones") and not hang_up:
        assert "does not speak Dask's protocol" in str(caught.value)
    if what == "nothing" and hang_up:
        assert "what listens there closes the connection" in str(caught.value)
    assert "comm" not in str(caught.value)  # the inside of Dask
    assert "\n" not in str(caught.value)
    assert time.monotonic() - start < 15


def test_a_scheduler_without_workers_is_named_in_time(tmp_path):
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=0, processes=True, dashboard_address="127.0.0.1:0", local_directory=tmp_path
    ) as cluster:
        address = cluster.scheduler_address
        start = time.monotonic()
        with (
            pytest.raises(ClusterError, match=rf"{address}: the scheduler there has no workers"),
            running_cluster(address, 2.0),
        ):
            raise AssertionError("there are no workers")
        assert time.monotonic() - start < 20
        cluster.scale(1)  # as of a cluster that grows with its tasks
        with running_cluster(address, 120.0) as client:
            assert client.submit(sum, [1, 2]).result() == 3


def test_a_worker_is_no_scheduler(cluster):
    worker = next(iter(cluster.scheduler_info["workers"]))
    with pytest.raises(ClusterError, match="no scheduler answers there"), running_cluster(worker):
        raise AssertionError("there is no scheduler")


@pytest.mark.parametrize("what", ["ssh", "http", "ones", "nothing"])
def test_the_command_line_says_one_sentence(what, folder, tmp_path):
    with listener(OTHERS[what]) as address:
        words = ["constraints", str(folder), "--seed", "1", "--cluster", address]
        done = subprocess.run(
            [sys.executable, "-c", "from flagstone.cli import main; main()", *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
        )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"flagstone: error: {address}: no scheduler answers there (")
    assert len(done.stderr.splitlines()) == 1
