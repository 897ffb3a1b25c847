"""All verbs: each is a frozen record, whose fields are its options, and names its function.

A verb is added here, and in the module of its function, which takes the record. Records inherit
what verbs share; an option is called as its field: max_rows is --max-rows. Loads nothing heavy:
what a verb needs is imported when it is called.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any, TypeVar

from flagstone.cli import json_keys as keys
from flagstone.cli.parser import COLUMNS, INPUT, OUTPUT, RULE, SCALE, Option, Verb, option, switch

_Record = TypeVar("_Record")

#: The verbs that are installed, in the order of the help.
VERBS: dict[str, Verb] = {}
VERB_GROUPS: dict[str, list[Verb]] = {}


def verb(
    name: str, summary: str, function: str, group: str, examples: tuple[str, ...], **more: Any
) -> Callable[[type[_Record]], type[_Record]]:
    """Declare a record of options as a verb; the parameters are those of :class:`Verb`."""

    def declared(record: type[_Record]) -> type[_Record]:
        found = Verb(name, summary, function, group, examples, record, **more)
        if found.is_present:
            VERBS[found.name] = found
            VERB_GROUPS.setdefault(group, []).append(found)
        return record

    return declared


FILES = Option("FILE...", "Files, directories or globs; - for standard input")
FINDING = Option("FINDING", "A saved finding")
JSON = Option("", "Print one JSON object; errors too, on standard error", OUTPUT, default=False)
FORCE = Option("", "Replace files that exist", OUTPUT, default=False)
SEED = Option("TEXT", "The published seed; drawn and shown if left out", RULE)
EXPECT_SEED = Option("TEXT", "Refuse a finding made with another seed", RULE)
PUBLISH_SEED = Option("TEXT", "Publish a seed with the flag", OUTPUT)
FLAG_OUTPUT = Option("FILE", "The flag file to write", OUTPUT, short="-o", required=True)
LABEL = Option("COLUMN", "The label column", COLUMNS, short="-l")
DEGREE = Option("NUMBER", "Also use products of up to this many columns: x0·x1", COLUMNS, default=1)
JOBS = Option("NUMBER", "Processes; -1 is all", SCALE, short="-j", default=1, least=-1)
RULE_NAME = Option(
    "NAME", "How a threshold is drawn: index, heavy (the paper's)", RULE, default="index"
)
INTERCEPT = Option("", "Allow a constant: y = x3 ⊕ x7 ⊕ 1", RULE, default=True)
#: What --help lists of the verbs that answer a question.
COMMON = "--format --columns --encode --field --contamination --rho --seed --output --report --json"
#: The field of rows.
FIELD = "2"
#: What audit --compare takes: what "same" means, or a similarity with a line of its own.
COMPARED = (
    "auto", "fingerprint", "coef", "predictions", "churn", "jaccard", "adjusted_rand",
    "coef_distance", "equations",
)  # fmt: skip
#: How an answer can be printed alone.
SHOWN_AS = ("text", "canonical", "basis", "masks", "frames", "python")
#: The same for frames, where ``python`` is code that checks a frame, as ``c`` and ``rtl_433`` are.
FRAMES_SHOWN_AS = ("text", *SHOWN_AS[2:], "c", "rtl_433", "bitbench", "hex")


@dataclass(frozen=True)
class ReadOptions:
    """How files are read."""

    format: str | None = option(
        "NAME", "csv, tsv, parquet, arrow, npy, npz, jsonl, hex or bits", INPUT, short="-f"
    )
    header: bool | None = switch(
        "Whether the first line of csv or tsv names the columns", INPUT, default=None
    )
    delimiter: str | None = option(
        "CHARACTER", "What separates the cells of csv; \\t is a tab", INPUT
    )
    bit_order: str | None = option(
        "NAME", "Bits of frames: msb, lsb (in bytes), nibble or reversed (msb)", INPUT
    )
    length: int | None = option(
        "BITS", "Read only frames of this many bits; count the others", INPUT
    )
    max_columns: int = option("NUMBER", "Refuse files with more columns", INPUT, default=1 << 17)


@dataclass(frozen=True)
class ColumnOptions(ReadOptions):
    """How files are read, and how their columns become rows over a field."""

    columns: Sequence[str] | None = option(
        "COLUMNS",
        "Columns to use, as a,b x13..x40 b3.5 'x*'; '-NAME' drops one",
        COLUMNS,
        short="-c",
        many=True,
    )
    encode: Sequence[str] | None = option(
        "ENCODER",
        "Make field elements of a column (COLUMN=bits:8); or: auto",
        COLUMNS,
        short="-e",
        many=True,
    )
    missing: str = option(
        "WHAT",
        "Missing values: refuse, drop the rows, or a level",
        COLUMNS,
        default="refuse",
        choices=("refuse", "drop", "level"),
    )
    floats: str = option(
        "HOW",
        "Floats over QQ: shortest decimal, or refuse",
        COLUMNS,
        default="decimal",
        choices=("decimal", "refuse"),
    )
    field: str = option("FIELD", "The field: 2, 7, 2^8, … or QQ", COLUMNS, default=FIELD)


@dataclass(frozen=True)
class PurposeOptions:
    """Which question rows are read for, by the verb that will ask it."""

    purpose: str | None = option(
        "VERB",
        "The verb: constraints, learn (with --label), equations, subspace",
        COLUMNS,
        name="--for",
    )
    intercept: bool = switch("For learn: allow a constant, one column more", COLUMNS, default=True)
    linear: bool = switch("For constraints: right-hand sides 0, one column less", COLUMNS)
    affine: bool = switch("For subspace: it may miss the origin, one column more", COLUMNS)


@dataclass(frozen=True)
class PromiseOptions:
    """What is promised."""

    rho: float | None = option(
        "PROBABILITY", "Largest probability that a second sample answers differently", RULE
    )
    eps: float = option("SHARE", "Largest share of rows that may be left out", RULE, default=0.1)
    contamination: float = option(
        "SHARE", "Largest share of rows that may be damaged", RULE, default=0.0
    )


@dataclass(frozen=True)
class RuleOptions(PromiseOptions):
    """What is promised, and how the threshold is drawn."""

    rule: str = option(RULE_NAME)
    t_min: str | None = option("THRESHOLD", "First threshold: rows, or a share of the rows", RULE)
    t_max: str | None = option("THRESHOLD", "Last threshold: rows, a share, or 'paper'", RULE)


@dataclass(frozen=True)
class OutputOptions:
    """Where the answer goes."""

    output: str | None = option("FILE", "Write the finding (JSON)", OUTPUT, short="-o")
    report: str | None = option("FILE", "Write one HTML page", OUTPUT)
    plot: str | None = option("FILE", "Draw the flag as a scree plot (.svg, or .png)", OUTPUT)
    force: bool = option(FORCE)
    json: bool = option(JSON)
    show_as: str | None = option(
        "NAME", "Print it as " + ", ".join(SHOWN_AS), OUTPUT, choices=SHOWN_AS, name="--as"
    )
    max_misfits: int | None = option(
        "NUMBER", "List at most this many rows that do not fit (5; in files 50)", OUTPUT, least=0
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
        "ADDRESS", "Read by a running Dask cluster: tcp://host:8786", SCALE
    )
    workers: int | None = option("NUMBER", "Read by this many processes here", SCALE)
    partition: str | None = option(
        "none|files|SIZE", "Summarize apart: none, files (with --workers) or parts of a SIZE", SCALE
    )


@dataclass(frozen=True)
class RunOptions(WorkerOptions):
    """What a long run needs."""

    checkpoint: str | None = option(
        "FILE", "Save the state; the same command resumes from it", SCALE
    )
    checkpoint_every: float = option("SECONDS", "Time between saves", SCALE, default=10.0)
    cache_size: str | None = option(
        "SIZE", "Memory for packed rows; what fits is read only once (256MB)", SCALE
    )
    quiet: bool = switch("Show no progress bar", OUTPUT, short="-q")


@dataclass(frozen=True)
class AnswerOptions(RunOptions, OutputOptions, RuleOptions, ColumnOptions):
    """What the verbs share that answer a question."""

    files: Sequence[str] = option(FILES)
    seed: str | None = option(SEED)
    measure: bool = switch(
        "Read the rows again, to count misfits and certify the answer", RULE, default=True
    )
    confidence: float = option(
        "PROBABILITY", "Confidence of what the rows certify", RULE, default=0.99
    )
    max_rows: int | None = option("NUMBER", "Use the first rows only, exactly this many", INPUT)
    draw_rows: int | None = option(
        "NUMBER", "Use the first rows; the seed draws how many, up to this", RULE, least=2
    )
    deduplicate_runs: bool = switch("Count equal rows that follow each other once", INPUT)
    protocol: str | None = option(
        "FILE", "Run a published protocol: its window, seed, columns, rows", RULE
    )


@verb(
    "constraints",
    "find the check equations that rows obey",
    "flagstone.cli.answering:constraints",
    "Answer",
    (
        "flagstone constraints examples/frames.txt -f bits --contamination .01 --seed 7 "
        "-o frames.json",
        "flagstone constraints examples/frames.txt -f bits --linear --as basis --seed 7",
    ),
    common=COMMON + " --linear --as",
    json_keys=keys.FINDING_KEYS | keys.EACH_KEYS,
)
@dataclass(frozen=True)
class ConstraintsOptions(AnswerOptions):
    """Find the check equations that the rows obey.

    They are affine: right-hand sides may be 1.

    With --linear they are those of a linear span; --as basis prints the span itself.
    """

    degree: int = option(DEGREE)
    linear: bool = switch("Only equations with right-hand side 0", RULE)
    each: bool = switch("Answer for each file, and say what the answers share", RULE)


@verb(
    "learn",
    "learn a label as a parity (a linear rule) of columns",
    "flagstone.cli.answering:learn",
    "Answer",
    (
        "flagstone learn examples/faults.csv -l fault --encode auto --seed 7 -o rule.json",
        "flagstone learn examples/faults.csv -l fault --encode auto --seed 7 --degree 2",
    ),
    common=COMMON + " --label --choice",
    json_keys=keys.FINDING_KEYS,
)
@dataclass(frozen=True)
class LearnOptions(AnswerOptions):
    """Learn a label as a parity (a linear function) of the other columns.

    Exit code 3 means ⊥: no such rule fits.
    """

    label: str | None = option(LABEL)
    degree: int = option(DEGREE)
    intercept: bool = option(INTERCEPT)
    choice: str = option(
        "NAME", "Which rule that fits: sparsest, lexmin, uniform", RULE, default="sparsest"
    )


@verb(
    "equations",
    "reduce many equations to a small system",
    "flagstone.cli.answering:equations",
    "Answer",
    ("flagstone equations examples/equations.csv --label b --field 7 --seed 2026",),
    common=COMMON + " --label --as",
    json_keys=keys.FINDING_KEYS,
)
@dataclass(frozen=True)
class EquationsOptions(AnswerOptions):
    """Reduce many equations to a small system.

    Each row is an equation; --label is the column of right-hand sides.
    """

    label: str | None = option(LABEL)


@verb(
    "subspace",
    "find the subspace of the rows whose label is 1",
    "flagstone.cli.answering:subspace",
    "Answer",
    ("flagstone subspace examples/faults.csv -l fault --encode auto --seed 7",),
    common=COMMON + " --label --affine",
    json_keys=keys.FINDING_KEYS,
)
@dataclass(frozen=True)
class SubspaceOptions(AnswerOptions):
    """Find the subspace of the rows whose label is 1.

    Rows with label 0 are counted, but span nothing.
    """

    label: str | None = option(LABEL)
    affine: bool = switch("The subspace may miss the origin: x3 ⊕ x7 = 1", RULE)


@dataclass(frozen=True)
class CaptureOptions:
    """How files of frames are read, cut, decoded, filtered and grouped."""

    format: str | None = option(
        "NAME", "hex, bits, rtl_433, json, candump, csv, c, bitbench, can, raw", INPUT, short="-f"
    )
    length: int | None = option(
        "BITS", "Read only frames of this many bits; for raw: bits of a record", INPUT
    )
    skip_fields: int | None = option(
        "NUMBER", "Leading fields to skip in each line; 0: detect no timestamps", INPUT, least=0
    )
    skip_bad_lines: bool = switch("Leave out, and count, the lines that cannot be read", INPUT)
    max_rows: int | None = option("NUMBER", "Read only the first frames", INPUT)
    decode: Sequence[str] | None = option(
        "CODE", "Undo [differential-]manchester, invert, nrzi, reverse-bytes", INPUT, many=True
    )
    sync: str | None = option("HEX", "Begin each frame after this pattern: d391, or 0b1101", INPUT)
    truncate: bool = switch("Cut frames to --length, or to what nine of ten have", INPUT)
    where: Sequence[str] | None = option(
        "COLUMN=VALUE", "Keep the frames of a value: id=0x229, model!=X, b0=0x2d", INPUT, many=True
    )
    by: str | None = option(
        "COLUMN", "Answer for each id, model, file, length, type or byte (b1)", INPUT
    )


@verb(
    "frames",
    "find the pattern, the digest and the damaged rows of frames",
    "flagstone.frames.cli:command",
    "Answer",
    (
        "flagstone frames examples/sensor.hex --seed 7 -o digest.json",
        "flagstone frames digest.json --as c",
    ),
    common="--format --by --where --decode --as --report --output",
    json_keys=keys.FINDING_KEYS | keys.FRAME_KEYS | keys.GROUP_KEYS,
)
@dataclass(frozen=True)
class FrameOptions(OutputOptions, RuleOptions, CaptureOptions):
    """Find the pattern and the digest of frames, or show those of a saved finding.

    --as c, python or rtl_433 prints code that checks the check bits of a frame.
    """

    files: Sequence[str] = option(FILES)
    show_as: str | None = option(
        "NAME", "Print " + ", ".join(FRAMES_SHOWN_AS), OUTPUT, choices=FRAMES_SHOWN_AS, name="--as"
    )
    seed: str | None = option(SEED)
    strict: bool = switch("With --as c or python: refuse also what no frame had here", OUTPUT)
    promises: bool = switch("Say also what holds for future samples, and how surely", OUTPUT)
    confidence: float = option(
        "PROBABILITY", "Confidence of what the frames certify", RULE, default=0.99
    )
    protocol: str | None = option(
        "FILE", "Run a published protocol: its window, seed, frames", RULE
    )
    solve: Sequence[str] | None = option(
        "COLUMNS", "Solve for these bits, the check: b4, b4.7..b5.0 or x32..x39", OUTPUT, many=True
    )
    case: Sequence[str] | None = option(
        "COLUMNS", "The constant of the digest depends on these bits: b1.3..b1.0", OUTPUT, many=True
    )


@verb(
    "show",
    "show what a saved finding or flag says",
    "flagstone.cli.flags:show",
    "Use",
    ("flagstone show frames.json --report frames.html",),
    common="--report --plot --force --json --as --seed",
    json_keys=keys.SHOW_KEYS,
)
@dataclass(frozen=True)
class ShowOptions(OutputOptions):
    """Show what a finding, flag or protocol file says; --report and --plot draw it again."""

    file: str = option("FILE", "A finding, flag or protocol")
    seed: str | None = option(EXPECT_SEED)


@dataclass(frozen=True)
class ApplyOptions(WorkerOptions, ReadOptions):
    """What ``check`` and ``predict`` share."""

    finding: str = option(FINDING)
    files: Sequence[str] = option(FILES)
    seed: str | None = option(EXPECT_SEED)
    json: bool = option(JSON)


@verb(
    "check",
    "find the rows that break a saved finding",
    "flagstone.cli.apply:check",
    "Use",
    ("flagstone check frames.json examples/frames.txt --tolerance 0.02",),
    common=(
        "--format --header --delimiter --length --tolerance --strict --max-misfits --seed --json"
    ),
    json_keys=keys.CHECK_KEYS,
)
@dataclass(frozen=True)
class CheckOptions(ApplyOptions):
    """Find the rows that break a saved finding.

    Exit code 4 if there are too many.

    A finding of frames with a digest is broken by frames that fail the digest.
    """

    tolerance: float = option("SHARE", "Largest share of rows that may break it", RULE, default=0.0)
    strict: bool = switch("Findings of frames: also count what no frame had then", RULE)
    max_misfits: int = option(
        "NUMBER", "List at most this many of them", OUTPUT, default=5, least=0
    )


@verb(
    "predict",
    "apply a saved finding to new rows",
    "flagstone.cli.apply:predict",
    "Use",
    ("flagstone predict rule.json examples/faults.csv -o predicted.csv",),
    common="--format --header --delimiter --length --output --force --seed --json",
    json_keys=keys.PREDICT_KEYS,
)
@dataclass(frozen=True)
class PredictOptions(ApplyOptions):
    """Predict the label of new rows; for findings without a label, whether a row fits (1 or 0).

    In CSV, a text that a spreadsheet would run as a formula (=…, +…, -…, @…) gets an apostrophe.
    """

    output: str | None = option("FILE", "Write a CSV file, print nothing", OUTPUT, short="-o")
    force: bool = option(FORCE)


@verb(
    "compare",
    "compare two findings: equal or not, and where they differ",
    "flagstone.cli.compare:command",
    "Use",
    ("flagstone compare frames.json frames.json",),
    json_keys=keys.COMPARE_KEYS,
)
@dataclass(frozen=True)
class CompareOptions:
    """Compare two findings (or flags): what they share, and where they differ.

    Exit code 0 if they are equal, 4 if not.
    """

    first: str = option("FIRST", "A finding or flag file")
    second: str = option("SECOND", "Another one")
    seed: str | None = option(EXPECT_SEED)
    json: bool = option(JSON)


@dataclass(frozen=True)
class SampleSizeOptions(PromiseOptions):
    """What is to be promised, for a plan without rows."""

    dim: int | None = option("NUMBER", "Number of feature columns", RULE, short="-d")
    delta: float | None = option(
        "PROBABILITY", "Chance that more than eps of future rows do not fit", RULE
    )
    each: bool = switch("Also plan for single equations, fixed in advance", RULE)


@dataclass(frozen=True)
class PilotOptions:
    """Pilot rows, and the protocol to write for fresh ones."""

    pilot: Sequence[str] | None = option(
        "FILE", "Choose a window on pilot rows; repeatable", INPUT, many=True
    )
    rule: str = option(RULE_NAME)
    max_rows: int | None = option(
        "NUMBER", "With --pilot: rows of each run; forecast if left out", RULE, least=2
    )
    confidence: float = option(
        "PROBABILITY", "Confidence of what the runs will certify", RULE, default=0.99
    )
    equations: bool = switch("With --pilot: a window that keeps these equations", RULE)
    output: str | None = option("FILE", "With --pilot: write the protocol", OUTPUT, short="-o")
    force: bool = option(FORCE)


@verb(
    "plan",
    "say how many rows a promise needs, or choose a window on pilot rows",
    "flagstone.cli.plan:command",
    "Trust",
    (
        "flagstone plan --dim 20 --rho 0.05 --eps 0.1",
        "flagstone plan --dim 20 --rho 0.05 --for constraints",
        "flagstone plan --pilot examples/frames.txt -f bits --seed 7 --max-rows 600 "
        "-o protocol.json",
        "flagstone show protocol.json",
    ),
    common=(
        "--pilot --format --field --for --dim --rho --eps --contamination --max-rows "
        "--seed --output --json"
    ),
    json_keys=keys.PLAN_KEYS | keys.PILOT_KEYS,
)
@dataclass(frozen=True)
class PlanOptions(SampleSizeOptions, PilotOptions, RunOptions, PurposeOptions, ColumnOptions):
    """Say how many rows a promise needs, by the paper's analysis and by ours.

    With --pilot FILE, choose a window on pilot rows, and write the protocol to publish for fresh
    ones.
    """

    label: str | None = option(LABEL)
    degree: int = option(DEGREE)
    seed: str | None = option(
        "TEXT", "Show the threshold it will draw; with --pilot: publish it", RULE
    )
    json: bool = option(JSON)


@verb(
    "audit",
    "measure how replicable a learner is",
    "flagstone.cli.audit:command",
    "Trust",
    (
        "flagstone audit examples/faults.csv -l fault -e auto -e level=bits:3 "
        "--learner sklearn.svm:SVC",
        "flagstone audit --law geometric --dim 8 --rows 500 --t-max 50 --claim 0.5 --pairs 40",
        "flagstone audit --law geometric --dim 8 --rows 500 --estimator elimination --pairs 40",
        "flagstone audit --law geometric --dim 8 --rows 500 --tradeoff --rho 0.1 --pairs 20",
    ),
    common=(
        "--label --law --dim --rows --estimator --learner --claim --pairs --results "
        "--jobs --seed --json"
    ),
    json_keys=keys.AUDIT_KEYS,
)
@dataclass(frozen=True)
class AuditOptions(RuleOptions, ColumnOptions):
    """Run a learner on pairs of samples with the same seed, and measure how alike the outputs are:
    exact, pointwise, approximate.

    With --learner, numbers and the label are read as they are; columns of text need --encode, or
    --encode auto. Exit code 4: --claim is rejected; 1: every run ended in an error.
    """

    files: Sequence[str] | None = option(
        "[FILE...]", "A table: disjoint random halves are compared"
    )
    label: str | None = option(LABEL)
    law: str | None = option(
        "NAME",
        "Fresh samples instead of files: geometric, uniform or blocks",
        INPUT,
        choices=("geometric", "uniform", "blocks"),
    )
    dim: int = option("NUMBER", "With --law: dimension", INPUT, default=20)
    rows: int = option("NUMBER", "With --law: rows", INPUT, default=1000)
    estimator: str | None = option(
        "NAME",
        "parity, elimination, span, constraints, equations or subspace",
        RULE,
        choices=("parity", "elimination", "span", "constraints", "equations", "subspace"),
    )
    intercept: bool = switch(
        "Allow a constant in the rule of parity or elimination", RULE, default=True
    )
    learner: str | None = option(
        "MODULE:NAME", "Any learner: an estimator, what makes one, or learn(X, y, seed)", RULE
    )
    compare: str = option(
        "NAME",
        "Compare by coef, predictions, churn, jaccard, …",
        RULE,
        default="auto",
        choices=COMPARED,
    )
    groups: str | None = option(
        "COLUMN", "With --learner: column whose equal values keep rows together", COLUMNS
    )
    bootstrap: bool = switch("Bootstrap samples of the table instead of halves", RULE)
    claim: float | None = option("PROBABILITY", "A claimed rho to judge", RULE)
    confidence: float = option(
        "PROBABILITY", "Confidence of intervals and verdict", RULE, default=0.95
    )
    pairs: int = option("NUMBER", "Compare at most this many pairs", RULE, default=200)
    disagreements: int | None = option("NUMBER", "Stop after this many pairs that differ", RULE)
    width: float | None = option("SHARE", "Stop once the interval is this narrow: 0.05", RULE)
    tradeoff: bool = switch("Instead: rows kept against replicability, over t_max", RULE)
    results: str | None = option("FILE", "Append every pair; an audit resumes from it", OUTPUT)
    output: str | None = option(
        "FILE", "Write all pairs as CSV, or table and plot as .html", OUTPUT, short="-o"
    )
    plot: str | None = option(
        "FILE", "Draw estimates and intervals, or the curve (.png, .svg)", OUTPUT
    )
    jobs: int = option(JOBS)
    seed: str = option("TEXT", "The seed of the audit", RULE, default="0")
    force: bool = option(FORCE)
    json: bool = option(JSON)


@dataclass(frozen=True)
class FlagOptions:
    """What ``summarize`` and ``merge`` share: the flag that they write."""

    output: str = option(FLAG_OUTPUT)
    seed: str | None = option(PUBLISH_SEED)
    force: bool = option(FORCE)
    json: bool = option(JSON)


@verb(
    "summarize",
    "write the flag of files, to merge or answer from later",
    "flagstone.cli.flags:summarize",
    "Scale",
    (
        "flagstone summarize examples/frames.txt -f bits -o part1.flag",
        "flagstone constraints part1.flag --contamination 0.01 --seed 7",
    ),
    common=(
        "--format --columns --encode --field --label --for --output --force --json --seed "
        "--workers --checkpoint"
    ),
    json_keys=keys.FLAG_KEYS,
)
@dataclass(frozen=True)
class SummarizeOptions(FlagOptions, RunOptions, PurposeOptions, ColumnOptions):
    """Write the flag of the rows: small, mergeable, and enough to answer from."""

    files: Sequence[str] = option(FILES)
    label: str | None = option(LABEL)
    degree: int = option(DEGREE)


@verb(
    "merge",
    "merge flags from several machines",
    "flagstone.cli.flags:merge",
    "Scale",
    ("flagstone merge part1.flag part1.flag -o both.flag",),
    json_keys=keys.FLAG_KEYS,
)
@dataclass(frozen=True)
class MergeOptions(FlagOptions):
    """Merge flags, by a fixed tree: (1, 2), (3, 4), … and so on; an odd one is carried up."""

    files: Sequence[str] = option("FLAG...", "Flag files; their order is part of the result")


@verb(
    "reproduce",
    "run the paper's evaluation, and more",
    "flagstone.paper.cli:command",
    "Paper",
    ("flagstone reproduce sample-size --quick -o results",),
    json_keys=keys.REPRODUCE_KEYS,
)
@dataclass(frozen=True)
class ReproduceOptions:
    """Run an experiment of the paper (or beyond it): figure, data and numbers into a directory."""

    name: str | None = option("[NAME]", "The experiment; without one, all are listed")
    output: str = option(
        "DIRECTORY", "Write to this directory", OUTPUT, short="-o", default="results"
    )
    quick: bool = switch("A small version, in seconds", SCALE)
    resume: bool = switch("Continue an interrupted run", SCALE, default=True)
    jobs: int = option(JOBS)
    seed: str | None = option("TEXT", "Another seed than the documented one", RULE)
    force: bool = switch("Replace results of another configuration", OUTPUT)
    json: bool = option(JSON)


def saved_frames(provenance: Mapping[str, Any]) -> ModuleType | None:
    """Return what checks and compares findings of frames, if this is one and frames are installed.

    The verb leaves the digests of frames in the provenance: these are looked at instead of rows.
    """
    if "frames" not in VERBS or "digest" not in provenance:
        return None
    return import_module(VERBS["frames"].function.partition(":")[0] + ".saved")
