"""What an answer is worth, said before anything else."""

import re
import warnings

import numpy as np
import pytest

from flagstone import (
    AffineSpan,
    Coins,
    Finding,
    Flag,
    IndexRule,
    LinearSpan,
    ParityClassifier,
    SubspaceClassifier,
    ask,
)
from flagstone.errors import BottomError, ReplicabilityWarning
from flagstone.pipeline import certify
from flagstone.question import ConstraintsQuestion


def frames(m, damage=0.0, d=12, seed=2):
    """Frames with three checks; damaged ones are noise."""
    random = np.random.RandomState(seed)
    X = random.randint(0, 2, size=(m, d))
    X[:, -3:] = np.stack([X[:, 0] ^ X[:, 1], X[:, 2] ^ X[:, 3], X[:, 4] ^ 1], axis=1)
    bad = random.random_sample(m) < damage
    X[bad] = random.randint(0, 2, size=(int(bad.sum()), d))
    return X


def found(X, **window):
    finding = AffineSpan(rule=IndexRule(**window), random_state=7).fit(X).finding_
    assert finding == certify(finding, finding.field.rows(X))
    return finding


def noisy_switches(m, seed=1):
    """Ten switches and a light; one label in fifty is wrong."""
    random = np.random.RandomState(seed)
    X = random.randint(0, 2, size=(m, 10))
    return X, X[:, 1] ^ X[:, 4] ^ X[:, 8] ^ (random.random_sample(m) < 0.02)


def test_an_answer_that_was_not_measured_yet_says_so():
    """The rule is right, and the flag alone cannot tell: that is no reason to call it bad."""
    X, y = noisy_switches(4000)
    rule = ParityClassifier(contamination=0.05, random_state=2026, certify=False).fit(X, y)
    finding = rule.finding_
    assert finding.promises.certified.eps > 0.5
    assert finding.headline == "A linear rule for y; not measured"
    assert (finding.support, finding.is_answer, finding.is_empty) == (None, True, False)
    for text in (str(rule.guarantee_), finding._repr_html_(), rule.guarantee_._repr_html_()):
        assert "not measured" in text
        assert "66.9" not in text
    assert Finding.from_dict(finding.to_dict()) == finding
    rule.set_params(certify=True).fit(X, y)
    assert rule.guarantee_.certified.eps < 0.03
    assert rule.finding_.support == "whole"
    assert "not measured" not in rule.finding_.headline + str(rule.guarantee_)


def test_equations_that_were_not_measured_yet_are_not_called_unsupported():
    X = frames(1500, damage=0.04)
    X[:, 7] = 1  # holds in every row
    span = AffineSpan(contamination=0.06, random_state=7, certify=False).fit(X)
    assert span.finding_.headline == "3 check equations hold; not measured"
    assert span.finding_.is_answer
    span.set_params(certify=True).fit(X)
    assert "at most" in span.finding_.headline


def test_too_few_rows_are_too_few_before_they_are_measured():
    with pytest.warns(ReplicabilityWarning, match="too few: 10 rows"):
        finding = AffineSpan(random_state=7).fit(frames(10)).finding_
    assert (finding.support, finding.is_answer) == ("none", False)
    assert finding.headline.startswith("Not supported by the rows (too few: 10 rows")


def test_counted_rows_cannot_be_certified_and_it_is_not_advised():
    X, y = noisy_switches(4000)
    rule = ParityClassifier(contamination=0.05, random_state=2026)
    counted = {"sample_weight": np.ones(4000, dtype=int), "weights_count_rows": True}
    finding = rule.fit(X, y, **counted).finding_
    assert finding.headline.endswith("; not certified")
    assert finding.rows.misfits == np.count_nonzero(rule.predict(X) != y)


@pytest.mark.parametrize(
    ("m", "why"), [(1, "1 row of rank 1"), (5, "5 rows of rank 5"), (10, "10 rows of rank ")]
)
def test_equations_that_too_few_rows_force_are_not_supported(m, why):
    finding = found(frames(m))
    assert finding.support == "none"
    assert not finding.is_answer
    assert finding.headline.startswith(f"Not supported by the rows (too few: {why}")


def test_an_answer_says_how_many_rows_to_come_will_break_it():
    finding = found(frames(2000))
    assert finding.support == "whole"
    assert finding.is_answer
    assert finding.headline == (
        "3 check equations hold; at most 0.35 % of future rows do not fit (99 % confidence)"
    )
    assert finding.caution is None


def test_equations_that_half_of_the_rows_break_are_not_supported():
    random = np.random.RandomState(5)
    X = random.randint(0, 2, size=(2000, 12))
    X[random.random_sample(2000) < 0.45, :10] = 1  # a plane, in less than half of the rows
    X[:, 6] = 1  # holds in every row
    finding = found(X, t_min=0.08, t_max=0.12)
    assert finding.rows.misfits > 0.5 * len(X)
    assert finding.support == "part"
    assert finding.headline.endswith(", but the rows support only the 1 that holds in all of them")
    assert finding.is_answer
    X[::7, 6] = 0
    finding = found(X, t_min=0.08, t_max=0.12)
    assert finding.support == "none"
    assert finding.headline.startswith("Not supported by the rows (too many rows do not fit): ")


def checked(m, damage, seed):
    """Frames of 40 bits that end in the XOR of their bytes; damaged ones have a wrong bit."""
    random = np.random.RandomState(seed)
    data = random.randint(0, 256, size=(m, 4), dtype=np.uint8)
    check = np.bitwise_xor.reduce(data, axis=1, keepdims=True)
    X = np.unpackbits(np.hstack([data, check]), axis=1)
    bad = np.flatnonzero(random.random_sample(m) < damage)
    X[bad, random.randint(0, 40, size=len(bad))] ^= 1
    return X


@pytest.mark.parametrize("seed", range(5))
def test_a_check_that_damaged_rows_break_is_supported(seed):
    """A bound that paid for all rows of the first sets called such answers unsupported."""
    finding = found(checked(400, 0.05, seed), t_min=9, t_max=10)
    assert finding.title == "8 check equations hold"
    assert finding.support == "whole"
    assert finding.promises.certified.eps < 0.25
    assert finding.promises.certified.future > 0.5


@pytest.mark.parametrize("seed", range(5))
def test_equations_of_rows_without_structure_are_not_supported(seed):
    X = np.random.RandomState(seed).randint(0, 2, size=(400, 40))
    flag = AffineSpan().fit(X).finding_.flag
    finding = found(X, t_min=flag.n_sets, t_max=flag.n_sets)
    assert len(finding.answer) > 0
    assert finding.support == "none"


def test_rows_that_mostly_fit_are_too_few_not_too_many():
    finding = found(checked(45, 0.0, 1)[:, :39], t_min=1, t_max=1)
    assert finding.support == "none"
    assert finding.rows.misfits == 0
    assert finding.headline.startswith("Not supported by the rows (too few: 45 rows of rank ")


def test_a_headline_says_that_nothing_is_promised():
    drifting = np.repeat(frames(200), 5, axis=0)
    drifting[:, 0] = np.random.RandomState(1).randint(0, 2, size=1000)
    finding = found(drifting)
    assert finding.promises.withheld is not None
    assert finding.headline == f"{finding.title}; nothing is promised about future rows"
    assert "nothing is promised" in repr(finding)


def test_no_equation_claims_nothing():
    finding = found(np.random.RandomState(1).randint(0, 2, size=(500, 4)))
    assert finding.headline == "No check equation holds"
    assert finding.support is None
    assert finding.is_answer


@pytest.mark.parametrize(
    ("damage", "stated", "said"),
    [
        (0.01, {"contamination": 0.02}, None),
        (0.05, {"contamination": 0.02}, "more than the stated contamination, 2 %"),
        (0.05, {"t_min": 0.06, "t_max": 0.08}, None),
        (0.2, {"t_min": 0.06, "t_max": 0.08}, "% of the rows do not fit, more than 10 %"),
    ],
)
def test_a_caution_where_more_rows_misfit_than_were_allowed_for(damage, stated, said):
    caution = found(frames(2000, damage), **stated).caution
    assert caution is None if said is None else caution.endswith(said)


def test_nothing_is_said_of_rows_that_were_not_counted():
    span = AffineSpan(contamination=0.01, certify=False).fit(frames(500, 0.2))
    assert span.finding_.caution is None


def test_a_rule_is_supported_by_rows_it_gets_right():
    X = frames(2000)
    fitted = ParityClassifier(random_state=1).fit(X[:, :-1], X[:, -1])
    assert "A linear rule for y, one of 2^2 that fit; at most" in fitted.finding_.headline
    with pytest.warns(ReplicabilityWarning, match=r"too few: 5 rows of rank 5.*more rows help"):
        few = ParityClassifier(random_state=1).fit(X[:5, :-1], X[:5, -1])
    assert few.finding_.support == "none"
    assert repr(few.finding_).startswith("Finding(Not supported by the rows (too few")


def test_of_a_subspace_only_positive_rows_are_bounded():
    X = frames(2000)
    y = np.where(np.arange(2000) % 4 == 0, 0, 1)  # negative rows lie in the subspace, too
    fitted = SubspaceClassifier(affine=True, random_state=1).fit(X, y)
    assert fitted.measure(X, y).misfits == 500
    assert "% of future rows are positive and lie outside (99 %" in fitted.finding_.headline
    assert "do not fit" not in fitted.finding_.headline


def test_without_promises_there_is_little_to_say():
    bare = Finding.of(found(frames(100)).answer)
    assert (bare.support, bare.caution, bare.hint) == (None, None, None)
    assert bare.headline == bare.title
    weighed = LinearSpan(random_state=1).fit(frames(50), sample_weight=[2] * 50).finding_
    assert weighed.support is None
    assert weighed.headline == f"{weighed.title}; nothing is promised about future rows"


def capture():
    """873 frames of which 7 are damaged: kept directions come often, the others once."""
    random = np.random.RandomState(4)
    X = random.randint(0, 2, size=(873, 15)) @ random.randint(0, 2, size=(15, 40)) % 2
    X[100:107] ^= random.randint(0, 2, size=(7, 40))
    return X


def test_a_gap_that_the_seed_misses_is_told_as_a_hint_for_fresh_rows():
    flag = Flag(41).update(np.column_stack([capture(), np.ones(873, int)]))
    seen = {}
    for seed in range(12):
        finding = ask(flag, ConstraintsQuestion(), IndexRule(t_min=1, t_max=3), Coins(seed))
        seen.setdefault(finding.threshold, finding)
    assert sorted(seen) == [1, 2, 3]  # the window is short, and one of its ends loses
    assert len(seen[1].answer) == 18 < len(seen[2].answer) == 25
    assert seen[2].hint is None
    hint = seen[1].hint
    assert "another window would be more stable: thresholds 2 to " in hint
    assert "on new data only (plan): choosing it on these rows voids the guarantees" in hint


def test_no_hint_where_the_widest_plateau_was_drawn_or_is_everything():
    X = frames(2000)
    assert found(X).hint is None
    assert found(np.random.RandomState(1).randint(0, 2, size=(500, 4))).hint is None
    assert "thresholds" in found(frames(2000, 0.02), t_min=1, t_max=1).hint


def test_all_rows_together_are_no_plateau():
    """Few rows: the first set spans every row, damaged ones, too, and is no window to choose."""
    flag = Flag(41).update(np.column_stack([capture()[90:140], np.ones(50, int)]))
    finding = ask(flag, ConstraintsQuestion(), IndexRule(t_min=2, t_max=2), Coins(1))
    assert finding.stairs.levels[0].last == 1
    assert finding.hint is None


def labelled(damage, seed=1):
    random = np.random.RandomState(seed)
    X = random.randint(0, 2, size=(2000, 12))
    return X, X[:, 1] ^ X[:, 4] ^ (random.random_sample(2000) < damage)


def test_a_rule_that_damaged_labels_hide_is_told_as_a_hint():
    X, y = labelled(0.01)
    with pytest.warns(ReplicabilityWarning, match="⊥"):
        finding = ParityClassifier(random_state=1).fit(X, y).finding_
    assert "a rule fits at thresholds " in finding.hint
    assert "Say how many may be (contamination)" in finding.hint
    rule = ParityClassifier(contamination=0.02, random_state=1).fit(X, y)
    assert rule.formula_ == "y = x1 ⊕ x4"


@pytest.mark.parametrize("seed", range(8))
def test_labels_by_chance_hide_no_rule(seed):
    X, y = labelled(0.5, seed)
    with pytest.warns(ReplicabilityWarning, match="⊥"):
        hint = ParityClassifier(random_state=1).fit(X, y).finding_.hint
    assert "a rule fits at" not in hint
    assert hint == (
        "if labels may be wrong, say how many (contamination); if the rule may not be linear, use "
        "products of columns (degree 2); or add columns that the label depends on"
    )


def test_labels_that_are_allowed_to_be_wrong_are_taken_into_account_after_bottom():
    X, y = labelled(0.5)
    with pytest.warns(ReplicabilityWarning, match="⊥"):
        finding = ParityClassifier(contamination=0.01, random_state=1).fit(X, y).finding_
    assert finding.hint.startswith("if more labels may be wrong, say how many (contamination); ")


def products(X, **options):
    """Return what the hint and the warning after ⊥ say of products of columns: one text."""
    y = np.random.RandomState(1).randint(0, 2, size=len(X))
    model = ParityClassifier(random_state=1, **options)
    with pytest.warns(ReplicabilityWarning, match="⊥") as warned:
        hint = model.fit(X, y).finding_.hint
    said = re.search(r"use products of columns \(degree \d\)(.*?)(;|$)", hint)
    with pytest.raises(BottomError) as error:
        model.predict(X)
    for text in (str(warned[0].message), str(error.value)):
        found = re.search(r"try degree=\d(.*?), or add columns", text)
        assert (found and found[1]) == (said and said[1])
    return None if said is None else said[1]


@pytest.mark.parametrize(
    ("shape", "options", "needs"),
    [
        ((2000, 20), {}, ""),
        ((2000, 20), {"contamination": 0.004}, ""),
        ((2000, 20), {"contamination": 0.01}, "a contamination below 0.0047"),
        ((2000, 20), {"rule": "heavy", "contamination": 0.005}, "a contamination below 0.0047"),
        ((1000, 20), {"contamination": 0.0045}, "at least 4,609 rows"),
        ((100, 20), {}, "at least 212 rows"),
        (
            (2000, 20),
            {"rule": IndexRule(t_min=20, t_max=30)},
            "a window that starts at threshold 9 or before",
        ),
    ],
)
def test_products_of_columns_are_advised_with_what_they_need(shape, options, needs):
    X = np.random.RandomState(0).randint(0, 2, size=shape)
    assert products(X, **options) == (needs and f", whose 210 columns need {needs}")


def test_products_that_have_room_keep_rows_and_others_do_not():
    """The limit that is named is the one that holds for rows of full rank."""
    X = np.random.RandomState(0).randint(0, 2, size=(4000, 20))
    y = X[:, 1] & X[:, 4]
    for contamination, formula in ((0.004, "y = x1·x4"), (0.005, "nothing")):
        model = ParityClassifier(degree=2, contamination=contamination, random_state=1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ReplicabilityWarning)
            model.fit(X, y)
        assert model.finding_.is_empty == (formula == "nothing")
        assert model.finding_.is_empty or model.formula_ == formula


@pytest.mark.parametrize(("n_columns", "field", "degree"), [(1, 2, 1), (3, 3, 2)])
def test_products_that_do_not_exist_are_not_advised(n_columns, field, degree):
    X = np.random.RandomState(0).randint(0, 2, size=(2000, n_columns))
    assert products(X, field=field, degree=degree) is None


def test_no_support_for_what_says_nothing():
    with pytest.warns(ReplicabilityWarning, match="No direction was kept"):
        nothing = found(frames(200), t_min=150, t_max=160)
    assert (nothing.support, nothing.is_answer) == ("none", False)
    X = np.random.RandomState(1).randint(0, 2, size=(300, 3))
    with pytest.warns(ReplicabilityWarning, match="⊥"):
        bottom = ParityClassifier(random_state=1).fit(X, np.arange(300) % 2).finding_
    assert (bottom.support, bottom.is_answer) == (None, False)


def test_too_few_rows_come_before_other_reasons_of_bottom():
    random = np.random.RandomState(3)
    X, y = random.randint(0, 2, size=(80, 6)), random.randint(0, 2, size=80)
    few = "8 rows are few for rows of dimension 8: use at least 32 rows; if labels may be wrong"
    with pytest.warns(ReplicabilityWarning, match=few):
        model = ParityClassifier(random_state=1).fit(X[[0, 0, 1, 1, 2, 2, 3, 3]], [0, 1] * 4)
    assert model.is_bottom_
    assert model.finding_.hint.startswith(few)
    with pytest.raises(BottomError, match=few):
        model.predict(X)
    with pytest.warns(ReplicabilityWarning):
        model = ParityClassifier(random_state=1).fit(X, y)
    assert model.is_bottom_
    assert "few" not in model.finding_.hint
