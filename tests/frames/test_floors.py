"""A sample of the random captures of ``scripts.frames_floors``: what is found, and what is not."""

import numpy as np
import pytest

from scripts.frames_floors import KINDS, analyzed, draw_capture, draw_free, judged


@pytest.mark.parametrize("number", [*range(2, 2 + len(KINDS)), 72])
def test_captures_with_a_digest(number):
    """One of each kind; the CRC of the last one stands before data that are as wide."""
    outcome = judged(draw_capture(2026, number))
    assert outcome.right, outcome
    assert not outcome.wrong_place, outcome


@pytest.mark.parametrize("number", [*range(7), 134])
def test_captures_without_a_digest(number):
    """The last one has two opposite fields beside a difference: they add up to a constant."""
    text, rows = draw_free(2026, number)
    assert [digest.name for digest in analyzed(rows)[0]] == [], text


@pytest.mark.slow
def test_most_captures_are_read_right():
    outcomes = [judged(draw_capture(1, number)) for number in range(400)]
    assert np.mean([outcome.right for outcome in outcomes]) >= 0.97
    assert np.mean([outcome.wrong_place for outcome in outcomes]) <= 0.01


@pytest.mark.slow
def test_few_captures_get_a_false_name():
    named = [any(d.name for d in analyzed(draw_free(1, number)[1])[0]) for number in range(1000)]
    assert np.mean(named) <= 0.005
