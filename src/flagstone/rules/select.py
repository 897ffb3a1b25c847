"""`select_span`: flag + coins → subspace, with the warnings that belong to it."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, NamedTuple

from flagstone import guarantees as g
from flagstone.algebra import Flag, Staircase, Subspace
from flagstone.coins import Coins
from flagstone.errors import FormatError, InputError, Parameter, ReplicabilityWarning
from flagstone.guarantees.exact import exact
from flagstone.rules.base import DEFAULT_EPS, SpanRule
from flagstone.rules.heavy import HeavyRule
from flagstone.rules.index import IndexRule

_RULES: dict[str, type[SpanRule]] = {"index": IndexRule, "heavy": HeavyRule}


class Selection(NamedTuple):
    """The chosen space V*, and what its choice promises."""

    subspace: Subspace
    guarantee: g.Guarantee


def rule_named(rule: Any, **parameters: Any) -> SpanRule:
    """The rule of this name with these parameters, validated.

    >>> rule_named("heavy", rho=0.1).name
    'heavy'
    """
    if not isinstance(rule, str) or rule not in _RULES:
        names = " or ".join(map(repr, _RULES))
        raise InputError(Parameter("rule"), f" must be {names}, got {rule!r}")
    return _RULES[rule](**parameters)


def rule_from_dict(data: Mapping[str, Any]) -> SpanRule:
    """Read what `SpanRule.to_dict` wrote.

    >>> rule_from_dict(IndexRule(rho=Fraction(1, 3)).to_dict()).rho
    Fraction(1, 3)
    """
    if data.keys() != {"name", *vars(IndexRule())}:
        raise FormatError("its rule lacks a parameter, or has one too many")
    parameters = {
        key: Fraction(value) if isinstance(value, str) and value != "paper" else value
        for key, value in data.items()
        if key != "name"
    }
    return rule_named(data["name"], **parameters)


def select_span(flag: Flag, rule: SpanRule, coins: Coins, *, warn: bool = True) -> Selection:
    """Choose a span from a flag with published coins.

    Warns if a promise that was asked for explicitly is not proven. Asked for are: eps if it differs
    from the default 0.1; both rho and eps if rho is given. And if the window starts past the last
    set, where the answer is {0} whatever the threshold: an error there would depend on the data,
    and break the promise. (Not if all rows are zero: {0} holds them.)

    >>> from flagstone import Coins, Flag, IndexRule
    >>> flag = Flag(3).update([[1, 0, 0], [0, 1, 1]], weights=[600, 400])
    >>> chosen = select_span(flag, IndexRule(t_max=100), Coins(2026))
    >>> chosen.subspace.dim, chosen.guarantee.setup.threshold <= 100
    (2, True)
    """
    if flag.n_rows == 0:
        raise InputError("no rows: a span is chosen from at least one row")
    used = rule.n_rows(coins)
    if used is not None and used != flag.n_rows:
        raise InputError(
            f"of {rule.draw_rows:,} rows the coins use the first {used:,}, got {flag.n_rows:,}: "
            "draw_rows needs exactly these (rule.n_rows(coins))"
        )
    window = rule.window(flag.dim, flag.n_rows, flag.n_shards)
    t = rule.draw(window, coins)
    index = rule.index(Staircase.of(flag), t)
    guarantee = rule.guarantee(flag, window, t, index)
    if warn:
        for parts in (_past_the_end(rule, flag, guarantee), _unproven(rule, flag, guarantee)):
            if parts:
                warnings.warn(ReplicabilityWarning(*parts), stacklevel=_callers_level())
    return Selection(flag.span_at(index), guarantee)


def _past_the_end(rule: SpanRule, flag: Flag, guarantee: g.Guarantee) -> list[str | Parameter]:
    k = guarantee.setup.window.start
    if k == 0 or k < flag.n_sets or flag.rank == 0:  # of zero rows alone, {0} says all there is
        return []
    text = f"the window {guarantee.setup.window} starts past {_last(flag)}, so "
    text += "nothing is kept and the answer says nothing about the rows"
    if rule.t_min is not None:
        return [text, ": give a smaller ", Parameter("t_min")]
    c, used = float(rule.contamination), int(flag.counts.sum())  # zero rows are in no set
    share = used / flag.n_rows
    if not c:  # the default window
        zero = f": {flag.n_rows - used:,} of the {flag.n_rows:,} rows are zero; give a smaller "
        return [text + zero, Parameter("t_min")]
    if c * flag.rank < share:  # of many such rows, the sets would reach past the window
        return [f"{text}: too few rows for this ", Parameter("contamination"), "; more rows help"]
    zeros = c * flag.rank < 1  # they alone make it too much
    limit = f"the share of rows that are not zero, {share:.3g}" if zeros else "1"
    return [
        f"{text}. A set takes up to rank many rows, so ",
        Parameter("contamination"),
        f" × rank must stay below {limit} (here {c:g} × {flag.rank} = {c * flag.rank:g}): give a "
        "smaller one, or the first threshold outright as ",
        Parameter("t_min"),
        " of the rule",
    ]


def _unproven(rule: SpanRule, flag: Flag, guarantee: g.Guarantee) -> list[str | Parameter]:
    unproven = []
    if rule.rho is not None and not guarantee.is_replicable_proven:
        unproven.append(f"replicability (rho = {float(rule.rho):g})")
    eps_asked = rule.rho is not None or exact(rule.eps) != exact(DEFAULT_EPS)
    if eps_asked and not guarantee.is_coverage_proven:
        unproven.append(f"coverage (eps = {float(rule.eps):g})")
    if not unproven:
        return []
    parts: list[str | Parameter] = [
        f"{' and '.join(unproven)} not proven with {guarantee.setup.n_rows:,} rows; "
    ]
    if rule.rho is not None and guarantee.proven.rows_needed is not None:
        parts.append(
            f"rho = {float(rule.rho):g} and eps = {float(rule.eps):g} together need "
            f"{guarantee.proven.rows_needed:,} rows of dimension {flag.dim} ({rule.name} rule)"
        )
    elif k := guarantee.setup.window.start:
        share = g.index_uncovered(flag.dim, 1, start=k, shards=flag.n_shards) / flag.n_rows
        parts += [
            f"the {k:,} sets before the window may cost {share:.3g} of the rows by themselves, on "
            "top of the window's length: allow for fewer outliers, or give a smaller ",
            Parameter("t_min"),
            " or ",
            Parameter("t_max"),
        ]
    else:
        parts += [
            "the window is longer than eps allows: a smaller ",
            Parameter("t_max"),
            " keeps coverage",
        ]
    if rule.rho is not None and guarantee.setup.window.t_max > flag.n_sets:
        parts += [
            f"; the window {guarantee.setup.window} reaches past {_last(flag)}, "
            "where the answer is {0}: to keep coverage rather than rho, leave ",
            Parameter("rho"),
            " out",
        ]
    return parts


def _last(flag: Flag) -> str:
    return "the only set" if flag.n_sets == 1 else f"the last of the {flag.n_sets:,} sets"


def _callers_level() -> int:
    """The stack level of the first frame outside flagstone: warnings point at the caller's line."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("flagstone"):
        frame, level = frame.f_back, level + 1
    return level
