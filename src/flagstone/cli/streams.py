"""Standard streams that are closed when the command starts (``2>&-``).

Imports nothing heavy: it comes before anything else is loaded. A closed stream is opened again on
nothing, because the next file that is opened would get its number, and with it all that is said.
"""

from __future__ import annotations

import errno
import io
import os
import sys


class Closed(io.TextIOBase):
    """Standard output that is closed: whatever is written to it is an error."""

    encoding = "utf-8"

    def write(self, text: str) -> int:
        """Refuse to write."""
        raise OSError(errno.EBADF, "standard output is closed, so nothing can be printed there")

    def fileno(self) -> int:
        """Return the number of standard output."""
        return 1


def reopen_closed() -> None:
    """Open closed standard streams on nothing: what is read or printed there is an error.

    What is said on standard error is lost: whoever closed it does not want to hear it.
    """
    for number, flags in ((0, os.O_WRONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            opened = os.open(os.devnull, flags)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            os.set_inheritable(number, True)
    if sys.stdout is None:
        sys.stdout = Closed()
    if sys.stderr is None:
        raw = io.FileIO(2, "w", closefd=False)
        sys.stderr = io.TextIOWrapper(io.BufferedWriter(raw), "utf-8", "replace")
