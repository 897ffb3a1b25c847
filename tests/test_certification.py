"""Certification: one pass over the rows of an answer, and looks at a stream."""

import copy
import pickle

import numpy as np
import pytest

from flagstone import (
    GF,
    QQ,
    Coins,
    ConstraintsQuestion,
    EquationsQuestion,
    Flag,
    HeavyRule,
    Histogram,
    IndexRule,
    LinearSpan,
    ParityQuestion,
    SpanQuestion,
    SubspaceQuestion,
    ask,
)
from flagstone.certification import Certification, StreamCertification
from flagstone.certificates import pilot_share
from flagstone.errors import InputError
from flagstone.fields import width
from flagstone.finding import Finding
from flagstone.road import certify


def rows_with_a_gap(m, d=6, damage=0.01, seed=1):
    """The last bit is the sum of the first two, but for a few damaged rows."""
    random = np.random.RandomState(seed)
    X = random.randint(0, 2, size=(m, d))
    X[:, -1] = X[:, 0] ^ X[:, 1] ^ (random.random_sample(m) < damage)
    return X


def answered(X, question=None, rule=None, field=2, y=None, summary=Flag):
    """The finding of some rows, and the rows and labels as kernels know them."""
    F = GF(field) if isinstance(field, int) else field
    rows, labels = F.rows(X), None if y is None else F.elements(y)
    question = question or SpanQuestion()
    lifted = question.lift(F, rows, labels)
    filled = summary(width(lifted), F).update(lifted)
    finding = ask(filled, question, rule or IndexRule(t_min=0.05, t_max=0.15), Coins(7))
    return finding, rows, labels, lifted


@pytest.mark.parametrize("m", [1, 2, 9, 10, 11, 20, 200])
@pytest.mark.parametrize("row", [[1, 0, 1], [0, 0, 0]])
def test_constant_rows_are_certified_whatever_their_number(m, row):
    # each row fills a set: pieces of one row, which once ran past the end of their list
    finding, rows, *_ = answered(np.tile([row], (m, 1)), rule=IndexRule())
    for _ in range(20):
        certified = certify(finding, rows)
    assert Finding.from_dict(certified.to_dict()) == certified
