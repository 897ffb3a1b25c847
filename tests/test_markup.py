"""Cards: what comes from data stays text, and what is long is cut."""

import re
import warnings
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import flagstone
from flagstone import AffineSpan, Finding, Flag, IndexRule, LinearSpan, Subspace, estimators
from flagstone.algebra import AffineSubspace
from flagstone.answers import ParityRule
from flagstone.guarantees import Guarantee
from flagstone.markup import card, listing, matrix, table

SOURCES = sorted((Path(flagstone.__file__).parent).rglob("*.py"))
#: The sections that numpydoc knows; scikit-learn warns of others when it shows an estimator.
SECTIONS = {
    "Parameters", "Attributes", "Returns", "Yields", "Raises", "Warns", "See Also", "Notes",
    "References", "Examples",
}  # fmt: skip


@given(text=st.text(max_size=300))
def test_data_is_never_markup(text):
    shown = card(text, listing([text]), table([(text, text)], badges=["open"]))
    inside = re.sub(r"</?(div|pre|table|tr|td|span)( style=\"[^\"<>]*\")?>", "", shown)
    assert "<" not in inside
    assert ">" not in inside


def test_long_values_are_cut():
    assert "and 480 more" in listing([str(i) for i in range(500)])
    assert "and 5 more" in table([("a", "b")] * 25)
    assert len(card("x" * 10**6, listing(["y" * 10**6]), table([("z" * 10**6,)]))) < 5000
    assert len(matrix(np.zeros((10**4, 10**3), dtype=int), str)) < 10_000
    assert len(Subspace.full(2000)._repr_html_()) < 20_000


def test_empty_values_have_cards_too():
    for value in (
        Flag(3),
        Subspace.zero(3),
        AffineSubspace.empty(2),
        AffineSpan(rule=IndexRule(t_max=1), random_state=1).fit([[0, 1]] * 4).subspace_,
        LinearSpan(rule=IndexRule(t_max=1), random_state=1).fit([[0, 1]] * 4).finding_,
    ):
        assert value._repr_html_().startswith("<div")


ESTIMATORS = [getattr(estimators, name) for name in estimators.__all__]


@pytest.mark.parametrize("cls", ESTIMATORS)
def test_showing_an_estimator_warns_of_nothing(cls):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cls()._repr_html_()


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_docstrings_have_the_sections_that_readers_know(path):
    found = set(re.findall(r"^ *(\w[\w ]*)\n *-{4,}$", path.read_text(), re.MULTILINE))
    assert found <= SECTIONS | {"Methods", "Other Parameters", "Warnings"}


def test_every_value_of_a_notebook_has_a_card():
    for value in (Guarantee, Finding, Flag, Subspace, AffineSubspace, ParityRule):
        assert hasattr(value, "_repr_html_")
    audit = import_module("flagstone.audit")
    assert hasattr(audit.AuditResult, "_repr_html_")
    assert hasattr(audit.TradeoffCurve, "_repr_html_")
