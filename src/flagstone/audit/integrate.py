"""The threshold, integrated out: what two flags do for *every* t, not for one drawn t.

For a pair of samples the threshold is the only randomness left in our rules, and it is uniform on
a known window. So the probability that the two answers differ is a sum over the steps of two
staircases. It replaces a coin flip per pair by its exact mean: the same expectation, with a
smaller variance (Rao–Blackwell), hence far fewer pairs for the same interval.

Both rules are read as functions of a real τ in ``(t_min − 1, t_max]``: the index rule takes
``V_⌈τ⌉`` (uniform on the integers ``t_min .. t_max``), the heavy rule the largest space with
at least τ sets.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import cache, cached_property
from itertools import pairwise
from typing import Any

from flagstone.algebra import Flag, Staircase, Subspace
from flagstone.coins import Coins
from flagstone.errors import InputError
from flagstone.finding import Finding
from flagstone.rules import rule_named


class Thresholds:
    """The subspace a rule chooses, as a function of the threshold.

    Space i, of dimension ``dims[i]``, is chosen for thresholds in ``(ends[i-1], ends[i]]``, and
    the zero space beyond the last.

    Examples
    --------
    >>> from flagstone import Flag
    >>> from flagstone.audit import Thresholds
    >>> flag = Flag(2).update([[1, 0]] * 7 + [[0, 1]] * 2)
    >>> Thresholds(flag, "index").ends, Thresholds(flag, "index").dims
    ((2, 7), (2, 1, 0))
    >>> Thresholds(flag, "heavy").ends  # the plane has 2 sets, the line 5
    (2, 5)
    """

    def __init__(self, flag: Flag, rule: str = "index") -> None:
        chosen = rule_named(rule).ends(Staircase.of(flag))
        self._flag = flag
        self._sets = tuple(step.first for _, step in chosen)
        self.ends = tuple(end for end, _ in chosen)
        self.dims = (*(step.dim for _, step in chosen), 0)

    @cached_property
    def spaces(self) -> tuple[Subspace, ...]:
        """The chosen spaces, the zero space last."""
        zero = Subspace.zero(self._flag.dim, self._flag.field)
        return (*(self._flag.span_at(j) for j in self._sets), zero)


def average(
    thresholds: Thresholds, start: float, stop: float, value: Callable[[Subspace], float]
) -> float:
    """Return the mean of ``value(V*)`` over a threshold uniform on ``(start, stop]``."""
    pieces = _pieces(start, stop, thresholds)
    total: float = sum(length * value(thresholds.spaces[i]) for length, i in pieces)
    return total / (stop - start)


def disagreement(
    a: Thresholds,
    b: Thresholds,
    start: float,
    stop: float,
    answer: Callable[[Subspace], Any] | None = None,
) -> float:
    """Return the probability, over a threshold uniform on ``(start, stop]``, that answers differ.

    ``answer`` turns a subspace into what is compared with ``==`` (the parity rule under the shared
    coins, say); by default the subspaces themselves are.

    Notes
    -----
    **Guarantees**

    Exact: its mean over pairs of samples is the disagreement rate of the randomized rule.

    Examples
    --------
    >>> from flagstone import Flag
    >>> from flagstone.audit import Thresholds, disagreement
    >>> a = Thresholds(Flag(2).update([[1, 0]] * 9 + [[0, 1]] * 2))
    >>> b = Thresholds(Flag(2).update([[1, 0]] * 9 + [[0, 1]] * 4))
    >>> disagreement(a, b, 0, 8)  # they differ at t = 3 and t = 4, of 8
    0.25
    """
    read = cache(lambda t, i: answer(t.spaces[i]) if answer else t.spaces[i])
    wrong = 0.0
    for length, i, j in _pieces(start, stop, a, b):
        # Dimensions are known at once; the spaces themselves cost an elimination each.
        differ = answer is None and a.dims[i] != b.dims[j]
        if differ or read(a, i) != read(b, j):
            wrong += length
    return wrong / (stop - start)


def _pieces(start: float, stop: float, *given: Thresholds) -> Iterator[tuple[Any, ...]]:
    """Yield the pieces of ``(start, stop]`` without a step: the length, and the space of each."""
    if not 0 <= start < stop:
        raise InputError(
            f"the window (start, stop] must satisfy 0 <= start < stop, got {start}, {stop}"
        )
    inside = {float(end) for t in given for end in t.ends if start < end < stop}
    for left, right in pairwise([float(start), *sorted(inside), float(stop)]):
        yield right - left, *(bisect_right(t.ends, left) for t in given)


def integrated_disagreement(a: Finding, b: Finding) -> float:
    """Return the probability over the threshold that two findings of one question disagree.

    All other coins are those the two runs share.

    Examples
    --------
    >>> from flagstone.pipeline import rep_linear_span
    >>> from flagstone.audit import integrated_disagreement
    >>> a = rep_linear_span([[1, 0]] * 9 + [[0, 1]] * 2, t_max=8, random_state=1)
    >>> b = rep_linear_span([[1, 0]] * 7 + [[0, 1]] * 4, t_max=8, random_state=1)
    >>> integrated_disagreement(a, b)  # they differ at t = 3, 4 and 8
    0.375
    """
    window = a.window
    if window is None or window != b.window:
        raise InputError(
            f"two runs must draw from the same window, got {window} and {b.window}: "
            "were the samples of the same size?"
        )
    if a.encoding.labels != b.encoding.labels:
        return 1.0  # whatever the threshold: the same rule would predict other labels
    assert a.seed is not None
    coins = Coins(a.seed)
    flags = [flag for flag in (a.flag, b.flag) if flag is not None]
    first, second = (Thresholds(flag, window.rule) for flag in flags)

    def answer(space: Subspace) -> str:
        return a.question.read(space, coins).fingerprint()

    differ = disagreement(first, second, window.start, float(window.t_max), answer=answer)
    return min(1.0, max(0.0, differ))  # rounding may leave the unit interval
