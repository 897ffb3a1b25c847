"""The command line, to be typed again: by somebody with a fresh sample, or to resume a run."""

from __future__ import annotations

import shlex

from flagstone.cli.options import OutputOptions
from flagstone.cli.runner import ARGUMENTS
from flagstone.cli.words import TAB, TAB_AS_TYPED

#: Tabs that nobody could copy from a page.
_SPELLED = {TAB: TAB_AS_TYPED, f"--delimiter={TAB}": f"--delimiter={TAB_AS_TYPED}"}


def rerun_command(seed: str | None, outputs: OutputOptions | None = None) -> str:
    """Return the command line as typed, with the seed added if it was drawn afresh.

    With ``outputs`` it writes none of them: they exist by now, and are not to be replaced.
    """
    words = [_SPELLED.get(word, word) for word in ARGUMENTS]
    if outputs is not None:
        words = [word for word in words if word != "--force"]
        for name, value in (
            ("--output", outputs.output),
            ("-o", outputs.output),
            ("--report", outputs.report),
            ("--plot", outputs.plot),
        ):
            words = _without(words, name, value)
    end = words.index("--") if "--" in words else len(words)
    given = any(word == "--seed" or word.startswith("--seed=") for word in words)
    if seed is not None and not given:
        words[end:end] = ["--seed", seed]
    return shlex.join(["flagstone", *words])


def _without(words: list[str], name: str, value: str | None) -> list[str]:
    """Leave an option with this value out, in each of the ways to write it."""
    if value is None:
        return words
    kept: list[str] = []
    for word in words:
        if word == value and kept and kept[-1] == name:
            kept.pop()
        elif word not in (f"{name}={value}", f"{name}{value}"):
            kept.append(word)
    return kept
