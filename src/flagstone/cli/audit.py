"""``flagstone audit``: how often do two fresh samples agree?"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from flagstone.cli.options import JsonOption, RuleOptions, TableOptions
from flagstone.cli.runner import FAILED, OK, UsageError, verb
from flagstone.errors import InputError

LAWS = ("geometric", "uniform", "blocks")

JSON_KEYS = {
    "task": "what was audited, on what",
    "pairs, agreements, both_bottom, one_bottom, errors": "counts of pairs",
    "replicability": "share of pairs that agree",
    "interval_anytime, interval_clopper_pearson": "intervals of the disagreement rate",
    "indicative": "true for halves of one table, which are not fresh samples",
    "verdict": "on --claim: decision (rejected, supported, undecided), claim, evidence",
}

EXAMPLES = ("flagstone audit --law geometric --dim 8 --rows 500 --t-max 50 --claim 0.5 --pairs 40",)


@verb
def command(
    table: TableOptions,
    rule: RuleOptions,
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="[FILE]...", help="A table: disjoint random halves are compared."),
    ] = None,
    law: Annotated[
        str | None,
        typer.Option("--law", help="Instead of files, fresh samples: geometric, uniform, blocks."),
    ] = None,
    dim: Annotated[int, typer.Option("--dim", min=1, help="With --law: dimension.")] = 20,
    rows: Annotated[int, typer.Option("--rows", min=1, help="With --law: rows.")] = 1000,
    estimator: Annotated[
        str | None,
        typer.Option("--estimator", help="parity, elimination, span, affine or equations."),
    ] = None,
    claim: Annotated[
        float | None, typer.Option("--claim", help="A claimed rho to be judged.")
    ] = None,
    confidence: Annotated[float, typer.Option("--confidence", help="Of the verdict.")] = 0.95,
    pairs: Annotated[int, typer.Option("--pairs", min=1, help="At most so many pairs.")] = 200,
    results: Annotated[
        str | None, typer.Option("--results", help="Append-only file; an audit resumes from it.")
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Processes.")] = 1,
    seed: Annotated[str, typer.Option("--seed", help="The seed of the audit.")] = "0",
    json: JsonOption = False,
) -> int:
    """Measure how often two samples with the same coins agree; exit code 4: --claim rejected."""
    from flagstone.audit import ESTIMATORS, audit_sampler, audit_table
    from flagstone.cli.output import print_json

    if (law is None) == (not files):
        raise UsageError("give either files or --law, the source of the samples")
    name = estimator or ("parity" if table.label is not None else "span")
    if name not in ESTIMATORS:
        raise UsageError(f"--estimator must be one of {', '.join(ESTIMATORS)}, got {name!r}")
    options: dict[str, Any] = {
        "estimator": name,
        "parameters": _parameters(name, table, rule),
        "claim": claim,
        "confidence": confidence,
        "max_pairs": pairs,
        "seed": seed,
        "file": results,
        "n_jobs": jobs,
    }
    if law is not None:
        found = audit_sampler(_law(law, dim, table.field), rows, **options)
    else:
        X, y = _load(files or [], table, needs_label=name in ("parity", "elimination", "equations"))
        found = audit_table(X, y, **options)
    if json:
        print_json(found.to_dict())
    else:
        print(found)
    rejected = found.verdict is not None and found.verdict.decision == "rejected"
    return FAILED if rejected else OK


def _parameters(name: str, table: TableOptions, rule: RuleOptions) -> dict[str, Any]:
    from flagstone.cli.road import rule_of

    if name == "elimination":
        return {"field": table.field}
    chosen = rule_of(rule)
    return {
        "field": table.field,
        "rule": chosen.name,
        "rho": chosen.rho,
        "eps": chosen.eps,
        "t_max": chosen.t_max,
        "t_min": chosen.t_min,
        "contamination": chosen.contamination,
    }


def _law(name: str, dim: int, field: str) -> Any:
    from flagstone import distributions

    if name not in LAWS:
        raise UsageError(f"--law must be one of {', '.join(LAWS)}, got {name!r}")
    return getattr(distributions, name)(dim, field)


def _load(files: list[str], table: TableOptions, *, needs_label: bool) -> tuple[Any, Any]:
    import numpy as np

    from flagstone.cli.inputs import open_source
    from flagstone.models import Layout

    source = open_source(files, table, Layout(label=needs_label), "audit")
    if source.table is None or source.encoding is None:
        raise InputError("an audit needs the rows themselves, not a flag")
    parts = [batch.matrix for batch in source.table.rows(source.encoding)]
    matrix = np.concatenate(parts)
    return (matrix[:, :-1], matrix[:, -1]) if needs_label else (matrix, None)
