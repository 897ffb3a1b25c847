"""Findings on the console, as JSON, and in files that are written whole or not at all."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from flagstone.cli.console import (
    UsageError,
    number,
    output_paths,
    percent,
    print_json,
    refuse_options,
    safe,
)
from flagstone.cli.verbs import OutputOptions
from flagstone.disk import check_target, same_place, write_all
from flagstone.finding import Finding
from flagstone.plots import ScreeDisplay
from flagstone.plots.style import need_matplotlib
from flagstone.report import AnswerView, date_of, html_report, report_date
from flagstone.store import pack_document
from flagstone.tables import frame_masks, is_frames, misfit_lines
from flagstone.text import conditions, left_out, next_step, promises, summary
from flagstone.wording import counted


def answer_lines(finding: Finding, shown_as: str) -> list[str]:
    """Return the answer as text, in canonical form, as basis, bit masks or Python."""
    answer = finding.answer
    if answer.augmented is None:
        return [answer.text]  # ⊥ looks the same in every notation
    if shown_as == "python" and (code := finding.expression) is not None:
        return [*([f"# {note}"] if (note := finding.expression_note) else []), code]
    if finding.encoding.degree > 1 and shown_as in ("python", "masks", "frames"):
        raise UsageError(f"--as {shown_as} has no products of columns; leave it out")
    if shown_as == "masks":
        return list(answer.mask_lines)
    if shown_as == "frames":
        return frame_masks(finding)
    lines = answer.lines
    if shown_as == "basis":
        lines = answer.basis_lines
    elif shown_as == "canonical":
        lines = answer.canonical_lines
    lines = lines or (answer.text,)
    return [safe(line) for line in lines]


def finding_json(finding: Finding) -> dict[str, Any]:
    """Return the facts that files hold, and under ``text`` what people read."""
    return finding.to_dict() | {"text": summary(finding)}


def print_finding(
    finding: Finding,
    options: OutputOptions,
    written: Sequence[str] = (),
) -> None:
    """Print a finding as the options say."""
    if options.json:
        print_json(finding_json(finding) | {"outputs": list(written)})
        return
    if options.show_as is not None:
        print("\n".join(answer_lines(finding, options.show_as)))
        return
    listed = list(map(safe, finding.lines))
    if finding.unlisted is not None:
        listed.append(f"{safe(finding.unlisted)}; --as canonical lists all")
    print(f"{safe(finding.headline)}{':' if listed else ''}")
    for note in finding.notes:
        print(f"! {note}")
    for line in listed:
        print(f"  {line}")
    print(f"\n{'fingerprint':<14}{finding.fingerprint[:16]}")
    for label, text in remarks(finding, options.listed_rows):
        print(f"{label:<14}{text}")
    for path in written:
        print(f"{'written':<14}{safe(path)}")


def remarks(finding: Finding, shown: int) -> list[tuple[str, str]]:
    """Return the lines below the answer: promises, rows, misfits, directions, seed."""
    lines = []
    if finding.promises is not None:
        uncovered = finding.rows.share(finding.rows.uncovered)
        for i, text in enumerate(promises(finding.promises, uncovered)):
            lines.append(("" if i else "promises", safe(text)))
        step = next_step(finding.promises)
        lines += [("what now", step)] if step is not None else []
        lines += [("condition", safe(text)) for text in conditions(finding.promises)]
        setup = finding.promises.setup
        drawn = f"{number(setup.threshold)}, drawn by the seed from {setup.window}"
        lines.append(("threshold", drawn))
    rows = finding.rows
    if rows.read:
        text = f"{number(rows.read)} read{f', in {cut}' if (cut := finding.partitions) else ''}"
        if rows.skipped:
            text += f", {number(rows.skipped)} {left_out(finding.encoding)}"
        if rows.uncovered is not None and finding.question.labelled:
            share = percent(rows.uncovered, rows.read)
            text += f"; {number(rows.uncovered)} outside the span ({share})"
        lines.append(("rows", text))
    if rows.misfits is not None:
        for i, text in enumerate(misfits_text(finding, shown)):
            lines.append(("" if i else "do not fit", text))
    if finding.directions:
        kept = [d["count"] for d in finding.directions if d["kept"]]
        lost = [d["count"] for d in finding.directions if not d["kept"]]
        text = f"{len(kept)} kept, {_sets(kept)}" if kept else "none kept"
        if lost:
            text += f"; {len(lost)} left out, {_sets(lost)}"
        lines.append(("directions", text))
    if finding.seed is not None:
        share = " (drawn afresh: publish it to be replicable)" if finding.seed_is_fresh else ""
        lines.append(("seed", f"{safe(finding.seed)}{share}"))
    return lines


def misfits_text(finding: Finding, shown: int) -> list[str]:
    """Return how many rows do not fit, and which; rows of tables by what they break."""
    rows = finding.rows
    assert rows.misfits is not None
    told = [] if is_frames(finding) else misfit_lines(finding, shown)
    count = places_text(rows.misfits, rows.read, () if told else rows.places[:shown])
    if told and told[-1].startswith("… and "):
        told[-1] += ": --max-misfits"
    return [count, *map(safe, told)]


def places_text(count: int, total: int, places: Sequence[Sequence[Any]]) -> str:
    """Return how many rows do not fit, and where the first of them are.

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


def _sets(counts: Sequence[int]) -> str:
    low, high = min(counts), max(counts)
    sets = counted(high, "set") if low == high else f"{number(low)} to {number(high)} sets"
    return f"{'each ' * (len(counts) > 1)}in {sets}"


def check_outputs(options: OutputOptions) -> None:
    """Refuse what cannot work before any row is read, except for files that exist."""
    for a, b in itertools.combinations(output_paths(options), 2):
        if same_place(a, b):
            raise UsageError(f"{a} and {b} are one file; give every output its own")
    if options.report is not None:
        report_date()
    if options.plot is not None:
        check_plot(options.plot)


def check_plot(path: str) -> None:
    """Refuse a plot that cannot be drawn."""
    suffix = Path(path).suffix.lower()
    if suffix not in (".png", ".svg"):
        raise UsageError(f"--plot must end in .png or .svg, got {path!r}")
    if suffix == ".png":
        need_matplotlib()


def refuse_several(option: str, options: OutputOptions) -> None:
    """Refuse to write one file, or to print one answer alone, where there are several."""
    refuse_options(
        options,
        ["output", "report", "plot", "show_as", "checkpoint", "workers", "cluster"],
        f"is for one answer, and --{option} gives several: leave one of them out",
    )


def refuse_inputs(options: Any, used: Sequence[object]) -> None:
    """Refuse to write over a file that this run uses otherwise, even with --force."""
    written, checkpoint = output_paths(options), getattr(options, "checkpoint", None)
    roles: list[tuple[str, str, Sequence[object]]] = [(path, "an input", used) for path in written]
    if checkpoint is not None:
        roles += [(checkpoint, "an input", used), (checkpoint, "an output", written)]
    for path, role, others in roles:
        if any(same_place(path, str(other)) for other in others):
            raise UsageError(f"{path} is {role} of this run; write to another file")


def refuse_existing_outputs(options: Any, *, resumed: bool = False) -> None:
    """Refuse what cannot be written, and to replace files unless --force was given.

    Outputs of a resumed run may be there already; whether they are its own is seen at the end.
    """
    for path in output_paths(options):
        check_target(path, overwrite=options.force or resumed)


def write_outputs(
    finding: Finding,
    options: OutputOptions,
    view: AnswerView | None = None,
    *,
    resumed: bool = False,
    notes: Sequence[str] | None = None,
) -> list[str]:
    """Write finding, report and plot, all or none of them; return their names.

    What a resumed run wrote before it was killed may stand there, and holds the same bytes (of a
    report with the same date); what another program wrote meanwhile does not, and is kept.
    """
    files: dict[str | Path, bytes] = {}
    if options.output is not None:
        files[options.output] = pack_document("finding", finding.to_dict())
    if options.report is not None:
        made = date_of(options.report) if resumed else None
        files[options.report] = html_report(finding, view, made=made, notes=notes).encode()
    if options.plot is not None:
        suffix = Path(options.plot).suffix.lower()
        files[options.plot] = ScreeDisplay.of(finding).image(suffix)
    write_all(files, overwrite=options.force, keep_equal=resumed)
    return [str(name) for name in files]
