"""The options that several verbs share, in frozen records, one field for each option.

A verb names the records it takes (:mod:`flagstone.cli.verbs`), and is called with them filled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flagstone.cli.parser import COLUMNS, INPUT, OUTPUT, RULE, SCALE, Option, as_field, option

FILES = Option(
    "",
    "Files, directories or globs; - for standard input",
    value="FILE",
    many=True,
    required=True,
)
FINDING = Option("", "A saved finding", value="FINDING", required=True)
JSON = Option("--json", "Print one JSON object; errors too, on standard error", OUTPUT)
FORCE = Option("--force", "Replace files that exist", OUTPUT)
SEED = Option("--seed", "The published seed; drawn and shown if left out", RULE, value="TEXT")
EXPECT_SEED = Option("--seed", "Refuse a finding made with another seed", RULE, value="TEXT")
PUBLISH_SEED = Option("--seed", "Publish a seed with the flag", OUTPUT, value="TEXT")
FLAG_OUTPUT = Option("-o, --output", "The flag file to write", OUTPUT, value="FILE", required=True)
RULE_NAME = Option(
    "--rule",
    "How a threshold is drawn: index, heavy (the paper's)",
    RULE,
    value="NAME",
    default="index",
)
INTERCEPT = Option("--[no-]intercept", "Allow a constant: y = x3 ⊕ x7 ⊕ 1", RULE, default=True)
#: The field of rows.
FIELD = "2"
#: How an answer can be printed alone.
SHOWN_AS = ("text", "basis", "masks", "frames", "python")
#: The same for frames, where ``python`` is code that checks a frame, as ``c`` and ``rtl_433`` are.
FRAMES_SHOWN_AS = (*SHOWN_AS, "c", "rtl_433", "bitbench")


@dataclass(frozen=True)
class ReadOptions:
    """How files are read."""

    format: str | None = option(
        "-f, --format",
        "csv, tsv, parquet, arrow, npy, npz, jsonl, hex or bits",
        INPUT,
        value="NAME",
    )
    header: bool | None = option(
        "--[no-]header", "Whether the first line of csv or tsv names the columns", INPUT
    )
    delimiter: str | None = option(
        "--delimiter", "What separates the cells of csv; \\t is a tab", INPUT, value="CHARACTER"
    )
    bit_order: str | None = option(
        "--bit-order",
        "Bits of frames: msb, lsb (in bytes), nibble or reversed (msb)",
        INPUT,
        value="NAME",
    )
    length: int | None = option(
        "--length",
        "Read only frames of this many bits; count the others",
        INPUT,
        value="BITS",
        type=int,
        least=1,
    )
    skip_fields: int | None = option(
        "--skip-fields",
        "Leading fields to skip in each line; 0: detect no timestamps",
        INPUT,
        value="NUMBER",
        type=int,
        least=0,
    )
    max_columns: int | None = option(
        "--max-columns",
        "Refuse files with more columns (131072)",
        INPUT,
        value="NUMBER",
        type=int,
        least=1,
    )


@dataclass(frozen=True)
class ColumnOptions(ReadOptions):
    """How files are read, and how their columns become rows over a field."""

    columns: Sequence[str] | None = option(
        "-c, --columns",
        "Columns to use, as a,b x13..x40 b3.5 'x*'; '-NAME' drops one",
        COLUMNS,
        value="COLUMNS",
        many=True,
    )
    encode: Sequence[str] | None = option(
        "-e, --encode",
        "Make field elements of a column (COLUMN=bits:8); or: auto",
        COLUMNS,
        value="ENCODER",
        many=True,
    )
    missing: str = option(
        "--missing",
        "Missing values: refuse, drop the rows, or a level",
        COLUMNS,
        value="WHAT",
        default="refuse",
        choices=("refuse", "drop", "level"),
    )
    floats: str = option(
        "--floats",
        "Floats over QQ: shortest decimal, or refuse",
        COLUMNS,
        value="HOW",
        default="decimal",
        choices=("decimal", "refuse"),
    )
    field: str = option(
        "--field", "The field: 2, 7, 2^8, … or QQ", COLUMNS, value="FIELD", default=FIELD
    )


@dataclass(frozen=True)
class TableOptions(ColumnOptions):
    """The same for verbs that know a label."""

    label: str | None = option("-l, --label", "The label column", COLUMNS, value="COLUMN")


@dataclass(frozen=True)
class PurposeOptions:
    """Which question rows are read for, by the verb that will ask it."""

    purpose: str | None = option(
        "--for",
        "The verb: constraints, learn, equations or subspace",
        COLUMNS,
        value="VERB",
    )
    intercept: bool = option(
        "--[no-]intercept", "For learn: allow a constant, one column more", COLUMNS, default=True
    )
    linear: bool = option(
        "--linear",
        "For constraints: right-hand sides 0, one column less",
        COLUMNS,
    )
    affine: bool = option(
        "--affine",
        "For subspace: it may miss the origin, one column more",
        COLUMNS,
    )


@dataclass(frozen=True)
class RuleOptions:
    """What is promised, and how the threshold is drawn."""

    rho: float | None = option(
        "--rho",
        "Largest probability that a second sample answers differently",
        RULE,
        value="PROBABILITY",
        type=float,
    )
    eps: float = option(
        "--eps",
        "Largest share of rows that may be left out",
        RULE,
        value="SHARE",
        type=float,
        default=0.1,
    )
    rule: str = as_field(RULE_NAME)
    t_min: str | None = option(
        "--t-min", "First threshold: rows, or a share of the rows", RULE, value="NUMBER"
    )
    t_max: str | None = option(
        "--t-max", "Last threshold: rows, a share, or 'paper'", RULE, value="NUMBER"
    )
    contamination: float = option(
        "--contamination",
        "Largest share of rows that may be damaged",
        RULE,
        value="SHARE",
        type=float,
        default=0.0,
    )


@dataclass(frozen=True)
class OutputOptions:
    """Where the answer goes."""

    output: str | None = option("-o, --output", "Write the finding (JSON)", OUTPUT, value="FILE")
    report: str | None = option("--report", "Write one HTML page", OUTPUT, value="FILE")
    plot: str | None = option(
        "--plot", "Draw the flag as a scree plot (.svg, or .png)", OUTPUT, value="FILE"
    )
    force: bool = as_field(FORCE)
    json: bool = as_field(JSON)
    show_as: str | None = option(
        "--as",
        "Print the answer alone, as " + ", ".join(SHOWN_AS),
        OUTPUT,
        value="NAME",
        choices=SHOWN_AS,
    )
    max_misfits: int | None = option(
        "--max-misfits",
        "List at most this many rows that do not fit (5; in files 50)",
        OUTPUT,
        value="NUMBER",
        type=int,
        least=0,
    )

    @property
    def listed_rows(self) -> int:
        """How many rows that do not fit are printed."""
        return 5 if self.max_misfits is None else self.max_misfits

    @property
    def kept_rows(self) -> int:
        """How many rows that do not fit a finding keeps."""
        return 50 if self.max_misfits is None else self.max_misfits


@dataclass(frozen=True)
class WorkerOptions:
    """Who reads the rows, if not this process alone."""

    cluster: str | None = option(
        "--cluster", "Read by a running Dask cluster: tcp://host:8786", SCALE, value="ADDRESS"
    )
    workers: int | None = option(
        "--workers",
        "Read by this many processes here",
        SCALE,
        value="NUMBER",
        type=int,
        least=1,
    )
    partition: str | None = option(
        "--partition",
        "Summarize apart: none, files (with --workers) or parts of a SIZE",
        SCALE,
        value="none|files|SIZE",
    )


@dataclass(frozen=True)
class RunOptions(WorkerOptions):
    """What a long run needs."""

    checkpoint: str | None = option(
        "--checkpoint", "Save the state; the same command resumes from it", SCALE, value="FILE"
    )
    checkpoint_every: float = option(
        "--checkpoint-every",
        "Time between saves",
        SCALE,
        value="SECONDS",
        type=float,
        least=0,
        default=10.0,
    )
    cache_size: str | None = option(
        "--cache-size",
        "Memory for packed rows; what fits is read only once (256MB)",
        SCALE,
        value="SIZE",
    )
    quiet: bool = option("-q, --quiet", "Show no progress bar", OUTPUT)


@dataclass(frozen=True)
class AnswerOptions(RunOptions, OutputOptions, RuleOptions):
    """Everything that the verbs share that answer a question."""

    seed: str | None = as_field(SEED)
    measure: bool = option(
        "--[no-]measure",
        "Read the rows again, to count misfits and certify the answer",
        RULE,
        default=True,
    )
    confidence: float = option(
        "--confidence",
        "Confidence of what the rows certify",
        RULE,
        value="PROBABILITY",
        type=float,
        default=0.99,
    )
    max_rows: int | None = option(
        "--max-rows",
        "Use the first rows only, exactly this many",
        INPUT,
        value="NUMBER",
        type=int,
        least=1,
    )
    deduplicate_runs: bool = option(
        "--deduplicate-runs",
        "Count equal rows that follow each other once",
        INPUT,
    )
    protocol: str | None = option(
        "--protocol",
        "Run a published protocol: its window, seed, columns, rows",
        RULE,
        value="FILE",
    )


@dataclass(frozen=True)
class PlanOptions:
    """What is to be promised, for a plan without rows."""

    dim: int | None = option(
        "-d, --dim", "Number of feature columns", RULE, value="NUMBER", type=int, least=1
    )
    rho: float | None = option(
        "--rho",
        "Largest probability that two samples answer differently",
        RULE,
        value="PROBABILITY",
        type=float,
    )
    eps: float = option(
        "--eps",
        "Largest share of rows that may be left out",
        RULE,
        value="SHARE",
        type=float,
        default=0.1,
    )
    delta: float | None = option(
        "--delta",
        "Chance that more than eps of future rows do not fit",
        RULE,
        value="PROBABILITY",
        type=float,
    )
    contamination: float = option(
        "--contamination",
        "Largest share of rows that may be damaged",
        RULE,
        value="SHARE",
        type=float,
        default=0.0,
    )
    each: bool = option("--each", "Also plan for single equations, fixed in advance", RULE)


@dataclass(frozen=True)
class PilotOptions:
    """Pilot rows, and the protocol to write for fresh ones."""

    pilot: Sequence[str] | None = option(
        "--pilot", "Choose a window on pilot rows; repeatable", INPUT, value="FILE", many=True
    )
    rule: str = as_field(RULE_NAME)
    max_rows: int | None = option(
        "--max-rows",
        "With --pilot: rows of each run; forecast if left out",
        RULE,
        value="NUMBER",
        type=int,
        least=2,
    )
    confidence: float = option(
        "--confidence",
        "Confidence of what the runs will certify",
        RULE,
        value="PROBABILITY",
        type=float,
        default=0.99,
    )
    output: str | None = option(
        "-o, --output", "With --pilot: write the protocol", OUTPUT, value="FILE"
    )
    force: bool = as_field(FORCE)


@dataclass(frozen=True)
class StopOptions:
    """When an audit has seen enough."""

    pairs: int = option(
        "--pairs",
        "Compare at most this many pairs",
        RULE,
        value="NUMBER",
        type=int,
        least=1,
        default=200,
    )
    disagreements: int | None = option(
        "--disagreements",
        "Stop after this many pairs that differ",
        RULE,
        value="NUMBER",
        type=int,
        least=1,
    )
    width: float | None = option(
        "--width", "Stop once the interval is this narrow: 0.05", RULE, value="NUMBER", type=float
    )


@dataclass(frozen=True)
class CaptureOptions:
    """How files of frames are read, cut, decoded, filtered and grouped."""

    format: str | None = option(
        "-f, --format",
        "hex, bits, rtl_433, json, candump, csv, c, bitbench, can, raw",
        INPUT,
        value="NAME",
    )
    length: int | None = option(
        "--length",
        "Read only frames of this many bits; for raw: bits of a record",
        INPUT,
        value="BITS",
        type=int,
        least=1,
    )
    skip_fields: int | None = option(
        "--skip-fields",
        "Leading fields to skip in each line; 0: detect no timestamps",
        INPUT,
        value="NUMBER",
        type=int,
        least=0,
    )
    skip_bad_lines: bool = option(
        "--skip-bad-lines", "Leave out, and count, the lines that cannot be read", INPUT
    )
    max_rows: int | None = option(
        "--max-rows", "Read only the first frames", INPUT, value="NUMBER", type=int, least=1
    )
    decode: Sequence[str] | None = option(
        "--decode",
        "Undo [differential-]manchester, invert, nrzi, reverse-bytes",
        INPUT,
        value="CODE",
        many=True,
    )
    sync: str | None = option(
        "--sync", "Begin each frame after this pattern: d391, or 0b1101", INPUT, value="HEX"
    )
    truncate: bool = option(
        "--truncate", "Cut frames to --length, or to what nine of ten have", INPUT
    )
    where: Sequence[str] | None = option(
        "--where",
        "Keep the frames of a value: id=0x229, model!=X, b0=0x2d",
        INPUT,
        value="COLUMN=VALUE",
        many=True,
    )
    by: str | None = option(
        "--by",
        "Answer for each id, model, file, length, type or byte (b1)",
        INPUT,
        value="COLUMN",
    )


@dataclass(frozen=True)
class FrameOptions(OutputOptions, RuleOptions):
    """The options of ``frames``, which also prints code that checks a frame."""

    show_as: str | None = option(
        "--as",
        "Print it as " + ", ".join(FRAMES_SHOWN_AS),
        OUTPUT,
        value="NAME",
        choices=FRAMES_SHOWN_AS,
    )
    seed: str | None = as_field(SEED)
    promises: bool = option(
        "--promises", "Say also what holds for future samples, and how surely", OUTPUT
    )
    confidence: float = option(
        "--confidence",
        "Confidence of what the frames certify",
        RULE,
        value="PROBABILITY",
        type=float,
        default=0.99,
    )
    protocol: str | None = option(
        "--protocol", "Run a published protocol: its window, seed, frames", RULE, value="FILE"
    )
