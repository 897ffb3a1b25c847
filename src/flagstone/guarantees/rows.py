"""Promises as lines of a table: what, how much, and how it is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flagstone.guarantees.words import (
    agreement,
    margin_text,
    next_step,
    percent,
    sure,
)

if TYPE_CHECKING:
    from flagstone.guarantees.promise import Guarantee


def promise_rows(g: Guarantee, uncovered: int | None = None) -> list[tuple[str, str, str, str]]:
    """Return (promise, text, badge, kind of badge) for each line.

    ``uncovered`` is the number of rows outside the answer, where somebody counted them.
    """
    rows = [_replicability(g)]
    if g.rho_certified is not None:
        assert g.certificate is not None
        text = (
            f"A second sample agrees with probability at least {agreement(g.rho_certified)}, by "
            f"{g.certificate.n_certifying:,} of these rows"
        )
        rows.append(("Replicability", text, f"certified at {sure(g.confidence)}", "proven"))
    if (step := next_step(g)) is not None:
        rows.append(("What now", step[0].upper() + step[1:], "not certified", "open"))
    if g.eps_certified is not None:
        text = f"At most {percent(g.eps_certified)} of the rows to come lie outside"
        rows.append(("Coverage", text, f"certified at {sure(g.confidence)}", "proven"))
    rows.append(_coverage(g, uncovered))
    text = f"With the same threshold, {margin_text(g)}"
    badge, kind = ("proven", "proven") if g.margin else ("none", "open")
    rows.append(("Margin", text, badge, kind))
    if g.window.start:
        are = "is" if g.window.start == 1 else "are"
        text = f"Their directions are kept out as long as at most {g.window.start:,} {are} damaged"
        badge = "proven under this condition"
        if g.containment_failure is not None:
            text += (
                f"; at a rate of {100 * g.contamination:g} % more than that are damaged with "
                f"probability {g.containment_failure:.2g}"
            )
            badge = f"proven, but for probability {g.containment_failure:.2g}"
        rows.append(("Damaged rows", text, badge, "plain"))
    return rows


def _replicability(g: Guarantee) -> tuple[str, str, str, str]:
    name = "Replicability"
    if g.withheld is not None:
        return name, f"No promise about fresh samples: {g.withheld}", "withheld", "open"
    if g.is_replicable_proven:
        text = f"A second sample agrees with probability at least {agreement(g.rho)}"
        return name, text, "proven", "proven"
    text = "No bound is proven in advance for this many rows"
    if g.rho is not None:
        text = f"At least {agreement(g.rho)} is proven, but {agreement(g.rho_asked)} was asked for"
    if g.rows_needed is not None:
        text += f"; what was asked needs {g.rows_needed:,} rows"
    return name, text, "not proven", "open"


def _coverage(g: Guarantee, uncovered: int | None) -> tuple[str, str, str, str]:
    low, high = g.uncovered_bracket if uncovered is None else (uncovered, uncovered)
    between = f"{high:,}" if low == high else f"between {low:,} and {high:,}"
    sample = f"{between} of these {g.n_rows:,} rows lie outside"
    if g.is_coverage_proven:
        text = (
            f"{sample}; of the {g.n_rows:,} rows that any such run is given, at most "
            f"{percent(g.eps or 0.0)} do"
        )
        return "Coverage", text, "proven", "proven"
    text = f"{100 * (1 - g.eps_asked):.3g} % is not proven in advance; {sample}"
    return "Coverage", text, "bracket from the flag" if uncovered is None else "measured", "plain"
