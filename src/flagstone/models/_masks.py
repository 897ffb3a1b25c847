"""Bit masks of an answer over GF(2): by columns, or in the order in which frames are written."""

from __future__ import annotations

import numpy as np

from flagstone.answers import ParityRule
from flagstone.errors import InputError
from flagstone.fields import Array
from flagstone.models._model import Answer, Model
from flagstone.models._span import SpanAnswer
from flagstone.tables.frames import reorder

__all__ = ["frame_masks", "mask_lines"]


def mask_lines(answer: Answer) -> list[str]:
    """Return the answer as hexadecimal masks with their right-hand sides; bit i is column i.

    Examples
    --------
    >>> mask_lines(ParityRule([1, 0, 0, 0, 1], 1))
    ['0x11 ^ 1']
    """
    if isinstance(answer, ParityRule):
        masks: tuple[str, ...] = (answer.mask,)
    else:
        masks = answer.masks
    return _with_sides(answer, list(masks))


def frame_masks(model: Model) -> list[str]:
    """Return the answer as frames, ``{41}cfb9f00d648``, to be ANDed with frames as written.

    The first bit as written is the most significant one of the first digit, as in the files;
    a bit order that was chosen for reading is undone. The label, if there is one, is masked out.

    Examples
    --------
    >>> frame_masks(Model.of(ParityRule([1, 0, 0, 0, 1], 1)))
    ['{5}88 ^ 1']
    """
    answer = model.answer
    if isinstance(answer, SpanAnswer):
        field, rows = answer.subspace.field, answer.subspace.basis
    elif isinstance(answer, ParityRule):
        if answer.coef is None:
            raise InputError("⊥ has no masks: no linear rule fits")
        field, rows = answer.field, answer.coef[np.newaxis, :]
    else:
        field, rows = answer.field, answer.matrix
    if field.order != 2:
        raise InputError(f"bit masks exist over GF(2) only, this answer is over {field.name}")
    places, width = _places(model, rows.shape[1])
    bits = np.zeros((len(rows), width), dtype=np.uint8)
    bits[:, places] = rows
    # every bit order is its own inverse
    bits = reorder(bits, str(dict(model.details.get("reading") or {}).get("bit_order") or "msb"))
    return _with_sides(answer, [_frame(row) for row in bits])


def _places(model: Model, n_features: int) -> tuple[list[int], int]:
    """Return where each feature stands in a frame, and the length of a frame."""
    if model.encoding is None:
        return list(range(n_features)), n_features
    names = list(model.encoding.columns)
    known = {f"x{i}": i for i in range(len(names))}
    encoders = model.encoding.encoders
    if set(names) != set(known) or any(e.kind != "element" for e in encoders):
        raise InputError(
            "masks in the order of frames need every bit of a frame as a column, x0, x1, …; "
            "use masks by columns instead (--as masks)"
        )
    return [known[e.column] for e in encoders], len(names)


def _frame(row: Array) -> str:
    text = "".join(str(int(bit)) for bit in row)
    n_digits = -(-len(text) // 4)
    return f"{{{len(text)}}}{int(text.ljust(4 * n_digits, '0'), 2):0{n_digits}x}"


def _with_sides(answer: Answer, masks: list[str]) -> list[str]:
    if isinstance(answer, ParityRule):
        return [f"{m} ^ {answer.intercept}" if answer.intercept else m for m in masks]
    if isinstance(answer, SpanAnswer):
        return masks
    return [f"{m} = {b}" for m, b in zip(masks, answer.rhs.tolist(), strict=True)]
