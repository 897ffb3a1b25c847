"""Records add up, refuse nonsense, and decide as they say."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagstone.audit import AuditStats, anytime_interval, betting_interval, clopper_pearson
from flagstone.audit.stats import Verdict
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
    failed = AuditStats("t", pairs=1, errors=1, integrated=(1.0,))
    assert (integrated + failed).integrated == (0.1, 1.0)
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
    assert math.isnan(empty.standard_error)
    assert empty.to_dict()["standard_error"] is None
    assert not empty.all_bottom


@given(record=records())
def test_rate_and_error_are_those_of_the_list_of_values(record):
    """Zeros and ones, one per pair, by the formulas of the textbook."""
    values = [1.0] * record.disagreements + [0.0] * record.agreements
    assert len(values) == record.pairs == record.answered + record.errors
    assert record.errors <= record.disagreements
    if values:
        assert record.disagreement_rate == pytest.approx(np.mean(values))
        assert record.replicability == pytest.approx(1 - np.mean(values))
    if len(values) >= 2:
        error = np.std(values, ddof=1) / math.sqrt(len(values))
        assert record.standard_error == pytest.approx(error, abs=1e-12)
    else:
        assert math.isnan(record.standard_error)
    assert record.interval(0.9) == anytime_interval(record.disagreements, record.pairs, 0.9)
    exact = record.interval(0.9, anytime=False)
    assert exact == clopper_pearson(record.disagreements, record.pairs, 0.9)


@given(values=st.lists(st.floats(0, 1), min_size=1, max_size=30), agree=st.integers(0, 30))
def test_integrated_values_take_the_place_of_the_counts(values, agree):
    n = len(values)
    record = AuditStats("t", n, min(agree, n), integrated=tuple(sorted(values)))
    assert record.is_integrated
    assert record.disagreement_rate == pytest.approx(np.mean(values), abs=1e-12)
    if n >= 2:
        error = np.std(values, ddof=1) / math.sqrt(n)
        assert record.standard_error == pytest.approx(error, abs=1e-6)
    assert record.interval(0.9) == betting_interval(sorted(values), 0.9)
    exact = record.interval(0.9, anytime=False)
    assert exact == clopper_pearson(record.disagreements, n, 0.9)


def test_plain_pairs_are_the_fewest_that_are_as_narrow():
    values = tuple(np.linspace(0.1, 0.3, 25))
    record = AuditStats("t", 25, 20, integrated=values)

    def width(interval):
        return interval[1] - interval[0]

    for confidence in (0.8, 0.95):
        mine, n = width(record.interval(confidence)), record.plain_pairs(confidence)
        assert n > 25
        assert width(anytime_interval(0.2 * n, n, confidence)) <= mine
        assert width(anytime_interval(0.2 * (n - 1), n - 1, confidence)) > mine
    assert record.plain_pairs() == record.plain_pairs(0.95)
    coins = AuditStats("t", 20, 10, integrated=(0.0,) * 10 + (1.0,) * 10)
    assert coins.plain_pairs() == pytest.approx(20, abs=1)
    assert AuditStats("t", 19, 10, integrated=(0.5,) * 19).plain_pairs() is None
    assert AuditStats("t", 200, 100).plain_pairs() is None


def test_a_claim_at_the_end_of_the_interval():
    """At the upper end the rate is at or below the claim; at the lower one it is not above it."""
    stats = AuditStats("t", pairs=300, agreements=240)
    low, high = stats.interval(0.9)
    assert stats.verdict(high, 0.9).decision == "supported"
    assert stats.verdict(math.nextafter(high, 0), 0.9).decision == "undecided"
    assert stats.verdict(low, 0.9).decision == "undecided"
    assert stats.verdict(math.nextafter(low, 0), 0.9).decision == "rejected"
    for claim in (0, 0.0, 1):
        assert stats.verdict(claim).claim == claim
    for claim in (-0.01, 1.01, math.nan):
        with pytest.raises(InputError, match="a claimed rho must lie in"):
            stats.verdict(claim)
    for confidence in (0.0, 1.0):
        with pytest.raises(InputError, match="confidence must lie"):
            stats.verdict(0.1, confidence)


def test_evidence_is_against_claims_below_the_rate_only():
    stats = AuditStats("t", pairs=100, agreements=80)
    for claim in (0.2, 0.5, 1.0):
        assert stats.verdict(claim).evidence == 1.0
    assert stats.verdict(0.1).evidence > 1
    assert 1e299 < stats.verdict(0.0).evidence <= 1e300  # impossible, but a number
    integrated = AuditStats("t", 100, 80, integrated=(0.2,) * 100)
    assert integrated.verdict(0.2).evidence == 1.0
    assert integrated.verdict(0.1).evidence > stats.verdict(0.1).evidence


@pytest.mark.parametrize(
    ("counts", "decision", "note"),
    [
        ({"pairs": 200, "agreements": 200}, "supported", ""),
        (
            {"pairs": 201, "agreements": 200, "errors": 1},
            "supported",
            "1 of 201 pairs count as different for an error",
        ),
        (
            {"pairs": 400, "agreements": 200, "errors": 200},
            "rejected",
            "200 of 400 pairs count as different for an error",
        ),
        (
            {"pairs": 400, "agreements": 200, "errors": 200, "both_failed": 200},
            "undecided",
            "200 of 400 pairs count as different for an error",
        ),
        (
            {"pairs": 200, "agreements": 200, "both_bottom": 200},
            "supported",
            "every answer is ⊥, the runs agree on nothing",
        ),
        (
            {"pairs": 200, "agreements": 200, "both_bottom": 20, "both_empty": 180},
            "supported",
            "the runs agree on nothing",
        ),
        ({"pairs": 200, "agreements": 200, "both_bottom": 199}, "supported", ""),
        ({"pairs": 200, "agreements": 200, "both_empty": 199}, "supported", ""),
    ],
)
def test_a_verdict_says_what_it_leaves_out(counts, decision, note):
    stats = AuditStats("t", **counts)
    verdict = stats.verdict(0.1)
    assert (verdict.decision, verdict.note) == (decision, note)
    assert str(verdict).endswith(f"; {note}" if note else "valid under any stop rule)")
    assert stats.all_bottom == ("every answer is ⊥" in note)


def test_verdicts_in_words():
    def said(decision):
        return str(Verdict(decision, 0.05, 0.9, (0.01, 0.025), 1.0))

    rest = " at confidence 0.9 (rate in [0.0100, 0.0250], valid under any stop rule)"
    assert said("rejected") == "the claimed rho = 0.05 is REJECTED" + rest
    assert said("supported") == "the claimed rho = 0.05 is supported" + rest
    assert said("undecided") == "undecided about the claimed rho = 0.05" + rest


def test_numbers_of_pairs_join_and_never_overlap():
    def numbered(*ranges):
        return AuditStats("t", numbers=ranges)

    assert (numbered((0, 10)) + numbered((10, 20))).numbers == ((0, 20),)
    assert (numbered((10, 20)) + numbered((0, 10))).numbers == ((0, 20),)
    assert (numbered((0, 10), (30, 40)) + numbered((11, 30))).numbers == ((0, 10), (11, 40))
    assert (numbered() + numbered((3, 4))).numbers == ((3, 4),)
    for ranges in ([(9, 12)], [(0, 1)], [(3, 5)], [(20, 30), (9, 10)]):
        with pytest.raises(InputError, match=f"both records hold pair {min(ranges)[0]},"):
            numbered((0, 10)) + numbered(*ranges)


def test_counts_at_their_limits_are_records():
    full = AuditStats(
        "t", pairs=6, agreements=3, both_bottom=2, both_empty=1, one_bottom=1, errors=2,
        both_failed=2,
    )  # fmt: skip
    assert (full.answered, full.disagreements) == (4, 3)
    for name in ("both_empty", "both_failed"):
        with pytest.raises(InputError, match="but there are more"):
            dataclasses.replace(full, **{name: 3})
    for name in ("pairs", "agreements", "both_bottom", "one_bottom", "both_empty", "errors"):
        with pytest.raises(InputError, match="must not be negative"):
            dataclasses.replace(full, **{name: -1})
    for values in ((), (0.1,) * 4, (0.1,) * 5, (0.1,) * 7):
        with pytest.raises(InputError, match=f"per pair: 6 pairs, {len(values)} values"):
            dataclasses.replace(full, integrated=values)
    assert dataclasses.replace(full, integrated=(0.1,) * 6).to_dict()["integrated"] == [0.1] * 6


def test_the_dictionary_holds_what_was_counted():
    full = AuditStats(
        "t", 6, 3, both_bottom=2, one_bottom=1, errors=1, error_types=(("E", 1),), seconds=2.5
    )
    assert full.to_dict() == {
        "strong_id": "t",
        "pairs": 6,
        "agreements": 3,
        "disagreements": 3,
        "both_bottom": 2,
        "one_bottom": 1,
        "both_empty": 0,
        "errors": 1,
        "both_failed": 0,
        "error_types": {"E": 1},
        "integrated": None,
        "disagreement_rate": 0.5,
        "standard_error": pytest.approx(math.sqrt(0.25 / 5)),
        "seconds": 2.5,
        "accuracy": None,
        "coverage": None,
    }
    twice = full + full
    assert twice.error_types == (("E", 2),)
    assert twice.seconds == 5.0
