"""`rep_linear_span`: rows → flag → subspace, in one call."""

from __future__ import annotations

from typing import Any

from flagstone.algebra.fields import FieldLike, as_field, width
from flagstone.algebra.flag import Flag
from flagstone.checks import frame_names
from flagstone.coins import Coins, fresh_seed
from flagstone.encoding import Encoding
from flagstone.errors import InputError
from flagstone.finding import Finding
from flagstone.pipeline import ask
from flagstone.question import SpanQuestion
from flagstone.rules import DEFAULT_EPS, rule_named


def rep_linear_span(
    X: Any,
    *,
    field: FieldLike = 2,
    rho: float | None = None,
    eps: float = DEFAULT_EPS,
    rule: str = "index",
    t_min: int | float | None = None,
    t_max: int | float | str | None = None,
    contamination: float = 0.0,
    each: bool = False,
    random_state: int | str | None = None,
) -> Finding:
    """A subspace that covers most rows, and comes out the same on a fresh sample.

    With ``rule="heavy"`` this is Algorithm 1 (RepLinearSpan) of [NST26]; the default rule needs
    far fewer rows for the same promise.

    Parameters
    ----------
    X : array of shape (n_rows, dim), data frame or BitRows
        The rows; zero rows count as rows.
    field : Field, int or str, default=2
        The field of the entries: 2, 7, "2^8", "QQ", ….
    rho : float, optional
        Allowed probability that two samples give different answers. If given, the window is
        chosen to prove it; coverage is then proven too, if the rows are enough.
    eps : float, default 0.1
        Allowed share of rows outside the answer. Without rho, the window is chosen to prove it.
    rule : {"index", "heavy"}, default "index"
    t_min, t_max, contamination
        The first and last threshold by hand, and the largest share of outliers: see
        `flagstone.rules`.
    each : bool, default False
        Whether the coins also draw how many of the rows are used, more than half of them, so that
        every single equation is replicable with a short window (``draw_rows`` of `IndexRule`). The
        finding is then one of the first ``finding.rows.read`` rows; two samples must have as many
        rows to draw from.
    random_state : int or str, optional
        The published seed. None draws a fresh one, to be found in the result: share it.

    Returns
    -------
    Finding
        `subspace`, `answer` (its equations), `threshold`, `window`, `promises`, `margin`, `seed`.

    Notes
    -----
    **Guarantees**

    The subspace lies in the span of the rows. Replicability and coverage: see `promises`, which
    says for each whether it is proven, and on which hypotheses.

    References
    ----------
    .. [NST26] M. Noivirt, J. Sorrell, E. Tsfadia, "Computationally Efficient Replicable Learning
       of Parities and Applications", 2026.

    Examples
    --------
    One stray row in the second sample, and still the same answer:

    >>> import numpy as np
    >>> from flagstone.linear_span import rep_linear_span
    >>> first = np.tile([[1, 1, 0], [0, 1, 1]], (200, 1))
    >>> second = first.copy()
    >>> second[17] = [1, 0, 0]
    >>> a, b = (rep_linear_span(X, t_min=2, random_state=2026) for X in (first, second))
    >>> a.subspace == b.subspace, a.subspace.basis.tolist()
    (True, [[1, 0, 1], [0, 1, 1]])
    """
    F = as_field(field)
    coins = Coins(fresh_seed() if random_state is None else random_state)
    shape = (len(X),) if isinstance(X, (list, tuple)) else getattr(X, "shape", ())
    if shape[:1] == (0,):
        raise InputError("X has no rows: a span is chosen from at least one row")
    rows = F.rows(X)
    chosen = rule_named(
        rule,
        rho=rho,
        eps=eps,
        t_min=t_min,
        t_max=t_max,
        contamination=contamination,
        draw_rows=len(rows) if each else None,
    )
    rows = rows[: chosen.n_rows(coins)]
    flag, names = Flag(width(rows), F).update(rows), frame_names(X)
    return ask(
        flag,
        SpanQuestion(),
        chosen,
        coins,
        encoding=None if names is None else Encoding.plain(F, names),
        seed_is_fresh=random_state is None,
    )
