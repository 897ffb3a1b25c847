"""Which rows count: the first ones, and one of each run; across batches, too."""

import numpy as np
import pytest

from flagstone.algebra.fields import GF
from flagstone.encoding import Encoding
from flagstone.tables import open_table
from flagstone.tables.encoded import first_rows, without_repeats


@pytest.fixture
def batches(tmp_path):
    """Some files of one column, a batch each, as a function."""

    def of(*parts):
        for number, part in enumerate(parts):
            np.save(tmp_path / f"{number}.npy", np.array([[x] for x in part], dtype=np.uint8))
        table = open_table(tmp_path)
        return table.rows(Encoding.plain(GF(2), list(table.columns)))

    return of


def values(batches):
    return [batch.matrix[:, 0].tolist() for batch in batches]


PARTS = ([1, 1, 0], [0, 0], [1], [1, 0])


@pytest.mark.parametrize(
    ("n", "kept"),
    [
        (0, []),
        (1, [[1]]),
        (3, [[1, 1, 0]]),
        (4, [[1, 1, 0], [0]]),
        (8, [[1, 1, 0], [0, 0], [1], [1, 0]]),
        (99, [[1, 1, 0], [0, 0], [1], [1, 0]]),
    ],
)
def test_the_first_rows(batches, n, kept):
    assert values(first_rows(batches(*PARTS), n)) == kept


def test_no_batch_past_the_first_rows_is_read(batches):
    rows = batches(*PARTS)
    list(first_rows(rows, 3))
    assert next(rows).matrix[:, 0].tolist() == [0, 0]


def test_one_row_of_each_run_across_batches(batches):
    assert values(without_repeats(batches(*PARTS))) == [[1, 0], [], [1], [0]]


def test_places_stay_those_of_the_file(batches):
    kept = [batch.places(np.ones(len(batch), dtype=bool), 9) for batch in
            without_repeats(batches(*PARTS))]  # fmt: skip
    assert [[row for _, row, _ in places] for places in kept] == [[1, 3], [], [1], [2]]
