"""The headline figures of the README are what the committed script measures."""

import warnings

import pytest

from flagstone import IndexRule, plan
from scripts import headlines

from .snippets import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


@pytest.mark.parametrize("analysis", ["paper (printed)", "index"])
def test_rows_needed(analysis):
    rows = plan(dim=42, rho=0.05, eps=0.1)[analysis].rows
    digits, _, power = f"{rows:.1e}".partition("e+")
    assert f"| {digits}·10{str(int(power)).translate(RAISED)} |" in README


def test_certified():
    assert f"| {headlines.CERTIFIED:,} |" in README
    [X] = headlines.captures(headlines.CERTIFIED, 1)
    model = headlines.AffineSpan(**headlines.WINDOW, random_state=headlines.SEED).fit(X)
    assert model.guarantee_.certified.rho <= 0.05


def test_agreement_of_two_captures():
    samples = headlines.captures(headlines.SMALL, 2 * headlines.PAIRS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = headlines.agreement(samples, {"rule": IndexRule(t_min=1, t_max=1)})
        ours = headlines.agreement(samples, headlines.WINDOW)
    assert plain == (0.345, 0.0)
    assert ours == (1.0, 1.0)
    assert "| 34.5 % |" in README
    assert "| 100 % |" in README
