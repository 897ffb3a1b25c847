"""``flagstone check``: which rows break a saved finding?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from flagstone.cli.inputs import load_finding, open_tables
from flagstone.cli.longrun import watched
from flagstone.cli.options import CrewOptions, ExpectSeedOption, Files, JsonOption, ReadOptions
from flagstone.cli.runner import FAILED, OK, UsageError, verb
from flagstone.errors import BottomError
from flagstone.wording import counted

if TYPE_CHECKING:
    from flagstone.finding import Finding
    from flagstone.measurement import Measurement
    from flagstone.tables import Table

JSON_KEYS = {
    "schema": "2, the version of these keys",
    "fingerprint": "of the finding",
    "ok": "whether the share of rows that break it is within the tolerance",
    "rows": "read, skipped (frames of another length), misfits, places (the first of them: file, "
    "row, line), values (what stands there), uncovered (outside the span, where it is known), "
    "levels (null)",
    "share": "misfits / rows read",
    "tolerance": "the share that may break it",
    "equations": "for each equation, how many rows break it",
}

EXAMPLES = ("flagstone check frames.json examples/frames.txt --tolerance 0.02",)


@verb
def command(
    finding: Annotated[str, typer.Argument(metavar="FINDING", help="A saved finding.")],
    files: Files,
    read: ReadOptions,
    crew: CrewOptions,
    tolerance: Annotated[
        float, typer.Option("--tolerance", help="The share of rows that may break it.")
    ] = 0.0,
    show_rows: Annotated[
        int, typer.Option("--show-rows", min=0, help="How many of them are listed.")
    ] = 5,
    seed: ExpectSeedOption = None,
    json: JsonOption = False,
) -> int:
    """Find the rows that break a saved finding; exit code 4 if there are too many."""
    from flagstone.cli.describe import places_text
    from flagstone.cli.output import number, print_json, safe
    from flagstone.finding import SCHEMA

    if not 0 <= tolerance <= 1:
        raise UsageError(f"--tolerance must be a share between 0 and 1, got {tolerance:g}")
    found = load_finding(finding, seed)
    if found.answer.is_bottom:
        raise BottomError(f"{finding} holds ⊥: there is nothing that rows could break")
    table = open_tables(files, read, found.provenance.get("reading"))
    rows, equations = _count(found, table, show_rows, crew)
    misfits = rows.misfits or 0
    share = misfits / rows.read  # a table without rows is refused
    ok = share <= tolerance
    if json:
        print_json(
            {
                "schema": SCHEMA,
                "fingerprint": found.fingerprint,
                "ok": ok,
                "rows": rows.to_dict(),
                "share": share,
                "tolerance": tolerance,
                "equations": equations,
            }
        )
        return OK if ok else FAILED
    print(f"{counted(rows.read, 'row')} checked against {found.fingerprint[:16]}")
    text = places_text(misfits, rows.read, rows.places)
    print(f"{text} break{'s' if misfits == 1 else ''} the rule")
    for line, count in equations or []:
        if count:
            print(f"  {number(count):>10}  {safe(line)}")
    verdict = "within" if ok else "more than"
    print(f"{'ok' if ok else 'FAILED'}: {verdict} the tolerance of {100 * tolerance:g} %")
    return OK if ok else FAILED


def _count(
    finding: Finding, table: Table, shown: int, options: CrewOptions
) -> tuple[Measurement, list[list[Any]] | None]:
    """Count rows and misfits and, for equations that rows obey, how often each is broken."""
    from flagstone.cli.crew import crew_progress, hired, partition_bytes
    from flagstone.tables.counting import count_rows

    crew = hired(options)
    if crew is None:
        batches = watched(table, table.rows(finding.encoding), "checking")
        total, broken = count_rows(finding, batches, shown)
    else:
        from flagstone.distributed import Dataset

        data = Dataset.of_table(table, partition_bytes(options))
        with crew_progress(crew, "checking"):
            total, broken = crew.check(data, finding, shown)
    if broken is None:
        return total, None
    pairs = zip(finding.answer.lines, broken.tolist(), strict=True)
    return total, [[line, n] for line, n in pairs]
