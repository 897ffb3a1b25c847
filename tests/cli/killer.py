"""A warm process that forks runs of the command line and kills them; used by test_checkpoint.

Importing and compiling happens once, here; every fork starts in milliseconds, so that dozens of
kills at random moments, and at chosen moments in the middle of a write, cost seconds.

    python killer.py FOLDER COMMAND...      (kills until satisfied, prints a JSON record)
"""

import hashlib
import json
import os
import random
import signal
import sys
import time
from pathlib import Path

from flagstone.cli import main
from flagstone.errors import InputError
from flagstone.store import read_document

RANDOM_KILLS = 12
RESUMED = 6
OUTPUTS = ("m.json", "r.html", "p.svg")


def fork(words: list[str], before: object = None) -> int:
    """Start the command line in a forked child; return its process id."""
    pid = os.fork()
    if pid:
        return pid
    log = os.open("log.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(log, 1)
    os.dup2(log, 2)
    code = 70
    try:
        if callable(before):
            before()
        main(words)
    except SystemExit as stop:
        code = int(stop.code or 0)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def wait(pid: int) -> int:
    """Return the exit code of a child, negative if a signal ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def at_write(moment: str, number: int) -> object:
    """Return a preparation that kills the process in the middle of its number-th write."""

    def prepare() -> None:
        count = [0]
        fsync, replace = os.fsync, Path.replace

        def dying_fsync(handle: int) -> None:
            count[0] += 1
            if count[0] == number and moment == "half":
                os.ftruncate(handle, os.fstat(handle).st_size // 2)
                die()
            fsync(handle)
            if count[0] == number and moment == "synced":
                die()

        def dying_replace(self: Path, target: Path) -> Path:
            result = replace(self, target)
            if count[0] >= number and moment == "renamed":
                die()
            return result

        os.fsync = dying_fsync  # type: ignore[assignment]
        Path.replace = dying_replace  # type: ignore[method-assign, assignment]

    return prepare


def digests() -> dict[str, str]:
    """Return the hashes of the outputs that exist."""
    found = {name: Path(name) for name in OUTPUTS if Path(name).exists()}
    return {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in found.items()}


def rows_kept() -> int:
    """Return the rows in the checkpoint, 0 without one; it is never half written."""
    try:
        return int(read_document("c.ckpt")[1]["rows"])
    except InputError:  # no such file; a damaged one is a FormatError
        return 0


def has_ended(pid: int) -> bool:
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def clean() -> None:
    for name in (*OUTPUTS, "c.ckpt"):
        Path(name).unlink(missing_ok=True)


def undisturbed(words: list[str]) -> tuple[dict[str, str], float]:
    """Return the outputs of a run that is not killed, and its seconds."""
    begin = time.monotonic()
    assert wait(fork(words)) == 0, Path("log.txt").read_text()
    spent = time.monotonic() - begin
    outputs = digests()
    assert sorted(outputs) == sorted(OUTPUTS)
    clean()
    return outputs, spent


def run(words: list[str]) -> dict[str, object]:
    reference, _ = undisturbed(words)  # may compile, so its time says nothing
    again, spent = undisturbed(words)
    assert again == reference
    dice = random.Random(2026)
    kills = completed = resumed = half_written = 0
    moments = [at_write(m, n) for m in ("half", "synced", "renamed") for n in (1, 2, 5, 20)]
    while moments:
        # Chance may let kills hit early or late: go on until enough of them were resumed from.
        random_phase = kills < RANDOM_KILLS or resumed < RESUMED
        assert kills < 20 * RANDOM_KILLS, "kills, but hardly a resumed run"
        chosen = None if random_phase else moments.pop(0)
        before = rows_kept()
        pid = fork(words, chosen)
        if chosen is None:
            pause = dice.uniform(0, spent)
            if kills % 2:  # every other run is let on until it has come further
                while rows_kept() <= before and not has_ended(pid):
                    time.sleep(0.001)
                pause /= 10
            time.sleep(pause)
            os.kill(pid, signal.SIGKILL)
        code = wait(pid)
        resumed += before > 0 and (code == 0 or rows_kept() > before)
        found = digests()
        assert all(reference[name] == digest for name, digest in found.items()), "half an output"
        for left in Path().glob(".flagstone-*.tmp"):  # nothing else may remove it
            left.unlink()
            half_written += 1
        if code == -signal.SIGKILL:
            kills += 1
            if found and not Path("c.ckpt").exists():  # killed after everything was done
                assert found == reference
                clean()
        else:
            log = Path("log.txt").read_text()
            assert code == 0, log
            assert ("resuming after" in log) == (before > 0), log
            completed += 1
            assert found == reference
            clean()
            if chosen is not None:
                kills += 1  # the write to die in never came: fewer writes were left
    final = wait(fork(words))
    assert final == 0, Path("log.txt").read_text()
    assert digests() == reference
    assert not Path("c.ckpt").exists()
    left = [path.name for path in Path().glob(".*")]
    return {
        "kills": kills,
        "completed": completed,
        "resumed": resumed,
        "half_written": half_written,
        "left": left,
        "seconds": spent,
    }


if __name__ == "__main__":
    os.chdir(sys.argv[1])
    from flagstone import Flag

    Flag(34).update([[1] * 34])  # the kernel is loaded once, for all children
    print(json.dumps(run(sys.argv[2:])))
