"""A progress bar that stays quiet where nobody watches."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["Advance", "track"]

Advance = Callable[[int], None]


@contextmanager
def track(total: int, description: str, enabled: bool | None = None) -> Iterator[Advance]:
    """Show a bar on standard error, and yield the function that advances it.

    ``enabled=None`` shows it on a terminal only; logs and pipes stay clean.
    """
    if enabled is None:
        enabled = sys.stderr.isatty()
    if not enabled:
        yield lambda steps: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        job = bar.add_task(description, total=total)
        yield lambda steps: bar.advance(job, steps)
