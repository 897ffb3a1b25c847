"""Linear algebra over GF(2) on packed rows against integers."""

from __future__ import annotations

import numpy as np
import pytest

from flagstone.kernels import bits, gf2_linalg
from tests.kernels.gf2 import KINDS, WIDTHS, Span, chain, integers, kernel, sample


def flag(words, dim):
    state = kernel(dim).new(dim, dim)
    kernel(dim).insert(state, words, None)
    return kernel(dim).dump(state)


@pytest.mark.parametrize("kind", ["uniform", "lowrank", "skewed"])
@pytest.mark.parametrize("dim", WIDTHS)
def test_rref_spans_the_rows_and_is_reduced(dim, kind):
    words = sample(kind, dim + dim // 2 + 3, dim, seed=1)
    before = words.copy()
    basis, pivots = gf2_linalg.rref(dim, words)
    assert np.array_equal(words, before)
    assert Span(integers(basis)) == Span(integers(words))
    assert pivots.dtype == np.int64
    assert np.all(np.diff(pivots) > 0)
    plain = bits.unpack(basis, dim)
    assert np.array_equal(plain[:, pivots], np.eye(len(pivots)))
    assert np.array_equal(plain.argmax(axis=1), pivots)


def test_rref_of_a_tall_matrix_finds_a_late_row():
    words = np.zeros((200_000, 2), np.uint64)
    words[:, 0] = np.arange(200_000) % 8
    words[150_000, 1] = 1
    _, pivots = gf2_linalg.rref(100, words)
    assert pivots.tolist() == [0, 1, 2, 64]


@pytest.mark.parametrize("dim", [1, 64, 129])
def test_rref_of_nothing(dim):
    for words in (np.zeros((0, -(-dim // 64)), np.uint64), np.zeros((4, -(-dim // 64)), np.uint64)):
        basis, pivots = gf2_linalg.rref(dim, words)
        assert basis.shape == (0, -(-dim // 64))
        assert pivots.shape == (0,)


@pytest.mark.parametrize("dim", WIDTHS)
def test_reduce_cancels_the_pivots_by_the_basis(dim):
    basis, pivots = gf2_linalg.rref(dim, sample("lowrank", dim, dim, seed=2))
    words = sample("uniform", 1100, dim, seed=3)
    residual = gf2_linalg.reduce(dim, words, basis, pivots)
    assert not bits.unpack(residual, dim)[:, pivots].any()
    span = Span(integers(basis))
    assert not any(span.residual(vector) for vector in integers(words ^ residual))


def test_reduce_needs_no_leading_pivots():
    """Only the unit columns matter, wherever they stand."""
    basis = np.array([[0b0110, 0, 0], [0b1001, 0, 1]], np.uint64)
    rows = np.array([[0b1100, 0, 0], [0b1000, 5, 0]], np.uint64)
    residual = gf2_linalg.reduce(140, rows, basis, np.array([2, 3]))
    assert residual.tolist() == [[0b0011, 0, 1], [0b0001, 5, 1]]


@pytest.mark.parametrize("number", [0, 1, 7, 8, 65, 200])
@pytest.mark.parametrize("dim", WIDTHS)
def test_dot_is_the_product_mod_2(dim, number):
    words = sample("uniform", 50, dim, seed=4)
    functionals = sample("uniform", number, dim, seed=5)
    product = bits.unpack(words, dim).astype(int) @ bits.unpack(functionals, dim).T.astype(int)
    result = gf2_linalg.dot(dim, words, functionals)
    assert result.dtype == np.uint8
    assert np.array_equal(result, product % 2)


def intersection(a: Span, b: Span, dim: int) -> list[int]:
    """Zassenhaus: rows (x, x) and (y, 0); what keeps a zero left half is the intersection."""
    both = Span([x | x << dim for x in a.rows.values()] + list(b.rows.values()))
    return [v >> dim for v in both.rows.values() if v % 2**dim == 0]


def merged_by_definition(first: list[Span], second: list[Span], dim: int) -> list[Span]:
    """M_k = Σ V_i ∩ W_j over i + j = k, with V_0 = W_0 = everything."""
    everything = Span([1 << i for i in range(dim)])
    V, W = [everything, *first], [everything, *second]
    sums = []
    for k in range(1, len(first) + len(second) + 1):
        total = Span()
        for i in range(max(0, k - len(second)), min(k, len(first)) + 1):
            for vector in intersection(V[i], W[k - i], dim):
                total.add(vector)
        sums.append(total)
    while sums and not sums[-1].rows:
        sums.pop()
    return sums


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kinds", [("uniform", "lowrank"), ("zipf", "ties"), ("skewed", "planted")])
@pytest.mark.parametrize("dim", [1, 2, 5, 9])
def test_merge_is_the_sum_of_intersections(dim, kinds, seed):
    rng = np.random.default_rng(seed)
    X, Y = (flag(sample(kind, rng.integers(0, 14), dim, seed), dim) for kind in kinds)
    expected = merged_by_definition(chain(*X), chain(*Y), dim)
    assert chain(*gf2_linalg.merge(dim, *X, *Y)) == expected


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dim", [64, 65, 128, 129])
def test_merge_commutes_and_keeps_the_total(dim, kind):
    X = flag(sample(kind, 200, dim, seed=8), dim)
    Y = flag(sample("lowrank", 150, dim, seed=9), dim)
    one, other = gf2_linalg.merge(dim, *X, *Y), gf2_linalg.merge(dim, *Y, *X)
    assert chain(*one) == chain(*other)
    assert one[1].sum() == X[1].sum() + Y[1].sum()
