"""The shared harness: interleaved rounds, the least and the median, budgets, results as data.

Machines slow down and speed up while a benchmark runs. So the contestants of one comparison take
turns, round by round, and each is judged by its least time: noise only ever adds.
"""

from __future__ import annotations

import gc
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

__all__ = ["CLOCKS", "Bench", "Contestant", "Disagreement", "Result", "interleave", "prefix"]


# The wall clock is what people feel. Processor time leaves out the turns of other processes: with
# one thread it is the same on a quiet machine, and the better judge of ratios on a busy one.
CLOCKS: dict[str, Callable[[], float]] = {"wall": time.perf_counter, "cpu": time.process_time}


class Disagreement(AssertionError):
    """Two contestants computed different answers from the same rows."""


class Contestant(NamedTuple):
    """One way of doing the job.

    ``prepare`` is called before each run and not timed (a fresh matrix, an empty flag); what it
    returns is passed to ``run``. Where runs return integers (the rank, say), contestants with the
    same number of rows must return the same one.
    """

    who: str
    rows: int
    run: Callable[[Any], Any]
    prepare: Callable[[], Any] = lambda: None
    slow: bool = False  # about a second per run: no warm-up, two rounds at most


@dataclass(frozen=True)
class Result:
    """One measured number: the least over the rounds, and the median beside it."""

    suite: str
    case: str
    who: str
    value: float
    unit: str = "s"
    median: float | None = None
    rounds: int = 1
    rows: int | None = None
    dim: int | None = None

    @property
    def key(self) -> str:
        """The name under which floors and tables find it."""
        return f"{self.suite}/{self.case}/{self.who}"

    @property
    def rate(self) -> float:
        """Rows per second."""
        assert self.rows is not None
        assert self.unit == "s"
        return self.rows / self.value

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return asdict(self)


def interleave(
    contestants: Sequence[Contestant],
    *,
    least: int,
    most: int,
    seconds: float,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, list[float]]:
    """Run the contestants in turn and return the times of each.

    A first round warms up caches and compilers and is thrown away. Then ``least`` rounds are run
    in any case, and more, up to ``most``, while ``seconds`` are not used up.
    """
    times: dict[str, list[float]] = {c.who: [] for c in contestants}
    answers: dict[int, tuple[str, Any]] = {}
    # What is alive now stays alive: the collections between runs need not look at it again.
    gc.collect()
    gc.freeze()
    begin = time.perf_counter()
    for turn in range(-1, most):
        if turn >= least and time.perf_counter() - begin > seconds:
            break
        for contestant in contestants:
            if contestant.slow and (turn < 0 or turn > 1):
                continue
            ready = contestant.prepare()
            spent, answer = _timed(contestant.run, ready, clock)
            del ready
            if turn >= 0:
                times[contestant.who].append(spent)
            if isinstance(answer, int):
                first = answers.setdefault(contestant.rows, (contestant.who, answer))
                if first[1] != answer:
                    raise Disagreement(
                        f"{first[0]} says {first[1]}, {contestant.who} says {answer}, "
                        f"on the same {contestant.rows} rows"
                    )
    gc.unfreeze()
    return times


def _timed(
    run: Callable[[Any], Any], ready: Any, clock: Callable[[], float] = time.perf_counter
) -> tuple[float, Any]:
    gc.collect()
    gc.disable()
    try:
        begin = clock()
        answer = run(ready)
        return clock() - begin, answer
    finally:
        gc.enable()


def prefix(run: Callable[[int], Any], rows: int, seconds: float = 1.0) -> int:
    """Return how many of the rows a slow contestant gets through in about ``seconds``.

    Doubles the number until a run takes over a third of the time, so the last one takes between a
    third and, for a quadratic method, four thirds of it.
    """
    n = min(64, rows)
    run(n)  # what the first call imports or compiles is not the method's speed
    while n < rows:
        spent, _ = _timed(run, n)
        if spent > seconds / 3:
            break
        n = min(2 * n, rows)
    return n


class Bench:
    """What a suite sees: it runs comparisons, records numbers and shows progress.

    Parameters
    ----------
    quick : bool
        A twentieth of the rows and one round: shows that everything works, not how fast.
    seconds : float
        After nine tenths of this, every comparison gets one round only.
    clock : str
        One of ``CLOCKS``.
    large : bool
        Read a file of ten gigabytes, too.
    """

    def __init__(
        self,
        *,
        quick: bool = False,
        seconds: float = 600.0,
        clock: str = "wall",
        show: bool = True,
        large: bool = False,
    ) -> None:
        self.quick, self.large = quick, large
        self.clock = CLOCKS[clock]
        self.clock_name = clock
        self.results: list[Result] = []
        self.notes: list[str] = []
        self.suite = ""
        self._show = show
        self._begin = time.perf_counter()
        self._late = self._begin + 0.9 * seconds

    def scale(self, rows: int) -> int:
        """Return the number of rows to use where the full run has ``rows``."""
        return max(1000, rows // 20) if self.quick else rows

    def compare(
        self,
        case: str,
        contestants: Sequence[Contestant],
        *,
        dim: int | None = None,
        seconds: float = 3.0,
        least: int = 3,
        most: int = 15,
    ) -> dict[str, Result]:
        """Run one comparison and record one time per contestant."""
        if self.quick:
            least, most, seconds = 1, 1, 0.0
        elif time.perf_counter() > self._late:
            least, seconds = 1, 0.0
        times = interleave(contestants, least=least, most=most, seconds=seconds, clock=self.clock)
        found = {}
        for c in contestants:
            spent = times[c.who]
            found[c.who] = self.record(
                case, c.who, min(spent), "s", statistics.median(spent), len(spent), c.rows, dim
            )
        self.say(case + ": " + ", ".join(f"{r.who} {_brief(r)}" for r in found.values()))
        return found

    def record(
        self,
        case: str,
        who: str,
        value: float,
        unit: str = "s",
        median: float | None = None,
        rounds: int = 1,
        rows: int | None = None,
        dim: int | None = None,
    ) -> Result:
        """Keep one number that was measured in some other way."""
        result = Result(self.suite, case, who, value, unit, median, rounds, rows, dim)
        self.results.append(result)
        return result

    def note(self, text: str) -> None:
        """Keep a remark for the report: a missing peer, an output worth showing."""
        if text not in self.notes:
            self.notes.append(text)
            self.say(text)

    def say(self, text: str) -> None:
        """Show progress."""
        if self._show:
            elapsed = time.perf_counter() - self._begin
            print(f"[{elapsed:5.0f} s] {self.suite:>15}  {text}", file=sys.stderr, flush=True)


def _brief(result: Result) -> str:
    if result.rows and result.value:
        return f"{result.rate / 1e6:.3g} M/s"
    return f"{result.value:.3g} s"
