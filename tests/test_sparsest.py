"""The sparsest rule: a rule that fits, with the fewest terms where that is claimed."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flagstone import FieldEncoder, Finding, ParityClassifier, Subspace, text
from flagstone.answers import ParityRule, _solve, sparsest
from tests.strategies import ORDERS, elements, table
from tests.test_answers import fits, systems


def terms(w):
    return sum(x != 0 for x in w)


@pytest.fixture(autouse=True)
def afresh():
    sparsest.cache_clear()


@given(systems(max_dim=4))
def test_it_is_the_lightest_of_all_rules_that_fit(system):
    order, n, rows = system
    U = Subspace.span(table(order, n + 1, rows), order, n + 1)
    fitting = [w for w in itertools.product(range(order), repeat=n) if fits(order, w, rows)]
    rule = ParityRule.from_subspace(U, choice="sparsest")
    assert rule.is_bottom == (not fitting)
    if fitting:
        assert tuple(rule.coef.tolist()) in fitting
        assert len(rule.support) == min(map(terms, fitting))
        assert sparsest(U, n).proven  # so few rules are all tried


@settings(deadline=None)
@given(systems(max_dim=3))
def test_the_constant_is_no_term(system):
    order, n, rows = system
    lifted = [(*a, 1, b) for *a, b in rows]
    U = Subspace.span(table(order, n + 2, lifted), order, n + 2)
    fitting = [w for w in itertools.product(range(order), repeat=n + 1) if fits(order, w, lifted)]
    rule = ParityRule.from_subspace(U, choice="sparsest", fit_intercept=True)
    if fitting:
        assert (*rule.coef.tolist(), rule.intercept) in fitting
        assert len(rule.support) == min(terms(w[:n]) for w in fitting)


def planted(order, n, m, rng):
    """A span of m rows with a rule of three terms, and every other kind of column."""
    top = 5 if order == "QQ" else order
    A = rng.integers(0, top, size=(m, n)).astype(object if order == "QQ" else np.int64)
    y = (A[:, 1] + A[:, 4] + A[:, 7]) % top if order in (2, 3, 5) else A[:, 4]
    return Subspace.span(np.column_stack([A, y]), order)


@pytest.mark.parametrize("order", ORDERS)
def test_without_tables_moves_find_it_too(order, monkeypatch):
    """Both searches alone: sums of columns that meet, and moves from solution to solution."""
    rng = np.random.default_rng(1)
    U = planted(order, 12, 8, rng)
    both = sparsest(U, 12)
    F = U.field
    shown = F.dot(F.rows(U.basis[:, :12]), both.solution[np.newaxis])[:, 0]
    assert (shown == U.basis[:, 12]).all()
    sparsest.cache_clear()
    monkeypatch.setattr(_solve, "_PAIRS", 0)
    alone = sparsest(U, 12)
    if both.proven and alone.proven:
        assert terms(alone.solution) == terms(both.solution)
    assert both.proven
    assert terms(both.solution) <= 3


@settings(deadline=None, max_examples=30)
@given(st.sampled_from([2, 3]), st.integers(6, 11), st.integers(1, 5), st.integers(0, 2**32))
def test_a_search_that_is_cut_short_says_so(order, n, m, seed):
    """Whatever the budget: a solution; never claimed to be the lightest if it is not."""
    rng = np.random.default_rng(seed)
    A, b = rng.integers(0, order, size=(m, n)), rng.integers(0, order, size=m)
    U = Subspace.span(np.column_stack([A, b]), order)
    if n in U.pivots or order**n > 3**8:
        return
    rows = U.basis.tolist()
    lightest = min(
        terms(w) for w in itertools.product(range(order), repeat=n) if fits(order, w, rows)
    )
    for pairs in (0, 1 << 18):
        for looks in (0, 500, 1 << 20):
            sparsest.cache_clear()
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(_solve, "_PAIRS", pairs)
                patch.setattr(_solve, "_LOOKS", dict.fromkeys(_solve._LOOKS, looks))
                found = sparsest(U, n)
            assert fits(order, found.solution.tolist(), rows)
            assert terms(found.solution) == lightest or not found.proven
    assert found.proven


@given(st.data())
def test_constant_columns_have_the_coefficient_0(data):
    order = data.draw(st.sampled_from(ORDERS))
    values = data.draw(st.lists(st.tuples(*[elements(order)] * 3), min_size=1, max_size=6))
    constant = data.draw(elements(order))
    rows = [(a, constant, b, 0, 1, y) for a, b, y in values]  # x1 and x3 are constant
    U = Subspace.span(table(order, 6, rows), order)
    for choice in ("lexmin", "sparsest"):
        rule = ParityRule.from_subspace(U, choice=choice, fit_intercept=True)
        assert not {1, 3} & set(rule.support)
    plain = Subspace.span(table(order, 5, [(*row[:4], row[5]) for row in rows]), order)
    for choice in ("lexmin", "sparsest"):
        assert 3 not in ParityRule.from_subspace(plain, choice=choice).support


def sample(seed, n=400):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, size=(n, 10))
    X[:, 3] = X[:, 1] ^ X[:, 2]
    X[:, 5] = 1
    return X, X[:, 3] ^ X[:, 7] ^ 1


def test_two_samples_and_any_seed_give_one_sparse_rule():
    """The same V* gives the same rule, whatever the coins."""
    models = [ParityClassifier(choice="sparsest", random_state=s).fit(*sample(s)) for s in (1, 2)]
    assert [model.formula_ for model in models] == ["y = x3 ⊕ x7 ⊕ 1"] * 2
    assert models[0].finding_.subspace == models[1].finding_.subspace
    assert models[0].fingerprint_ == models[1].fingerprint_


def test_what_is_said_where_many_rules_fit():
    X, y = sample(3)
    found = {
        choice: ParityClassifier(choice=choice, random_state=4).fit(X, y).finding_
        for choice in ("uniform", "lexmin", "sparsest")
    }
    for choice, finding in found.items():
        assert finding.title == "A linear rule for y, one of 2^2 that fit"
        assert finding.title in finding.headline
        assert finding.alternatives.dim == 2
        assert finding.alternatives.proven == (True if choice == "sparsest" else None)
        assert Finding.from_dict(finding.to_dict()) == finding
        assert text.alternatives(finding) in finding.notes
        assert "2^2 rules fit these rows" in finding._repr_html_()
    said = {choice: text.alternatives(finding) for choice, finding in found.items()}
    assert "drawn by the coins" in said["uniform"]
    assert "lexicographically smallest" in said["lexmin"]
    assert said["sparsest"].endswith("with the fewest terms")


def test_one_rule_and_infinitely_many():
    X = np.array([[1, 2, 3], [2, 4, 7]] * 60)
    model = ParityClassifier(field="QQ", choice="sparsest", fit_intercept=False, random_state=1)
    finding = model.fit(X, X[:, 2]).finding_
    assert finding.answer.text == "y = x2"
    assert finding.alternatives.count == "infinitely many"
    full = ParityClassifier(fit_intercept=False, random_state=1)
    full.fit(np.eye(3)[[0, 1, 2] * 90], [0, 1, 1] * 90)
    assert full.finding_.alternatives is None
    assert full.finding_.title == "A linear rule for y"


def test_all_zero_rows_give_the_rule_zero():
    for choice in ({}, {"choice": "lexmin"}):
        model = ParityClassifier(random_state=7, **choice).fit(np.zeros((50, 4), int), [0] * 50)
        assert model.formula_ == "y = 0"


def test_a_search_that_would_take_too_much_memory_is_not_begun():
    """Few rows and many columns: the moves alone would take n² entries."""
    rng = np.random.RandomState(1)
    X = rng.randint(0, 2, size=(40, 40_000), dtype=np.uint8)
    found = sparsest(Subspace.span(np.column_stack([X, X[:, 7] ^ X[:, 9]])), 40_000)
    assert 0 < np.count_nonzero(found.solution) <= 40
    assert (X @ found.solution % 2 == X[:, 7] ^ X[:, 9]).all()


def test_rules_that_agree_on_every_row_of_the_encoding_are_one_rule():
    """The columns of a category sum to 1, so a rule may be written in several ways."""
    random = np.random.RandomState(1)
    table = pd.DataFrame({c: random.choice(list("uvw"), 900) for c in "ab"})
    table["on"] = random.randint(0, 2, 900)
    y = table.on ^ (table.a == "u")
    encoder = FieldEncoder().set_output(transform="pandas")
    model = ParityClassifier(random_state=1).fit(encoder.fit_transform(table), y)
    found = model.finding_.alternatives
    assert (found.count, found.differ, found.different) == ("2^2", 0, "1")
    assert model.finding_.title == "A linear rule for y"
    assert text.alternatives(model.finding_) == (
        "2^2 rules fit these rows, and agree on every row that the encoding can make; this is one "
        "of them, with the fewest terms"
    )
    table["off"] = 1 - table.on  # says the same in these rows, but need not
    model = ParityClassifier(random_state=1).fit(encoder.fit_transform(table), y)
    found = model.finding_.alternatives
    assert (found.count, found.differ, found.different) == ("2^3", 1, "2")
    assert model.finding_.title == "A linear rule for y, one of 2^3 that fit"
    assert "2^3 rules fit these rows, of which 2 differ on some row" in text.alternatives(
        model.finding_
    )
