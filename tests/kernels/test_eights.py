"""Eight rows at a time: compiled, and step by step in plain Python, bit for bit the same state."""

from __future__ import annotations

from types import FunctionType

import numpy as np
import pytest

from flagstone.kernels import _eights, _words, gf2_eights
from tests.kernels.gf2 import KINDS, sample

COMPILED = getattr(gf2_eights._insert, "py_func", None)

pytestmark = pytest.mark.skipif(
    not _eights.AVAILABLE or COMPILED is None, reason="needs AVX-512 with GFNI, and the compiler"
)


def plain_insert():
    """The kernel with the plain twin of everything that it calls."""
    twins = {
        name: getattr(module, f"_{name}_python")
        for module in (_eights, _words)
        for name in COMPILED.__code__.co_names
        if hasattr(module, f"_{name}_python")
    }
    assert len(twins) > 15
    return FunctionType(COMPILED.__code__, COMPILED.__globals__ | twins)


CASES = [(dim, 45, kind) for dim in (1, 20, 64, 65, 128, 150, 300) for kind in KINDS]


@pytest.mark.parametrize(("dim", "number", "kind"), [*CASES, (150, 400, "uniform")])
@pytest.mark.parametrize("weighted", [False, True])
def test_compiled_and_plain_agree_in_every_bit(dim, number, kind, weighted, monkeypatch):
    words = sample(kind, number, dim, seed=dim)
    words[7] = 0
    weights = np.random.default_rng(dim).integers(1, 9, len(words))
    compiled, plain = gf2_eights.new(dim), gf2_eights.new(dim)
    gf2_eights.insert(compiled, words, weights if weighted else None)
    monkeypatch.setattr(gf2_eights, "_insert", plain_insert())
    with np.errstate(over="ignore"):
        gf2_eights.insert(plain, words, weights if weighted else None)
    for name in compiled._fields:
        assert (getattr(compiled, name) == getattr(plain, name)).all(), name


def test_tables_are_matrices():
    bits = np.random.default_rng(1).integers(0, 2, (16, 128), np.uint8)
    assert (_eights.matrix(_eights.table_of(bits)) == bits).all()
    assert (_eights.matrix(gf2_eights.new(70).table)[:70, :70] == np.eye(70)).all()
