"""The bridge from our estimators to the integrated threshold."""

from __future__ import annotations

from typing import Any

from flagstone.audit.integrate import Staircase, disagreement
from flagstone.coins import Coins
from flagstone.errors import InputError
from flagstone.subspace import Subspace

__all__ = ["integrated_disagreement"]


def integrated_disagreement(a: Any, b: Any) -> float:
    """Return the probability over the threshold that two fitted estimators of ours disagree.

    All other coins are those the two runs share. Raises AttributeError for estimators that are
    not read off a flag.

    Examples
    --------
    >>> from flagstone import LinearSpan
    >>> from flagstone.audit.ours import integrated_disagreement
    >>> a = LinearSpan(t_max=8, random_state=1).fit([[1, 0]] * 9 + [[0, 1]] * 2)
    >>> b = LinearSpan(t_max=8, random_state=1).fit([[1, 0]] * 7 + [[0, 1]] * 4)
    >>> integrated_disagreement(a, b)  # they differ at t = 3, 4 and 8
    0.375
    """
    windows = [e.result_.window for e in (a, b)]
    if windows[0] != windows[1]:
        raise InputError(
            f"two runs must draw from the same window, got {windows[0]} and {windows[1]}: "
            "were the samples of the same size?"
        )
    if _labels(a) != _labels(b):
        return 1.0  # whatever the threshold: the same rule would predict other labels
    window = windows[0]
    coins = Coins(a.random_state_)

    def answer(space: Subspace) -> str:
        return str(a._read(space, coins).fingerprint())

    first, second = (Staircase(e.flag_, window.rule) for e in (a, b))
    return disagreement(first, second, float(window.start), float(window.end), answer=answer)


def _labels(estimator: Any) -> Any:
    """Return what the field elements of a rule stand for, where they are not the labels."""
    coder = getattr(estimator, "_coder", None)
    return None if coder is None or coder.by_value else tuple(coder.classes.tolist())
