"""The table of verbs: a verb is added here, and in the module that it names.

Loads nothing heavy: what a verb needs is imported with its module, when it is called.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import ModuleType
from typing import Any

from flagstone.cli import json_keys as keys
from flagstone.cli.options import (
    AuditOptions,
    CheckOptions,
    CompareOptions,
    ConstraintsOptions,
    EquationsOptions,
    FrameOptions,
    LearnOptions,
    MergeOptions,
    PlanOptions,
    PredictOptions,
    ReproduceOptions,
    ShowOptions,
    SubspaceOptions,
    SummarizeOptions,
)
from flagstone.cli.parser import Verb

#: The options that --help lists for the verbs that answer a question.
_COMMON = (
    "--format --columns --encode --field --contamination --rho --seed --output --report --json"
)

_ANSWER = (
    Verb(
        "constraints",
        "find the check equations that rows obey",
        "flagstone.cli.answering:constraints",
        ConstraintsOptions,
        "Find the check equations that the rows obey. They are affine: right-hand sides may be 1."
        "\n\nWith --linear they are those of a linear span; --as basis prints the span itself.",
        (
            "flagstone constraints examples/frames.txt -f bits --contamination .01 --seed 7 "
            "-o frames.json",
            "flagstone constraints examples/frames.txt -f bits --linear --as basis --seed 7",
        ),
        common=_COMMON + " --linear --as",
        json_keys=keys.FINDING_KEYS | keys.EACH_KEYS,
    ),
    Verb(
        "learn",
        "learn a label as a parity (a linear rule) of columns",
        "flagstone.cli.answering:learn",
        LearnOptions,
        "Learn a label as a parity (a linear function) of the other columns. Exit code 3 means ⊥: "
        "no such rule fits.",
        (
            "flagstone learn examples/faults.csv -l fault --encode auto --seed 7 -o rule.json",
            "flagstone learn examples/faults.csv -l fault --encode auto --seed 7 --degree 2",
        ),
        common=_COMMON + " --label --choice",
        json_keys=keys.FINDING_KEYS,
    ),
    Verb(
        "equations",
        "reduce many equations to a small system",
        "flagstone.cli.answering:equations",
        EquationsOptions,
        "Reduce many equations to a small system. Each row is an equation; --label is the column "
        "of right-hand sides.",
        ("flagstone equations examples/equations.csv --label b --field 7 --seed 2026",),
        common=_COMMON + " --label --as",
        json_keys=keys.FINDING_KEYS,
    ),
    Verb(
        "subspace",
        "find the subspace of the rows whose label is 1",
        "flagstone.cli.answering:subspace",
        SubspaceOptions,
        "Find the subspace of the rows whose label is 1. Rows with label 0 are counted, but span "
        "nothing.",
        ("flagstone subspace examples/faults.csv -l fault --encode auto --seed 7",),
        common=_COMMON + " --label --affine",
        json_keys=keys.FINDING_KEYS,
    ),
    Verb(
        "frames",
        "find the pattern, the digest and the damaged rows of frames",
        "flagstone.frames.cli:command",
        FrameOptions,
        "Find the pattern and the digest of frames, or show those of a saved finding. --as c, "
        "python or rtl_433 prints code that checks the check bits of a frame.",
        (
            "flagstone frames examples/frames.txt --contamination .01 --seed 7 -o digest.json",
            "flagstone frames digest.json --as masks",
        ),
        common="--format --by --where --decode --as --report --output",
        json_keys=keys.FINDING_KEYS | keys.FRAME_KEYS | keys.GROUP_KEYS,
    ),
)

_USE = (
    Verb(
        "show",
        "show what a saved finding or flag says",
        "flagstone.cli.show:command",
        ShowOptions,
        "Show what a finding, flag or protocol file says; --report and --plot draw it again.",
        ("flagstone show frames.json --report frames.html",),
        common="--report --plot --force --json --as --seed",
        json_keys=keys.SHOW_KEYS,
    ),
    Verb(
        "check",
        "find the rows that break a saved finding",
        "flagstone.cli.apply:check",
        CheckOptions,
        "Find the rows that break a saved finding. Exit code 4 if there are too many."
        "\n\nA finding of frames with a digest is broken by frames that fail the digest.",
        ("flagstone check frames.json examples/frames.txt --tolerance 0.02",),
        common=(
            "--format --header --delimiter --length --tolerance --strict --max-misfits --seed "
            "--json"
        ),
        json_keys=keys.CHECK_KEYS,
    ),
    Verb(
        "predict",
        "apply a saved finding to new rows",
        "flagstone.cli.apply:predict",
        PredictOptions,
        "Predict the label of new rows; for findings without a label, whether a row fits (1 or 0)."
        "\n\nIn CSV, a text that a spreadsheet would run as a formula (=…, +…, -…, @…) gets an "
        "apostrophe.",
        ("flagstone predict rule.json examples/faults.csv -o predicted.csv",),
        common="--format --header --delimiter --length --output --force --seed --json",
        json_keys=keys.PREDICT_KEYS,
    ),
    Verb(
        "compare",
        "compare two findings: equal or not, and where they differ",
        "flagstone.cli.compare:command",
        CompareOptions,
        "Compare two findings (or flags): what they share, and where they differ. Exit code 0 if "
        "they are equal, 4 if not.",
        ("flagstone compare frames.json frames.json",),
        json_keys=keys.COMPARE_KEYS,
    ),
)

_TRUST = (
    Verb(
        "plan",
        "say how many rows a promise needs, or choose a window on pilot rows",
        "flagstone.cli.plan:command",
        PlanOptions,
        "Say how many rows a promise needs, by the paper's analysis and by ours."
        "\n\nWith --pilot FILE, choose a window on pilot rows, and write the protocol to publish "
        "for fresh ones.",
        (
            "flagstone plan --dim 20 --rho 0.05 --eps 0.1",
            "flagstone plan --dim 20 --rho 0.05 --for constraints",
            "flagstone plan --pilot examples/frames.txt -f bits --seed 7 --max-rows 600 "
            "-o protocol.json",
            "flagstone constraints examples/frames.txt --protocol protocol.json",
        ),
        common=(
            "--pilot --format --field --for --dim --rho --eps --contamination --max-rows "
            "--seed --output --json"
        ),
        json_keys=keys.PLAN_KEYS | keys.PILOT_KEYS,
    ),
    Verb(
        "audit",
        "measure how replicable a learner is",
        "flagstone.cli.audit:command",
        AuditOptions,
        "Run a learner on pairs of samples with the same seed, and measure how alike the outputs "
        "are: exact, pointwise, approximate. Exit code 4: --claim is rejected; 1: every pair "
        "ended in an error.",
        (
            "flagstone audit examples/faults.csv -l fault -e auto --learner sklearn.svm:SVC "
            "--pairs 20",
            "flagstone audit --law geometric --dim 8 --rows 500 --t-max 50 --claim 0.5 --pairs 40",
            "flagstone audit --law geometric --dim 8 --rows 500 --estimator elimination --pairs 40",
            "flagstone audit --law geometric --dim 8 --rows 500 --tradeoff --rho 0.1 --pairs 20",
        ),
        common=(
            "--label --law --dim --rows --estimator --learner --claim --pairs --results --jobs "
            "--seed --json"
        ),
        json_keys=keys.AUDIT_KEYS,
    ),
)

_SCALE = (
    Verb(
        "summarize",
        "write the flag of files, to merge or answer from later",
        "flagstone.cli.flags:summarize",
        SummarizeOptions,
        "Write the flag of the rows: small, mergeable, and enough to answer from.",
        (
            "flagstone summarize examples/frames.txt -f bits -o part1.flag",
            "flagstone constraints part1.flag --contamination 0.01 --seed 7",
        ),
        common=(
            "--format --columns --encode --field --label --for --output --force --json --seed "
            "--workers --checkpoint"
        ),
        json_keys=keys.FLAG_KEYS,
    ),
    Verb(
        "merge",
        "merge flags from several machines",
        "flagstone.cli.flags:merge",
        MergeOptions,
        "Merge flags, by a fixed tree: (1, 2), (3, 4), … and so on; an odd one is carried up.",
        ("flagstone merge part1.flag part1.flag -o both.flag",),
        json_keys=keys.FLAG_KEYS,
    ),
)

_PAPER = (
    Verb(
        "reproduce",
        "run the paper's evaluation, and more",
        "flagstone.paper.cli:command",
        ReproduceOptions,
        "Run an experiment of the paper (or beyond it): figure, data and numbers into a directory.",
        ("flagstone reproduce sample-size --quick --out results",),
        json_keys=keys.REPRODUCE_KEYS,
    ),
)

#: All verbs in groups, as the help lists them. A verb of a package that is not installed is left
#: out: those of flagstone.frames and flagstone.paper may be missing.
VERB_GROUPS: dict[str, tuple[Verb, ...]] = {
    "Answer": _ANSWER,
    "Use": _USE,
    "Trust": _TRUST,
    "Scale": _SCALE,
    "Paper": _PAPER,
}
VERB_GROUPS = {
    name: there
    for name, verbs in VERB_GROUPS.items()
    if (there := tuple(verb for verb in verbs if verb.is_present))
}

VERBS = {verb.name: verb for verbs in VERB_GROUPS.values() for verb in verbs}


def verb_module(verb: str, part: str, *, saved: Mapping[str, Any]) -> ModuleType | None:
    """Return a module beside a verb's, if the verb is installed and left its mark in a finding.

    Frames leave their digests in the provenance: these are checked and compared instead of rows.
    """
    if verb not in VERBS or _MARKS[verb] not in saved:
        return None
    module = VERBS[verb].function.partition(":")[0]
    return import_module(f"{module}.{part}")


_MARKS = {"frames": "digest"}
