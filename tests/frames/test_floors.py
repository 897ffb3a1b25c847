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


@pytest.mark.parametrize(
    ("seed", "number"),
    [
        (77, 136),  # a CRC-5 whose polynomial has a short period, before a constant byte
        (77, 138),  # a CRC-7 of a poor payload: some of its bits copy data
        (77, 189),  # an XOR of bytes that is one of nibbles, too
        (77, 209),  # a CRC-4 that needs no init by chance, without the first byte
        (77, 233),  # a CRC-21 in the middle, of few data bits
        (77, 332),  # minus a sum at the beginning, beside a constant byte with some damage
        (77, 337),  # a CRC-13 in the middle of few frames
        (78, 40),  # a CRC-27 before few data bits, which another register gives back
        (78, 118),  # an XOR of nibbles in few frames
        (78, 129),  # a CRC-5 in few frames, one in twenty of them damaged
        (78, 182),  # a sum of nibbles whose constant is 0 by chance, without the first ones
        (78, 301),  # an XOR of bytes, most of whose bits copy one
        (79, 428),  # minus a sum, whose high byte hardly varies: its low byte is one, too
        (78, 355),  # an LFSR digest of 16 bits whose values make up 8 dimensions
    ],
)
def test_captures_that_are_easily_misread(seed, number):
    outcome = judged(draw_capture(seed, number))
    assert outcome.right, outcome
    assert not outcome.wrong_place, outcome


@pytest.mark.parametrize(
    ("seed", "number"),
    [
        (77, 355),  # a sum of two fields, and damage in a constant byte that cancels out
        (77, 507),  # the Gray code of a field, beside a field and its complement
        (77, 743),  # the Gray code of a field, of which there is a complement
        (77, 960),  # two complements and a copy: their XOR is constant
        (78, 224),  # the Gray code of a copied field
        (78, 816),
        (78, 999),  # a difference and a complement that often add up to a constant modulo 4
        (79, 197),  # a difference and copies, which add up to a constant modulo 3
    ],
)
def test_fields_that_look_like_a_digest(seed, number):
    text, rows = draw_free(seed, number)
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
