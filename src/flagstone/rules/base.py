"""What both rules share: parameters, the window of thresholds, and the guarantee of a fit."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral
from typing import Any, ClassVar

from flagstone import guarantees as g
from flagstone.algebra import Flag, Level, Staircase
from flagstone.coins import Coins
from flagstone.errors import InputError, Parameter, WindowError
from flagstone.guarantees.exact import at_least, check_share, exact, positive
from flagstone.guarantees.rules import bounds_of

#: The eps that counts as "not asked for": coverage is then aimed at, without a warning.
DEFAULT_EPS = 0.1


@dataclass(frozen=True, kw_only=True)
class SpanRule(ABC):
    """How one space is chosen from a flag, and what that promises. See `IndexRule`, `HeavyRule`.

    Parameters
    ----------
    rho : float, optional
        Allowed probability that two samples disagree; sets the window's length T.
    eps : float, default 0.1
        Allowed share of rows outside the answer; sets T where neither t_max nor rho does. Where
        nothing else is said, the index rule draws from the second half of what eps allows
        (docs/theory/rules.md).
    t_min, t_max : int or float, optional
        The first and the last threshold by hand: an integer of at least 1, or a fraction f of the
        rows in (0, 1), which means ⌈f·m⌉ + 1 (t_min) or ⌊f·m⌋ (t_max, never before t_min).
        t_max="paper": the printed constant past the start (heavy rule only, needs rho).
    contamination : float, default 0.0
        Largest share of rows that may be outliers, in [0, 0.5); sets t_min = ⌈contamination·m⌉ + 1.
    draw_rows : int, optional
        How many rows there are to draw from (index rule). The coins then draw m, the number of
        first rows that are used, from {M+1..2M}, M = ⌊draw_rows/2⌋: see `n_rows`. So two samples
        agree on each single equation with a window that does not grow with the dimension (S44). The
        window is that of M+1 rows, or of 2M outliers and all. The other rows are not read: they may
        serve to check the answer.
    """

    rho: float | None = None
    eps: float = DEFAULT_EPS
    t_min: int | float | None = None
    t_max: int | float | str | None = None
    contamination: float = 0.0
    draw_rows: int | None = None

    name: ClassVar[str]

    def __post_init__(self) -> None:
        if self.rho is not None:
            check_share("rho", self.rho)
        check_share("eps", self.eps)
        g.check_contamination(self.contamination)
        _check_threshold("t_min", self.t_min)
        if self.draw_rows is not None:
            at_least("draw_rows", self.draw_rows, 2)
            if self.name != "index":
                raise InputError(
                    Parameter("draw_rows"), " is proven for ", Parameter("rule", "index"), " only"
                )
        if self.t_max != "paper":
            _check_threshold("t_max", self.t_max)
        elif self.name != "heavy":
            raise InputError(
                Parameter("t_max", "paper"),
                " is the constant of the paper's Algorithm 1: use it with ",
                Parameter("rule", "heavy"),
                ", or leave it out",
            )
        elif self.rho is None:
            raise InputError(
                Parameter("t_max", "paper"), " is a function of ", Parameter("rho"), ": give it too"
            )

    def n_rows(self, coins: Coins) -> int | None:
        """How many of the first ``draw_rows`` rows are used; None if all are."""
        if self.draw_rows is None:
            return None
        half = self.draw_rows // 2
        return half + 1 + coins.integers("rows", half)

    def window(self, dim: int, n_rows: int, n_shards: int = 1) -> g.Window:
        """The window for rows of this dimension and number: public numbers only, never the data.

        >>> from flagstone.rules import IndexRule
        >>> print(IndexRule(eps=0.1).window(dim=10, n_rows=1000))
        {6..11}
        >>> print(IndexRule(t_max=0.25, contamination=0.05).window(dim=10, n_rows=1000))
        {51..250}
        """
        positive("dim", dim)
        m = most = positive("n_rows", n_rows)
        if self.draw_rows is not None:  # whichever number of rows the coins draw
            m, most = self.draw_rows // 2 + 1, self.draw_rows
        t_min = self._first_threshold(dim, most if self.contamination else m, n_shards)
        t_max = self._last_threshold(dim, m, n_shards, t_min)
        if t_max < t_min:
            raise WindowError(
                Parameter("t_max"),
                " is the last threshold and must not come before the first, ",
                Parameter("t_min"),
                f" = {t_min:,}"
                + ("" if self.t_min is not None else " (past the outliers that are allowed for)")
                + f", got {t_max:,}",
            )
        return g.Window(self.name, t_min, t_max)

    def _first_threshold(self, dim: int, n_rows: int, n_shards: int) -> int:
        if self.t_min is None:
            if self.is_default:
                return self._default_first_threshold(dim, n_rows, n_shards)
            return g.outlier_start(n_rows, self.contamination) + 1
        if _is_integer(self.t_min):
            return int(self.t_min)
        return math.ceil(exact(self.t_min) * n_rows) + 1

    def _last_threshold(self, dim: int, n_rows: int, n_shards: int, t_min: int) -> int | float:
        t_max: Any = self.t_max
        start = t_min - 1
        if t_max == "paper":
            assert self.rho is not None
            return _end(start, max(1.0, g.paper_length(dim, self.rho, n_rows)))
        if t_max is None:
            length = self._promised_length(dim, n_rows, n_shards, start)
            return max(t_min, length) if self.is_default else _end(start, length)
        if not _is_integer(t_max):
            return max(t_min, math.floor(exact(t_max) * n_rows))
        if t_max > n_rows:
            raise WindowError(
                Parameter("t_max", int(t_max)),
                f" asks for more sets than there are rows ({n_rows:,}); a partition of them has at "
                "most one set per row. Use an integer up to the number of rows, or a fraction "
                "of them in (0, 1)",
            )
        return int(t_max)

    @property
    def is_default(self) -> bool:
        """Whether the window was given by eps only."""
        given = (self.rho, self.t_min, self.t_max)
        return given == (None, None, None) and not self.contamination

    def _default_first_threshold(self, dim: int, n_rows: int, n_shards: int) -> int:
        """The first threshold where none is named."""
        return 1

    def _promised_length(self, dim: int, n_rows: int, n_shards: int, start: int) -> int | float:
        """The length of the window that proves rho, or else eps; at least 1."""
        bounds = bounds_of(self.name)
        if self.rho is None:
            return max(bounds.length_for_eps(dim, self.eps, n_rows, shards=n_shards), 1.0)
        return max(bounds.promised_length(dim, self.rho, n_rows, start=start, shards=n_shards), 1.0)

    @abstractmethod
    def draw(self, window: g.Window, coins: Coins) -> int | float:
        """The threshold t of this window, from the coin named "threshold"."""

    @abstractmethod
    def ends(self, stairs: Staircase) -> tuple[tuple[int, Level], ...]:
        """Rising (end, level): the space of the level is chosen for thresholds up to the end.

        Past the last end the answer is {0}.
        """

    def index(self, stairs: Staircase, t: int | float) -> int:
        """The number of the first set that spans the answer V*; one past the last set for {0}."""
        chosen = (level.first for end, level in self.ends(stairs) if t <= end)
        return next(chosen, stairs.n_sets + 1)

    @abstractmethod
    def margin(self, flag: Flag, t: int | float) -> int:
        """How many altered rows certainly leave the answer as it is, with t held fixed."""

    def guarantee(self, flag: Flag, window: g.Window, t: int | float, index: int) -> g.Guarantee:
        """What is proven for the answer V_index at t from this window, and what is not."""
        d, m, T, bounds = flag.dim, flag.n_rows, window.length, bounds_of(self.name)
        shards = {"shards": flag.n_shards}
        known = {"start": window.start, **shards}
        rho, needed = bounds.rho(d, T, **known, n_rows=m), None
        if self.rho is not None:  # the exact comparison decides, not the rounded float
            asked = float(self.rho)
            proves = bounds.proves(d, self.rho, T, **known, n_rows=m)
            rho = min(rho, asked) if proves else max(rho, math.nextafter(asked, math.inf))
            # the start of the window grows with the rows by a rate, or not at all
            by_rate = self.t_min is None and self.contamination
            start = {"contamination": self.contamination} if by_rate else {"start": window.start}
            needed = bounds.rows(d, self.rho, self.eps, **shards, **start)
        share = Fraction(bounds.uncovered(d, T, **known), m)
        tail, c = None, float(self.contamination)
        if c:
            tail = g.containment_failure(m, window.start, self.contamination)
        asked_rho = None if self.rho is None else float(self.rho)
        kept = flag.dim_at(index)
        bracket = g.uncovered_bracket(flag.counts.tolist(), index, shards=flag.n_shards)
        return g.Guarantee(
            g.Setup(flag.dim, m, flag.n_shards, window, t),
            g.Asked(asked_rho, float(self.eps), c),
            g.Proven(
                rho=rho if rho < 1 else None,
                eps=float(share) if share < 1 else None,
                containment_failure=tail,
                rows_needed=needed,
                each=self._each(d, m, window, flag.n_shards),
            ),
            g.Measured(bracket, self.margin(flag, t), kept, is_empty=kept == 0 < flag.rank),
        )

    def _each(self, dim: int, n_rows: int, window: g.Window, n_shards: int) -> float | None:
        """A bound on how often two samples differ on one equation; None if there is none."""
        return None

    def to_dict(self) -> dict[str, Any]:
        """Return name and parameters as JSON values; `rule_from_dict` reads them back."""
        return {"name": self.name} | {key: _plain(value) for key, value in vars(self).items()}


def _end(start: int, length: int | float) -> int | float:
    """Return start + length, rounded up: a window that is one bit too short proves nothing.

    No integer is passed by it, so that coverage, which counts whole sets, costs nothing.

    >>> (341 + 0.2) - 341 < 0.2 <= _end(341, 0.2) - 341
    True
    """
    end = start + length
    while Fraction(end) - start < Fraction(length) or exact(end - start) < exact(length):
        end = math.nextafter(end, math.inf)
    return end


def _plain(value: Any) -> Any:
    """A parameter as a JSON value: a fraction that no float prints as is written out.

    >>> _plain(0.05), _plain(7), _plain(Fraction(1, 3)), _plain(Fraction(1, 4)), _plain("paper")
    (0.05, 7, '1/3', 0.25, 'paper')
    """
    if value is None or isinstance(value, str):
        return value
    if _is_integer(value):
        return int(value)
    return float(value) if exact(float(value)) == exact(value) else str(exact(value))


def _is_integer(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _check_threshold(name: str, value: Any) -> None:
    """Refuse what is neither a threshold nor a fraction of the rows."""
    if value is None or (_is_integer(value) and value >= 1):
        return
    try:
        fraction = not isinstance(value, bool) and 0 < float(value) < 1
    except (TypeError, ValueError):
        fraction = False
    if not fraction:
        raise InputError(
            Parameter(name),
            " must be an integer of at least 1 (a threshold) or a fraction of the rows strictly "
            f"between 0 and 1, got {value!r}",
        )
