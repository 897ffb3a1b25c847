"""``--draw-rows``: the coins draw how many of the first rows are used (S44)."""

import json

import numpy as np
import pytest

from flagstone import Coins, IndexRule, LinearSpan


@pytest.fixture
def rows(place):
    X = np.random.default_rng(1).integers(0, 2, size=(1000, 4))
    X[:, 3] = X[:, 0] ^ X[:, 1]
    (place / "a.bits").write_text("".join("".join(map(str, row)) + "\n" for row in X.tolist()))
    return X


def test_the_seed_draws_how_many_rows_are_used(run, rows):
    """The answer is that of a fit on the same rows, and says what became of the others."""
    words = ["constraints", "a.bits", "--linear", "--t-max", "30", "--draw-rows", "1000"]
    found = json.loads(run(*words, "--seed", "5", "--json").out)
    rule = IndexRule(t_max=30, draw_rows=1000)
    fitted = LinearSpan(rule=rule, random_state="5").fit(rows).finding_
    assert found["rows"]["read"] == rule.n_rows(Coins("5")) == fitted.rows.read < 1000
    assert found["rule"]["draw_rows"] == 1000
    assert found["promises"]["proven"]["each"] == pytest.approx((8 / (3 * 30)) ** 0.5)
    assert found["fingerprint"] == fitted.fingerprint
    used = f"use the first {found['rows']['read']} of 1,000 rows"
    assert used in run(*words, "--seed", "5").out
    fresh = json.loads(run(*words, "--json").out)
    assert fresh["seed_is_fresh"]
    assert fresh["rows"]["read"] == rule.n_rows(Coins(fresh["seed"]))


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--draw-rows", "1000", "--max-rows", "500"], "leave out --max-rows"),
        (["--draw-rows", "1000", "--partition", "files"], "summarized together"),
        (["--draw-rows", "1000", "--checkpoint", "c"], "needs --seed"),
        (["--draw-rows", "1000", "--rule", "heavy"], "--rule index only"),
        (["--draw-rows", "1"], "--draw-rows must be a whole number of at least 2"),
        (["--draw-rows", "4000", "--seed", "5"], "rows) asks for more rows than there are (1,000)"),
        (["--draw-rows", "4000", "--seed", "5"], "error: --draw-rows 4000 ("),
    ],
)
def test_what_does_not_go_with_drawn_rows_is_refused(run, rows, more, said):
    result = run("constraints", "a.bits", *more)
    assert result.code == 2
    assert said in result.err
