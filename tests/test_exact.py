"""Long numbers: exact at any length, whatever Python's limit of digits is set to."""

import contextlib
import hashlib
import pickle
import random
import sys
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import feather

from flagstone.algebra.fields import GF, QQ, as_field
from flagstone.algebra.fields._tables import whole_numbers
from flagstone.algebra.flag import Flag
from flagstone.algebra.subspace import Subspace
from flagstone.errors import InputError
from flagstone.exact import exact_integer, exact_integers, exact_rational
from flagstone.tables import open_table


@contextlib.contextmanager
def digits(most):
    """Let Python convert numbers of this many digits; of any length for the oracle (0)."""
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(most)
    try:
        yield
    finally:
        sys.set_int_max_str_digits(before)


integers = st.integers() | st.builds(
    lambda sign, power, rest: sign * (10**power + rest),
    st.sampled_from([-1, 1]),
    st.integers(0, 9000),
    st.integers(0, 10**20),
)


@given(integers)
def test_integers_are_read_as_python_reads_them(n):
    with digits(0):
        text = str(n)
    assert exact_integer(text) == n
    if n >= 0:
        assert exact_integer(f"+{text}") == n


@given(integers, integers.filter(bool))
def test_rationals_are_read_and_written_as_python_does(top, bottom):
    x = Fraction(top, bottom)
    with digits(0):
        text = str(x)
    for limit in (640, 4300, 0):
        with digits(limit):
            assert QQ.format(x) == QQ.kernel.text(x) == text
            assert exact_rational(text) == exact_rational(f" {text}\n") == x


DECIMAL = r"[+-]?([0-9]{1,9}(\.[0-9]{0,9})?|\.[0-9]{1,9})([eE][+-]?[0-9]{1,3})?"


@given(st.from_regex(DECIMAL, fullmatch=True))
def test_decimals_are_read_as_fractions_reads_them(text):
    assert exact_rational(text) == Fraction(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("1e999999999", "exponent"), ("1e-1001", "exponent"), ("1e" + "9" * 5000, "exponent"),
        ("9" * 1_000_001, "1,000,001 digits"), ("1/" + "9" * 1_000_001, "1,000,001 digits"),
        ("1/0", "divides by zero"), ("1/000", "divides by zero"),
        ("", "not a rational"), (".", "not a rational"), ("1/-2", "not a rational"),
        ("1/2e3", "not a rational"), ("nan", "not a rational"), ("٣", "not a rational"),
        ("0x10", "not a rational"), ("1 2", "not a rational"), ("--1", "not a rational"),
    ],
    ids=lambda text: text[:20],
)  # fmt: skip
def test_what_is_no_rational_is_refused_with_a_reason(text, reason):
    with pytest.raises(ValueError, match=reason):
        exact_rational(text)
    with pytest.raises(InputError, match=f"row 0, column 1.*{reason}"):
        Flag(2, "QQ").update([["1", text]])


def test_integers_are_never_rounded():
    for values in ([1, -(2**63)], [2**63 - 1], [2**63], [1, 2**64, -(2**70)], []):
        assert exact_integers(values).tolist() == values


def test_long_doubles_are_never_rounded():
    long = np.longdouble(2) ** 63 + 1
    if long == np.longdouble(2) ** 63:
        pytest.skip("long doubles are doubles here")
    assert QQ.array(QQ.rows(np.array([[long]]))).tolist() == [[2**63 + 1]]
    assert whole_numbers(np.array([[long]]), "X").tolist() == [[2**63 + 1]]


@pytest.fixture(scope="module")
def long_rows():
    """Ten rows of fractions of sixty digits: their span has entries of thousands of digits."""
    draw = random.Random(0)
    fraction = lambda: f"{draw.randrange(1, 10**60)}/{draw.randrange(1, 10**60)}"  # noqa: E731
    return [[fraction() for _ in range(12)] for _ in range(10)]


def test_spans_of_long_fractions_are_printed_written_and_read(long_rows):
    flag = Flag(12, "QQ").update(long_rows)
    V = flag.span_at(1)
    entry = V.basis[0, -1]
    with pytest.raises(ValueError, match="digits"):
        str(entry)
    assert exact_rational(QQ.format(entry)) == entry
    assert V == Subspace.span(long_rows, "QQ")
    assert V.fingerprint()[:16] in repr(V)
    lines = "".join(" ".join(map(QQ.kernel.text, row)) + "\n" for row in V.basis)
    head = "flagstone subspace v1\nfield QQ\nambient 12\ndim 10\n"
    assert V.fingerprint() == hashlib.sha256((head + lines).encode()).hexdigest()
    assert Flag.from_bytes(flag.to_bytes()) == flag
    assert pickle.loads(pickle.dumps(V)) == V


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl"])
def test_whole_numbers_of_any_length_in_a_table(tmp_path, name):
    """Over QQ they are what they are; over GF(p) they are no elements, in those words."""
    numbers = ["10000000000000000000", "-" + "7" * 5000, "3"]
    lines = numbers if name == "t.csv" else [f'{{"a": {number}}}' for number in numbers]
    (tmp_path / name).write_text("\n".join([*(["a"] if name == "t.csv" else []), *lines]) + "\n")
    table = open_table(tmp_path / name)
    exact = [exact_integer(number) for number in numbers]
    (batch,) = table.rows(table.encoding("QQ"))
    assert batch.matrix[:, 0].tolist() == exact
    (batch,) = table.rows(table.encoding(7, encode={"a": "mod"}))
    assert batch.matrix[:, 0].tolist() == [number % 7 for number in exact]
    first = 2 if name == "t.csv" else 1
    with pytest.raises(InputError, match=f"line {first}, .*10{{19}} is not an element of GF.7"):
        list(table.rows(table.encoding(7, encode={"a": "element"})))
    with pytest.raises(InputError, match=r"holds? elements of GF\(7\): whole numbers from"):
        table.encoding(7)


@pytest.mark.parametrize(
    ("text", "reason"),
    [("1e999999999", "exponent"), ("9" * 1_000_001, "1,000,001 digits")],
    ids=["exponent", "digits"],
)
def test_numbers_of_a_table_that_would_fill_the_memory_are_refused(tmp_path, text, reason):
    (tmp_path / "t.csv").write_text(f"a\n1/2\n{text}\n")
    table = open_table(tmp_path / "t.csv")
    with pytest.raises(InputError, match=reason):
        list(table.rows(table.encoding("QQ", encode={"a": "element"})))
    with pytest.raises(InputError):
        table.encoding("QQ")


def test_floats_that_hold_no_exact_number_are_refused_over_the_rationals(tmp_path):
    (tmp_path / "t.jsonl").write_text("[1e23]\n")  # which is 99999999999999991611392 as a float
    table = open_table(tmp_path / "t.jsonl")
    with pytest.raises(InputError, match=r"1e\+23 is a binary float"):
        list(table.rows(table.encoding("QQ", encode={"x0": "element:exact"})))


def test_long_integers_of_an_array_are_refused_in_words():
    for order in (2, 5, 256):
        with pytest.raises(InputError, match=r"row 0, column 1 is <int, too long.*not in GF"):
            Flag(2, order).update([[0, 10**5000]])
    assert Flag(2, "QQ").update([[0, 10**5000]]).span_at(1).basis.tolist() == [[0, 1]]


def test_fields_that_are_too_large_are_refused_before_they_are_written_out():
    for spec in (
        "999999999999^999", "GF(2^31)", "GF(3^20)", "2^999", "2147483648", 2**31, 10**5000,
        -(10**5000), "9" * 10**6,
    ):  # fmt: skip
        with pytest.raises(
            InputError, match=r"too large|at least 2|no field|field must be"
        ) as caught:
            as_field(spec)
        assert len(str(caught.value)) < 200


def test_fields_up_to_the_limit_are_found():
    assert as_field("2147483647") == GF(2**31 - 1)
    assert as_field("GF(2^16)") == GF(65536)
    assert as_field("3^10").order == 59049


def test_decimals_of_a_table_are_exact(tmp_path):
    column = pa.array([Decimal("0.07"), Decimal("-12.50")])
    feather.write_feather(pa.table({"a": column}), tmp_path / "t.feather")
    table = open_table(tmp_path / "t.feather")
    (batch,) = table.rows(table.encoding("QQ", encode={"a": "element"}))
    assert batch.matrix[:, 0].tolist() == [Fraction(7, 100), Fraction(-25, 2)]


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl"])
def test_numbers_beyond_every_float_lie_above_every_bound(tmp_path, name):
    numbers = ["9" * 400, "-" + "9" * 400, "0.5"]
    lines = ["a", *numbers] if name == "t.csv" else [f'{{"a": {number}}}' for number in numbers]
    (tmp_path / name).write_text("\n".join(lines) + "\n")
    table = open_table(tmp_path / name)
    (batch,) = table.rows(table.encoding(2, encode={"a": "above:1e300"}))
    assert batch.matrix[:, 0].tolist() == [1, 0, 0]
