"""Outputs: checked before the work, written after it, each of them whole or not at all."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from flagstone.cli.options import OutputOptions
from flagstone.cli.runner import UsageError

if TYPE_CHECKING:
    from flagstone.finding import Finding

__all__ = [
    "SHOWN_AS",
    "check_outputs",
    "output_paths",
    "refuse_existing_outputs",
    "refuse_inputs",
    "write_outputs",
]

SHOWN_AS = ("text", "basis", "masks", "frames", "python")


def output_paths(options: OutputOptions) -> list[Path]:
    """Return the files that will be written."""
    given = (options.output, options.report, options.plot)
    return [Path(path) for path in given if path is not None]


def check_outputs(options: OutputOptions) -> None:
    """Refuse what cannot work before any row is read, except for files that exist."""
    if options.show_as not in (None, *SHOWN_AS):
        raise UsageError(f"--as must be one of {', '.join(SHOWN_AS)}, got {options.show_as!r}")
    paths = output_paths(options)
    if len(set(paths)) < len(paths):
        raise UsageError("two outputs have the same name")
    if options.plot is not None:
        suffix = Path(options.plot).suffix.lower()
        if suffix not in (".png", ".svg"):
            raise UsageError(f"--plot must end in .png or .svg, got {options.plot!r}")
        if suffix == ".png":
            from flagstone.reports import need_matplotlib

            need_matplotlib()


def refuse_inputs(
    outputs: Iterable[str | Path | None], used: Iterable[str | Path], role: str = "an input"
) -> None:
    """Refuse to write over a file that this run uses otherwise, whatever --force says."""
    taken = {Path(path).resolve() for path in used}
    for path in outputs:
        if path is not None and Path(path).resolve() in taken:
            raise UsageError(f"{path} is {role} of this run; write to another file")


def refuse_existing_outputs(options: OutputOptions) -> None:
    """Refuse to replace files, unless --force was given."""
    from flagstone.models import refuse_existing

    for path in output_paths(options):
        if not options.force:
            refuse_existing(path)
        elif not path.parent.is_dir():
            raise UsageError(f"{path}: the directory {path.parent} does not exist")


def write_outputs(finding: Finding, options: OutputOptions, *, overwrite: bool) -> list[str]:
    """Write finding, report and plot, all or none of them; return their names."""
    from flagstone.models import atomic_write_all, pack_document

    files: dict[str | Path, bytes] = {}
    if options.output is not None:
        files[options.output] = pack_document("finding", finding.to_dict())
    if options.report is not None:
        from flagstone.reports import html_report

        files[options.report] = html_report(finding).encode()
    if options.plot is not None:
        from flagstone.plots import ScreeDisplay
        from flagstone.reports import plot_bytes

        suffix = Path(options.plot).suffix.lower()
        files[options.plot] = plot_bytes(ScreeDisplay.of(finding), suffix)
    atomic_write_all(files, overwrite=overwrite)
    return [str(name) for name in files]
