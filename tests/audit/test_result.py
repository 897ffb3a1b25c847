"""Results: measures and verdicts are those of the records, in every form they are shown in."""

from __future__ import annotations

import csv
import io
import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagstone import __version__
from flagstone.audit import (
    AuditResult,
    AuditStats,
    Pair,
    anytime_interval,
)
from flagstone.errors import InputError


def packed(bits):
    return np.packbits(np.array(bits, dtype=np.uint8)).tobytes().hex()


def counted(agree, differ, errors=0, **options):
    kinds = ["agree"] * agree + ["differ"] * differ + ["one_error"] * errors
    pairs = [
        Pair(i, kind, float(kind == "agree"), error="E: 1" if kind == "one_error" else None)
        for i, kind in enumerate(kinds)
    ]
    return AuditResult("learner", "data", tuple(pairs), **options)


def ends(measure):
    return measure.low, measure.high


counts = st.builds(AuditStats, *(st.integers(0, 50) for _ in range(6)), seconds=st.floats(0, 9))


@given(a=counts, b=counts, c=counts)
def test_counts_add_up(a, b, c):
    assert a + b == b + a
    assert (a + b) + c == a + (b + c)
    assert (a + b).disagreements == a.disagreements + b.disagreements
    assert (a + b).answered == a.answered + b.answered
    assert a + AuditStats() == a


def test_counts_are_those_of_the_outcomes():
    kinds = ["agree", "differ", "both_bottom", "one_bottom", "both_empty", "one_error"]
    pairs = [Pair(i, kind, 0.0, seconds=0.5) for i, kind in enumerate([*kinds, "both_error"])]
    found = AuditStats.of(pairs)
    assert found == AuditStats(7, 3, 1, 1, 1, 2)
    assert (found.disagreements, found.answered, found.seconds) == (4, 5, 3.5)


def test_exact_is_the_share_of_equal_outputs_with_the_anytime_interval():
    found = counted(30, 8, 2, confidence=0.9)
    assert found.exact.estimate == 0.75
    assert ends(found.exact) == anytime_interval([1] * 30 + [0] * 10, 0.9)
    integrated = AuditResult(
        "l", "d", tuple(Pair(i, "agree", z) for i, z in enumerate([0.2, 0.4, 0.9])), integrated=True
    )
    assert integrated.exact.estimate == pytest.approx(0.5)
    assert ends(integrated.exact) == anytime_interval([0.2, 0.4, 0.9])


def test_pointwise_counts_each_input_over_all_pairs():
    bits = [[1, 1, 0], [1, 0, 0], [1, 1, 1], [1, 1, 0]]
    pairs = [Pair(i, "differ", 0.0, 0.5, packed(row)) for i, row in enumerate(bits)]
    failed = Pair(4, "one_error", 0.0, error="E")  # no input got the same output
    found = AuditResult("l", "d", (*pairs, failed), n_inputs=3, confidence=0.8).measures
    assert found["pointwise"].estimate == pytest.approx((4 + 3 + 1) / 15)
    assert ends(found["pointwise"]) == anytime_interval([2 / 3, 1 / 3, 1, 2 / 3, 0], 0.8)
    assert found["worst"].estimate == pytest.approx(1 / 5)
    worst = anytime_interval([1, 0, 0, 0, 0], 1 - 0.2 / 3)
    assert ends(found["worst"]) == pytest.approx(worst)
    assert found["approximate"].estimate == pytest.approx(0.4)
    assert ends(found["approximate"]) == anytime_interval([0.5] * 4 + [0.0], 0.8)


def test_similarities_have_intervals_on_their_own_scale():
    pairs = [Pair(i, "differ", 0.0, similarities={"adjusted_rand": v}) for i, v in enumerate(
        [0.7, 1.0, 0.7, -0.5])]  # fmt: skip
    failed = Pair(4, "one_error", 0.0, error="E")
    found = AuditResult("l", "d", (*pairs, failed)).measures["adjusted_rand"]
    assert found.estimate == pytest.approx((0.7 + 1.0 + 0.7 - 0.5) / 5)
    low, high = anytime_interval([0.8, 1.0, 0.8, 0.0, 1 / 3])
    assert ends(found) == pytest.approx((1.5 * low - 0.5, 1.5 * high - 0.5))
    distance = Pair(0, "differ", 0.0, similarities={"coef_distance": 0.2})
    found = AuditResult("l", "d", (distance, failed)).measures["coef_distance"]
    assert found.estimate == pytest.approx(0.6)  # a failed run is as far away as can be


@pytest.mark.parametrize(
    ("agree", "claim", "decision"),
    [(500, 0.05, "supported"), (300, 0.05, "rejected"), (470, 0.05, "undecided")],
)
def test_verdicts(agree, claim, decision):
    found = counted(agree, 500 - agree, claim=claim)
    assert found.verdict == decision
    assert "the claimed rho = 0.05" in str(found)
    assert ("REJECTED" in str(found)) == (decision == "rejected")


def test_a_claim_at_the_end_of_the_interval():
    low, high = (1 - end for end in reversed(ends(counted(240, 60, confidence=0.9).exact)))
    for claim, decision in (
        (high, "supported"),
        (math.nextafter(high, 0), "undecided"),
        (low, "undecided"),
        (math.nextafter(low, 0), "rejected"),
    ):
        assert counted(240, 60, confidence=0.9, claim=claim).verdict == decision
    for claim in (-0.01, 1.01, math.nan):
        with pytest.raises(InputError, match="a claimed rho must lie in"):
            counted(1, 1, claim=claim)


def test_a_true_claim_is_rejected_at_most_as_often_as_stated():
    """Judge a true claim four times; a verdict may be wrong in 5 % of the runs."""
    rng = np.random.RandomState(5)
    wrong = 0
    for _ in range(120):
        differs = np.cumsum(rng.random_sample(120) < 0.1)
        looks = (counted(n - differs[n - 1], differs[n - 1], claim=0.1) for n in range(30, 121, 30))
        wrong += any(found.verdict == "rejected" for found in looks)
    assert wrong <= 15  # Binomial(120, 0.05) exceeds 15 with probability below 1e-3


def test_failed_pairs_are_listed_by_frequency_and_decide_nothing_alone():
    letters = "aabbbcdddddefg"
    pairs = [Pair(i, "both_error", 0.0, error=f"E: {c} {i}") for i, c in enumerate(letters)]
    found = AuditResult("l", "d", tuple(pairs), claim=0.01)
    lines = str(found).splitlines()
    assert lines[2] == "  5 × E: d 6"  # the first of its kind
    assert "  and 2 more kinds of errors" in lines
    assert "nothing can be said" in lines[-1]
    assert found.verdict == "undecided"
    some = AuditResult("l", "d", (*pairs, Pair(99, "agree", 1.0)))
    assert "MOST PAIRS FAILED: 14 of 15 count as different" in str(some)


def test_the_table_has_the_three_measures_and_bottom_only_where_it_exists():
    text = str(counted(3, 1))
    assert [line.split()[0] for line in text.splitlines()[3:6]] == [
        "exact",
        "pointwise",
        "approximate",
    ]
    assert text.count("these outputs have none") == 2
    assert "⊥" not in text
    assert "error" not in text
    kinds = ["agree", "both_bottom", "one_bottom"]
    pairs = tuple(Pair(i, kind, 0.0) for i, kind in enumerate(kinds))
    with_bottom = str(AuditResult("learner", "data", pairs))
    assert "2 agree exactly (1 of them both ⊥), 1 differ (1 of them one ⊥)" in with_bottom
    assert "1 pair: 1 agree exactly, 0 differ" in str(counted(1, 0))
    assert "deterministic" not in text
    assert "deterministic: the same data" in str(counted(3, 1, deterministic=True))
    assert "NOT DETERMINISTIC" in str(counted(3, 1, deterministic=False))


def test_an_estimate_over_all_thresholds_is_told_from_the_counts():
    pairs = tuple(Pair(i, "agree" if i < 2 else "differ", 0.25) for i in range(10))
    text = str(AuditResult("l", "d", pairs, integrated=True))
    assert "exact is the mean over all thresholds" in text
    assert "2 of 10 pairs agree (0.2000)" in text
    alike = tuple(Pair(i, "agree" if i < 2 else "differ", 0.2) for i in range(10))
    assert "thresholds" not in str(AuditResult("l", "d", alike, integrated=True))


def test_answers_without_content_are_told_in_capitals():
    bottoms = tuple(Pair(i, "both_bottom", 1.0) for i in range(3))
    text = str(AuditResult("l", "d", bottoms, hint=("; try this",)))
    assert "EVERY ANSWER IS ⊥: no rule was learned; try this" in text
    some = str(AuditResult("l", "d", (*bottoms, Pair(3, "one_bottom", 0.0)), hint=("; try this",)))
    assert "THE RUNS AGREE ON ⊥ ONLY: no pair learned the same rule; try this" in some
    assert "no direction" not in some
    empty = (Pair(0, "both_empty", 1.0), Pair(1, "differ", 0.0))
    assert "THE RUNS AGREE ON NOTHING" in str(AuditResult("l", "d", empty))
    assert "CAUTION" in str(counted(1, 1, caution="CAUTION"))


PAIRS = (
    Pair(0, "agree", 1.0, 0.9, packed([1, 1]), {"jaccard": 0.5}, 0.8, 0.1),
    Pair(1, "one_error", 0.0, seconds=0.2, error='E: "a", b'),
)


def test_pairs_are_exported_as_csv_and_as_a_frame(tmp_path):
    found = AuditResult("l", "d", PAIRS, n_inputs=2)
    rows = list(csv.DictReader(io.StringIO(found.to_csv(tmp_path / "p.csv"))))
    assert (tmp_path / "p.csv").read_text() == found.to_csv()
    assert rows[0]["exact"] == "1.0"
    assert rows[0]["pointwise"] == "1.0"
    assert rows[0]["jaccard"] == "0.5"
    assert rows[1]["error"] == 'E: "a", b'
    assert rows[1]["jaccard"] == ""
    frame = found.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert frame["approximate"].tolist()[0] == 0.9
    assert frame["outcome"].tolist() == ["agree", "one_error"]


def test_the_dictionary_is_json_and_holds_every_number():
    found = AuditResult("l", "d", PAIRS, n_inputs=2, kind="classifier", claim=0.5, caution="x")
    data = json.loads(json.dumps(found.to_dict()))
    assert (data["pairs"], data["agreements"], data["disagreements"], data["errors"]) == (
        2,
        1,
        1,
        1,
    )
    assert data["measures"]["score"] == {
        "estimate": 0.8,
        "low": None,
        "high": None,
        "meaning": "of the runs, on held-out rows",
    }
    assert data["measures"]["exact"]["estimate"] == 0.5
    assert data["verdict"]["decision"] == "undecided"
    assert data["indicative"] is True
    assert data["error_types"] == {'E: "a", b': 1}
    assert found.score.name == "accuracy"
    assert counted(1, 1).score is None


def test_a_result_draws_itself_and_is_html(tmp_path):
    pairs = (PAIRS[1], *PAIRS * 20)  # the first pair failed: nothing but exact is known yet
    found = AuditResult("<b>learner</b>", "data", pairs, n_inputs=2, deterministic=True)
    found.plot()
    assert found.figure_.get_suptitle() == found.learner
    titles = [axis.get_title() for axis in found.ax_]
    assert titles == ["exact", "pointwise", "pointwise, worst", "approximate"]
    assert found.ax_[0].get_xlabel() == "pairs"
    for axis, key in zip(found.ax_, ("exact", "pointwise", "worst", "approximate"), strict=True):
        assert axis.get_lines()[0].get_ydata()[-1] == found.measures[key].estimate
    alone = counted(1, 0).plot()  # outputs that predict nothing have one panel
    assert alone.ax_.get_title() == "exact"
    assert list(alone.ax_.get_lines()[1].get_ydata()) == list(ends(alone.exact))
    assert all(tick.is_integer() for tick in alone.ax_.get_xticks())
    assert found.plot(tmp_path / "audit.svg") is found
    assert "<svg" in (tmp_path / "audit.svg").read_text(encoding="utf-8")
    html = found._repr_html_()
    assert "&lt;b&gt;learner" in html
    for word in ("exact", "pointwise", "approximate", "deterministic"):
        assert word in html
    page = found.to_html(tmp_path / "audit.html")
    assert page == (tmp_path / "audit.html").read_text(encoding="utf-8")
    assert html in page
    assert page.count("<svg") == 4
    assert "<script" not in page
    assert r"$\cost$" in replace(found, learner=r"$\cost$").to_html()
    assert "exact 0.488" in repr(found)
    assert "nothing can be said" in AuditResult("l", "d", PAIRS[1:])._repr_html_()


def test_the_page_says_how_it_was_made(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    found = replace(AuditResult("l", "d", PAIRS[:1]), seed="<7>", command="flagstone audit '<x>'")
    page = found.to_html()
    assert f'flagstone {__version__} · <time datetime="2023-11-14">' in page
    assert "the seed <code>&lt;7&gt;</code>" in page
    assert "<pre><span>flagstone</span> <span>audit</span> <span>&#x27;&lt;x&gt;" in page
    assert page.count("<svg") == found.panels[1]  # one each, that narrow pages put in a column
    assert "Repeat it" not in replace(found, command=None).to_html()
