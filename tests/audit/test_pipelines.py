"""Pipelines are audited by the fingerprint of their last step, and by what its columns mean."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.feature_selection import SelectKBest, chi2
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from flagstone import FieldEncoder, IndexRule, LinearSpan, ParityClassifier
from flagstone.audit import audit
from flagstone.audit._learners import Trial
from flagstone.audit._measures import PairComparison
from flagstone.checks import owner_of

RNG = np.random.RandomState(0)
TABLE = pd.DataFrame(
    {
        "colour": RNG.choice(["red", "green", "blue"], 400),
        "on": RNG.rand(400) < 0.5,
        "n": RNG.randint(0, 4, 400),
    }
)
LABELS = np.where(TABLE["on"], "good", "bad")
PARITY = ParityClassifier(rule=IndexRule(t_max=5), classes=["bad", "good"])


@pytest.mark.parametrize("library", [pd.DataFrame, pl.from_pandas])
def test_a_pipeline_on_a_frame_keeps_its_names_and_is_integrated(library):
    found = audit(make_pipeline(FieldEncoder(), PARITY), library(TABLE), LABELS, pairs=4)
    assert found.exact.estimate == 1.0
    assert found.stats.errors == 0
    assert found.integrated
    assert found.deterministic
    assert (found.score.name, found.score.estimate) == ("accuracy", 1.0)


def same(a, b):
    return PairComparison("auto").pair(Trial(a, None), Trial(b, None)).outcome == "agree"


def test_a_pipeline_without_labels_has_a_coverage():
    X = RNG.randint(0, 2, size=(300, 4))
    found = audit(
        make_pipeline(FunctionTransformer(), LinearSpan(rule=IndexRule(t_max=5))), X, pairs=3
    )
    assert found.exact.estimate == 1.0
    assert (found.score.name, found.score.estimate) == ("coverage", 1.0)


def test_equal_fingerprints_of_other_columns_are_no_agreement():
    """One keeps the first column and one the last; x0 + y = 0 says something else in each."""
    X = np.tile([[1, 0], [0, 1], [1, 1], [0, 0]], (30, 1))
    select = make_pipeline(SelectKBest(chi2, k=1), clone(PARITY).set_params(random_state=1))
    a = clone(select).fit(X, np.where(X[:, 0], "good", "bad"))
    b = clone(select).fit(X, np.where(X[:, 1], "good", "bad"))
    assert owner_of(a, "fingerprint_") is a[-1]
    assert a[-1].fingerprint_ == b[-1].fingerprint_
    assert not same(a, b)
    assert same(a, clone(select).fit(X, np.where(X[:, 0], "good", "bad")))


def test_equal_fingerprints_of_other_encoders_are_no_agreement():
    first = pd.DataFrame({"c": ["a", "b"] * 40})
    second = pd.DataFrame({"c": ["b", "c"] * 40})
    pipe = make_pipeline(FieldEncoder(), LinearSpan(rule=IndexRule(t_max=2), random_state=1))
    a, b = clone(pipe).fit(first), clone(pipe).fit(second)
    assert a[-1].fingerprint_ == b[-1].fingerprint_
    assert not same(a, b)
