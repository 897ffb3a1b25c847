"""The command ``flagstone``: one module per verb, loaded when it is called.

Exit codes are listed in :data:`flagstone.cli.help.EXIT_CODES`.
"""

from __future__ import annotations

from typing import NoReturn

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line, and exit with its code."""
    import gc
    import sys

    from flagstone.cli import shortage, streams

    if arguments is None:
        streams.reopen_closed()
        shortage.prepare()
    if arguments is None:  # a process of our own: loading modules leaves nothing to collect
        gc.set_threshold(200_000, *gc.get_threshold()[1:])
    from flagstone.cli.stopping import caught

    with caught(for_good=arguments is None):
        try:
            from flagstone.cli.runner import run

            code = run(sys.argv[1:] if arguments is None else arguments)
        except Exception as error:
            if not shortage.is_shortage(error):
                raise
            print(f"flagstone: error: {shortage.sentence()}", file=sys.stderr)
            code = 1
    if arguments is None:
        gc.freeze()  # at its end Python would look through all that was loaded, more than once
    sys.exit(code)
