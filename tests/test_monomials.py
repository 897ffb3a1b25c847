"""Products of columns: which there are, their values on rows, and that every interface has them."""

import itertools
import json
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagstone import GF, QQ, AffineSpan, LinearSpan, ParityClassifier, load
from flagstone.cli import main
from flagstone.encoding import ColumnEncoder, Encoding, Monomials
from flagstone.errors import FormatError, InputError

NAMES = tuple("abcdefgh")
FIELDS = [GF(2), GF(3), GF(5), GF(4), QQ]


def naive_terms(order, degree, n):
    """Exponent vectors of total degree 1..degree, of which no two are one function on the field."""
    most = 1 if order == 2 else degree
    return [
        e for e in itertools.product(range(most + 1), repeat=n) if 1 <= sum(e) <= degree
    ]  # fmt: skip


@pytest.mark.parametrize("field", FIELDS, ids=str)
@pytest.mark.parametrize("n", [1, 2, 4])
@pytest.mark.parametrize("degree", [1, 2])
def test_terms_are_all_exponents(field, n, degree):
    found = Monomials(field, degree, NAMES[:n])
    exponents = [tuple(term.count(i) for i in range(n)) for term in found.terms]
    assert sorted(exponents) == sorted(naive_terms(field.order, degree, n))
    assert found.count == len(found.terms) == len(found.columns) == len(set(found.columns))
    assert found.columns[:n] == NAMES[:n]


@pytest.mark.parametrize(("order", "degree"), [(2, 3), (3, 2), (5, 3), (4, 3)])
def test_no_two_products_are_the_same_function(order, degree):
    F = GF(order)
    every = F.rows(np.array(list(itertools.product(range(order), repeat=3))))
    table = F.array(Monomials(F, degree, NAMES[:3]).expand(every))
    assert len(np.unique(table, axis=1).T) == table.shape[1]
    # nor is one a combination of others: as functions they are independent
    assert len(
        F.array(F.rref(F.rows(np.column_stack([table, np.ones(len(table), int)]).T))[0])
    ) == (table.shape[1] + 1)


@given(st.data())
def test_products_are_products(data):
    field = data.draw(st.sampled_from(FIELDS))
    n, degree = (
        data.draw(st.integers(1, 4)),
        data.draw(st.integers(1, 2 if field.order == 3 else 3)),
    )
    most = 4 if field.order is None else field.order - 1
    cells = st.lists(st.integers(0, most), min_size=n, max_size=n)
    table = np.array(data.draw(st.lists(cells, min_size=1, max_size=6)))
    products = Monomials(field, degree, NAMES[:n])
    found = field.array(products.expand(field.rows(table)))
    for row, made in zip(field.array(field.rows(table)), found, strict=True):
        for term, value in zip(products.terms, made, strict=True):
            expected = np.array([field.one], dtype=field.dtype)
            for i in term:
                expected = field.mul(expected, row[i : i + 1])
            assert value == expected[0]


def test_many_rows_are_expanded_in_parts(monkeypatch):
    X = np.random.RandomState(1).randint(0, 2, size=(100, 5))
    products = Monomials(GF(2), 3, NAMES[:5])
    whole = products.expand(GF(2).rows(X))
    monkeypatch.setattr("flagstone.algebra.lift.CHUNK", 7 * 64)
    assert products.expand(GF(2).rows(X)) == whole


def test_columns_that_exclude_each_other_are_never_multiplied():
    encoders = (ColumnEncoder.parse("c", "onehot:r,g,b"), ColumnEncoder.parse("z", "element"))
    for field in (GF(2), GF(5)):
        encoding = Encoding(field, encoders, degree=2)
        squares = ("z²",) if field.order == 5 else ()
        assert encoding.names == ("c=r", "c=g", "c=b", "z", "c=r·z", "c=g·z", "c=b·z", *squares)
        assert encoding.monomials.count == len(encoding.names)
        rows, _ = encoding.rows([np.array(["g", "b"], object), np.array([1, 0])])
        assert field.array(rows).tolist()[0] == [0, 1, 0, 1, 0, 1, 0, *[1 for _ in squares]]
        assert Encoding.from_dict(encoding.to_dict()) == encoding


def test_findings_about_categories_are_adopted_with_their_products(tmp_path):
    random = np.random.RandomState(1)
    colour, size = random.choice([*"rgb"], 400), random.choice([*"sml"], 400)
    path = tmp_path / "t.csv"
    path.write_text("c,z\n" + "".join(f"{a},{b}\n" for a, b in zip(colour, size, strict=True)))
    found = str(tmp_path / "f.json")
    options = ["--encode", "auto", "--degree", "2", "--seed", "1"]
    with pytest.raises(SystemExit, match="0"):
        main(["constraints", str(path), *options, "-o", found])
    X = np.column_stack([colour[:, None] == [*"bgr"], size[:, None] == [*"lms"]]).astype(int)
    span = AffineSpan(degree=2).adopt(load(found))
    assert (span.predict(X) == 1).all()
    assert span.predict(np.zeros((1, 6), dtype=int)).tolist() == [-1]


@pytest.mark.parametrize("field", [GF(5), QQ], ids=str)
def test_columns_of_zeros_and_ones_have_no_powers(field):
    texts = {"t": "above:3", "u": "levels:no,yes", "v": "bits:2", "w": "hex:2", "z": "element"}
    encoders = tuple(ColumnEncoder.parse(name, text) for name, text in texts.items())
    encoding = Encoding(field, encoders, degree=2)
    names = ["t>3", "u", "v[0]", "v[1]", "w[0]", "w[1]", "z"]
    pairs = ["·".join(pair) for pair in itertools.combinations(names, 2)]
    assert encoding.names == (*names, *pairs, "z²")
    assert encoding.monomials.count == len(encoding.names)


def test_what_is_refused():
    with pytest.raises(InputError, match="below 3 over GF"):
        Monomials(GF(3), 3, NAMES)
    with pytest.raises(InputError, match="at least 1"):
        Monomials(GF(2), 0, NAMES)
    many = Monomials(GF(2), 4, tuple(f"x{i}" for i in range(100)))
    assert many.count == 100 + 4950 + 161_700 + 3_921_225
    with pytest.raises(InputError, match=r"makes 4,087,975 monomials .* a flag .* GiB"):
        _ = many.terms
    few = Monomials(GF(7), 2, tuple(f"x{i}" for i in range(60)))
    few.check_memory()
    with pytest.raises(InputError, match="in parts"):
        few.check_memory(10**8)
    data = Encoding.plain(GF(2), NAMES).to_dict()
    for bad in (10**9, 0, "2", 2.0, True):
        with pytest.raises(FormatError, match="cannot be read"):
            Encoding.from_dict(data | {"degree": bad} | {"columns": [["x", "bits:60"]]})


def quadratic(seed, n=4000):
    X = (np.random.RandomState(seed).random_sample((n, 6)) < 0.4).astype(int)
    return X, X[:, 0] & X[:, 3] ^ X[:, 5]


def test_a_quadratic_rule_is_learned_where_the_linear_learner_answers_bottom(tmp_path):
    a, b = (ParityClassifier(degree=2, random_state=7).fit(*quadratic(i)) for i in (1, 2))
    assert a.formula_ == "y = x5 ⊕ x0·x3"
    assert a.fingerprint_ == b.fingerprint_
    X, y = quadratic(3)
    assert (a.predict(X) == y).all()
    assert a.n_features_in_ == 6
    assert len(a.coef_) == 21
    assert a.get_feature_names_out().tolist() == ["x5", "x0·x3"]
    assert [eval(a.finding_.expression, {"x": row}) for row in X[:50].tolist()] == y[:50].tolist()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert ParityClassifier(random_state=7).fit(X, y).is_bottom_
    a.finding_.save(tmp_path / "rule.json")
    saved = load(tmp_path / "rule.json")
    assert saved.fingerprint == a.fingerprint_
    assert saved.encoding.degree == 2
    again = ParityClassifier(degree=2).adopt(saved)
    assert (again.predict(X) == y).all()
    with pytest.raises(InputError, match="of degree 2"):
        ParityClassifier().adopt(saved)
    with pytest.raises(InputError, match="degree"):
        a.set_params(degree=3).predict(X)


def test_streams_and_spans_have_products():
    X, y = quadratic(1)
    streamed = ParityClassifier(degree=2, random_state=7)
    for part in range(0, 4000, 1000):
        streamed.partial_fit(X[part : part + 1000], y[part : part + 1000])
    assert (
        streamed.fingerprint_ == ParityClassifier(degree=2, random_state=7).fit(X, y).fingerprint_
    )
    table = np.column_stack([X[:, :2], 1 - (X[:, 0] & X[:, 1])])
    affine = AffineSpan(degree=2, random_state=7).fit(table)
    assert "x2 ⊕ x0·x1 = 1" in _consequences(affine)
    assert (affine.predict(table) == 1).all()
    table[0, 2] ^= 1
    assert affine.predict(table[:1]).tolist() == [-1]
    linear = LinearSpan(degree=2, random_state=7).fit(table[1:])
    assert linear.finding_.encoding.names == ("x0", "x1", "x2", "x0·x1", "x0·x2", "x1·x2")


def _consequences(span):
    """All sums of the equations, as text."""
    answer, found = span.constraints_, set()
    for chosen in itertools.product([0, 1], repeat=len(answer)):
        coef = np.array(chosen) @ answer.matrix % 2
        terms = [answer.names[i] for i in np.flatnonzero(coef)]
        found.add(f"{' ⊕ '.join(terms)} = {int(np.array(chosen) @ answer.rhs % 2)}")
    return found


@pytest.mark.parametrize("field", [3, 5, "QQ"])
def test_powers_over_other_fields(field):
    q = 5 if field == "QQ" else field
    X = np.random.RandomState(2).randint(0, q, size=(1500, 3))
    y = X[:, 0] * X[:, 1] + 2 * X[:, 2] ** 2
    y = y if field == "QQ" else y % q
    model = ParityClassifier(degree=2, field=field, choice="lexmin", random_state=3).fit(X, y)
    where = "" if field == "QQ" else f" (mod {q})"
    assert model.formula_ == f"y = x0·x1 + 2·x2²{where}"
    assert (model.predict(X) == y).all()
    assert [
        eval(model.finding_.expression, {"x": r, "Fraction": Fraction}) for r in X[:9].tolist()
    ] == y[:9].tolist()


def test_degrees_have_fingerprints_of_their_own():
    products = ParityClassifier(degree=2, random_state=7).fit(*quadratic(1))
    F, (X, y) = GF(2), quadratic(1)
    wide = F.array(Monomials(F, 2, tuple(f"x{i}" for i in range(6))).expand(F.rows(X)))
    linear = ParityClassifier(random_state=7).fit(wide, y)
    assert linear.coef_.tolist() == products.coef_.tolist()
    assert linear.fingerprint_ != products.fingerprint_


@pytest.fixture
def table(tmp_path):
    X, y = quadratic(1)
    header = ",".join([*(f"x{i}" for i in range(6)), "y"])
    path = tmp_path / "table.csv"
    np.savetxt(path, np.column_stack([X, y]), "%d", ",", header=header, comments="")
    return path


def run(capsys, *words):
    with pytest.raises(SystemExit) as stop:
        main([str(word) for word in words])
    said = capsys.readouterr()
    return stop.value.code, said.out, said.err


def test_learn_says_what_products_need_before_it_reads(table, tmp_path, capsys):
    rule = tmp_path / "rule.json"
    words = ("learn", table, "-l", "y", "--seed", "7")
    code, out, err = run(
        capsys, *words, "--degree", "2", "-o", rule, "--report", tmp_path / "r.html"
    )
    assert code == 0
    assert "y = x5 ⊕ x0·x3" in out
    assert "21 products of 6 columns" in err
    assert "D = 23" in err
    assert "4·D = 92" in err
    assert run(capsys, *words)[0] == 3
    assert run(capsys, "check", rule, table)[0] == 0
    code, out, _ = run(capsys, *words, "--degree", "2", "--as", "python")
    assert out == "x[5] ^ x[0]*x[3]\n"
    code, out, _ = run(capsys, *words, "--degree", "2", "--json")
    text = json.loads(out)["text"]
    assert (text["masks"], text["expression"]) == (None, "x[5] ^ x[0]*x[3]")
    code, _, err = run(capsys, *words, "--degree", "2", "--as", "masks")
    assert code == 2
    assert "no products" in err


def test_flags_protocols_and_plans_have_products(table, tmp_path, capsys):
    flag, protocol = tmp_path / "rows.flag", tmp_path / "protocol.json"
    asked = ("-l", "y", "--for", "learn", "--degree", "2")
    assert run(capsys, "summarize", table, *asked, "-o", flag)[0] == 0
    code, out, _ = run(capsys, "learn", flag, "--seed", "7")
    assert code == 0
    assert "y = x5 ⊕ x0·x3" in out
    code, _, err = run(capsys, "learn", flag, "--seed", "7", "--degree", "3")
    assert code == 2
    assert "leave out --degree" in err
    words = ("plan", "--pilot", table, *asked, "--seed", "3", "--max-rows", "2000", "-o", protocol)
    assert run(capsys, *words)[0] == 0
    code, out, _ = run(capsys, "learn", table, "--protocol", protocol)
    assert code == 0
    assert "y = x5 ⊕ x0·x3" in out
    assert load(protocol).parameters["degree"] == 2
    code, out, _ = run(
        capsys, "plan", "--dim", "6", "--rho", ".05", "--for", "learn", "--degree", "2"
    )
    assert code == 0
    assert "21 products of 6 columns" in out
    assert "dimension 23" in out
    words = ("plan", "--dim", "6", "--rho", ".05", "--for", "subspace", "--degree", "2")
    code, _, err = run(capsys, *words)
    assert code == 2
    assert "--degree is for learn and constraints" in err
    code, out, _ = run(capsys, "constraints", table, "--degree", "2", "--seed", "7")
    assert code == 0
    assert "x5" in out


def test_partitions_have_products():
    da = pytest.importorskip("dask.array")
    from flagstone import distributed

    X, y = quadratic(1)
    rows = da.from_array(X, chunks=(2000, 6))
    model = distributed.fit(
        ParityClassifier(degree=2, random_state=7), rows, da.from_array(y, chunks=2000)
    )
    assert model.formula_ == "y = x5 ⊕ x0·x3"
    assert (model.predict(X) == y).all()
