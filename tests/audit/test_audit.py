"""Audits of any learner: the obvious calls, deterministic, resumable, whatever the jobs."""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import flagstone
from flagstone import IndexRule, audit, progress
from flagstone.audit import AuditStats, read_pairs
from flagstone.audit import audit as function
from flagstone.audit._learners import Learner, TaskError
from flagstone.audit._pairs import Task
from flagstone.audit.data import as_data
from flagstone.disk import sealed
from flagstone.distributions import geometric, planted_parity, rare_direction, uniform
from flagstone.errors import FormatError, InputError
from flagstone.estimators import EliminationClassifier, FieldEncoder, LinearSpan, ParityClassifier

LAW = planted_parity([1, 1, 0], corruption=0.05)
RNG = np.random.RandomState(7)
BLOBS = RNG.normal(np.array([[0, 0], [9, 0], [0, 9], [9, 9]])[np.arange(400) % 4])
X = RNG.normal(size=(300, 4))
Y = (X[:, 0] + X[:, 1] > 0).astype(int)
Z = X @ [1.0, 2.0, 0.0, 0.0] + 0.1 * RNG.normal(size=300)


def sampler(m, rng):
    rows = rng.randint(0, 2, (m, 3))
    return rows, rows[:, 0] ^ rows[:, 1]


def first_column(X, y, seed):
    """Predict the sign of the first column."""
    return lambda rows: (rows[:, 0] > 0).astype(int)


def test_the_module_is_called_and_stays_a_module():
    assert flagstone.audit is audit
    assert inspect.ismodule(audit)
    assert inspect.signature(audit) == inspect.signature(function)
    assert audit.tradeoff
    assert audit.summarize
    code = "from flagstone import audit; print(audit.summarize([1, 1]).exact.estimate)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout == "1.0\n"


def test_clusters_that_are_named_differently_are_the_same():
    found = audit(KMeans(4, n_init=3), BLOBS, pairs=10)
    assert found.exact.estimate == 1.0
    assert found.measures["adjusted_rand"].estimate == 1.0
    assert found.measures["worst"].estimate == 1.0
    assert found.score is None  # there is nothing to be right about
    truth = audit(KMeans(4, n_init=3), BLOBS, np.arange(400) % 4, pairs=3)
    assert (truth.score.name, truth.score.estimate) == ("adjusted Rand index to y", 1.0)
    wrong = audit(KMeans(3, n_init=1), BLOBS, pairs=20)
    assert wrong.measures["adjusted_rand"].estimate < 1.0


def test_a_clusterer_without_predict_labels_the_held_out_rows_in_its_fit():
    found = audit(AgglomerativeClustering(4), BLOBS, pairs=4)
    assert found.stats.errors == 0
    assert found.exact.estimate == found.measures["adjusted_rand"].estimate == 1.0


def test_components_of_a_mixture_are_clusters():
    found = audit(GaussianMixture(4), BLOBS, pairs=5)
    assert found.exact.estimate == found.measures["adjusted_rand"].estimate == 1.0


def test_predictions_of_a_classifier_may_be_compared_as_clusters():
    found = audit(LogisticRegression(), X, Y, compare="adjusted_rand", pairs=5)
    assert found.stats.errors == 0  # it got its labels
    assert 0.5 < found.measures["adjusted_rand"].estimate < 1.0
    assert found.score.name == "accuracy"


def test_an_ordinary_classifier_is_not_exact_but_mostly_agrees():
    found = audit(LogisticRegression(), X, Y, pairs=15)
    assert found.exact.estimate == 0.0
    assert found.measures["pointwise"].estimate > 0.85
    assert found.measures["approximate"].estimate > 0.85
    assert found.measures["worst"].estimate <= found.measures["pointwise"].estimate
    assert 0 < found.measures["coef_distance"].estimate < 0.3
    assert found.score.name == "accuracy"
    assert found.score.estimate > 0.9
    assert found.deterministic is True
    text = str(found)
    for word in ("exact", "pointwise", "approximate", "deterministic", "accuracy 0.9"):
        assert word in " ".join(text.split())
    assert "⊥" not in text


def test_measures_are_those_of_two_fits_by_hand():
    task = Task(Learner(LogisticRegression()), as_data(X, Y), "churn", seed=3)
    found = audit(LogisticRegression(), X, Y, compare="churn", pairs=4, seed=3)
    for pair in found.pairs:
        first, second, held_out = task.samples(pair.pair)
        a, b = (LogisticRegression().fit(part.X, part.y) for part in (first, second))
        same = a.predict(held_out.X) == b.predict(held_out.X)
        n = found.n_inputs
        assert pair.approximate == pytest.approx(same[n:].mean())
        assert pair.agreeing(n).tolist() == same[:n].tolist()
        assert pair.similarities == {"churn": pytest.approx(1 - pair.approximate)}
        right = [model.score(held_out.X, held_out.y) for model in (a, b)]
        assert pair.score == pytest.approx(np.mean(right))


def test_regressors_have_r2_and_a_tolerance():
    found = audit(LinearRegression(), X, Z, pairs=8)
    assert found.score.name == "R²"
    assert found.score.estimate > 0.99
    assert found.tolerance == pytest.approx(0.1 * np.std(Z))
    assert found.measures["approximate"].estimate > 0.95
    assert f"within {found.tolerance:.3g}" in str(found)
    strict = audit(LinearRegression(), X, Z, pairs=8, tolerance=0.0)
    assert strict.measures["approximate"].estimate == 0.0
    sparse = audit(Lasso(0.3), X, Z, pairs=5)
    assert sparse.measures["jaccard"].estimate == 1.0


def test_all_pairs_have_the_same_similarities():
    """A column that is zero in some samples: its coefficient is zero only there."""
    rare = np.column_stack([X, np.arange(300) == 7])
    found = audit(LogisticRegression(), rare, Y, pairs=6)
    known = {name for pair in found.pairs for name in pair.similarities}
    assert all(set(pair.similarities) == known for pair in found.pairs)


def test_coefficients_of_other_features_are_not_compared():
    """A pipeline selects two of three columns: its coefficients may be of different columns."""
    rng = np.random.RandomState(0)
    U = rng.normal(size=(80, 3))
    model = make_pipeline(SelectKBest(k=2), LogisticRegression())
    found = audit(model, U, (U.sum(axis=1) > 0).astype(int), pairs=6)
    assert "coef_distance" not in found.measures
    assert 0 < found.measures["jaccard"].estimate < 1
    far = audit(model, U, (U.sum(axis=1) > 0).astype(int), pairs=6, compare="coef_distance")
    picked = [pair.similarities["jaccard"] for pair in found.pairs]
    distances = [pair.similarities["coef_distance"] for pair in far.pairs]
    agreed = zip(picked, distances, strict=True)
    assert all((distance == 1) == (same < 1) for same, distance in agreed)


def test_selected_features_have_a_jaccard_index():
    model = make_pipeline(SelectKBest(k=2), StandardScaler(), LogisticRegression())
    found = audit(model, X, Y, pairs=5, compare="jaccard")
    assert found.measures["jaccard"].estimate == 1.0
    assert "coef_distance" not in found.measures
    assert found.learner == "SelectKBest + StandardScaler + LogisticRegression"
    alone = audit(SelectKBest(k=2), X, Y, pairs=5)  # predicts nothing: its features are compared
    assert alone.exact.estimate == alone.measures["jaccard"].estimate == 1.0
    assert "the same output (selected features)" in str(alone)


def test_functions_are_learners():
    found = audit(first_column, X, Y, pairs=4)
    assert found.learner == "first_column"
    assert found.exact.estimate == 1.0  # by its predictions
    assert found.score.name == "accuracy"
    chosen = audit(lambda X, y, seed: {int(np.argmax(X.std(axis=0)))}, X, pairs=6)
    assert set(chosen.measures) == {"exact", "jaccard"}
    assert chosen.score is None
    weights = audit(lambda X, y, seed: np.linalg.lstsq(X, y, rcond=None)[0], X, Z, pairs=4)
    assert weights.exact.estimate == 0.0
    assert weights.measures["coef_distance"].estimate < 0.1


def test_functions_may_do_without_a_seed():
    penalties = []

    def without(X, y):
        return LogisticRegression().fit(X, y)

    def penalized(X, y, penalty=1.0):
        penalties.append(penalty)
        return penalty

    def seeded(X, y, seed=None):
        return seed

    assert audit(without, X, Y, pairs=3).score.name == "accuracy"
    audit(penalized, X, Y, pairs=3)
    assert set(penalties) == {1.0}  # a third parameter with a default is no place for a seed
    assert audit(seeded, X, Y, pairs=3).pairs == audit(lambda *given: given[2], X, Y, pairs=3).pairs


def test_what_a_function_learns_decides_how_it_is_compared_and_scored():
    found = audit(lambda X, y, seed: KMeans(4, random_state=seed).fit(X), BLOBS, pairs=10)
    assert found.exact.estimate == 1.0  # whatever the names of the clusters
    assert found.measures["adjusted_rand"].estimate == 1.0
    counts = np.round(10 * Z).astype(int)  # labels that look like those of classes

    def model(X, y):
        return LinearRegression().fit(X, y)

    for learn in (model, lambda X, y: model(X, y).predict):
        found = audit(learn, X, counts, pairs=3)
        assert found.score.name == "R²"
        assert found.score.estimate > 0.99
        assert found.tolerance == pytest.approx(0.1 * np.std(counts))


def test_a_comparison_may_be_a_function():
    def close(a, b):
        return bool(abs(a - b) < 0.5)

    def ratio(a, b):
        return min(a, b) / max(a, b)

    def learn(X, y, seed):
        return float(len(X) + X[0, 0] % 0.1)

    found = audit(learn, X, compare=close, pairs=5)
    assert found.exact.estimate == 1.0
    assert "by close" in str(found)
    assert "by your function" in str(audit(learn, X, compare=lambda a, b: True, pairs=2))
    found = audit(learn, X, compare=ratio, pairs=5)
    assert found.exact.estimate == 0.0
    assert found.measures["ratio"].estimate > 0.99
    with pytest.raises(TaskError, match=r"number in \[0, 1\], got 3"):
        audit(learn, X, compare=lambda a, b: 3, pairs=5)
    with pytest.raises(TaskError, match=r"number in \[0, 1\], got array"):
        audit(learn, X, compare=lambda a, b: np.ones(3), pairs=5)


def test_learners_that_depend_on_luck_are_told():
    rng = np.random.RandomState(0)
    found = audit(lambda X, y, seed: rng.random_sample(), X, pairs=3)
    assert found.deterministic is False
    assert "NOT DETERMINISTIC" in str(found)
    seeded = audit(lambda X, y, seed: seed, X, pairs=30)
    assert seeded.deterministic
    assert seeded.exact.estimate == 1.0  # the seed is shared within a pair
    forest = audit(RandomForestClassifier(3), X, Y, pairs=2)
    assert forest.deterministic


def test_samplers_and_distributions_take_the_place_of_tables():
    found = audit(DecisionTreeClassifier(), sampler, m=40, pairs=5)
    assert not found.caution
    assert found.n_inputs == 200
    found = audit(LinearSpan(rule=IndexRule(t_max=5)), uniform(3), m=60, pairs=12)
    assert found.stats == AuditStats(12, 12)
    assert found.integrated


def test_groups_and_bootstrap_are_labelled():
    groups = np.arange(300) // 3
    found = audit(LogisticRegression(), X, Y, groups=groups, pairs=3)
    assert "about 120 rows each" in found.data
    found = audit(LogisticRegression(), X, Y, bootstrap=True, pairs=3)
    assert "bootstrap" in found.data
    assert "BOOTSTRAP" in str(found)
    halves = audit(LogisticRegression(), X, Y, pairs=3)
    assert "INDICATIVE ONLY" in str(halves)
    assert halves.to_dict()["indicative"] is True


def test_frames_reach_the_learner_as_frames():
    frame = pd.DataFrame(X, columns=list("abcd"))
    seen = []

    def learn(rows, y, seed):
        seen.append(list(rows.columns))
        return lambda held_out: (held_out["a"] > 0).to_numpy()

    assert audit(learn, frame, Y, pairs=2).exact.estimate == 1.0
    assert set(map(tuple, seen)) == {("a", "b", "c", "d")}


def test_learners_without_predictions_are_told():
    found = audit(PCA(2), X, compare=lambda a, b: True, pairs=3)
    assert str(found).count("needs predictions, and these outputs have none") == 2
    with pytest.raises(TaskError, match=r"a PCA predicts nothing .* compare=function"):
        audit(PCA(2), X, pairs=3)


def test_a_small_table_is_audited_without_held_out_rows():
    found = audit(LinearSpan(rule=IndexRule(t_max=1)), [[1, 0], [0, 1]], pairs=2)
    assert found.n_inputs == 0
    assert "pointwise" not in found.measures


def test_all_learners_see_the_same_samples():
    seen = {"a": [], "b": []}

    def learner(name):
        def learn(X, y, seed):
            seen[name].append((X.sum(), seed))
            return 0

        return learn

    for name in seen:
        audit(learner(name), X, pairs=3)
    assert seen["a"] == seen["b"]
    assert len({s for _, s in seen["a"]}) == 3  # one for each pair


def test_a_known_rate_is_found():
    """Elimination on D_m agrees when both samples hold u, or neither does."""
    m = 40
    q = (1 - 1 / m) ** m
    law = rare_direction(3, m)
    found = audit(LinearSpan(rule=IndexRule(t_max=1)), law, m=m, pairs=300, confidence=1 - 1e-6)
    assert found.exact.low <= q * q + (1 - q) ** 2 <= found.exact.high


def test_bottoms_are_the_third_outcome():
    law = planted_parity([1, 0, 1], corruption=0.03)
    found = audit(EliminationClassifier(fit_intercept=False), law, m=40, pairs=60)
    s = found.stats
    assert s.both_bottom > 0
    assert s.one_bottom > 0
    assert s.agreements >= s.both_bottom
    assert s.disagreements >= s.one_bottom
    assert f"({s.both_bottom} of them both ⊥)" in str(found)
    # two ⊥ predict alike, and nothing is right
    both = next(pair for pair in found.pairs if pair.outcome == "both_bottom")
    assert (both.approximate, both.score) == (1.0, 0.0)
    one = next(pair for pair in found.pairs if pair.outcome == "one_bottom")
    assert one.approximate == 0.0


class Broken:
    """No get_params, and raises on some samples, with a message that names the sample."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y=None):
        if X[0, 0]:
            raise RuntimeError(f"the first of {X.sum()} is one")
        self.coef_ = np.array([self.random_state])
        return self


class Settings:
    """Its parameters are no attributes, as with some boosting libraries."""

    def __init__(self, **settings):
        self.settings = {"random_state": None} | settings

    def get_params(self, deep=True):
        return dict(self.settings)

    def set_params(self, **settings):
        self.settings |= settings
        return self

    def fit(self, X, y):
        self.coef_ = np.random.RandomState(self.settings["random_state"]).normal(size=2)
        return self


def test_parameters_that_are_no_attributes_are_seeded():
    found = audit(Settings(), X, Y, pairs=10)
    assert found.stats.agreements == 10
    step = make_pipeline(StandardScaler(), Settings())
    assert audit(step, X, Y, pairs=10).stats.agreements == 10


def test_a_failure_of_the_first_run_leaves_the_comparison_as_it_is():
    runs = []

    def learn(X, y):
        runs.append(None)
        if len(runs) <= 2:
            raise ValueError("not yet")
        return LogisticRegression().fit(X, y)

    found = audit(learn, X, Y, pairs=4)
    assert found.stats.errors == 0
    assert found.deterministic is True
    assert found.notion == "coef_ and intercept_"
    assert "coef_distance" in found.measures
    assert found.score.name == "accuracy"


def test_errors_count_as_disagreements_and_are_shown():
    found = audit(Broken(), sampler, m=5, pairs=30)
    s = found.stats
    assert 0 < s.errors < 30
    assert s.errors + s.agreements == 30  # all answers agree: the seed is shared
    first = next(pair.error for pair in found.pairs if pair.error)
    assert first.startswith("RuntimeError: the first of ")
    assert found.to_dict()["error_types"] == {first: s.errors}  # whatever its numbers
    assert f"{s.errors} × {first}" in str(found)
    assert f"{s.disagreements} differ ({s.errors} with an error)" in str(found)


def test_the_first_error_is_raised_if_every_run_fails(tmp_path):
    frame = np.array([["1", "basic"], ["2", "plus"]] * 20, dtype=object)
    file = tmp_path / "audit.jsonl"
    words = r"every run of LogisticRegression failed: ValueError: .*'(basic|plus)'"
    for _ in range(2):  # failed runs are kept, too
        with pytest.raises(InputError, match=words):
            audit(LogisticRegression(), frame, np.arange(40) % 2, pairs=3, file=file)


@pytest.mark.parametrize(("n_rows", "few"), [(4, 1), (20, 8), (24, 10), (200, 80)])
def test_tables_of_too_few_rows_are_warned_of(n_rows, few):
    found = audit(lambda X, y: len(X), X[:n_rows], Y[:n_rows], pairs=2)
    said = f"TOO FEW ROWS: samples of {few} row{'s' * (few > 1)} say nothing about larger ones"
    assert (said in str(found)) is (few < 10)
    assert (said in found._repr_html_()) is (few < 10)
    assert "INDICATIVE ONLY" in str(found)


def test_errors_have_their_place_among_integrated_values(tmp_path, monkeypatch):
    """With every fourth fit failing, and from a file, too: the pair counts as a whole one."""
    fitted, calls = LinearSpan.fit, []

    def fit(self, X, y=None):
        calls.append(None)
        if len(calls) % 4 == 0:
            raise ValueError("refused")
        return fitted(self, X, y)

    monkeypatch.setattr(LinearSpan, "fit", fit)
    path = tmp_path / "results.jsonl"
    for _ in range(2):  # the second time from the file
        found = audit(LinearSpan(rule=IndexRule(t_max=3)), uniform(4), m=100, pairs=20, file=path)
        assert found.stats.errors == 10
        assert sorted(pair.exact for pair in found.pairs) == [0.0] * 10 + [1.0] * 10
        assert found.exact.estimate == 0.5
        assert found.score.estimate == 1.0


def test_runs_that_keep_nothing_agree_on_nothing():
    law = planted_parity([1, 0, 1])
    found = audit(
        ParityClassifier(rule=IndexRule(t_min=150, t_max=200)), law, m=200, pairs=20, claim=0.5
    )
    assert found.stats.agreements == found.stats.both_empty == 20
    assert "THE RUNS AGREE ON NOTHING" in str(found)
    assert found.score.estimate == 0.0  # nothing is predicted, as with ⊥


@pytest.mark.parametrize(
    ("model", "hint"),
    [
        (ParityClassifier(rule=IndexRule(t_max=5)), "allow for wrong rows with contamination"),
        (
            ParityClassifier(rule=IndexRule(t_max=5, contamination=0.01)),
            "more wrong rows with contamination",
        ),
        (ParityClassifier(rule=IndexRule(t_max=5), fit_intercept=False), "fit_intercept=True"),
        (EliminationClassifier(), "ParityClassifier allows for that with contamination"),
        (
            make_pipeline(FieldEncoder(), ParityClassifier(rule=IndexRule(t_max=5))),
            "wrong rows with contamination",
        ),
    ],
)
def test_the_note_on_bottoms_blames_what_may_be_the_cause(model, hint):
    law = planted_parity([1, 0, 1], corruption=0.3)
    found = audit(model, law, m=200, pairs=5)
    assert found.stats.both_bottom == 5
    [note] = [line for line in str(found).splitlines() if "EVERY ANSWER IS ⊥" in line]
    assert hint in note
    assert ("intercept" in note) == ("intercept" in hint)


def test_results_do_not_depend_on_n_jobs():
    model = ParityClassifier(rule=IndexRule(t_max=20), fit_intercept=False)
    options = {"m": 100, "pairs": 40, "max_disagreements": 8}
    assert audit(model, LAW, **options) == audit(model, LAW, n_jobs=2, **options)


def test_stop_rules():
    tree = DecisionTreeClassifier()
    found = audit(tree, LAW, m=30, pairs=500, max_disagreements=7)
    assert found.stats.disagreements == 7
    found = audit(tree, LAW, m=30, pairs=5000, max_width=0.5)
    assert found.exact.high - found.exact.low <= 0.5
    assert found.stats.pairs < 200
    found = audit(
        LinearSpan(rule=IndexRule(t_max=100)), geometric(8), m=500, pairs=2000, max_width=0.1
    )
    assert found.exact.high - found.exact.low <= 0.1
    assert found.stats.pairs < 200


def test_audits_judge_claims():
    good = audit(LinearSpan(rule=IndexRule(t_max=500)), geometric(6), m=2000, claim=0.4, pairs=60)
    assert good.verdict == "supported"
    law = planted_parity([1] * 12, features=geometric(12))
    bad = audit(
        EliminationClassifier(choice="uniform"),
        law,
        m=300,
        claim=0.05,
        pairs=80,
        max_disagreements=25,
    )
    assert bad.verdict == "rejected"
    assert "REJECTED" in str(bad)
    assert json.dumps(bad.to_dict())


class Handle:
    """Stands for a display below a cell of a notebook."""

    def __init__(self):
        self.shown = []

    def update(self, html):
        self.shown.append(html)


def test_notebooks_show_the_remaining_time_and_tidy_up(monkeypatch):
    handle = Handle()
    display = SimpleNamespace(HTML=str, display=lambda html, display_id: (
        handle.update(html), handle)[1])  # fmt: skip
    shell = SimpleNamespace(kernel=object())
    ipython = SimpleNamespace(get_ipython=lambda: shell, display=display)
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setattr(progress, "_PAUSE", 0.0)
    audit(lambda X, y, seed: 0, X, pairs=3, name="mine")
    first, *_, last = handle.shown
    assert re.search(r"mine: 1/3, \d+:\d\d left", first)
    assert last == ""
    handle.shown.clear()
    audit(lambda X, y, seed: 0, X, pairs=3, progress=False)
    assert handle.shown == []


class TestFiles:
    def audit(self, **options):
        return audit(DecisionTreeClassifier(), LAW, **{"m": 30, "seed": 3} | options)

    def filed(self, path):
        [pairs] = read_pairs(path).values()
        return pairs

    def test_resume_continues_to_the_same_result(self, tmp_path):
        path = tmp_path / "audit.jsonl"
        whole = self.audit(pairs=50)
        self.audit(pairs=20, file=path)
        before = path.read_bytes()
        resumed = self.audit(pairs=50, file=path)
        assert resumed.pairs == whole.pairs
        assert resumed.measures == whole.measures
        assert path.read_bytes().startswith(before)  # append-only
        assert self.audit(pairs=50, file=path) == resumed
        assert len(self.filed(path)) == 50
        assert self.audit(pairs=10, file=path).pairs == whole.pairs[:10]
        assert str(self.audit(pairs=50, file=path)) == str(whole)

    def test_a_torn_last_line_is_computed_again(self, tmp_path):
        path = tmp_path / "audit.jsonl"
        whole = self.audit(pairs=25, file=path)
        data = path.read_bytes()
        for cut in (3, 40, len(data) - 5):
            path.write_bytes(data[:-cut])
            assert self.audit(pairs=25, file=path) == whole

    def test_interruption_keeps_what_was_done(self, tmp_path, monkeypatch):
        path, honest = tmp_path / "audit.jsonl", Task.run

        def interrupted(task, pair):
            if pair == 40:
                raise KeyboardInterrupt
            return honest(task, pair)

        with monkeypatch.context() as patch:
            patch.setattr(Task, "run", interrupted)
            with pytest.raises(KeyboardInterrupt):
                self.audit(pairs=60, file=path)
        assert len(self.filed(path)) == 40  # the pair at work is lost
        assert self.audit(pairs=60, file=path).pairs == self.audit(pairs=60).pairs

    def test_a_file_keeps_several_audits_apart(self, tmp_path):
        path = tmp_path / "audit.jsonl"
        mine = self.audit(pairs=5, file=path)
        before = path.read_bytes()
        other = self.audit(pairs=5, file=path, m=31)
        assert path.read_bytes().startswith(before)
        assert set(read_pairs(path)) == {mine.strong_id, other.strong_id}
        assert other.pairs == self.audit(pairs=5, m=31).pairs
        assert self.audit(pairs=5, file=path) == mine

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
            self.audit(pairs=5, file=path)
        assert path.read_bytes() == content

    @pytest.mark.parametrize(
        ("line", "change", "words"),
        [
            (3, {"outcome": "perhaps"}, r"line 4.*perhaps"),
            (3, {"pair": 0}, r"line 4.*a line before it holds pair 0"),
            (3, {"pair": -1}, r"line 4.*there is no pair -1"),
            (3, {"id": "x"}, r"line 4.*no line before it describes its task"),
            (3, {"inputs": "no digits"}, r"line 4.*hexadecimal"),
            (3, {"exact": "1"}, r"line 4.*must be of type float"),
            (1, {"id": "x"}, r"line 2.*its id is that of another task"),
            (1, {"task": {}}, r"line 2.*its id is that of another task"),
        ],
    )
    def test_a_contradiction_names_its_line(self, tmp_path, line, change, words):
        path = tmp_path / "audit.jsonl"
        self.audit(pairs=3, file=path)
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
            self.audit(pairs=3, file=path)

    def test_no_flipped_bit_changes_a_pair(self, tmp_path):
        path = tmp_path / "audit.jsonl"
        self.audit(pairs=2, file=path)
        good, known = path.read_bytes(), read_pairs(path)
        for bit in range(0, 8 * len(good) - 8, 37):
            data = bytearray(good)
            data[bit // 8] ^= 1 << bit % 8
            path.write_bytes(data)
            with pytest.raises(FormatError):
                read_pairs(path)
        for bit in range(8):  # the end of the last line: as if it were torn
            path.write_bytes(good[:-1] + bytes([good[-1] ^ 1 << bit]))
            assert read_pairs(path) == {i: {0: pairs[0]} for i, pairs in known.items()}

    def test_gaps_in_a_file_are_filled(self, tmp_path):
        path = tmp_path / "audit.jsonl"
        self.audit(pairs=6, file=path)
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        checksum, kept = "", []
        for line in (*lines[:3], lines[6]):  # header, task, pairs 0 and 4
            del line["sha256"]
            text, checksum = sealed(json.dumps(line), checksum)
            kept.append(f"{text}\n")
        path.write_text("".join(kept))
        assert self.audit(pairs=6, file=path).pairs == self.audit(pairs=6).pairs
        assert sorted(self.filed(path)) == list(range(6))


def test_the_strong_id_knows_every_ingredient():
    def task(learner=None, data=None, compare="auto", **options):
        data = as_data(LAW, m=30) if data is None else data
        learner = Learner(learner or DecisionTreeClassifier(max_depth=3))
        return Task(learner, data, compare, **options).strong_id

    ids = [
        task(),
        task(seed=2),
        task(DecisionTreeClassifier(max_depth=4)),
        task(first_column),
        task(data=as_data(LAW, m=31)),
        task(data=as_data(sampler, m=30)),
        task(data=as_data(np.eye(4, dtype=int), [0, 1, 0, 1])),
        task(compare="predictions"),
        task(tolerance=0.5),
        task(make_pipeline(StandardScaler(), DecisionTreeClassifier(max_depth=3))),
    ]
    assert len(set(ids)) == len(ids)
    assert task() == task(DecisionTreeClassifier(max_depth=3, random_state=9))


def test_functions_without_an_identity_are_audited_but_not_filed_without_a_name(tmp_path):
    scope = {}
    exec("def made(m, rng): return rng.randint(0, 2, (m, 3))", scope)  # no source to read
    path = tmp_path / "audit.jsonl"
    span = LinearSpan(rule=IndexRule(t_max=5))
    for rows in (lambda m, rng: rng.randint(0, 2, (m, 3)), scope["made"]):
        assert audit(span, rows, m=50, pairs=5).stats.pairs == 5
        with pytest.raises(InputError, match=r"a sampler that .*name="):
            audit(span, rows, m=50, pairs=5, file=path)
        assert not path.exists()
        assert audit(span, rows, m=50, pairs=5, file=path, name="mine").stats.pairs == 5
        path.unlink()
    with pytest.raises(InputError, match=r"a comparison that .*name="):
        audit(span, uniform(3), m=50, pairs=5, compare=lambda a, b: True, file=path)
    with pytest.raises(InputError, match=r"a learner that .*name="):
        audit(lambda X, y, seed: 0, X, pairs=5, file=path)
    odd = make_pipeline(FunctionTransformer(lambda rows: rows), DecisionTreeClassifier())
    assert audit(odd, X, Y, pairs=2).stats.pairs == 2
    with pytest.raises(InputError, match="not lambdas or closures"):
        audit(odd, X, Y, pairs=2, file=path)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: audit(object(), X), "an object with a method fit, or a function"),
        (lambda: audit(X, LogisticRegression()), "a learner is an object .* got ndarray"),
        (lambda: audit(LogisticRegression(), csr_matrix(X), Y), r"sparse .* X.toarray\(\)"),
        (lambda: audit(LinearSpan, X), "instance"),
        (lambda: audit(LogisticRegression().fit, X, Y), "the LogisticRegression itself, not fit"),
        (lambda: audit(lambda X: 0, X), r"learn\(X, y, seed\) or learn\(X, y\), which <lambda>"),
        (lambda: audit(LinearSpan(), LAW), "number of rows"),
        (lambda: audit(LinearSpan(), X, m=5), "m belongs to"),
        (lambda: audit(LinearSpan(), X, compare="shape"), "shape"),
        (lambda: audit(KMeans(), X, pairs=0), "pairs"),
        (lambda: audit(KMeans(), X, max_disagreements=0), "max_disagreements"),
        (lambda: audit(KMeans(), X, max_width=0), "max_width"),
        (lambda: audit(KMeans(), X, n_jobs=0), "n_jobs"),
        (lambda: audit(KMeans(), X, confidence=1), "confidence"),
        (lambda: audit(KMeans(), X, tolerance=-1), "tolerance"),
        (lambda: audit(KMeans(), X, claim=2), "claimed rho"),
        (lambda: audit(LogisticRegression(), X), "LogisticRegression learns from labels"),
        (lambda: audit(LinearRegression(), lambda m, rng: X[:m], m=9), "there are none: give y"),
        (lambda: audit.summarize([1]), "at least 2 outputs"),
        (lambda: audit(DecisionTreeClassifier(), X, Y, compare="fingerprint"), "no fingerprint_"),
        (
            lambda: audit(LinearSpan(rule=IndexRule(t_max=1)), lambda m, rng: np.zeros(m), m=6),
            "two dimensions",
        ),
    ],
)
def test_bad_input_is_explained_and_never_counted_as_an_error(call, words):
    with pytest.raises(InputError, match=words):
        call()


class TestSummarize:
    """Outputs that exist already."""

    def test_disjoint_pairs(self):
        found = audit.summarize([1, 1, 1, 2, 3], claim=0.9)
        assert found.stats == AuditStats(2, 1)
        assert "5 given outputs on disjoint pairs, the last one left over" in str(found)
        assert found.verdict == "undecided"
        assert found.deterministic is None

    def test_predictions(self):
        rows = np.array([[0, 1, 1], [0, 1, 1], [0, 1, 0], [0, 0, 0]])
        found = audit.summarize(rows, y=[0, 1, 1])
        assert found.exact.estimate == 0.5
        assert found.measures["pointwise"].estimate == pytest.approx(5 / 6)
        assert found.measures["worst"].estimate == 0.5
        assert found.measures["approximate"].estimate == pytest.approx(5 / 6)
        assert found.score.estimate == pytest.approx(np.mean([1, 1, 2 / 3, 1 / 3]))
        halves = audit.summarize([[0.5, 1.0], [0.5, 2.0]] * 2, compare="predictions")
        assert halves.measures["pointwise"].estimate == 0.5
        scored = audit.summarize([[0.5, 1.0], [0.5, 1.1]], y=[0.5, 1.0], tolerance=0.2)
        assert (scored.exact.estimate, scored.score.name) == (1.0, "R²")
        clusters = audit.summarize([[0, 0, 1], [1, 1, 0]], compare="adjusted_rand")
        assert clusters.exact.estimate == clusters.measures["adjusted_rand"].estimate == 1.0

    def test_models_and_sets_and_coefficients(self):
        models = [LogisticRegression().fit(X[i::4], Y[i::4]) for i in range(4)]
        found = audit.summarize(models, X, Y)
        assert found.exact.estimate == 0.0
        assert found.measures["pointwise"].estimate > 0.8
        assert found.score.name == "accuracy"
        alone = audit.summarize(models)
        assert set(alone.measures) == {"exact", "coef_distance"}
        assert audit.summarize([{1, 2}, {2, 3}]).measures["jaccard"].estimate == 1 / 3
        weights = audit.summarize([np.array([1.0, 0.0]), np.array([0.0, 1.0])])
        assert weights.measures["coef_distance"].estimate == pytest.approx(np.sqrt(2) / 2)
        assert audit.summarize([[1.5], [1.5]], compare=lambda a, b: a == b).exact.estimate == 1.0
