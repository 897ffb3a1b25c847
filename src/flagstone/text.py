"""Sentences for people: numbers and states in, words out.

The only place where the core composes prose. Files and fingerprints hold no sentences, so they
can be reworded here without breaking anything that was saved.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import TYPE_CHECKING, Any

from flagstone.answers import ParityRule
from flagstone.encoding import constant_text, worded, worded_rule
from flagstone.wording import counted

if TYPE_CHECKING:
    from flagstone.encoding import Encoding
    from flagstone.finding import Finding
    from flagstone.guarantees import Certificate, Guarantee
    from flagstone.measurement import Measurement

#: At most this many of the labels that samples must show are listed.
_SHOWN = 5


# Numbers, rounded to the safe side


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


def certain(rho: float) -> str:
    """1 - rho for print where rho is certified: never 1, since no confidence is.

    >>> certain(0.0), certain(0.002)
    ('1 - 1e-300', '0.998')
    """
    return agreement(max(rho, 1e-300))


def sure(confidence: float) -> str:
    """A confidence in percent, rounded down to two digits of what it leaves out.

    >>> sure(0.99), sure(0.992), sure(0.9999999), sure(1 - 0.008 / 6)
    ('99 %', '99.2 %', '99.99999 %', '99.86 %')
    """
    share = 100 * Decimal(repr(float(confidence)))
    return f"{_rounded(share, min(0, (100 - share).adjusted() - 1), ROUND_FLOOR).normalize():f} %"


def percent(share: float) -> str:
    """A share in percent, rounded up to one decimal, or to two digits if that is more precise.

    >>> percent(0.0412), percent(0.0), percent(0.000123)
    ('4.2 %', '0 %', '0.013 %')
    """
    if share <= 0:
        return "0 %"
    hundredths = 100 * Decimal(repr(float(share)))
    place = min(-1, hundredths.adjusted() - 1)
    return f"{float(_rounded(hundredths, place, ROUND_CEILING)):g} %"


def _rounded(number: Decimal, place: int, how: str) -> Decimal:
    """A number rounded to a power of ten: -1 for one decimal."""
    return number.quantize(Decimal((0, (1,), place)), rounding=how)


# What was found


def summary(finding: Finding) -> dict[str, Any]:
    """Return everything that is derived from a finding to be read: ``text`` of ``--json``.

    ``support``, ``title``, ``headline``, ``caution``, ``hint``, ``alternatives``, ``promises`` and
    ``next_step``; the answer as ``answer``, ``lines``, ``masks`` (GF(2)) and ``expression``.
    """
    answer, g, rows = finding.answer, finding.promises, finding.rows
    plain = finding.encoding.degree == 1
    maskable = finding.field.order == 2 and plain and answer.augmented is not None
    return {
        "support": finding.support,
        "title": title(finding),
        "headline": headline(finding),
        "caution": caution(finding),
        "hint": hint(finding),
        "alternatives": alternatives(finding),
        "promises": [] if g is None else promises(g, rows.share(rows.uncovered)),
        "next_step": None if g is None else next_step(g),
        "answer": answer.text,
        "lines": list(finding.lines),
        "unlisted": unlisted(finding),
        "masks": list(answer.mask_lines) if maskable else None,
        "expression": finding.expression,
    }


def title(finding: Finding) -> str:
    """What was found, in a few words; that it is one of many, if it is."""
    kind = finding.question.kind
    if finding.is_empty:
        drawn = getattr(finding.question, "choice", None) == "uniform"
        rest = "this rule is only a draw of the coins" if drawn else "the rows say nothing"
        return f"No direction was kept: {rest}"
    others = finding.alternatives
    one = f", one of {others.count} that fit" if others and others.differ else ""
    return _TITLES[kind](finding) + one


def lines(finding: Finding) -> tuple[str, ...]:
    """The answer as it is shown: what is new in it, in the words of the table.

    ``answer.lines`` are all equations, in the reduced form that the fingerprint is of.
    """
    answer, encoding, found = finding.answer, finding.encoding, finding.news
    if found is not None:
        return tuple(worded(found.encoding, row) for row in found.rows)
    if isinstance(answer, ParityRule) and answer.coef is not None:
        said = worded_rule(encoding, answer.coef, answer.intercept)
        return answer.lines if said is None else (said,)
    return answer.lines or (answer.text,)


def checks(finding: Finding) -> tuple[str, ...]:
    """What a row can break: the equations of `lines`, and constants (as `News.broken` has them)."""
    found = finding.news
    known = () if found is None else found.constants
    return (*finding.lines, *(constant_text(finding.words, *pair) for pair in known))


def unlisted(finding: Finding) -> str | None:
    """How many equations are omitted because the encoding implies them; None without any."""
    found = finding.news
    if found is None or not (found.implied or found.constants):
        return None
    said = []
    if found.constants:
        texts = [constant_text(found.encoding, *pair) for pair in found.constants[:_SHOWN]]
        more = ", …" if len(found.constants) > _SHOWN else ""
        said.append(f"{counted(len(found.constants), 'constant')} ({', '.join(texts)}{more})")
    if found.implied:
        said.append(f"{counted(found.implied, 'equation')} implied by the encoding")
    return f"not listed: {', '.join(said)}"


def expression_note(finding: Finding) -> str | None:
    """What ``x`` is in the Python expression of an answer over QQ, and what it needs."""
    if finding.field.order is not None or finding.answer.is_bottom:
        return None
    encoding = finding.encoding
    row = "the columns in their order"
    if not encoding.monomials.is_numbered:
        plain = all(encoder.is_plain for encoder in encoding.encoders)
        row = (
            "a row by column name (csv.DictReader, pandas)" if plain else "encoded columns by name"
        )
    return f"x: {row}; numbers, decimals or text; needs: from fractions import Fraction"


def nothing_to_break(finding: Finding) -> str | None:
    """A warning if every row fits the equations; None if a row can break them."""
    found = finding.news
    if found is None or finding.question.labelled or len(found.rows) + len(found.constants):
        return None
    return f"there is no equation to check{_beyond(finding)}, so every row fits"


def _span_title(finding: Finding) -> str:
    answer: Any = finding.answer
    return f"A span of dimension {answer.dim - len(answer)} of {answer.dim}, {_hold(finding)}"


def _parity_title(finding: Finding) -> str:
    answer: Any = finding.answer
    if answer.is_bottom:
        return "No linear rule fits the rows that were kept"
    return f"A linear rule for {answer.target}"


def _equations_title(finding: Finding) -> str:
    answer: Any = finding.answer
    if answer.is_bottom:
        return "The equations that were kept contradict each other"
    return f"A system of {counted(len(answer), 'equation')} stands for the rows"


def _subspace_title(finding: Finding) -> str:
    if finding.news is None:
        return "No row is positive: the affine subspace is empty"
    return f"The positive rows obey {counted(len(finding.news.rows), 'equation')}{_beyond(finding)}"


def _hold(finding: Finding) -> str:
    found = finding.news
    if found is None:
        return "the kept equations contradict each other"
    if len(found.rows):
        return counted(len(found.rows), "check equation", "holds")
    return f"no check equation holds{_beyond(finding)}"


def _beyond(finding: Finding) -> str:
    """What is known without the rows, where nothing is new."""
    found = finding.news
    if found is None or len(found.rows):
        return ""
    known = ["the encoding"] * bool(found.implied) + ["constants"] * bool(found.constants)
    return f" beyond {' and '.join(known)}" if known else ""


_TITLES = {
    "span": _span_title,
    "constraints": lambda finding: _hold(finding).capitalize(),
    "parity": _parity_title,
    "equations": _equations_title,
    "subspace": _subspace_title,
}


def headline(finding: Finding) -> str:
    """The title with what is known of it; an answer that is not supported says so first."""
    g, known, found = finding.promises, finding.credibility, title(finding)
    if g is None or finding.is_empty or finding.answer.is_bottom or _is_no_news(finding):
        return found
    if g.withheld is not None:
        left = f" but {_left(g)}" if g.contains and g.measured.about == "equations" else ""
        return f"{found}; nothing{left} is promised about future rows"
    if known.support is None:
        if not known.claims_something or not known.is_unmeasured:
            return found
        return f"{found}; not {'measured' if finding.rows.uncovered is None else 'certified'}"
    if known.support == "whole":
        share, certain = percent(g.certified.eps or 0.0), sure(g.certified.confidence)
        # nothing is known about negative examples
        positive = finding.question.kind == "subspace"
        breaks = "are positive and lie outside" if positive else "do not fit"
        return f"{found}; at most {share} of future rows {breaks} ({certain} confidence)"
    if known.support == "part":
        held = max(0, known.held_by_all - (0 if finding.news is None else finding.news.implied))
        hold = f"the {held} that hold{'s' if held == 1 else ''} in all of them"
        return f"{found}, but the rows support only {hold}"
    why = "too many rows do not fit"
    if known.has_few_rows:
        why = f"too few: {counted(g.setup.n_rows, 'row')} of rank {finding.stairs.rank}"
    return f"Not supported by the rows ({why}): {found}"


def _left(g: Guarantee) -> str:
    """Which equations a fresh answer has although rows depend on each other."""
    kept = g.contains
    return "some of these equations" if kept and kept.equations < kept.of else "these equations"


def _is_no_news(finding: Finding) -> bool:
    """Whether all equations follow from the encoding, so that there is nothing to promise."""
    found = finding.news
    return found is not None and found.implied > 0 and not len(found.rows) + len(found.constants)


def notes(finding: Finding) -> list[str]:
    """Remarks below the headline: caution, unused rows, hint, other rules."""
    said = (caution(finding), unused_rows(finding), hint(finding), alternatives(finding))
    return [note for note in said if note is not None]


def caution(finding: Finding) -> str | None:
    """A warning if more rows do not fit than was allowed for; None otherwise, or if not counted."""
    g, misfits, allowed = finding.promises, finding.rows.misfits, finding.credibility.exceeded
    if g is None or misfits is None or allowed is None:
        return None
    m, c = g.setup.n_rows, g.asked.contamination
    stated = f"the stated contamination, {100 * c:g} %" if c else f"{100 * allowed / m:.3g} %"
    return f"{100 * misfits / m:.3g} % of the rows do not fit, more than {stated}"


def unused_rows(finding: Finding) -> str | None:
    """What happens to the rows after those that the coins drew; None where all rows are used."""
    rule, used = finding.rule, finding.rows.read
    if rule is None or rule.draw_rows is None:
        return None
    return (
        f"the coins chose to use the first {used:,} of {rule.draw_rows:,} rows; the others were "
        "not used, and can serve to check the answer"
    )


def hint(finding: Finding) -> str | None:
    """What to try next: where a wider plateau is, or what may lead to a rule; None if nothing.

    A plateau is for *fresh* rows: rows that choose their own window prove nothing with it.
    """
    best = finding.credibility.plateau
    no_rule = finding.answer.is_bottom and finding.question.kind == "parity"
    if best is None and no_rule:
        g = finding.promises
        more = "more " if g is not None and g.asked.contamination else ""
        products = finding.credibility.products
        not_linear = (
            ""
            if products is None
            else (
                "if the rule may not be linear, use products of columns (degree "
                f"{products.degree}){products_need(finding)}; "
            )
        )
        return (
            f"{few_rows(finding)}if {more}labels may be wrong, say how many (contamination); "
            f"{not_linear}or add columns that the label depends on"
        )
    if best is None:
        return None
    where = f"thresholds {best.first:,} to {best.last:,}"
    if no_rule:
        return (
            f"a rule fits at {where}, which leave out what few rows say, such as damaged ones. Say "
            "how many may be (contamination), or choose a window there for fresh rows (plan); "
            "chosen on these rows it would promise nothing"
        )
    return (
        f"another window would be more stable: {where} give one space of dimension {best.dim}. Use "
        "it on new data only (plan): choosing it on these rows voids the guarantees"
    )


def few_rows(finding: Finding) -> str:
    """That there are few rows for their dimension D, fewer than 4·D; "" if there are enough."""
    g, V = finding.promises, finding.subspace
    if g is None or V is None or g.setup.n_rows >= 4 * V.ambient_dim:
        return ""
    D = V.ambient_dim
    few = f"{counted(g.setup.n_rows, 'row', 'is')} few for rows of dimension {D:,}"
    return f"{few}: use at least {4 * D:,} rows; "


def products_need(finding: Finding) -> str:
    """What products of columns need; "" if the rows and the rule of the finding leave room."""
    made, rule = finding.credibility.products, finding.rule
    if made is None or rule is None or made.have_room:
        return ""
    c, most = float(rule.contamination), made.n_rows // made.dim
    if rule.t_min is not None and most:
        needed = f"a window that starts at threshold {most:,} or before"
    elif c * made.dim >= 1:
        limit = Decimal(1) / made.dim
        needed = f"a contamination below {_rounded(limit, limit.adjusted() - 1, ROUND_FLOOR)}"
    else:
        needed = f"at least {math.ceil(made.dim / (1 - c * made.dim)):,} rows"
    return f", whose {made.count:,} columns need {needed}"


def alternatives(finding: Finding) -> str | None:
    """How many rules fit, and which one this is; None if it is the only one."""
    others = finding.alternatives
    if others is None:
        return None
    which = {
        "uniform": "drawn by the coins",
        "lexmin": "the lexicographically smallest",
        "sparsest": "with the fewest terms" + " that a bounded search found" * (not others.proven),
    }[others.choice]
    if others.choice != "sparsest":
        which += "; the choice sparsest looks for one with few terms"
    agree = ""
    if others.differ < others.dim:
        row = "row that the encoding can make"
        agree = f", of which {others.different} differ on some {row}"
        if not others.differ:
            agree = f", and agree on every {row}"
    return f"{others.count} rules fit these rows{agree}; this is one of them, {which}"


def partitions(finding: Finding) -> str | None:
    """How the rows were cut, and what that costs; None for rows that came as one."""
    found = {"number": 1, "empty": 0, "short": 0, **finding.provenance.get("partitions", {})}
    number, empty, short = (found[name] for name in ("number", "empty", "short"))
    if number < 2:
        return None
    said = f"{number:,} partitions"
    shards = 1 if finding.promises is None else finding.promises.setup.n_shards
    if shards > 1:
        said += f" (what is proven loses a factor {shards:,}, what is certified does not)"
    if empty:
        said += f"; {empty:,} of them hold no rows"
    if short:
        said += f"; {short:,} are shorter than the pieces of rows that certify, and certify nothing"
    return said


def products(n_columns: int, n_products: int, degree: int, dim: int, proven: int) -> str:
    """How many products of columns there are, and how many rows they need."""
    return (
        f"degree {degree}: {n_products:,} products of {counted(n_columns, 'column')}, so rows of "
        f"dimension D = {dim:,}. Give at least 4·D = {4 * dim:,} of them; rho = 0.05 and eps = 0.1 "
        f"are proven in advance from {proven:.2g} rows, and certified from far fewer if the rows "
        "have a gap"
    )


def left_out(encoding: Encoding) -> str:
    """Why rows were not read."""
    if encoding.drop_missing:
        return "left out because a value is missing"
    return "of another length skipped"


def measurement(rows: Measurement) -> str:
    """Exact counts of rows, with their shares."""
    parts = [
        f"{count:,} {word} ({100 * (rows.share(count) or 0.0):.3g} %)"
        for word, count in (("uncovered", rows.uncovered), ("misfits", rows.misfits))
        if count is not None
    ]
    return counted(rows.read, "row") + (f": {', '.join(parts)}" if parts else "")


# What is promised


def promises(g: Guarantee, uncovered: float | None = None) -> list[str]:
    """The text of each promise; ``uncovered`` is the share of rows outside, if counted."""
    said = [replicability(g), each(g), contains(g), coverage(g, uncovered)]
    if g.measured.is_empty:
        said.insert(0, "no direction was kept: the answer says nothing about the rows")
    said.append(margin(g))
    if g.setup.window.start:
        said.append(containment(g))
    return [part for part in said if part is not None]


def margin(g: Guarantee) -> str:
    """The margin in words; only that of {0} can be larger than the number of rows."""
    rows, given = g.measured.margin, g.setup.n_rows
    if not rows:
        return "one altered row may change the answer"
    if rows >= given and not g.measured.dim:
        return (
            f"the answer does not change if any of the {given:,} rows are altered, or if up to "
            f"{rows:,} rows are added{_weighed(g)}"
        )
    some = "one row is" if rows == 1 else f"up to {rows:,} rows are"
    return f"the answer does not change if {some} altered{_weighed(g)}"


def _weighed(g: Guarantee) -> str:
    """What a number of rows means where rows have weights."""
    return ", each counted by its weight" if g.setup.sorted_rows else ""


def replicability(g: Guarantee) -> str:
    """What is known about a second sample, in words."""
    if g.withheld is not None:
        return f"no promise about fresh samples: {g.withheld}"
    proven, certified, asked = g.proven.rho, g.certified.rho, g.asked.rho
    said = []
    if g.is_replicable_proven:
        said.append(f"≥ {agreement(proven)} (proven)")
    if certified is not None:
        said.append(f"≥ {certain(certified)} ({_certified(g)})")
    if not said:
        wanted = "" if asked is None else f" ≥ {agreement(asked)}"
        weaker = "" if proven is None else f" (≥ {agreement(proven)} is)"
        nothing = g.certified.certificate is None
        known = "not proven" if nothing else "neither proven nor certified"
        return f"replicability{wanted} {known}{weaker}"
    said_of = f"replicable with probability {', '.join(said)}"
    if g.setup.labels is not None:
        said_of += f" if both samples show the same labels{_labels(g.setup.labels)}"
    return said_of


def each(g: Guarantee) -> str | None:
    """What is proven of single equations.

    None where the whole answer is as replicable, and where less than one half is proven.
    """
    known, whole = g.proven.each, g.proven.rho
    if known is None or known > 0.5 or (whole is not None and whole <= known):
        return None
    return (
        "for any equation or row fixed in advance, two samples agree on it with probability ≥ "
        f"{agreement(known)} (proven)"
    )


def contains(g: Guarantee) -> str | None:
    """Which equations a fresh answer has, too, and whether it is the same one; None if unknown."""
    kept = g.contains
    if kept is None or g.measured.is_empty:
        return None
    sure = f"≥ {certain(kept.failure)} (certified)"
    same = "not certified" if g.misses is None else f"≥ {certain(g.misses)} (certified)"
    said = f"a fresh answer contains {_equations(kept.equations, kept.of)}"
    if g.measured.about != "equations":
        if kept.equations < kept.of or not g.measured.about:
            return None
        said = _HELD[g.measured.about]
    if g.withheld is not None:
        return f"{said}: {sure}, {_IF_INDEPENDENT}"
    return f"{said}: {sure}; is exactly this answer: {same}"


#: What V* ⊆ V of an answer V means for a fresh answer V*.
_HELD = {
    "rule": "a fresh sample allows this rule, too",
    "system": "a fresh system follows from this one",
}
_IF_INDEPENDENT = "if rows violate equations independently of each other"


def _equations(some: int, of: int) -> str:
    if some < of:
        return f"{some} of the {of} equations"
    return "this equation" if of == 1 else f"all {of} equations"


def _certified(g: Guarantee) -> str:
    """The word for what the data prove, with their confidence."""
    second = g.certified.certificate
    rows = "" if second is None else f" from {counted(second.n_certifying, 'row')}"
    return f"certified at {sure(g.certified.confidence)} confidence{rows}"


def _labels(labels: tuple[str, ...]) -> str:
    """The labels that samples must show."""
    more = ", …" if len(labels) > _SHOWN else ""
    return f" (here {', '.join(labels[:_SHOWN])}{more}; or name all that can occur: classes=[…])"


def coverage(g: Guarantee, uncovered: float | None = None) -> str:
    """What is known about the rows left out, in words."""
    about = g.measured.about
    if about == "equations" and g.measured.dim == g.setup.dim:
        return "every row fits, as there is no equation that it could violate"
    most = g.uncovered_share if uncovered is None else uncovered
    exact = uncovered is not None or g.measured.outside is not None
    here = "at most " * (not exact) + percent(most) if most else "none"
    asked = f"{100 * (1 - g.asked.eps):.6g} %"
    proven = "proven" if g.is_coverage_proven else "not proven"
    said = f"coverage of {asked} {proven} in advance (this sample: {here} of these rows uncovered)"
    if not _certifies_coverage(g):
        return said
    if g.is_unmeasured and uncovered is None:
        return f"future rows not measured yet; {said}"
    share = percent(g.certified.eps or 0.0)
    breaks = "violate it" if about else "lie outside the span of the kept rows"  # no answer: ⊥
    return f"at most {share} of future rows {breaks} (certified); {said}"


def _certifies_coverage(g: Guarantee) -> bool:
    """Whether the rows certify a share of future rows that is not 100 % when it is printed."""
    return g.certified.eps is not None and g.certified.eps <= 0.999


def containment(g: Guarantee) -> str:
    """What is known about outliers, in words."""
    start, failure = g.setup.window.start, g.proven.containment_failure
    said = f"safe for up to {counted(start, 'corrupted row')}{_weighed(g)}"
    if failure is not None:
        rate = f"at a rate of exactly {100 * g.asked.contamination:.6g} %"
        said += f" ({rate}, there is a {100 * failure:.2g} % chance of more)"
    return said


def next_step(g: Guarantee) -> str | None:
    """What would lead to the promise that was asked for, or else to an agreement of 0.95.

    And first to that on equations, which needs fewer rows.

    None where it is there, or cannot be. A hint for *fresh* rows: a window that was chosen on the
    rows it is applied to proves nothing.
    """
    second, known = g.certified.certificate, g.certified.rho
    goal = 0.05 if g.asked.rho is None else g.asked.rho
    if g.is_replicable_proven or (known is not None and known <= goal):
        return None
    first, steps = g.contains_from, []
    if first is not None and (about := g.measured.about):
        some = g.setup.dim - g.measured.dim
        what = _equations(some, some) if about == "equations" else f"this {about}"
        steps.append(
            f"on fresh rows like these a window from threshold {first} on"
            f"{_by_contamination(g, first)} would certify {what}"
        )
    if g.withheld is not None:
        return "".join(steps) or None
    if second is None:
        return "certify the answer on the rows of the fit, or measure with an audit"
    if second.t_first is not None:
        say = _by_contamination(g, second.t_first, second.t_last)
        steps.append(
            f"thresholds {second.t_first}..{second.t_last}{say} would be certified here: choose "
            "the window on pilot rows (plan), then answer on fresh ones"
        )
    if second.rows_needed is not None:
        this = "with the present window " * bool(steps)
        rows = f"{this}about {second.rows_needed:,} rows of this kind, often far fewer,"
        steps.append(f"{rows} would certify agreement ≥ {agreement(goal)}")
    steps = steps or ["measure with an audit, or compare windows by their trade-off"]
    if g.proven.rows_needed is not None:
        steps.insert(0, f"{g.proven.rows_needed:,} rows prove what was asked")
    return "; ".join(steps)


def _by_contamination(g: Guarantee, first: int, last: int | None = None) -> str:
    """Say which contamination makes a window of as many rows start there; "" if it ends later."""
    start, window = first - 1, g.setup.window
    if not g.asked.contamination or start <= window.start:
        return ""
    if last is not None and start + window.length > last:
        return ""
    share = Decimal(start) / g.setup.n_rows
    stated = _rounded(share, share.adjusted() - 1, ROUND_CEILING)
    return f" (as with contamination {float(stated):g})"


def hypotheses(g: Guarantee) -> tuple[str, ...]:
    """What the promise on replicability rests on."""
    setup, shards = g.setup, g.setup.n_shards
    order = "the order of their values" if setup.sorted_rows else "their original order"
    tree = "rows in one flag" if shards == 1 else f"the same tree of {shards} shards"
    labels = setup.labels
    same = () if labels is None else (f"the same labels in both samples{_labels(labels)}",)
    return (
        "rows over the field, drawn independently from one distribution (outliers, if any, "
        "included)",
        f"the same number of rows in both runs (here {setup.n_rows}, zero rows included)",
        f"the same window {setup.window} and the same published seed",
        "a window that was not chosen on these rows",
        f"rows read in {order}",
        tree,
        *same,
        *setup.conditions,
    )


def conditions(g: Guarantee) -> tuple[str, ...]:
    """What a printed promise about fresh samples and future rows rests on; () without one."""
    said = (g.certified.rho, each(g), contains(g))
    if g.withheld is not None or not (
        g.is_replicable_proven or _certifies_coverage(g) or any(s is not None for s in said)
    ):
        return g.setup.conditions
    here = "the rows are independent, and the window was not chosen on them"
    return (here, *g.setup.conditions)


def certificate(c: Certificate) -> str:
    """What a second pass over the rows certified."""
    head = f"certified at {sure(c.confidence)} confidence, from {c.n_certifying} rows"
    said = []
    if c.rho is not None:
        agree = f"two samples of {c.n_rows} rows agree with probability"
        said.append(f"{agree} ≥ {certain(c.rho)}")
    else:
        said.append("nothing for this window" + _instead(c))
    if c.misses is not None:
        gives = "a fresh one gives this space with probability"
        said.append(f"{gives} ≥ {certain(c.misses)}")
    if c.eps is not None and c.eps <= 0.999:
        said.append(f"at most {percent(c.eps)} of future rows lie outside")
    return f"{head}: {'; '.join(said)}"


def _instead(c: Certificate) -> str:
    hints = []
    if c.t_first is not None:
        hints.append(f"thresholds {c.t_first}..{c.t_last} would be")
    if c.rows_needed is not None:
        hints.append(f"about {c.rows_needed} rows of this kind would do")
    return f" ({', '.join(hints)})" if hints else ""


# Promises as lines of a table: what, how much, and how it is known


def promise_rows(g: Guarantee, uncovered: int | None = None) -> list[tuple[str, str, str, str]]:
    """Return (promise, text, badge, kind of badge) for each line: the sentences of `promises`.

    ``uncovered`` is the number of rows outside the answer, where they were counted.
    """
    share = None if uncovered is None else uncovered / g.setup.n_rows
    proven, none = ("proven", "proven"), ("none", "open")
    certified = f"certified at {sure(g.certified.confidence)}", "proven"
    rows = [
        ("Replicability", replicability(g), _replicability_badge(g)),
        ("Each equation, each row", each(g), proven),
        ("Same equations", contains(g), certified),
        ("What now", next_step(g), ("not certified", "open")),
        ("Coverage", coverage(g, share), _coverage_badge(g, uncovered)),
        ("Margin", margin(g), proven if g.measured.margin else none),
    ]
    if g.setup.window.start:
        rows.append(("Damaged rows", containment(g), ("proven under this condition", "plain")))
    return [(what, said[0].upper() + said[1:], *how) for what, said, how in rows if said]


def _replicability_badge(g: Guarantee) -> tuple[str, str]:
    if g.withheld is not None:
        return "withheld", "open"
    if g.is_replicable_proven:
        return "proven", "proven"
    if g.certified.rho is not None:
        return f"certified at {sure(g.certified.confidence)}", "proven"
    return "not proven", "open"


def _coverage_badge(g: Guarantee, uncovered: int | None) -> tuple[str, str]:
    if g.is_unmeasured and uncovered is None:
        return "not measured", "open"
    if _certifies_coverage(g):
        return f"certified at {sure(g.certified.confidence)}", "proven"
    if g.is_coverage_proven:
        return "proven", "proven"
    return "bracket from the flag" if uncovered is None else "measured", "plain"
