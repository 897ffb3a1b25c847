"""Proposals: which encoder would suit a column, and why.

A proposal looks at data, so it is never applied behind the caller's back: it is printed with
its reason, and accepted by writing it down (or by ``--encode auto``, which writes it into the
model).
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from numbers import Rational

import numpy as np

from flagstone.algebra import BitRows, Field
from flagstone.checks import shown
from flagstone.encoding import MARKERS, MISSING, BadEntry, ColumnEncoder, frame_lengths, texts
from flagstone.errors import InputError, InputWarning, Parameter
from flagstone.exact import exact_integers, exact_rational, missing_entries, whole_number
from flagstone.tables.batches import Array

SAMPLE_ROWS = 10_000
_MOST_CATEGORIES = 32
#: Bits of a frame that is not taken for a word.
_SHORT_FRAME = 16
#: Rows that are numbered in order by a column of any name.
_MANY = 100
#: What data frames call the column of their index in a file, if they call it anything.
_INDEX = re.compile(r"|index|level_\d+|Unnamed: ?\d+|__index_level_\d+__")
#: Identifiers that happen to be hexadecimal: A0, A1, …, A1499.
_NUMBERED = re.compile(r"([A-Fa-f]+)[0-9]+")
#: Numbers as people and spreadsheets write them: 1.234,56 or $1,234.56 or 12 %.
_GROUPED = re.compile(r"\W*(?:\d+|\d{1,3}(?:[.,'\s]\d{3})+)(?:[.,]\d+)?\W*")


class MissingEntry(ValueError):
    """The first missing value of some rows, and how many values each column lacks."""

    def __init__(self, index: int, column: str, counts: Mapping[str, int]) -> None:
        super().__init__(f"row {index}, column {column!r}: the value is missing")
        self.index, self.column, self.counts = index, column, counts


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
    by the other rows, "level" lists a level for them. ``floats`` says whether binary floats over QQ
    are read by their shortest decimal form ("decimal") or refused ("refuse"). With ``parse``,
    numbers may be written as text.
    """
    if not columns:
        return []
    plain = {name: ColumnEncoder(name, "element") for name in columns}
    if missing == "refuse":
        gaps = {name: _blank(values) for name, values in columns.items()}
        first = min(((int(g.argmax()), name) for name, g in gaps.items() if g.any()), default=None)
        if first is not None:
            raise MissingEntry(*first, {name: int(g.sum()) for name, g in gaps.items() if g.any()})
    else:
        gaps = {name: plain[name].missing(values) for name, values in columns.items()}
    keep = ~np.logical_or.reduce(list(gaps.values()))
    if missing == "drop" and not keep.any():
        worst = max(gaps, key=lambda name: int(gaps[name].sum()))
        raise InputError(
            f"every row lacks a value, most often in column {worst!r} "
            f"({int(gaps[worst].sum()):,} of {len(keep):,}); leave it out with ",
            Parameter("columns", [f"-{worst}"]),
        )
    found = []
    for name, values in columns.items():
        marker = next((c for c in _texts_in(values) if c in MARKERS), None)
        if missing == "level":
            keep = ~gaps[name]
        kept = values[keep]
        proposal = propose(name, typed(kept, field) if parse else kept, field, floats)
        if missing == "level" and gaps[name].any():
            proposal = _with_level(name, kept, proposal)
        found.append(replace(proposal, marker=marker))
    return found


def _with_level(column: str, values: Array, proposal: Proposal) -> Proposal:
    """Propose to list the values and a level for missing ones."""
    listed = sorted(set(texts(values)))
    if not listed:
        return Proposal(column, None, "it is missing in all rows looked at")
    if len(listed) > _MOST_CATEGORIES:
        raise InputError(
            f"column {column!r} has {len(listed):,} different values beside missing ones, too many "
            "to make each a level; leave such rows out with ",
            Parameter("missing", "drop"),
        )
    kind = "levels" if len(listed) == 1 else "onehot"
    encoder = ColumnEncoder(column, kind, (*listed, MISSING))
    return replace(proposal, encoder=encoder, reason=f"{len(listed)} values and missing ones")


def _blank(values: Array) -> Array:
    """Say which entries are null, NaN or empty, or a text such as NA among numbers."""
    found = _texts_in(values)
    blank = [text for text in found if not text.strip()]
    others = [text for text in found if text.strip() not in MARKERS and text not in blank]
    if others and all(map(_is_rational, others)):
        blank += [text for text in found if text.strip() in MARKERS]
    gaps = missing_entries(values)
    return gaps | np.isin(values, blank) if blank else gaps


def _is_rational(text: str) -> bool:
    try:
        exact_rational(text)
    except ValueError:
        return False
    return True


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
    kind = values.dtype.kind
    if not len(values):
        return Proposal(column, ColumnEncoder(column, "element"), "no rows to judge by")
    if kind == "b":
        return Proposal(column, ColumnEncoder(column, "element"), "true and false are 1 and 0")
    if field.order is None and (numbers := _rational(column, values, floats)) is not None:
        return numbers
    if kind == "f":
        values = values.astype(np.promote_types(values.dtype, np.float64))  # half floats end early
        finite = values[np.isfinite(values)]
        exact = np.isfinite(values) & (np.abs(values) < 2.0**53)
        if exact.all() and (np.floor(values) == values).all():
            return _whole(column, values.astype(np.int64), field)
        middle = f"{float(np.median(finite)):.6g}" if len(finite) else "0"
        reason = f"fractional numbers, which QQ reads exactly; {middle} is the median of these rows"
        return Proposal(column, ColumnEncoder(column, "above", (middle,)), reason)
    if kind in "ui" or all(type(value) is int for value in values.tolist()):
        proposal = _whole(column, values, field)
        coded = proposal.encoder is not None and proposal.encoder.kind != "element"
        if _counts(values) and (_INDEX.fullmatch(column) or (coded and len(values) >= _MANY)):
            return Proposal(column, None, "row numbers, like the index of a data frame")
        return proposal
    frames = _frames(column, values) if field.order == 2 else None
    if frames is not None:
        return frames
    found = sorted(set(texts(values)))
    if len(found) == 1:
        return Proposal(column, None, f"it is always {found[0]!r} in the rows looked at")
    if len(found) == 2:
        return Proposal(column, ColumnEncoder(column, "levels", tuple(found)), "text with 2 values")
    if len(found) <= _MOST_CATEGORIES:
        reason = f"text with {len(found)} values"
        return Proposal(column, ColumnEncoder(column, "onehot", tuple(found)), reason)
    if all(map(_GROUPED.fullmatch, found)) and not all(map(str.isdigit, found)):
        reason = f"text such as {shown(found[0])}: write numbers as 1234.56, without separators"
        return Proposal(column, None, reason)
    return Proposal(column, None, f"text with {len(found)} different values, like an identifier")


def _rational(column: str, values: Array, floats: str) -> Proposal | None:
    """Propose to read a column as rational numbers, if it can be."""
    if values.dtype.kind in "ui":
        if _INDEX.fullmatch(column) and _counts(values):
            return None
        return Proposal(column, ColumnEncoder(column, "element"), "whole numbers")
    encoder = ColumnEncoder(column, "element", ("exact",) if floats == "refuse" else ())
    binary = None
    for value in values if values.dtype.kind == "f" else values.tolist():
        if isinstance(value, (float, np.floating)):
            if not np.isfinite(value):
                return None
            if binary is None and value != np.floor(value):
                binary = str(value)
        elif isinstance(value, (str, Decimal)):
            if not _is_rational(str(value)):
                return None
        elif not isinstance(value, Rational):
            return None
    return Proposal(column, encoder, "numbers, read exactly", float_example=binary)


def frames_alone(proposals: Sequence[Proposal], given: bool = False) -> list[Proposal]:
    """Propose to leave out what stands beside frames: times, counters and levels of a receiver.

    Frames are among the columns of the proposals, or ``given``, in another one.

    >>> from flagstone import GF
    >>> frames = propose("data", np.array(["0d5502c24108", "0d5511c2a95b"], dtype=object), GF(2))
    >>> for p in frames_alone([frames, propose("snr", np.array([7, 9]), GF(2))]):
    ...     print(p)
    data=hex:48 (frames of 48 bits)
    snr: leave it out (it stands beside frames, and is no part of them)
    """
    if not given and not any(p.encoder and p.encoder.kind == "hex" for p in proposals):
        return list(proposals)
    reason = "it stands beside frames, and is no part of them"
    return [
        p if p.encoder is None or p.encoder.kind == "hex" else Proposal(p.column, None, reason)
        for p in proposals
    ]


def all_elements(columns: Sequence[str], most: int | None, field: Field) -> bool:
    """Say at once of whole numbers up to ``most`` whether `propose` would take all as they are."""
    if most is None or field.order is None or any(map(_INDEX.fullmatch, columns)):
        return False
    return most < field.order


def largest(values: Array | BitRows | list[Array]) -> int | None:
    """Return the largest entry of a matrix of whole numbers, none of them negative, or None."""
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "ui" or not values.size:
        return None
    return int(values.max()) if int(values.min()) >= 0 else None


def _frames(column: str, values: Array) -> Proposal | None:
    """Propose to read text as frames, if all of it can be, and it is no date and no word."""
    cells = set(values.tolist())
    if len(cells) < 2 or not all(isinstance(cell, str) for cell in cells):
        return None
    if not any(re.search("[a-fA-F]", cell) for cell in cells):
        return None
    numbered = [_NUMBERED.fullmatch(cell) for cell in cells]
    if all(numbered) and len({found[1] for found in numbered if found}) == 1:
        return None
    try:
        lengths = frame_lengths(values)
    except BadEntry:
        return None
    n_bits = min(lengths, key=lambda n: (-lengths[n], n))
    numbers = sum(re.search("[0-9]", cell) is not None for cell in cells)
    if n_bits < _SHORT_FRAME or 2 * numbers < len(cells):
        return None
    others = len(values) - lengths[n_bits]
    reason = f"frames of {n_bits} bits"
    if others:
        reason += (
            f"; {others:,} of the {len(values):,} looked at have other lengths and are left out"
        )
    return Proposal(column, ColumnEncoder(column, "hex", (str(n_bits),)), reason)


def _counts(values: Array) -> bool:
    """Say whether numbers count 0, 1, 2, … or 1, 2, …, perhaps anew in every file."""
    steps = np.diff(values)
    return int(values[0]) in (0, 1) and bool(((steps == 1) | (values[1:] == values[0])).all())


def _whole(column: str, values: Array, field: Field) -> Proposal:
    low, high = int(values.min()), int(values.max())
    if field.order is None or (low >= 0 and high < field.order):
        reason = f"whole numbers, all in {field.name}"
        return Proposal(column, ColumnEncoder(column, "element"), reason)
    n_bits = max(1, high.bit_length())
    reason = f"whole numbers up to {shown(high)}"
    if low < 0 or n_bits > 64:
        reason = f"whole numbers from {shown(low)} to {shown(high)}"
        return Proposal(column, ColumnEncoder(column, "mod"), reason)
    return Proposal(column, ColumnEncoder(column, "bits", (str(n_bits),)), reason)


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
    whole = (np.floor(numbers) == numbers) & (np.abs(numbers) < 2.0**53)
    return values if whole.all() else numbers


def refusal(
    refused: Sequence[Proposal],
    field: str,
    label: str | None,
    file: str,
    frames: ColumnEncoder | None = None,
) -> list[str | Parameter]:
    """Return the error for columns without an encoder that need one, with what is proposed.

    ``frames`` is the encoder of a column that holds such.
    """
    if frames is not None and label is None:
        return [
            f"{file}: column {frames.column!r} holds frames. To read them alone: ",
            Parameter("columns", [frames.column]),
            " ",
            Parameter("encode", {frames.column: frames.text}),
            "; to follow all proposals: ",
            Parameter("encode", "auto"),
        ]
    first = refused[0]
    role = "label" if first.column == label else "column"
    others = f" (and {len(refused) - 1} more)" if len(refused) > 1 else ""
    problem = f"does not hold elements of {field}" if first.encoder else "is better left out"
    encode = {p.column: p.encoder.text for p in refused[:5] if p.encoder}
    columns = [f"-{p.column}" for p in refused[:5] if not p.encoder]
    exact: list[str | Parameter] = []
    if any(p.encoder is not None and p.encoder.kind == "above" for p in refused):
        exact = ["For equations between numbers: ", Parameter("field", "QQ"), ". "]
    return [
        f"{file}: {role} {first.column!r}{others} {problem}: {first.reason}. ",
        *exact,
        "Proposed: ",
        *([Parameter("encode", encode)] if encode else []),
        *([" "] if encode and columns else []),
        *([Parameter("columns", columns)] if columns else []),
        ", or ",
        Parameter("encode", "auto"),
        " for every proposal",
        *([] if columns or first.column == label else [", or leave it out with "]),
        *([] if columns or first.column == label else [Parameter("columns", [f"-{first.column}"])]),
    ]


def warn_of(proposals: Sequence[Proposal], file: str, missing: str) -> None:
    """Say once which texts may be missing values, and which numbers are binary floats."""
    marked = {p.column: p.marker for p in proposals if p.marker is not None}
    if marked:
        column, marker = next(iter(marked.items()))
        more = f" (and {len(marked) - 1} more)" if len(marked) > 1 else ""
        told: list[str | Parameter] = [
            f"{file}: the text {marker!r} in column {column!r}{more} is "
        ]
        if missing == "refuse":
            told += ["read as a value; if it means a missing value, give "]
            told += [Parameter("missing", "drop"), " or ", Parameter("missing", "level")]
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


def warn_left_out(proposals: Sequence[Proposal], file: str) -> None:
    """Say which columns are left out by default, and why."""
    if not proposals:
        return
    shared: dict[str, list[str]] = {}
    for proposal in proposals:
        shared.setdefault(proposal.reason, []).append(proposal.column)
    told = "; ".join(f"{', '.join(names)} ({reason})" for reason, names in shared.items())
    warnings.warn(
        InputWarning(
            f"{file}: left out {told}; to read them, name them with ", Parameter("columns")
        ),
        stacklevel=3,
    )
