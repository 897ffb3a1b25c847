"""Other fields, end to end: check digits, codes, rational relations."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from flagstone import (
    AffineSpan,
    IndexRule,
    LinearEquations,
    LinearSpan,
    ParityClassifier,
    Subspace,
    SubspaceClassifier,
)
from flagstone.estimators import EliminationClassifier


def isbn10(n, seed, typos=0.005):
    """Return valid ISBN-10 numbers (check digit X is 10), a share of them with one typo."""
    rng = np.random.RandomState(seed)
    digits = rng.randint(0, 10, size=(n, 9))
    check = (-digits @ np.arange(10, 1, -1)) % 11
    numbers = np.column_stack([digits, check])
    wrong = rng.choice(n, size=int(typos * n), replace=False)
    place = rng.randint(0, 9, size=len(wrong))
    numbers[wrong, place] = (numbers[wrong, place] + rng.randint(1, 10, size=len(wrong))) % 10
    return numbers, wrong


def test_the_isbn10_check_digit_is_found_despite_typos():
    answers = set()
    for seed in (1, 2):
        X, wrong = isbn10(4000, seed)
        model = LinearSpan(field=11, contamination=0.005, random_state=2026).fit(X)
        answers.add(model.fingerprint_)
        checks = model.constraints_
        assert len(checks) == 1
        scale = pow(int(checks.matrix[0, -1]), -1, 11)
        assert (scale * checks.matrix[0].astype(int) % 11).tolist() == [*range(10, 1, -1), 1]
        assert np.flatnonzero(model.predict(X) == -1).tolist() == sorted(wrong.tolist())
        assert (model.syndrome(X)[:, 0] != 0).sum() == len(wrong)
    assert len(answers) == 1
    assert LinearSpan(rule=IndexRule(t_max=1), field=11, random_state=1).fit(X).subspace_.dim == 10


def test_the_isbn10_check_digit_as_a_rule_for_the_last_digit():
    X, wrong = isbn10(4000, 3)
    model = ParityClassifier(fit_intercept=False, field=11, contamination=0.005, random_state=2026)
    model.fit(X[:, :9], X[:, 9])
    assert (
        model.formula_
        == "y = " + " + ".join(["x0", *(f"{i + 1}·x{i}" for i in range(1, 9))]) + " (mod 11)"
    )
    assert np.flatnonzero(model.predict(X[:, :9]) != X[:, 9]).tolist() == sorted(wrong.tolist())
    assert model.classes_.tolist() == list(range(11))
    assert EliminationClassifier(fit_intercept=False, field=11).fit(X[:, :9], X[:, 9]).is_bottom_


def times256(a, b):
    """Multiply in GF(2)[x] modulo x^8 + x^4 + x^3 + x^2 + 1, bit by bit."""
    a, b = np.broadcast_arrays(np.asarray(a, dtype=np.int64), np.asarray(b, dtype=np.int64))
    a, product = a.copy(), np.zeros(a.shape, dtype=np.int64)
    for bit in range(8):
        product ^= np.where(b >> bit & 1, a, 0)
        a = (a << 1) ^ np.where(a & 0x80, 0x11D, 0)
    return product


def test_a_code_over_gf256():
    """A [15, 11] code: four check symbols with coefficients of a Vandermonde matrix."""
    rng = np.random.RandomState(0)
    data = rng.randint(0, 256, size=(1500, 11))
    coefficients = np.ones((11, 4), dtype=np.int64)
    for j in range(1, 4):
        coefficients[:, j] = times256(coefficients[:, j - 1], np.arange(2, 13))
    products = times256(data[:, :, None], coefficients[None])
    words = np.column_stack([data, np.bitwise_xor.reduce(products, axis=1)])
    words[:15] = rng.randint(0, 256, size=(15, 15))
    model = LinearSpan(field="2^8", contamination=0.01, random_state=1).fit(words)
    generator = np.column_stack([np.eye(11, dtype=np.int64), coefficients])
    assert model.subspace_ == Subspace.span(generator, 256)
    assert model.predict(words).tolist() == [-1] * 15 + [1] * 1485
    assert len(model.formula_.splitlines()) == 4
    assert "(in GF(2^8))" in model.formula_
    checks = model.constraints_.matrix.astype(np.int64)
    left = times256(checks[:, None, :], generator[None])
    assert not np.bitwise_xor.reduce(left, axis=2).any()


def test_a_rational_relation_among_integer_columns():
    rng = np.random.RandomState(0)
    X = rng.randint(-50, 50, size=(300, 4))
    X[:, 3] = 2 * X[:, 0] - 3 * X[:, 1]
    X[::100, 3] += 1
    model = LinearSpan(field="QQ", contamination=0.01, random_state=1).fit(X)
    assert model.formula_ == "x0 - 3/2·x1 - 1/2·x3 = 0"
    assert np.flatnonzero(model.predict(X) == -1).tolist() == [0, 100, 200]
    rule = ParityClassifier(
        fit_intercept=False, field="QQ", choice="lexmin", contamination=0.01, random_state=1
    )
    rule.fit(X[:, :3], X[:, 3])
    assert rule.formula_ == "y = 2·x0 - 3·x1"
    assert rule.coef_.tolist() == [2, -3, 0]
    assert rule.predict([[1, 1, 7], ["1/2", 0, 0]]).tolist() == [-1, 1]
    halves = rule.predict([[Fraction(1, 4), 0, 0]])
    assert halves.tolist() == [Fraction(1, 2)]


@pytest.mark.parametrize("field", [3, 11, "2^8", "QQ"])
def test_every_estimator_over_every_field(field):
    rng = np.random.RandomState(4)
    high = 3 if field == 3 else 10
    X = rng.randint(0, high, size=(250, 4))
    X[:, 3] = X[:, 2]
    lexmin = {"choice": "lexmin", "field": field, "random_state": 1}
    for cls in (ParityClassifier, EliminationClassifier):
        model = cls(**lexmin).fit(X[:, :3], X[:, 3])
        assert model.coef_.tolist() == [0, 0, 1]
        assert (model.predict(X[:, :3]) == X[:, 3]).all()
        with_constant = cls(**lexmin, fit_intercept=True)
        y = X[:, 2] if field == "2^8" else (X[:, 2] + 1) % (11 if field != 3 else 3)
        if field != "QQ":
            with_constant.fit(X[:, :3], y)
            assert (with_constant.predict(X[:, :3]) == y).all()
    span = LinearSpan(field=field, random_state=1).fit(X)
    assert span.subspace_.dim == 3
    assert span.predict(X).min() == 1
    shifted = X.copy()
    shifted[:, 0] = 1
    affine = AffineSpan(field=field, random_state=1).fit(shifted)
    assert affine.subspace_.dim == 2
    assert affine.formula_.splitlines()[0].startswith("x0 = 1")
    assert affine.subspace_.contains(affine.points_).all()
    system = LinearEquations(field=field, random_state=1).fit(X[:, :3], X[:, 2])
    assert system.solve().tolist() == [0, 0, 1]
    inside = rng.rand(250) < 0.5
    mixed = X.copy()
    mixed[~inside, 3] = (mixed[~inside, 3] + 1) % high
    classifier = SubspaceClassifier(field=field, random_state=1).fit(mixed, inside)
    assert (classifier.predict(mixed) == inside).all()


def test_scores_over_the_rationals_compare_numbers_not_texts():
    random = np.random.RandomState(3)
    cents = random.randint(100, 99_999, size=(600, 2))
    net_and_vat = [[Decimal(int(a)) / 100, Decimal(int(b)) / 100] for a, b in cents]
    gross = [f"{(a + b) / 100:.2f}" for a, b in cents]
    model = ParityClassifier(field="QQ", random_state=1).fit(net_and_vat[:300], gross[:300])
    assert model.score(net_and_vat[300:], gross[300:]) == 1
    wrong = [*gross[300:599], "1.00"]
    assert model.score(net_and_vat[300:], wrong) == pytest.approx(299 / 300)
    assert model.score(net_and_vat[300:], wrong, sample_weight=[1] * 299 + [0]) == 1
    exact = [Decimal(text) for text in gross]
    model.fit(net_and_vat[:300], exact[:300])
    assert model.score(net_and_vat[300:], exact[300:]) == 1


def test_a_score_over_the_rationals_refuses_weights_that_are_too_few():
    X, y = [[1, 0], [0, 1], [1, 1], [2, 1]] * 30, ["1/2", "1", "3/2", "2"] * 30
    model = ParityClassifier(field="QQ", random_state=1).fit(X, y)
    assert model.score(X, y, sample_weight=[1] * 120) == 1
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.score(X, y, sample_weight=[1])


@pytest.mark.parametrize("field", [2, 3, "QQ"])
def test_a_finding_without_label_predicts_one_and_zero(field):
    rows = np.array([[1, 1], [0, 0]] * 200)
    finding = LinearSpan(field=field, random_state=1).fit(rows).finding_
    found = finding.question.predict(finding.answer, finding.field.rows([[1, 1], [1, 0]]))
    assert [finding.field.format(value) for value in found.tolist()] == ["1", "0"]
