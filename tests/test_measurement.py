"""Counts of rows: they add up, and files cannot make them contradict each other."""

import pytest

from flagstone.errors import FormatError
from flagstone.measurement import Measurement

PLACES = (("a.hex", 3, 3), ("a.hex", 9, 12))
MINE = Measurement(10, 2, 2, 1, PLACES, ("101", "111"), (0, 2, 9))


def test_levels_and_rows_add_up():
    both = MINE + Measurement(5, 0, 0, levels=(0, 0, 5))
    assert (both.read, both.levels, both.values) == (15, (0, 2, 14), ("101", "111"))
    assert (Measurement(0, 0, 0) + MINE).levels == MINE.levels
    assert (MINE + Measurement(0, 0, 0)).levels == MINE.levels
    assert (MINE + Measurement(5, 0, 0)).levels is None
    assert MINE.first(1).places == PLACES[:1]
    assert MINE.first(1).values == ("101",)
    assert MINE.first(1).levels == MINE.levels


def test_it_comes_back_from_plain_values():
    assert Measurement.from_dict(MINE.to_dict()) == MINE
    bare = Measurement(4)
    assert Measurement.from_dict(bare.to_dict()) == bare


@pytest.mark.parametrize(
    "edit", [{"values": ["101"]}, {"levels": [0, 11]}, {"levels": [3, 2]}, {"levels": [-1]}]
)
def test_what_cannot_be_is_refused(edit):
    with pytest.raises(FormatError):
        Measurement.from_dict(MINE.to_dict() | edit)
