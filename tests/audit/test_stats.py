"""Records add up, refuse nonsense, and decide as they say."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagstone.audit import AuditStats
from flagstone.errors import InputError


@st.composite
def records(draw):
    agree, differ, errors = (draw(st.integers(0, 50)) for _ in range(3))
    return AuditStats(
        "task",
        pairs=agree + differ + errors,
        agreements=agree,
        both_bottom=draw(st.integers(0, agree)),
        one_bottom=draw(st.integers(0, differ)),
        errors=errors,
        error_types=(("ValueError: x", errors),) if errors else (),
        seconds=draw(st.floats(0, 100)),
    )


@given(a=records(), b=records(), c=records())
def test_addition_is_associative_and_commutative_and_keeps_every_count(a, b, c):
    assert a + b == b + a
    assert (a + b) + c == a + (b + c)
    assert (a + b).pairs == a.pairs + b.pairs
    assert (a + b).disagreements == a.disagreements + b.disagreements
    assert sum(n for _, n in (a + b).error_types) == (a + b).errors
    assert a + AuditStats("task") == a


def test_records_of_different_tasks_do_not_add_up():
    with pytest.raises(InputError, match="same task"):
        AuditStats("a") + AuditStats("b")
    with pytest.raises(TypeError):
        AuditStats("a") + 1


def test_integrated_and_plain_records_do_not_mix():
    plain = AuditStats("t", pairs=1, agreements=1)
    integrated = dataclasses.replace(plain, integrated=(0.1,))
    assert (integrated + AuditStats("t")).integrated == (0.1,)
    assert (integrated + AuditStats("t", pairs=1, errors=1)).integrated == (0.1,)
    with pytest.raises(InputError, match="integrated"):
        integrated + plain


def test_frozen_and_without_seconds_in_equality():
    a = AuditStats("t", pairs=3, agreements=2, seconds=1.0)
    assert a == dataclasses.replace(a, seconds=9.0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        a.pairs = 4


@pytest.mark.parametrize(
    "counts",
    [
        {"pairs": -1},
        {"pairs": 1, "agreements": 2},
        {"pairs": 2, "agreements": 1, "both_bottom": 2},
        {"pairs": 2, "agreements": 1, "one_bottom": 1, "errors": 1},
    ],
)
def test_impossible_counts_are_refused(counts):
    with pytest.raises(InputError):
        AuditStats("t", **counts)


@pytest.mark.parametrize(
    ("agree", "claim", "decision"),
    [(500, 0.05, "supported"), (300, 0.05, "rejected"), (470, 0.05, "undecided")],
)
def test_verdicts(agree, claim, decision):
    verdict = AuditStats("t", pairs=500, agreements=agree).verdict(claim)
    assert verdict.decision == decision
    assert "0.05" in str(verdict)
    # An e-value of 20 is what confidence 0.95 asks for.
    assert (verdict.evidence >= 20) == (decision == "rejected")
    with pytest.raises(InputError, match="claimed rho"):
        AuditStats("t").verdict(1.5)


def test_a_true_claim_is_rejected_at_most_as_often_as_stated():
    """Judge a true claim after every pair; the verdict may be wrong in 5 % of the runs."""
    rng = np.random.RandomState(5)
    wrong = 0
    for _ in range(120):
        stats = AuditStats("t")
        for differs in rng.random_sample(120) < 0.1:
            stats += AuditStats("t", pairs=1, agreements=int(not differs))
            if stats.pairs % 10 == 0 and stats.verdict(0.1).decision == "rejected":
                wrong += 1
                break
    assert wrong <= 15  # Binomial(120, 0.05) exceeds 15 with probability below 1e-3


def test_empty_and_erroneous_records_speak():
    empty = AuditStats("t")
    assert math.isnan(empty.disagreement_rate)
    assert empty.interval() == (0.0, 1.0)
    assert empty.verdict(0.5).decision == "undecided"
    assert empty.to_dict()["disagreement_rate"] is None
