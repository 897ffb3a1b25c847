"""Inputs: from the words of the command line to a table, its encoding, or a saved summary."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flagstone.algebra.fields import as_field
from flagstone.cli.console import (
    ARGUMENTS,
    TAB,
    TAB_AS_TYPED,
    UsageError,
    parsed,
    print_stderr,
    refuse_options,
)
from flagstone.cli.parser import options_of
from flagstone.cli.spool import spooled
from flagstone.cli.verbs import ColumnOptions, PurposeOptions, ReadOptions
from flagstone.encoding import ENCODERS, ColumnEncoder, Encoding
from flagstone.errors import CaptureError, FormatError, InputError, Parameter
from flagstone.finding import Finding
from flagstone.guarantees import index_rows
from flagstone.protocol import READING, Protocol
from flagstone.question import QUESTIONS, Question, SpanQuestion
from flagstone.store import SummaryFile, is_saved, load
from flagstone.tables import FORMATS, Table, open_table
from flagstone.tables.files import expand
from flagstone.tables.opening import APPLIES, TEXT_FORMATS, ReadingError, format_of
from flagstone.text import products

#: What a protocol fixes.
_FIXED = {
    "bit_order", "columns", "confidence", "contamination", "delimiter", "draw_rows", "encode",
    "eps", "field", "floats", "header", "label", "length", "max_rows", "missing", "partition",
    "rho", "rule", "seed", "t_max", "t_min",
}  # fmt: skip
#: At most this many columns are named in a condition.
_SHOWN = 5
_OF_QUESTIONS = ("--intercept", "--no-intercept", "--choice", "--linear", "--affine")


@dataclass(frozen=True)
class InputSource:
    """Rows to read (a table and its encoding), or a summary of rows read before.

    ``conditions`` of promises follow from how rows become what they are: see `_conditions`.
    """

    table: Table | None
    encoding: Encoding
    saved: SummaryFile | None = None
    conditions: tuple[str, ...] = ()


def question_for(purpose: PurposeOptions) -> Question:
    """Return the question of a verb (learn, where a label is named); refuse options of another."""
    label = getattr(purpose, "label", None)
    verb, linear = purpose.purpose or ("constraints" if label is None else "learn"), purpose.linear
    verbs = {question.verb: question for kind, question in QUESTIONS.items() if kind != "span"}
    if verb not in verbs:
        raise UsageError(f"--for must be one of {', '.join(verbs)}, got {verb!r}")
    for option, given, owner in (
        ("no-intercept", not purpose.intercept, "learn"),
        ("linear", linear, "constraints"),
        ("affine", purpose.affine, "subspace"),
    ):
        if given and verb != owner:
            if purpose.purpose is None and label is None:
                raise UsageError(f"--{option} is for {owner}: add --for {owner}")
            asks = "--label" if purpose.purpose is None else "--for"
            raise UsageError(f"--{option} is for {owner}, but {asks} asks for {verb}; choose one")
    options: dict[str, dict[str, Any]] = {
        "learn": {"intercept": purpose.intercept},
        "subspace": {"affine": purpose.affine},
    }
    return SpanQuestion() if linear else verbs[verb](**options.get(verb, {}))


def command_of(question: Question) -> str:
    """Return the verb that asks a question, with the option that tells it from others."""
    return question.verb + " --linear" * (question.kind == "span")


def open_tables(
    files: Sequence[str], options: ReadOptions, remembered: Any = None, *, once: bool = False
) -> Table:
    """Open the files as one table, read as a finding remembers unless the options say otherwise.

    ``once`` says that rows are read once only, so that those of a stream need not be kept.
    """
    found = spooled(files, once=once and options.format in TEXT_FORMATS)
    reading = reading_of(options)
    known = dict(remembered or {})
    for name, value in known.items():
        if not isinstance(value, READING.get(name, object)):
            raise FormatError(f"the finding remembers no way of reading: {name} is {value!r}")
    # a finding made from frames without a telling name is checked against such frames again
    if known.get("format") in FORMATS and not all(says_format(file) for file in files):
        reading.setdefault("format", known["format"])
    try:
        if known:
            formats = {reading.get("format") or format_of(path) for path in expand(found)}
            for name, value in known.items():
                # what is remembered of frames says nothing about a table
                if name in APPLIES and formats & set(APPLIES[name]):
                    reading.setdefault(name, value)
        table = open_table(*found, **reading, max_columns=options.max_columns)
        if options.delimiter is None and "delimiter" in known and len(table.columns) == 1:
            _check_remembered(table, known["delimiter"])
        return table
    except ReadingError as error:
        raise UsageError(*error.args) from error


def _check_remembered(table: Table, delimiter: str) -> None:
    """Refuse a file whose delimiter differs from the one that a finding remembers."""
    name = table.columns[0]
    other = next((c for c in ",;\t|" if c != delimiter and c in name), None)
    if other is not None:
        raise InputError(
            f"{table.files[0]}: its only column is called {name!r}, because the finding remembers "
            "a table with ",
            Parameter("delimiter", delimiter),
            f"; if {other!r} separates the cells here, give ",
            Parameter("delimiter", other),
        )


def reading_of(options: ReadOptions) -> dict[str, Any]:
    """Return the given options of reading, which a finding remembers."""
    given = {name: getattr(options, name) for name in READING}
    if given["delimiter"] == TAB_AS_TYPED:
        given["delimiter"] = TAB
    return {name: value for name, value in given.items() if value is not None}


@contextlib.contextmanager
def captures_refused(advice: str) -> Iterator[None]:
    """Replace the advice of a `CaptureError`, ``flagstone frames FILE``, by another one."""
    try:
        yield
    except CaptureError as error:
        keep = f"keep only the frames, one per line: flagstone frames CAPTURE --as hex ({advice})"
        raise InputError(*error.args[:-1], keep) from error


def says_format(file: str) -> bool:
    """Return whether the format follows from the name of a file."""
    try:
        format_of(Path(file))
    except InputError:
        return False
    return True


def load_protocol(file: str, question: Question, options: Any) -> Protocol:
    """Load a protocol for this question; options that say something else are refused."""
    protocol = load(file)
    if not isinstance(protocol, Protocol):
        raise InputError(f"{file} holds no protocol; write one with: flagstone plan --pilot FILE")
    asked = protocol.question
    if asked.kind != question.kind or (asked != question and any(map(_is_given, _OF_QUESTIONS))):
        raise InputError(
            f"{file} is a protocol for another question: {_parts(asked)}; here {_parts(question)}"
        )
    for name, option in options_of(options).items():
        changed = getattr(options, name) != option.default
        free = name == "max_rows" and protocol.max_rows is None
        if name in _FIXED and not free and (changed or _is_given(option.name)):
            raise UsageError(f"{option.name} is fixed by {file}; leave it out")
    return protocol


def _parts(question: Question) -> str:
    """Return the parts in which questions can differ."""
    return ", ".join(f"{name} {value}" for name, value in question.to_dict().items())


def open_source(
    files: Sequence[str],
    options: ColumnOptions,
    question: Question,
    protocol: Protocol | None = None,
    *,
    once: bool = False,
) -> InputSource:
    """Open the input of a verb that answers: tables, or one file written by summarize."""
    if protocol is not None:
        if len(files) == 1 and is_saved(files[0]):
            raise UsageError(f"a protocol is run on rows, and {files[0]} holds none")
        _fixed_degree(options, protocol.encoding, "the protocol")
        table = open_tables(files, options, protocol.reading, once=once)
        return InputSource(table, protocol.encoding, conditions=_conditions(protocol.encoding))
    field = parsed(as_field, options.field)
    parsed(question.check, field)
    label = getattr(options, "label", None)
    if len(files) == 1 and options.format is None and is_saved(files[0]):
        return _saved_source(files[0], options, question)
    if question.labelled and label is None:
        raise UsageError(f"{question.verb} needs --label, the column that says what each row is")
    if not question.labelled and label is not None:
        raise UsageError(
            f"{question.verb} takes no --label; to leave a column out use --columns '-NAME'"
        )
    table = open_tables(files, options, once=once)
    wanted, columns = encoders_given(options.encode), chosen_columns(options, table)
    encoding = table.encoding(
        field,
        columns=columns,
        label=label,
        encode=wanted,
        missing=options.missing,
        floats=options.floats,
    )
    if "auto" in wanted.values():
        say_proposals(table, encoding, options)
    degree = getattr(options, "degree", 1)
    if degree > 1:
        check_degree(question, degree)
        encoding = dataclasses.replace(encoding, degree=degree)
        _say_products(encoding, question)
    automatic = "auto" in wanted.values()
    left_out = [name for name in table.chosen(columns, label) if name not in encoding.columns]
    found = _conditions(encoding, automatic=automatic, left_out=left_out)
    return InputSource(table, encoding, conditions=found)


def _conditions(
    encoding: Encoding, *, automatic: bool = False, left_out: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return the conditions of promises: what the rows decided, and which rows are meant.

    Encoders may be ``automatic``, and columns ``left_out`` by what they hold.
    """
    found = []
    if automatic:
        found.append("another sample has the same encoders (the rows themselves chose these)")
    if left_out:
        shown = ", ".join(left_out[:_SHOWN]) + ", …" * (len(left_out) > _SHOWN)
        found.append(
            f"another sample leaves out the same columns, here {shown} (the rows themselves "
            "decided that; name the columns to read, and it is fixed)"
        )
    if encoding.drop_missing:
        found.append("samples, shares and future rows are of rows without a missing value")
    return tuple(found)


def chosen_columns(options: ColumnOptions, table: Table) -> list[str] | None:
    """Return the columns that --columns names, if any; a name may hold a comma."""
    columns = [
        column
        for text in options.columns or []
        for column in ([text] if text in table.columns else text.split(","))
        if column
    ]
    return columns or None


def check_degree(question: Question, degree: int) -> None:
    """Refuse products of columns where they mean nothing."""
    if degree > 1 and question.verb not in ("learn", "constraints"):
        raise UsageError(f"--degree is for learn and constraints, not for {question.verb}")


def _fixed_degree(options: ColumnOptions, encoding: Encoding, what: str) -> None:
    degree = getattr(options, "degree", 1)
    if degree not in (1, encoding.degree):
        raise UsageError(f"{what} has columns of degree {encoding.degree}: leave out --degree")


def _say_products(encoding: Encoding, question: Question) -> None:
    """Print how many products there are, and how many rows they need, before a row is read."""
    made = encoding.monomials
    made.check_memory()
    dim = question.dim(made.count)
    proven = index_rows(dim, 0.05, 0.1)
    assert proven is not None
    print_stderr(products(len(made.names), made.count, made.degree, dim, proven))


def say_proposals(table: Table, encoding: Encoding, options: ColumnOptions) -> None:
    """Print the proposals that --encode auto accepted."""
    label = () if encoding.label is None else (encoding.label,)
    chosen = {encoder.column: encoder.text for encoder in (*encoding.encoders, *label)}
    found = table.proposals(list(encoding.columns), encoding.field, missing=options.missing)
    for proposal in found:
        encoder = proposal.encoder
        if encoder is not None and not encoder.is_plain and chosen[proposal.column] == encoder.text:
            print_stderr(f"encoding {proposal}")


def _saved_source(file: str, options: ColumnOptions, question: Question) -> InputSource:
    loaded = load(file)
    if isinstance(loaded, Finding):
        raise UsageError(f"{file} is a finding already; look at it with: flagstone show {file}")
    if isinstance(loaded, Protocol):
        raise UsageError(f"{file} is a protocol: give it as --protocol {file}, beside fresh rows")
    refuse_options(
        options,
        ["columns", "encode", "missing", "floats"],
        f"is not for {file}, whose columns are fixed: leave it out",
    )
    refuse_options(
        options, READING, f"is not for {file}, which holds rows read before: leave it out"
    )
    summary = loaded.summary
    if _is_given("--field") and parsed(as_field, options.field) != summary.field:
        raise UsageError(
            f"{file} summarizes rows over {summary.field.name}: leave out --field {options.field}"
        )
    if loaded.question.row != question.row:
        raise InputError(
            f"{file} summarizes rows {loaded.question.row}, but {command_of(question)} needs "
            f"{question.row}; {_remedy(loaded.question, question)}"
        )
    encoding = loaded.encoding
    if encoding is None:
        n_features = summary.dim - question.dim(0)
        target = "y" if question.labelled else None
        encoding = Encoding.plain(summary.field, [f"x{i}" for i in range(n_features)], label=target)
    _fixed_degree(options, encoding, file)
    asked = getattr(options, "label", None)
    if asked is not None and (encoding.label is None or encoding.label.column != asked):
        known = "no label" if encoding.label is None else f"the label {encoding.label.column!r}"
        raise InputError(f"{file} was summarized with {known}, not with {asked!r}")
    return InputSource(None, encoding, loaded, tuple(loaded.details.get("conditions", ())))


def _is_given(option: str) -> bool:
    return any(word == option or word.startswith(f"{option}=") for word in ARGUMENTS)


def _remedy(found: Question, needed: Question) -> str:
    """Return the option that makes a verb fit a summary, or how to write a summary that fits."""
    option = {"parity": "--no-intercept", "constraints": "--linear", "span": "--linear"}
    option |= {"subspace": "--affine"}
    kinds = {found.kind, needed.kind}
    if len(kinds) == 1 or kinds == {"span", "constraints"}:
        adds = found.kind == "span" if len(kinds) == 2 else found.ones != (found.kind == "parity")
        return f"{'add' if adds else 'leave out'} {option[needed.kind]}, as when it was summarized"
    return f"write it with: flagstone summarize --for {command_of(needed)} …"


def load_finding(file: str, seed: str | None = None) -> Finding:
    """Load a finding; refuse other files, and findings with another seed."""
    loaded = load(file)
    if isinstance(loaded, Protocol):
        raise InputError(
            f"{file} holds a protocol, not a finding; run it on fresh rows first, with: "
            f"flagstone {command_of(loaded.question)} FRESH --protocol {file} -o finding.json"
        )
    if not isinstance(loaded, Finding):
        raise InputError(
            f"{file} holds a flag, not a finding; answer from it first, e.g. with: "
            f"flagstone constraints {file} -o finding.json"
        )
    expect_seed(loaded, file, seed)
    return loaded


def expect_seed(loaded: Finding | SummaryFile | Protocol, file: str, seed: str | None) -> None:
    """Refuse a file that was made with another seed than the one expected."""
    if seed is not None and loaded.seed != seed:
        raise InputError(f"{file} was made with seed {loaded.seed}, not with {seed}")


def encoders_given(texts: Sequence[str] | None) -> dict[str, str]:
    """Read --encode options: COLUMN=ENCODER, or auto for every column."""
    encoders: dict[str, str] = {}
    for text in texts or []:
        if text == "auto":
            encoders["*"] = "auto"
            continue
        # names and values may hold '=' themselves: an encoder begins with its kind
        known = (i + 1 for i, sign in enumerate(text) if sign == "=")
        start = next((i for i in known if text.startswith((*ENCODERS, "auto"), i)), None)
        start = text.rfind("=") + 1 if start is None else start
        column, encoder = text[: max(0, start - 1)], text[start:]
        if not column:
            raise UsageError(f"--encode must read COLUMN=ENCODER or auto, got {text!r}")
        if encoder not in ("auto", "hex"):
            parsed(ColumnEncoder.parse, column, encoder)
        encoders[column] = encoder
    return encoders
