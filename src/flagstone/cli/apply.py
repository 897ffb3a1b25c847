"""``flagstone check`` and ``predict``: what a saved finding says about new rows."""

from __future__ import annotations

import csv
import io
import re
import sys
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, TextIO

import numpy as np

from flagstone.cli.console import FAILED, OK, number, print_json, safe
from flagstone.cli.inputs import captures_refused, load_finding, open_tables
from flagstone.cli.reader import RowReader
from flagstone.cli.results import misfits_text, refuse_existing_outputs, refuse_inputs
from flagstone.cli.verbs import CheckOptions, PredictOptions, WorkerOptions, saved_frames
from flagstone.disk import atomic_file
from flagstone.errors import BottomError, InputError, InputWarning
from flagstone.finding import SCHEMA, Finding
from flagstone.measurement import predict as predict_rows
from flagstone.shards import ShardTask, predict_task
from flagstone.store import ForeignFileError
from flagstone.tables import Table, is_frames, misfit_records
from flagstone.tables.partitions import Partition
from flagstone.text import left_out, nothing_to_break
from flagstone.wording import counted


@captures_refused(
    "a finding that was saved by: flagstone frames CAPTURE -o FINDING is checked against captures "
    "as they are"
)
def check(options: CheckOptions) -> int:
    """Find the rows that break a saved finding; exit code 4 if there are too many."""
    tolerance, max_misfits = options.tolerance, options.max_misfits
    found = _finding(options)
    frames = saved_frames(found.provenance)
    if frames is not None and frames.reads(options):
        return int(frames.check(found, options))
    if found.answer.is_bottom:
        raise BottomError(f"{options.finding} holds ⊥: there is nothing that rows could break")
    if (nothing := nothing_to_break(found)) is not None:
        warnings.warn(InputWarning(f"{options.finding}: {nothing}"), stacklevel=2)
    table = open_tables(options.files, options, found.provenance.get("reading"))
    reader = RowReader(table, ShardTask(found.question, found.encoding), options)
    review = reader.pipeline.check(found, max_misfits)
    rows, broken = review.counted, review.broken
    equations = None  # how often each is broken, of equations that rows obey
    if broken is not None:
        equations = [[line, n] for line, n in zip(found.checks, broken.tolist(), strict=True)]
    misfits = rows.misfits or 0
    share = misfits / rows.read  # a table without rows is refused
    ok = share <= tolerance
    if options.json:
        records = None if is_frames(found) else misfit_records(replace(found, rows=rows))
        print_json(
            {
                "schema": SCHEMA,
                "fingerprint": found.fingerprint,
                "ok": ok,
                "rows": rows.to_dict(),
                "share": share,
                "tolerance": tolerance,
                "equations": equations,
                "misfits": records,
                "digests": None,
                "unusual": None,
            }
        )
        return OK if ok else FAILED
    unread = f", {number(rows.skipped)} {left_out(found.encoding)}" if rows.skipped else ""
    print(f"{counted(rows.read, 'row')} checked against {found.fingerprint[:16]}{unread}")
    count, *told = misfits_text(replace(found, rows=rows), max_misfits)
    print(f"{count} break{'s' if misfits == 1 else ''} the rule")
    for line, n in equations or []:
        if n:
            print(f"  {number(n):>10}  {safe(line)}")
    for line in told:
        print(f"  {line}")
    verdict = "within" if ok else "more than"
    print(f"{'ok' if ok else 'FAILED'}: {verdict} the tolerance of {100 * tolerance:g} %")
    return OK if ok else FAILED


def _finding(options: CheckOptions | PredictOptions) -> Finding:
    """Load the finding; of a table in its place, say which comes first."""
    try:
        return load_finding(options.finding, options.seed)
    except ForeignFileError as error:
        if not any(file.endswith(".json") for file in options.files):
            raise
        raise InputError(f"{error}; the saved finding comes first, then the rows") from error


@captures_refused(
    "predict reads no captures; with a finding of frames, this does: flagstone check FINDING FILE"
)
def predict(options: PredictOptions) -> int:
    """Predict the label of new rows (of findings without a label: does the row fit, 1 or 0)."""
    found, output = _finding(options), options.output
    if saved_frames(found.provenance) is not None:
        raise InputError(
            f"{options.finding} is a finding of frames, and predict computes no digests; which "
            f"frames pass is what this says: flagstone check {options.finding} FILE"
        )
    refuse_existing_outputs(options)
    table = open_tables(options.files, options, found.provenance.get("reading"))
    refuse_inputs(options, [options.finding, *table.files])
    counts: Counter[str] = Counter()
    lines, listed = _lines(found, table, options, counts), {}
    if output is not None:
        with atomic_file(output, overwrite=options.force) as stream:
            text = io.TextIOWrapper(stream, "utf-8", errors="backslashreplace", newline="")
            _write_csv(text, lines)
            text.detach()
    elif options.json:
        listed = {"predictions": [line[-1] for line in lines][1:]}
    else:
        _write_csv(getattr(sys.stdout, "raw", sys.stdout), lines)
    n_rows = counts.total()
    if options.json:
        known = {"fingerprint": found.fingerprint, "rows": {"read": n_rows}, "values": counts}
        print_json({"schema": SCHEMA} | known | {"output": output} | listed)
    elif output is not None:
        print(f"{counted(n_rows, 'row')} predicted, written to {output}")
    return OK


def _lines(
    finding: Finding, table: Table, options: WorkerOptions, counts: Counter[str]
) -> Iterator[list[Any]]:
    """Yield a head and a line for each row, with its file where there are several; count values."""
    label, many = finding.encoding.label, len(table.files) > 1
    task = predict_task(finding)
    reader = RowReader(table, task, options)
    # here rows are predicted as they are read; from elsewhere a partition comes as a whole
    predicted = partial(_predicted if reader.is_local else _all_predicted, task, finding)
    for part in reader.each(predicted, reader.pipeline.shards):
        for file, row, value in part:
            if not counts:  # no line is printed before the first rows are known to be good
                head = "fits" if label is None else label.column
                yield [*(["file"] if many else []), "row", head]
            counts[value] += 1
            yield [*([file] if many else []), row, value]


def _write_csv(stream: TextIO, lines: Iterable[list[Any]]) -> None:
    """Write lines as CSV, without formulas."""
    writer = csv.writer(stream, lineterminator="\n")
    for line in lines:
        writer.writerow([plain_cell(cell) if isinstance(cell, str) else cell for cell in line])
    stream.flush()


#: The beginnings of cells that spreadsheets take for formulas.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
#: Numbers are no formulas: -1, 2.5e-3, -1/2.
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?(/\d+)?", re.ASCII)


def plain_cell(text: str) -> str:
    """Return a text as a cell that no spreadsheet runs as a formula; numbers stay as they are.

    >>> [plain_cell(text) for text in ("=1+1", "+1+1", "@a", "-1", "-1/2", "yes")]
    ["'=1+1", "'+1+1", "'@a", '-1', '-1/2', 'yes']
    """
    return f"'{text}" if text.startswith(_FORMULA) and not _NUMBER.fullmatch(text) else text


def _predicted(
    task: ShardTask, finding: Finding, part: Partition
) -> Iterator[tuple[str, int, str]]:
    """Yield (file, row, predicted text) of the rows of a partition."""
    for batch in part.batches(task):
        texts = finding.encoding.decoded(predict_rows(finding, batch.rows))
        places = batch.places(np.ones(len(batch), dtype=bool), len(batch))
        for (file, row, _), text in zip(places, texts, strict=True):
            yield file, row, text


def _all_predicted(
    task: ShardTask, finding: Finding, part: Partition
) -> list[tuple[str, int, str]]:
    """Return them all: what a worker sends."""
    return list(_predicted(task, finding, part))
