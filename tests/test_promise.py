"""`Guarantee`: honest in words, and rounded to the safe side."""

import json
import math
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise, product

import numpy as np
import pytest

from flagstone import GF, Flag, IndexRule, LinearSpan
from flagstone.algebra import Staircase
from flagstone.guarantees import (
    Asked,
    Certificate,
    Certified,
    Guarantee,
    Measured,
    Proven,
    Setup,
    Window,
    contains_failure,
)
from flagstone.rules import rule_named
from flagstone.text import agreement, conditions, next_step, percent, sure

CERTIFICATE = Certificate(
    rule="index",
    t_min=1,
    t_max=100,
    n_rows=1000,
    n_runs=1,
    n_pilot=100,
    n_certifying=900,
    confidence=0.992,
    rho=0.2,
    t_first=5,
    t_last=60,
    misses=0.1,
    lacks=0.06,
    eps=0.03,
    rows_needed=4000,
)


SETUP = Setup(20, 1000, 1, Window("index", 1, 100), 3)
PROMISE = Guarantee(
    SETUP, Asked(0.05, 0.1), Proven(0.05, 0.1, rows_needed=10), Measured((2, 41), 312)
)
RECORDS = {
    "setup": Setup,
    "proven": Proven,
    "measured": Measured,
    "certified": Certified,
}


def promise(*, rho_asked=0.05, eps_asked=0.1, contamination=0.0, withheld=None, **changes):
    """A guarantee with other numbers, by their names in the records."""
    asked = Asked(rho_asked, eps_asked, contamination)
    found = replace(PROMISE, asked=asked, withheld=withheld)
    for part, record in RECORDS.items():
        mine = {k: v for k, v in changes.items() if k in record.__dataclass_fields__}
        found = replace(found, **{part: replace(getattr(found, part), **mine)})
    return found


def test_sentence_when_all_is_proven():
    assert str(promise()) == (
        "replicable with probability ≥ 0.95 (proven); coverage of 90 % proven in advance (this "
        "sample: at most 4.1 % of these rows uncovered); the answer does not change if up to 312 "
        "rows are altered"
    )


@pytest.mark.filterwarnings("ignore::flagstone.errors.ReplicabilityWarning")
@pytest.mark.parametrize(("name", "rho"), [("index", 0.1), ("heavy", 0.01)])
def test_a_margin_above_the_number_of_rows_says_what_it_means(name, rho):
    rule, rows = rule_named(name, rho=rho), np.random.RandomState(0).randint(0, 2, size=(500, 6))
    found = LinearSpan(rule=rule, random_state=1).fit(rows).guarantee_
    margin, t = found.measured.margin, found.setup.threshold
    assert margin > 500
    said = f"if any of the 500 rows are altered, or if up to {margin:,} rows are added"
    assert f"the answer does not change {said}" in str(found)
    for kept, added in ((rows, margin), (rows[:0], 500)):  # the worst rows: all are equal
        flag = Flag(6).update(GF(2).rows(np.r_[kept, np.ones((added, 6), dtype=int)]))
        assert flag.dim_at(rule.index(Staircase.of(flag), t)) == 0


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"rho": None}, "replicability ≥ 0.95 not proven"),
        ({"rho": 0.3}, "not proven (≥ 0.7 is)"),
        ({"rho": None, "rho_asked": None}, "replicability not proven"),
        ({"rho": 0.3, "rho_asked": None}, "replicable with probability ≥ 0.7 (proven)"),
        ({"rho": None, "certificate": CERTIFICATE}, "≥ 0.8 (certified at 99 % confidence from 900"),
        ({"labels": ("1", "2")}, "(proven) if both samples show the same labels (here 1, 2; or"),
        (
            {"rho": None, "certificate": CERTIFICATE, "labels": tuple("123456")},
            "900 rows) if both samples show the same labels (here 1, 2, 3, 4, 5, …; or",
        ),
        ({"eps": None}, "coverage of 90 % not proven in advance (this sample: at most 4.1 %"),
        ({"eps": 0.2}, "coverage of 90 % not proven"),
        (
            {"bracket": (0, 0)},
            "coverage of 90 % proven in advance (this sample: none of these rows uncovered)",
        ),
        ({"bracket": (0, 1), "n_rows": 30_000}, "at most 0.0034 % of these rows"),
        (
            {
                "window": Window("index", 21, 120),
                "contamination": 0.0001,
                "containment_failure": 0.44,
            },
            "(at a rate of exactly 0.01 %, there is a 44 % chance of more)",
        ),
        (
            {
                "window": Window("index", 21, 120),
                "contamination": 0.0167,
                "containment_failure": 0.44,
            },
            "(at a rate of exactly 1.67 %, there",
        ),
        ({"eps": None, "eps_asked": 0.00125}, "coverage of 99.875 % not proven"),
        ({"margin": 1}, "; the answer does not change if one row is altered"),
        ({"margin": 0}, "; one altered row may change the answer"),
        ({"window": Window("heavy", 1, 9.5)}, "; the answer does not change if up to 312 rows are"),
        (
            {
                "window": Window("index", 21, 120),
                "contamination": 0.02,
                "containment_failure": 0.44,
            },
            "safe for up to 20 corrupted rows (at a rate of exactly 2 %, there is a 44 % chance",
        ),
    ],
)
def test_sentence_says_what_is_not_proven(changes, words):
    assert words in str(promise(**changes))


def test_printed_promises_are_rounded_to_the_safe_side():
    assert "≥ 0.9499 " in str(promise(rho=0.05004, rho_asked=None))
    assert "at most 4.2 %" in str(promise(bracket=(0, 41_001), n_rows=1_000_000))


def test_no_certified_probability_is_printed_as_one():
    """Not at 99 % confidence; what is proven may be."""
    for failure in (0.0, 5e-322, 1e-300):
        found = promise(
            rho=None,
            certificate=replace(CERTIFICATE, rho=failure, misses=failure, lacks=failure),
        )
        found = replace(found, measured=replace(found.measured, dim=3))
        assert str(found).count("≥ 1 - 1e-300 (certified") == 3
        assert "≥ 1 (" not in str(found) + str(found.certified.certificate)
    assert contains_failure(50_000, 1e-4, 1000) == 1e-300


def test_where_rows_have_weights_a_number_of_rows_is_one_of_weights():
    weighed = str(promise(sorted_rows=True, window=Window("index", 21, 120)))
    assert "if up to 312 rows are altered, each counted by its weight" in weighed
    assert weighed.endswith("safe for up to 20 corrupted rows, each counted by its weight")


def test_guarantee_is_a_value():
    a = promise()
    assert a == promise()
    assert hash(a) == hash(promise())
    for value in (
        a,
        promise(labels=("'no'", "'yes'")),
        promise(certificate=CERTIFICATE),
        promise().withhold("of runs"),
    ):
        data = value.to_dict()
        assert json.loads(json.dumps(data)) == data
    assert any("1000, zero rows included" in text for text in a.hypotheses)
    assert any("3 shards" in text for text in promise(n_shards=3).hypotheses)
    with pytest.raises(AttributeError):
        a.proven.rho = 0.0


@pytest.mark.parametrize(
    ("share", "shown"),
    [
        (1.0, "100 %"),
        (0.5, "50 %"),
        (0.1, "10 %"),
        (0.0412, "4.2 %"),
        (0.01, "1 %"),
        (0.0011, "0.11 %"),
        (0.001234, "0.13 %"),
        (0.00001234, "0.0013 %"),
    ],
)
def test_shares_are_printed_in_two_digits_and_rounded_up(share, shown):
    found = promise(n_rows=10**8, bracket=(0, round(share * 10**8)))
    assert found.uncovered_share == pytest.approx(share)
    assert f"at most {shown} of these rows uncovered" in str(found)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "replicable with probability ≥ 0.95 (proven)"),
        ({"rho": 0.0}, "replicable with probability ≥ 1 (proven)"),
        ({"rho": 0.3, "rho_asked": None}, "replicable with probability ≥ 0.7 (proven)"),
        ({"rho": None, "rho_asked": None}, "replicability not proven"),
        ({"rho": None}, "replicability ≥ 0.95 not proven"),
        ({"rho": 0.051}, "replicability ≥ 0.95 not proven (≥ 0.949 is)"),
        (
            {"rho": 0.2, "certificate": CERTIFICATE},
            "replicable with probability ≥ 0.8 (certified at 99 % confidence from 900 rows)",
        ),
        (
            {"rho": 0.05, "certificate": replace(CERTIFICATE, rho=3e-17)},
            "replicable with probability ≥ 0.95 (proven), ≥ 1 - 3e-17 (certified at 99 % "
            "confidence from 900 rows)",
        ),
        (
            {"rho": None, "certificate": replace(CERTIFICATE, rho=None)},
            "replicability ≥ 0.95 neither proven nor certified",
        ),
        ({"rho": None, "withheld": "of runs"}, "no promise about fresh samples: of runs"),
    ],
)
def test_replicability_in_words(changes, said):
    """As it is; with labels that are numbered, under their condition where anything is said."""
    assert str(promise(**changes)).split("; ")[0] == said
    labelled = str(promise(labels=("'a'", "'b'"), **changes))
    nothing = promise(**changes)
    if not nothing.is_replicable_proven and nothing.certified.rho is None:
        assert labelled.split("; ")[0] == said
    else:
        condition = " if both samples show the same labels (here 'a', 'b'; or name all that can"
        assert labelled.startswith(said + condition)


def test_what_is_proven_includes_its_limit():
    for found in (0.05, 0.04999):
        assert promise(rho=found).is_replicable_proven
        assert promise(eps=found, eps_asked=0.05).is_coverage_proven
    assert not promise(rho=0.05001).is_replicable_proven
    assert not promise(eps=0.05001, eps_asked=0.05).is_coverage_proven
    assert promise(rho=0.99, rho_asked=None).is_replicable_proven
    assert not promise(rho=None, rho_asked=None).is_replicable_proven
    assert not promise(eps=None).is_coverage_proven


def test_hypotheses_name_what_both_runs_must_share():
    plain = promise().hypotheses
    assert len(plain) == 6
    assert "the same window {1..100} and the same published seed" in plain
    assert "a window that was not chosen on these rows" in plain
    assert plain[-1] == "rows in one flag"
    assert promise(n_shards=2).hypotheses == (*plain[:-1], "the same tree of 2 shards")
    labels = tuple("abcde")
    condition = "the same labels in both samples (here a, b, c, d, e; or name all that can occur"
    assert promise(labels=labels).hypotheses[:-1] == plain
    assert promise(labels=labels).hypotheses[-1].startswith(condition)
    assert "a, b, c, d, e, …;" in promise(labels=(*labels, "f")).hypotheses[-1]


def test_the_conditions_are_said_where_something_is_promised_about_fresh_samples():
    independent = "the rows are independent, and the window was not chosen on them"
    assert conditions(promise(rho=0.05)) == (independent,)
    assert conditions(promise(rho=None, eps=0.05)) == ()  # coverage of this sample needs neither
    assert conditions(promise(rho=0.05).withhold("rows repeat")) == ()


def test_containment_is_said_where_a_start_was_taken():
    assert "corrupted" not in str(promise())
    started = str(promise(window=Window("index", 21, 120)))
    assert started.endswith("safe for up to 20 corrupted rows")


def test_promises_say_what_is_proven_certified_and_measured():
    said = promise(rho=None, certificate=CERTIFICATE).to_dict(uncovered=0.03, misfits=0.01)
    assert (said["proven"]["rho"], said["proven"]["eps"]) == (None, 0.1)
    certified = said["certified"]
    assert (certified["rho"], certified["eps"], certified["error"]) == (0.2, 0.03, 0.03)
    assert certified["confidence"] == 0.99
    second = certified["certificate"]
    assert (second["n_certifying"], second["t_first"], second["t_last"]) == (900, 5, 60)
    assert said["measured"] == {
        "uncovered": 0.03, "misfits": 0.01, "bracket": [2, 41], "margin": 312,
    }  # fmt: skip
    inside = promise(certificate=CERTIFICATE).to_dict(errs_outside=False)["certified"]
    assert (inside["eps"], inside["error"]) == (0.03, None)
    sharper = promise(certificate=CERTIFICATE, future=0.02).to_dict()["certified"]
    assert sharper["eps"] == 0.02  # all rows, by their flag
    assert promise().to_dict()["certified"]["rho"] is None


@pytest.mark.parametrize(
    ("changes", "step"),
    [
        ({}, None),
        ({"rho": None, "rho_asked": 0.3, "certificate": CERTIFICATE}, None),
        ({"rho": None, "rho_asked": None, "certificate": replace(CERTIFICATE, rho=0.05)}, None),
        ({"rho": None, "rho_asked": None, "certificate": CERTIFICATE}, "agreement ≥ 0.95"),
        ({"rho": None, "withheld": "of runs"}, None),
        ({"rho": None}, "certify the answer on the rows of the fit"),
        (
            {"rho": None, "certificate": CERTIFICATE},
            "of this kind, often far fewer, would certify agreement ≥ 0.95",
        ),
        ({"rho": None, "certificate": CERTIFICATE}, "thresholds 5..60 would be certified here"),
        (
            {
                "rho": None,
                "certificate": replace(
                    CERTIFICATE, rho=None, t_first=None, t_last=None, rows_needed=None
                ),
            },
            "measure with an audit",
        ),
    ],
)
def test_where_nothing_is_promised_the_next_step_is_named(changes, step):
    said = next_step(promise(**changes))
    assert said is None if step is None else step in said


@pytest.mark.parametrize(
    "changes",
    [
        {"t_max": 101},
        {"n_rows": 1001},
        {"n_pilot": 0},
        {"n_certifying": 901},
        {"confidence": 0.99},
        {"confidence": 0.9999},
        {"misses": 0.05},
        {"lacks": None},
        {"rho": 1.5},
        {"eps": -0.1},
        {"t_first": None},
        {"t_first": 61},
        {"rows_needed": 999},
        {"n_runs": 0},
        {"n_runs": 2},
    ],
)
def test_a_certificate_of_other_numbers_is_refused(changes):
    assert CERTIFICATE.fits(SETUP, 0.992)
    assert not replace(CERTIFICATE, **changes).fits(SETUP, 0.992)


EXPONENTS = np.random.RandomState(1).uniform(-20, 0, size=400)
SHARES = [*(10**EXPONENTS).tolist(), 9.5e-5, 9.99e-5, 1e-4, 0.05, 0.05000000001, 1e-300, 0.99999]


@pytest.mark.parametrize("share", SHARES)
def test_what_is_printed_never_exceeds_what_is_known(share):
    exact, said = Decimal(repr(share)), agreement(share)
    if said.startswith("1 - "):
        assert exact <= Decimal(said[4:]) <= 2 * exact
        assert "10e" not in said
    else:
        assert 0 <= 1 - Decimal(said) - exact < Decimal("1e-4")
    assert 100 * exact <= Decimal(percent(share)[:-2]) <= max(100 * exact * 2, Decimal("0.1"))
    left = 100 - Decimal(sure(1 - share)[:-2]) if share > 1e-9 else Decimal(1)
    assert left >= 100 * (1 - Decimal(repr(1 - share)))
    assert sure(1 - share) != "100 %" or share < 1e-15


def test_nothing_left_out_is_said_plainly():
    assert (agreement(0.0), agreement(None), percent(0.0)) == ("1", "1", "0 %")


def errors(masses, m, t, confidence, rule="index", sorted_rows=False):
    """How often the two bounds on future rows are wrong, exactly, for rows on the axes.

    For these V_j is spanned by the axes with j rows or more, in every order of the rows.
    """
    d, p = len(masses), np.array([*masses, 1 - sum(masses)])
    future = span = 0.0
    for counts in product(range(m + 1), repeat=d):
        if sum(counts) > m:
            continue
        rest = m - sum(counts)
        ways = math.factorial(m) / math.prod(map(math.factorial, (*counts, rest)))
        probability = ways * float(np.prod(p ** np.array([*counts, rest])))
        seen, chosen = np.array(counts), t
        if rule == "heavy":
            ends = sorted(set(counts) | {0})
            steps = [(b - a, b) for a, b in pairwise(ends)]
            chosen = next((b for sets, b in steps if sets >= t), m + 1)
        given = {"confidence": confidence, "sorted_rows": sorted_rows}
        falling, kept = sorted((c for c in counts if c), reverse=True), int((seen >= chosen).sum())
        g = covered(m, d, t, rule, falling, kept, **given)
        missed, never = (float(p[:-1][seen < j].sum()) for j in (chosen, 1))
        wrong_span = never > (1 if g.certified.span is None else g.certified.span) + 1e-9
        wrong = missed > (1 if g.certified.future is None else g.certified.future) + 1e-9
        span += probability * wrong_span
        future += probability * (wrong and not wrong_span)
    return future, span


def covered(m, d, t, rule, counts, kept, **changes):
    """The promises of an answer of dimension ``kept``, with what these counts certify."""
    found = promise(dim=d, n_rows=m, window=Window(rule, t, t), threshold=t, **changes)
    return replace(found, measured=replace(found.measured, dim=kept)).with_coverage(counts)


@pytest.mark.parametrize("rule", ["index", "heavy"])
@pytest.mark.parametrize(
    ("masses", "m", "t"),
    [
        ((0.286, 0.594), 8, 5),
        ((0.2, 0.3), 12, 2),
        ((0.4, 0.5), 10, 4),
        ((0.1, 0.2, 0.5), 9, 3),
        ((0.286, 0.594), 8, 1),
    ],
)
def test_each_bound_keeps_to_its_own_share_of_delta(masses, m, t, rule):
    """0.03 of δ for the answer, 0.02 for the span of all rows, whatever they turn out to be."""
    ratios = []
    for confidence in (0.3, 0.6, 0.67333, 0.8, 0.9, 0.95, 0.99, 0.999):
        future, span = errors(masses, m, t, confidence, rule)
        assert future <= 0.03 * (1 - confidence) * (1 + 1e-9)
        assert span <= 0.02 * (1 - confidence) * (1 + 1e-9)
        ratios.append(future / (0.03 * (1 - confidence)))
    if (m, t, rule) == (8, 5, "index"):
        assert max(ratios) > 0.99  # the bound is nearly reached here


def test_an_answer_that_is_the_span_of_all_rows_has_the_better_bound():
    counts, d = [900, 800, 700], 5
    g = covered(2400, d, 50, "index", counts, 3).certified
    assert g.future == g.span
    first = covered(2400, d, 1, "index", counts, 3).certified
    assert first.future < first.span
    merged = covered(2400, d, 50, "index", counts, 3, n_shards=3).certified
    assert merged.future == merged.span
    rarer = covered(2400, d, 750, "index", counts, 2).certified
    assert rarer.future > g.span


def test_single_equations_are_promised_in_words_only_where_that_says_something():
    """A bound above one half is in the facts, not in the text."""
    X = np.random.RandomState(1).randint(0, 2, size=(1500, 3))
    weak, strong = (
        LinearSpan(rule=IndexRule(t_min=1, t_max=last), random_state=1).fit(X).guarantee_
        for last in (6, 100)
    )
    assert weak.proven.each > 0.5 > strong.proven.each
    assert "fixed in advance" not in str(weak)
    assert "fixed in advance" in str(strong)


def test_a_later_window_comes_before_more_rows_and_with_its_contamination():
    """More rows for a window that starts too early mislead: a later one needs no more rows."""
    small = {"window": Window("index", 3, 10), "rho": None, "certificate": CERTIFICATE}
    later = "thresholds 5..60{} would be certified here: choose the window on pilot rows (plan)"
    more = "with the present window about 4,000 rows of this kind, often far fewer, would certify"
    said = next_step(promise(contamination=0.002, **small))
    assert later.format(" (as with contamination 0.004)") in said
    assert said.index("thresholds 5..60") < said.index(more)
    assert later.format("") in next_step(promise(**small))  # no contamination was stated
    wide = small | {"window": Window("index", 3, 59)}  # from 5 on, it would end after 60
    assert later.format("") in next_step(promise(contamination=0.002, **wide))


def test_what_future_rows_violate_is_said_where_there_is_something_to_violate():
    certified = {"certificate": CERTIFICATE}
    assert "at most 3 % of future rows violate it (certified)" in str(promise(**certified))
    bottom = str(promise(about="", **certified))
    assert "at most 3 % of future rows lie outside the span of the kept rows" in bottom
    everything = str(promise(dim=SETUP.dim, about="equations", **certified))
    assert "every row fits, as there is no equation that it could violate" in everything
    assert "violate it" not in everything
