"""Sources: fresh pairs of the asked size, and an identity that changes with every ingredient."""

import functools

import numpy as np
import pytest

from flagstone.algebra.bitrows import pack
from flagstone.audit import FromFunction, FromLaw, FromTable, audit
from flagstone.audit.sources import array_hash, callable_identity, identified
from flagstone.distributions import geometric, planted_parity, uniform
from flagstone.errors import InputError


def streams(*seeds):
    return tuple(np.random.RandomState(seed) for seed in seeds)


def bits(m, rng):
    return rng.randint(0, 2, (m, 3))


def other_bits(m, rng):
    return 1 - rng.randint(0, 2, (m, 3))


def test_a_law_gives_two_samples_from_two_streams():
    source = FromLaw(uniform(20), 9)
    a, b = source.pair(*streams(1, 2))
    assert np.array_equal(a.X, uniform(20).sample(9, 1))
    assert np.array_equal(b.X, uniform(20).sample(9, 2))
    assert (a.y, a.weights, b.y, b.weights) == (None,) * 4
    assert repr(source) == "9 fresh rows of uniform(dim=20, field=GF(2))"
    assert not source.indicative
    assert not source.anonymous


def test_labels_are_split_off_and_weights_kept():
    law = planted_parity([1, 1, 0], corruption=0.2)
    a, b = FromLaw(law, 50).pair(*streams(1, 2))
    for sample, seed in ((a, 1), (b, 2)):
        X, y = law.sample_xy(50, seed)
        assert np.array_equal(sample.X, X)
        assert np.array_equal(sample.y, y)
        assert sample.weights is None
    a, b = FromLaw(law, 50, weighted=True).pair(*streams(1, 2))
    for sample, seed in ((a, 1), (b, 2)):
        rows, weights = law.sample_weighted(50, seed)
        for mine, drawn in zip(sample, (rows[:, :-1], rows[:, -1], weights), strict=True):
            assert np.array_equal(mine, drawn)
    a, _ = FromLaw(geometric(4), 50, weighted=True).pair(*streams(1, 2))
    assert a.y is None
    assert a.weights.sum() == 50
    assert a.X.shape[1] == 4


def test_a_function_gives_rows_or_rows_with_labels():
    a, b = FromFunction(bits, 7).pair(*streams(1, 2))
    assert np.array_equal(a.X, bits(7, streams(1)[0]))
    assert np.array_equal(b.X, bits(7, streams(2)[0]))
    assert (a.y, a.weights) == (None, None)
    labelled = FromFunction(lambda m, rng: (bits(m, rng), np.arange(m)), 7, name="n")
    a, _ = labelled.pair(*streams(1, 2))
    assert a.X.shape == (7, 3)
    assert a.y.tolist() == list(range(7))
    packed, _ = FromFunction(lambda m, rng: pack(bits(m, rng)), 7, name="n").pair(*streams(1, 2))
    assert packed.X.unpack().tolist() == bits(7, streams(1)[0]).tolist()
    triple = FromFunction(lambda m, rng: tuple([0, 1] for _ in range(m)), 3, name="n")
    assert np.shape(triple.pair(*streams(1, 2))[0].X) == (3, 2)
    assert repr(FromFunction(bits, 7, name="mine")) == "7 fresh rows of mine"


@pytest.mark.parametrize(
    ("drawn", "words"),
    [
        (
            lambda m, rng: np.zeros(m),
            r"6 rows in two dimensions, got X of shape \(6,\)",
        ),
        (lambda m, rng: np.zeros((m, 2, 1)), r"two dimensions, got X of shape \(6, 2, 1\)"),
        (lambda m, rng: np.zeros((m - 1, 2)), r"must return 6 rows .* \(5, 2\)"),
        (lambda m, rng: pack(np.zeros((m + 1, 2), dtype=int)), r"must return 6 rows .* \(7, 2\)"),
        (lambda m, rng: (np.zeros((m, 2)), np.zeros(5)), r"6 rows, y of shape \(5,\)"),
        (lambda m, rng: (np.zeros((m, 2)), np.zeros((m, 1))), r"6 rows, y of shape \(6, 1\)"),
    ],
)
def test_functions_that_give_something_else_are_refused(drawn, words):
    with pytest.raises(InputError, match=words):
        FromFunction(drawn, 6, name="bad").pair(*streams(1, 2))


@pytest.mark.parametrize("m", [0, -1, True, 2.0, None, "3"])
def test_samples_have_at_least_one_row(m):
    for make in (lambda m: FromLaw(uniform(2), m), lambda m: FromFunction(bits, m)):
        assert make(1).m == make(np.int64(1)).m == 1
        with pytest.raises(InputError, match="must be a positive integer"):
            make(m)


@pytest.mark.parametrize("n", [2, 3, 10, 11])
def test_halves_share_no_row_and_keep_their_labels(n):
    X = np.arange(2 * n).reshape(n, 2)
    source = FromTable(X, np.arange(n))
    a, b = source.pair(*streams(1, 2))
    assert len(a.X) == len(b.X) == len(a.y) == len(b.y) == n // 2 == source.m
    assert not set(a.y) & set(b.y)
    for half in (a, b):
        assert half.X.tolist() == X[half.y].tolist()
    again = source.pair(*streams(1, 3))[0]
    assert np.array_equal(again.y, a.y)
    bare, _ = FromTable(X).pair(*streams(1, 2))
    assert bare.y is None
    assert np.array_equal(bare.X, a.X)
    assert source.indicative
    assert repr(source) == f"disjoint halves ({n // 2} rows each) of a table of {n} rows"


def test_halves_of_packed_rows_are_plain_rows():
    X = bits(8, streams(1)[0])
    plain, packed = FromTable(X), FromTable(pack(X))
    for a, b in zip(plain.pair(*streams(1, 2)), packed.pair(*streams(1, 2)), strict=True):
        assert np.array_equal(a.X, b.X)


@pytest.mark.parametrize(
    ("X", "y", "words"),
    [
        ([[1, 0]], None, r"at least 2 rows, got shape \(1, 2\)"),
        ([1, 0, 1], None, r"two dimensions .* got shape \(3,\)"),
        (np.zeros((2, 2, 2)), None, r"two dimensions .* got shape \(2, 2, 2\)"),
        ([[1, 0], [0, 1]], [1], r"one label per row: 2 rows, y of shape \(1,\)"),
        ([[1, 0], [0, 1]], [[1], [0]], r"one label per row: 2 rows, y of shape \(2, 1\)"),
    ],
)
def test_tables_that_cannot_be_halved_are_refused(X, y, words):
    with pytest.raises(InputError, match=words):
        FromTable(X, y)


def test_canonical_forms_tell_sources_apart():
    X = np.eye(4, dtype=np.int64)
    sources = [
        FromLaw(uniform(3), 5),
        FromLaw(uniform(3), 6),
        FromLaw(uniform(4), 5),
        FromLaw(uniform(3), 5, weighted=True),
        FromFunction(bits, 5),
        FromFunction(bits, 6),
        FromFunction(other_bits, 5),
        FromFunction(bits, 5, name="bits"),
        FromTable(X),
        FromTable(X, np.arange(4)),
        FromTable(X, np.arange(4)[::-1]),
        FromTable(X[::-1]),
        FromTable(X.reshape(8, 2)),
        FromTable(X.astype(np.int32)),
        FromTable(X.astype(object)),
        FromTable((2 * X).astype(object)),
    ]
    assert len({repr(source.canonical()) for source in sources}) == len(sources)
    assert FromLaw(uniform(3), 5).canonical() == FromLaw(uniform(3), np.int64(5)).canonical()


def test_a_hash_sees_values_not_memory():
    X = np.arange(6).reshape(2, 3)
    assert array_hash(X) == array_hash(np.asfortranarray(X)) == array_hash(np.tile(X, 2)[:, :3])
    assert array_hash(None) is None


def test_only_plain_functions_are_known_by_their_source():
    def made(m):
        return lambda rng: m

    class Callable:
        def __call__(self, m, rng):
            return bits(m, rng)

    assert callable_identity(bits).startswith(f"{__name__}.bits#")
    assert callable_identity(bits) != callable_identity(other_bits)
    lambda_ = lambda m, rng: 0  # noqa: E731
    for function in (lambda_, made(3), Callable(), functools.partial(bits, 3), len, print):
        assert callable_identity(function) is None
    assert FromFunction(lambda_, 3).anonymous
    assert FromFunction(lambda_, 3).name == "<lambda> (unnamed)"
    assert identified(Callable(), None) == ("Callable (unnamed)", True)
    assert not FromFunction(bits, 3).anonymous
    assert not FromFunction(lambda_, 3, name="zero").anonymous


def test_what_is_no_source_is_refused():
    with pytest.raises(InputError, match="law must be a Distribution, got function"):
        FromLaw(bits, 3)
    with pytest.raises(InputError, match=r"callable as sampler\(m, rng\), got 3"):
        FromFunction(3, 3)


def test_labels_belong_to_the_table():
    X = np.random.RandomState(1).randint(0, 2, size=(40, 3))
    with pytest.raises(InputError, match=r"give \(X, y\) as the source"):
        audit("parity", X, y=X[:, 0])
    with pytest.raises(InputError, match=r"labels to the table: \(X, y\)"):
        audit("parity", X, X[:, 0])
