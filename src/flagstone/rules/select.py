"""`select_span`: flag + coins → subspace, with the errors and the warning that belong to it."""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass
from typing import Any

from flagstone import guarantees as g
from flagstone.coins import Coins
from flagstone.errors import InputError, ReplicabilityWarning, WindowError
from flagstone.flag import Flag
from flagstone.guarantees import Guarantee, Window
from flagstone.guarantees.exact import exact
from flagstone.histogram import Histogram
from flagstone.rules.base import DEFAULT_EPS, SpanRule
from flagstone.rules.heavy import HeavyRule
from flagstone.rules.index import IndexRule
from flagstone.subspace import Subspace

__all__ = ["SpanResult", "rule_named", "select_span"]


@dataclass(frozen=True)
class SpanResult:
    """A replicable span: the subspace, how it was chosen, and what that promises.

    Attributes
    ----------
    subspace : Subspace
        V*.
    threshold, window : int or float, Window
        The threshold t, and the window it was drawn from.
    guarantee : Guarantee
        What is proven, and what is not.
    seed : str
        The published seed. Two runs must share it to be replicable.
    seed_is_fresh : bool
        Whether the seed was drawn for this run, and is still to be shared.
    """

    subspace: Subspace
    threshold: int | float
    window: Window
    guarantee: Guarantee
    seed: str
    seed_is_fresh: bool = False

    @property
    def rule(self) -> str:
        """The name of the rule, "index" or "heavy"."""
        return self.window.rule

    @property
    def margin(self) -> int:
        """How many altered rows certainly leave the answer as it is."""
        return self.guarantee.margin

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the subspace: equal answers, equal digits."""
        return self.subspace.fingerprint()

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        V = self.subspace
        return {
            "subspace": {
                "field": V.field.name,
                "ambient_dim": V.ambient_dim,
                "basis": [[V.field.format(x) for x in row] for row in V.basis],
            },
            "fingerprint": self.fingerprint,
            "threshold": self.threshold,
            "rule": self.rule,
            "seed": self.seed,
            "guarantee": self.guarantee.to_dict(),
        }

    def __repr__(self) -> str:
        V = self.subspace
        fresh = ", drawn afresh: share it to be replicable" if self.seed_is_fresh else ""
        return (
            f"SpanResult(dimension {V.dim} of {V.ambient_dim} over {V.field.name}, "
            f"fingerprint {self.fingerprint[:16]}, {self.rule} rule, "
            f"t = {self.threshold:g} from {self.window}, seed {self.seed!r}{fresh})"
        )


_RULES: dict[str, type[SpanRule]] = {"index": IndexRule, "heavy": HeavyRule}


def rule_named(rule: Any, **parameters: Any) -> SpanRule:
    """The rule of this name with these parameters, validated.

    Examples
    --------
    >>> rule_named("heavy", rho=0.1).name
    'heavy'
    """
    if not isinstance(rule, str) or rule not in _RULES:
        raise InputError(f'rule must be "index" or "heavy", got {rule!r}')
    return _RULES[rule](**parameters)


def select_span(
    flag: Flag | Histogram,
    coins: Coins,
    *,
    rule: str | SpanRule = "index",
    rho: float | None = None,
    eps: float = DEFAULT_EPS,
    t_max: int | float | str | None = None,
    t_min: int | None = None,
    contamination: float = 0.0,
) -> SpanResult:
    """Choose a span from a flag with published coins (parameters as in `SpanRule`).

    Warns
    -----
    ReplicabilityWarning
        Once, if a promise that was asked for explicitly is not proven. Asked for are: eps if it
        differs from the default 0.1; both rho and eps if rho is given.

    Raises
    ------
    InputError
        A parameter out of range, or no rows.
    WindowError
        The window starts past the last set.

    Examples
    --------
    >>> from flagstone import Coins, Flag
    >>> flag = Flag(3).update([[1, 0, 0], [0, 1, 1]], weights=[600, 400])
    >>> result = select_span(flag, Coins(2026), t_max=100)
    >>> result.subspace.dim, result.threshold <= 100
    (2, True)
    """
    chosen = (
        rule
        if isinstance(rule, SpanRule)
        else rule_named(
            rule, rho=rho, eps=eps, t_max=t_max, t_min=t_min, contamination=contamination
        )
    )
    if isinstance(flag, Histogram):
        flag = flag.to_flag()
    if flag.n_rows == 0:
        raise InputError("no rows: a span is chosen from at least one row")
    window = chosen.window(flag.dim, flag.n_rows, flag.n_shards)
    _check_start(chosen, flag, window)
    t = chosen.draw(window, coins)
    guarantee = chosen.guarantee(flag, window, t)
    _warn_if_unproven(chosen, flag, guarantee)
    return SpanResult(flag.span_at(chosen.index(flag, t)), t, window, guarantee, coins.seed)


def _check_start(rule: SpanRule, flag: Flag, window: Window) -> None:
    k = window.start
    if k == 0 or k < flag.n_sets:
        return
    if rule.t_min is not None:
        raise WindowError(
            f"the window {window} starts past the last set: t_min = {k}, but the rows form only "
            f"{flag.n_sets} sets. Give a smaller t_min"
        )
    c = float(rule.contamination)
    raise WindowError(
        f"the window {window} starts past the last set: contamination × rows = {k}, but the rows "
        f"form only {flag.n_sets} sets. A set takes up to rank many rows, so contamination × rank "
        f"must stay below 1 (here {c:g} × {flag.rank} = {c * flag.rank:g}). Give a smaller "
        "contamination, or the start of the window outright as t_min"
    )


def _warn_if_unproven(rule: SpanRule, flag: Flag, guarantee: Guarantee) -> None:
    unproven = []
    if rule.rho is not None and not guarantee.is_replicable_proven:
        unproven.append(f"replicability (rho = {float(rule.rho):g})")
    eps_asked = rule.rho is not None or exact(rule.eps) != exact(DEFAULT_EPS)
    if eps_asked and not guarantee.is_coverage_proven:
        unproven.append(f"coverage (eps = {float(rule.eps):g})")
    if not unproven:
        return
    text = [f"{' and '.join(unproven)} not proven with {guarantee.n_rows:,} rows"]
    if rule.rho is not None and guarantee.rows_needed is not None:
        text.append(
            f"rho = {float(rule.rho):g} and eps = {float(rule.eps):g} together need "
            f"{guarantee.rows_needed:,} rows of dimension {flag.dim} ({rule.name} rule)"
        )
    elif guarantee.window.start:
        k = guarantee.window.start
        share = g.index_uncovered(flag.dim, 1, start=k, shards=flag.n_shards) / flag.n_rows
        text.append(
            f"the start of the window, k = {k}, may cost {share:.3g} of the rows by itself, on top "
            "of the window's length: give fewer outliers, a smaller t_min, or a smaller t_max"
        )
    else:
        text.append("the window is longer than eps allows: a smaller t_max keeps coverage")
    if rule.rho is not None and guarantee.window.end > flag.n_sets:
        text.append(
            f"the window {guarantee.window} reaches past the last of the {flag.n_sets:,} sets, "
            "where the answer is {0}: to keep coverage rather than rho, leave rho out"
        )
    warnings.warn("; ".join(text), ReplicabilityWarning, stacklevel=_callers_level())


def _callers_level() -> int:
    """The stack level of the first frame outside flagstone: warnings point at the caller's line."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("flagstone"):
        frame, level = frame.f_back, level + 1
    return level
