"""Rows kept in memory: all of them, as they were read, or none."""

from fractions import Fraction

import numpy as np
import pytest

from flagstone.algebra.fields import GF, QQ
from flagstone.encoding import Encoding
from flagstone.tables import Table, open_table
from flagstone.tables.arrays import MemoryReader
from flagstone.tables.encoded import RowCache

F = GF(2)


def batches(matrix, field=F, label=None, size=10, monkeypatch=None):
    monkeypatch.setattr("flagstone.tables.arrays.rows_per_batch", lambda n: size)
    table = Table([MemoryReader.of(matrix, "rows")])
    names = list(table.columns)
    label = names.pop() if label else None
    return list(table.rows(Encoding.plain(field, names, label=label)))


@pytest.mark.parametrize("label", [False, True])
@pytest.mark.parametrize("field", [GF(2), GF(7)])
def test_what_fits_is_kept_as_it_is(field, label, monkeypatch):
    matrix = np.random.RandomState(1).randint(0, field.order, (95, 5), dtype=np.uint8)
    parts = batches(matrix, field, label, monkeypatch=monkeypatch)
    kept = RowCache()
    for part in parts:
        kept.add(part)
    assert kept.whole
    assert np.concatenate([part.matrix for part in kept.of()]).tolist() == matrix.tolist()
    assert [part.place(0).row for part in kept.of()] == list(range(1, 95, 10))


@pytest.mark.parametrize(("n_bytes", "whole"), [(0, False), (79, False), (80, True)])
def test_packed_rows_count_by_their_words(n_bytes, whole, monkeypatch):
    (part,) = batches(np.eye(10, dtype=np.uint8), monkeypatch=monkeypatch)
    kept = RowCache(n_bytes)
    kept.add(part)
    assert kept.whole is whole
    assert len(kept) == whole


def test_one_batch_too_many_lets_all_go_for_good(monkeypatch):
    parts = batches(np.zeros((30, 3), dtype=np.uint8), monkeypatch=monkeypatch)
    kept = RowCache(200)
    sizes = []
    for part in [*parts, parts[0].chosen(slice(0))]:
        kept.add(part)
        sizes.append(len(kept))
    assert sizes == [1, 2, 0, 0]
    assert not kept.whole


def test_rationals_count_with_what_stands_behind_them(monkeypatch):
    matrix = np.array([[Fraction(1, 3)]] * 10, dtype=object)
    (part,) = batches(matrix, QQ, monkeypatch=monkeypatch)
    kept = RowCache(10 * 8 * 15)
    kept.add(part)
    assert not kept.whole


def test_lines_that_are_not_in_a_row_count_too(tmp_path):
    for name, gap, whole in (("plain", "", True), ("gaps", "\n", False)):
        (tmp_path / f"{name}.csv").write_text("a,b\n" + f"0,1\n{gap}" * 10)
        table = open_table(tmp_path / f"{name}.csv")
        kept = RowCache(100)
        for batch in table.rows(table.encoding(2)):
            kept.add(batch)
        assert kept.whole is whole
