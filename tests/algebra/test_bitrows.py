"""Packed rows: column i is bit i mod 64 of word i div 64."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagstone.algebra import BitRows, Flag, pack

dims = st.sampled_from([1, 2, 7, 8, 9, 31, 63, 64, 65, 127, 128, 129, 200])


@given(
    dim=dims,
    n_rows=st.integers(0, 9),
    seed=st.integers(0, 2**32 - 1),
    dtype=st.sampled_from([bool, np.uint8, np.int8, np.int32, np.int64, np.uint64, float, object]),
    layout=st.sampled_from("CF"),
)
def test_columns_are_bits(dim, n_rows, seed, dtype, layout):
    X = np.random.RandomState(seed).randint(0, 2, size=(n_rows, dim))
    rows = pack(X.astype(dtype, order=layout))
    assert rows.words.shape == (n_rows, -(-dim // 64))
    assert rows.words.dtype == np.uint64
    for i, row in enumerate(X.tolist()):
        number = sum(int(word) << 64 * w for w, word in enumerate(rows.words[i]))
        assert number == sum(bit << column for column, bit in enumerate(row))
    assert rows.unpack().tolist() == X.tolist()
    assert rows.unpack().dtype == np.uint8


@pytest.mark.parametrize("dim", [1, 63, 64, 65, 128, 130, 200])
def test_the_last_columns_are_cut_off(dim):
    X = np.random.default_rng(dim).integers(0, 2, (30, dim))
    for first in {0, 1, dim // 2, dim - 1, *range(62, min(dim, 67))} & {*range(dim)}:
        assert pack(X).columns_from(first) == pack(X[:, first:])
        assert pack(X).reaches(first).tolist() == X[:, first:].any(axis=1).tolist()
    nothing = pack(X).columns_from(dim)
    assert nothing.dim == 0
    assert nothing.words.tolist() == [[0]] * 30


def test_behaves_like_a_sequence_of_rows():
    X = np.random.RandomState(0).randint(0, 2, size=(10, 70))
    rows = pack(X)
    assert (len(rows), rows.dim, rows.shape) == (10, 70, (10, 70))
    for index in (slice(2, 5), slice(None, None, -1), [1, 7], np.array([1, 1, -3]), X[:, 0] == 1):
        assert rows[index] == pack(X[index])
    assert rows[3].tolist() == X[3].tolist()
    assert rows[-1].tolist() == X[-1].tolist()
    assert rows == pack(X)
    assert rows != pack(X[:, :69])
    assert rows != pack(1 - X)
    assert hash(rows) == hash(pack(X))
    assert pickle.loads(pickle.dumps(rows)) == rows


def test_is_immutable():
    rows = pack([[1, 0]])
    with pytest.raises(AttributeError):
        rows.dim = 3
    with pytest.raises(ValueError, match="read-only"):
        rows.words[0, 0] = 7


def test_words_of_a_file_are_taken_as_they_are():
    words = np.arange(6, dtype=np.uint64).reshape(3, 2)
    rows = BitRows(words, 128)
    assert np.shares_memory(rows.words, words)
    assert rows == pack(rows.unpack())


def test_words_that_are_not_aligned_are_copied():
    odd = np.frombuffer(bytes(range(25)), np.uint8)[1:].view(np.uint64).reshape(3, 1)
    assert Flag(64).update(BitRows(odd, 64)) == Flag(64).update(BitRows(odd.copy(), 64))
