"""Cases: digests whose constant depends on a field of the frame, a counter or a message id, say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from flagstone.algebra import Array
from flagstone.frames.digests.crc import crc_formula
from flagstone.frames.digests.digest import RULES, Digest, columns_of, hex_text, span_text
from flagstone.frames.digests.layers import Solved
from flagstone.frames.digests.sums import Sum, units

#: Cases with fewer rows have no constant of their own.
_FEWEST = 2


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
        case, value = case_of(X, columns), found.residual(X)
        order = np.lexsort((value, case))
        case, value = case[order], value[order]
        is_first = np.ones(len(order), dtype=bool)
        is_first[1:] = (case[1:] != case[:-1]) | (value[1:] != value[:-1])
        starts = np.flatnonzero(is_first)
        counts = np.diff([*starts, len(order)])
        constants: dict[int, int] = {}
        # of values that are as frequent, the one that came first
        for i in np.lexsort((order[starts], -counts, case[starts])).tolist():
            if counts[i] >= _FEWEST:
                constants.setdefault(int(case[starts[i]]), int(value[starts[i]]))
        return replace(found, constants=constants)

    def residual(self, X: Array) -> Array:
        """Return for each row the constant with which its check would be right."""
        if isinstance(self.rule, Sum):
            return self.rule.residual(X)
        weights = np.array([1 << i for i in range(len(self.rule.columns))][::-1], dtype=np.int64)
        return np.asarray(self.rule.broken(X).astype(np.int64) @ weights)

    def broken(self, X: Array) -> Array:
        """Say of each row whether its check is wrong; of an unknown case it is."""
        cases, place = np.unique(case_of(X, self.columns), return_inverse=True)
        meant = np.array([self.constants.get(case, -1) for case in cases.tolist()], dtype=np.int64)
        return np.asarray(self.residual(X) != meant[place])

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        kind = "sum" if isinstance(self.rule, Sum) else "linear"
        constants = [[case, value] for case, value in self.constants.items()]
        rule = {"kind": kind, **self.rule.to_dict()}
        return {"columns": list(self.columns), "rule": rule, "constants": constants}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], dim: int) -> Cases:
        """Read what :meth:`to_dict` wrote."""
        given = dict(values["rule"])
        rule = RULES[given.pop("kind")].from_dict(given, dim)
        return cls(tuple(values["columns"]), rule, {int(c): int(v) for c, v in values["constants"]})


RULES["cases"] = Cases


def case_of(X: Array, columns: Sequence[int]) -> Array:
    """Return the number that some bits of each row are."""
    return units(X[:, list(columns)], len(columns))[:, 0]


def differences(X: Array, columns: Sequence[int]) -> Array:
    """Return differences of rows of the same case: what is constant in each case is gone.

    >>> differences(np.array([[0, 1], [1, 1], [0, 0]]), [0]).tolist()
    [[0, 1]]
    """
    case = case_of(X, columns)
    order = np.argsort(case, kind="stable")
    same = case[order][1:] == case[order][:-1]
    return np.asarray((X[order][1:] ^ X[order][:-1])[same])


def with_cases(digest: Digest, names: Sequence[str], columns: Sequence[int], X: Array) -> Digest:
    """Return a digest with a constant for each case, and the table of constants."""
    assert isinstance(digest.rule, Solved | Sum)
    rule = Cases.fitted(digest.rule, columns, X)
    w = len(digest.columns)
    table = {f"{c:#x}": hex_text(v, w) for c, v in rule.constants.items()}
    bits = span_text(names, columns)
    how = "added" if isinstance(rule.rule, Sum) else "XORed to the check bits"
    plain = digest.formula
    if isinstance(rule.rule, Solved):
        given = digest.parameters
        covered = next(iter(given.get("catalogued", ())), given).get("data", [])
        plain = f"{digest.name}, over {span_text(names, columns_of(names, covered))}"
        if digest.kind == "crc":
            bare = {key: value for key, value in given.items() if key != "catalogued"}
            plain = crc_formula(names, bare | {"init": "0", "xorout": "0", "data": covered})
    formula = f"{plain}; the constant that is {how} depends on {bits}: "
    formula += ", ".join(f"{case}: {value}" for case, value in table.items())
    parameters = {
        **digest.parameters,
        "case": {"bits": [names[i] for i in columns], "table": table},
    }
    return replace(digest, rule=rule, formula=formula, parameters=parameters)
