"""Repeats: equal rows that follow each other more often than chance has it."""

import numpy as np
import pytest

from flagstone.repeats import Repeats, first_of_runs

ROWS = np.random.RandomState(5).randint(0, 2, size=(600, 16))


def counted(matrix, batch=10**6):
    repeats = Repeats()
    for start in range(0, len(matrix), batch):
        repeats.update(matrix[start : start + batch])
    return repeats


@pytest.mark.parametrize(
    ("matrix", "beyond"),
    [
        (ROWS, False),
        (np.repeat(ROWS, 2, axis=0), True),
        (np.repeat(ROWS, 3, axis=0), True),
        (np.repeat(ROWS[:8], 2, axis=0), False),  # too few to say
        (np.ones((600, 3), int), False),  # chance makes them all equal
        (ROWS[:, :1], False),
        (np.zeros((0, 4), int), False),
    ],
)
def test_only_runs_far_beyond_chance_are_told(matrix, beyond):
    assert counted(matrix).beyond_chance is beyond


@pytest.mark.parametrize("batch", [1, 7, 36, 37, 38, 500])
def test_the_same_pairs_are_looked_at_however_rows_come(batch):
    matrix = np.repeat(ROWS, 2, axis=0)
    whole, parts = counted(matrix), counted(matrix, batch)
    assert whole.pairs == len(matrix) - 37
    assert (parts.pairs, parts.beside, parts.apart) == (whole.pairs, whole.beside, whole.apart)


def test_independent_rows_of_few_values_seldom_raise_an_alarm():
    random = np.random.RandomState(6)
    alarms = [counted(random.randint(0, 2, size=(400, 2))).beyond_chance for _ in range(300)]
    assert not any(alarms)


def test_it_says_what_it_saw():
    said = str(counted(np.repeat(ROWS, 3, axis=0)))
    assert said.startswith("rows repeat in runs: 66")
    assert said.endswith("where chance makes 0 %")


def test_the_first_row_of_each_run():
    assert first_of_runs(np.array([[1], [1], [0], [1], [1]])).tolist() == [1, 0, 1, 1, 0]
    assert first_of_runs(np.empty((0, 3))).tolist() == []
