"""Digest: a check by its name, with the rows that it was tried on; columns and bits as text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from flagstone.algebra import Array
from flagstone.errors import FormatError
from flagstone.frames.digests.frame import Frame
from flagstone.frames.digests.registers import CANDIDATES
from flagstone.frames.digests.rules import Rule, Solved, product, rule_from_dict, rule_to_dict

#: How many rows are searched for repeated ones.
_COUNTED = 65_536
#: log2 of the sums, and of the parities and XORs, that are tried on a frame.
_SUMS, _PARITIES = 21, 6


@dataclass(frozen=True, eq=False)
class Digest:
    """A digest that frames carry.

    Attributes
    ----------
    kind : str
        parity, xor, crc, lfsr, keys, sum or complement; ``linear`` where no name is known.
    name : str or None
        For people: ``CRC-16/XMODEM``. None where no name is known.
    columns : tuple of str
        The check bits, in the order of the frame.
    parameters : mapping
        Plain values: polynomial, key, order of bits and bytes, columns of the data as a list.
    formula : str
        How to compute it, in a line.
    bits_determined : int
        How many bits of the linear map from data to check bits the frames determine: what the
        name was held against.
    rule : Rule
        Solved check bits, or a sum: what verifies rows, and what code is written from.
    rows_verified, rows_broken : int
        Rows that were tried, and those among them that it does not fit.
    level : int or None
        It was found in the space V_level of the flag of the first rows: what at least
        ``level`` disjoint sets of rows span. None of a sum, which is tried on the rows themselves.
    """

    kind: str
    name: str | None
    columns: tuple[str, ...]
    parameters: Mapping[str, Any]
    formula: str
    bits_determined: int
    rule: Rule = field(repr=False)
    rows_verified: int = 0
    rows_broken: int = 0
    level: int | None = None

    def measured(self, X: Array) -> Digest:
        """Return the digest as it was tried on these rows of bits."""
        return replace(self, rows_verified=len(X), rows_broken=int(broken_by([self], X).sum()))

    @property
    def candidate_bits(self) -> int:
        """log2 of the number of digests of this kind that are tried: what evidence must beat."""
        w = len(self.columns)
        if self.kind in ("crc", "lfsr"):
            return 2 * w + CANDIDATES
        if self.kind == "sum":
            return w + _SUMS
        if self.kind in ("parity", "xor"):
            return w + _PARITIES
        if self.kind == "complement":
            return CANDIDATES  # pairs of bytes
        return w * (len(self.parameters.get("keys", ())) + 1) + CANDIDATES

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {
            "kind": self.kind,
            "name": self.name,
            "columns": list(self.columns),
            "parameters": dict(self.parameters),
            "formula": self.formula,
            "bits_determined": self.bits_determined,
            "rule": rule_to_dict(self.rule),
            "rows_verified": self.rows_verified,
            "rows_broken": self.rows_broken,
            "level": self.level,
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], names: Sequence[str]) -> Digest:
        """Read what :meth:`to_dict` wrote, in frames with these columns."""
        try:
            parts = {"columns": tuple(values["columns"]), "parameters": dict(values["parameters"])}
            found = cls(**{**values, **parts, "rule": _rule(values["rule"], len(names))})
            fit = found.rows_verified - found.rows_broken
            texts: Any = (found.kind, found.name or "", found.formula, *found.columns)
            counts: Any = (found.rows_broken, fit - found.rows_broken - 1, found.bits_determined)
            lists = _lists(found.parameters)
        except (TypeError, ValueError, LookupError, ArithmeticError, AttributeError):
            texts, counts, lists = (None,), (), []
        if (
            not all(isinstance(text, str) for text in texts)
            or not all(type(count) is int and count >= 0 for count in counts)
            or not set() < set(found.columns) <= set(names)
            or not all(_are_columns(some, names) for some in lists)
        ):
            raise FormatError("the finding holds a digest that no rows can have shown")
        return found


def _rule(values: Mapping[str, Any], dim: int) -> Rule:
    """Read a rule, and try it: what is written in a file must not fail later."""
    rule = rule_from_dict(values, dim)
    if not {*rule.checks} <= {*range(dim)}:
        raise ValueError("check bits that these rows do not have")
    with np.errstate(all="raise"):
        if not rule.broken(np.eye(dim, dtype=np.uint8)).size:
            raise ValueError("a rule that checks nothing")
    return rule


def _lists(parameters: Mapping[str, Any]) -> list[Any]:
    """Return everything in the parameters of a digest that lists columns."""
    parts = [parameters, *parameters.get("catalogued", [])]
    found = [part[key] for part in parts for key in ("data", "place_of_check") if key in part]
    return [some for some in found if some is not None]


def _are_columns(some: Any, names: Sequence[str]) -> bool:
    return isinstance(some, list) and all(isinstance(n, str) for n in some) and {*some} <= {*names}


def broken_by(digests: Sequence[Digest], rows: Array) -> Array:
    """Say which rows break a digest."""
    broken = np.zeros(len(rows), dtype=bool)
    for digest in digests if len(rows) else ():
        broken |= np.asarray(digest.rule.broken(rows)).reshape(len(rows), -1).any(axis=1)
    return broken


def different_rows(digest: Digest, rows: Array) -> int:
    """Count the different rows that fit a digest, of the first 65,536."""
    rows = rows[:_COUNTED]
    return len({row.tobytes() for row in np.packbits(rows[~broken_by([digest], rows)], axis=1)})


def runs(columns: Iterable[int]) -> list[tuple[int, int]]:
    """Return the first and the last of each run of neighbours.

    >>> runs([5, 0, 1, 2])
    [(0, 2), (5, 5)]
    """
    found: list[tuple[int, int]] = []
    for i in sorted(columns):
        first = found.pop()[0] if found and found[-1][1] == i - 1 else i
        found.append((first, i))
    return found


def span_text(names: Sequence[str], columns: Sequence[int]) -> str:
    """Return columns as ranges of neighbours: x0..x31, x40.

    >>> span_text([f"x{i}" for i in range(6)], [0, 1, 2, 5])
    'x0..x2, x5'
    """
    return ", ".join(names[a] if a == b else f"{names[a]}..{names[b]}" for a, b in runs(columns))


def number(bits: Iterable[int]) -> int:
    """Return bits, the highest first, as a number.

    >>> number([1, 0, 1])
    5
    """
    return int("".join(map(str, bits)), 2)


def hex_text(value: int, width: int) -> str:
    """Return a number of this many bits in hexadecimal digits.

    >>> hex_text(5, 8)
    '0x05'
    """
    return f"0x{value:0{-(-width // 4)}x}"


def names_of(names: Sequence[str], columns: Sequence[int]) -> list[str]:
    """Return the names of columns in their order, as parameters of a digest hold them.

    >>> names_of(["a", "b", "c"], [2, 0])
    ['a', 'c']
    """
    return [names[i] for i in sorted(columns)]


def columns_of(names: Sequence[str], some: Sequence[str]) -> list[int]:
    """The inverse of :func:`names_of`.

    >>> columns_of(["a", "b", "c"], ["a", "c"])
    [0, 2]
    """
    place = {name: i for i, name in enumerate(names)}
    return [place[name] for name in some]


def linear_digest(
    frame: Frame,
    kind: str,
    name: str,
    rule: Solved,
    data: Sequence[int],
    formula: str,
    parameters: Mapping[str, Any],
) -> Digest:
    """Return a named digest of data columns, with what the frames determine of its map."""
    return Digest(
        kind,
        name,
        tuple(frame.names[i] for i in rule.columns),
        {**parameters, "data": names_of(frame.names, data)},
        formula,
        len(rule.columns) * frame.n_inputs(data, _keys(rule.matrix[:, list(data)])),
        rule,
    )


def _keys(matrix: Array) -> list[int]:
    """Return what each column of a map adds, as a number."""
    return [number(column) for column in matrix.T.astype(int).tolist()]


def solved_by(frame: Frame, columns: tuple[int, ...], matrix: Array) -> Solved:
    """Return check bits by the linear part of their map; the frames say the constant."""
    linear = product(frame.point[np.newaxis], matrix)[0]
    constant = (linear ^ frame.point[list(columns)]).astype(np.uint8)
    return Solved(columns, matrix, constant)


def holds(frame: Frame, rule: Solved) -> bool:
    """Say whether a rule holds in every frame, whatever its constant."""
    return not replace(rule, constant=np.zeros_like(rule.constant)).broken(frame.directions).any()


def explained(
    frame: Frame, columns: tuple[int, ...], data: Sequence[int], map_of: Array, needed: int
) -> Solved | None:
    """Return check bits as this map of data columns; None where it does not give them.

    Nor is it one where the frames determine fewer bits of it than are needed.
    """
    shown = product(frame.directions[:, data], map_of)
    if (shown != frame.directions[:, list(columns)]).any():
        return None
    if len(columns) * frame.n_inputs(data, _keys(map_of)) < needed:
        return None
    matrix = np.zeros((len(columns), frame.dim), dtype=np.uint8)
    matrix[:, data] = map_of
    return solved_by(frame, columns, matrix)
