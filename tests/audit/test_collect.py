"""Audits of any estimator: deterministic, resumable, independent of the number of jobs."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from flagstone.audit import (
    AuditStats,
    FromFunction,
    FromLaw,
    FromTable,
    Same,
    Task,
    TaskError,
    anytime_interval,
    audit,
    collect,
    read_outcomes,
    report,
)
from flagstone.disk import sealed
from flagstone.distributions import geometric, planted_parity, rare_direction, uniform
from flagstone.errors import FormatError, InputError
from flagstone.estimators import (
    EliminationClassifier,
    FieldEncoder,
    LinearSpan,
    ParityClassifier,
)

GRID = Same(grid=[[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)])
LAW = planted_parity([1, 1, 0], corruption=0.05)


def sampler(m, rng):
    X = rng.randint(0, 2, (m, 3))
    return X, X[:, 0] ^ X[:, 1]


class Broken:
    """No get_params, and raises on some samples."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y=None):
        if X[0, 0]:
            raise RuntimeError("the first entry is one")
        self.coef_ = np.array([self.random_state])
        return self


def test_trees_pipelines_and_ours_are_all_audited():
    tasks = [
        Task(DecisionTreeClassifier(), LAW, m=60, same=GRID),
        Task(make_pipeline(StandardScaler(), LogisticRegression()), LAW, m=60, same=GRID),
        Task(LinearSpan(t_max=5), uniform(3), m=60),
    ]
    tree, logistic, span = collect(tasks=tasks, max_pairs=12)
    assert tree.pairs == logistic.pairs == span.pairs == 12
    assert tree.errors == logistic.errors == 0
    assert tree.disagreements > 0  # noise makes trees differ
    assert span.agreements == 12


def test_the_coins_are_shared_inside_a_pair_and_fresh_between_pairs():
    task = Task(Broken(), sampler, m=5, same="coef")
    assert task.coins(0) == task.coins(0) != task.coins(1)
    assert not np.array_equal(
        task.stream(0, "first").randint(0, 2**31, 4), task.stream(0, "second").randint(0, 2**31, 4)
    )
    [stats] = collect(tasks=task, max_pairs=40)
    assert stats.agreements == stats.answered > 0


def test_a_known_rate_is_found():
    """Elimination on D_m agrees when both samples hold u, or neither does."""
    m = 40
    q = (1 - 1 / m) ** m
    expected = q * q + (1 - q) ** 2
    task = Task(LinearSpan(t_max=1), rare_direction(3, m), m=m)
    [stats] = collect(tasks=task, max_pairs=300)
    low, high = stats.interval(1 - 1e-6, anytime=False)
    assert low <= 1 - expected <= high


def test_bottoms_are_the_third_outcome():
    law = planted_parity([1, 0, 1], corruption=0.03)
    [stats] = collect(
        tasks=Task(EliminationClassifier(fit_intercept=False), law, m=40), max_pairs=80
    )
    assert stats.both_bottom > 0
    assert stats.one_bottom > 0
    assert stats.agreements >= stats.both_bottom
    assert stats.disagreements >= stats.one_bottom


def test_errors_are_counted_and_reported_or_raised_if_asked():
    task = Task(Broken(), sampler, m=5, same="coef")
    [stats] = collect(tasks=task, max_pairs=30)
    assert 0 < stats.errors < 30
    assert stats.pairs == 30
    [(kind, count)] = stats.error_types
    assert kind == "RuntimeError: the first entry is one"
    assert count == stats.errors
    assert "RuntimeError" in str(report(stats, task=task))
    with pytest.raises(RuntimeError, match="first entry"):
        collect(tasks=task, max_pairs=30, on_error="raise")


def test_results_do_not_depend_on_n_jobs():
    task = Task(ParityClassifier(fit_intercept=False, t_max=20), LAW, m=100, integrate=True)
    [serial] = collect(tasks=task, max_pairs=40, max_disagreements=8)
    [parallel] = collect(tasks=task, max_pairs=40, max_disagreements=8, n_jobs=2)
    assert serial == parallel
    assert serial.integrated == parallel.integrated
    assert serial.integrated is not None


def test_stop_rules():
    noisy = Task(DecisionTreeClassifier(), LAW, m=30, same=GRID)
    [stats] = collect(tasks=noisy, max_pairs=500, max_disagreements=7)
    assert stats.disagreements == 7
    [stats] = collect(tasks=noisy, max_pairs=5000, max_width=0.5)
    low, high = stats.interval()
    assert high - low <= 0.5
    assert stats.pairs < 200
    [stats] = collect(tasks=noisy, max_pairs=9)
    assert stats.pairs == 9


def test_the_gain_of_integrating_is_in_the_interval():
    """The same question, with and without: the interval itself is narrower, from few pairs on."""
    law, learner = geometric(8), LinearSpan(t_max=100)
    for pairs, gain in ((40, 1.7), (200, 2.5)):
        [plain] = collect(tasks=Task(learner, law, m=500), max_pairs=pairs)
        [integrated] = collect(tasks=Task(learner, law, m=500, integrate=True), max_pairs=pairs)
        (a, b), (c, d) = plain.interval(), integrated.interval()
        assert gain * (d - c) < b - a
        needed = integrated.plain_pairs()
        assert needed > 2 * pairs
        a, b = anytime_interval(integrated.disagreement_rate * needed, needed)
        assert b - a <= d - c
        assert f"as narrow as {needed} plain" in str(report(integrated))


def test_few_pairs_boast_of_no_gain():
    task = Task(LinearSpan(t_max=100), geometric(8), m=500, integrate=True)
    [stats] = collect(tasks=task, max_pairs=3)
    assert stats.plain_pairs() is None
    assert "plain" not in str(report(stats))


def test_parts_of_an_audit_add_up_and_no_pair_counts_twice():
    task = Task(LinearSpan(t_max=100), geometric(8), m=500, integrate=True)
    [whole] = collect(tasks=task, max_pairs=30)
    [first] = collect(tasks=task, max_pairs=10)
    [rest] = collect(tasks=task, max_pairs=20, first_pair=10)
    assert first + rest == rest + first == whole
    assert whole.numbers == ((0, 30),)
    assert (first + collect(tasks=task, max_pairs=5, first_pair=20)[0]).numbers == (
        (0, 10),
        (20, 25),
    )
    for overlapping in (first, whole):
        with pytest.raises(InputError, match="pair 0, which would be counted twice"):
            first + overlapping
    with pytest.raises(InputError, match="pair 10,"):
        whole + rest


class Fussy:
    """Raises most of the time, with a message that names the sample."""

    def fit(self, X, y=None):
        if X[:2].any():
            raise ValueError(f"sum {X.sum()} of {X.mean():.3f} refused")
        self.coef_ = np.zeros(2)
        return self


def test_errors_are_in_the_headline_and_are_no_agreement():
    task = Task(Fussy(), lambda m, rng: rng.randint(0, 2, (m, 2)), m=40, same="coef")
    [stats] = collect(tasks=task, max_pairs=400)
    assert stats.errors > stats.both_failed > 0
    assert stats.errors + stats.agreements == 400  # whoever answers agrees: coef_ is zero
    assert stats.replicability == pytest.approx(stats.agreements / 400)
    assert stats.error_types == (("ValueError: sum # of # refused", stats.errors),)
    said = report(stats, claim=0.01)
    assert said.verdict.decision == "rejected"  # one error against one answer is a disagreement
    assert f"{stats.errors} of 400 pairs count as different for an error" in str(said.verdict)
    [headline] = [line for line in str(said).splitlines() if "replicability" in line]
    assert f"MOST PAIRS ERRED: {stats.errors} of 400 pairs with an error" in headline


class Failing:
    """Never answers."""

    def fit(self, X, y=None):
        raise ValueError("never")


def test_two_errors_agree_on_nothing_and_reject_nothing():
    [stats] = collect(tasks=Task(Failing(), sampler, m=5, same="coef"), max_pairs=100)
    assert stats.errors == stats.both_failed == stats.disagreements == 100
    assert stats.replicability == 0.0
    assert stats.verdict(0.01).decision == "undecided"
    assert stats.verdict(0.01).evidence == 1.0


def test_errors_have_their_place_among_integrated_values(tmp_path, monkeypatch):
    """With every other fit failing, and in a file, too: the pair counts as a whole one."""
    fitted, calls = LinearSpan.fit, []

    def fit(self, X, y=None):
        calls.append(None)
        if len(calls) % 4 == 2:
            raise ValueError("refused")
        return fitted(self, X, y)

    monkeypatch.setattr(LinearSpan, "fit", fit)
    task = Task(LinearSpan(t_max=3), uniform(4), m=100, integrate=True)
    for _ in range(2):  # the second time from the file
        [stats] = collect(tasks=task, max_pairs=20, file=tmp_path / "results.jsonl")
        assert stats.errors == 10
        assert stats.both_failed == 0
        assert stats.integrated == (0.0,) * 10 + (1.0,) * 10
        assert stats.replicability == 0.5
        assert stats.quality == ("coverage", 1.0)
    assert len(calls) == 40


def test_accuracy_or_coverage_stand_beside_replicability():
    law = planted_parity([1, 0, 1], corruption=0.1)
    task = Task(ParityClassifier(contamination=0.2), law, m=200)
    [stats] = collect(tasks=task, max_pairs=10)
    name, mean = stats.quality
    assert name == "accuracy"
    assert 0.75 < mean < 0.95
    assert f"accuracy {mean:.4f}, the mean over the runs, on the other sample" in str(report(stats))
    assert report(stats).to_dict()["accuracy"] == mean
    [stats] = collect(tasks=Task(LinearSpan(t_max=100), geometric(8), m=200), max_pairs=10)
    assert stats.quality[0] == "coverage"
    assert 0.3 < stats.quality[1] < 1.0


def test_runs_that_keep_nothing_agree_on_nothing():
    law = planted_parity([1, 0, 1])
    task = Task(ParityClassifier(t_min=150, t_max=200), law, m=200, integrate=True)
    [stats] = collect(tasks=task, max_pairs=20)
    assert stats.agreements == stats.both_empty == 20
    said = report(stats, claim=0.5)
    assert said.verdict.decision == "supported"
    assert "the runs agree on nothing" in str(said.verdict)
    [headline] = [line for line in str(said).splitlines() if "replicability" in line]
    assert "THE RUNS AGREE ON NOTHING" in headline
    assert stats.quality == ("accuracy", 0.0)  # nothing is predicted, as with ⊥
    grid = Same(grid=GRID.grid)
    [again] = collect(tasks=Task(task.estimator, law, m=200, same=grid), max_pairs=5)
    assert (again.both_empty, again.errors) == (5, 0)


def test_many_kinds_of_errors_are_listed_by_frequency_and_cut_short():
    kinds = tuple((f"ValueError: {letter}", i + 1) for i, letter in enumerate("abcdefg"))
    stats = AuditStats("t", pairs=30, agreements=2, errors=28, error_types=kinds)
    lines = str(report(stats)).splitlines()
    assert lines[2] == "    7 × ValueError: g"
    assert "    and 2 more kinds of errors" in lines


def test_an_audit_of_nothing_but_bottoms_says_so_in_the_headline():
    law = planted_parity([1, 0, 1], intercept=1)
    task = Task(ParityClassifier(fit_intercept=False, t_max=5), law, m=200)
    [stats] = collect(tasks=task, max_pairs=20)
    assert stats.both_bottom == 20
    said = report(stats, claim=0.5)
    [headline] = [line for line in str(said).splitlines() if "replicability" in line]
    assert "EVERY ANSWER IS ⊥" in headline
    assert "every answer is ⊥" in str(said.verdict)
    assert said.to_dict()["all_bottom"] is True


BOTH = "wrong labels need contamination, a rule with a constant needs an intercept"


@pytest.mark.parametrize(
    ("model", "hint"),
    [
        (ParityClassifier(t_max=5), "allow for wrong ones with contamination"),
        (ParityClassifier(t_max=5, contamination=0.01), "more wrong ones with contamination"),
        (ParityClassifier(t_max=5, fit_intercept=False), BOTH),
        (EliminationClassifier(), "with ParityClassifier and its contamination"),
        (make_pipeline(FieldEncoder(), ParityClassifier(t_max=5)), "wrong ones with contamination"),
    ],
)
def test_the_headline_of_bottoms_blames_what_may_be_the_cause(model, hint):
    """Noise on the labels is the cause here; an intercept is blamed only where there is none."""
    law = planted_parity([1, 0, 1], corruption=0.3)
    task = Task(model, law, m=200)
    [stats] = collect(tasks=task, max_pairs=5)
    assert stats.both_bottom == 5
    [headline] = [line for line in str(report(stats, task=task)).splitlines() if "⊥: " in line]
    assert hint in headline
    assert ("intercept" in headline) == (hint == BOTH)
    assert BOTH in str(report(stats))  # without a task, nothing is known


def test_an_estimate_over_all_thresholds_is_told_from_the_counts():
    plain = AuditStats("t", pairs=10, agreements=2)
    assert "  replicability 0.2000 (disagreement 0.8000)\n" in str(report(plain))
    stats = AuditStats("t", pairs=10, agreements=2, integrated=(0.75,) * 10)
    [line] = [line for line in str(report(stats)).splitlines() if "replicability" in line]
    assert line == (
        "  replicability 0.2500 (disagreement 0.7500), the mean over all thresholds of the window; "
        "at the thresholds that were drawn 2 of 10 pairs agree (0.2000)"
    )
    alike = AuditStats("t", pairs=10, agreements=2, integrated=(0.8,) * 10)
    assert "  replicability 0.2000 (disagreement 0.8000)\n" in str(report(alike))


def test_the_width_rule_holds_for_integrated_values():
    task = Task(LinearSpan(t_max=100), geometric(8), m=500, integrate=True)
    [stats] = collect(tasks=task, max_pairs=2000, max_width=0.1)
    low, high = stats.interval()
    assert high - low <= 0.1
    assert stats.pairs < 200


class TestFiles:
    task = Task(DecisionTreeClassifier(), LAW, m=30, same=GRID, seed=3)

    def test_resume_continues_to_the_same_counts(self, tmp_path):
        path = tmp_path / "audit.jsonl"
        [whole] = collect(tasks=self.task, max_pairs=50)
        collect(tasks=self.task, max_pairs=20, file=path)
        before = path.read_bytes()
        [resumed] = collect(tasks=self.task, max_pairs=50, file=path)
        assert resumed == whole
        assert path.read_bytes().startswith(before)  # append-only
        [again] = collect(tasks=self.task, max_pairs=50, file=path)
        assert again == whole
        assert len(read_outcomes(path)[self.task.strong_id]) == 50

    def test_fewer_pairs_than_the_file_holds(self, tmp_path):
        path = tmp_path / "audit.jsonl"
        collect(tasks=self.task, max_pairs=30, file=path)
        [few] = collect(tasks=self.task, max_pairs=10, file=path)
        assert few == collect(tasks=self.task, max_pairs=10)[0]

    def test_a_torn_last_line_is_computed_again(self, tmp_path):
        path = tmp_path / "audit.jsonl"
        [whole] = collect(tasks=self.task, max_pairs=25, file=path)
        data = path.read_bytes()
        for cut in (3, 40, len(data) - 5):
            path.write_bytes(data[:-cut])
            [resumed] = collect(tasks=self.task, max_pairs=25, file=path)
            assert resumed == whole

    def test_interruption_keeps_what_was_done(self, tmp_path, monkeypatch):
        from flagstone.audit import _collect as module

        path = tmp_path / "audit.jsonl"
        honest = module.run_pair

        def interrupted(task, pair, on_error):
            if pair == 40:
                raise KeyboardInterrupt
            return honest(task, pair, on_error)

        monkeypatch.setattr(module, "run_pair", interrupted)
        with pytest.raises(KeyboardInterrupt):
            collect(tasks=self.task, max_pairs=60, file=path)
        monkeypatch.undo()
        assert len(read_outcomes(path)[self.task.strong_id]) == 40  # the pair at work is lost
        [resumed] = collect(tasks=self.task, max_pairs=60, file=path)
        assert resumed == collect(tasks=self.task, max_pairs=60)[0]

    def test_a_file_of_another_task_is_refused_and_untouched(self, tmp_path):
        path = tmp_path / "audit.jsonl"
        collect(tasks=self.task, max_pairs=5, file=path)
        before = path.read_bytes()
        other = Task(DecisionTreeClassifier(), LAW, m=31, same=GRID)
        with pytest.raises(InputError, match="another task"):
            collect(tasks=other, max_pairs=5, file=path)
        assert path.read_bytes() == before
        collect(tasks=other, max_pairs=5, file=path, add=True)
        assert set(read_outcomes(path)) == {self.task.strong_id, other.strong_id}

    @pytest.mark.parametrize(
        "content",
        [
            b"name,value\n1,2\n",
            b"not an audit",
            b'{"flagstone-audit": 99}\n',
            b'{"flagstone-audit": 1}\n',
            b'{"flagstone-audit": 2}\n{"id": "x", "pair": 0}\n',
            b'{"flagstone-audit": 2}\ngarbage\n',
        ],
    )
    def test_foreign_and_damaged_files_are_refused_and_untouched(self, tmp_path, content):
        path = tmp_path / "audit.jsonl"
        path.write_bytes(content)
        with pytest.raises(FormatError, match=r"audit\.jsonl"):
            collect(tasks=self.task, max_pairs=5, file=path)
        assert path.read_bytes() == content

    @pytest.mark.parametrize(
        ("line", "change", "words"),
        [
            (3, {"outcome": "perhaps"}, r"line 4.*perhaps"),
            (3, {"pair": 0}, r"line 4.*a line before it holds pair 0"),
            (3, {"pair": -1}, r"line 4.*there is no pair -1"),
            (3, {"id": "x"}, r"line 4.*no line before it describes its task"),
            (1, {"id": "x"}, r"line 2.*its id is that of another task"),
            (1, {"task": {}}, r"line 2.*its id is that of another task"),
        ],
    )
    def test_a_contradiction_names_its_line(self, tmp_path, line, change, words):
        path = tmp_path / "audit.jsonl"
        collect(tasks=self.task, max_pairs=3, file=path)
        records = [json.loads(text) for text in path.read_text().splitlines()]
        for record in records:
            del record["sha256"]
        records[line] |= change
        checksum, lines = "", []
        for record in records:
            text, checksum = sealed(json.dumps(record), checksum)
            lines.append(f"{text}\n")
        path.write_text("".join(lines))
        with pytest.raises(FormatError, match=words):
            collect(tasks=self.task, max_pairs=3, file=path)

    def test_no_flipped_bit_changes_an_outcome(self, tmp_path):
        path = tmp_path / "audit.jsonl"
        collect(tasks=self.task, max_pairs=2, file=path)
        good, known = path.read_bytes(), read_outcomes(path)
        for bit in range(0, 8 * len(good) - 8, 5):
            data = bytearray(good)
            data[bit // 8] ^= 1 << bit % 8
            path.write_bytes(data)
            with pytest.raises(FormatError):
                read_outcomes(path)
        for bit in range(8):  # the end of the last line: as if it were torn
            path.write_bytes(good[:-1] + bytes([good[-1] ^ 1 << bit]))
            assert read_outcomes(path) == {i: {0: pairs[0]} for i, pairs in known.items()}

    def test_pairs_that_are_filed_are_not_filed_again(self, tmp_path):
        path = tmp_path / "audit.jsonl"
        collect(tasks=self.task, max_pairs=3, first_pair=4, file=path)
        [found] = collect(tasks=self.task, max_pairs=9, file=path)
        assert found == collect(tasks=self.task, max_pairs=9)[0]
        assert sorted(read_outcomes(path)[self.task.strong_id]) == list(range(9))


def test_the_strong_id_knows_every_ingredient():
    def task(**changes):
        base = {
            "estimator": DecisionTreeClassifier(max_depth=3),
            "source": FromLaw(LAW, 30),
            "same": GRID,
            "seed": 1,
        }
        base.update(changes)
        return Task(base.pop("estimator"), base.pop("source"), **base).strong_id

    ids = [
        task(),
        task(seed=2),
        task(estimator=DecisionTreeClassifier(max_depth=4)),
        task(source=FromLaw(LAW, 31)),
        task(source=FromLaw(LAW, 30, weighted=True)),
        task(source=FromFunction(sampler, 30)),
        task(source=FromTable(np.eye(4, dtype=int), [0, 1, 0, 1])),
        task(same=Same(grid=[[0, 0, 0]])),
        task(estimator=make_pipeline(StandardScaler(), DecisionTreeClassifier(max_depth=3))),
    ]
    assert len(set(ids)) == len(ids)
    assert task() == task(estimator=DecisionTreeClassifier(max_depth=3, random_state=9))


def test_functions_without_an_identity_are_audited_but_not_filed_without_a_name(tmp_path):
    scope = {}
    exec("def made(m, rng): return rng.randint(0, 2, (m, 3))", scope)  # no source to read
    options = {"parameters": {"t_max": 5}, "max_pairs": 5}
    path = tmp_path / "audit.jsonl"
    for sampler in (lambda m, rng: rng.randint(0, 2, (m, 3)), scope["made"]):
        assert audit("span", sampler, 50, **options).stats.pairs == 5
        with pytest.raises(InputError, match=r"sampler.*name="):
            audit("span", sampler, 50, file=path, **options)
        assert not path.exists()
        assert audit("span", sampler, 50, file=path, name="mine", **options).stats.pairs == 5
        path.unlink()
    alike = Task(LinearSpan(t_max=5), uniform(3), m=50, same=lambda a, b: True)
    assert collect(tasks=alike, max_pairs=5)[0].agreements == 5
    with pytest.raises(InputError, match=r"notion of same.*name="):
        collect(tasks=alike, max_pairs=5, file=path)
    named = Task(LinearSpan(t_max=5), uniform(3), m=50, same=Same(lambda a, b: True, name="all"))
    assert collect(tasks=named, max_pairs=5, file=path)[0].agreements == 5
    with pytest.raises(InputError, match="name belongs to a sampler"):
        audit("span", uniform(3), 50, name="mine", **options)


def test_weighted_samples_reach_the_estimator():
    source = FromLaw(geometric(6), 10**9, weighted=True)
    [stats] = collect(tasks=Task(LinearSpan(t_max=10), source, integrate=True), max_pairs=5)
    assert stats.agreements == 5  # a billion rows see every direction


def test_halves_of_a_table_are_disjoint_and_labelled_as_indicative():
    X = np.arange(22).reshape(11, 2)
    a, b = FromTable(X, np.arange(11)).pair(*(np.random.RandomState(i) for i in (0, 1)))
    assert len(a.X) == len(b.X) == 5
    assert not set(a.y) & set(b.y)
    found = audit("span", X % 2, parameters={"t_max": 2}, max_pairs=5)
    assert found.indicative
    assert "INDICATIVE" in str(found)
    assert found.to_dict()["indicative"] is True


def test_simple_audits_judge_claims():
    good = audit("span", geometric(6), 2000, parameters={"t_max": 500}, claim=0.4, max_pairs=60)
    assert good.verdict.decision == "supported"
    bad = audit(
        "elimination",
        planted_parity([1] * 12, features=geometric(12)),
        300,
        claim=0.05,
        max_pairs=80,
        max_disagreements=25,
    )
    assert bad.verdict.decision == "rejected"
    assert "REJECTED" in str(bad)
    assert json.dumps(bad.to_dict())


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Task(object(), LAW, m=5), "method fit"),
        (lambda: Task(LinearSpan, LAW, m=5), "instance"),
        (lambda: Task(LinearSpan(), LAW), "number of rows"),
        (lambda: Task(LinearSpan(), LAW, m=0), "positive"),
        (lambda: Task(LinearSpan(), (np.eye(3), None), m=2), r"halved as it is.*\(X, y\)"),
        (lambda: Task(LinearSpan(), [[1, 0]]), "at least 2 rows"),
        (lambda: Task(LinearSpan(), FromLaw(LAW, 5), m=6), "already part"),
        (lambda: Task(LinearSpan(), LAW, m=5, same="shape"), "shape"),
        (lambda: Task(LinearSpan(), LAW, m=5, same="predictions"), "grid"),
        (lambda: Task(LinearSpan(), LAW, m=5, same="coef", integrate=True), "fingerprints"),
        (lambda: Task(LinearSpan(field=lambda: 2), LAW, m=5).strong_id, "stable description"),
        (lambda: collect(tasks=[], max_pairs=5), "non-empty"),
        (lambda: collect(tasks=[TestFiles.task] * 2, max_pairs=5), "the same"),
        (lambda: collect(tasks=TestFiles.task, max_pairs=0), "max_pairs"),
        (lambda: collect(tasks=TestFiles.task, first_pair=-1), "first_pair"),
        (lambda: collect(tasks=TestFiles.task, max_disagreements=0), "max_disagreements"),
        (lambda: collect(tasks=TestFiles.task, max_width=0), "max_width"),
        (lambda: collect(tasks=TestFiles.task, n_jobs=0), "n_jobs"),
        (lambda: collect(tasks=TestFiles.task, on_error="ignore"), "on_error"),
        (lambda: audit("forest", LAW, 5), "forest"),
    ],
)
def test_bad_input_is_explained(call, words):
    with pytest.raises(InputError, match=words):
        call()


@pytest.mark.parametrize(
    ("drawn", "words"),
    [
        (lambda m, rng: np.zeros(m), r"two dimensions.*\(6,\)"),
        (lambda m, rng: np.zeros((m + 1, 2)), r"6 rows.*\(7, 2\)"),
        (lambda m, rng: (np.zeros((m, 2)), np.zeros(3)), r"one label per row.*\(3,\)"),
    ],
)
def test_samplers_with_the_wrong_shape_are_never_counted_as_errors(drawn, words):
    task = Task(LinearSpan(t_max=1), FromFunction(drawn, 6, name="bad"))
    with pytest.raises(InputError, match=words):
        collect(tasks=task, max_pairs=3)


def test_questions_that_cannot_be_asked_are_never_counted_as_errors():
    with pytest.raises(TaskError, match="no fingerprint_"):
        collect(tasks=Task(DecisionTreeClassifier(), LAW, m=20, same="fingerprint"), max_pairs=3)
    with pytest.raises(TaskError, match="integrate=False"):
        collect(
            tasks=Task(DecisionTreeClassifier(), LAW, m=20, integrate=True, same="auto"),
            max_pairs=3,
        )
