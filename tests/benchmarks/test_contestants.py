"""Benchmarks compare like with like: inputs are fixed, and all contestants find the same rank."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import harness, inputs, peers
from flagstone import Flag, stable_partition

Contestant = harness.Contestant


def test_different_answers_on_the_same_rows_stop_the_run():
    contestants = [Contestant("a", 5, lambda _: 3), Contestant("b", 5, lambda _: 4)]
    with pytest.raises(harness.Disagreement, match="a says 3, b says 4, on the same 5 rows"):
        harness.interleave(contestants, least=1, most=1, seconds=0.0)
    contestants[1] = Contestant("b", 6, lambda _: 4)
    harness.interleave(contestants, least=1, most=1, seconds=0.0)


@pytest.mark.parametrize("kind", inputs.KINDS)
@pytest.mark.parametrize("dim", [20, 64, 130])
def test_inputs_are_fixed_and_have_the_rank_they_are_named_for(kind, dim):
    rows = inputs.bit_rows(kind, 700, dim)
    assert rows == inputs.bit_rows(kind, 700, dim)
    assert rows.shape == (700, dim)
    rank = Flag(dim).update(rows).rank
    if kind == "uniform":
        assert rank == dim
    elif kind == "low-rank":
        assert dim // 4 - 3 <= rank <= dim // 4
    elif kind in ("planted", "frames", "sparse"):
        assert dim // 2 < rank <= dim
        weights = rows.unpack().sum(axis=1)
        assert kind != "sparse" or set(weights.tolist()) <= {1, 3}
    elif kind == "repeats":
        assert dim // 2 < rank <= len(np.unique(rows.words, axis=0)) < 300
    else:
        assert rank <= len(np.unique(rows.words, axis=0)) <= dim


def test_frames_obey_their_digest_but_for_one_in_a_hundred():
    flag = Flag(40).update(inputs.bit_rows("frames", 20_000, 40))
    assert flag.rank == 40
    assert flag.dim_at(100) == 30


@pytest.mark.parametrize("kind", inputs.KINDS)
@pytest.mark.parametrize("dim", [1, 20, 64, 65, 128, 200])
def test_m4ri_finds_the_rank_of_the_flag(kind, dim):
    if peers.versions()["M4RI"] is None:
        pytest.skip(f"M4RI is not installed: {peers.INSTALL['M4RI']}")
    rows = inputs.bit_rows(kind, 300, max(dim, 4))
    matrix = peers.Matrix(rows)
    rank = Flag(rows.dim).update(rows).rank
    assert matrix.fill().echelonize_m4ri() == rank
    assert matrix.fill().echelonize() == rank


@pytest.mark.parametrize("kind", inputs.KINDS)
def test_other_peers_find_the_rank_of_the_flag(kind):
    rows = inputs.bit_rows(kind, 80, 20)
    X = rows.unpack()
    rank = Flag(20).update(rows).rank
    assert peers.numpy_rank(rows) == rank
    assert peers.naive_rank(rows) == len(stable_partition(X)[0]) == rank
    versions = peers.versions()
    if versions["ldpc"] is not None:
        assert peers.ldpc_rank(X) == rank
    if versions["python-flint"] is not None:
        assert peers.flint_matrix(X).rank() == rank
