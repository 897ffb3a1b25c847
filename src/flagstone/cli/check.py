"""``flagstone check``: which rows break a saved finding?"""

from __future__ import annotations

from typing import Any

from flagstone.cli.describe import places_text
from flagstone.cli.executors import dask_executor, partition_of, partition_progress
from flagstone.cli.inputs import load_finding, open_tables
from flagstone.cli.longrun import watched
from flagstone.cli.options import CrewOptions, ReadOptions
from flagstone.cli.output import number, print_json, safe
from flagstone.cli.runner import FAILED, OK, UsageError
from flagstone.errors import BottomError
from flagstone.finding import SCHEMA, Finding
from flagstone.measurement import Measurement
from flagstone.pipeline import LocalExecutor, Pipeline
from flagstone.shards import ShardTask
from flagstone.tables import Table
from flagstone.tables.partitions import Dataset
from flagstone.wording import counted


def command(
    finding: str,
    files: list[str],
    read: ReadOptions,
    crew: CrewOptions,
    tolerance: float,
    max_misfits: int,
    seed: str | None,
    json: bool,
) -> int:
    """Find the rows that break a saved finding; exit code 4 if there are too many."""
    if not 0 <= tolerance <= 1:
        raise UsageError(f"--tolerance must be a share between 0 and 1, got {tolerance:g}")
    found = load_finding(finding, seed)
    if found.answer.is_bottom:
        raise BottomError(f"{finding} holds ⊥: there is nothing that rows could break")
    table = open_tables(files, read, found.provenance.get("reading"))
    rows, equations = _count(found, table, max_misfits, crew)
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
    dask = dask_executor(options)
    data = Dataset.of_table(table, partition_of(options, matters=False))
    task = ShardTask(finding.question, finding.encoding)
    if dask is not None:
        with partition_progress(dask, "checking"):
            found = Pipeline(task, data.partitions, dask).check(finding, shown)
    else:
        with watched(table, "checking", len(data.partitions)) as opened:
            local = LocalExecutor(opened)
            found = Pipeline(task, data.partitions, local).check(finding, shown)
    total, broken = found.counted, found.broken
    if broken is None:
        return total, None
    pairs = zip(finding.answer.lines, broken.tolist(), strict=True)
    return total, [[line, n] for line, n in pairs]
