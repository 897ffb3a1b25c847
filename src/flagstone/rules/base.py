"""What both rules share: parameters, the window of thresholds, and the guarantee of a fit."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

from flagstone import guarantees as g
from flagstone.coins import Coins
from flagstone.errors import InputError
from flagstone.flag import Flag
from flagstone.guarantees import Guarantee, Window
from flagstone.guarantees.exact import at_least, check_share, exact, positive

__all__ = ["CONFIDENCE", "DEFAULT_EPS", "Proofs", "SpanRule"]

#: The eps that counts as "not asked for": coverage is then aimed at, without a warning.
DEFAULT_EPS = 0.1
CONFIDENCE = 0.99


class Proofs(NamedTuple):
    """What the theory says about one window and one flag."""

    rho: float  # bound on the probability of disagreement
    proves_asked: bool  # whether that bound, in exact arithmetic, meets the rho asked for
    uncovered: Fraction  # bound on the rows outside the answer
    certificate: float  # bound on rho from the data
    rows_needed: int | None  # for the rho and eps asked for


@dataclass(frozen=True, kw_only=True)
class SpanRule(ABC):
    """How one space is chosen from a flag, and what that promises. See `IndexRule`, `HeavyRule`.

    Parameters
    ----------
    rho : float, optional
        Allowed probability that two samples disagree; sets the window's length T.
    eps : float, default 0.1
        Allowed share of rows outside the answer; sets T where neither t_max nor rho does.
    t_max : int, float or "paper", optional
        T by hand: an integer, or a fraction of the rows in (0, 1). "paper": the printed constant
        (heavy rule only, needs rho).
    t_min : int, optional
        The start k of the window by hand.
    contamination : float, default 0.0
        Largest share of rows that may be outliers, in [0, 0.5); sets k = ⌈contamination·m⌉.
    """

    rho: float | None = None
    eps: float = DEFAULT_EPS
    t_max: int | float | str | None = None
    t_min: int | None = None
    contamination: float = 0.0

    name: ClassVar[str]

    def __post_init__(self) -> None:
        if self.rho is not None:
            check_share("rho", self.rho)
        check_share("eps", self.eps)
        g.check_contamination(self.contamination)
        if self.t_min is not None:
            at_least("t_min", self.t_min, 0)
        self._check_t_max()

    def _check_t_max(self) -> None:
        t_max: Any = self.t_max
        if t_max is None:
            return
        if isinstance(t_max, str):
            if t_max != "paper":
                raise InputError(
                    f't_max must be an integer, a fraction in (0, 1) or "paper", got {t_max!r}'
                )
            if self.name != "heavy":
                raise InputError(
                    't_max="paper" is the constant of the paper\'s Algorithm 1: use it with '
                    'rule="heavy", or leave t_max out'
                )
            if self.rho is None:
                raise InputError('t_max="paper" is a function of rho: give rho as well')
        elif _is_integer(t_max):
            positive("t_max", t_max)
        elif isinstance(t_max, bool) or not _is_fraction(t_max):
            raise InputError(
                "t_max must be an integer of at least 1 (a number of sets) or a fraction of the "
                f"rows strictly between 0 and 1, got {t_max!r}"
            )

    def window(self, dim: int, n_rows: int, n_shards: int = 1) -> Window:
        """The window for rows of this dimension and number: public numbers only, never the data.

        Examples
        --------
        >>> from flagstone.rules import IndexRule
        >>> print(IndexRule(eps=0.1).window(dim=10, n_rows=1000))
        {1..11}
        >>> print(IndexRule(t_max=0.2, contamination=0.05).window(dim=10, n_rows=1000))
        {51..250}
        """
        m = positive("n_rows", n_rows)
        start = self._start(m)
        return Window(self.name, start, self._length(dim, m, n_shards, start))

    def _start(self, n_rows: int) -> int:
        if self.t_min is not None:
            return int(self.t_min)
        return g.outlier_start(n_rows, self.contamination)

    def _length(self, dim: int, n_rows: int, n_shards: int, start: int) -> int | float:
        t_max: Any = self.t_max
        if t_max == "paper":
            assert self.rho is not None
            return max(1.0, g.paper_threshold(dim, self.rho, n_rows))
        if t_max is None:
            return self._promised_length(dim, n_rows, n_shards, start)
        if _is_integer(t_max):
            if t_max > n_rows:
                raise InputError(
                    f"t_max = {t_max} asks for more sets than there are rows ({n_rows}); a "
                    "partition of the rows has at most one set per row. Use an integer up to "
                    "the number of rows, or a fraction of them in (0, 1)"
                )
            return self._rounded(Fraction(int(t_max)))
        return self._rounded(max(Fraction(1), exact(t_max) * n_rows))

    @abstractmethod
    def _promised_length(self, dim: int, n_rows: int, n_shards: int, start: int) -> int | float: ...

    @abstractmethod
    def _rounded(self, length: Fraction) -> int | float: ...

    @abstractmethod
    def draw(self, window: Window, coins: Coins) -> int | float:
        """The threshold t of this window, from the coin named "threshold"."""

    @abstractmethod
    def index(self, flag: Flag, t: int | float) -> int:
        """The number of a set that spans the answer: V* = V_index ({0} past the last set)."""

    @abstractmethod
    def margin(self, flag: Flag, t: int | float) -> int:
        """How many altered rows certainly leave the answer as it is, with t held fixed."""

    @abstractmethod
    def _proofs(self, flag: Flag, window: Window) -> Proofs: ...

    def guarantee(self, flag: Flag, window: Window, t: int | float) -> Guarantee:
        """What is proven for an answer drawn from this window, and what is not."""
        m = flag.n_rows
        rho, proves, uncovered, certificate, needed = self._proofs(flag, window)
        if self.rho is not None:  # the exact comparison decides, whatever the float rounds to
            asked = float(self.rho)
            rho = min(rho, asked) if proves else max(rho, math.nextafter(asked, math.inf))
        share = uncovered / m
        tail = (
            g.containment_failure(m, window.start, self.contamination)
            if self.contamination
            else None
        )
        return Guarantee(
            rule=self.name,
            dim=flag.dim,
            n_rows=m,
            n_shards=flag.n_shards,
            window=window,
            threshold=t,
            rho=rho if rho < 1 else None,
            rho_asked=None if self.rho is None else float(self.rho),
            rho_certificate=certificate if flag.n_shards == 1 and certificate < 1 else None,
            confidence=CONFIDENCE,
            eps=float(share) if share < 1 else None,
            eps_asked=float(self.eps),
            uncovered_bracket=g.uncovered_bracket(
                flag.counts.tolist(), self.index(flag, t), shards=flag.n_shards
            ),
            margin=self.margin(flag, t),
            contamination=float(self.contamination),
            containment_failure=tail,
            rows_needed=needed,
        )

    def _outliers(self, window: Window) -> dict[str, Any]:
        """How the start of the window grows with the rows: by a rate, or not at all."""
        if self.t_min is None and self.contamination:
            return {"contamination": self.contamination}
        return {"start": window.start}


def _is_integer(value: object) -> bool:
    return not isinstance(value, bool) and hasattr(value, "__index__")


def _is_fraction(value: Any) -> bool:
    try:
        return bool(0 < float(value) < 1)
    except (TypeError, ValueError):
        return False
