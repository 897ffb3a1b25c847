"""Linear algebra over GF(2): every version against the oracle, and against each other."""

import signal
import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagstone import _reference
from tests import naive
from tests.native.versions import (
    KINDS,
    NATIVE,
    VERSIONS,
    WIDTHS,
    all_versions,
    native_versions,
    pack,
    sample,
    unpack,
)


def same(first, second):
    """Assert that results have equal types, shapes and entries."""
    first, second = (x if isinstance(x, tuple) else (x,) for x in (first, second))
    for a, b in zip(first, second, strict=True):
        assert a.dtype == b.dtype
        assert a.flags.c_contiguous
        np.testing.assert_array_equal(a, b)


def counted(kind, n_rows, dim, seed):
    """Return independent rows, not in echelon form, with falling counts."""
    rng = np.random.default_rng(seed)
    rows = sample(kind, n_rows, dim, seed)
    chosen = _reference.gf2.rref(n_rows, pack(rows.T))[1]  # rows that depend on no earlier ones
    counts = np.sort(rng.integers(1, 9, len(chosen)))[::-1].astype(np.int64)
    return pack(rows[chosen]), counts


def chain(dim, rows, counts):
    """Return V_1, V_2, … of a counted basis, as the oracle has them."""
    space = naive.Reduced(2, dim)
    table = [tuple(row) for row in unpack(rows, dim).tolist()]
    return [
        space.span([row for row, c in zip(table, counts, strict=True) if c >= j])
        for j in range(1, 1 + max(counts, default=0))
    ]


@all_versions
@given(data=st.data())
def test_rref_is_that_of_the_oracle(version, data):
    dim = data.draw(st.integers(1, 80))
    bits = sample(data.draw(st.sampled_from(KINDS)), data.draw(st.integers(0, 90)), dim, dim)
    form, pivots = version.gf2.rref(dim, pack(bits))
    assert list(map(tuple, unpack(form, dim).tolist())) == list(naive.rref_of_bits(bits.tolist()))
    assert pivots.tolist() == [row.index(1) for row in unpack(form, dim).tolist()]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dim", WIDTHS)
def test_rref_is_that_of_the_reference(dim, kind):
    for n_rows in (0, 1, 65, dim + 3):
        words = pack(sample(kind, n_rows, dim, 1))
        before, expected = words.copy(), _reference.gf2.rref(dim, words)
        for version in NATIVE.values():
            same(version.gf2.rref(dim, words), expected)
            same(words, before)


@native_versions
def test_rref_of_a_tall_matrix_finds_late_rows(version):
    words = np.zeros((200_000, 2), np.uint64)
    words[:, 0] = np.arange(200_000) % 8
    words[150_000:150_002, 1] = 1, 3
    form, pivots = version.gf2.rref(100, words)
    assert pivots.tolist() == [0, 1, 2, 64, 65]
    assert form.tolist() == [[1, 0], [2, 0], [4, 0], [0, 1], [0, 2]]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dim", WIDTHS)
def test_reduce_is_that_of_the_reference(dim, kind):
    basis, pivots = _reference.gf2.rref(dim, pack(sample(kind, 1 + dim // 2, dim, 2)))
    for n_rows in (0, 1, 30, 300):
        words = pack(sample("uniform", n_rows, dim, 3))
        expected = _reference.gf2.reduce(words, basis, pivots)
        assert not unpack(expected, dim)[:, pivots].any()
        for version in NATIVE.values():
            same(version.gf2.reduce(words, basis, pivots), expected)


@all_versions
def test_reduce_needs_no_leading_pivots(version):
    """Only the unit columns matter, in any order."""
    basis = np.array([[0b0110, 0, 0], [0b1001, 0, 1]], np.uint64)
    rows = np.array([[0b1100, 0, 0], [0b1000, 5, 0]], np.uint64)
    residual = version.gf2.reduce(rows, basis, np.array([2, 3]))
    assert residual.tolist() == [[0b0011, 0, 1], [0b0001, 5, 1]]
    same(version.gf2.reduce(rows, basis[::-1].copy(), np.array([3, 2])), residual)


@pytest.mark.parametrize("dim", WIDTHS)
def test_dot_is_the_product_mod_2(dim):
    for n_rows, number in [(0, 3), (5, 0), (50, 1), (50, 7), (50, 8), (300, 65), (20, 200)]:
        rows = sample("uniform", n_rows, dim, 4)
        functionals = sample("uniform", number, dim, 5)
        expected = rows.astype(int) @ functionals.T.astype(int) % 2
        for version in VERSIONS.values():
            same(version.gf2.dot(pack(rows), pack(functionals)), expected.astype(np.uint8))


@all_versions
@given(data=st.data())
def test_merge_is_the_sum_of_intersections(version, data):
    dim = data.draw(st.integers(1, 6))
    kinds = st.sampled_from(("uniform", "sparse", "lowrank"))
    X, Y = (counted(data.draw(kinds), data.draw(st.integers(0, 9)), dim, seed) for seed in (1, 2))
    merged = chain(dim, *version.gf2.merge(dim, *X, *Y))
    assert merged == naive.merge(naive.Reduced(2, dim), chain(dim, *X), chain(dim, *Y))


@pytest.mark.parametrize("kinds", [("uniform", "lowrank"), ("sparse", "uniform")])
@pytest.mark.parametrize("dim", [1, 2, 20, 63, 64, 65, 128, 129, 150])
def test_merge_is_that_of_the_reference(dim, kinds):
    X, Y = (counted(kind, 3 * dim // 4, dim, seed) for seed, kind in enumerate(kinds))
    for first, second in [(X, Y), (Y, X), (X, X)]:
        expected = _reference.gf2.merge(dim, *first, *second)
        for version in NATIVE.values():
            same(version.gf2.merge(dim, *first, *second), expected)
        assert expected[1].sum() == first[1].sum() + second[1].sum()


@all_versions
def test_bits_past_the_last_column_are_ignored(version):
    words = np.full((3, 2), 2**64 - 1, np.uint64)
    words[1] = 1, 4
    form, pivots = version.gf2.rref(66, words)
    assert form.tolist() == [[1, 0], [2**64 - 2, 3]]
    assert pivots.tolist() == [0, 1]
    counts = np.array([3, 2])
    for X, Y in [(words[:2], words[:0]), (words[:0], words[:2])]:
        rows, total = version.gf2.merge(66, X, counts[: len(X)], Y, counts[: len(Y)])
        assert rows.tolist() == [[2**64 - 1, 3], [1, 0]]
        assert total.tolist() == [3, 2]


W, C = np.uint64, np.int64
BAD = {
    "rref": [
        (2, np.zeros((3, 1), C)),
        (2, np.zeros(3, W)),
        (2, np.zeros((3, 2), W)[:, ::2]),
        (2, np.zeros((3, 2), W)),
        (65, np.zeros((3, 1), W)),
        (0, np.zeros((3, 0), W)),
        (-1, np.zeros((3, 1), W)),
        (2**62, np.zeros((0, 2**50), W)),
        (2**80, np.zeros((3, 1), W)),
        (2, [[1], [2]]),
        (2, None),
    ],
    "reduce": [
        (np.zeros((3, 1), W), np.zeros((1, 2), W), np.zeros(1, C)),
        (np.zeros((3, 1), W), np.zeros((1, 1), W), np.zeros(2, C)),
        (np.zeros((3, 1), W), np.zeros((1, 1), W), np.array([64])),
        (np.zeros((3, 1), W), np.zeros((1, 1), W), np.array([-1])),
        (np.zeros((3, 1), W), np.zeros((1, 1), W), np.zeros(1, np.int32)),
    ],
    "dot": [
        (np.zeros((3, 1), W), np.zeros((1, 2), W)),
        (np.zeros((3, 1), W), np.zeros((1, 1), np.uint8)),
        (np.zeros((2**33, 0), W), np.zeros((2**33, 0), W)),
    ],
    "merge": [
        (1, np.array([[1], [1]], W), np.array([2, 1]), np.zeros((0, 1), W), np.zeros(0, C)),
        (2, np.array([[1], [1]], W), np.array([2, 1]), np.zeros((0, 1), W), np.zeros(0, C)),
        (2, np.zeros((0, 1), W), np.zeros(0, C), np.array([[1], [1]], W), np.array([2, 1])),
        (2, np.zeros((1, 1), W), np.ones(1, C), np.zeros((0, 1), W), np.zeros(0, C)),
        (2, np.array([[1], [2]], W), np.array([1, 2]), np.zeros((0, 1), W), np.zeros(0, C)),
        (2, np.array([[1], [4]], W), np.array([2, 1]), np.zeros((0, 1), W), np.zeros(0, C)),
        (1, np.array([[2]], W), np.array([2]), np.zeros((0, 1), W), np.zeros(0, C)),
        (2, np.array([[1], [2]], W), np.array([2]), np.zeros((0, 1), W), np.zeros(0, C)),
        (2, np.zeros((0, 1), W), np.zeros(0, C), np.zeros((0, 2), W), np.zeros(0, C)),
    ],
}


@native_versions
@pytest.mark.parametrize("name", BAD)
def test_bad_arguments_are_refused(version, name):
    for arguments in BAD[name]:
        with pytest.raises((TypeError, ValueError, MemoryError)):
            getattr(version.gf2, name)(*arguments)


@native_versions
def test_long_calls_can_be_interrupted(version):
    words = np.random.default_rng(0).integers(0, 2**64, (2**14, 64), dtype=np.uint64)
    for call in [
        lambda: version.gf2.dot(words, words[: 2**12]),
        lambda: version.gf2.reduce(words, words[:1], np.array([2**12 - 1])),
    ]:
        start = time.perf_counter()
        call()
        full = time.perf_counter() - start
        main = threading.main_thread().ident
        for _ in range(50):
            timer = threading.Timer(full / 20, signal.pthread_kill, (main, signal.SIGINT))
            has_ended = False
            try:
                timer.start()
                call()
                has_ended = True  # on a busy machine, the signal may come late
                timer.join()
            except KeyboardInterrupt:
                if not has_ended:
                    break
        else:
            pytest.fail("no call was interrupted")


@native_versions
def test_arrays_that_are_not_aligned_are_refused(version):
    odd = np.frombuffer(bytes(25), np.uint8)[1:]
    rows, numbers = odd.view(W).reshape(3, 1), odd.view(C)
    calls = [
        lambda: version.gf2.rref(64, rows),
        lambda: version.gf2.reduce(np.zeros((3, 1), W), np.zeros((3, 1), W), numbers),
        lambda: version.gf2.flag(64).insert(np.ones((3, 1), W), numbers),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="aligned"):
            call()
