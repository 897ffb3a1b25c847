"""SerialDependence: equal rows that follow each other more often than chance has it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagstone import pack
from flagstone.certificates.serial_dependence import SerialDependence, first_of_runs

ROWS = np.random.RandomState(5).randint(0, 2, size=(600, 16))


def counted(matrix, batch=10**6):
    repeats = SerialDependence()
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
    assert said.endswith("but only 0 % the row 37 places before")


@pytest.mark.parametrize("column", [0, 63, 64, 129])
def test_wide_rows_are_equal_only_if_all_of_their_words_are(column):
    rows = np.ones((300, 130), dtype=np.uint8)
    rows[::2, column] = 0  # every other row is another one
    seen = counted(pack(rows).words)
    assert (seen.pairs, seen.beside, seen.apart) == (263, 0, 0)


def test_the_first_row_of_each_run():
    assert first_of_runs(np.array([[1], [1], [0], [1], [1]])).tolist() == [1, 0, 1, 1, 0]
    assert first_of_runs(np.empty((0, 3))).tolist() == []


def drifting(n, seed, step=2):
    random = np.random.RandomState(seed)
    reading = 500 + np.cumsum(random.randint(-step, step + 1, n))
    data = np.stack([reading >> 8, reading & 255, random.randint(0, 256, n)], axis=1)
    return np.unpackbits(data.astype(np.uint8), axis=1)


@pytest.mark.parametrize("n", [900, 1500, 10_000])
def test_a_drifting_reading_is_noticed_packed_or_not(n):
    for seed in range(5):
        rows = drifting(n, seed)
        packed = pack(rows).words
        assert counted(rows).drifts
        assert counted(packed).drifts
        assert not counted(packed).beyond_chance
        shuffled = np.random.RandomState(seed).permutation(rows)
        assert not counted(shuffled).drifts


def test_likeness_does_not_depend_on_batches_and_adds_up_over_shards():
    rows = drifting(2000, 1)
    whole = counted(rows)._alike()
    for batch in (1, 7, 500):
        assert counted(rows, batch)._alike() == whole
    both = counted(rows).merge(counted(drifting(900, 2)))
    assert both.drifts
    assert both._alike() == tuple(np.add(whole, counted(drifting(900, 2))._alike()))
    assert both.merge(SerialDependence())._alike() == both._alike()


@given(st.integers(0, 2**32 - 1), st.integers(0, 60), st.integers(1, 5))
def test_exchanging_the_far_row_and_the_near_one_turns_the_sign(seed, n, dim):
    """On which the bound rests: given the sizes, signs are fair coins."""
    rows = np.random.RandomState(seed).randint(0, 3, size=(3 * n, dim))
    far = np.roll(np.arange(n), -(n // 2))
    turned = rows.copy()
    turned[1::3], turned[2::3][far] = rows[2::3][far], rows[1::3]
    likeness, squares = counted(rows)._alike()
    assert counted(turned)._alike() == (-likeness, squares)


def test_independent_rows_do_not_drift():
    random = np.random.RandomState(8)
    for n in (3, 30, 400):
        for _ in range(100):
            law = random.dirichlet(np.full(6, 0.3))
            assert not counted(np.eye(6, dtype=int)[random.choice(6, n, p=law)]).drifts


@pytest.mark.parametrize("dim", [5, 64, 130])
def test_packed_rows_are_as_alike_as_their_entries(dim):
    rows = np.random.RandomState(dim).randint(0, 2, size=(200, dim)).astype(np.uint8)
    rows[::7] = 1  # all bits of a word differ
    rows[1::7] = 0
    assert counted(pack(rows).words)._alike() == counted(rows)._alike()


def test_what_escapes_is_said_in_the_docs():
    """A whole capture that is there twice; a bit that toggles every 5,000 rows."""
    for number in (3000, 20_000):
        rows = np.random.RandomState(2).randint(0, 2, size=(number, 12))
        twice = counted(np.concatenate([rows, rows]))
        assert (twice.beyond_chance, twice.drifts) == (False, False)
    rows[:, 0] = np.arange(20_000) // 5000 % 2
    slowly = counted(rows)
    assert (slowly.beyond_chance, slowly.drifts) == (False, False)
