"""Files and folders of this process that must not outlive it."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path

#: Temporary files and folders, and files of locks, that are in use now.
LEFTOVERS: set[Path] = set()


def remove_leftovers() -> None:
    """Tidy up for a process that ends at once, without the blocks that would do it."""
    for path in list(LEFTOVERS):
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            with contextlib.suppress(OSError):
                path.unlink()
        LEFTOVERS.discard(path)
