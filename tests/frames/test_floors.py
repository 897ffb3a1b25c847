"""A sample of the random captures of ``scripts.frames_floors``: what is found, and what is not."""

import numpy as np
import pytest

from flagstone.frames.digests import frame_code
from scripts.frames_floors import KINDS, analyzed, damage, draw_capture, draw_free, judged


@pytest.mark.parametrize("number", range(2 * len(KINDS)))
def test_captures_with_a_digest(number):
    outcome = judged(draw_capture(2026, number))
    assert outcome.right, outcome
    assert not outcome.wrong_place, outcome


@pytest.mark.parametrize("number", [3, 4, 7])
def test_generated_code_agrees_with_the_digest(number):
    capture = draw_capture(2026, number)
    digests, _ = analyzed(capture.rows)
    space = {}
    exec(frame_code(capture.rows.shape[1], digests, "python"), space)
    spoiled = damage(np.random.default_rng(1), capture.fresh, 1.0)
    for frames in (capture.fresh, spoiled):
        packed = np.packbits(frames, axis=1)
        said = [space["check_frame"](row.tobytes()) for row in packed]
        assert said == capture.secret.valid(frames).tolist()


@pytest.mark.parametrize("number", range(12))
def test_captures_without_a_digest(number):
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
