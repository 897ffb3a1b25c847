"""Promises in words: one voice for `Guarantee`, console, pages and errors."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import TYPE_CHECKING

from flagstone.wording import counted

if TYPE_CHECKING:
    from flagstone.guarantees.promise import Guarantee

_SHOWN = 5


def promises_in_words(g: Guarantee, uncovered: float | None = None) -> list[str]:
    """Return the text of each promise, one for each line or part of a sentence.

    ``uncovered`` is the share of the rows outside the answer, where somebody counted them.
    """
    parts = [replicability_text(g), coverage_text(g, uncovered), margin_text(g)]
    if g.nothing_kept:
        parts.insert(0, "no direction was kept, so samples can agree on nothing but the coins")
    return [*parts, containment_text(g)] if g.window.start else parts


def margin_text(g: Guarantee) -> str:
    """The margin in words."""
    if g.margin < 2:
        some = "no single altered row changes" if g.margin else "one altered row may change"
        return f"{some} the answer"
    return f"no {g.margin:,} altered rows change the answer"


def replicability_text(g: Guarantee) -> str:
    """What is known about a second sample, in words."""
    if g.withheld is not None:
        return f"no promise about fresh samples: {g.withheld}"
    said = []
    if g.is_replicable_proven:
        said.append(f"≥ {agreement(g.rho)} (proven)")
    if g.rho_certified is not None:
        said.append(f"≥ {agreement(g.rho_certified)} ({certified_text(g)})")
    if not said:
        asked = "" if g.rho_asked is None else f" ≥ {agreement(g.rho_asked)}"
        weaker = "" if g.rho is None else f" (≥ {agreement(g.rho)} is)"
        known = "not proven" if g.certificate is None else "neither proven nor certified"
        return f"replicability{asked} {known}{weaker}"
    text = f"replicable with probability {', '.join(said)}"
    if g.labels is not None:
        text += f" if both samples show the same labels{shown(g)}"
    return text


def certified_text(g: Guarantee) -> str:
    """The word for what the data prove, with their confidence."""
    rows = "" if g.certificate is None else f" from {counted(g.certificate.n_certifying, 'row')}"
    return f"certified at {sure(g.confidence)} confidence{rows}"


def next_step(g: Guarantee) -> str | None:
    """What would lead to the promise that was asked for, or else to an agreement of 0.95.

    None where it is there, or cannot be.
    A hint for *fresh* rows: a window that was chosen on the rows it is applied to proves
    nothing.
    """
    second, known = g.certificate, g.rho_certified
    goal = 0.05 if g.rho_asked is None else g.rho_asked
    if g.is_replicable_proven or g.withheld is not None or (known is not None and known <= goal):
        return None
    if second is None:
        return "certify the answer on the rows of the fit, or measure with an audit"
    steps = []
    if second.rows_needed is not None:
        rows = f"about {second.rows_needed:,} rows of this kind, often far fewer,"
        steps.append(f"{rows} would certify agreement ≥ {agreement(goal)}")
    if second.t_first is not None:
        steps.append(
            f"thresholds {second.t_first}..{second.t_last} would be certified here: choose the "
            "window on pilot rows (suggest), then answer on fresh ones"
        )
    return "; ".join(steps) or "measure with an audit, or compare windows by their trade-off"


def shown(g: Guarantee) -> str:
    """The labels that samples must show."""
    labels = g.labels or ()
    more = ", …" if len(labels) > _SHOWN else ""
    return f" (here {', '.join(labels[:_SHOWN])}{more}; or name all that can occur: classes=[…])"


def coverage_text(g: Guarantee, uncovered: float | None = None) -> str:
    """What is known about the rows left out, in words."""
    most = g.uncovered_share if uncovered is None else uncovered
    here = "at most " * (uncovered is None) + percent(most) if most else "none"
    asked = f"{100 * (1 - g.eps_asked):.6g} %"
    proven = "proven" if g.is_coverage_proven else "not proven"
    text = f"coverage of {asked} {proven} in advance (this sample: {here} of these rows uncovered)"
    if g.eps_certified is not None:
        return f"at most {percent(g.eps_certified)} of rows to come uncovered (certified); {text}"
    return text


def containment_text(g: Guarantee) -> str:
    """What is known about outliers, in words."""
    are = "is an outlier" if g.window.start == 1 else "are outliers"
    text = f"outlier directions kept out unless more than {counted(g.window.start, 'row')} {are}"
    if g.containment_failure is not None:
        text += (
            f" (probability {g.containment_failure:.2g} at a rate of {100 * g.contamination:.6g} %)"
        )
    return text


def agreement(rho: float | None) -> str:
    """1 - rho for print, rounded down: a printed promise never exceeds the proven one.

    >>> agreement(0.04996), agreement(1.6e-16)
    ('0.95', '1 - 2e-16')
    """
    # the shortest decimal of a number is what people mean by it: 0.05, not the double next to it
    share = Decimal(repr(float(rho or 0.0)))
    if 0 < share < Decimal("1e-4"):
        return f"1 - {float(_rounded(share, share.adjusted(), ROUND_CEILING)):.0e}"
    return f"{float(_rounded(1 - share, -4, ROUND_FLOOR)):g}"


def sure(confidence: float) -> str:
    """A confidence in percent, rounded down to two digits of what it leaves out.

    >>> sure(0.99), sure(0.992), sure(0.9999999), sure(1 - 0.008 / 6)
    ('99 %', '99.2 %', '99.99999 %', '99.86 %')
    """
    share = 100 * Decimal(repr(float(confidence)))
    return f"{_rounded(share, min(0, (100 - share).adjusted() - 1), ROUND_FLOOR).normalize():f} %"


def percent(share: float) -> str:
    """A share in percent, rounded up to one decimal, or to two digits where that is more.

    >>> percent(0.0412), percent(0.0), percent(0.000123)
    ('4.2 %', '0 %', '0.013 %')
    """
    if share <= 0:
        return "0 %"
    hundredths = 100 * Decimal(repr(float(share)))
    place = min(-1, hundredths.adjusted() - 1)
    return f"{float(_rounded(hundredths, place, ROUND_CEILING)):g} %"


def _rounded(number: Decimal, place: int, how: str) -> Decimal:
    """A number rounded to so many powers of ten: -1 for one decimal."""
    return number.quantize(Decimal((0, (1,), place)), rounding=how)
