"""No door rounds: any dtype, any magnitude, every field, compared with Python's integers."""

import datetime
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagstone import (
    AffineSpan,
    FieldEncoder,
    Flag,
    IndexRule,
    InputError,
    LinearEquations,
    LinearSpan,
    ParityClassifier,
    Subspace,
)
from flagstone.algebra.fields import GF, as_field
from flagstone.checks import checked_weights
from flagstone.encoding import ColumnEncoder
from flagstone.errors import InputWarning
from flagstone.exact import exact_array
from flagstone.tables import open_table

pytestmark = pytest.mark.filterwarnings("ignore::flagstone.errors.ReplicabilityWarning")

LOW, HIGH = -(2**63), 2**63 - 1
FIELDS = [2, 7, 2**8, "QQ"]

#: dtype → the integers it holds, and a column of it by library
INTEGERS = {
    "int8": (-128, 127),
    "int32": (-(2**31), 2**31 - 1),
    "int64": (LOW, HIGH),
    "uint64": (0, 2**64 - 1),
    "Int64": (LOW, HIGH),
    "UInt64": (0, 2**64 - 1),
    "int64[pyarrow]": (LOW, HIGH),
    "uint64[pyarrow]": (0, 2**64 - 1),
    "category": (LOW, HIGH),
    "object": (-(2**90), 2**90),
    "decimal": (-(10**37), 10**37),
    "float64": (-(2**53), 2**53),
    "Float64": (-(2**53), 2**53),
    "bool": (0, 1),
    "boolean": (0, 1),
    "int128": (-(2**90), 2**90),  # of Polars alone
}
PANDAS = sorted(INTEGERS.keys() - {"int128"})
POLARS = {"int8": pl.Int8, "int32": pl.Int32, "int64": pl.Int64, "uint64": pl.UInt64,
          "decimal": pl.Decimal(38, 0), "float64": pl.Float64, "bool": pl.Boolean}  # fmt: skip
POLARS |= {"int128": pl.Int128} if hasattr(pl, "Int128") else {}
ARROW = {"int8": pa.int8(), "int32": pa.int32(), "int64": pa.int64(), "uint64": pa.uint64(),
         "decimal": pa.decimal128(38, 0), "float64": pa.float64(), "bool": pa.bool_()}  # fmt: skip


def whole(low, high):
    """Integers near the ends of floats and of machine words, and small ones."""
    marks = [m for k in (53, 62, 63, 64) for m in (2**k, -(2**k))]
    near = st.builds(lambda mark, off: mark + off, st.sampled_from(marks), st.integers(-3, 3))
    return st.one_of(st.integers(-2, 9), near, st.integers(low, high)).filter(
        lambda v: low <= v <= high
    )


def of_pandas(kind, values):
    if kind == "decimal":
        return pd.Series(list(map(Decimal, values)), dtype=pd.ArrowDtype(pa.decimal128(38, 0)))
    if kind == "category":
        return pd.Series(pd.Categorical(np.array(values, dtype=np.int64)))
    return pd.Series(values, dtype=kind)


@st.composite
def tables(draw):
    """Return (the integers, row by row; the same as a table of some library)."""
    library = draw(st.sampled_from(["pandas", "polars", "arrow", "lists", "objects"]))
    kinds = {"polars": POLARS, "arrow": ARROW}.get(library, PANDAS)
    chosen = draw(st.lists(st.sampled_from(sorted(kinds)), min_size=1, max_size=4))
    n = draw(st.integers(1, 5))
    columns = [draw(st.lists(whole(*INTEGERS[k]), min_size=n, max_size=n)) for k in chosen]
    rows = [list(row) for row in zip(*columns, strict=True)]
    names = [f"c{i}" for i in range(len(chosen))]
    given_columns = dict(zip(names, zip(chosen, columns, strict=True), strict=True))
    if library == "pandas":
        made = {c: of_pandas(kind, v) for c, (kind, v) in given_columns.items()}
        return rows, pd.DataFrame(made)
    if library == "polars":
        return rows, pl.DataFrame(
            {
                c: pl.Series(
                    [*map(Decimal, v)] if kind == "decimal" else v, dtype=POLARS[kind], strict=False
                )
                for c, (kind, v) in given_columns.items()
            }
        )
    if library == "arrow":
        cells = {
            c: pa.array([bool(x) for x in v] if kind == "bool" else v, ARROW[kind])
            for c, (kind, v) in given_columns.items()
        }
        return rows, pa.table(cells)
    mixed = [
        [float(v) if "loat" in kind else v for kind, v in zip(chosen, row, strict=True)]
        for row in rows
    ]
    if library == "lists":
        return rows, mixed
    array = np.empty((n, len(chosen)), dtype=object)
    array[:] = mixed
    return rows, array


def modulo(rows, field):
    order = as_field(field).order
    objects = np.empty((len(rows), len(rows[0])), dtype=object)
    objects[:] = rows if order is None else [[v % order for v in row] for row in rows]
    return objects


@pytest.mark.parametrize("field", FIELDS, ids=str)
@given(table=tables())
def test_reduced_entries_keep_their_low_bits(field, table):
    rows, X = table
    oracle = Flag(len(rows[0]), field).update(modulo(rows, field))
    reduced = FieldEncoder(field=field, out_of_field="reduce").fit_transform(X)
    fitted = LinearSpan(field=field, random_state=1).fit(reduced)
    assert fitted.flag_.to_bytes() == oracle.to_bytes()


@given(table=tables())
def test_rationals_are_the_integers_that_were_given(table):
    rows, X = table
    objects = modulo(rows, "QQ")
    oracle = Flag(len(rows[0]), "QQ").update(objects)
    assert LinearSpan(field="QQ", random_state=1).fit(X).flag_.to_bytes() == oracle.to_bytes()
    assert Flag(len(rows[0]), "QQ").update(X).to_bytes() == oracle.to_bytes()
    assert Subspace.span(X, "QQ").fingerprint() == Subspace.span(objects, "QQ").fingerprint()


@pytest.mark.parametrize("field", FIELDS, ids=str)
@given(table=tables())
def test_encoded_columns_are_the_integers_that_were_given(field, table):
    rows, X = table
    encoder = FieldEncoder(field=field, out_of_field="reduce")
    assert encoder.fit_transform(X).tolist() == modulo(rows, field).tolist()


@given(values=st.lists(whole(-(2**90), 2**90), min_size=2, max_size=6))
def test_right_hand_sides_and_labels_are_the_integers_that_were_given(values):
    n = len(values)
    X = np.eye(n, dtype=int)
    objects = np.array(values, dtype=object)
    forms = [values, objects, [*values[:-1], Fraction(values[-1])]]
    if all(LOW <= v <= HIGH for v in values):
        forms += [pd.Series(values, dtype="Int64"), pl.Series(values, dtype=pl.Int64)]
    for y in forms:
        system = LinearEquations(rule=IndexRule(t_max=1), field="QQ", random_state=1).fit(X, y)
        assert system.solution_.tolist() == values
        model = ParityClassifier(
            rule=IndexRule(t_max=1), field="QQ", choice="lexmin", random_state=1
        ).fit(X, y)
        assert model.predict(X).tolist() == values


def test_two_columns_that_differ_beyond_53_bits_are_not_equal():
    a = [2**53, 2**54 + 2, 2**53 + 4]
    frame = pd.DataFrame({"a": a, "b": [v + 1 for v in a]})
    formulas = {
        kind: LinearSpan(rule=IndexRule(t_max=1), field="QQ", random_state=1)
        .fit(frame.astype(kind))
        .formula_
        for kind in ("int64", "Int64", "int64[pyarrow]", "object")
    }
    assert set(formulas.values()) == {"(no equations: every row obeys them)"}


def test_a_mixed_table_says_which_entry_is_outside_and_shows_all_its_digits():
    frame = pd.DataFrame({"big": pd.array([1, 2**60 + 1], dtype="Int64"), "f": [0.0, 1.0]})
    with pytest.raises(
        InputError, match=rf"row 1, column 0 \('big'\) is {2**60 + 1}, which is not"
    ):
        LinearSpan(field=7).fit(frame)


@pytest.mark.parametrize("field", [2, 7, "QQ"], ids=str)
@pytest.mark.parametrize(
    ("column", "says"),
    [
        (pd.to_datetime(["2020-01-01", "2021-01-01"]), "datetime"),
        (pd.to_timedelta(["1D", "2D"]), "timedelta"),
        (pd.Series(["a", "b"], dtype="string"), "'a'"),
        (pd.Series(["a", "b"], dtype="category"), "'a'"),
        (pd.array([1, None], dtype="Int64"), "NA|nan|missing"),
        (pd.array([1, None], dtype="int64[pyarrow]"), "NA|nan|missing"),
        (pd.Series([0, None], dtype=object), "None|nan"),
        (pd.period_range("2020", periods=2, freq="Y"), "Period"),
    ],
)
def test_columns_that_hold_no_numbers_are_named(field, column, says):
    frame = pd.DataFrame({"n": [0, 1], "what": column})
    with pytest.raises(InputError, match=says) as caught:
        LinearSpan(field=field).fit(frame)
    assert "column 1 ('what')" in str(caught.value)


def column_of(library, values, kind):
    if library == "pandas":
        dtype = pd.ArrowDtype(kind) if isinstance(kind, pa.DataType) else kind
        return pd.DataFrame({"n": [0] * len(values), "what": pd.Series(values, dtype=dtype)})
    if library == "polars":
        return pl.DataFrame({"n": [0] * len(values), "what": pl.Series(values, dtype=kind)})
    return pa.table({"n": [0] * len(values), "what": pa.array(values, kind)})


DAYS = [datetime.datetime(2020, 1, 1), datetime.datetime(2021, 1, 1)]
#: Columns that are no numbers, by library; every error names the column.
OTHERS = [
    ("pandas", DAYS, "datetime64[ns]"), ("pandas", DAYS, "datetime64[us, UTC]"),
    ("pandas", [1, 2], "timedelta64[ns]"), ("pandas", DAYS, "period[D]"),
    ("pandas", [[1], [2]], object), ("pandas", [b"a", b"b"], object),
    ("pandas", DAYS, pa.timestamp("ns")), ("pandas", [b"a", b"b"], pa.binary()),
    ("polars", DAYS, pl.Datetime("ns")), ("polars", DAYS, pl.Date),
    ("polars", [datetime.time(1), datetime.time(2)], pl.Time),
    ("polars", [datetime.timedelta(1), datetime.timedelta(2)], pl.Duration("ns")),
    ("polars", [[1], [2]], pl.List(pl.Int64)), ("polars", [[1], [2]], pl.Array(pl.Int64, 1)),
    ("polars", [{"a": 1}, {"a": 2}], pl.Struct({"a": pl.Int64})),
    ("polars", [b"a", b"b"], pl.Binary), ("polars", [print, sum], pl.Object),
    ("arrow", DAYS, pa.timestamp("ns")), ("arrow", DAYS, pa.timestamp("us", tz="UTC")),
    ("arrow", DAYS, pa.date32()), ("arrow", [datetime.time(1), datetime.time(2)], pa.time64("us")),
    ("arrow", [datetime.timedelta(1), datetime.timedelta(2)], pa.duration("ns")),
    ("arrow", [[1], [2]], pa.list_(pa.int64())), ("arrow", [b"a", b"b"], pa.binary()),
    ("arrow", [{"a": 1}, {"a": 2}], pa.struct([("a", pa.int64())])),
]  # fmt: skip


@pytest.mark.parametrize(("library", "values", "kind"), OTHERS, ids=str)
def test_columns_of_other_types_are_no_numbers_to_anybody(library, values, kind):
    frame = column_of(library, values, kind)
    for field in (2, "QQ"):
        with pytest.raises(InputError, match=r"row 0, column 1 \('what'\) is .*"):
            LinearSpan(field=field).fit(frame)
        with pytest.raises(InputError, match=r"row 0, column 'what' is .*must hold numbers, text"):
            FieldEncoder(field=field).fit(frame)
    with pytest.raises(InputError, match="row 0, column 1 is"):
        Flag(2).update(frame)


def test_whole_decimals_are_encoded_as_numbers():
    frame = pd.DataFrame({"d": [Decimal("0.00"), Decimal("1.00"), Decimal(1)], "h": [0, 1, 0]})
    assert FieldEncoder().fit(frame).encoders_ == {"d": "element", "h": "element"}
    half = pd.DataFrame({"d": [Decimal("0.5"), Decimal("1.25"), Decimal(0)]})
    assert FieldEncoder(field="QQ").fit_transform(half).tolist() == [
        [Fraction(1, 2)], [Fraction(5, 4)], [Fraction(0)]
    ]  # fmt: skip


def test_half_floats_of_arrow_are_not_missing():
    frame = pd.DataFrame({"h": pd.Series([0, 1, 1], dtype=pd.ArrowDtype(pa.float16()))})
    assert FieldEncoder().fit_transform(frame).tolist() == [[0], [1], [1]]
    halves = np.array([[0.0], [1.0]], dtype=np.float16)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert FieldEncoder().fit_transform(halves).tolist() == [[0], [1]]
        assert LinearSpan(rule=IndexRule(t_max=1), random_state=1).fit(halves).subspace_.dim == 1


def test_dates_alone_are_no_integers_either():
    frame = pd.DataFrame({"when": pd.to_datetime(["2020-01-01", "2021-01-01"])})
    for field in (2, "QQ"):
        with pytest.raises(InputError, match=r"column 0 \('when'\)"):
            LinearSpan(field=field).fit(frame)


def test_decimals_are_exact_rationals():
    frame = pd.DataFrame(
        {"a": [Decimal("0.1"), Decimal("0.2")], "b": [Decimal("0.3"), Decimal("0.6")]}
    )
    fitted = AffineSpan(rule=IndexRule(t_max=1), field="QQ", random_state=1).fit(frame)
    assert fitted.formula_ == "a - 1/3·b = 0"
    with pytest.raises(InputError, match=r"is Decimal\('0.1'\), which is not a whole number"):
        LinearSpan(field=7).fit(frame)


def test_bounds_compare_integers_exactly():
    values = np.array([2**53, 2**53 + 1, 2**53 + 2])
    encoder = ColumnEncoder.parse("n", f"above:{2**53}")
    texts = values.astype(str).astype(object)
    for column in (values, values.astype(object), values.astype(np.uint64), texts):
        assert encoder.encode(column, GF(2))[:, 0].tolist() == [0, 1, 1]
    assert ColumnEncoder.parse("n", "above:0.1").encode(np.array([0.1, 0.2]), GF(2)).tolist() == [
        [0],
        [1],
    ]


def test_bounds_compare_the_integers_of_a_file_exactly(tmp_path):
    (tmp_path / "t.csv").write_text(f"n\n{2**53}\n{2**53 + 1}\n{2**53 + 2}.5\n")
    table = open_table(tmp_path / "t.csv")
    encoding = table.encoding(encode={"n": f"above:{2**53}"})
    (batch,) = table.rows(encoding)
    assert batch.matrix[:, 0].tolist() == [0, 1, 1]


def test_weights_beside_fractions_are_exact():
    assert checked_weights([2**53 + 1, 1.0], 2)[1] == 2**53 + 2


def test_a_frame_of_small_numbers_stays_an_array_of_numbers():
    frame = pd.DataFrame({"a": [1, 2], "b": [0.0, 1.0], "c": [True, False]})
    assert exact_array(frame).dtype == np.float64


def test_over_the_rationals_binary_floats_are_read_by_their_shortest_decimal_form():
    net, vat = np.array([1.1, 2.2, 3.3, 0.5] * 50), np.array([0.1, 0.2, 0.4, 0.1] * 50)
    gross = np.array([1.2, 2.4, 3.7, 0.6] * 50)
    frame = pd.DataFrame({"net": net, "vat": vat, "gross": gross})
    with pytest.warns(InputWarning, match=r"X: binary floats .* such as 1\.1"):
        span = LinearSpan(field="QQ", random_state=1).fit(frame)
    assert span.finding_.lines == ("net + vat - gross = 0",)
    exact = frame.map(lambda value: Decimal(str(value)))
    assert LinearSpan(field="QQ", random_state=1).fit(exact).finding_.answer == span.finding_.answer
    mixed = exact.assign(vat=frame["vat"])
    with pytest.warns(InputWarning, match="such as 0.1"):
        found = LinearSpan(field="QQ", random_state=1).fit(mixed).finding_
    assert found.answer == span.finding_.answer
    with pytest.warns(InputWarning, match="y: binary floats"):
        system = LinearEquations(field="QQ", random_state=1).fit(frame[["net", "vat"]], gross)
    assert system.solve().tolist() == [1, 1]
