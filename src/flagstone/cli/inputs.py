"""Inputs: from the words of the command line to a table, its encoding, or a saved summary."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flagstone.cli.options import ReadOptions, TableOptions
from flagstone.cli.output import safe
from flagstone.cli.runner import UsageError
from flagstone.errors import InputError

if TYPE_CHECKING:
    from flagstone.models import Layout, Model, SummaryFile
    from flagstone.tables import Encoding, Table

__all__ = ["Source", "is_saved", "load_model", "open_source", "open_tables", "reading_of"]

_READING = ("format", "delimiter", "header", "bit_order", "length")
_SAVED = b'{\n "content": {'


@dataclass(frozen=True)
class Source:
    """Rows to read (a table and its encoding), or a summary of rows read before."""

    table: Table | None
    encoding: Encoding | None
    summary: SummaryFile | None = None


def open_tables(files: Sequence[str], options: ReadOptions, remembered: Any = None) -> Table:
    """Open the files as one table, read as a model remembers unless the options say otherwise."""
    from flagstone.tables import open_table

    reading = {name: getattr(options, name) for name in _READING}
    for name, value in dict(remembered or {}).items():
        # a model made from frames without a telling name is checked against such frames again
        if (
            name in reading
            and reading[name] is None
            and not (name == "format" and all(says_format(file) for file in files))
        ):
            reading[name] = value
    return open_table(*files, **{**reading, "bit_order": reading["bit_order"] or "msb"})


def reading_of(options: ReadOptions) -> dict[str, Any]:
    """Return what a model must remember of how its files were read."""
    given = {name: getattr(options, name) for name in _READING}
    return {name: value for name, value in given.items() if value is not None}


def says_format(file: str) -> bool:
    """Say whether the name of a file tells its format."""
    from flagstone.tables.files import format_of

    try:
        format_of(Path(file))
    except InputError:
        return False
    return True


def open_source(files: Sequence[str], options: TableOptions, layout: Layout, verb: str) -> Source:
    """Open the input of a verb that answers: tables, or one file written by summarize."""
    if len(files) == 1 and options.format is None and is_saved(Path(files[0])):
        return _summary_source(files[0], options, layout, verb)
    if layout.label and options.label is None:
        raise UsageError(f"{verb} needs --label: the column to express by the others")
    if not layout.label and options.label is not None:
        raise UsageError(f"{verb} takes no --label; to leave a column out use --columns '-NAME'")
    table = open_tables(files, options)
    columns = [
        column
        for text in options.columns or []
        for column in ([text] if text in table.columns else text.split(","))
        if column
    ]
    wanted = _encoders(options.encode)
    encoding = table.encoding(
        options.field, columns=columns or None, label=options.label, encode=wanted
    )
    if "auto" in wanted.values():
        _say_proposals(table, encoding)
    return Source(table, encoding)


def _say_proposals(table: Table, encoding: Encoding) -> None:
    """Say on stderr what was proposed, why, and accepted by --encode auto."""
    chosen = {
        encoder.column: encoder.text
        for encoder in (*encoding.encoders, *((encoding.label,) if encoding.label else ()))
    }
    for proposal in table.proposals(list(encoding.columns), encoding.field):
        encoder = proposal.encoder
        if encoder is None or encoder.kind == "element":
            continue
        if chosen[proposal.column] == encoder.text:
            print(f"flagstone: encoding {safe(str(proposal))}", file=sys.stderr)


def _summary_source(file: str, options: TableOptions, layout: Layout, verb: str) -> Source:
    from flagstone.models import Model, load

    loaded = load(file)
    if options.columns or options.encode:
        raise UsageError(f"{file} has its columns already: leave out --columns and --encode")
    if isinstance(loaded, Model):
        raise UsageError(f"{file} is a model already; look at it with: flagstone show {file}")
    if loaded.layout != layout:
        raise InputError(
            f"{file} summarizes rows {loaded.layout}, but {verb} needs {layout}; write it with: "
            f"flagstone summarize --for {verb} …"
        )
    label = loaded.encoding.label if loaded.encoding is not None else None
    if options.label is not None and (label is None or label.column != options.label):
        known = "no label" if label is None else f"the label {label.column!r}"
        raise InputError(f"{file} was summarized with {known}, not with {options.label!r}")
    return Source(None, loaded.encoding, loaded)


def is_saved(path: Path) -> bool:
    """Say whether a file looks like one that flagstone wrote."""
    try:
        with path.open("rb") as stream:
            return stream.read(len(_SAVED)) == _SAVED
    except OSError:
        return False


def load_model(file: str, seed: str | None = None) -> Model:
    """Load a model; say it plainly if the file is something else or was made with another seed."""
    from flagstone.models import Model, load

    loaded = load(file)
    if not isinstance(loaded, Model):
        raise InputError(
            f"{file} holds a {loaded.kind}, not a model; answer from it first, e.g. with: "
            f"flagstone constraints {file} -o model.json"
        )
    expect_seed(loaded, file, seed)
    return loaded


def expect_seed(loaded: Model | SummaryFile, file: str, seed: str | None) -> None:
    """Refuse a file that was made with another seed than the one expected."""
    made = loaded.details.get("seed")
    if seed is not None and made != seed:
        raise InputError(f"{file} was made with seed {made}, not with {seed}")


def _encoders(texts: Sequence[str] | None) -> dict[str, str]:
    """Read --encode options: COLUMN=ENCODER, or auto for every column."""
    encoders: dict[str, str] = {}
    for text in texts or []:
        if text == "auto":
            encoders["*"] = "auto"
            continue
        column, equals, encoder = text.rpartition("=")
        kinds = ("element", "levels", "onehot", "bits", "above", "mod", "auto")
        # values may hold '=' themselves, so split at the last one that starts an encoder
        for position in [i for i, c in enumerate(text) if c == "="]:
            if text[position + 1 :].startswith(kinds):
                column, equals, encoder = text[:position], "=", text[position + 1 :]
                break
        if not equals or not column:
            raise UsageError(f"--encode must read COLUMN=ENCODER or auto, got {text!r}")
        encoders[column] = encoder
    return encoders
