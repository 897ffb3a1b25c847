"""The page of frames: the digest first, a ruler over bits, marked bits, and code."""

import dataclasses
import re

import numpy as np
import pytest

from flagstone import Coins
from flagstone.frames.report import FrameView
from flagstone.frames.study import Study, saved_study, study
from flagstone.report import html_report
from flagstone.rules import rule_named
from flagstone.tables import Place


def framed() -> Study:
    """Frames with a constant byte and an XOR of nibbles, two of them damaged."""
    rows = np.random.RandomState(3).randint(0, 2, size=(800, 24)).astype(np.uint8)
    rows[:, :8] = [1, 0, 1, 0, 0, 1, 0, 1]
    rows[:, 20:] = rows[:, 8:12] ^ rows[:, 12:16] ^ rows[:, 16:20]
    rows[7, 0] ^= 1
    rows[400, 9] ^= 1
    places = [Place("<i>a.hex", i + 1, i + 1) for i in range(800)]
    return study(rows, places, rule_named("index", t_min=5, t_max=20), Coins(1))


@pytest.fixture(scope="module")
def found() -> Study:
    return framed()


def test_the_digest_comes_first_in_the_words_of_the_console(found):
    page = html_report(found.finding, FrameView(found))
    [headline] = re.findall("<h1>(.*)</h1>", page)
    assert headline == "XOR of nibbles, in byte 2 bits 3..0: fits 798 of 800 frames"
    order = ["digest</dt>", "formula:", "evidence:", "strength:", "pattern</dt>", "capture next"]
    order += ["A C function", "int check_frame(const uint8_t *frame)", "Damaged frames"]
    order += ["Fingerprint", "Promises"]
    places = [page.index(part) for part in order]
    assert places == sorted(places)
    assert '<span data-byte="0">10100101</span> <span data-byte="1">????????</span>' in page
    assert "Rows that do not fit" not in page
    # one sentence a line: which bits, and what to do about them
    assert re.search("<li>[^<]* never varied[^<]*</li><li>what these bits add", page)


def test_damaged_frames_have_marked_bits(found):
    page = html_report(found.finding, FrameView(found))
    first, second = re.findall('<li><p class="place">(.*?)</li>', page)
    assert first.startswith("&lt;i&gt;a.hex line 8<")
    assert "byte 0 bit 7 flipped?" in first
    assert '<span data-byte="0"><mark>0</mark>0100101</span>' in first
    assert second.startswith("&lt;i&gt;a.hex line 401<")
    assert "one of 4 bits flipped?" in second  # of three nibbles, or of their XOR
    assert second.count("<mark>") == 4
    assert "2 frames do not pass" in page


def test_a_saved_finding_shows_the_same(found):
    again = saved_study(found.finding, None)
    page = html_report(found.finding, FrameView(again))
    assert "XOR of nibbles, in byte 2 bits 3..0: fits 798 of 800 frames</h1>" in page
    assert page.count('<li><p class="place">') == 2
    assert "int check_frame" in page


def test_without_a_digest_the_page_says_so_and_lists_equations():
    rows = np.random.RandomState(4).randint(0, 2, size=(400, 16)).astype(np.uint8)
    rows[:, 3] = rows[:, 9]
    places = [Place("a.hex", i + 1, i + 1) for i in range(400)]
    found = study(rows, places, rule_named("index"), Coins(1))
    page = html_report(found.finding, FrameView(found))
    assert "<h1>No digest found in 400 frames</h1>" in page
    assert "x3 ⊕ x9 = 0" in page
    assert "check_frame" not in page


def test_a_correct_digest_is_never_denied_by_the_headline():
    """Few frames support no promise about future samples, but the digest has its own evidence."""
    few = framed()
    sample = study(
        few.rows[20:38], few.places[20:38], rule_named("index", t_min=1, t_max=2), Coins(1)
    )
    assert sample.finding.support != "whole"
    assert "XOR of nibbles" in sample.digests[0].name
    page = html_report(sample.finding, FrameView(sample))
    assert "<h1>XOR of nibbles, in byte 2 bits 3..0: fits 18 of 18 frames</h1>" in page
    assert "Not supported" not in page
    assert dataclasses.asdict(sample.strength)["bits"] == 4
