"""Data: fresh pairs of the asked size, disjoint parts, and an identity that knows everything."""

import functools

import numpy as np
import pandas as pd
import polars as pl
import pytest

from flagstone.algebra import pack
from flagstone.audit.data import (
    DividedTable,
    Sampler,
    array_hash,
    as_data,
    identified,
)
from flagstone.distributions import geometric, planted_parity, uniform
from flagstone.errors import InputError


def stream(seed=1):
    return np.random.RandomState(seed)


def bits(m, rng):
    return rng.randint(0, 2, (m, 3))


def other_bits(m, rng):
    return 1 - rng.randint(0, 2, (m, 3))


def test_a_distribution_gives_two_samples_and_held_out_rows_once_they_are_asked_for():
    data, rng = Sampler(uniform(20), 9), stream()
    a, b, fresh = data.pair(stream())
    assert np.array_equal(a.X, uniform(20).sample(9, rng))
    assert np.array_equal(b.X, uniform(20).sample(9, rng))
    assert len(fresh.X) == 0
    assert a.y is None
    assert len(data.hold_out(stream()).X) == 200
    again, _, fresh = data.pair(stream())
    assert np.array_equal(again.X, a.X)
    assert fresh.X.shape == (200, 20)
    assert repr(data) == "9 fresh rows of uniform(dim=20, field=GF(2))"
    assert not data.caution
    assert not data.anonymous


def test_labels_of_a_distribution_are_split_off():
    law = planted_parity([1, 1, 0], corruption=0.2)
    X, y = law.sample_xy(50, 1)
    first = Sampler(law, 50).pair(stream())[0]
    assert np.array_equal(first.X, X)
    assert np.array_equal(first.y, y)


def test_a_function_gives_rows_or_rows_with_labels():
    a, _, _ = Sampler(bits, 7).pair(stream())
    assert np.array_equal(a.X, bits(7, stream()))
    assert a.y is None
    a, _, _ = Sampler(lambda m, rng: (bits(m, rng), np.arange(m)), 7).pair(stream())
    assert a.y.tolist() == list(range(7))
    packed, _, _ = Sampler(lambda m, rng: pack(bits(m, rng)), 7).pair(stream())
    assert packed.X.tolist() == bits(7, stream()).tolist()
    assert repr(Sampler(bits, 7, "mine")) == "7 fresh rows of mine"


@pytest.mark.parametrize(
    ("drawn", "words"),
    [
        (lambda m, rng: np.zeros(m), r"6 rows in two dimensions, got X of shape \(6,\)"),
        (lambda m, rng: np.zeros((m, 2, 1)), r"two dimensions, got X of shape \(6, 2, 1\)"),
        (lambda m, rng: np.zeros((m - 1, 2)), r"must return 6 rows .* \(5, 2\)"),
        (lambda m, rng: pack(np.zeros((m + 1, 2), dtype=int)), r"must return 6 rows .* \(7, 2\)"),
        (lambda m, rng: (np.zeros((m, 2)), np.zeros(5)), r"6 rows, y of shape \(5,\)"),
        (lambda m, rng: (np.zeros((m, 2)), np.zeros((m, 1))), r"6 rows, y of shape \(6, 1\)"),
    ],
)
def test_functions_that_give_something_else_are_refused(drawn, words):
    with pytest.raises(InputError, match=words):
        Sampler(drawn, 6, "bad").pair(stream())


@pytest.mark.parametrize("m", [0, -1, True, 2.0, "3"])
def test_samples_have_at_least_one_row(m):
    assert Sampler(bits, np.int64(1)).m == 1
    with pytest.raises(InputError, match="must be a positive integer"):
        Sampler(bits, m)
    with pytest.raises(InputError, match="needs the number of rows"):
        Sampler(bits, None)


@pytest.mark.parametrize("n", [2, 3, 4, 10, 11, 57, 5000])
def test_the_parts_of_a_table_share_no_row_and_keep_their_labels(n):
    X = np.arange(2 * n).reshape(n, 2)
    data = DividedTable(X, np.arange(n))
    half = data.pair(stream())[0]
    assert len(half.X) == n // 2  # nothing is held out before it is asked for
    fixed = data.hold_out(stream())
    held = min(200, max(n // 10, int(n >= 4)))
    assert len(fixed.X) == held
    for seed in range(3):
        a, b, fresh = data.pair(stream(seed))
        assert len(a.X) == len(b.X) == (n - 2 * held) // 2 >= 1
        assert len(fresh.X) == held
        rows = [*a.y, *b.y, *fresh.y, *fixed.y]
        assert len(set(rows)) == len(rows)
        for part in (a, b, fresh):
            assert part.X.tolist() == X[part.y].tolist()
    assert "INDICATIVE" in data.caution
    size = (n - 2 * held) // 2
    each = "1 row each" if size == 1 else f"{size:,} rows each"
    assert f"({each}) of a table of {n:,} rows" in repr(data)


def test_groups_are_never_divided():
    groups = np.repeat(np.arange(40), stream().randint(1, 9, 40))
    y = np.arange(len(groups))
    for bootstrap in (False, True):
        data = DividedTable(y.reshape(-1, 1), y, groups=groups, bootstrap=bootstrap)
        fixed = set(groups[data.hold_out(stream()).y])
        for seed in range(20):
            a, b, fresh = (set(groups[part.y]) for part in data.pair(stream(seed)))
            assert not fixed & (a | b | fresh)
            assert not fresh & (a | b)
            assert bootstrap or not a & b
            assert a
            assert b
            assert fresh
    few = DividedTable(np.eye(4), groups=[0, 1, 2, 3])
    few.hold_out(stream())
    assert [len(part.X) for part in few.pair(stream())] == [1, 1, 1]


def test_bootstrap_samples_are_as_long_as_the_rest_and_say_so():
    data = DividedTable(np.arange(100).reshape(-1, 1), bootstrap=True)
    fixed = set(data.hold_out(stream()).X.ravel())
    a, b, fresh = (part.X.ravel() for part in data.pair(stream()))
    assert len(a) == len(b) == 80
    assert len(set(a)) < 80
    assert set(a) & set(b)
    assert not (set(a) | set(b)) & (fixed | set(fresh))
    assert data.caution.startswith("BOOTSTRAP")
    assert repr(data) == "bootstrap samples of a table of 100 rows"


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_frames_stay_frames(library):
    frame = library({"a": range(30), "b": ["x", "y"] * 15})
    data = DividedTable(frame, np.arange(30))
    first = data.pair(stream())[0]
    assert type(first.X) is type(frame)
    assert list(first.X.columns) == ["a", "b"]
    assert list(first.X["a"]) == first.y.tolist()


def test_packed_rows_are_unpacked():
    X = bits(8, stream())
    plain, packed = DividedTable(X).pair(stream()), DividedTable(pack(X)).pair(stream())
    assert np.array_equal(plain[0].X, packed[0].X)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: DividedTable([[1, 0]]), r"at least 2 rows, got shape \(1, 2\)"),
        (lambda: DividedTable([1, 0, 1]), r"two dimensions .* got shape \(3,\)"),
        (lambda: DividedTable(np.zeros((2, 2, 2))), r"two dimensions .* got shape \(2, 2, 2\)"),
        (
            lambda: DividedTable([[1, 0], [0, 1]], [1]),
            r"one label per row: 2 rows, y of shape \(1,\)",
        ),
        (lambda: DividedTable(np.eye(2), np.eye(2)), r"2 rows, y of shape \(2, 2\)"),
        (
            lambda: DividedTable(np.eye(9), groups=[1, 2, 3] * 3),
            "at least 4 of them: 9 rows.* 3 groups",
        ),
        (lambda: DividedTable(np.eye(9), groups=range(8)), "one group per row"),
        (lambda: as_data(np.eye(4), m=2), "m belongs to distributions"),
        (lambda: as_data(bits, [1], m=2), "belong to a table"),
        (lambda: as_data(bits, m=2, bootstrap=True), "belong to a table"),
        (lambda: as_data(uniform(3)), "needs the number of rows"),
        (lambda: as_data(lambda m: bits(m), m=2), r"sampler\(m, rng\), which <lambda> does not"),
    ],
)
def test_data_that_make_no_sense_are_refused(call, words):
    with pytest.raises(InputError, match=words):
        call()


def test_a_pair_is_a_table_with_labels():
    X, y = np.eye(4), [0, 1, 0, 1]
    assert as_data((X, y)).canonical() == as_data(X, y).canonical()


def test_canonical_forms_tell_data_apart():
    X = np.eye(4, dtype=np.int64)
    every = [
        Sampler(uniform(3), 5),
        Sampler(uniform(3), 6),
        Sampler(geometric(4), 5),
        Sampler(bits, 5),
        Sampler(bits, 6),
        Sampler(other_bits, 5),
        Sampler(bits, 5, "bits"),
        DividedTable(X),
        DividedTable(X, bootstrap=True),
        DividedTable(X, groups=range(4)),
        DividedTable(X, np.arange(4)),
        DividedTable(X, np.arange(4)[::-1]),
        DividedTable(X[::-1]),
        DividedTable(X.reshape(8, 2)),
        DividedTable(X.astype(np.int32)),
        DividedTable(X.astype(object)),
        DividedTable(pd.DataFrame(X)),
        DividedTable(pd.DataFrame(X, columns=list("abcd"))),
    ]
    assert len({repr(data.canonical()) for data in every}) == len(every)
    assert Sampler(bits, 5).canonical() == Sampler(bits, np.int64(5)).canonical()


def test_labels_may_be_a_column():
    assert DividedTable(np.eye(2), [[1], [0]]).y.tolist() == [1, 0]


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

    assert identified(bits, None)[0].startswith(f"{__name__}.bits#")
    assert identified(bits, None) != identified(other_bits, None)
    lambda_ = lambda m, rng: 0  # noqa: E731
    for function in (lambda_, made(3), Callable(), functools.partial(bits, 3), len, print):
        assert identified(function, None)[1]
    assert Sampler(lambda_, 3).anonymous
    assert Sampler(lambda_, 3).name == "<lambda>"
    assert identified(Callable(), None) == ("Callable", True)
    assert not Sampler(bits, 3).anonymous
    assert not Sampler(lambda_, 3, "zero").anonymous


def test_the_name_of_a_column_in_place_of_the_column():
    X = np.zeros((40, 2), dtype=int)
    with pytest.raises(InputError, match=r"one label per row.*: table\['late'\]$"):
        as_data(X, "late")
    with pytest.raises(InputError, match=r"one group per row.*: table\['client'\]$"):
        as_data(X, X[:, 0], groups="client")
