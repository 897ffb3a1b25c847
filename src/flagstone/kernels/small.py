"""Small work is done in plain NumPy, at once; the compiler is loaded when work adds up.

Loading Numba takes longer than everything else that a verb does with a few thousand rows, and
compiling a kernel for the first time takes much longer still. So kernels have *plain* twins with
the same results, and each twin has an allowance in every process, together about as long as loading
takes: what it does not cover goes to the compiled kernel. So nobody waits much more than twice as
long as somebody who had known beforehand how much there is to do. Nothing here imports Numba.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

#: Microseconds of plain work, as they are estimated, that each twin may do in a process.
ALLOWANCE = 200_000.0
_spent: Counter[str] = Counter()


def affordable(kernel: str, microseconds: float) -> bool:
    """Say whether the twin of a kernel may still work for about so long, and write it down.

    Once it may not, the compiled kernel is there, and the twin has done its work.
    """
    _spent[kernel] += microseconds  # type: ignore[assignment]
    return _spent[kernel] <= ALLOWANCE


def twin(home: str, cost: Callable[..., float]) -> Callable[[F], F]:
    """Let a plain function do small work, and the function of its name in ``home`` all other."""

    def decorate(plain: F) -> F:
        @functools.wraps(plain)
        def either(*args: Any) -> Any:
            if affordable(kernel, cost(*args)):
                return plain(*args)
            return compiled()(*args)

        @functools.cache
        def compiled() -> Any:
            return getattr(import_module(f"flagstone.kernels.{home}"), plain.__name__)

        kernel = f"{home}.{plain.__name__}"
        return either  # type: ignore[return-value]

    return decorate


@dataclass(slots=True)
class Held:
    """The state of a flag, of its plain kernel or of its compiled one."""

    state: Any
    ar: Any
    dim: int
    compiled: bool


class Growing:
    """The kernel of flags that begin in plain Python, and move to a compiled kernel when they must.

    Parameters
    ----------
    plain : module
        With the functions that are methods here, the width ``MOST`` up to which it is of use, and
        ``row_cost``: about how many microseconds a row of a given width takes.
    compiled : function of the width
        Returns the module to move to.
    """

    def __init__(self, plain: ModuleType, compiled: Callable[[int], ModuleType]) -> None:
        self._plain, self._compiled = plain, compiled

    def new(self, ar: Any, dim: int, dtype: Any = None) -> Held:
        """Return the empty flag."""
        compiled = dim > self._plain.MOST
        return Held(self._home(compiled, dim).new(ar, dim, dtype), ar, dim, compiled)

    def load(self, ar: Any, basis: Any, counts: Any, dim: int) -> Held:
        """Return the flag that an adapted basis with falling counts describes."""
        compiled = not self._suffices(dim, len(basis))
        return Held(self._home(compiled, dim).load(ar, basis, counts, dim), ar, dim, compiled)

    def insert(self, held: Held, rows: Any, weights: Any) -> None:
        """Insert rows in order, each as often as its weight says."""
        if not held.compiled:
            self.prepare(held, len(rows))
        kernel = self._compiled(held.dim) if held.compiled else self._plain
        kernel.insert(held.state, rows, weights)

    def prepare(self, held: Held, n_rows: int) -> None:
        """Move to the compiled kernel unless so many more rows can be afforded without it."""
        if not held.compiled and not self._suffices(held.dim, n_rows):
            basis, counts = self._plain.dump(held.state)
            held.state = self._compiled(held.dim).load(held.ar, basis, counts, held.dim)
            held.compiled = True

    def dump(self, held: Held) -> tuple[Any, Any]:
        """Return an adapted basis, by falling count, and the counts."""
        basis, counts = self._home(held.compiled, held.dim).dump(held.state)
        return basis, counts

    def copy(self, held: Held) -> Held:
        """Return a state that shares nothing with the first."""
        state = self._home(held.compiled, held.dim).copy(held.state)
        return Held(state, held.ar, held.dim, held.compiled)

    def _suffices(self, dim: int, n_rows: int) -> bool:
        return dim <= self._plain.MOST and affordable(
            self._plain.__name__, n_rows * self._plain.row_cost(dim)
        )

    def _home(self, compiled: bool, dim: int) -> ModuleType:
        return self._compiled(dim) if compiled else self._plain
