"""Child processes: what they say, and how to have them slow enough to be stopped in time."""

#: A program for ``python -c``: the command line, with checkpoints that take a while to be saved.
SLOWLY = """
import time
from flagstone.cli import longrun, main
save = longrun.LongRun.save
def slowly(self, state, **more):
    save(self, state, **more)
    time.sleep(0.02)
longrun.LongRun.save = slowly
main()
"""
NOTICE = "flagstone: compiling kernels "


def heard(err: str) -> str:
    """Return what was said but the notice that a first run waits for a compiler.

    Who is the first to need a kernel depends on the tests that ran before, and on their processes.
    """
    return "".join(line for line in err.splitlines(keepends=True) if not line.startswith(NOTICE))
