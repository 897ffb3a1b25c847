"""What the fields share in tests of kernels: arithmetic, rows, and the way to the oracle."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from flagstone.algebra.fields import _flint
from flagstone.algebra.fields._conway import CONWAY
from tests import naive
from tests.native.versions import VERSIONS


def factor(q: int) -> tuple[int, int]:
    """Return p, k with q = p^k."""
    p = next((r for r in range(2, math.isqrt(q) + 1) if q % r == 0), q)
    return p, round(math.log(q, p))


class Family:
    """The kernels of one field and version, called the way the core calls them."""

    def __init__(self, order: int | str, version: str) -> None:
        self.order = order
        self.linalg: Any
        if order == "QQ":
            self.linalg, self.dtype = _flint, np.dtype(object)
        else:
            assert isinstance(order, int)
            p, k = factor(order)
            polynomial = (0, 1) if k == 1 else CONWAY[p, k]
            self.linalg = VERSIONS[version].finite_field(p, k, polynomial)
            self.dtype = np.min_scalar_type(order - 1)

    def rows(self, dim: int, rows: Any) -> np.ndarray:
        """Return rows in the form that kernels take."""
        out = np.empty((len(rows), dim), self.dtype)
        for i, row in enumerate(rows):
            out[i] = row
        return out

    def plain(self, array: np.ndarray) -> list[tuple]:
        """Return rows in the oracle's form."""
        convert = Fraction if self.order == "QQ" else int
        return [tuple(convert(x) for x in row) for row in array]

    def new(self, dim: int) -> Any:
        """Return the state of an empty flag."""
        return self.linalg.flag(dim)

    def load(self, dim: int, basis: np.ndarray, counts: np.ndarray) -> Any:
        """Return the state that a counted basis describes."""
        return self.linalg.flag_load(dim, basis, counts)

    def flag(self, dim: int, rows: Any, weights: Any = None) -> Any:
        """Return the state after inserting the rows into an empty flag."""
        state = self.new(dim)
        counts = None if weights is None else np.array(weights, np.int64)
        state.insert(self.rows(dim, rows), counts)
        return state

    def chain(self, space: naive.Ambient, basis: np.ndarray, counts: np.ndarray) -> list:
        """Return V_1, V_2, … of an adapted basis in the oracle's form; check what is promised."""
        assert basis.dtype == self.dtype
        assert counts.dtype == np.int64
        assert basis.shape == (len(counts), space.dim)
        assert (np.diff(counts) <= 0).all()
        assert (counts > 0).all()
        rows = self.plain(basis)
        ranks = [int((counts >= j).sum()) for j in range(1, 1 + max(counts, default=0))]
        spans = {rank: space.span(rows[:rank]) for rank in {*ranks, len(rows)}}
        assert space.size(spans[len(rows)]) == len(rows)
        return [spans[rank] for rank in ranks]

    def chain_of(self, space: naive.Ambient, state: Any) -> list:
        return self.chain(space, *state.dump())
