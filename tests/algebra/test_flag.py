"""The counted flag is the whole stable partition (theory, section 1)."""

from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagstone.algebra import BitRows, pack
from flagstone.algebra.flag import Flag
from tests import naive
from tests.bridge import chain_of, flag_of, plain, space_of
from tests.strategies import ORDERS, WIDTHS, Sample, samples, vectors

weights = st.integers(0, 5)


def assert_is_partition(flag, sample):
    """The flag holds the chain of the literal partition, and says the same in every way."""
    space, chain = sample.space, sample.chain
    assert chain_of(space, flag) == chain
    assert flag.n_rows == len(sample.rows)
    assert flag.n_sets == len(chain)
    assert flag.rank == (space.size(chain[0]) if chain else 0)
    for j in range(1, len(chain) + 2):
        V = naive.at(space, chain, j)
        assert flag.dim_at(j) == space.size(V)
        assert space_of(space, flag.span_at(j)) == V


@pytest.mark.parametrize("order", ORDERS)
@given(data=st.data())
def test_flag_is_the_partition(order, data):
    """[checked] The exchange insert keeps V_j = span{x : c(x) ≥ j} for every j."""
    sample = data.draw(samples(order))
    assert_is_partition(flag_of(sample), sample)


@pytest.mark.parametrize("dim", WIDTHS)
@given(data=st.data())
def test_flag_is_the_partition_at_every_width(dim, data):
    """The same over GF(2) for one word, two words and many."""
    sample = data.draw(samples(2, dim=dim))
    assert_is_partition(flag_of(sample), sample)


@pytest.mark.parametrize("order", ORDERS)
@given(data=st.data())
def test_flag_is_the_partition_in_every_order(order, data):
    """[checked] Whatever the order of the rows: the flag follows the partition of that order."""
    sample = data.draw(samples(order, max_rows=10))
    shuffled = sample.having(data.draw(st.permutations(sample.rows)))
    assert_is_partition(flag_of(shuffled), shuffled)


@pytest.mark.parametrize(
    ("order", "rows"),
    [
        (2, [(1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1)]),
        (2, [(1, 0), (1, 0), (0, 1), (1, 1), (1, 1)]),
        (3, [(1, 2), (2, 1), (0, 1), (1, 1), (1, 0)]),
        (4, [(1, 2), (3, 1), (2, 3), (0, 1), (1, 1)]),
    ],
)
def test_flag_is_the_partition_in_all_orders_exhaustively(order, rows):
    for ordered in set(permutations(rows)):
        sample = Sample(order, len(rows[0]), ordered)
        assert chain_of(sample.space, flag_of(sample)) == sample.chain


def test_flag_is_the_partition_of_all_short_sequences_over_gf2():
    """Every sequence of up to five rows of GF(2)^2 and up to four of GF(2)^3."""
    for dim, longest in ((2, 5), (3, 4)):
        space = naive.ambient(2, dim)
        every_row = list(space.functionals())

        def walk(rows, flag, space=space, every_row=every_row, longest=longest):
            assert chain_of(space, flag) == naive.chain(space, rows)
            if len(rows) < longest:
                for row in every_row:
                    walk([*rows, row], flag.copy().update([row]))

        walk([], Flag(dim))


@pytest.mark.parametrize("order", ORDERS)
@given(data=st.data())
def test_batches_do_not_matter(order, data):
    sample = data.draw(samples(order))
    cut = data.draw(st.integers(0, len(sample.rows)))
    flag = Flag(sample.dim, order)
    assert flag.update(sample.X[:cut]) is flag
    assert flag.update(sample.X[cut:]) == flag_of(sample)


@pytest.mark.parametrize("order", ORDERS)
@given(data=st.data())
def test_weighted_insert_is_repeated_insert(order, data):
    """[checked] insert(v, w) equals w single inserts of v, one after the other."""
    sample = data.draw(samples(order, max_rows=8))
    times = data.draw(st.lists(weights, min_size=len(sample.rows), max_size=len(sample.rows)))
    flag = Flag(sample.dim, order).update(sample.X, weights=times)
    repeated = sample.having(
        row for row, w in zip(sample.rows, times, strict=True) for _ in [0] * w
    )
    assert_is_partition(flag, repeated)
    assert flag == flag_of(repeated)


@pytest.mark.parametrize("dim", WIDTHS)
@given(data=st.data())
def test_weighted_insert_is_repeated_insert_at_every_width(dim, data):
    """[checked] The same over GF(2) for one word, two words and many."""
    sample = data.draw(samples(2, dim=dim, max_rows=8))
    times = data.draw(st.lists(weights, min_size=len(sample.rows), max_size=len(sample.rows)))
    flag = Flag(sample.dim).update(sample.X, weights=times)
    repeated = sample.having(
        row for row, w in zip(sample.rows, times, strict=True) for _ in [0] * w
    )
    assert_is_partition(flag, repeated)


@pytest.mark.parametrize("order", [2, 3, "QQ"])
@given(data=st.data())
def test_rows_that_wait_are_rows_of_the_flag(order, data):
    """Whatever is read, copied or weighed between updates of a few rows."""
    sample = data.draw(samples(order))
    flag, copies, start = Flag(sample.dim, order), [], 0
    whole = Flag(sample.dim, order).update(sample.X)
    while start < len(sample.rows):
        stop = start + data.draw(st.integers(1, 3))
        part, ones = sample.X[start:stop], data.draw(st.booleans())
        flag.update(part, [1] * len(part) if ones else None)
        start = min(stop, len(sample.rows))
        if data.draw(st.booleans()):
            assert flag == Flag(sample.dim, order).update(sample.X[:start])
        copies.append((start, flag.copy()))
    for n, copied in copies:
        assert copied.update(sample.X[n:]) == whole == flag


@pytest.mark.parametrize("n_rows", [1, 200])
def test_rows_may_be_overwritten_after_an_update(n_rows):
    words, weights = np.ones((n_rows, 1), np.uint64), np.full(n_rows, 3)
    flag = Flag(2).update(BitRows(words, 2), weights)
    words[:] = 2
    weights[:] = 1
    assert flag == Flag(2).update([[1, 0]] * 3 * n_rows)
    entries = np.ones((n_rows, 1), np.uint8)
    flag = Flag(1, 7).update(entries)
    entries[:] = 0
    assert flag.rank == 1


def test_a_reader_beside_an_update_keeps_no_old_answer():
    class Slow:
        """A state that is updated, as another thread might do it, while it is read."""

        def __init__(self, state):
            self.state = state

        def copy(self):
            return Slow(self.state.copy())

        def insert(self, rows, weights):
            self.state.insert(rows, weights)

        def dump(self):
            found = self.state.dump()
            if flag.n_rows == 1:
                flag.update([[0, 1, 0]])
            return found

    flag = Flag(3)
    flag._held = Slow(flag._held[0]), ()
    flag.update([[1, 0, 0]])
    assert flag.adapted_basis()[1].tolist() == [1]
    assert flag.adapted_basis()[1].tolist() == [1, 1]


def test_weights_may_be_huge():
    flag = Flag(2).update([[1, 0], [1, 1], [0, 1]], weights=[2**40, 2**39, 2**40])
    assert flag.n_rows == 2**41 + 2**39
    assert flag.counts.sum() == flag.n_rows
    single = Flag(1).update([[1]], weights=[2**62])
    assert single.counts.tolist() == [2**62]


@pytest.mark.parametrize(("dim", "order"), [(20, 2), (100, 2), (200, 2), (12, 3)])
def test_huge_counts_do_not_overflow(dim, order):
    """Rows that come singly after astronomical weights: as with weights of one."""
    random = np.random.RandomState(0)
    columns = np.minimum(random.geometric(0.05, size=(2, 400)) - 1, dim - 1)
    X = np.eye(dim, dtype=int)[columns].sum(axis=0) % 2
    huge = 2**59 // np.arange(1, dim + 1) ** 3
    flags = [Flag(dim, order).update(np.eye(dim, dtype=int), weights=huge) for _ in range(2)]
    assert flags[0].update(X) == flags[1].update(X, weights=np.ones(len(X), dtype=int))
    assert flags[0].counts.sum() == huge.sum() + X.any(axis=1).sum()


@pytest.mark.parametrize("order", ORDERS)
@given(data=st.data())
def test_counts_tell_the_dimensions(order, data):
    """Σ c is the number of non-zero rows; #{c ≥ j} is dim V_j; n(V) are the gaps."""
    sample = data.draw(samples(order))
    flag = flag_of(sample)
    counts = flag.counts
    assert counts.dtype == np.int64
    assert counts.tolist() == sorted(counts, reverse=True)
    assert counts.sum() == sum(map(any, sample.rows))
    for j in range(1, flag.n_sets + 2):
        assert flag.dim_at(j) == (counts >= j).sum()
    levels = flag.levels()
    assert sum(level.multiplicity for level in levels) == flag.n_sets
    assert all(a.dim > b.dim for a, b in pairwise(levels))


@pytest.mark.parametrize("order", ORDERS)
@given(data=st.data())
def test_equal_chains_are_equal_flags_and_equal_bytes(order, data):
    """The flag does not remember which adapted basis led to it."""
    sample = data.draw(samples(order))
    flag = flag_of(sample)
    other = Flag(sample.dim, order)
    for level in reversed(flag.levels()):
        inside = other.rank
        fresh = [
            v for v in flag.span_at(level.first).basis if not other.span_at(1).contains([v])[0]
        ]
        while other.rank < level.dim:
            last = level.first + level.multiplicity - 1
            other.update([fresh.pop()], weights=[last])
            fresh = [v for v in fresh if not other.span_at(1).contains([v])[0]]
        assert other.rank > inside
    zeros = len(sample.rows) - other.n_rows
    other.update(np.zeros((zeros, sample.dim), dtype=int))
    assert other == flag
    assert other.to_bytes() == flag.to_bytes()


@pytest.mark.parametrize("order", ORDERS)
@given(data=st.data())
def test_different_chains_are_different_flags(order, data):
    sample = data.draw(samples(order))
    v = data.draw(vectors(order, sample.dim).filter(any))
    flag = flag_of(sample)
    grown = flag.copy().update(sample.having([v]).X)
    assert grown != flag
    assert grown.to_bytes() != flag.to_bytes()


@pytest.mark.parametrize("dim", [3, *WIDTHS])
@given(data=st.data())
def test_packed_rows_are_rows(dim, data):
    sample = data.draw(samples(2, dim=dim))
    assert Flag(dim).update(pack(sample.X)) == flag_of(sample)


def test_copy_is_independent():
    flag = Flag(2).update([[1, 0]])
    copy = flag.copy().update([[0, 1]])
    assert (flag.rank, copy.rank) == (1, 2)
    assert flag.n_rows == 1


@pytest.mark.parametrize("order", ORDERS)
def test_no_rows_make_the_zero_flag(order):
    flag = Flag(3, order).update(np.zeros((0, 3), dtype=int))
    assert flag == Flag(3, order)
    assert (flag.n_rows, flag.rank, flag.n_sets, flag.levels()) == (0, 0, 0, [])
    assert flag.span_at(1).dim == 0
    zeros = Flag(3, order).update(np.zeros((4, 3), dtype=int))
    assert (zeros.n_rows, zeros.rank, zeros.n_sets) == (4, 0, 0)


@pytest.mark.parametrize("dim", [20, 64, 100, 128, 300])
@pytest.mark.parametrize("kind", ["uniform", "skewed", "weighted", "low rank"])
def test_long_streams_agree_with_first_fit(dim, kind):
    """Many rows at once, so that batches, tables and fallbacks of the kernels come into play.

    The oracle is the first-fit view: each row goes to the first set whose span misses it, the
    sets kept as echelon bases of Python integers.
    """
    random = np.random.RandomState(dim)
    m = 1500
    weights = random.randint(0, 6, size=m) if kind == "weighted" else np.ones(m, dtype=int)
    if kind == "uniform":
        X = random.randint(0, 2, size=(m, dim))
    elif kind in ("skewed", "weighted"):
        X = np.eye(dim, dtype=int)[np.minimum(random.geometric(0.2, size=m) - 1, dim - 1)]
        X[::7] ^= random.randint(0, 2, size=(len(X[::7]), dim)) * random.randint(0, 2, size=dim)
    else:
        X = random.randint(0, 2, size=(m, 5)) @ random.randint(0, 2, size=(5, dim)) % 2
    sets = first_fit([int("".join(map(str, row)), 2) for row in np.repeat(X, weights, axis=0)])
    flag = Flag(dim)
    for part in (slice(0, m // 3), slice(m // 3, m)):
        flag.update(X[part], weights[part] if kind == "weighted" else None)
    assert [flag.dim_at(j) for j in range(1, flag.n_sets + 1)] == [len(basis) for basis in sets]
    for level in flag.levels():
        rows = [int("".join(map(str, row)), 2) for row in flag.span_at(level.first).basis]
        for j in range(level.first, level.first + level.multiplicity):
            assert all(reduced(sets[j - 1], row) == 0 for row in rows)


def reduced(basis, v):
    while v and v.bit_length() in basis:
        v ^= basis[v.bit_length()]
    return v


def first_fit(rows):
    """Return the sets as {leading bit: echelon row}, by binary search for the first that misses."""
    sets = []
    for v in filter(None, rows):
        low, high = 0, len(sets)
        while low < high:  # spans are nested: once missed, missed by all later sets
            middle = (low + high) // 2
            if reduced(sets[middle], v):
                high = middle
            else:
                low = middle + 1
        if low == len(sets):
            sets.append({})
        residual = reduced(sets[low], v)
        sets[low][residual.bit_length()] = residual
    return sets


@pytest.mark.parametrize("kind", ["uniform", "skewed", "weighted"])
@pytest.mark.parametrize("order", [3, 4, 251, "QQ"])
def test_long_streams_agree_with_first_fit_over_other_fields(order, kind):
    """The same for fields whose rows are inserted many side by side."""
    random = np.random.RandomState(5)
    dim, m = (6, 60) if order == "QQ" else (12, 250)
    X = random.randint(0, 5 if order == "QQ" else order, size=(m, dim))
    weights = np.ones(m, dtype=int)
    if kind != "uniform":
        X[:, 1:] *= np.arange(1, dim) < random.geometric(0.3, size=(m, 1))
    if kind == "weighted":
        weights = random.randint(0, 4, size=m)
    space = naive.Reduced(order, dim)
    sets = []
    for row in np.repeat(X, weights, axis=0).tolist():
        v = space.vector(row)
        missing = (j for j, V in enumerate(sets) if residual(space, V, v))
        j = next(missing, len(sets))
        if j == len(sets) and any(v):
            sets.append({})
        if any(v):
            rest = residual(space, sets[j], v)
            pivot = next(i for i, a in enumerate(rest) if a)
            scale = space.F.inv(rest[pivot])
            sets[j][pivot] = tuple(space.F.mul(scale, a) for a in rest)
    flag = Flag(dim, order).update(X, None if kind != "weighted" else weights)
    assert [flag.dim_at(j) for j in range(1, flag.n_sets + 1)] == list(map(len, sets))
    for level in flag.levels():
        V = sets[level.last - 1]
        basis = plain(order, flag.span_at(level.first).basis)
        assert not any(residual(space, V, row) for row in basis)
        assert len(V) == len(basis) == len(sets[level.first - 1])


def residual(space, echelon, v):
    """Return what an echelon basis {leading column: row} leaves of v; empty if nothing."""
    for i in range(space.dim):
        if v[i] and i in echelon:
            v = space.axpy(space.F.neg(v[i]), echelon[i], v)
    return v if any(v) else ()
