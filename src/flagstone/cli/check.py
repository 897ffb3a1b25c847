"""``flagstone check``: which rows break a saved rule?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from flagstone.cli.inputs import load_model, open_tables
from flagstone.cli.longrun import watched
from flagstone.cli.options import ExpectSeedOption, Files, JsonOption, ReadOptions
from flagstone.cli.runner import FAILED, OK, UsageError, verb
from flagstone.errors import BottomError, InputError

if TYPE_CHECKING:
    from flagstone.models import Model
    from flagstone.tables import Table

JSON_KEYS = {
    "model": "fingerprint of the model",
    "ok": "whether the share of rows that break the rule is within the tolerance",
    "rows": "rows checked",
    "skipped": "frames of another length, left out",
    "misfits": "rows that break the rule",
    "share": "misfits / rows",
    "tolerance": "the share that may break it",
    "places": "the first of them: file, row, line",
    "equations": "for each equation, how many rows break it",
}

EXAMPLES = ("flagstone check frames.json examples/frames.txt --tolerance 0.02",)


@verb
def command(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model file.")],
    files: Files,
    read: ReadOptions,
    tolerance: Annotated[
        float, typer.Option("--tolerance", help="The share of rows that may break the rule.")
    ] = 0.0,
    show_rows: Annotated[
        int, typer.Option("--show-rows", min=0, help="How many of them are listed.")
    ] = 5,
    seed: ExpectSeedOption = None,
    json: JsonOption = False,
) -> int:
    """Find the rows that break a saved rule; exit code 4 if there are too many."""
    from flagstone.cli.output import number, print_json, safe

    if not 0 <= tolerance <= 1:
        raise UsageError(f"--tolerance must be a share between 0 and 1, got {tolerance:g}")
    rule = load_model(model, seed)
    if rule.encoding is None:
        raise InputError(f"{model} does not say how a table is encoded; check in Python instead")
    if rule.is_bottom:
        raise BottomError(f"{model} holds ⊥: there is no rule that rows could break")
    table = open_tables(files, read, rule.details.get("reading"))
    found = _count(rule, table, show_rows)
    share = found["misfits"] / found["rows"]  # a table without rows is refused
    ok = share <= tolerance
    if json:
        answer = {"model": rule.fingerprint, "ok": ok, "share": share, "tolerance": tolerance}
        print_json(answer | found)
        return OK if ok else FAILED
    from flagstone.cli.describe import places_text

    text = places_text(found["misfits"], found["rows"], found["places"])
    verdict = "within" if ok else "more than"
    print(f"{number(found['rows'])} rows checked against {rule.fingerprint[:16]}")
    print(f"{text} break{'s' if found['misfits'] == 1 else ''} the rule")
    for line, count in found["equations"] or []:
        if count:
            print(f"  {number(count):>10}  {safe(line)}")
    print(f"{'ok' if ok else 'FAILED'}: {verdict} the tolerance of {100 * tolerance:g} %")
    return OK if ok else FAILED


def _count(rule: Model, table: Table, shown: int) -> dict[str, Any]:
    from flagstone.answers import Constraints

    assert rule.encoding is not None
    rows = misfits = skipped = 0
    places: list[list[Any]] = []
    checks = rule.answer if isinstance(rule.answer, Constraints) else None
    broken = None if checks is None else [0] * len(checks)
    for batch in watched(table, table.rows(rule.encoding), "checking"):
        fits = rule.fits(batch.matrix)
        rows += len(batch)
        skipped += batch.batch.skipped
        wrong = (~fits).nonzero()[0]
        misfits += len(wrong)
        for index in wrong[: max(0, shown - len(places))].tolist():
            place = batch.place(index)
            places.append([place.file, place.row, place.line])
        if checks is not None and broken is not None and len(wrong):
            syndrome = (checks.syndrome(batch.matrix[wrong]) != 0).sum(axis=0).tolist()
            broken = [a + b for a, b in zip(broken, syndrome, strict=True)]
    lines = None
    if checks is not None and broken is not None:
        lines = [list(pair) for pair in zip(checks.lines, broken, strict=True)]
    found = {"rows": rows, "skipped": skipped, "misfits": misfits, "places": places}
    return found | {"equations": lines}
