"""`Certificate`: what the rows at hand prove about fresh samples of the same kind."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from flagstone import text


@dataclass(frozen=True)
class Certificate:
    """Statements about fresh samples that hold together, at one confidence over the rows at hand.

    Attributes
    ----------
    rule, t_min, t_max : str, int, int or float
        The window: t uniform on {t_min..t_max} ("index") or on (t_min − 1, t_max] ("heavy").
    n_rows, n_runs : int
        Rows of a sample, and the runs of consecutive rows (shards) that its flag is made of.
    n_pilot, n_certifying : int
        The rows that chose what to look at, and those that certify it.
    confidence : float
    rho : float or None
        Two fresh samples give different answers with at most this probability. None: nothing
        below 1 is certified.
    t_first, t_last : int or None
        At each of these thresholds a fresh sample gives the very space that was asked about
        (index rule: V_t; heavy rule: the answer at t), with probability at least the confidence.
        None: at no threshold, or another space than the pilot's.
    misses : float or None
        A fresh sample gives another space with at most this probability: at the threshold that was
        asked about, or else at one drawn from the window. None: nothing below 1 is certified.
    lacks : float or None
        A fresh sample gives a space that does not lie in this one, and so lacks one of its
        equations, with at most this probability (at the same thresholds). None: as above.
    eps : float or None
        A future row lies outside that space with at most this probability.
    rows_needed : int or None
        How many rows would certify the rho that was asked for, if they looked like these; often far
        fewer do, since pieces are cut anew for them. None if it is certified already, or if more
        rows of this kind would not help.

    Notes
    -----
    **Guarantees**

    With probability ``confidence`` over the rows at hand, ``rho``, ``misses``, ``lacks``, ``eps``
    and the range ``t_first..t_last`` are all right. Needs independent rows from one source (rows
    that come in runs of equals break it), and a window and a pilot chosen before the certifying
    rows were seen. ``rows_needed`` is an extrapolation and promises nothing.

    Examples
    --------
    >>> certificate = Certificate(rule="index", t_min=101, t_max=160, n_rows=10_000, n_runs=1,
    ...     n_pilot=1000, n_certifying=9000, confidence=0.99, rho=0.004, t_first=95, t_last=170,
    ...     misses=0.002, lacks=0.001, eps=0.008, rows_needed=None)
    >>> print(certificate)
    certified at 99 % confidence, from 9000 rows: two samples of 10000 rows agree with probability
    ≥ 0.996; a fresh one gives this space with probability ≥ 0.998; at most 0.8 % of future rows
    lie outside
    """

    rule: str
    t_min: int
    t_max: int | float
    n_rows: int
    n_runs: int
    n_pilot: int
    n_certifying: int
    confidence: float
    rho: float | None
    t_first: int | None
    t_last: int | None
    misses: float | None
    lacks: float | None
    eps: float | None
    rows_needed: int | None

    def fits(self, window: Any, n_rows: int, confidence: float) -> bool:
        """Say whether a certificate, read from a file, can be one for these numbers."""
        shares = (self.rho, self.misses, self.lacks, self.eps)
        given = [t for t in (self.t_first, self.t_last) if t is not None]
        here = (self.rule, self.t_min, self.t_max, self.n_rows)
        return (
            here == (window.rule, window.t_min, window.t_max, n_rows)
            and self.confidence >= confidence
            and min(self.n_pilot, self.n_certifying, self.n_runs) >= 1
            and self.n_pilot + self.n_certifying <= n_rows
            and all(0 <= share <= 1 for share in shares if share is not None)
            and len(given) != 1
            and all(type(t) is int and t >= 1 for t in given)
            and given == sorted(given)
            and (self.rows_needed is None or self.rows_needed > n_rows)
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON; ``Certificate(**values)`` reads them back."""
        return asdict(self)

    def __str__(self) -> str:
        return text.certificate(self)
