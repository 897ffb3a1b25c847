"""``flagstone predict``: apply a saved rule to new rows."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flagstone.cli.inputs import load_model, open_tables
from flagstone.cli.longrun import watched
from flagstone.cli.options import ExpectSeedOption, Files, JsonOption, ReadOptions
from flagstone.cli.runner import OK, verb
from flagstone.errors import InputError

if TYPE_CHECKING:
    from flagstone.models import Model
    from flagstone.tables import Encoding, Table

JSON_KEYS = {
    "model": "fingerprint of the model",
    "rows": "how many rows were predicted",
    "values": "how often each value was predicted",
    "output": "the file written, if any; otherwise predictions lists every value",
    "predictions": "the predicted values, when no file is written",
}

EXAMPLES = ("flagstone predict rule.json examples/faults.csv -o predicted.csv",)


@verb
def command(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model file.")],
    files: Files,
    read: ReadOptions,
    output: Annotated[
        str | None, typer.Option("--output", "-o", help="Write a CSV file instead of printing.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that exists.")] = False,
    seed: ExpectSeedOption = None,
    json: JsonOption = False,
) -> int:
    """Predict the label of new rows by a learned rule (other models: does the row fit, 1 or 0)."""
    from flagstone.cli.output import print_json
    from flagstone.cli.outputs import refuse_inputs
    from flagstone.disk import atomic_file, check_target

    rule = load_model(model, seed)
    if output is not None:
        check_target(output, overwrite=force)
    encoding = _encoding(rule, model)
    table = open_tables(files, read, rule.details.get("reading"))
    refuse_inputs([output], [model, *table.files])
    counts: dict[str, int] = {}
    kept: list[str] = []

    def lines() -> Iterator[list[Any]]:
        many = len(table.files) > 1
        for file, row, value in _predictions(rule, table, encoding):
            if not counts:  # no line is printed before the first rows are known to be good
                yield [*(["file"] if many else []), "row", _target(rule)]
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
        found: dict[str, Any] = {"model": rule.fingerprint, "rows": sum(counts.values())}
        found |= {"values": counts, "output": output}
        print_json(found if output is not None else found | {"predictions": kept})
    elif output is not None:
        print(f"{sum(counts.values()):,} rows predicted, written to {output}")
    return OK


def _encoding(rule: Model, name: str) -> Encoding:
    if rule.encoding is None:
        raise InputError(f"{name} does not say how a table is encoded; predict in Python instead")
    return rule.encoding.without_label() if rule.verb == "learn" else rule.encoding


def _target(rule: Model) -> str:
    from flagstone.answers import ParityRule

    return rule.answer.target if isinstance(rule.answer, ParityRule) else "fits"


def _predictions(rule: Model, table: Table, encoding: Encoding) -> Iterator[tuple[str, int, str]]:
    from flagstone.answers import ParityRule

    label = rule.encoding.label if rule.encoding is not None else None
    for batch in watched(table, table.rows(encoding), "predicting"):
        if isinstance(rule.answer, ParityRule):
            values = [encoding.field.format(v) for v in rule.answer.predict(batch.matrix).tolist()]
            if label is not None and label.kind == "levels":
                values = [label.values[int(v)] for v in values]
        else:
            values = [str(int(fit)) for fit in rule.fits(batch.matrix)]
        file = str(table.files[batch.file])
        for index, value in enumerate(values, batch.batch.first_row):
            yield file, index, value
