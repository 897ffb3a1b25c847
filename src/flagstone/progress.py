"""A progress bar, shown on terminals only."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator

#: Called with the share that is done, and with a few words about it.
Update = Callable[[float, str], None]


@contextlib.contextmanager
def progress_bar(word: str, shown: bool | None = None) -> Iterator[Update]:
    """Show a bar on standard error, and yield the function that moves it.

    ``shown=None`` shows it on a terminal only; logs and pipes stay clean.
    """
    if shown is None:
        shown = sys.stderr.isatty()
    if not shown:
        yield lambda share, text: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[text]}"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as bar:
        task = bar.add_task(word, total=1.0, text="")
        yield lambda share, text: bar.update(task, completed=share, text=text)
