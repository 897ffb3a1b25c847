"""Proposals: which encoder would suit a column, and why.

A proposal looks at data, so it is never applied behind the caller's back: it is printed with
its reason, and accepted by writing it down (or by ``--encode auto``, which writes it into the
model).
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from flagstone.algebra import BitRows, Field
from flagstone.checks import shown
from flagstone.encoding import (
    ENCODERS,
    MARKERS,
    MISSING,
    MOST_CATEGORIES,
    ColumnEncoder,
    Element,
    Levels,
    OneHot,
    grouped_numbers,
    is_rational,
    listing,
    texts,
    whole_floats,
    whole_range,
)
from flagstone.errors import InputError, InputWarning, Parameter
from flagstone.exact import exact_integers, missing_entries, whole_number
from flagstone.tables.batches import Array

SAMPLE_ROWS = 10_000
#: Columns that a message lists.
_LISTED = 5
#: Columns that a message names to leave all of them out.
MOST_LEFT_OUT = 20
#: Why a column without any value is left out.
ALL_MISSING = "it is missing in all rows looked at"
#: Rows that are numbered in order by a column of any name.
_MANY = 100
#: A column is of numbers if at most this share of its entries, or of its different ones, are not.
_TYPING_ERRORS = 0.1
#: What data frames call the column of their index in a file, if they call it anything.
_INDEX = re.compile(r"|index|level_\d+|Unnamed: ?\d+|__index_level_\d+__")


class MissingEntry(ValueError):
    """The first missing value of some rows, and how many values each column lacks."""

    def __init__(self, index: int, column: str, counts: Mapping[str, int]) -> None:
        super().__init__(f"row {index}, column {column!r}: the value is missing")
        self.index, self.column, self.counts = index, column, counts

    @property
    def counted(self) -> str:
        """How many values the first columns lack: ``3 in 'vat', 1 in 'gross'``."""
        said = [f"{n:,} in {name!r}" for name, n in self.counts.items()]
        return ", ".join(said[:_LISTED]) + (", …" if len(said) > _LISTED else "")


@dataclass(frozen=True, slots=True)
class Proposal:
    """An encoder (or None: leave the column out) and the reason for it.

    ``marker`` is a text such as NA among the values, which may stand for a missing one, and
    ``float_example`` a binary float that is read by its shortest decimal form.
    """

    column: str
    encoder: ColumnEncoder | None
    reason: str
    marker: str | None = None
    float_example: str | None = None

    def __str__(self) -> str:
        if self.encoder is None:
            return f"{self.column}: leave it out ({self.reason})"
        return f"{self.column}={self.encoder.text} ({self.reason})"


def propose_columns(
    columns: Mapping[str, Array],
    field: Field,
    *,
    missing: str = "refuse",
    floats: str = "decimal",
    parse: bool = False,
) -> list[Proposal]:
    """Propose an encoder for each column of some rows.

    ``missing`` says what is done with missing values: "refuse" raises `MissingEntry`, "drop" judges
    each column by its other values, "level" lists a level for them. ``floats`` says whether binary
    floats over QQ are read by their shortest decimal form ("decimal") or refused ("refuse"). With
    ``parse``, numbers may be written as text.
    """
    rows = FirstRows(columns, missing)
    if missing == "refuse":
        rows.check(list(columns))
    return rows.proposals(field, floats=floats, parse=parse)


class FirstRows:
    """Some rows to propose encoders from, and which of their entries are missing.

    ``missing`` is what is done with these, as for `propose_columns`.
    """

    def __init__(self, columns: Mapping[str, Array], missing: str) -> None:
        self.columns, self.missing = columns, missing
        find = _blank if missing == "refuse" else Element("").missing
        self._gaps = {name: find(values) for name, values in columns.items()}

    def proposals(
        self, field: Field, *, floats: str = "decimal", parse: bool = False
    ) -> list[Proposal]:
        """Propose an encoder for each column, judged by its own entries that are not missing."""
        found = []
        for name, values in self.columns.items():
            kept = values[~self._gaps[name]]
            if len(values) and not len(kept):
                found.append(Proposal(name, None, ALL_MISSING))
                continue
            proposal = propose(name, typed(kept, field) if parse else kept, field, floats)
            if self.missing == "level" and len(kept) < len(values):
                proposal = _with_level(name, kept, proposal)
            elif len(kept) < len(values) and proposal.encoder is None:
                proposal = replace(proposal, reason=f"{proposal.reason}, where it is not missing")
            marker = next((c for c in _texts_in(values) if c in MARKERS), None)
            found.append(replace(proposal, marker=marker))
        return found

    def check(self, names: Sequence[str]) -> None:
        """Refuse missing entries of columns that are read, and rows all of which lack one."""
        gaps = {name: self._gaps[name] for name in names if self._gaps[name].any()}
        if gaps and self.missing == "refuse":
            first, name = min((int(found.argmax()), name) for name, found in gaps.items())
            counts = {name: int(found.sum()) for name, found in gaps.items()}
            raise MissingEntry(first, name, counts)
        if gaps and self.missing == "drop" and np.logical_or.reduce(list(gaps.values())).all():
            worst = max(gaps, key=lambda name: int(gaps[name].sum()))
            raise InputError(
                f"every row lacks a value, most often in column {worst!r} "
                f"({int(gaps[worst].sum()):,} of {len(gaps[worst]):,}); leave it out with ",
                Parameter("columns", [f"-{worst}"]),
            )


def _with_level(column: str, values: Array, proposal: Proposal) -> Proposal:
    """Propose to list the values and a level for missing ones."""
    listed = sorted(set(texts(values)))
    if len(listed) > MOST_CATEGORIES:
        if proposal.encoder is None:
            return proposal
        raise InputError(
            f"column {column!r} has {len(listed):,} different values beside missing ones, too many "
            "to make each a level; leave such rows out with ",
            Parameter("missing", "drop"),
        )
    encoder = listing(column, [*listed, MISSING])
    return replace(proposal, encoder=encoder, reason=f"{len(listed)} values and missing ones")


def _blank(values: Array) -> Array:
    """Say which entries are null, NaN or empty, or a text such as NA among numbers."""
    found = _texts_in(values)
    blank = [text for text in found if not text.strip()]
    others = [text for text in found if text.strip() not in MARKERS and text not in blank]
    if others and all(map(is_rational, others)):
        blank += [text for text in found if text.strip() in MARKERS]
    gaps = missing_entries(values)
    return gaps | np.isin(values, blank) if blank else gaps


def _texts_in(values: Array) -> list[str]:
    """Return the different texts of a column, sorted."""
    if values.dtype.kind not in "OUT":
        return []
    return sorted({cell for cell in values.tolist() if isinstance(cell, str)})


def propose(column: str, values: Array, field: Field, floats: str = "decimal") -> Proposal:
    """Propose an encoder for a column from a look at some of its values.

    Examples
    --------
    >>> from flagstone import GF, QQ
    >>> print(propose("fault", np.array(["no", "yes", "no"], dtype=object), GF(2)))
    fault=levels:no,yes (text with 2 values)
    >>> print(propose("level", np.array([0, 5, 9]), GF(2)))
    level=bits:4 (whole numbers up to 9)
    >>> print(propose("net", np.array(["53.63", "7"], dtype=object), QQ))
    net=element (numbers, read exactly)
    """
    if _is_index(column, values, field):
        return Proposal(column, None, "row numbers, like the index of a data frame")
    is_mistyped, others = _not_numbers(values, field)
    if is_mistyped:
        # reading it names the row of the first entry that is not a number
        reason = f"numbers, except for entries such as {shown(others[0])}"
        return Proposal(column, Element(column), reason)
    whole = _whole_floats(values)
    for kind in ENCODERS.values():
        if (found := kind.proposal(column, whole, field)) is not None:
            encoder, reason = found
            if field.order is not None or not encoder.is_plain:
                return Proposal(column, encoder, reason)
            if floats == "refuse" and values.dtype.kind not in "bui":
                encoder = replace(encoder, values=("exact",))
            return Proposal(column, encoder, reason, float_example=_binary_float(values))
    different = sorted(set(texts(values)))
    if len(different) == 1:
        return Proposal(column, None, f"it is always {different[0]!r} in the rows looked at")
    if grouped_numbers(different):
        bad = next((text for text in different if not is_rational(text)), different[0])
        reason = f"text such as {shown(bad)}: write numbers as 1234.56, without separators"
        return Proposal(column, None, reason)
    reason = f"text with {len(different):,} different values, like an identifier"
    return Proposal(column, None, reason)


def _not_numbers(values: Array, field: Field) -> tuple[bool, list[str]]:
    """Return the texts in a column over QQ, and whether they are so few that it is of numbers."""
    if field.order is not None or values.dtype.kind not in "OUT":
        return False, []
    cells = Counter(values.tolist())
    others = sorted(cell for cell in cells if isinstance(cell, str) and not is_rational(cell))
    n_rows = sum(cells[text] for text in others)
    is_rare = n_rows <= _TYPING_ERRORS * len(values)
    is_one_of_many = len(cells) > MOST_CATEGORIES and len(others) <= _TYPING_ERRORS * len(cells)
    return bool(others) and (is_rare or is_one_of_many), others


def _is_index(column: str, values: Array, field: Field) -> bool:
    """Say whether numbers count the rows, and are no elements anyway or are called an index."""
    found = None if values.dtype.kind == "f" else whole_range(values)
    if found is None or not _counts(values):
        return False
    is_coded = field.order is not None and found[1] >= field.order
    return _INDEX.fullmatch(column) is not None or (is_coded and len(values) >= _MANY)


def _counts(values: Array) -> bool:
    """Say whether numbers count 0, 1, 2, … or 1, 2, …, perhaps anew in every file."""
    steps = np.diff(values)
    return int(values[0]) in (0, 1) and bool(((steps == 1) | (values[1:] == values[0])).all())


def _whole_floats(values: Array) -> Array:
    """Return floats that are all whole numbers as integers, other values as they are."""
    if values.dtype.kind != "f" or not len(values):
        return values
    if whole_floats(values).all():
        return values.astype(np.int64)
    return values.astype(np.promote_types(values.dtype, np.float64))  # half floats end early


def _binary_float(values: Array) -> str | None:
    """Return the first float with a fraction."""
    cells = values if values.dtype.kind == "f" else values.tolist()
    floats = (value for value in cells if isinstance(value, (float, np.floating)))
    return next((str(value) for value in floats if value != np.floor(value)), None)


def are_elements(
    columns: Sequence[str], values: Array | BitRows | list[Array], field: Field
) -> bool:
    """Say at once of a matrix of whole numbers whether `propose` would take all as they are."""
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "ui" or not values.size:
        return False
    if field.order is None or any(map(_INDEX.fullmatch, columns)):
        return False
    return int(values.min()) >= 0 and int(values.max()) < field.order


def typed(values: Array, field: Field) -> Array:
    """Return a column of text as integers or floats if every entry is one, else unchanged.

    Over QQ numbers written as text are read exactly, so they stay text.
    """
    cells = values.tolist()
    if values.dtype.kind not in "OUT" or set(map(type, cells)) - {str}:
        return values
    known: dict[str, int] = {}
    for cell in set(cells):  # most often few
        if (number := whole_number(cell)) is None:
            break
        known[cell] = number
    else:
        return exact_integers([known[cell] for cell in cells])
    if field.order is None:
        return values
    try:
        numbers = np.array([float(cell) for cell in cells])
    except ValueError:
        return values
    # 1e3 is no whole number to the readers: where nothing is fractional, it stays text
    return values if whole_floats(numbers).all() else numbers


def told_apart(
    proposals: Sequence[Proposal],
    given: Mapping[str, ColumnEncoder],
    field: Field,
    label: str | None,
    automatic: Collection[str],
) -> tuple[list[Proposal], list[Proposal]]:
    """Return the proposals of columns that are read, and those of columns to leave out.

    The latter are columns that are better left out; times, counters and levels that a receiver adds
    to frames; and text beside numbers over QQ, unless its encoder is to be ``automatic``. They are
    left out only if the caller named no column.
    """
    proposed = [p.encoder for p in proposals if p.encoder is not None]
    has_frames = any(encoder.holds_frames for encoder in (*given.values(), *proposed))
    has_numbers = field.order is None
    has_numbers &= any(p.column != label and isinstance(p.encoder, Element) for p in proposals)
    kept: list[Proposal] = []
    left_out: list[Proposal] = []
    for proposal in proposals:
        name, encoder = proposal.column, proposal.encoder
        if name == label:
            kept.append(proposal)
        elif encoder is None:
            left_out.append(proposal)
        elif label is None and has_frames and not encoder.holds_frames:
            reason = "it stands beside frames, and is no part of them"
            left_out.append(Proposal(name, None, reason))
        elif has_numbers and name not in automatic and _is_text(encoder):
            left_out.append(Proposal(name, None, "text, which QQ reads only with an encoder"))
        else:
            kept.append(proposal)
    return kept, left_out


def accepted(
    proposals: Sequence[Proposal],
    given: Mapping[str, ColumnEncoder],
    field: Field,
    label: str | None,
    automatic: Collection[str],
) -> dict[str, ColumnEncoder]:
    """Return the encoders of columns.

    Taken are columns that hold elements, and those whose encoder is to be ``automatic``. Others are
    refused, and what is proposed for them is said.
    """
    encoders = dict(given)
    refused: list[Proposal] = []
    for proposal in proposals:
        name, encoder = proposal.column, proposal.encoder
        if encoder is not None:
            encoders[name] = encoder
        if name == label and (problem := label_problem(proposal, field)):
            raise InputError(*problem)
        if encoder is None or not (encoder.is_plain or name in automatic):
            refused.append(proposal)
    if refused:
        raise InputError(*_refusal(refused, field.name, label, encoders))
    return encoders


def warn_left_out(left_out: Sequence[Proposal], file: str) -> None:
    """Say which columns are left out, if any, and why."""
    if not left_out:
        return
    shared: dict[str, list[str]] = {}
    for proposal in left_out:
        shared.setdefault(proposal.reason, []).append(proposal.column or "''")
    told = "; ".join(f"{', '.join(names)} ({reason})" for reason, names in shared.items())
    remedy = "to read them, name them with "
    warnings.warn(
        InputWarning(f"{file}: left out {told}; {remedy}", Parameter("columns")), stacklevel=3
    )


def _is_text(encoder: ColumnEncoder | None) -> bool:
    """Say whether an encoder lists values none of which is a number."""
    listed = [] if encoder is None else [value for value in encoder.values if value != MISSING]
    return isinstance(encoder, (Levels, OneHot)) and not any(map(is_rational, listed))


def _refusal(
    refused: Sequence[Proposal],
    field: str,
    label: str | None,
    encoders: Mapping[str, ColumnEncoder],
) -> list[str | Parameter]:
    """Return the error for columns without an encoder that need one, with what is proposed.

    ``encoders`` are given or proposed, for these columns and for others.
    """
    frames = next((encoder for encoder in encoders.values() if encoder.holds_frames), None)
    if frames is not None and label is None:
        return [
            f"column {frames.column!r} holds frames. To read them alone: ",
            Parameter("columns", [frames.column]),
            " ",
            Parameter("encode", {frames.column: frames.text}),
            "; to follow all proposals: ",
            Parameter("encode", "auto"),
        ]
    first = refused[0]
    role = "label" if first.column == label else "column"
    more = f" (and {len(refused) - 1} more)" if len(refused) > 1 else ""
    problem = f"does not hold elements of {field}" if first.encoder else "is better left out"
    advice = next((p.encoder.advice for p in refused if p.encoder and p.encoder.advice), ())
    told = [f"{role} {first.column!r}{more} {problem}: {first.reason}. ", *advice, "Proposed: "]
    told += _all_proposals(refused)
    unwanted = [p.column for p in refused if p.column != label]
    if not (encoders.keys() - {label, *unwanted} and unwanted and any(p.encoder for p in refused)):
        return told  # no column would be left, or this is the proposal
    if len(unwanted) > MOST_LEFT_OUT:
        return [*told, ", or choose other columns with ", Parameter("columns")]
    which = "it" if len(unwanted) == 1 else "them all"
    left_out = Parameter("columns", [f"-{name}" for name in unwanted])
    return [*told, f", or leave {which} out with ", left_out]


def _all_proposals(refused: Sequence[Proposal]) -> list[str | Parameter]:
    """Return how to follow all proposals: at once, and one by one if they are few."""
    encode = {p.column: p.encoder.text for p in refused if p.encoder}
    dropped = [f"-{p.column}" for p in refused if not p.encoder]
    if not encode:
        return [Parameter("columns", dropped)]
    beside: list[str | Parameter] = [" ", Parameter("columns", dropped)] if dropped else []
    at_once: list[str | Parameter] = [Parameter("encode", "auto"), *beside]
    if len(encode) > _LISTED:
        shown = [f"{column}={text}" for column, text in encode.items()][:_LISTED]
        return [*at_once, f" (which takes {', '.join(shown)}, …)"]
    return [Parameter("encode", encode), *beside, ", or ", *at_once, " for every proposal"]


def label_problem(proposal: Proposal, field: Field) -> list[str | Parameter]:
    """Return why what is proposed for a label does not make one element of it; [] if it does.

    >>> from flagstone import GF
    >>> ring = propose("ring", np.array(["n", "o", "p"], dtype=object), GF(2))
    >>> print(InputError(*label_problem(ring, GF(2))))
    label 'ring' holds text with 3 values, and must become one element of GF(2); number its values \
over a field that is large enough: field=3, encode={'ring': 'levels:n,o,p'}
    """
    name, encoder = proposal.column, proposal.encoder
    if encoder is None:
        return [f"label {name!r} cannot be learned: {proposal.reason}"]
    remedy = encoder.label_remedy(field)
    told = f"label {name!r} holds {proposal.reason}, and must become one element of {field.name}; "
    return [told, *remedy] if remedy else []


def warn_of(
    proposals: Sequence[Proposal], file: str, missing: str, ways: Sequence[str] = ("drop", "level")
) -> None:
    """Say once which texts may be missing values, and which numbers are binary floats.

    ``ways`` are what the caller can do with missing values, but refuse them.
    """
    marked = {p.column: p.marker for p in proposals if p.marker is not None}
    if marked:
        column, marker = next(iter(marked.items()))
        more = f" (and {len(marked) - 1} more)" if len(marked) > 1 else ""
        told: list[str | Parameter] = [
            f"{file}: the text {marker!r} in column {column!r}{more} is "
        ]
        if missing == "refuse":
            told += ["read as a value; if it means a missing value, give "]
            told += [part for way in ways for part in (" or ", Parameter("missing", way))][1:]
        else:
            told += [
                "taken for a missing value; if it is a value, list it with ",
                Parameter("encode"),
            ]
        warnings.warn(InputWarning(*told), stacklevel=3)
    binary = [p for p in proposals if p.float_example and p.encoder and not p.encoder.values]
    if binary:
        names = ", ".join(repr(p.column) for p in binary[:3]) + (", …" if binary[3:] else "")
        warnings.warn(
            InputWarning(
                f"{file}: binary floats (in {names}) are read by their shortest decimal form, such "
                f"as {binary[0].float_example}; to refuse them give ",
                Parameter("floats", "refuse"),
            ),
            stacklevel=3,
        )
