"""The estimators among scikit-learn's own tools, and on every kind of table."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

from flagstone import (
    AffineSpan,
    FieldEncoder,
    LinearEquations,
    LinearSpan,
    ParityClassifier,
    SubspaceClassifier,
    pack,
)
from flagstone.estimators import EliminationClassifier
from tests.optional import PRIVATE

RNG = np.random.RandomState(0)
X = RNG.randint(0, 2, size=(400, 4))
Y = X[:, 0] ^ X[:, 2]
NAMES = ["left", "right", "up", "down"]
COLUMNS = {name: X[:, i] for i, name in enumerate(NAMES)}
FRAMES = {
    "pandas": pd.DataFrame(COLUMNS),
    "polars": pl.DataFrame(COLUMNS),
    "arrow": pa.table(COLUMNS),
}
FORMULAS = {
    ParityClassifier: "y = left ⊕ up",
    EliminationClassifier: "y = left ⊕ up",
    LinearEquations: "left = 1\nright = 0\nup = 1\ndown = 0",
    SubspaceClassifier: "left ⊕ up = 1",
    LinearSpan: "(no equations: every row obeys them)",
    AffineSpan: "(no equations: every row obeys them)",
}


def made(cls):
    settings = {"affine": True} if cls is SubspaceClassifier else {}
    return cls(random_state=1, **settings)


@pytest.mark.parametrize("library", FRAMES)
@pytest.mark.parametrize("cls", FORMULAS, ids=lambda cls: cls.__name__)
def test_frames_of_every_library_with_names(cls, library):
    frame = FRAMES[library]
    model = made(cls).fit(frame, Y)
    assert model.feature_names_in_.tolist() == NAMES
    assert model.formula_ == FORMULAS[cls]
    plain = made(cls).fit(X, Y)
    assert model.fingerprint_ == plain.fingerprint_
    assert not hasattr(plain, "feature_names_in_")
    names = model.get_feature_names_out().tolist()
    expected = {
        ParityClassifier: ["left", "up"],
        EliminationClassifier: ["left", "up"],
        LinearEquations: NAMES,
        SubspaceClassifier: ["left", "up"],
    }
    assert names == expected.get(cls, [])
    with pytest.raises(ValueError, match="not equal to feature_names_in_"):
        model.get_feature_names_out(["a", "b", "c", "d"])
    if hasattr(model, "predict"):
        assert (model.predict(frame) == plain.predict(X)).all()
        with pytest.raises(ValueError, match="feature names should match"):
            model.predict(FRAMES["pandas"][NAMES[::-1]])


@pytest.mark.parametrize(
    "series", [pd.Series, pl.Series, pa.array], ids=["pandas", "polars", "arrow"]
)
def test_labels_of_every_library(series):
    for values in (Y.astype(bool), np.array(["no", "yes"])[Y], Y):
        model = ParityClassifier(fit_intercept=False, random_state=1).fit(
            X, series(values.tolist())
        )
        assert model.formula_.split("  # ")[0] == "y = x0 ⊕ x2"
        assert model.predict(X).tolist() == values.tolist()


def test_weights_of_every_library():
    weights = RNG.randint(0, 3, size=400)
    expected = (
        ParityClassifier(fit_intercept=False, random_state=1).fit(X, Y, sample_weight=weights).flag_
    )
    for kind in (list, pd.Series, pl.Series, lambda w: w.astype(float)):
        model = ParityClassifier(fit_intercept=False, random_state=1).fit(
            X, Y, sample_weight=kind(weights)
        )
        assert model.flag_ == expected


@pytest.mark.parametrize(
    "container", [sparse.csr_matrix, sparse.csr_array, sparse.csc_array, sparse.coo_array]
)
@pytest.mark.parametrize("cls", FORMULAS, ids=lambda cls: cls.__name__)
def test_sparse_tables(cls, container):
    thin = container(X)
    model = made(cls).fit(thin, Y)
    plain = made(cls).fit(X, Y)
    assert model.flag_ == plain.flag_
    assert model.fingerprint_ == plain.fingerprint_
    if hasattr(model, "predict"):
        assert (model.predict(thin) == plain.predict(X)).all()


def test_sparse_tables_are_unfolded_in_pieces_and_errors_count_from_the_first_row():
    tall = sparse.random(70_000, 5, density=0.1, random_state=0, format="csr")
    tall.data[:] = 1
    model = LinearSpan(random_state=1).fit(tall)
    assert model.flag_ == LinearSpan(random_state=1).fit(tall.toarray().astype(np.uint8)).flag_
    bad = tall.tolil()
    bad[66_000, 3] = 2
    with pytest.raises(ValueError, match=r"row 66000, column 3 is 2.0, which is not in GF\(2\)"):
        LinearSpan().fit(bad.tocsr())


@pytest.mark.parametrize("cls", FORMULAS, ids=lambda cls: cls.__name__)
@pytest.mark.parametrize("field", [2, 3])
def test_packed_rows(cls, field):
    model, plain = made(cls).set_params(field=field), made(cls).set_params(field=field)
    labels = Y
    model.fit(pack(X), labels)
    plain.fit(X, labels)
    assert model.flag_ == plain.flag_
    assert model.fingerprint_ == plain.fingerprint_


# -- tools -------------------------------------------------------------------------------------


def messy_table():
    table = pd.DataFrame(
        {
            "armed": RNG.randint(0, 2, 600).astype(bool),
            "mode": np.array(["day", "night"])[RNG.randint(0, 2, 600)],
            "level": RNG.randint(0, 8, 600),
        }
    )
    odd = table["level"].to_numpy() & 1
    fault = table["armed"].to_numpy() ^ (table["mode"] == "night").to_numpy() ^ odd.astype(bool)
    return table, np.where(fault, "fault", "fine")


def test_a_pipeline_from_a_real_table_to_a_rule():
    table, y = messy_table()
    pipe = make_pipeline(FieldEncoder(), ParityClassifier(fit_intercept=True, random_state=1))
    pipe.set_output(transform="pandas")
    pipe.fit(table, y)
    assert pipe[-1].formula_ == ("y = armed ⊕ mode ⊕ level[0] ⊕ 1  # 'fault' is 0, 'fine' is 1")
    assert pipe.score(table, y) == 1.0
    assert cross_val_score(pipe, table, y, cv=4).tolist() == [1.0] * 4
    assert (cross_val_predict(pipe, table, y, cv=3) == y).all()


def test_a_column_transformer():
    table, y = messy_table()
    split = make_column_transformer(
        (FieldEncoder(), ["armed", "level"]),
        (OrdinalEncoder(), ["mode"]),
        verbose_feature_names_out=False,
    )
    pipe = make_pipeline(split, ParityClassifier(fit_intercept=True, random_state=1)).fit(table, y)
    assert split.fit(table).get_feature_names_out().tolist() == [
        "armed",
        "level[0]",
        "level[1]",
        "level[2]",
        "mode",
    ]
    assert pipe.score(table, y) == 1.0


def test_a_grid_search_finds_the_contamination():
    labels = Y.copy()
    labels[::50] ^= 1
    search = GridSearchCV(
        ParityClassifier(fit_intercept=False, on_bottom="majority", random_state=1),
        {"contamination": [0.0, 0.03], "rule": ["index", "heavy"]},
        cv=3,
    )
    search.fit(X, labels)
    assert search.best_params_["contamination"] == 0.03
    assert search.best_estimator_.formula_ == "y = x0 ⊕ x2"
    assert search.best_score_ > 0.95


@pytest.mark.parametrize("cls", [*FORMULAS, *PRIVATE, FieldEncoder], ids=lambda cls: cls.__name__)
def test_clones_have_the_parameters_and_nothing_else(cls):
    model = cls(field=3).fit(X, Y)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert not hasattr(copy, "n_features_in_")
    assert repr(copy) == f"{cls.__name__}(field=3)"


@pytest.mark.parametrize("cls", [LinearSpan, AffineSpan])
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_set_output_names_the_checks(cls, library):
    table = X.copy()
    table[:, 3] = table[:, 0] ^ table[:, 1]
    model = cls(random_state=1).set_output(transform=library).fit(table)
    out = model.transform(table)
    assert type(out).__module__.startswith(library)
    assert list(out.columns) == ["check0"]
    assert np.asarray(out).tolist() == model.syndrome(table).tolist()


def test_sample_weight_is_routed():
    weights = RNG.randint(0, 3, size=400)
    with sklearn.config_context(enable_metadata_routing=True):
        model = ParityClassifier(fit_intercept=False, random_state=1).set_fit_request(
            sample_weight=True
        )
        pipe = make_pipeline(OrdinalEncoder(), model).fit(X, Y, sample_weight=weights)
        assert pipe[-1].flag_.n_rows == weights.sum()
        search = GridSearchCV(
            model.set_score_request(sample_weight=True), {"eps": [0.05, 0.1]}, cv=2
        ).fit(X, Y, sample_weight=weights)
        assert search.best_estimator_.flag_.n_rows == weights.sum()
        span = LinearSpan().set_partial_fit_request(sample_weight=True)
        assert span.get_metadata_routing().partial_fit.requests["sample_weight"] is True
