"""Proposals: which encoder would suit a column, and why.

A proposal looks at data, so it is never applied behind the caller's back: it is printed with
its reason, and accepted by writing it down (or by ``--encode auto``, which writes it into the
model).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from flagstone.algebra.bitrows import BitRows
from flagstone.algebra.fields import Field
from flagstone.checks import shown
from flagstone.encoding import BadEntry, ColumnEncoder, frame_lengths, texts
from flagstone.errors import Parameter
from flagstone.exact import exact_integers, exact_rational, is_missing
from flagstone.tables.batches import Array
from flagstone.tables.textio import whole_number

SAMPLE_ROWS = 10_000
_MOST_CATEGORIES = 32
#: Bits of a frame that is not taken for a word.
_SHORT_FRAME = 16
#: What data frames call the column of their index in a file, if they call it anything.
_INDEX = re.compile(r"|index|level_\d+|Unnamed: ?\d+|__index_level_\d+__")


@dataclass(frozen=True, slots=True)
class Proposal:
    """An encoder (or None: leave the column out) and the reason for it."""

    column: str
    encoder: ColumnEncoder | None
    reason: str

    def __str__(self) -> str:
        if self.encoder is None:
            return f"{self.column}: leave it out ({self.reason})"
        return f"{self.column}={self.encoder.text} ({self.reason})"


def propose(column: str, values: Array, field: Field) -> Proposal:
    """Propose an encoder for a column from a look at some of its values.

    Examples
    --------
    >>> from flagstone import GF
    >>> print(propose("fault", np.array(["no", "yes", "no"], dtype=object), GF(2)))
    fault=levels:no,yes (text with 2 values)
    >>> print(propose("level", np.array([0, 5, 9]), GF(2)))
    level=bits:4 (whole numbers up to 9)
    """
    kind = values.dtype.kind
    if not len(values):
        return Proposal(column, ColumnEncoder(column, "element"), "no rows to judge by")
    if kind == "b":
        return Proposal(column, ColumnEncoder(column, "element"), "true and false are 1 and 0")
    if kind == "f":
        values = values.astype(np.promote_types(values.dtype, np.float64))  # half floats end early
        finite = values[np.isfinite(values)]
        exact = np.isfinite(values) & (np.abs(values) < 2.0**53)
        if exact.all() and (np.floor(values) == values).all():
            return _whole(column, values.astype(np.int64), field)
        middle = f"{float(np.median(finite)):.6g}" if len(finite) else "0"
        reason = f"fractional numbers; {middle} is the median of the rows looked at"
        return Proposal(column, ColumnEncoder(column, "above", (middle,)), reason)
    if kind in "ui" or all(type(value) is int for value in values.tolist()):
        if _INDEX.fullmatch(column) and _counts(values):
            return Proposal(column, None, "row numbers, like the index of a data frame")
        return _whole(column, values, field)
    frames = _frames(column, values)
    if frames is not None:
        return frames
    found = sorted(set(texts(values)))
    if field.order is None and all(_is_rational(text) for text in found):
        return Proposal(column, ColumnEncoder(column, "element"), "rational numbers")
    if len(found) == 1:
        return Proposal(column, None, f"it is always {found[0]!r} in the rows looked at")
    if len(found) == 2:
        return Proposal(column, ColumnEncoder(column, "levels", tuple(found)), "text with 2 values")
    if len(found) <= _MOST_CATEGORIES:
        reason = f"text with {len(found)} values"
        return Proposal(column, ColumnEncoder(column, "onehot", tuple(found)), reason)
    return Proposal(column, None, f"text with {len(found)} different values, like an identifier")


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


def typed(values: Array) -> Array:
    """Return a column of text as integers or floats if every entry is one, else unchanged."""
    cells = values.tolist()
    if set(map(type, cells)) - {str}:
        return values
    known: dict[str, int] = {}
    for cell in set(cells):  # most often few
        if (number := whole_number(cell)) is None:
            break
        known[cell] = number
    else:
        return exact_integers([known[cell] for cell in cells])
    try:
        numbers = np.array([float(cell) for cell in cells])
    except ValueError:
        return values
    # 1e3 is no whole number to the readers: where nothing is fractional, it stays text
    return values if (np.floor(numbers) == numbers).all() and _short(numbers) else numbers


def _short(numbers: Array) -> bool:
    return bool((np.abs(numbers) < 2.0**53).all())


def missing(values: Array) -> int | None:
    """Return the index of the first entry that is missing: empty, null or not a number.

    >>> missing(np.array(["no", "", "yes"], dtype=object)), missing(np.array([0.5, np.nan]))
    (1, 1)
    """
    if values.dtype.kind == "f":
        gaps = np.isnan(values)
    elif values.dtype.kind in "OUT":
        cells = values.tolist()
        if set(map(type, cells)) <= {str} and all(cell.strip() for cell in set(cells)):
            return None  # which is most often quickly said
        gaps = np.array([_is_gap(value) for value in cells], dtype=bool)
    else:
        return None
    return int(np.argmax(gaps)) if gaps.any() else None


def _is_gap(value: object) -> bool:
    return not value.strip() if isinstance(value, str) else is_missing(value)


def _is_rational(text: str) -> bool:
    try:
        exact_rational(text)
    except ValueError:
        return False
    return True


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
    return [
        f"{file}: {role} {first.column!r}{others} {problem}: {first.reason}. Proposed: ",
        *([Parameter("encode", encode)] if encode else []),
        *([" "] if encode and columns else []),
        *([Parameter("columns", columns)] if columns else []),
        ", or ",
        Parameter("encode", "auto"),
        " for every proposal",
    ]
