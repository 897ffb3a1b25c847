"""The command ``flagstone``: one file per verb, loaded when it is called.

Exit codes: 0 ok; 1 error; 2 usage; 3 there is no answer (⊥, a contradiction,
or no direction kept); 4 a check failed, two findings differ, or
an audit says "not replicable"; 130 interrupted by Ctrl-C; 143 by SIGTERM.
"""

from __future__ import annotations

from typing import NoReturn

__all__ = ["VERBS", "main"]

VERBS = {
    "learn": "learn a label as a parity (a linear rule) of columns",
    "span": "find the linear span that nearly all rows lie in",
    "constraints": "find the check equations that rows obey",
    "equations": "boil many equations down to a small system",
    "subspace": "find the subspace of the rows whose label is 1",
    "predict": "apply a saved finding to new rows",
    "check": "find the rows that break a saved finding",
    "show": "show what a saved finding or flag says",
    "compare": "compare two findings: same or not, and where they part",
    "summarize": "write the flag of files, to merge or answer from later",
    "merge": "merge flags from several machines",
    "suggest": "choose a window on pilot rows, for fresh ones",
    "plan": "say how many rows a promise needs",
    "audit": "measure how often two samples agree",
    "reproduce": "run the paper's evaluation, and more",
    "bench": "measure the speed of this machine",
}


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line, and exit with its code."""
    import gc
    import sys

    if arguments is None:  # a process of our own: loading modules leaves nothing to collect
        gc.set_threshold(200_000, *gc.get_threshold()[1:])
    from flagstone.cli.stopping import caught

    with caught(for_good=arguments is None):
        from flagstone.cli.runner import run

        code = run(sys.argv[1:] if arguments is None else arguments)
    if arguments is None:
        gc.freeze()  # at its end Python would look through all that was loaded, more than once
    sys.exit(code)
