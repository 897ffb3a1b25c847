"""What a finding says, in lines for people and in JSON for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from flagstone.cli.layered import code_lines
from flagstone.cli.options import OutputOptions
from flagstone.cli.output import number, percent, print_json, safe
from flagstone.wording import counted

if TYPE_CHECKING:
    from flagstone.digests import Survey
    from flagstone.finding import Finding

FINDING_KEYS = {
    "schema": "2, the version of these keys",
    "kind": "the question: parity, span, constraints, equations or subspace",
    "question": "the same with its options, and what stands in a row",
    "title, headline": "what was found, in a few words, and with what is known of it",
    "support": "whole, part or none: how far rows to come will fit the answer (null: unknown)",
    "caution": "a warning where more rows do not fit than was allowed for (null: none)",
    "hint": "where the flag has a wider plateau, for a window on fresh rows (null: nowhere)",
    "alternatives": "how many rules fit (dim of their set, count), which this is (text), and "
    "whether a sparsest one is proven to be (null: no other fits)",
    "fingerprint": "64 hex digits; equal answers have equal fingerprints",
    "field": "the field, e.g. GF(2)",
    "dim": "number of feature columns",
    "answer": "text, lines, masks (GF(2) only; bit i, counted from the least significant one, is "
    "column i), expression (Python), is_bottom, value (coefficients)",
    "nothing_kept": "true if no direction was kept: the answer says nothing about the rows "
    "(exit code 3)",
    "subspace": "dim and basis of the span behind the answer",
    "seed, seed_is_fresh": "the published seed, and whether it was drawn for this run",
    "rule, window, threshold": "index or heavy, first and last threshold (t_min, t_max), and the "
    "one that the coins drew",
    "margin": "no so many altered rows change the answer",
    "promises": "replicability, coverage and error, each with proven, certified and measured; "
    "outliers, margin, rows, text",
    "rows": "read, skipped, uncovered (outside the span), misfits (break the answer), places "
    "(the first of them: file, row, line), values (what stands there), levels (rows outside each "
    "level of the flag)",
    "levels": "the flag: [dimension, sets, first set], from the largest space down",
    "directions": "how often each direction was seen (count, kept, vector)",
    "columns, encoding": "names of the encoded feature columns, and how the table was encoded",
    "provenance": "command, sources, reading, digest (those with a name, as verified on the rows)",
    "outputs": "files written",
}


def answer_lines(finding: Finding, shown_as: str, survey: Survey | None = None) -> list[str]:
    """Return the answer as text, basis, bit masks (by columns or frames), Python or code."""
    answer = finding.answer
    if shown_as in ("c", "python-check", "rtl_433"):
        return code_lines(finding, survey, shown_as)
    if answer.augmented is None:
        return [answer.text]  # ⊥ looks the same in every notation
    if shown_as == "python":
        return [answer.expression]
    if shown_as == "masks":
        return list(answer.mask_lines)
    if shown_as == "frames":
        from flagstone.models import frame_masks

        return frame_masks(finding)
    lines = answer.basis_lines if shown_as == "basis" else answer.lines or (answer.text,)
    return [safe(line) for line in lines]


def print_finding(
    finding: Finding,
    options: OutputOptions,
    written: Sequence[str] = (),
    view: str = "text",
    said: Sequence[str] | None = None,
    extra: Mapping[str, Any] | None = None,
    survey: Survey | None = None,
    notes: Sequence[tuple[str, str]] = (),
) -> None:
    """Print a finding as the options say, or else as was said of it, or in the view of the verb.

    What is ``extra`` goes into its JSON; ``notes`` follow the rows that do not fit, but those
    under ``!`` the headline.
    """
    if options.json:
        print_json(finding.to_dict() | {"outputs": list(written)} | dict(extra or {}))
        return
    if options.show_as is not None:
        print("\n".join(answer_lines(finding, options.show_as, survey)))
        return
    print(f"{safe(finding.headline)}:")
    for note in headline_notes(finding, notes):
        print(f"! {note}")
    for line in answer_lines(finding, view) if said is None else said:
        print(f"  {line}")
    print(f"\n{'fingerprint':<14}{finding.fingerprint[:16]}")
    for label, text in remarks(finding, options.listed_rows, notes):
        print(f"{label:<14}{text}")
    for path in written:
        print(f"{'written':<14}{safe(path)}")


def headline_notes(finding: Finding, notes: Sequence[tuple[str, str]]) -> list[str]:
    """Return what is said under the headline, on the console and in the report."""
    loud = [text for label, text in notes if label == "!"]
    quiet = finding.hint if loud else None  # types explain what a wider plateau only hints at
    return [*loud, *(note for note in finding.notes if note != quiet)]


def remarks(
    finding: Finding, shown: int, notes: Sequence[tuple[str, str]] = ()
) -> list[tuple[str, str]]:
    """Return what is to be said below the answer: promises, rows, misfits, directions, seed."""
    lines = []
    if finding.promises is not None:
        from flagstone.guarantees.words import next_step, promises_in_words

        uncovered = finding.rows.share(finding.rows.uncovered)
        for i, text in enumerate(promises_in_words(finding.promises, uncovered)):
            lines.append(("" if i else "promises", safe(text)))
        step = next_step(finding.promises)
        lines += [("what now", step)] if step is not None else []
        lines += [("condition", safe(text)) for text in finding.promises.conditions]
        drawn = number(finding.promises.threshold)
        lines.append(("threshold", f"{drawn} from {finding.promises.window}"))
    rows = finding.rows
    if rows.read:
        text = f"{number(rows.read)} read{f', in {cut}' if (cut := finding.partitions) else ''}"
        if rows.skipped:
            text += f", {number(rows.skipped)} of another length skipped"
        if rows.uncovered is not None and finding.question.labelled:
            share = percent(rows.uncovered, rows.read)
            text += f"; {number(rows.uncovered)} outside the span ({share})"
        lines.append(("rows", text))
    if rows.misfits is not None:
        lines.append(("do not fit", places_text(rows.misfits, rows.read, rows.places[:shown])))
        lines += [note for note in notes if note[0] != "!"]
    if finding.directions:
        kept = [d["count"] for d in finding.directions if d["kept"]]
        lost = [d["count"] for d in finding.directions if not d["kept"]]
        text = f"{len(kept)} kept, seen {_times(kept)}" if kept else "none kept"
        if lost:
            text += f"; {len(lost)} left out, seen {_times(lost)}"
        lines.append(("directions", text))
    if finding.seed is not None:
        share = " (drawn afresh: publish it to be replicable)" if finding.seed_is_fresh else ""
        lines.append(("seed", f"{safe(finding.seed)}{share}"))
    return lines


def places_text(count: int, total: int, places: Sequence[Sequence[Any]]) -> str:
    """Say how many rows do not fit and where the first of them stand.

    >>> places_text(2, 100, [["a.txt", 3, 5], ["a.txt", 9, 12]])
    '2 rows (2.0 %): a.txt line 5, 12'
    """
    text = f"{counted(count, 'row')} ({percent(count, total)})"
    if not places:
        return text
    parts, last = [], None
    for file, row, line in places:
        kind = "row" if line is None else "line"
        here = f"{row if line is None else line}"
        parts.append(here if (file, kind) == last else f"{safe(str(file))} {kind} {here}")
        last = (file, kind)
    more = ", …" if count > len(places) else ""
    return f"{text}: {', '.join(parts)}{more}"


def _times(counts: Sequence[int]) -> str:
    low, high = min(counts), max(counts)
    return counted(high, "time") if low == high else f"{number(low)} to {number(high)} times"
