"""Child processes: what they say, and how to have them slow enough to be stopped in time."""

#: A program for ``python -c``: the command line, with checkpoints that take a while to be saved.
SLOWLY = """
import time
from flagstone.cli import checkpoint, main
save = checkpoint.RunCheckpoint.save
def slowly(self, **more):
    save(self, **more)
    time.sleep(0.02)
checkpoint.RunCheckpoint.save = slowly
main()
"""
