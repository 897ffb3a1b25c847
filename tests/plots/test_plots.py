"""Displays keep numbers and drawing apart; figures are files without surprises."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from flagstone import IndexRule, LinearSpan, ParityClassifier
from flagstone.algebra.flag import Flag
from flagstone.algebra.staircase import Staircase
from flagstone.coins import Coins
from flagstone.distributions import geometric, planted_subspace, random_subspace
from flagstone.errors import InputError
from flagstone.pipeline import ask
from flagstone.plots import OKABE_ITO, SERIES, ScreeDisplay, style
from flagstone.plots.style import COLUMN_WIDTH
from flagstone.question import SpanQuestion
from flagstone.rules import rule_named


@pytest.fixture(scope="module")
def flag():
    law = planted_subspace(random_subspace(4, 8, rng=1), 0.05)
    return Flag(8).update(law.sample(600, rng=2))


def test_importing_the_package_does_not_import_matplotlib():
    code = "import flagstone.plots, sys; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_staircase_is_that_of_the_flag(flag):
    display = ScreeDisplay.from_flag(flag)
    assert display.stairs == Staircase.of(flag)
    assert display.stairs.levels[0].first == 1
    assert display.stairs.levels[-1].last == display.stairs.n_sets == flag.n_sets
    for step in display.stairs.levels:
        assert flag.dim_at(step.first) == flag.dim_at(step.last) == step.dim
    assert display.window is display.threshold is display.margin is None
    assert display.chosen is display.choice is display.sets is None
    display.plot()
    assert not display.figure_.axes[0].get_legend_handles_labels()[1]


@pytest.mark.parametrize("rule", ["index", "heavy"])
def test_the_decision_is_marked(flag, rule):
    finding = ask(flag, SpanQuestion(), rule_named(rule, t_min=31, t_max=80), Coins(4))
    display = finding.plot()
    assert isinstance(display, ScreeDisplay)
    assert display.threshold == finding.threshold
    assert display.chosen_dim == finding.subspace.dim
    assert display.margin == finding.margin
    assert display.window == finding.window
    assert display.sets == ((31, 80) if rule == "index" else None)
    axis = display.figure_.axes[0]
    labels = " ".join(axis.get_legend_handles_labels()[1])
    assert f"dimension {finding.subspace.dim}" in labels
    assert axis.get_xlabel()
    assert axis.get_ylabel()
    assert display.stairs == finding.stairs


def test_the_threshold_of_the_heavy_rule_is_drawn_as_the_step_that_reaches_it(flag):
    finding = ask(flag, SpanQuestion(), rule_named("heavy", t_min=31, t_max=80), Coins(4))
    display = finding.plot()
    chosen = next(step for step in finding.stairs.levels if step.dim == finding.subspace.dim)
    assert finding.threshold <= chosen.multiplicity
    axis = display.figure_.axes[0]
    [bold] = [line for line in axis.lines if line.get_label() == display.choice]
    assert list(bold.get_xdata()) == [chosen.first - 0.5, chosen.last + 0.5]
    assert list(bold.get_ydata()) == [chosen.dim, chosen.dim]
    assert bold.get_color() == OKABE_ITO["vermillion"]
    assert f"t = {finding.threshold:,.4g} ≤ {chosen.multiplicity} sets" in display.choice
    assert f"{finding.threshold:,.4g} was drawn from (30, 80]" in display.describe()


def test_a_heavy_threshold_that_no_step_reaches_is_drawn_at_zero():
    flag = Flag(2).update([[1, 0], [0, 1]], weights=[9, 5])
    finding = ask(flag, SpanQuestion(), rule_named("heavy", t_min=8, t_max=9), Coins(4))
    display = finding.plot()
    assert display.chosen is None
    assert display.chosen_dim == 0
    assert "no step has this many sets" in display.choice
    [bold] = [x for x in display.figure_.axes[0].lines if x.get_label() == display.choice]
    assert list(bold.get_ydata()) == [0, 0]


def test_an_empty_flag_and_foreign_axes_are_drawn():
    ScreeDisplay.from_flag(Flag(3)).plot()
    figure = Figure()
    axis = figure.subplots()
    display = ScreeDisplay.from_flag(Flag(3).update([[1, 0, 1]])).plot(axis)
    assert display.figure_ is figure
    with pytest.raises(InputError, match="1 panels, got 2"):
        display.plot([axis, axis])


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_files_are_complete_reproducible_and_at_column_width(flag, tmp_path, suffix):
    paths = [
        ScreeDisplay.from_flag(flag).save(tmp_path / f"{name}.{suffix}") for name in ("a", "b")
    ]
    first, second = (path.read_bytes() for path in paths)
    assert first == second
    assert len(first) > 1000
    assert sorted(p.name for p in tmp_path.iterdir()) == [f"a.{suffix}", f"b.{suffix}"]
    display = ScreeDisplay.from_flag(flag).plot()
    assert display.figure_.get_size_inches()[0] == COLUMN_WIDTH


def test_unknown_suffixes_are_refused(flag, tmp_path):
    with pytest.raises(InputError, match=r"\.png, \.svg or \.pdf"):
        ScreeDisplay.from_flag(flag).save(tmp_path / "figure.bmp")


def test_a_figure_that_fails_leaves_the_old_file(flag, tmp_path, monkeypatch):
    from matplotlib.figure import Figure

    target = tmp_path / "f.png"
    target.write_text("old")

    def fail(self, stream, **_):
        stream.write(b"half")
        raise RuntimeError("disk full")

    monkeypatch.setattr(Figure, "savefig", fail)
    with pytest.raises(RuntimeError):
        ScreeDisplay.from_flag(flag).save(target)
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_the_style_does_not_leak():
    import matplotlib

    before = matplotlib.rcParams["font.size"]
    with style():
        assert matplotlib.rcParams["font.size"] == 8.0
    assert matplotlib.rcParams["font.size"] == before


def test_series_differ_in_more_than_colour():
    looks = [(s.marker, s.dashes) for name, s in SERIES.items() if name != "measured"]
    assert len(set(looks)) == len(looks)
    assert all(s.color in OKABE_ITO.values() for s in SERIES.values())


def test_colours_stay_apart_for_colour_blind_readers():
    """Simulate deuteranopia and protanopia (Viénot 1999); the cast must stay distinguishable."""
    names = ("index", "heavy", "elimination", "private", "sharp")
    rgb = np.array([[int(SERIES[n].color[i : i + 2], 16) / 255 for i in (1, 3, 5)] for n in names])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    for matrix in (
        [[0.11238, 0.88762, 0.0], [0.11238, 0.88762, 0.0], [0.00401, -0.00401, 1.0]],
        [[0.29275, 0.70725, 0.0], [0.29275, 0.70725, 0.0], [-0.02234, 0.02234, 1.0]],
    ):
        seen = linear @ np.array(matrix).T
        gaps = [np.abs(a - b).max() for i, a in enumerate(seen) for b in seen[:i]]
        assert min(gaps) > 0.08


def test_scree_of_the_geometric_law_reads_as_a_staircase():
    flag = Flag(5).update(*geometric(5).sample_weighted(10**6, rng=0))
    dims = [s.dim for s in ScreeDisplay.from_flag(flag).stairs.levels]
    assert dims == [5, 4, 3, 2, 1]


def test_a_scree_display_from_an_estimator_a_pipeline_and_a_search():
    X = np.random.RandomState(0).randint(0, 2, size=(60, 3))
    model = LinearSpan(rule=IndexRule(t_max=4), random_state=1).fit(X)
    pipeline = make_pipeline(
        FunctionTransformer(), LinearSpan(rule=IndexRule(t_max=4), random_state=1)
    ).fit(X)
    rules = [IndexRule(t_max=2), IndexRule(t_max=4)]
    search = GridSearchCV(ParityClassifier(random_state=1), {"rule": rules}, cv=2)
    search.fit(X, X[:, 0])
    for fitted in (model, pipeline, search):
        display = ScreeDisplay.from_estimator(fitted)
        assert display.ax_.get_figure() is display.figure_
        assert pyplot.fignum_exists(display.figure_.number)
        assert "dimension" in " ".join(display.ax_.get_legend_handles_labels()[1])
    _, axis = pyplot.subplots()
    assert ScreeDisplay.from_estimator(model, ax=axis).ax_ is axis
    for other in (LinearSpan(), FunctionTransformer()):
        with pytest.raises(InputError, match=r"has no finding_; fit a learner of flagstone"):
            ScreeDisplay.from_estimator(other)


def test_a_figure_that_is_only_saved_is_none_of_pyplots(flag, tmp_path):
    display = ScreeDisplay.from_flag(flag)
    display.save(tmp_path / "a.png")
    assert pyplot.get_fignums() == []
    assert repr(display) == f"ScreeDisplay({display.describe()})"
