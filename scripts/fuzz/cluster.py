"""``--cluster`` at an address where no cluster is: one sentence that names it, in 20 seconds."""

from __future__ import annotations

import contextlib
import random
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from scripts.fuzz.command import Fault, judge
from scripts.fuzz.ledgers import put_parts
from scripts.fuzz.stock import Stock
from scripts.fuzz.trial import Trial

__all__ = ["WrongCluster"]

SECONDS = 20
SLACK = 15  #: for the start of the interpreter, on a machine with other work
#: What answers there, by name: bytes to greet with, and whether the connection stays open.
GREETINGS = {
    "an SSH server": (b"SSH-2.0-OpenSSH_9.6\r\n", True),
    "a web server": (b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", False),
    "a mail server": (b"220 mail.example ESMTP\r\n", True),
    "64 bytes of 0xff": (b"\xff" * 64, True),
    "64 bytes of 0": (b"\0" * 64, True),
    "a large announcement": (b"\1" + b"\0" * 7 + b"\xff\xff\xff\xff\0\0\0\0", True),
    "a silent listener": (b"", True),
    "a listener that hangs up": (b"", False),
}
SCHEDULER, NOTHING, RANDOM = "a scheduler without workers", "nothing", "random bytes"
COMMANDS = [["constraints", "parts"], ["summarize", "parts", "-o", "s.flag"]]
COMMANDS += [["check", "good.json", "parts"], ["learn", "parts", "-l", "f", "--json"]]


class WrongCluster(Trial):
    """A command that is pointed at something else than a cluster with workers."""

    def __init__(self, dice: random.Random, stock: Stock) -> None:
        self.what = dice.choice([*GREETINGS, SCHEDULER, NOTHING, RANDOM])
        greeting, stays = GREETINGS.get(self.what, (dice.randbytes(dice.randrange(1, 200)), True))
        self._greeting, self._stays = greeting, stays
        self._words = dice.choice(COMMANDS)
        self._stock, self.counts = stock, Counter()

    def run(self, folder: Path) -> None:
        put_parts(folder, self._stock)
        (folder / "good.json").write_bytes(self._stock.files["constraints.json"])
        with self._listening() as port:
            address = f"tcp://127.0.0.1:{port}"
            words = [*self._words, "--cluster", address]
            self.counts["commands"] += 1
            ran = self._stock.program.run(words, folder, seconds=SECONDS + SLACK)
        judge(ran)
        if ran.code != 1 or address not in ran.err or len(ran.err.splitlines()) != 1:
            raise Fault("message", f"no sentence that names {address} ({self.what}): {ran}")

    @contextlib.contextmanager
    def _listening(self) -> Iterator[int]:
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            port = listener.getsockname()[1]
            if self.what in (NOTHING, SCHEDULER):
                listener.close()
                with _scheduler(port) if self.what == SCHEDULER else contextlib.nullcontext():
                    yield port
                return
            listener.listen()
            thread = threading.Thread(target=self._greet, args=(listener,))
            thread.start()
            try:
                yield port
            finally:
                listener.shutdown(socket.SHUT_RDWR)
                thread.join()

    def _greet(self, listener: socket.socket) -> None:
        with contextlib.ExitStack() as open_ones, contextlib.suppress(OSError):
            while True:
                connection, _ = listener.accept()
                with contextlib.suppress(OSError):
                    connection.sendall(self._greeting)
                if self._stays:
                    open_ones.enter_context(connection)
                else:
                    connection.close()


@contextlib.contextmanager
def _scheduler(port: int) -> Iterator[None]:
    """Run a scheduler of Dask that no worker joins."""
    words = ["-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", str(port)]
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(
            [sys.executable, *words, "--no-dashboard"],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            for _ in range(600):
                with contextlib.suppress(OSError):
                    socket.create_connection(("127.0.0.1", port), 1).close()
                    break
                time.sleep(0.1)
            yield
        finally:
            process.kill()
            process.wait()
