"""Linear algebra over GF(2) on packed rows against integers."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from tests.native.gf2 import KINDS, WIDTHS, Span, chain, integers, partition, sample
from tests.native.versions import VERSIONS, pack, unpack


def flag(version, words, dim):
    state = version.gf2.flag(dim)
    state.insert(words, None)
    return state.dump()


@pytest.mark.parametrize("kind", ["uniform", "lowrank", "skewed"])
@pytest.mark.parametrize("dim", WIDTHS)
def test_rref_spans_the_rows_and_is_reduced(dim, kind):
    words = sample(kind, dim + dim // 2 + 3, dim, seed=1)
    before, expected = words.copy(), Span(integers(words)).basis()
    for version in VERSIONS.values():
        basis, pivots = version.gf2.rref(dim, words)
        assert np.array_equal(words, before)
        assert Span(integers(basis)).basis() == expected
        assert pivots.dtype == np.int64
        assert np.all(np.diff(pivots) > 0)
        plain = unpack(basis, dim)
        assert np.array_equal(plain[:, pivots], np.eye(len(pivots)))
        assert np.array_equal(plain.argmax(axis=1), pivots)


def test_rref_of_nothing():
    for version in VERSIONS.values():
        for dim, rows in product([1, 64, 129], [0, 4]):
            basis, pivots = version.gf2.rref(dim, np.zeros((rows, -(-dim // 64)), np.uint64))
            assert basis.shape == (0, -(-dim // 64))
            assert pivots.shape == (0,)


@pytest.mark.parametrize("dim", WIDTHS)
def test_reduce_cancels_the_pivots_by_the_basis(dim):
    words = sample("uniform", 1100, dim, seed=3)
    for version in VERSIONS.values():
        basis, pivots = version.gf2.rref(dim, sample("lowrank", dim, dim, seed=2))
        residual = version.gf2.reduce(words, basis, pivots)
        assert not unpack(residual, dim)[:, pivots].any()
        span = Span(integers(basis))
        assert not any(span.residual(vector) for vector in integers(words ^ residual))


@pytest.mark.parametrize("dim", WIDTHS)
def test_dot_is_the_product_mod_2(dim):
    words = sample("uniform", 50, dim, seed=4)
    for number in (0, 1, 7, 8, 65, 200):
        functionals = sample("uniform", number, dim, seed=5)
        expected = unpack(words, dim).astype(int) @ unpack(functionals, dim).T.astype(int) % 2
        for version in VERSIONS.values():
            result = version.gf2.dot(words, functionals)
            assert result.dtype == np.uint8
            assert np.array_equal(result, expected)


Basis = frozenset[int]


def intersection(a: Basis, b: Basis, dim: int) -> list[int]:
    """Zassenhaus: rows (x, x) and (y, 0); what keeps a zero left half is the intersection."""
    both = Span([*(x | x << dim for x in a), *b])
    return [v >> dim for v in both.rows.values() if v % 2**dim == 0]


def merged_by_definition(first: list[Basis], second: list[Basis], dim: int) -> list[Basis]:
    """M_k = Σ V_i ∩ W_j over i + j = k, with V_0 = W_0 = everything."""
    everything = frozenset(1 << i for i in range(dim))
    V, W = [everything, *first], [everything, *second]
    sums = []
    for k in range(1, len(first) + len(second) + 1):
        total = Span()
        for i in range(max(0, k - len(second)), min(k, len(first)) + 1):
            for vector in intersection(V[i], W[k - i], dim):
                total.add(vector)
        sums.append(total.basis())
    while sums and not sums[-1]:
        sums.pop()
    return sums


@pytest.mark.parametrize("kinds", [("uniform", "lowrank"), ("zipf", "ties"), ("skewed", "planted")])
@pytest.mark.parametrize("dim", [1, 2, 5, 9])
def test_merge_is_the_sum_of_intersections(dim, kinds):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        samples = [sample(kind, rng.integers(0, 14), dim, seed) for kind in kinds]
        expected = merged_by_definition(*map(partition, samples), dim)
        for version in VERSIONS.values():
            X, Y = (flag(version, words, dim) for words in samples)
            assert chain(*version.gf2.merge(dim, *X, *Y)) == expected


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dim", [64, 65, 128, 129])
def test_merge_commutes_and_keeps_the_total(dim, kind):
    samples = sample(kind, 200, dim, seed=8), sample("lowrank", 150, dim, seed=9)
    for version in VERSIONS.values():
        X, Y = (flag(version, words, dim) for words in samples)
        one, other = version.gf2.merge(dim, *X, *Y), version.gf2.merge(dim, *Y, *X)
        assert chain(*one) == chain(*other)
        assert one[1].sum() == X[1].sum() + Y[1].sum()


@pytest.mark.parametrize("inner", [1, 7, 63, 64, 65, 130, 512])
@pytest.mark.parametrize("dim", [1, 64, 128, 129, 500, 512, 700, 1100])
def test_reduction_is_the_matrix_product(inner, dim):
    """The last block of rows, word and vector of columns are not full."""
    for number in (0, 5, 40, 1025):
        rng = np.random.default_rng([inner, dim])
        names, rows = rng.integers(0, 2, (number, inner)), rng.integers(0, 2, (inner, dim))
        expected = names.astype(np.float32) @ rows.astype(np.float32) % 2  # exact: sums are small
        table = np.hstack([names, np.zeros((number, dim), int)])
        basis = np.hstack([np.zeros((inner, inner), int), rows])  # adds nothing to the names
        for version in VERSIONS.values():
            reduced = version.gf2.reduce(pack(table), pack(basis), np.arange(inner))
            assert np.array_equal(unpack(reduced, inner + dim), np.hstack([names, expected]))
