"""A real notebook, run by a real kernel: values show themselves, figures appear, nothing warns."""

import base64
import re

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

#: Each cell, and what its outputs must hold: MIME types, and a text in one of them.
CELLS = [
    (
        "import numpy as np, pandas as pd\n"
        "from flagstone import *\n"
        "from flagstone.audit import audit, tradeoff\n"
        "from flagstone.distributions import geometric\n"
        "from flagstone.plots import ScreeDisplay\n"
        "from sklearn.pipeline import make_pipeline\n"
        "X = np.random.RandomState(0).randint(0, 2, size=(400, 4))\n"
        "X[:, 3] = X[:, 0] ^ X[:, 2]\n"
        "frame = pd.DataFrame(X, columns=['<script>alert(1)</script>', 'b', 'c', 'd'])\n"
        "model = LinearSpan(rule=IndexRule(t_max=5), random_state=7).fit(frame)",
        set(),
        "",
    ),
    ("model", {"text/html"}, "LinearSpan"),
    ("ParityClassifier()", {"text/html"}, "ParityClassifier"),
    ("make_pipeline(FieldEncoder(), LinearSpan())", {"text/html"}, "FieldEncoder"),
    ("model.finding_", {"text/html"}, "&lt;script&gt;alert(1)&lt;/script&gt; ⊕ c ⊕ d = 0"),
    ("model.guarantee_", {"text/html"}, "Replicability"),
    ("model.answer_", {"text/html"}, "Constraints over GF(2)"),
    ("model.flag_", {"text/html"}, "Flag over GF(2)"),
    ("model.subspace_", {"text/html"}, "Subspace of dimension 3 of GF(2)^4"),
    ("model.finding_.plot()", {"image/png"}, "ScreeDisplay(The spans shrink"),
    ("ScreeDisplay.from_estimator(model)", {"image/png"}, "ScreeDisplay(The spans shrink"),
    ("kept = model.finding_.plot()", {"image/png"}, ""),
    (
        "curve = tradeoff(geometric(6), m=200, t_max=[4, 16], rules=['index'], pairs=4)\ncurve",
        {"text/html"},
        "Coverage and replicability, 200 rows per sample",
    ),
    ("curve.plot()", {"image/png", "text/html"}, "TradeoffCurve(2 windows of index; coverage)"),
    (
        "audit(LinearSpan(rule=IndexRule(t_max=9)), geometric(6), m=200, pairs=4)",
        {"text/html"},
        "Audit of LinearSpan on 200 fresh rows",
    ),
    ("pair = ScreeDisplay.from_flag(model.flag_); pair.figure_ is None", set(), "True"),
]


@pytest.fixture(scope="module")
def cells():
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(source) for source, _, _ in CELLS]
    )
    nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
    return notebook.cells


def test_nothing_warns(cells):
    said = [(cell.source, out.text) for cell in cells for out in cell.outputs if "text" in out]
    assert said == []


@pytest.mark.parametrize("number", range(len(CELLS)), ids=[source[-40:] for source, _, _ in CELLS])
def test_every_value_shows_itself(cells, number):
    _, kinds, text = CELLS[number]
    outputs = [out.data for out in cells[number].outputs]
    assert kinds <= {kind for data in outputs for kind in data}
    figures = [data["image/png"] for data in outputs if "image/png" in data]
    assert len(figures) == ("image/png" in kinds)  # shown once, not twice
    assert all(base64.b64decode(figure).startswith(b"\x89PNG") for figure in figures)
    assert any(text in shown for data in outputs for shown in data.values()) or not text


def test_cards_run_no_scripts_and_load_nothing(cells):
    for cell, (source, _, _) in zip(cells, CELLS, strict=True):
        for out in cell.outputs:
            html = out.get("data", {}).get("text/html", "")
            if "sk-" not in html:  # scikit-learn's own diagrams have both
                assert not re.search(r"<script|src=|href=|url\(|\son\w+=", html), source
