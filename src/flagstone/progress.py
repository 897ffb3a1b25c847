"""A progress bar with the remaining time, on terminals and in notebooks; logs stay clean."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

#: Called with the share that is done, and with a few words about it.
Update = Callable[[float, str], None]

#: Seconds between two updates in a notebook; what is over before shows nothing.
_PAUSE = 0.5


@contextlib.contextmanager
def progress_bar(
    word: str, shown: bool | None = None, *, notebooks: bool = False
) -> Iterator[Update]:
    """Show a bar with the remaining time, and yield the function that moves it.

    ``shown=None`` shows it on a terminal (on standard error) and, with ``notebooks``, below the
    cell of a notebook.
    """
    display = _notebook_display() if notebooks and shown is not False else None
    if display is not None:
        with _notebook_bar(word, display) as move:
            yield move
        return
    if not (sys.stderr.isatty() if shown is None else shown):
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


def _notebook_display() -> Any:
    """Return IPython's module for display if this runs in a notebook; else None."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is None or not hasattr(shell, "kernel"):
        return None
    from IPython import display

    return display


@contextlib.contextmanager
def _notebook_bar(word: str, display: Any) -> Iterator[Update]:
    """Draw the bar below a cell with plain HTML, and take it away at the end."""
    start = last = time.monotonic()
    handle = None

    def move(share: float, text: str) -> None:
        nonlocal last, handle
        now = time.monotonic()
        if now - last < _PAUSE or not share:
            return
        last = now
        left = round((now - start) * (1.0 - share) / share)
        bar = f'<progress value="{share:.3f}"></progress>'
        shown = display.HTML(f"{bar} {word}: {text}, {left // 60}:{left % 60:02} left")
        if handle is None:
            handle = display.display(shown, display_id=True)
        else:
            handle.update(shown)

    try:
        yield move
    finally:
        if handle is not None:
            handle.update(display.HTML(""))
