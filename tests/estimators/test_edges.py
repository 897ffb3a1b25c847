"""What people do in a notebook: run a cell again, draw into a file, hand the model to a tool."""

import json
import warnings

import numpy as np
import pyarrow as pa
import pytest
from sklearn.calibration import calibration_curve
from sklearn.metrics import roc_auc_score

from flagstone import (
    AffineSpan,
    FieldEncoder,
    IndexRule,
    InputError,
    LinearSpan,
    ParityClassifier,
    SubspaceClassifier,
    load,
    suggest_window,
)
from flagstone.errors import ReplicabilityWarning

RNG = np.random.RandomState(0)
X = RNG.randint(0, 2, size=(400, 4))
Y = X[:, 0] ^ X[:, 2]


def test_a_cell_may_be_run_again(tmp_path):
    first, second = (ParityClassifier(random_state=s).fit(X, Y).finding_ for s in (1, 2))
    for path, act in (("rule.json", "save"), ("rule.html", "report")):
        target = tmp_path / path
        for finding in (first, second):
            getattr(finding, act)(target)
        assert "2" == load(target).seed if act == "save" else b"seed" in target.read_bytes().lower()
        other = tmp_path / f"other-{path}"
        other.write_text("mine")
        with pytest.raises(InputError, match="exists already; replace it with overwrite=True"):
            getattr(first, act)(other)
        assert other.read_text() == "mine"
        getattr(first, act)(other, overwrite=True)
        assert other.read_text() != "mine"
    protocol = suggest_window(X, random_state=1).protocol
    with pytest.raises(InputError, match="exists already"):
        protocol.save(tmp_path / "rule.json")  # a finding is no protocol
    assert json.loads((tmp_path / "rule.json").read_text())["kind"] == "finding"


def test_a_finding_is_drawn_into_a_file(tmp_path):
    display = AffineSpan(random_state=1).fit(X).finding_.plot(tmp_path / "scree.svg")
    assert b"<svg" in (tmp_path / "scree.svg").read_bytes()
    assert display.figure_ is None  # matplotlib was not needed
    display.plot()
    display.save(tmp_path / "scree.png")
    assert display.figure_ is not None
    assert (tmp_path / "scree.png").read_bytes().startswith(b"\x89PNG")


def test_record_batches_are_tables():
    batch = pa.RecordBatch.from_arrays([pa.array(c) for c in X.T], names=list("abcd"))
    model = ParityClassifier(random_state=1).fit(batch, pa.array(Y))
    assert model.formula_ == "y = a ⊕ c"
    assert (model.predict(batch) == Y).all()
    assert FieldEncoder().fit_transform(batch).tolist() == X.tolist()


def test_probabilities_are_zero_or_one_in_the_order_of_the_classes():
    words = np.array(["no", "yes"])[Y]
    for model in (ParityClassifier(random_state=1), SubspaceClassifier(affine=True)):
        model.fit(X, words)
        found = model.predict_proba(X)
        assert model.classes_[found.argmax(axis=1)].tolist() == words.tolist()
        assert sorted(np.unique(found).tolist()) == [0.0, 1.0]
        assert roc_auc_score(words, found[:, 1]) == 1.0
        assert calibration_curve(Y, found[:, 1], n_bins=2)[0].tolist() == [0.0, 1.0]
    assert not hasattr(ParityClassifier(field=3), "predict_proba")


def test_the_majority_is_predicted_where_nothing_was_kept():
    model = ParityClassifier(
        rule=IndexRule(t_min=390, t_max=395), on_bottom="majority", random_state=1
    )
    with pytest.warns(ReplicabilityWarning, match="No direction was kept"):
        model.fit(X, Y)
    assert set(model.predict(X).tolist()) == {int(Y.mean() > 0.5)}


def test_bottom_says_what_to_try_next():
    noisy = Y ^ (RNG.rand(400) < 0.2)
    with pytest.warns(ReplicabilityWarning, match=r"contamination;.*degree=2, or add columns"):
        model = ParityClassifier(random_state=1).fit(X, noisy)
    with pytest.raises(ValueError, match=r"contamination; .*degree=2, or add columns.*majority"):
        model.predict(X)


def test_a_suggestion_has_a_view_for_notebooks():
    page = suggest_window(X, random_state=1)._repr_html_()
    assert "400 pilot rows" in page
    assert "Agreement they would certify" in page


def test_what_fit_says_is_what_the_file_says(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LinearSpan(rule=IndexRule(t_min=0.03, t_max=0.1), random_state=1)
        finding = model.fit(np.column_stack([X, Y])).finding_
    finding.save(tmp_path / "span.json")
    again = load(tmp_path / "span.json")
    assert again == finding
    assert str(again.promises) == str(model.guarantee_)
    assert again.headline == finding.headline
    assert "certified" in str(model.guarantee_)
