"""Outputs: checked before the work, written after it, each of them whole or not at all."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from flagstone.cli.options import OutputOptions
from flagstone.cli.runner import UsageError
from flagstone.disk import check_target, same_place, write_all

if TYPE_CHECKING:
    from flagstone.finding import Finding
    from flagstone.report import AnswerView


def output_paths(options: OutputOptions) -> list[str]:
    """Return the files that will be written."""
    given = (options.output, options.report, options.plot)
    return [path for path in given if path is not None]


def check_outputs(options: OutputOptions) -> None:
    """Refuse what cannot work before any row is read, except for files that exist."""
    for a, b in itertools.combinations(output_paths(options), 2):
        if same_place(a, b):
            raise UsageError(f"{a} and {b} are one file; give every output its own")
    if options.report is not None:
        from flagstone.report import report_date

        report_date()
    if options.plot is not None:
        suffix = Path(options.plot).suffix.lower()
        if suffix not in (".png", ".svg"):
            raise UsageError(f"--plot must end in .png or .svg, got {options.plot!r}")
        if suffix == ".png":
            from flagstone.report import need_matplotlib

            need_matplotlib()


def refuse_several(option: str, options: OutputOptions) -> None:
    """Refuse to write one file, or to print one answer alone, where there are several."""
    for name, value in (
        ("output", options.output),
        ("report", options.report),
        ("plot", options.plot),
        ("as", options.show_as),
        ("checkpoint", getattr(options, "checkpoint", None)),
        ("workers", getattr(options, "workers", None)),
        ("cluster", getattr(options, "cluster", None)),
    ):
        if value is not None:
            raise UsageError(
                f"--{option} gives several answers, and --{name} is for one: leave one of them out"
            )


def refuse_inputs(
    outputs: Iterable[str | Path | None], used: Iterable[object], role: str = "an input"
) -> None:
    """Refuse to write over a file that this run uses otherwise, whatever --force says."""
    taken = [str(path) for path in used]
    for path in outputs:
        if path is not None and any(same_place(path, other) for other in taken):
            raise UsageError(f"{path} is {role} of this run; write to another file")


def refuse_existing_outputs(options: OutputOptions, *, resumed: bool = False) -> None:
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
    report with the same date); what anybody else wrote meanwhile does not, and is kept.
    """
    from flagstone.store import pack_document

    files: dict[str | Path, bytes] = {}
    if options.output is not None:
        files[options.output] = pack_document("finding", finding.to_dict())
    if options.report is not None:
        from flagstone.report import date_of, html_report

        made = date_of(options.report) if resumed else None
        files[options.report] = html_report(finding, view, made=made, notes=notes).encode()
    if options.plot is not None:
        from flagstone.plots import ScreeDisplay
        from flagstone.report import plot_bytes

        suffix = Path(options.plot).suffix.lower()
        files[options.plot] = plot_bytes(ScreeDisplay.of(finding), suffix)
    write_all(files, overwrite=options.force, keep_equal=resumed)
    return [str(name) for name in files]
