"""The promises of a model as lines of a table: what, how much, and how it is known."""

from __future__ import annotations

from typing import Any

from flagstone.models import Model

__all__ = ["promise_rows"]


def promise_rows(model: Model) -> list[tuple[str, str, str, str]]:
    """Return (promise, text, badge, kind of badge) for each line."""
    g = model.guarantee
    assert g is not None
    rows = [_replicability(g)]
    if g.rho_certificate is not None:
        text = (
            f"For this distribution, a second sample agrees with probability at least "
            f"{_down(1 - g.rho_certificate)}"
        )
        badge = f"certified by the data, {g.confidence:.0%} confidence"
        rows.append(("Certificate", text, badge, "plain"))
    rows.append(_coverage(g))
    measured: dict[str, Any] = dict(model.details.get("rows") or {})
    if measured.get("uncovered") is not None and measured.get("read"):
        share = 100 * measured["uncovered"] / measured["read"]
        text = f"{measured['uncovered']:,} rows ({share:.3g} %) lie outside the span"
        rows.append(("Coverage, counted", text, "measured", "plain"))
    unit = "sets" if g.rule == "index" else "rows"
    text = f"{g.margin:,} {unit}: no {g.margin:,} altered rows change the answer (same threshold)"
    badge, kind = ("proven", "proven") if g.margin else ("none", "open")
    rows.append(("Margin", text, badge, kind))
    if g.window.start:
        text = f"Their directions are kept out as long as at most {g.window.start:,} are damaged"
        badge = "proven under this condition"
        if g.containment_failure is not None:
            text += (
                f"; at a rate of {100 * g.contamination:g} % more than that are damaged with "
                f"probability {g.containment_failure:.2g}"
            )
            badge = f"proven, but for probability {g.containment_failure:.2g}"
        rows.append(("Damaged rows", text, badge, "plain"))
    return rows


def _replicability(g: Any) -> tuple[str, str, str, str]:
    name = "Replicability"
    if g.is_replicable_proven:
        text = f"A second sample agrees with probability at least {_down(1 - g.rho)}"
        return name, text, "proven", "proven"
    text = "No bound is proven in advance for this many rows"
    if g.rho is not None:
        text = f"At least {_down(1 - g.rho)} is proven, but {_down(1 - g.rho_asked)} was asked for"
    if g.rows_needed is not None:
        text += f"; what was asked needs {g.rows_needed:,} rows"
    return name, text, "not proven", "open"


def _coverage(g: Any) -> tuple[str, str, str, str]:
    low, high = g.uncovered_bracket
    between = f"{high:,}" if low == high else f"between {low:,} and {high:,}"
    sample = f"{between} of these {g.n_rows:,} rows lie outside"
    if g.is_coverage_proven:
        text = (
            f"{sample}; of the {g.n_rows:,} rows that any such run is given, at most "
            f"{100 * g.eps:.3g} % do"
        )
        return "Coverage", text, "proven", "proven"
    text = f"{100 * (1 - g.eps_asked):.3g} % is not proven in advance; {sample}"
    return "Coverage", text, "bracket from the flag", "plain"


def _down(probability: float) -> str:
    """Return a probability rounded down, so that print never promises more than the proof."""
    return f"{int(probability * 1e4 + 1e-6) / 1e4:g}"
