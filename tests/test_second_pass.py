"""Certification: one pass over the rows of an answer, and looks at a stream."""

import copy
import dataclasses
import pickle
from dataclasses import replace

import numpy as np
import pytest

from flagstone import (
    GF,
    QQ,
    Coins,
    Flag,
    HeavyRule,
    IndexRule,
    LinearEquations,
    LinearSpan,
    ParityClassifier,
    ReplicabilityWarning,
    Subspace,
    ask,
)
from flagstone.algebra.fields import width
from flagstone.algebra.flag import merge_flags
from flagstone.errors import InputError
from flagstone.finding import Finding
from flagstone.guarantees.coverage import (
    SHARE_OF_START,
    counted_certificate,
    pilot_share,
    start_points,
    stream_certificate,
)
from flagstone.pipeline import certify
from flagstone.question import (
    ConstraintsQuestion,
    EquationsQuestion,
    ParityQuestion,
    SpanQuestion,
    SubspaceQuestion,
)
from flagstone.second_pass import (
    SecondPass,
    StreamCertification,
    certify_equations,
    planned,
)
from flagstone.text import next_step


def rows_with_a_gap(m, d=6, damage=0.01, seed=1):
    """The last bit is the sum of the first two, but for a few damaged rows."""
    random = np.random.RandomState(seed)
    X = random.randint(0, 2, size=(m, d))
    X[:, -1] = X[:, 0] ^ X[:, 1] ^ (random.random_sample(m) < damage)
    return X


def answered(X, question=None, rule=None, field=2, y=None):
    """The finding of some rows, and the rows and labels as kernels know them."""
    F = GF(field) if isinstance(field, int) else field
    rows, labels = F.rows(X), None if y is None else F.elements(y)
    question = question or SpanQuestion()
    lifted = question.lift(F, rows, labels)
    filled = Flag(width(lifted), F).update(lifted)
    finding = ask(filled, question, rule or IndexRule(t_min=0.05, t_max=0.15), Coins(7))
    return finding, rows, labels, lifted


@pytest.mark.parametrize("m", [1, 2, 9, 10, 11, 20, 200])
@pytest.mark.parametrize("row", [[1, 0, 1], [0, 0, 0]])
def test_constant_rows_are_certified_whatever_their_number(m, row):
    # each row fills a set: pieces of one row, which once ran past the end of their list
    finding, rows, *_ = answered(np.tile([row], (m, 1)), rule=IndexRule())
    certified = certify(finding, rows)
    assert Finding.from_dict(certified.to_dict()) == certified


QUESTIONS = [
    SpanQuestion(),
    ConstraintsQuestion(),
    ParityQuestion(intercept=True),
    EquationsQuestion(),
    SubspaceQuestion(affine=True),
]


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda q: q.kind)
@pytest.mark.parametrize("rule", [IndexRule, HeavyRule])
def test_every_question_is_certified_and_comes_back_from_json(question, rule):
    X = rows_with_a_gap(3000)
    y = X[:, -1] if question.labelled else None
    X = X[:, :-1] if question.labelled else X
    half = 2 if question.kind == "subspace" else 1  # of the rows are positive
    window = rule(t_min=0.04 / half, t_max=0.1 / half)
    finding, rows, labels, _ = answered(X, question, window, y=y)
    certified = certify(finding, rows, labels)
    assert certified.promises.certified.rho < 0.2
    assert certified.promises.certified.certificate.t_first <= finding.threshold
    assert certified.support == "whole"
    assert Finding.from_dict(certified.to_dict()) == certified


@pytest.mark.parametrize("field", [7, QQ], ids=str)
def test_every_field_is_certified(field):
    random = np.random.RandomState(3)
    X = random.randint(0, 7, size=(600, 2)) @ [[1, 0, 1], [0, 1, 2]]
    X = X % 7 if field == 7 else X
    finding, rows, *_ = answered(X, rule=IndexRule(t_min=20, t_max=60), field=field)
    certified = certify(finding, rows)
    assert certified.promises.certified.rho < 0.5
    assert Finding.from_dict(certified.to_dict()) == certified


def test_rows_that_were_counted_and_sorted_cannot_certify():
    finding, rows, *_ = answered(rows_with_a_gap(20_000, d=3, damage=0.002))
    promises = finding.promises
    setup = replace(promises.setup, sorted_rows=True)
    counted = replace(finding, promises=replace(promises, setup=setup))
    with pytest.raises(InputError, match="counted by weights"):
        certify(counted, rows)


def test_however_rows_come_in_batches_the_certificate_is_one():
    finding, *_, lifted = answered(rows_with_a_gap(1500))
    whole = SecondPass.of_all_rows(finding).update(lifted).certify(finding, 0.99)
    for cuts in ([1], [149, 150, 151], [0, 700, 700, 1499], range(0, 1500, 150)):
        second_pass, start = SecondPass.of_all_rows(finding), 0
        for stop in [*cuts, 1500]:
            second_pass.update(lifted[start:stop])
            start = stop
        assert second_pass.certify(finding, 0.99) == whole


@pytest.mark.parametrize("n", [0, 1, 299, 301, 600])
def test_another_number_of_rows_is_refused(n):
    finding, *_, lifted = answered(rows_with_a_gap(300))
    many = finding.field.rows(np.tile(finding.field.array(lifted), (2, 1)))
    with pytest.raises(InputError, match=f"300 of them, got {n}"):
        SecondPass.of_all_rows(finding).update(many[:n]).certify(finding, 0.99)


def test_rows_in_another_order_are_refused_or_certify_for_that_order():
    """Reversed independent rows are independent rows; sorted ones are not."""
    X = rows_with_a_gap(400)
    finding, *_ = answered(X)
    for other in (X[::-1], X[np.lexsort(X.T)], X[1:]):
        with pytest.raises(InputError, match=r"passed to fit\(\), in the same order"):
            certify(finding, other)
    # of two rows, each order has the same flag
    X = np.eye(2, dtype=int)[np.random.RandomState(1).randint(0, 2, size=400)]
    finding, *_ = answered(X)
    assert certify(finding, X[::-1]).promises.certified.rho < 0.01
    assert "drift" in certify(finding, X[X[:, 0].argsort()]).promises.withheld


def test_a_bare_answer_cannot_be_certified():
    bare = Finding.of(answered(rows_with_a_gap(50))[0].answer)
    with pytest.raises(InputError, match="nothing to certify"):
        SecondPass.of_all_rows(bare)
    with pytest.raises(InputError, match="confidence"):
        SecondPass.of_all_rows(answered(rows_with_a_gap(50))[0], confidence=1)


@pytest.mark.parametrize("batch", [20, 3000])
def test_rows_that_repeat_in_runs_forfeit_every_promise(batch):
    X = np.repeat(rows_with_a_gap(1000, d=20), 3, axis=0)
    finding, *_, lifted = answered(X)
    second_pass = SecondPass.of_all_rows(finding)
    for start in range(0, len(X), batch):
        second_pass.update(lifted[start : start + batch])
    found = second_pass.certify(finding, 0.99)
    assert found.promises.withheld.startswith("rows repeat in runs: 66")
    assert "deduplicate-runs" in found.promises.withheld
    assert (
        found.promises.proven.rho,
        found.promises.certified.certificate,
        found.promises.certified.eps,
    ) == (
        None,
        None,
        None,
    )
    assert found.support is None
    assert Finding.from_dict(found.to_dict()) == found


def test_a_certificate_shares_delta_with_the_bounds_from_the_flag():
    finding, rows, *_ = answered(rows_with_a_gap(1000))
    g = certify(finding, rows, confidence=0.9).promises.certified
    assert g.confidence == 0.9
    assert g.certificate.confidence == pytest.approx(1 - 0.8 * 0.1)
    assert g.future < finding.promises.certified.future  # that was for 99 %


def test_forecasts_need_more_rows_than_a_pilot():
    finding, *_, lifted = answered(rows_with_a_gap(1000))
    second_pass = SecondPass.of_all_rows(finding)
    assert second_pass.certifier is None
    second_pass.update(lifted)
    assert second_pass.certifier.forecast(64) < 0.01


# streams


def stream_of(X, sizes, **parameters):
    span = LinearSpan(
        rule=IndexRule(t_min=0.05, t_max=0.15), random_state=7, certify=0.99, **parameters
    )
    start = 0
    for size in sizes:
        span.partial_fit(X[start : start + size])
        start += size
    assert start == len(X)
    return span


def test_parts_end_at_powers_of_two():
    stream, rows = StreamCertification(IndexRule(), 0.99), GF(2).rows(np.zeros((100, 2), int))
    assert [len(part) for part in stream.parts(0, rows)] == [16, 16, 32, 36]
    assert [len(part) for part in stream.parts(15, rows[:2])] == [1, 1]
    assert [len(part) for part in stream.parts(60, rows[:10])] == [4, 6]
    assert [len(part) for part in stream.parts(64, rows[:64])] == [64]
    assert list(stream.parts(7, rows[:0])) == []


def test_each_look_has_its_own_share_of_delta(monkeypatch):
    planned = []
    from flagstone.certificates import Certifier

    plan = Certifier.of_pilot.__func__

    def watched(cls, pilot, n_rows, window, **given):
        planned.append((pilot.n_rows, n_rows, 1 - given["confidence"]))
        return plan(cls, pilot, n_rows, window, **given)

    monkeypatch.setattr(Certifier, "of_pilot", classmethod(watched))
    stream_of(rows_with_a_gap(600), [600])
    assert [(pilot, m) for pilot, m, _ in planned] == [(16 << k, 128 << k) for k in range(6)]
    shares = [failure / 0.01 for *_, failure in planned]
    assert shares == pytest.approx([0.8 * pilot_share(16 << k) for k in range(6)])
    assert sum(pilot_share(16 << k) for k in range(100)) < 1


def test_however_a_stream_comes_its_promises_are_one():
    X = rows_with_a_gap(2100)
    whole = stream_of(X, [2100])
    assert whole.guarantee_.certified.rho < 0.2
    assert whole.guarantee_.certified.certificate.n_pilot == 256  # of 2048 rows
    for sizes in ([1] * 40 + [2060], [127, 1, 1972], [700, 700, 700]):
        assert stream_of(X, sizes).guarantee_ == whole.guarantee_
    assert Finding.from_dict(whole.finding_.to_dict()) == whole.finding_


def test_copies_of_a_stream_go_their_own_way():
    X = rows_with_a_gap(2100)
    first = stream_of(X[:900], [900])
    said = first.guarantee_
    for twin in (copy.deepcopy(first), pickle.loads(pickle.dumps(first))):
        assert twin.partial_fit(X[900:]).guarantee_ == stream_of(X, [2100]).guarantee_
    assert first.guarantee_ == said


def test_a_short_stream_has_no_certificate_yet():
    g = stream_of(rows_with_a_gap(127), [127]).guarantee_.certified
    assert g.certificate is None
    assert g.any_time
    assert stream_of(rows_with_a_gap(128), [128]).guarantee_.certified.certificate is not None


def test_weights_end_a_stream():
    X = rows_with_a_gap(200)
    span = stream_of(X, [200]).partial_fit(X[:2], sample_weight=[3, 1])
    assert span.guarantee_.withheld.startswith("sample_weight")
    assert span.guarantee_.certified.rho is None


def test_collecting_rows_until_something_is_certified_pays_for_every_look():
    # at a number of rows chosen by what the rows said, one look's share is too little
    X = rows_with_a_gap(1000)
    stopped = stream_of(X, [1000]).guarantee_.certified
    fixed = (
        LinearSpan(rule=IndexRule(t_min=0.05, t_max=0.15), random_state=7)
        .fit(X)
        .guarantee_.certified
    )
    assert not fixed.any_time
    assert stopped.span > 1.5 * fixed.span
    assert stopped.future > fixed.future
    assert stopped.any_time


def damaged(m):
    """Rows of twelve columns, four of them checks; one in twenty is noise."""
    random = np.random.RandomState(3)
    X = random.randint(0, 2, size=(m, 12))
    X[:, 8:] = X[:, :4] ^ X[:, 4:8]
    bad = random.random_sample(m) < 0.05
    X[bad] = random.randint(0, 2, size=(int(bad.sum()), 12))
    return X


def test_merged_shards_are_certified_in_runs_of_their_own():
    random = np.random.RandomState(1)
    X = random.randint(0, 2, size=(6000, 6))
    X[:, 5] = X[:, 0] ^ X[:, 3] ^ (random.random_sample(6000) < 0.01)
    parts = [X[:2500], X[2500:]]
    flag = merge_flags([Flag(6).update(part) for part in parts])
    finding = ask(flag, SpanQuestion(), IndexRule(t_min=0.03, t_max=0.08), Coins(1))
    found = certify(finding, X, shards=[2500, 3500])
    assert found.promises.certified.certificate.n_runs == 2
    assert found.promises.certified.rho < 0.01
    assert found.rows.read == 6000
    for shards in (None, [3500, 2500], [2500, 3000]):
        with pytest.raises(InputError, match="needs the rows passed to fit"):
            certify(finding, X, shards=shards)
    # no piece reaches over the end of a shard, and a tenth of each is pilot
    pilot = merge_flags([Flag(6).update(part[: len(part) // 10]) for part in parts])
    certifier = planned(finding, pilot)
    looks = [
        SecondPass(finding, certifier, len(part) // 10, start)
        for part, start in zip(parts, (0, 2500), strict=True)
    ]
    for part, look in zip(parts, looks, strict=True):
        for piece in np.array_split(part, 7):
            rows = finding.field.rows(piece)
            look.update(rows, placed(finding, rows))
    both = looks[0].merge(looks[1])
    assert (both.certifier.n_runs, both.certifier.n_rows) == (2, 5400)
    assert both.certify(finding, 0.99) == dataclasses.replace(found, rows=finding.rows)
    with pytest.raises(InputError, match="6,000 of them, got 2,500"):
        looks[0].certify(finding, 0.99)


@pytest.mark.parametrize("sizes", [[400], [1, 7, 392], [39, 1, 360], [100] * 4])
def test_rows_outside_are_counted_alike_however_they_are_cut(sizes):
    X = damaged(400)
    finding = ask(Flag(12).update(X), SpanQuestion(), IndexRule(t_min=8, t_max=12), Coins(1))
    look, outside = SecondPass(finding), ~finding.subspace.contains(X)
    for stop, size in zip(np.cumsum(sizes), sizes, strict=True):
        rows = finding.field.rows(X[stop - size : stop])
        look.update(rows, placed(finding, rows))
    levels, points = look.levels, start_points(400, 12)
    n, j = levels.first[0]
    assert (levels.n_rows, levels.outside[0], j) == (400, outside.sum(), outside[:n].sum())
    assert Subspace.span(X[:n][~outside[:n]]) == finding.subspace
    for before in points[: points.index(n)]:  # no later than needed
        assert Subspace.span(X[:before][~outside[:before]]) != finding.subspace
    found = look.certify(finding, 0.99).promises.certified
    share = 1 - SHARE_OF_START * 0.01
    for level, counted in zip(levels.dims, found.levels, strict=True):
        U = next(U for U in map(finding.flag.span_at, range(1, 400)) if U.dim == level)
        out = ~U.contains(X)
        runs = int((out & ~np.concatenate([[False], out[:-1]])).sum())
        first, skipped = counted.first, counted.skipped
        assert (counted.dim, counted.outside, counted.runs) == (level, out.sum(), runs)
        assert skipped == out[:first].sum()
        hits, starts = int(out.sum()), len(points)
        eps = counted_certificate(first, skipped, hits, 400, starts=starts, confidence=share)
        assert counted.eps == pytest.approx(eps)
    assert found.counted == found.levels[0]
    certified = look.certify(finding, 0.99)
    assert Finding.from_dict(certified.to_dict()) == certified


def placed(finding, rows):
    """How many of {0} and the levels of the flag do not hold each row."""
    return finding.spaces.first_space(finding.spaces.coordinates(rows))


def test_rows_of_several_runs_count_together():
    X = damaged(400)
    X[0, 8] ^= 1  # a row outside, in a run that is too short to span anything
    finding = ask(Flag(12).update(X), SpanQuestion(), IndexRule(t_min=8, t_max=12), Coins(1))
    F, looks = finding.field, []
    for start, stop in ((0, 5), (5, 200), (200, 400)):
        rows = F.rows(X[start:stop])
        looks.append(SecondPass(finding, n_before=start).update(rows, placed(finding, rows)))
    both = looks[0].merge(looks[1]).merge(looks[2])
    whole = SecondPass(finding).update(F.rows(X), placed(finding, F.rows(X)))
    first, skipped = looks[1].levels.first[0]
    assert looks[0].levels.outside[0] == 1
    assert both.levels.first[0] == (first, 1 + skipped)
    assert both.levels.outside.tolist() == whole.levels.outside.tolist()
    assert 0 < both.certify(finding, 0.99).promises.certified.counted.eps < 0.3
    # who did not say which rows lie outside learns nothing from them
    unsaid = SecondPass(finding).update(finding.field.rows(X)).certify(finding, 0.99)
    assert unsaid.promises.certified.counted is None


# one-sided: a fresh answer contains the equations


def checked(m, drift=False, damage=0.0, burst=1, seed=3):
    """Ten payload bits and eight checks; of a counter that drifts, or at random; some damaged."""
    random = np.random.RandomState(seed)
    steps = random.randint(-40, 41, size=m)
    number = np.cumsum(steps) % 1024 if drift else random.randint(0, 1024, size=m)
    bits = (number[:, np.newaxis] >> np.arange(10)) & 1
    X = np.c_[bits, bits @ np.random.RandomState(5).randint(0, 2, size=(10, 8)) % 2]
    hit = np.repeat(random.random_sample(-(-m // burst)) < damage, burst)[:m]
    X[hit, 10:] ^= random.randint(0, 2, size=(int(hit.sum()), 8))
    return X


@pytest.mark.parametrize("rule", [IndexRule, HeavyRule])
def test_few_rows_certify_that_a_fresh_answer_contains_the_equations(rule):
    X = checked(300)
    finding, rows, *_ = answered(X, rule=rule(t_min=20, t_max=20))
    found = certify(finding, rows)
    kept = found.promises.contains
    assert (kept.equations, kept.of, kept.dim) == (8, 8, 10)
    assert kept.failure < 0.01
    assert found.promises.certified.rho is None  # the whole answer is not certified
    data = found.to_dict()["promises"]
    assert data["contains"]["equations"] == 8
    assert data["equal"] is None
    assert "contains all 8 equations" in str(found.promises)
    # thresholds of one or two can never be
    finding, rows, *_ = answered(X, rule=rule(t_min=2, t_max=2))
    assert certify(finding, rows).promises.contains is None


@pytest.mark.parametrize(
    ("d", "sizes"),
    [
        (3, [75, 300, 3000, 30_000, 50_000, 1_000_000]),
        (12, [300, 1200, 10_000, 200_000]),
        (40, [1000, 30_000]),
    ],
)
def test_sixteen_sets_suffice_without_violations_for_every_number_of_rows(d, sizes):
    random = np.random.RandomState(1)
    for m in sizes:
        X = random.randint(0, 2, size=(m, d), dtype=np.uint8)
        X[:, -1] = X[:, 0]
        span = LinearSpan(rule=IndexRule(t_min=16, t_max=16), random_state=7).fit(X)
        assert span.guarantee_.contains.failure < 0.003
        # more rows do not certify less
        assert m < 10_000 or span.guarantee_.certified.rho < 0.005


def test_drift_withholds_what_needs_independent_rows_and_nothing_else():
    X = checked(1500, drift=True, damage=0.01)
    finding, rows, *_ = answered(X, rule=IndexRule(t_min=90, t_max=90))
    found = certify(finding, rows).promises
    assert "drift" in found.withheld
    assert (found.certified.rho, found.certified.eps) == (None, None)
    assert found.contains.equations >= 8
    assert found.contains.failure < 0.01
    again = Finding.from_dict(certify(finding, rows).to_dict())
    assert again.promises == found


def test_violations_that_come_in_runs_certify_no_equations():
    X = checked(1500, damage=0.02, burst=10)
    finding, rows, *_ = answered(X, rule=IndexRule(t_min=80, t_max=80))
    found = certify(finding, rows).promises
    assert found.certified.levels[0].runs < found.certified.levels[0].outside / 2
    assert found.contains is None
    assert "equations come in runs" in found.withheld
    assert (found.certified.rho, found.certified.eps, found.proven.rho) == (None, None, None)
    assert str(found).startswith("no promise about fresh samples: rows that break equations come")
    assert Finding.from_dict(certify(finding, rows).to_dict()).promises == found
    alone = checked(1500, damage=0.02)
    finding, rows, *_ = answered(alone, rule=IndexRule(t_min=80, t_max=80))
    assert certify(finding, rows).promises.contains.equations == 8


def test_shards_and_streams_certify_the_equations_too():
    X = checked(1200)
    flag = merge_flags([Flag(18).update(X[:500]), Flag(18).update(X[500:])])
    finding = ask(flag, SpanQuestion(), IndexRule(t_min=25, t_max=25), Coins(7))
    assert certify(finding, X, shards=[500, 700]).promises.contains.equations == 8
    span = LinearSpan(
        rule=IndexRule(t_min=0.05, t_max=0.05), random_state=7, certify=0.99
    ).partial_fit(X)
    assert span.guarantee_.certified.any_time
    assert span.guarantee_.contains.equations == 8


def streamed(X, t):
    rule = IndexRule(t_min=t, t_max=t)
    return LinearSpan(rule=rule, random_state=7).partial_fit(X[:700]).partial_fit(X[700:]).finding_


def test_a_stream_counts_the_rows_outside_the_levels_of_its_pilots():
    """Of 1,500 rows the pilot of 128 was the last whose 7 · 128 rows came."""
    X = checked(1500, damage=0.01)
    found = streamed(X, 60)
    levels = found.promises.certified.levels
    assert levels
    for level in levels:
        pilot = Flag(18).update(X[:128])
        spaces = [pilot.span_at(v.first) for v in pilot.levels()]
        (U,) = (V for V in spaces if V.dim == level.dim)
        assert U.contains(found.subspace.basis).all()
        outside = ~U.contains(X[128:1024])
        runs = int(outside[0]) + int((outside[1:] & ~outside[:-1]).sum())
        assert (level.first, level.n_rows) == (128, 896)
        assert (level.outside, level.runs) == (int(outside.sum()), runs)
        share = stream_certificate(level.outside, 896, 128, levels=4, confidence=1 - 0.15 * 0.01)
        assert level.eps == pytest.approx(share)
    assert found.promises.certified.counted == levels[0]
    assert levels[0].dim == found.subspace.dim == 10
    assert Finding.from_dict(found.to_dict()) == found


def test_a_stream_that_drifts_still_has_its_equations():
    found = streamed(checked(4200, drift=True, damage=0.005), 90).promises
    assert "drift" in found.withheld
    assert found.certified.certificate is None
    assert found.contains.equations == 8
    assert found.contains.failure < 0.05
    broken = streamed(checked(4200, drift=True, damage=0.005, burst=8), 90).promises
    assert broken.contains is None  # damaged in runs: not independently
    still = streamed(checked(4200, damage=0.02, burst=8), 90).promises
    assert "equations come in runs" in still.withheld
    assert still.certified.eps is None


def test_independent_damage_is_hardly_ever_called_dependent():
    """Of some levels of each flag, each is called dependent in one of 1,000 samples at most."""
    withheld = 0
    for seed in range(300):
        random = np.random.RandomState(seed)
        X = np.eye(13, dtype=int)[np.minimum(random.geometric(0.5, size=200) - 1, 12)]
        window = IndexRule(t_min=4, t_max=12)
        withheld += (
            LinearSpan(rule=window, random_state=seed).fit(X).guarantee_.withheld is not None
        )
    assert withheld <= 3


def test_equations_are_certified_one_by_one_with_delta_shared():
    X = checked(600)
    X[::20, 17] ^= 1  # one check breaks often, the others never
    finding, *_ = answered(X, rule=IndexRule(t_min=45, t_max=45))
    found = certify_equations(finding, X)
    assert [one.text for one in found] == list(finding.answer.lines)
    broken = (finding.answer.syndrome(X) != 0).sum(axis=0)
    assert [one.violations for one in found] == broken.tolist()
    assert [one.failure < 1e-6 for one in found] == (broken == 0).tolist()
    assert set(broken.tolist()) == {0, 30}
    certain = [one.failure for one in certify_equations(finding, X, confidence=0.9)]
    assert all(a < b.failure for a, b in zip(certain, found, strict=True))
    with pytest.raises(InputError, match="600 rows of the fit, got 599"):
        certify_equations(finding, X[1:])
    # violations side by side say nothing
    X = checked(600)
    X[300:330, 17] ^= 1
    finding, *_ = answered(X, rule=IndexRule(t_min=45, t_max=45))
    broken = (finding.answer.syndrome(X) != 0).any(axis=0)
    assert [one.failure is None for one in certify_equations(finding, X)] == broken.tolist()


@pytest.mark.parametrize("drift", [False, True])
@pytest.mark.parametrize("damage", [0.0, 0.01])
def test_few_rows_name_the_window_that_would_certify_their_equations(drift, damage):
    """The default window of few rows is early; fresh rows at the threshold named are certified."""
    rows = [checked(1200, drift, damage, seed=seed) for seed in (3, 4)]
    early = 8 if damage else 2  # at 2 a few damaged rows are kept, too
    rule = IndexRule(t_min=early, t_max=early)
    first = LinearSpan(rule=rule, random_state=7).fit(rows[0])
    promises, t = first.guarantee_, first.guarantee_.contains_from
    assert promises.contains is None
    assert f"from threshold {t} on would certify all 8 equations" in next_step(promises)
    rule = IndexRule(t_min=t + 8, t_max=t + 8)  # a little room: other rows, other bounds
    later = LinearSpan(rule=rule, random_state=7).fit(rows[1]).guarantee_
    assert later.contains.equations == 8
    assert later.contains_from is None


def test_no_window_is_named_for_equations_that_so_few_rows_cannot_have():
    random = np.random.RandomState(1)
    few = LinearSpan(rule=IndexRule(t_min=2, t_max=2), random_state=7).fit(checked(60))
    assert few.guarantee_.contains_from is None  # fifteen sets of ten rows need 150
    none = LinearSpan(rule=IndexRule(t_min=2, t_max=2), random_state=7)
    assert none.fit(random.randint(0, 2, size=(400, 4))).guarantee_.contains_from is None


def test_a_smaller_span_is_a_system_that_follows_not_one_that_contains():
    """The answer of LinearEquations is V* itself: what is certified is V* ⊆ this one."""
    random, z = np.random.RandomState(0), np.array([1, 0, 1, 1])
    rule = IndexRule(t_min=20, t_max=20)
    systems = []
    for _ in range(2):
        A = random.randint(0, 2, size=(600, 4))
        systems.append(LinearEquations(rule=rule, random_state=7).fit(A, A @ z % 2))
    first, second = systems
    assert first.guarantee_.contains.failure < 0.01
    assert second.finding_.subspace <= first.finding_.subspace
    said = str(first.guarantee_)
    assert "a fresh system follows from this one: ≥" in said
    assert "contains" not in said
    assert Finding.from_dict(first.finding_.to_dict()).promises == first.guarantee_
    early = LinearEquations(rule=IndexRule(t_min=2, t_max=2), random_state=7).fit(A, A @ z % 2)
    assert "would certify this system" in next_step(early.guarantee_)


def test_a_rule_is_allowed_by_fresh_samples_and_bottom_is_nothing_to_contain():
    random, rule = np.random.RandomState(0), IndexRule(t_min=20, t_max=20)
    A = random.randint(0, 2, size=(900, 6))
    A[:, 5] = A[:, 0] ^ A[:, 1]
    fits = ParityClassifier(rule=rule, random_state=7).fit(A, A[:, 0] ^ A[:, 2])
    assert fits.guarantee_.contains.equations == 2
    assert "a fresh sample allows this rule, too: ≥" in str(fits.guarantee_)
    assert Finding.from_dict(fits.finding_.to_dict()).promises == fits.guarantee_
    with pytest.warns(ReplicabilityWarning):
        bottom = ParityClassifier(rule=rule, random_state=7).fit(A, random.randint(0, 2, size=900))
    assert bottom.is_bottom_
    assert "fresh" not in str(bottom.guarantee_)
    early = ParityClassifier(rule=IndexRule(t_min=2, t_max=2), random_state=7)
    said = next_step(early.fit(A, A[:, 0] ^ A[:, 2]).guarantee_)
    assert "would certify this rule" in said


def test_certifying_refuses_what_cannot_be_labels_shards_or_a_confidence():
    X = rows_with_a_gap(300)
    flag = Flag(7).update(np.column_stack([X, X[:, 0]]))
    finding = ask(flag, ParityQuestion(), IndexRule(t_min=5, t_max=20), Coins(1))
    assert certify(finding, X, X[:, 0]).promises.certified.certificate is not None
    for y, options, words in (
        (X[:9, 0], {}, "300 rows, but y has 9 labels"),
        (X[:, 0], {"shards": [150.5, 149.5]}, "shards must be an integer of at least 0"),
        (X[:, 0], {"shards": [-1, 301]}, "shards must be an integer of at least 0"),
        (X[:, 0], {"confidence": None}, "confidence must be a number"),
        (X[:, 0], {"confidence": 1}, "confidence must lie strictly between 0 and 1"),
    ):
        with pytest.raises(InputError, match=words):
            certify(finding, X, y, **options)
