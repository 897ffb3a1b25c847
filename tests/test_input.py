"""Bad input: a clear error that points at the entry, and nothing changed."""

import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagstone.algebra import BitRows, pack
from flagstone.algebra.flag import Flag, merge_flags
from flagstone.algebra.partition import stable_partition
from flagstone.algebra.subspace import Subspace
from flagstone.errors import FormatError, InputError, MissingDependencyError
from tests.strategies import samples

NAN, INF = float("nan"), float("inf")

#: rows over GF(2) / GF(5) / QQ, what the message must name
BAD_TABLES = [
    ([[0, 1], [1, 2]], 2, ["row 1", "column 1", "2", "GF(2)", "0 or 1"]),
    ([[0, -1], [1, 0]], 2, ["row 0", "column 1", "-1", "GF(2)"]),
    ([[0, 1], [1, 5]], 5, ["row 1", "column 1", "5", "GF(5)", "0..4"]),
    ([[0, 1], [-1, 5]], 5, ["row 1", "column 0", "-1", "GF(5)"]),
    ([[0, 2**31], [1, 0]], 2**31 - 1, ["row 0", "column 1", str(2**31)]),
    ([[0, 2**64], [1, 0]], 2, ["row 0", "column 1", str(2**64)]),
    ([[0, 2**70], [1, 0]], 5, ["row 0", "column 1", str(2**70)]),
    ([[0.0, NAN]], 2, ["row 0", "column 1", "nan", "drop the row"]),
    ([[0.0, 1.0], [INF, 0.0]], 5, ["row 1", "column 0", "inf"]),
    (np.array([[0, NAN]], dtype=object), 2, ["row 0", "column 1", "is nan", "drop the row"]),
    (np.array([[0, 1], [INF, 0]], dtype=object), 5, ["row 1", "column 0", "is inf", "drop"]),
    (np.array([[0, 1], [1, -INF]], dtype=object), 2, ["row 1", "column 1", "is -inf", "drop"]),
    ([[0, 1], [np.float32("nan"), None]], 5, ["row 1", "column 0", "is nan", "drop the row"]),
    ([[0, 1], [0.5, 0]], 2, ["row 1", "column 0", "0.5", "whole"]),
    (np.array([[0, 1], [1, 0.5]], dtype=object), 2, ["row 1", "column 1", "is 0.5", "not a whole"]),
    ([[0, 1], [Fraction(1, 2), 0]], 5, ["row 1", "column 0", "whole"]),
    ([[0, None]], 2, ["row 0", "column 1", "missing"]),
    ([[0, "x"]], 2, ["row 0", "column 1", "'x'"]),
    ([["0", "1"]], 5, ["row 0", "column 0", "'0'"]),
    ([[0, object()]], 5, ["row 0", "column 1", "object"]),
    ([[0, b"1"]], 5, ["row 0", "column 1", "of type bytes", "encode it first"]),
    (np.array([["0", "1"]]), 5, ["row 0", "column 0", "is '0', of type <U1", "encode it first"]),
    ([[0, [1]]], 2, ["X"]),
    ([[0, 1], [1]], 2, ["row 1", "1 entries", "row 0 has 2"]),
    ([[0, 1], 7], 2, ["row 1", "7"]),
    ([[0, 1j]], 2, ["complex"]),
    ([[0, 1, 1]], 2, ["3 column", "2 are expected"]),
    ([[0]], 5, ["1 column", "2 are expected"]),
    (["01", "10"], 2, ["got 1 dimension(s); for a single row write [X]"]),
    ([[0, 1], "10"], 2, ["row 1 must be a sequence of entries, got '10'"]),
    ([[0, 1], b"10"], 2, ["row 1 must be a sequence of entries, got b'10'"]),
    ([0, 1], 2, ["2 dimensions", "got 1", "row write [X], for a single column X.reshape(-1, 1)"]),
    ([[[0, 1]]], 2, ["2 dimensions"]),
    ([[["a", "b"]]], 2, ["2 dimensions", "got 3"]),
    (7, 2, ["must be a table of rows, got 7"]),
    (2.5, 2, ["must be a table of rows, got 2.5"]),
    ("0 1", 2, ["must be a table of rows, got '0 1'"]),
    (b"0 1", 2, ["must be a table of rows, got b'0 1'"]),
    (np.array(7), 2, ["2 dimensions", "got 0"]),
    (None, 2, ["X"]),
    ({"a": 1}, 2, ["X"]),
    (np.zeros((3, 0)), 2, ["0 columns"]),
    ([[0, 0.5]], "QQ", ["row 0", "column 1", "0.5", "3/4"]),
    ([[0, NAN]], "QQ", ["row 0", "column 1", "nan"]),
    ([[0, "1/0"]], "QQ", ["row 0", "column 1", "1/0"]),
    ([["a", "1/2"]], "QQ", ["row 0", "column 0", "'a'", "3/4"]),
    ([[0, None]], "QQ", ["row 0", "column 1", "None"]),
    (np.array([["2020-01-01", "2020-01-02"]], dtype="datetime64[D]"), 2, ["row 0", "column 0"]),
    (np.ma.masked_array([[0, 1]], mask=[[False, True]]), 2, ["row 0", "column 1", "missing"]),
    (np.array([[0, 2**63 + 1]], dtype=np.uint64), 2, ["row 0", "column 1", str(2**63 + 1)]),
    (np.array([[0, 300]], dtype=np.int16), 251, ["row 0", "column 1", "300"]),
    (np.array([[0, 1e300]]), 251, ["row 0", "column 1"]),
]  # fmt: skip


@pytest.mark.parametrize(("X", "order", "named"), BAD_TABLES)
def test_bad_tables_are_refused_by_everything_that_takes_rows(X, order, named):
    flag = Flag(2, order).update([[1, 1], [0, 1]])
    before = flag.to_bytes()
    with pytest.raises(InputError) as caught:
        flag.update(X)
    for part in named:
        assert part in str(caught.value)
    assert flag.to_bytes() == before
    with pytest.raises(InputError):
        Subspace.span(X, order, dim=2)
    with pytest.raises(InputError):
        Subspace.full(2, order).contains(X)


def test_only_a_single_row_or_column_is_told_what_to_write():
    for X, is_one in [([0, 1], True), ([[[0, 1]]], False), (np.array(7), False)]:
        with pytest.raises(InputError, match="2 dimensions") as caught:
            Flag(2).update(X)
        assert ("for a single row write" in str(caught.value)) == is_one


def test_a_table_without_rows_must_say_its_width():
    with pytest.raises(InputError, match="X has no rows; say how many columns it has with dim=…"):
        Subspace.span([])
    assert Subspace.span([], dim=3).ambient_dim == 3


@pytest.mark.parametrize(
    ("weights", "named"),
    [
        ([1, -1, 1], ["row 1", "-1", "≥ 0"]),
        ([1, 1.5, 1], ["row 1", "1.5", "whole"]),
        ([1, NAN, 1], ["row 1", "nan"]),
        ([1, INF, 1], ["row 1", "inf"]),
        ([1, 1], ["shape (3,)", "(2,)"]),
        ([[1, 1, 1]], ["shape (3,)"]),
        (2, ["shape (3,)"]),
        (["1", "1", "1"], ["whole numbers"]),
        ([None, 1, 1], ["whole numbers"]),
        ([2**62, 2**62, 1], ["rows"]),
        ([2**70, 1, 1], ["weight"]),
        ([1, [1], 1], ["weights"]),
        (np.array([1, 2**63, 1], dtype=np.uint64), ["row 1"]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("make", [Flag, lambda dim: Flag(dim, 5), lambda dim: Flag(dim, "QQ")])
def test_bad_weights_are_refused(make, weights, named):
    summary = make(2).update([[1, 1]])
    before = summary.to_bytes()
    with pytest.raises(InputError) as caught:
        summary.update([[1, 0], [0, 1], [1, 1]], weights=weights)
    for part in named:
        assert part in str(caught.value)
    assert summary.to_bytes() == before


@pytest.mark.parametrize("order", [2, 5, 8, 65521, "QQ"])
@given(data=st.data())
def test_update_is_all_or_nothing(order, data):
    """A bad last row, or a bad last weight, leaves no trace of the good rows before it."""
    sample = data.draw(samples(order, dim=2))
    flag = Flag(2, order).update(sample.X)
    before, n_rows = flag.to_bytes(), flag.n_rows
    rows = [*sample.X.tolist(), [1, "junk"]]
    with pytest.raises(InputError):
        flag.update(rows)
    with pytest.raises(InputError):
        flag.update([[1, 0], [0, 1]], weights=[1, -1])
    assert flag.to_bytes() == before
    assert flag.n_rows == n_rows
    assert flag.update([[1, 1]]) == Flag(2, order).update(sample.X).update([[1, 1]])


@pytest.mark.parametrize("dim", [0, -1, 1.5, True, None, "3", [3]])
def test_bad_dimensions_are_refused(dim):
    for make in (Flag, Subspace.zero, Subspace.full):
        with pytest.raises(InputError, match="dim"):
            make(dim)


@pytest.mark.parametrize("j", [0, -1, 1.5, None, "1", True])
def test_sets_are_numbered_from_one(j):
    flag = Flag(2).update([[1, 0]])
    for ask in (flag.span_at, flag.dim_at):
        with pytest.raises(InputError, match="numbered from 1"):
            ask(j)


def test_merging_a_mismatch_is_refused():
    flag = Flag(3).update([[1, 0, 1]])
    for other, named in [
        (Flag(4), r"GF\(2\)\^4"),
        (Flag(3, 3), r"GF\(3\)\^3"),
        (Flag(3, "QQ"), "QQ"),
    ]:
        with pytest.raises(InputError, match=named):
            flag.merge(other)
    with pytest.raises(TypeError, match="merges with a flag"):
        flag.merge(Subspace.full(3))
    with pytest.raises(InputError, match="no flags"):
        merge_flags([])


def test_counting_past_the_largest_integer_is_refused():
    for make in (Flag,):
        summary = make(1).update([[1]], weights=[2**62]).update([[1]], weights=[2**62 - 1])
        assert summary.n_rows == 2**63 - 1
        before = summary.to_bytes()
        with pytest.raises(InputError, match="rows"):
            summary.update([[1]])
        with pytest.raises(InputError, match="rows"):
            summary.merge(make(1).update([[1]]))
        assert summary.to_bytes() == before


def test_the_largest_weight_is_exact():
    """2^63 − 1 rows can be counted, 2^63 cannot: no float stands between them."""
    most = 2**63 - 1
    for weights in ([most], np.array([most]), np.array([most], dtype=np.uint64)):
        for make in (Flag,):
            assert make(1).update([[1]], weights=weights).n_rows == most
    unsigned = np.array([2**63], dtype=np.uint64)
    for bad in (unsigned, [2**63], [2**64], [2.0**63], np.array([np.inf], np.float16)):
        with pytest.raises(InputError, match=r"row 0 has weight.*below 2\^63"):
            Flag(1).update([[1]], weights=bad)
    below = np.nextafter(2.0**63, 0)
    assert Flag(1).update([[1]], weights=[below]).n_rows == int(below)


def test_no_rows_are_legal_everywhere():
    for X in ([], np.zeros((0, 2)), np.zeros((0, 2), dtype=object), np.zeros((0, 2), dtype="U1")):
        for order in (2, 5, 256, "QQ"):
            assert Flag(2, order).update(X) == Flag(2, order)
            assert Subspace.span(X, order, dim=2).dim == 0
    assert stable_partition(np.zeros((0, 3), dtype=int)) == []
    assert len(pack(np.zeros((0, 3), dtype=int))) == 0


def test_packed_words_are_validated():
    good = np.array([[5]], dtype=np.uint64)
    assert BitRows(good, 3).unpack().tolist() == [[1, 0, 1]]
    for words, dim in [
        (np.array([[8]], dtype=np.uint64), 3),
        (good, 0),
        (good, 65),
        (good, -1),
        (np.zeros((1, 2), dtype=np.uint64), 64),
        (good.astype(np.int64), 3),
        (good[0], 3),
    ]:
        with pytest.raises(InputError):
            BitRows(words, dim)
    with pytest.raises(InputError, match="3 column"):
        Flag(4).update(BitRows(good, 3))


def test_junk_never_gets_further_than_an_error():
    """Objects that misbehave while they are looked at raise; they do not crash or hang."""

    class Junk:
        def __array__(self, *args, **kwargs):
            raise ValueError("no array")

        def __len__(self):
            return sys.maxsize

        def __iter__(self):
            return iter(())

    for junk in (Junk(), [[Junk(), 1]], {1, 2}, lambda: 0, iter([[1, 0]]), [b"10"], [[True, "1"]]):
        flag = Flag(2)
        with pytest.raises((InputError, TypeError, ValueError)):
            flag.update(junk)
        assert flag == Flag(2)
    with pytest.raises(InputError, match="0 columns"):
        Flag(2).update(Junk())  # as it says itself: no rows


def test_an_interrupt_leaves_the_flag_as_it_was():
    """Also in the middle of an insert: the rows count all or not at all."""

    class Interrupted:
        """A state whose inserts are done, and then interrupted."""

        def __init__(self, state):
            self.state = state

        def copy(self):
            return Interrupted(self.state.copy())

        def insert(self, rows, weights):
            self.state.insert(rows, weights)
            if interrupts:
                raise KeyboardInterrupt

        def dump(self):
            return self.state.dump()

    interrupts, flag = False, Flag(3)
    flag._held = Interrupted(flag._held[0]), ()
    flag.update([[1, 0, 1]])
    before = flag.to_bytes()
    interrupts = True
    with pytest.raises(KeyboardInterrupt):
        flag.update([[1, 1, 1], [0, 1, 1]] * 10)
    assert flag.to_bytes() == before
    flag.update([[1, 1, 1], [0, 1, 1]])  # few rows wait until the flag is used
    with pytest.raises(KeyboardInterrupt):
        flag.to_bytes()
    interrupts = False
    assert flag.to_bytes() == Flag(3).update([[1, 0, 1], [1, 1, 1], [0, 1, 1]]).to_bytes()


def test_sizes_that_no_memory_holds_are_refused():
    with pytest.raises(InputError, match="columns"):
        Flag(10**9)
    with pytest.raises(InputError, match="exponent"):
        Flag(1, "QQ").update([["1e1000000000"]])
    for data in (10**11, None, "abc", [1, 2]):
        with pytest.raises(FormatError, match="from bytes"):
            Flag.from_bytes(data)


@pytest.mark.parametrize("order", [2, 5])
def test_subspaces_cannot_be_written_to(order):
    V = Subspace.span([[1, 0, 1]], order)
    for array in (V.basis, V.rows if order == 5 else V.rows.words):
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 0


def test_rationals_need_their_package(monkeypatch):
    """Without python-flint the message says what to install."""
    import importlib.util

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingDependencyError, match=r"flagstone\[rationals\]"):
        Flag(2, "QQ")
