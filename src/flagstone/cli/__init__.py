"""The command ``flagstone``: one module per verb, loaded when it is called.

Exit codes are listed in :data:`flagstone.cli.help.EXIT_CODES`.
"""

from __future__ import annotations

import gc
import sys
from typing import NoReturn

from flagstone.cli import process

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line, and exit with its code."""
    own = arguments is None  # a process of our own
    if own:
        process.reopen_closed_streams()
        process.prepare_memory()
        # loading modules leaves nothing to collect
        gc.set_threshold(200_000, *gc.get_threshold()[1:])
    with process.caught_signals(for_good=own):
        try:
            from flagstone.cli.runner import run  # signals are caught while it loads

            code = run(sys.argv[1:] if arguments is None else arguments)
        except Exception as error:
            if not process.is_memory_error(error):
                raise
            print(f"flagstone: error: {process.memory_sentence()}", file=sys.stderr)
            code = 1
    if own:
        gc.freeze()  # at its end Python would look through all that was loaded, more than once
    sys.exit(code)
