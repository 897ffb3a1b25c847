"""``flagstone predict``: apply a saved finding to new rows."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flagstone.cli.inputs import load_finding, open_tables
from flagstone.cli.longrun import watched
from flagstone.cli.options import CrewOptions, ExpectSeedOption, Files, JsonOption, ReadOptions
from flagstone.cli.runner import OK, verb
from flagstone.wording import counted

if TYPE_CHECKING:
    from flagstone.finding import Finding
    from flagstone.tables import Table

JSON_KEYS = {
    "schema": "2, the version of these keys",
    "fingerprint": "of the finding",
    "rows": "read: how many rows were predicted",
    "values": "how often each value was predicted",
    "output": "the file written, if any; otherwise predictions lists every value",
    "predictions": "the predicted values, when no file is written",
}

EXAMPLES = ("flagstone predict rule.json examples/faults.csv -o predicted.csv",)


@verb
def command(
    finding: Annotated[str, typer.Argument(metavar="FINDING", help="A saved finding.")],
    files: Files,
    read: ReadOptions,
    crew: CrewOptions,
    output: Annotated[
        str | None, typer.Option("--output", "-o", help="Write a CSV file instead of printing.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that exists.")] = False,
    seed: ExpectSeedOption = None,
    json: JsonOption = False,
) -> int:
    """Predict the label of new rows (of findings without a label: does the row fit, 1 or 0)."""
    from flagstone.cli.output import print_json
    from flagstone.cli.outputs import refuse_inputs
    from flagstone.disk import atomic_file, check_target
    from flagstone.finding import SCHEMA

    found = load_finding(finding, seed)
    if output is not None:
        check_target(output, overwrite=force)
    table = open_tables(files, read, found.provenance.get("reading"))
    refuse_inputs([output], [finding, *table.files])
    target = found.encoding.label.column if found.encoding.label is not None else "fits"
    counts: dict[str, int] = {}
    kept: list[str] = []

    def lines() -> Iterator[list[Any]]:
        many = len(table.files) > 1
        for file, row, value in _predictions(found, table, crew):
            if not counts:  # no line is printed before the first rows are known to be good
                yield [*(["file"] if many else []), "row", target]
            counts[value] = counts.get(value, 0) + 1
            yield [*([file] if many else []), row, value]

    if output is not None:
        with atomic_file(output, overwrite=force) as stream:
            text = io.TextIOWrapper(stream, "utf-8", errors="backslashreplace", newline="")
            csv.writer(text, lineterminator="\n").writerows(lines())
            text.flush()
            text.detach()
    elif json:
        kept = [row[-1] for row in lines()][1:]
    else:
        csv.writer(getattr(sys.stdout, "raw", sys.stdout), lineterminator="\n").writerows(lines())
    if json:
        said: dict[str, Any] = {
            "schema": SCHEMA,
            "fingerprint": found.fingerprint,
            "rows": {"read": sum(counts.values())},
            "values": counts,
            "output": output,
        }
        print_json(said if output is not None else said | {"predictions": kept})
    elif output is not None:
        print(f"{counted(sum(counts.values()), 'row')} predicted, written to {output}")
    return OK


def _predictions(
    finding: Finding, table: Table, options: CrewOptions
) -> Iterator[tuple[str, int, str]]:
    """Yield (file, row, predicted text) of every row, in order."""
    from flagstone.cli.crew import crew_progress, hired, partition_bytes

    crew = hired(options)
    if crew is None:
        encoding = finding.encoding.without_label()
        for batch in watched(table, table.rows(encoding), "predicting"):
            elements = finding.question.predict(finding.answer, batch.rows)
            file = str(table.files[batch.file])
            index = range(len(batch)) if batch.index is None else batch.index.tolist()
            for row, text in zip(index, finding.encoding.decoded(elements), strict=True):
                yield file, batch.batch.first_row + row, text
        return
    from flagstone.distributed import Dataset

    data = Dataset.of_table(table, partition_bytes(options))
    done: dict[str, int] = {}  # rows of each file: several partitions may be of one
    with crew_progress(crew, "predicting"):
        found = crew.in_order(crew.predict(data, finding))
        for part, texts in zip(data.partitions, found, strict=True):
            first = done.get(part.name, 0) + 1
            done[part.name] = first + len(texts) - 1
            for row, text in enumerate(texts, first):
                yield part.name, row, text
