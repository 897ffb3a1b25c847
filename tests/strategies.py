"""Hypothesis strategies: rows whose partitions have ties, exchanges and many levels.

Uniform rows over a large field are always independent, so nothing would ever happen. Rows are
drawn from a small pool of vectors and their combinations instead, with many repeats.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from hypothesis import strategies as st

from tests import naive

#: The fields that every statement is tested over.
ORDERS = (2, 3, 4, 5, 8, 251, 65521, "QQ")

#: The largest dimension per field that keeps the oracle quick.
MAX_DIM = {2: 6, 3: 4, 4: 3, 5: 3, 8: 2, 251: 4, 65521: 3, "QQ": 3}

#: One width for each kernel over GF(2), and the edges between them.
WIDTHS = (63, 64, 65, 127, 128, 129, 200)


@dataclass(frozen=True)
class Sample:
    """Rows over a field, as the oracle sees them and as flagstone takes them."""

    order: int | str
    dim: int
    rows: tuple[tuple, ...]

    @property
    def space(self):
        return naive.ambient(self.order, self.dim)

    @cached_property
    def chain(self):
        return naive.chain(self.space, self.rows)

    @property
    def X(self):
        return table(self.order, self.dim, self.rows)

    def having(self, rows):
        """Return the same space with other rows."""
        return Sample(self.order, self.dim, tuple(map(tuple, rows)))


def table(order, dim, rows):
    """Return rows as the array that a user would pass."""
    dtype = object if order == "QQ" else np.int64
    out = np.empty((len(rows), dim), dtype=dtype)
    for i, row in enumerate(rows):
        out[i] = row
    return out


def elements(order):
    """Elements, small ones and zero far more often than chance."""
    if order == "QQ":
        return st.sampled_from([Fraction(0)] * 3 + [Fraction(1), Fraction(-1)]) | st.fractions(
            min_value=-3, max_value=3, max_denominator=4
        )
    few = st.sampled_from([0, 0, 1, order - 1])
    return few | st.integers(0, order - 1)


def vectors(order, dim):
    if order == 2 and dim > 8:
        return st.integers(0, 2**dim - 1).map(lambda n: tuple(n >> i & 1 for i in range(dim)))
    return st.tuples(*[elements(order)] * dim)


@st.composite
def rows_of(draw, order, dim, *, max_rows=14, pool=None):
    """Draw rows from a pool of a few vectors and sums of two of them."""
    space = naive.ambient(order, dim)
    if pool is None:
        pool = draw(st.lists(vectors(order, dim), min_size=1, max_size=min(dim, 5) + 1))
    combinations = draw(
        st.lists(
            st.tuples(st.sampled_from(pool), elements(order), st.sampled_from(pool)), max_size=5
        )
    )
    pool = pool + [space.axpy(a, x, y) for x, a, y in combinations]
    return tuple(draw(st.lists(st.sampled_from(pool), max_size=max_rows)))


@st.composite
def samples(draw, order, *, dim=None, max_rows=14):
    """Draw a sample over one field."""
    if dim is None:
        dim = draw(st.integers(1, MAX_DIM[order]))
    return Sample(order, dim, draw(rows_of(order, dim, max_rows=max_rows)))


@st.composite
def sample_pairs(draw, order, *, dim=None, max_rows=9):
    """Draw two samples of one space whose rows share a pool, so that their flags interact."""
    if dim is None:
        dim = draw(st.integers(1, MAX_DIM[order]))
    pool = draw(st.lists(vectors(order, dim), min_size=1, max_size=min(dim, 5) + 1))
    rows = rows_of(order, dim, max_rows=max_rows, pool=pool)
    return Sample(order, dim, draw(rows)), Sample(order, dim, draw(rows))
