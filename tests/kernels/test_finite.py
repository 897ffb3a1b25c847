"""GF(p) and GF(p^k): arithmetic against galois, elimination against flint, flags at width.

The small, exhaustive comparisons are in test_families.py. Here: lanes at the edge of overflow, rows
wider than a vector register, and batches of rows that interact in every way.
"""

from __future__ import annotations

import flint
import galois
import numba
import numpy as np
import pytest

from flagstone.kernels import finite, prime, rowops, table
from tests.kernels.families import Family

PRIMES = (3, 7, 61, 251, 8179, 65521, 2**31 - 1)
POWERS = (4, 9, 27, 256, 243, 3**10, 251**2, 2**16)


def galois_field(q: int) -> type[galois.FieldArray]:
    return galois.GF(q, compile="python-calculate")  # slow and literal; compiles nothing


@pytest.mark.parametrize("q", PRIMES + POWERS)
def test_elementwise_arithmetic_agrees_with_galois(q: int) -> None:
    F, G = Family(q), galois_field(q)
    rng = np.random.default_rng(q)
    a = np.concatenate([[0, 1, q - 1, 0], rng.integers(0, q, 60)]).astype(F.dtype)
    b = np.concatenate([[0, q - 1, q - 1, 1], rng.integers(0, q, 60)]).astype(F.dtype)
    for name, theirs in (
        ("add", G(a) + G(b)),
        ("sub", G(a) - G(b)),
        ("mul", G(a) * G(b)),
        ("neg", -G(a)),
    ):
        ours = getattr(F.home, name)(F.ar, a, *([b] if name != "neg" else []))
        assert ours.dtype == F.dtype, name
        assert ours.tolist() == theirs.tolist(), name
    nonzero = a[a != 0]
    assert F.home.inv(F.ar, nonzero).tolist() == (G(nonzero) ** -1).tolist()


@pytest.mark.parametrize("q", PRIMES + POWERS)
def test_scalars_agree_with_arrays(q: int) -> None:
    F = Family(q)
    a = np.unique(np.concatenate([[1, q - 1], np.random.default_rng(q).integers(1, q, 30)]))
    home = F.home
    assert [int(home.scalar_inv(F.ar, x)) for x in a] == home.inv(F.ar, a).tolist()
    assert [int(home.scalar_neg(F.ar, x)) for x in [0, *a]] == home.neg(F.ar, [0, *a]).tolist()
    products = [int(home.scalar_mul(F.ar, x, y)) for x in [0, *a] for y in a]
    assert products == home.mul(F.ar, np.array([0, *a])[:, None], a[None, :]).ravel().tolist()


@pytest.mark.parametrize("q", [*POWERS, 49, 125, 7**5, 37**3])
def test_products_are_made_up_of_their_parts(q: int) -> None:
    ar = Family(q).ar
    rng = np.random.default_rng(q)
    for a in rng.integers(0, q, 5):
        multiples = [0, *(int(table.mul(ar, a, ar.exp[t])) for t in range(ar.k))]
        for first, second in ar.sums:
            multiples.append(int(table.add(ar, multiples[first], multiples[second])))
        elements = np.concatenate([[0, 1, q - 1], rng.integers(0, q, 300)])
        total = np.zeros(len(elements), np.int64)
        for group in range(ar.groups):
            field = ar.parts[elements] >> np.uint64(16 * group) & np.uint64(0xFFFF)
            which, times = field & np.uint64(0xFF), field >> np.uint64(8)
            total = table.add(ar, total, table.mul(ar, np.array(multiples)[which], times))
        assert total.tolist() == table.mul(ar, a, elements).tolist()


@pytest.mark.parametrize("q", [*PRIMES, *POWERS, 7**5, 13**4])
def test_lanes_take_up_a_group_of_rows_between_settlings(q: int) -> None:
    assert Family(q).ar.budget >= rowops.GROUP


@pytest.mark.parametrize("p", PRIMES)
def test_lanes_reduce_their_largest_value(p: int) -> None:
    ar = prime.build(p)
    for x in (0, p - 1, p, 2 * p - 1, int(np.iinfo(ar.lane.dtype).max)):
        assert prime.scalar_value(ar, ar.lane.dtype.type(x)) == x % p


@numba.njit
def settled(ar: prime.Prime, w: np.ndarray) -> None:
    rowops.settle(ar, w)


# The smallest primes with lanes of 32 and of 64 bits: their quotients are the largest.
@pytest.mark.parametrize("p", [67, 8209, *PRIMES])
def test_compiled_lanes_reduce_every_kind_of_value(p: int) -> None:
    ar = prime.build(p)
    top = int(np.iinfo(ar.lane.dtype).max)
    near = [k * p + r for k in (0, 1, 2, top // p // 2, top // p - 1) for r in (-1, 0, 1, p - 1)]
    drawn = np.random.default_rng(p).integers(0, top, 5000, ar.lane.dtype, endpoint=True)
    w = np.concatenate([np.array([*near[1:], top - 1, top], ar.lane.dtype), drawn])
    expected = [int(x) % p for x in w]
    settled(ar, w)
    assert w.tolist() == expected


@pytest.mark.parametrize(("dim", "rows"), [(1, 3), (20, 7), (33, 80), (64, 64), (70, 200)])
@pytest.mark.parametrize("p", PRIMES)
def test_rref_agrees_with_flint(p: int, dim: int, rows: int) -> None:
    F = Family(p)
    rng = np.random.default_rng(dim)
    rank = rng.integers(1, dim + 1)
    # Entries near p − 1 bring the lanes as close to overflow as they can get.
    M = rng.integers(max(0, p - 4), p, (rows, dim)).astype(F.dtype)
    M[:, rank:] = M[:, [0]]
    theirs, flint_rank = flint.nmod_mat(rows, dim, M.ravel().tolist(), p).rref()
    R, pivots = finite.rref(F.ar, M)
    assert len(R) == flint_rank
    assert R.ravel().tolist() == [int(x) for x in theirs.entries()[: R.size]]
    assert (finite.reduce(F.ar, M, R, pivots) == 0).all()


@pytest.mark.parametrize("q", [4, 243, 3**10, 2**16])
def test_rref_agrees_with_galois(q: int) -> None:
    F, G = Family(q), galois_field(q)
    rng = np.random.default_rng(q)
    M = rng.integers(0, q, (9, 7)).astype(F.dtype)
    M[:, 5] = M[:, 2]
    R, _ = finite.rref(F.ar, M)
    theirs = G(M).row_reduce()
    assert R.tolist() == theirs[theirs.any(axis=1)].tolist()


@pytest.mark.parametrize("q", [9, 3**10])
def test_spread_digits_do_not_overflow(q: int) -> None:
    """More rows are added up than a digit of a lane can take in without settling."""
    F = Family(q)
    dim = min(int(F.ar.budget), 60) * 2 + 3
    X = np.full((3, dim), q - 1, F.dtype)
    expected = 0
    square = int(table.mul(F.ar, q - 1, q - 1))
    for _ in range(dim):
        expected = int(table.add(F.ar, expected, square))
    assert (finite.dot(F.ar, X, X) == expected).all()


def shapes(q: int, dim: int, n_rows: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Return rows of every kind that drives the flag differently."""
    uniform = rng.integers(0, q, (n_rows, dim))
    low = uniform.copy()
    low[:, max(1, dim // 3) :] = low[:, :1]
    planted = low.copy()
    outliers = rng.random(n_rows) < 0.05
    planted[outliers] = uniform[outliers]
    units = np.eye(dim, dtype=np.int64)
    skewed = units[np.minimum(rng.geometric(0.5, n_rows) - 1, dim - 1)] * rng.integers(
        1, q, (n_rows, 1)
    )
    zipf = uniform[np.minimum(rng.zipf(1.5, n_rows) - 1, dim - 1)]
    triangular = np.tril(uniform[:dim])[rng.integers(0, dim, n_rows)]
    late = uniform.copy()
    late[: n_rows // 2, dim // 2 :] = 0
    late[::7] = 0
    full = rng.integers(max(0, q - 2), q, (n_rows, dim))  # as near to overflow as lanes can get
    return {
        "uniform": uniform, "full": full, "low rank": low, "planted": planted, "skewed": skewed,
        "zipf": zipf, "triangular": triangular, "late": late,
    }  # fmt: skip


def first_fit(F: Family, X: np.ndarray) -> list[np.ndarray]:
    """Return bases of V_1, V_2, …: each row goes to the first set whose span misses it."""
    sets: list[tuple[list[np.ndarray], list[int]]] = []
    for row in X:
        if not row.any():
            continue
        for basis, pivots in [*sets, ([], [])]:
            v = row
            for x, j in zip(basis, pivots, strict=True):
                v = F.home.sub(F.ar, v, F.home.mul(F.ar, x, v[j]))
            if v.any():
                j = int(np.flatnonzero(v)[0])
                basis.append(F.home.mul(F.ar, v, F.home.inv(F.ar, v[j])))
                pivots.append(j)
                if len(basis) == 1:
                    sets.append((basis, pivots))
                break
    return [np.array(basis) for basis, _ in sets]


@pytest.mark.parametrize(
    ("q", "dim"),
    [(3, 5), (3, 33), (7, 20), (7, 40), (16, 20), (61, 33), (81, 20), (243, 20),
     (251, 20), (3**10, 12), (7**5, 12), (251**2, 12), (65521, 20),
     (2**26 - 5, 20), (2**26 + 15, 20), (2**31 - 1, 20)],
)  # fmt: skip
def test_wide_flags_are_first_fit(q: int, dim: int) -> None:
    F = Family(q)
    rng = np.random.default_rng(dim)
    for name, rows in shapes(q, dim, 5 * dim + 11, rng).items():
        X = F.rows(dim, rows)
        state = finite.new(F.ar, dim)
        cut = len(X) // 3
        finite.insert(state, X[:cut], None)
        finite.insert(state, X[cut:], None)
        basis, counts = finite.dump(state)
        expected = first_fit(F, X)
        assert counts[0] == len(expected), name
        for j, V in enumerate(expected, start=1):
            ours, _ = finite.rref(F.ar, basis[counts >= j])
            theirs, _ = finite.rref(F.ar, V)
            assert np.array_equal(ours, theirs), (name, j)


@pytest.mark.parametrize("q", [7, 9])
def test_weighted_and_repeated_inserts_agree_at_width(q: int) -> None:
    F, dim = Family(q), 24
    rng = np.random.default_rng(q)
    for name, rows in shapes(q, dim, 60, rng).items():
        X = F.rows(dim, rows)
        weights = rng.choice([0, 1, 1, 2, 9, 40], len(X))
        at_once = F.flag(dim, X, weights)
        one_by_one = F.flag(dim, np.repeat(X, weights, axis=0))
        (B, b), (C, c) = finite.dump(at_once), finite.dump(one_by_one)
        assert b.tolist() == c.tolist(), name
        for j in np.unique(c):
            ours, _ = finite.rref(F.ar, B[b >= j])
            theirs, _ = finite.rref(F.ar, C[c >= j])
            assert np.array_equal(ours, theirs), name


def test_state_is_quadratic_in_the_dimension_and_independent_of_the_rows() -> None:
    F = Family(7)
    state = finite.new(F.ar, 50, F.dtype)
    before = finite.nbytes(state)
    finite.insert(state, np.random.default_rng(0).integers(0, 7, (1000, 50), np.uint8), None)
    assert finite.nbytes(state) == before
    assert before < 3 * 50 * 64
