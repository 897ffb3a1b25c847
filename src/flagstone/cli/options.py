"""The options that verbs share: each is written once, here, and grouped in frozen records.

A verb names the records it wants; :func:`flagstone.cli.runner.verb` spreads their fields into
the command line and hands the filled records back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from flagstone.cli.table_options import TABLE, ColumnOptions, ReadOptions, TableOptions

__all__ = [
    "AnswerOptions",
    "ColumnOptions",
    "CrewOptions",
    "ExpectSeedOption",
    "Files",
    "JsonOption",
    "OutputOptions",
    "PurposeOptions",
    "ReadOptions",
    "RuleOptions",
    "RunOptions",
    "SeedOption",
    "TableOptions",
]

RULE, OUTPUT, RUN = "Rule and promises", "Output", "Long runs"
CREW, PURPOSE = "Past one process", "What for"

Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE",
        help="Files, directories or globs; - for standard input.",
        show_default=False,
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
SeedOption = Annotated[
    str | None,
    typer.Option("--seed", help="The published seed (drawn afresh and shown if left out)."),
]
ExpectSeedOption = Annotated[
    str | None,
    typer.Option("--seed", help="Refuse a finding that was made with another seed."),
]


@dataclass(frozen=True)
class PurposeOptions:
    """Which question rows are read for, by the verb that will ask it."""

    purpose: Annotated[
        str | None,
        typer.Option(
            "--for",
            help="The verb it is for: constraints, span, learn, equations or subspace.",
            rich_help_panel=PURPOSE,
        ),
    ] = None
    intercept: Annotated[
        bool,
        typer.Option(
            "--intercept/--no-intercept",
            help="For learn: allow a constant, which is one column more.",
            rich_help_panel=PURPOSE,
        ),
    ] = True
    linear: Annotated[
        bool,
        typer.Option(
            "--linear",
            help="For constraints: right-hand sides 0 only, one column less.",
            rich_help_panel=PURPOSE,
        ),
    ] = False
    affine: Annotated[
        bool,
        typer.Option(
            "--affine",
            help="For subspace: it may miss the origin, one column more.",
            rich_help_panel=PURPOSE,
        ),
    ] = False


@dataclass(frozen=True)
class RuleOptions:
    """What is promised, and how the threshold is drawn."""

    rho: Annotated[
        float | None,
        typer.Option(
            "--rho",
            help="Allowed probability that a second sample gives another answer; the window is "
            "then chosen to prove it.",
            rich_help_panel=RULE,
        ),
    ] = None
    eps: Annotated[
        float,
        typer.Option("--eps", help="Allowed share of rows left out.", rich_help_panel=RULE),
    ] = 0.1
    rule: Annotated[
        str,
        typer.Option("--rule", help="index, or heavy (the paper's).", rich_help_panel=RULE),
    ] = "index"
    t_min: Annotated[
        str | None,
        typer.Option(
            "--t-min",
            help="First threshold by hand (after a look at pilot data): a whole number, or a "
            "fraction of the rows.",
            rich_help_panel=RULE,
        ),
    ] = None
    t_max: Annotated[
        str | None,
        typer.Option(
            "--t-max",
            help="Last threshold by hand: a whole number, a fraction of the rows, or 'paper'.",
            rich_help_panel=RULE,
        ),
    ] = None
    contamination: Annotated[
        float,
        typer.Option(
            "--contamination",
            help="Largest share of rows that may be damaged.",
            rich_help_panel=RULE,
        ),
    ] = 0.0


@dataclass(frozen=True)
class OutputOptions:
    """Where the answer goes."""

    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", help="Write the finding here (JSON).", rich_help_panel=OUTPUT
        ),
    ] = None
    report: Annotated[
        str | None,
        typer.Option(
            "--report", help="Write one self-contained HTML page here.", rich_help_panel=OUTPUT
        ),
    ] = None
    plot: Annotated[
        str | None,
        typer.Option(
            "--plot",
            help="Draw the flag as a scree plot here (.png or .svg; png needs matplotlib).",
            rich_help_panel=OUTPUT,
        ),
    ] = None
    force: Annotated[
        bool,
        typer.Option("--force", help="Replace files that exist.", rich_help_panel=OUTPUT),
    ] = False
    json: Annotated[
        bool,
        typer.Option(
            "--json", help="Print one JSON object instead of text.", rich_help_panel=OUTPUT
        ),
    ] = False
    show_as: Annotated[
        str | None,
        typer.Option(
            "--as",
            help="Print the answer alone, as text; basis (of a span); masks (hexadecimal, bit i "
            "is column i, so x0 is the lowest bit); frames (masks written like frames, {41}cfb9…, "
            "x0 first, to be ANDed with them); python; the check bits as a function of the bytes "
            "of a frame: c, python-check; or rtl_433: the named digests by its routines.",
            rich_help_panel=OUTPUT,
        ),
    ] = None
    show_rows: Annotated[
        int | None,
        typer.Option(
            "--show-rows",
            min=0,
            help="How many rows that do not fit are listed: 5 here, and 50 in reports and files, "
            "unless told.",
            rich_help_panel=OUTPUT,
        ),
    ] = None

    @property
    def listed_rows(self) -> int:
        """How many rows that do not fit are printed."""
        return 5 if self.show_rows is None else self.show_rows

    @property
    def kept_rows(self) -> int:
        """How many rows that do not fit a finding keeps."""
        return 50 if self.show_rows is None else self.show_rows


@dataclass(frozen=True)
class CrewOptions:
    """Who reads the rows, if not this process alone."""

    cluster: Annotated[
        str | None,
        typer.Option(
            "--cluster",
            metavar="ADDRESS",
            help="Read by a running Dask cluster: tcp://host:8786 or tls://host:8786.",
            rich_help_panel=CREW,
        ),
    ] = None
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers", min=1, help="Read by so many processes here.", rich_help_panel=CREW
        ),
    ] = None
    partition_size: Annotated[
        str | None,
        typer.Option(
            "--partition-size",
            metavar="SIZE",
            help="Cut Parquet files between row groups into parts of this size, unpacked (256MiB "
            "unless told); every other file is one part.",
            rich_help_panel=CREW,
        ),
    ] = None


_KEEP = "Memory for packed rows (256MB unless told): what fits is read once, not twice."


@dataclass(frozen=True)
class RunOptions(CrewOptions):
    """What a long run needs."""

    checkpoint: Annotated[
        str | None,
        typer.Option(
            "--checkpoint",
            help="Save the state here now and then; the same command resumes from it.",
            rich_help_panel=RUN,
        ),
    ] = None
    checkpoint_every: Annotated[
        float,
        typer.Option(
            "--checkpoint-every", min=0.0, help="Seconds between saves.", rich_help_panel=RUN
        ),
    ] = 10.0
    keep: Annotated[
        str | None,
        typer.Option("--keep", metavar="SIZE", help=_KEEP, rich_help_panel=RUN),
    ] = None
    quiet: Annotated[
        bool,
        typer.Option("--quiet", "-q", help="No progress bar.", rich_help_panel=RUN),
    ] = False


@dataclass(frozen=True)
class AnswerOptions(RunOptions, OutputOptions, RuleOptions):
    """Everything that the verbs share that answer a question."""

    seed: SeedOption = None
    measure: Annotated[
        bool,
        typer.Option(
            "--measure/--no-measure",
            help="Look at the rows again, to count misfits and to certify the answer.",
        ),
    ] = True
    confidence: Annotated[
        float,
        typer.Option(
            "--confidence",
            help="Of everything that the rows certify.",
            rich_help_panel=RULE,
        ),
    ] = 0.99
    take: Annotated[
        int | None,
        typer.Option(
            "--take",
            min=1,
            help="Take so many rows, the first ones: promises are for equal numbers of rows.",
            rich_help_panel=TABLE,
        ),
    ] = None
    deduplicate_runs: Annotated[
        bool,
        typer.Option(
            "--deduplicate-runs",
            help="Count equal rows that follow each other once: a sender that repeats its frames.",
            rich_help_panel=TABLE,
        ),
    ] = False
    protocol: Annotated[
        str | None,
        typer.Option(
            "--protocol",
            help="Run a published protocol (see suggest): its window, seed, columns, rows.",
            rich_help_panel=RULE,
        ),
    ] = None
