"""What labels stand for: codes that owe nothing to the sample, and those that do and say so."""

import hashlib
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from flagstone import InputError, LinearEquations, ParityClassifier, SubspaceClassifier
from flagstone.estimators import EliminationClassifier
from tests.optional import PRIVATE

NAMES = np.array(["a", "b", "c"])
#: Two samples of y = x over GF(3); the second lacks the rare middle value.
WITH, WITHOUT = [3_000_000, 1, 3_000_000], [3_000_000, 0, 3_000_001]
X = np.random.RandomState(0).randint(0, 2, size=(60, 3))


def fitted(weights, labels=NAMES, **parameters):
    given = {"rho": 0.3, "fit_intercept": False, "choice": "uniform"} | parameters
    model = ParityClassifier(field=3, random_state=1, **given)
    return model.fit([[0], [1], [2]], labels, sample_weight=weights, weights_count_rows=True)


def test_labels_numbered_as_they_occur_are_a_hypothesis_of_the_promise():
    one, two = fitted(WITH), fitted(WITHOUT)
    assert one.fingerprint_ != two.fingerprint_, "the case that no proof covers"
    assert one.guarantee_.is_replicable_proven
    assert "(proven) if both samples show the same labels (here 'a', 'b', 'c';" in str(
        one.guarantee_
    )
    assert "here 'a', 'c';" in str(two.guarantee_)
    assert any("the same labels" in text for text in one.guarantee_.hypotheses)


def test_named_classes_fix_the_code_and_lift_the_hypothesis():
    one, two = fitted(WITH, classes=NAMES), fitted(WITHOUT, classes=NAMES)
    assert one.fingerprint_ == two.fingerprint_
    assert one.classes_.tolist() == two.classes_.tolist() == ["a", "b", "c"]
    for model in (one, two, fitted(WITH, labels=[0, 1, 2])):
        assert "labels" not in str(model.guarantee_)
        assert model.guarantee_.setup.labels is None
        assert not any("labels" in text for text in model.guarantee_.hypotheses)


def test_nothing_is_promised_on_labels_where_nothing_is_proven():
    model = ParityClassifier(fit_intercept=False, random_state=1, certify=False)
    model.fit(X, NAMES[X[:, 0]])
    assert str(model.guarantee_).startswith("replicability not proven; ")


@pytest.mark.parametrize("cls", [ParityClassifier, EliminationClassifier])
def test_equal_fingerprints_mean_equal_predictions(cls):
    yes, no = (cls(random_state=1).fit(X, [label] * 60) for label in ("yes", "no"))
    assert yes.answer_ == no.answer_
    assert yes.fingerprint_ != no.fingerprint_
    plain = cls(random_state=1).fit(X, X[:, 0])
    assert plain.fingerprint_ == plain.answer_.fingerprint()
    assert plain.fingerprint_ == cls(random_state=1).fit(X, X[:, 0] == 1).fingerprint_


def test_the_fingerprint_with_labels_can_be_recomputed():
    model = ParityClassifier(fit_intercept=False, random_state=1).fit(
        X, np.array([-1.0, 1.0])[X[:, 0]]
    )
    text = "flagstone finding v2\nquestion parity\nfield GF(2)\ncolumns {}\nlabels {}\nrows 1\n{}\n"
    row = " ".join(map(str, [*model.coef_, model.intercept_]))
    text = text.format(X.shape[1], '["-1","1"]', row)
    assert model.fingerprint_ == hashlib.sha256(text.encode()).hexdigest()
    model = ParityClassifier(fit_intercept=False, random_state=1).fit(
        X, np.array(["né", "yes"])[X[:, 0]]
    )
    text = text.replace('["-1","1"]', '["n\\u00e9","yes"]')
    assert model.fingerprint_ == hashlib.sha256(text.encode()).hexdigest()
    dates = np.array(["2026-01-01", "2026-01-02"], dtype="M8[D]")[X[:, 0]]
    assert (
        ParityClassifier(fit_intercept=False, random_state=1).fit(X, dates).fingerprint_
        != model.fingerprint_
    )


def test_subspaces_are_known_by_their_labels_too():
    def of(*labels):
        return SubspaceClassifier(random_state=1).fit(X, np.array(labels)[X[:, 0]])

    plain = of(0, 1)
    assert plain.fingerprint_ == plain.answer_.fingerprint("subspace")
    assert plain.fingerprint_ == of(False, True).fingerprint_
    assert len({of(*pair).fingerprint_ for pair in [(0, 1), (-1, 1), ("a", "b"), (1, 2)]}) == 4
    assert of(0, 1).guarantee_.setup.labels is of(-1, 1).guarantee_.setup.labels is None
    assert of(1, 2).guarantee_.setup.labels == ("1", "2")


def test_the_sign_of_a_lone_class_is_read_off_or_asked_for_never_guessed():
    for label in (2, -2, "yes"):
        with pytest.raises(InputError, match=r"only one class, .*name both: classes="):
            SubspaceClassifier().fit(X, [label] * 60)
    for label, positive in [(1, True), (True, True), (0, False), (-1, False), (False, False)]:
        lone = SubspaceClassifier(random_state=1).fit(X, [label] * 60)
        assert (lone.subspace_.dim > 0) == positive
        assert lone.guarantee_.setup.labels == (repr(label),)
    named = SubspaceClassifier(classes=[1, 2], random_state=1).fit(X, [1] * 60)
    assert named.subspace_.dim == 0
    assert named.predict([[0, 0, 0], [1, 0, 0]]).tolist() == [2, 1]
    assert named.guarantee_.setup.labels is None


@pytest.mark.parametrize("cls", [ParityClassifier, SubspaceClassifier, *PRIVATE])
def test_remedies_that_the_caller_has(cls):
    with pytest.raises(InputError, match=r"'c', .*known \('a', 'b'\).*made: classes=\[...\]"):
        cls(classes=["a", "b"]).fit(X, ["c"] * 60)
    for bad in ([], [[0, 1]], "ab", [[0], [1, 2]], np.ma.array([0, 1], mask=[0, 1])):
        with pytest.raises(InputError, match="classes"):
            cls(classes=bad).fit(X, X[:, 0])


def test_classes_in_two_places_must_agree():
    model = ParityClassifier(fit_intercept=False, classes=["a", "b"], random_state=1)
    with pytest.raises(InputError, match=r"partial_fit got classes=\['a', 'c'\], but the estim"):
        model.partial_fit(X, ["a"] * 60, classes=["a", "c"])
    model.partial_fit(X, ["a"] * 60, classes=["b", "a"]).partial_fit(X[:1], ["b"])
    assert model.classes_.tolist() == ["a", "b"]


def test_measure_names_a_way_out_that_exists():
    model = ParityClassifier(fit_intercept=False, random_state=1).fit(X, NAMES[X[:, 0]])
    with pytest.raises(InputError, match=r"'z', a label that does not go with") as refused:
        model.measure(X, ["z"] * 60)
    assert "partial_fit" not in str(refused.value)
    with pytest.raises(InputError, match=r"row 0, column 0 is 4.5.*'3/4'$"):
        ParityClassifier(fit_intercept=False, field="QQ", choice="lexmin").fit(X, [4.5] * 60)


# -- zero weights ------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", [ParityClassifier, EliminationClassifier, SubspaceClassifier])
def test_a_row_of_weight_zero_is_no_row(cls):
    labels = NAMES[X[:, 0]].copy()
    labels[0] = "c"
    weights = [0] + [1] * 59
    model = cls(random_state=1).fit(X, labels, sample_weight=weights)
    without = cls(random_state=1).fit(X[1:], labels[1:])
    assert model.classes_.tolist() == ["a", "b"]
    assert model.fingerprint_ == without.fingerprint_
    assert model.flag_ == without.flag_
    model.partial_fit(X[:2], ["z", "z"], sample_weight=[0, 0])
    assert model.flag_.n_rows == 59
    with pytest.raises(InputError, match="zero for every row"):
        cls().partial_fit(X[:1], [1], sample_weight=[0])


# -- predictions in the type of the labels -----------------------------------------------------

Z = np.random.RandomState(0).randint(0, 5, size=(300, 2))


def rational(y):
    return ParityClassifier(fit_intercept=False, field="QQ", choice="lexmin", random_state=1).fit(
        Z, y
    )


@pytest.mark.parametrize("dtype", ["u1", "i1", "i8", "f4"])
def test_predictions_outgrow_the_dtype_of_the_labels(dtype):
    model = rational((2 * Z[:, 0]).astype(dtype))
    assert model.predict(Z).dtype == dtype
    assert model.predict([[-3, 0], [400, 0]]).tolist() == [-6, 800]
    assert model.predict([[2**70, 0]]).tolist() == [2**71]
    halves = model.predict([[Fraction(1, 4), 0]])
    assert halves.tolist() == [Fraction(1, 2)]


def test_predictions_of_a_large_field_outgrow_small_floats():
    model = ParityClassifier(field=2**31 - 1, random_state=1)
    model.fit([[0], [1]], np.array([0, 3], dtype=np.float32))
    assert model.predict([[20_000_001]]).tolist() == [60_000_003]
    assert model.predict([[1]]).dtype == np.float32


@pytest.mark.parametrize("dtype", [object, str])
def test_labels_that_are_text_are_predicted_as_text(dtype):
    y = np.array(["0", "1/2", "2/2", "3/2", "2"], dtype=dtype)[Z[:, 0]]
    model = rational(y)
    assert model.score(Z, y) == 1.0
    assert model.predict([[2, 0], [9, 0]]).tolist() == ["2/2", "9/2"]


def test_a_vector_of_right_hand_sides_is_no_table():
    with pytest.raises(InputError, match=r"one label per row: .*\(60, 2\).*Choose one column"):
        LinearEquations().fit(X, X[:, :2])


@pytest.mark.parametrize("gap", [None, float("nan"), pd.NA, pd.NaT])
@pytest.mark.parametrize("cls", [ParityClassifier, SubspaceClassifier, LinearEquations, *PRIVATE])
def test_a_label_that_is_missing_is_called_so(cls, gap):
    labels = np.array(["no", "yes"] * 10, dtype=object)
    labels[3] = gap
    with pytest.raises(InputError, match=r"y: row 3 is .*, a missing or infinite label; drop"):
        cls().fit(np.eye(20, dtype=int), labels)


def test_the_formula_names_the_label_and_its_classes():
    X = np.random.RandomState(0).randint(0, 2, size=(80, 3))
    y = pd.Series(np.where(X[:, 0] ^ X[:, 2], "good", "bad"), name="quality")
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    formula = "quality = a ⊕ c  # 'bad' is 0, 'good' is 1"
    model = ParityClassifier(random_state=1).fit(frame, y)
    assert model.formula_ == EliminationClassifier(random_state=1).fit(frame, y).formula_ == formula
    assert ParityClassifier(random_state=1).fit(frame, y.to_frame()).formula_ == formula
    for private in PRIVATE:
        many = private(random_state=1, alpha=2).fit(pd.concat([frame] * 90), pd.concat([y] * 90))
        assert many.formula_ == formula
    assert model.finding_.answer.text == "quality = a ⊕ c"
    assert model.finding_.encoding.label.column == "quality"
    assert model.fingerprint_ == ParityClassifier(random_state=1).fit(X, y.tolist()).fingerprint_
    assert ParityClassifier(random_state=1).fit(X, X[:, 0]).formula_ == "y = x0"
    streamed = ParityClassifier(random_state=1).partial_fit(frame, y).partial_fit(frame, y.tolist())
    assert streamed.formula_ == formula
    named_like_a_feature = ParityClassifier(random_state=1).fit(frame, y.rename("b"))
    assert named_like_a_feature.formula_.startswith("y = a ⊕ c")


def test_the_equations_of_a_subspace_say_of_which_class():
    X = np.random.RandomState(0).randint(0, 2, size=(80, 3))
    inside = SubspaceClassifier(random_state=1).fit(X, np.where(X[:, 0] == X[:, 1], "in", "Out"))
    assert inside.formula_ == "x0 ⊕ x1 = 0  # where y is 'in'"


def test_truth_values_in_an_array_of_objects_are_truth_values():
    X = np.random.RandomState(0).randint(0, 2, size=(200, 3))
    y = X[:, 0] == 1
    plain, objects = (ParityClassifier(random_state=1).fit(X, v) for v in (y, y.astype(object)))
    assert objects.formula_ == plain.formula_
    assert objects.predict(X).dtype == bool
