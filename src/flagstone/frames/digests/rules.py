"""Rules: what a digest says of rows of bits; what verifies them, and what code is written from.

Check bits are a linear function of other bits (:class:`Solved`), or a sum with carries
(:class:`Sum`); either with another constant for each value of a field (:class:`Cases`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from flagstone.algebra import Array
from flagstone.frames.digests.frame import Relation

#: Cases with fewer rows have no constant of their own.
_FEWEST = 2


@dataclass(frozen=True, eq=False)
class Solved:
    """Check bits as sums of other columns: x[columns] = matrix·x ⊕ constant.

    Attributes
    ----------
    columns : tuple of int
    matrix : array of shape (w, d)
        Zero in the check columns themselves.
    constant : array of shape (w,)
    """

    columns: tuple[int, ...]
    matrix: Array
    constant: Array

    @property
    def checks(self) -> tuple[int, ...]:
        """The check bits."""
        return self.columns

    @property
    def relations(self) -> list[Relation]:
        """One relation for each check bit."""
        return [Relation.of_row(row) for row in self.equations]

    @property
    def equations(self) -> Array:
        """Each check equation as a row (mask, constant)."""
        return np.column_stack([self.masks, self.constant])

    def lines(self, names: Sequence[str]) -> list[str]:
        """Return the equations for people: x32 = x0 ⊕ x5 ⊕ 1."""
        out = []
        for column, row, value in zip(self.columns, self.matrix, self.constant, strict=True):
            terms = [names[i] for i in np.flatnonzero(row).tolist()] + (["1"] if value else [])
            out.append(f"{names[column]} = {' ⊕ '.join(terms) or '0'}")
        return out

    @property
    def masks(self) -> Array:
        """The columns of each check equation, the check bit among them; its sum is the constant."""
        masks = self.matrix.copy()
        masks[range(len(masks)), list(self.columns)] = 1
        return masks

    def residual(self, X: Array) -> Array:
        """Return for each row what its check bits differ by from those without a constant."""
        return np.asarray(product(X, self.matrix) ^ X[:, list(self.columns)])

    def broken(self, X: Array) -> Array:
        """Say of each row of bits which check bits are wrong, shape (n_rows, w)."""
        return np.asarray(self.residual(X) != self.constant)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values: each equation as a number, whose highest bit is the first column."""
        texts = ("".join(map(str, row)) for row in self.masks.tolist())
        return {
            "columns": list(self.columns),
            "masks": [f"0x{int(text, 2):x}" for text in texts],
            "constant": self.constant.tolist(),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], dim: int) -> Solved:
        """Read what :meth:`to_dict` wrote of rows with this many columns."""
        texts = [f"{int(mask, 16):0{dim}b}" for mask in values["masks"]]
        matrix = np.array([list(map(int, text)) for text in texts], dtype=np.uint8)
        matrix = matrix.reshape(len(values["columns"]), dim)
        matrix[range(len(matrix)), values["columns"]] = 0
        constant = np.array(values["constant"], dtype=np.uint8).reshape(len(matrix))
        return cls(tuple(values["columns"]), matrix, constant)


@dataclass(frozen=True)
class Sum:
    """check = constant ± the sum of units, modulo 2^w, or 2^w − 1 where carries come around; ⊕ xor.

    ``turned`` says that the lowest bit of each byte, or nibble, stands first; ``little`` that the
    lower byte of a check of 16 bits does, or the lower nibble of one of 8.

    Examples
    --------
    >>> rule = Sum((16, 24), 8, (0, 16), 8, 1, 256, 0)
    >>> X = np.unpackbits(np.array([[200, 100, 44], [1, 2, 4]], dtype=np.uint8), axis=1)
    >>> rule.broken(X).tolist()
    [False, True]
    """

    check: tuple[int, int]
    width: int
    data: tuple[int, int]
    unit: int
    sign: int
    modulus: int
    constant: int
    little: bool = False
    zero: int = 0
    turned: bool = False
    xor: int = 0

    @property
    def columns(self) -> list[int]:
        """The data."""
        return [i for i in range(*self.data) if not self.check[0] <= i < self.check[1]]

    @property
    def checks(self) -> tuple[int, ...]:
        """The check bits."""
        return tuple(range(*self.check))

    def added(self, X: Array) -> Array:
        """Return the numbers that are added, shape (n_rows, n_units)."""
        return units(X[:, self.columns], self.unit, self.little and self.unit == 16, self.turned)

    def residual(self, X: Array) -> Array:
        """Return for each row of bits the constant with which its check would be right."""
        value = self._value(X) - self.sign * self.added(X).sum(axis=1)
        return np.asarray(value % self.modulus)

    def broken(self, X: Array) -> Array:
        """Say of each row of bits whether its check is wrong."""
        value = self._value(X)
        written = (value < self.modulus) & (value > 0) | (value == self.zero)
        return np.asarray((self.residual(X) != self.constant % self.modulus) | ~written)

    def _value(self, X: Array) -> Array:
        check = units(X[:, slice(*self.check)], self.width, self.little, self.turned)[:, 0]
        return np.asarray(check ^ self.xor)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], dim: int) -> Sum:
        """Read what :meth:`to_dict` wrote."""
        pairs = {name: tuple(values[name]) for name in ("check", "data")}
        if any(not 0 <= place <= dim for pair in pairs.values() for place in pair):
            raise ValueError("a sum of bits that these rows do not have")
        return cls(**{**values, **pairs})


@dataclass(frozen=True, eq=False)
class Cases:
    """A rule whose constant is a function of some bits of the frame.

    Attributes
    ----------
    columns : tuple of int
        The bits that say which case it is, the highest first.
    rule : Solved or Sum
        Without a constant.
    constants : mapping from case to constant
        What is XORed to the check bits, or added to the sum. Frames of other cases break the rule.

    Examples
    --------
    >>> rule = Cases((0,), Sum((8, 16), 8, (0, 8), 8, 1, 256, 0), {0: 5, 1: 9})
    >>> X = np.unpackbits(np.array([[1, 6], [1, 10], [128, 137]], dtype=np.uint8), axis=1)
    >>> rule.broken(X).tolist()
    [False, True, False]
    """

    columns: tuple[int, ...]
    rule: Solved | Sum
    constants: Mapping[int, int]

    @classmethod
    def fitted(cls, rule: Solved | Sum, columns: Sequence[int], X: Array) -> Cases:
        """Return the rule with the commonest constant of each case among rows."""
        if isinstance(rule, Solved):
            rule = replace(rule, constant=np.zeros_like(rule.constant))
        else:
            rule = replace(rule, constant=0)
        found = cls(tuple(columns), rule, {})
        case, (values, place) = (
            case_of(X, columns),
            np.unique(found.residual(X), return_inverse=True),
        )
        both = case * len(values) + place
        both, first, counts = np.unique(both, return_index=True, return_counts=True)
        constants: dict[int, int] = {}
        # of values that are as frequent, the one that came first
        for i in np.lexsort((first, -counts, both // len(values))).tolist():
            if counts[i] >= _FEWEST:
                constants.setdefault(
                    int(both[i] // len(values)), int(values[both[i] % len(values)])
                )
        return replace(found, constants=constants)

    @property
    def checks(self) -> tuple[int, ...]:
        """The check bits."""
        return self.rule.checks

    def residual(self, X: Array) -> Array:
        """Return for each row the constant with which its check would be right."""
        found = self.rule.residual(X)
        return found if isinstance(self.rule, Sum) else units(found, found.shape[1])[:, 0]

    def broken(self, X: Array) -> Array:
        """Say of each row whether its check is wrong; of an unknown case it is."""
        cases, place = np.unique(case_of(X, self.columns), return_inverse=True)
        meant = np.array([self.constants.get(case, -1) for case in cases.tolist()], dtype=np.int64)
        return np.asarray(self.residual(X) != meant[place])

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        constants = [[case, value] for case, value in self.constants.items()]
        rule = rule_to_dict(self.rule)
        return {"columns": list(self.columns), "rule": rule, "constants": constants}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], dim: int) -> Cases:
        """Read what :meth:`to_dict` wrote."""
        rule: Any = rule_from_dict(values["rule"], dim)
        return cls(tuple(values["columns"]), rule, {int(c): int(v) for c, v in values["constants"]})


Rule: TypeAlias = Solved | Sum | Cases
#: How a rule is kept in a file, by its name there.
_KINDS: dict[str, Any] = {"linear": Solved, "sum": Sum, "cases": Cases}


def rule_to_dict(rule: Rule) -> dict[str, Any]:
    """Return a rule as plain values, with its kind."""
    kind = next(kind for kind, known in _KINDS.items() if isinstance(rule, known))
    return {"kind": kind, **rule.to_dict()}


def rule_from_dict(values: Mapping[str, Any], dim: int) -> Rule:
    """Read what :func:`rule_to_dict` wrote of rows with this many columns."""
    given = dict(values)
    rule: Rule = _KINDS[given.pop("kind")].from_dict(given, dim)
    return rule


def product(X: Array, masks: Array) -> Array:
    """Return the sum over GF(2) of the bits of each row that each mask selects."""
    # sums of bits are exact in single precision, which is fast, and never as large as 2^24
    sums = X.astype(np.float32) @ masks.T.astype(np.float32)
    return np.asarray(sums.astype(np.int32) & 1)


def units(X: Array, size: int, little: bool = False, turned: bool = False) -> Array:
    """Return the bits of rows as numbers of this many bits, shape (n_rows, n_units).

    ``little`` says that the lower half of each number stands first.

    >>> units(np.array([[1, 0, 1, 0, 0, 0, 1, 1]]), 4).tolist()
    [[10, 3]]
    >>> units(np.array([[1, 0, 1, 0, 0, 0, 1, 1]]), 4, turned=True).tolist()
    [[5, 12]]
    >>> units(np.array([[1, 0, 1, 0, 0, 0, 1, 1]]), 8, little=True).tolist()
    [[58]]
    """
    parts = X.reshape(len(X), X.shape[1] // size, size).astype(np.int64)
    if turned:
        inner = parts.reshape(len(X), -1, min(size, 8))[:, :, ::-1]
        parts = inner.reshape(parts.shape)
    if little:
        parts = np.roll(parts, size // 2, axis=2)
    weights: Array = np.int64(1) << np.arange(size - 1, -1, -1)
    return np.asarray(parts @ weights)


def case_of(X: Array, columns: Sequence[int]) -> Array:
    """Return the number that some bits of each row are."""
    return units(X[:, list(columns)], len(columns))[:, 0]
