"""Inputs: from the words of the command line to a table, its encoding, or a saved summary."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flagstone.cli.options import ColumnOptions, ReadOptions
from flagstone.cli.output import safe
from flagstone.cli.runner import ARGUMENTS, UsageError
from flagstone.cli.words import option_values
from flagstone.errors import InputError

if TYPE_CHECKING:
    from flagstone.models import Layout, Model, SummaryFile
    from flagstone.tables import Encoding, Table

__all__ = [
    "Source",
    "is_saved",
    "layout_for",
    "load_model",
    "open_source",
    "open_tables",
    "reading_of",
]

_READING = ("format", "delimiter", "header", "bit_order", "length")
_SAVED = b'{\n "content": {'


@dataclass(frozen=True)
class Source:
    """Rows to read (a table and its encoding), or a summary of rows read before."""

    table: Table | None
    encoding: Encoding | None
    summary: SummaryFile | None = None


def layout_for(purpose: str, *, intercept: bool, linear: bool) -> Layout:
    """Return what stands in the rows of a verb; options of another verb are refused."""
    import dataclasses

    from flagstone.models import LAYOUTS

    if purpose not in LAYOUTS:
        raise UsageError(f"--for must be one of {', '.join(LAYOUTS)}, got {purpose!r}")
    if intercept and purpose != "learn":
        raise UsageError(f"--intercept is for learn, but --for is {purpose}; leave one out")
    if linear and purpose != "constraints":
        raise UsageError(f"--linear is for constraints, but --for is {purpose}; leave one out")
    layout = LAYOUTS[purpose]
    return dataclasses.replace(layout, ones=intercept or (layout.ones and not linear))


def open_tables(files: Sequence[str], options: ReadOptions, remembered: Any = None) -> Table:
    """Open the files as one table, read as a model remembers unless the options say otherwise."""
    from flagstone.tables import open_table
    from flagstone.tables.files import APPLIES, ReadingError, expand, format_of

    reading = {name: getattr(options, name) for name in _READING}
    known = dict(remembered or {})
    # a model made from frames without a telling name is checked against such frames again
    if reading["format"] is None and not all(says_format(file) for file in files):
        reading["format"] = known.get("format")
    try:
        if known:
            formats = {reading["format"] or format_of(path) for path in expand(files)}
            for name, value in known.items():
                # what is remembered of frames says nothing about a table
                if name in APPLIES and reading[name] is None and formats & set(APPLIES[name]):
                    reading[name] = value
        return open_table(*files, **reading)
    except ReadingError as error:
        raise UsageError(str(error)) from error


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


def open_source(files: Sequence[str], options: ColumnOptions, layout: Layout, verb: str) -> Source:
    """Open the input of a verb that answers: tables, or one file written by summarize."""
    from flagstone.fields import as_field

    with option_values():
        field = as_field(options.field)
    label = getattr(options, "label", None)
    if len(files) == 1 and options.format is None and is_saved(Path(files[0])):
        return _summary_source(files[0], options, layout, verb)
    if layout.label and label is None:
        raise UsageError(f"{verb} needs --label: the column to express by the others")
    if not layout.label and label is not None:
        raise UsageError(f"{verb} takes no --label; to leave a column out use --columns '-NAME'")
    table = open_tables(files, options)
    columns = [
        column
        for text in options.columns or []
        for column in ([text] if text in table.columns else text.split(","))
        if column
    ]
    wanted = _encoders(options.encode)
    encoding = table.encoding(field, columns=columns or None, label=label, encode=wanted)
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


def _summary_source(file: str, options: ColumnOptions, layout: Layout, verb: str) -> Source:
    from flagstone.fields import as_field
    from flagstone.models import Model, load

    loaded = load(file)
    if options.columns or options.encode:
        raise UsageError(f"{file} has its columns already: leave out --columns and --encode")
    for name in reading_of(options):
        raise UsageError(f"{file} holds rows read before: leave out --{name.replace('_', '-')}")
    if isinstance(loaded, Model):
        raise UsageError(f"{file} is a model already; look at it with: flagstone show {file}")
    made_over = loaded.summary.field
    if _is_given("--field") and as_field(options.field) != made_over:
        raise UsageError(
            f"{file} summarizes rows over {made_over.name}: leave out --field {options.field}"
        )
    if loaded.layout != layout:
        raise InputError(
            f"{file} summarizes rows {loaded.layout}, but {verb} needs {layout}; "
            f"{_remedy(loaded.layout, layout, verb)}"
        )
    label = loaded.encoding.label if loaded.encoding is not None else None
    asked = getattr(options, "label", None)
    if asked is not None and (label is None or label.column != asked):
        known = "no label" if label is None else f"the label {label.column!r}"
        raise InputError(f"{file} was summarized with {known}, not with {asked!r}")
    return Source(None, loaded.encoding, loaded)


def _is_given(option: str) -> bool:
    return any(word == option or word.startswith(f"{option}=") for word in ARGUMENTS)


def _remedy(found: Layout, needed: Layout, verb: str) -> str:
    """Say which option makes a verb fit a summary, or how to write a summary that fits."""
    if found.label == needed.label and verb in ("learn", "constraints"):
        option = "--intercept" if verb == "learn" else "--linear"
        adds = needed.ones != found.ones and found.ones == (verb == "learn")
        return f"{'add' if adds else 'leave out'} {option}, as when it was summarized"
    return f"write it with: flagstone summarize --for {verb} …"


def is_saved(path: Path) -> bool:
    """Say whether a file looks like one that flagstone wrote."""
    try:
        if not path.is_file():  # a pipe would wait for somebody to write to it
            return False
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
    from flagstone.tables import ColumnEncoder

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
        if encoder != "auto":
            with option_values():
                ColumnEncoder.parse(column, encoder)
        encoders[column] = encoder
    return encoders
