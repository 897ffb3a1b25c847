"""Plain twins against the compiled kernels, over every field, and when the one gives way."""

from __future__ import annotations

import subprocess
import sys
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagstone import GF, Flag
from flagstone.certificates.evidence import Evidence, rates
from flagstone.certificates.pieces import Cut, Cutter
from flagstone.kernels import (
    bits,
    counting,
    digits,
    finite,
    gf2_linalg,
    gf2_product,
    small,
    small_digits,
    small_finite,
    small_gf2,
)
from flagstone.notation import ALPHABETS, digit_bits, parse_frames
from tests.kernels.families import Family
from tests.kernels.gf2 import KINDS, sample

WIDTHS = (1, 8, 20, 63, 64, 65, 130)
ORDERS = (3, 7, 9, 256, 65521)
family = cache(Family)


@pytest.fixture
def plain(monkeypatch):
    """Let twins do everything."""
    monkeypatch.setattr(small, "ALLOWANCE", 1e15)


def same(*pairs):
    for one, other in pairs:
        assert np.asarray(one).dtype == np.asarray(other).dtype
        assert np.array_equal(one, other)


@pytest.mark.parametrize("dim", WIDTHS)
@pytest.mark.parametrize("kind", KINDS)
def test_linear_algebra_over_gf2(dim, kind):
    rows = sample(kind, 60, dim, seed=3)
    few = sample("uniform", 9, dim, seed=4)
    basis, pivots = small_gf2.rref.__wrapped__(dim, rows)
    same(*zip((basis, pivots), gf2_linalg.rref(dim, rows), strict=True))
    same(
        (small_gf2.reduce.__wrapped__(dim, few, basis, pivots),
         gf2_linalg.reduce(dim, few, basis, pivots)),
        (small_gf2.dot.__wrapped__(dim, rows, few), gf2_linalg.dot(dim, rows, few)),
    )  # fmt: skip
    one, other = np.zeros_like(rows), np.zeros_like(rows)
    named = sample("uniform", dim, dim, seed=5)
    small_gf2.add_named.__wrapped__(rows, named, one)
    gf2_product.add_named(rows, named, other)
    same((one, other))


@pytest.mark.parametrize("dim", WIDTHS)
def test_rows_are_placed_by_their_last_bit(dim):
    rows = sample("sparse", 60, dim, seed=3)
    rows[::7] = 0
    places = np.random.RandomState(1).randint(0, 256, size=dim + 1).astype(np.uint8)
    bits = small_gf2.unpack(rows, dim)
    expected = [places[max(np.flatnonzero(row) + 1, default=0)] for row in bits]
    assert small_gf2.place.__wrapped__(rows, places).tolist() == expected
    same((small_gf2.place.__wrapped__(rows, places), gf2_product.place(rows, places)))


@pytest.mark.parametrize("dim", WIDTHS)
def test_columns_are_dropped_alike(dim, monkeypatch):
    rows = sample("uniform", 30, dim, seed=1)
    for first in {0, dim // 2, dim - 1, dim}:
        monkeypatch.setattr(small, "ALLOWANCE", 0.0)
        compiled = small_gf2.drop(rows, first, dim)
        monkeypatch.setattr(small, "ALLOWANCE", 1e15)
        same((small_gf2.drop(rows, first, dim), compiled))


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint8, np.int64, np.uint64])
@given(
    seed=st.integers(0, 2**32), dim=st.integers(1, 140), n=st.integers(1, 9), spoilt=st.booleans()
)
def test_packing(dtype, seed, dim, n, spoilt):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, dim)).astype(dtype)
    if spoilt and dtype is not bool:
        X[rng.integers(n), rng.integers(dim)] = 2 if seed % 2 or X.dtype.kind == "u" else -1
    words, bad = small_gf2.pack.__wrapped__(X)
    expected, compiled_bad = bits.pack(X)
    assert bad == compiled_bad
    columns = list(np.ascontiguousarray(X.T))
    by_columns, fits = small_gf2.pack_columns.__wrapped__(columns)
    assert fits == (bad < 0) == bits.pack_columns(columns)[1]
    if fits:
        same((words, expected), (by_columns, expected))


@pytest.mark.parametrize("order", ORDERS)
@given(seed=st.integers(0, 2**32), dim=st.integers(1, 7), n=st.integers(0, 12))
def test_linear_algebra_over_other_fields(order, seed, dim, n):
    F, rng = family(order), np.random.default_rng(seed)
    rows, few = (
        (rng.integers(0, order, (k, dim)) * rng.integers(0, 2, (k, dim))).astype(F.dtype)
        for k in (n, 3)
    )
    basis, pivots = small_finite.rref.__wrapped__(F.ar, rows)
    same(*zip((basis, pivots), finite.rref(F.ar, rows), strict=True))
    same(
        (small_finite.reduce.__wrapped__(F.ar, few, basis, pivots),
         finite.reduce(F.ar, few, basis, pivots)),
        (small_finite.dot.__wrapped__(F.ar, rows, few), finite.dot(F.ar, rows, few)),
    )  # fmt: skip


@given(seed=st.integers(0, 2**32), weighted=st.booleans())
def test_counts(seed, weighted):
    rng = np.random.default_rng(seed)
    values, weights = rng.integers(0, 9, 20), rng.integers(0, 5, 20) if weighted else None
    one, other = np.zeros(9, np.int64), np.zeros(9, np.int64)
    small_finite.count.__wrapped__(values, weights, one)
    counting.count(values, weights, other)
    same((one, other))


@pytest.mark.parametrize(("order", "dim"), [(2, 5), (2, 64), (2, 70), (2, 150), (7, 5), (9, 4)])
@given(seed=st.integers(0, 2**32), cut=st.integers(0, 60), weighted=st.booleans())
def test_a_flag_may_move_at_any_time(order, dim, seed, cut, weighted):
    rng = np.random.default_rng(seed)
    pool = rng.integers(0, order, (2 * dim, dim))
    X = pool[rng.zipf(1.4, 60) % len(pool)] * (rng.random((60, 1)) < 0.9)
    weights = rng.integers(0, 6, 60) if weighted else np.ones(60, np.int64)
    compiled = Flag(dim, order).update(X, weights)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(small, "ALLOWANCE", 1e15)
        alone = Flag(dim, order).update(X, weights)
        moved = Flag(dim, order).update(X[:cut], weights[:cut])
        copied = moved.copy()
    moved.update(X[cut:], weights[cut:])
    copied.update(X[cut:], weights[cut:])
    assert not alone._held[0].compiled
    assert compiled._held[0].compiled
    assert compiled.to_bytes() == alone.to_bytes() == moved.to_bytes() == copied.to_bytes()


def test_a_flag_too_wide_for_plain_python_is_compiled_from_the_first_row(plain):
    assert not Flag(small_gf2.MOST)._held[0].compiled
    assert Flag(small_gf2.MOST + 1)._held[0].compiled
    assert Flag(small_finite.MOST + 1, 7)._held[0].compiled


def test_each_twin_works_until_its_allowance_is_spent(monkeypatch):
    monkeypatch.setattr(small, "ALLOWANCE", 10.0)
    assert small.affordable("this test", 6.0)
    assert small.affordable("this test", 4.0)
    assert not small.affordable("this test", 6.0)
    assert not small.affordable("this test", 0.0)  # its kernel is there now
    assert small.affordable("another twin", 10.0)


@pytest.mark.parametrize("inside", [True, False])
@given(seed=st.integers(0, 2**32))
def test_pieces_are_cut_alike(inside, seed):
    rng = np.random.default_rng(seed)
    cut = Cut(inside=inside, dim=4, credit=12, pace=5.0, most=6)
    X = rng.integers(0, 2, (300, 4))
    X[:, 0] |= not inside  # outside, no row that is given may be zero
    rows = GF(2).matrix(GF(2).rows(X))
    compiled = Cutter(GF(2), cut).update(rows).outcomes
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(small, "ALLOWANCE", 1e15)
        assert Cutter(GF(2), cut).update(rows).outcomes == compiled


@given(value=st.integers(0, 3), length=st.integers(5, 12), beta=st.floats(1e-9, 0.5))
def test_evidence_is_weighed_alike_to_the_last_bit(value, length, beta):
    cut = Cut(inside=True, dim=4, credit=12, pace=5.0, most=3)
    found = []
    for allowance in (0.0, 1e15):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(small, "ALLOWANCE", allowance)
            seen = Evidence(cut, {(value, length): 40.5, (2, 10): 60}, rates(3.0, 120.0), 0.005)
            bound = seen.bound(beta, rows=660)
            found.append((bound, seen.beyond(max(1, bound or 0), rows=660)))
    assert found[0] == found[1]


LINES = st.sampled_from(
    [b"0d55a1", b"0D55A1", b" 0d55a1 \r", b"0d 55 a1", b"0x0d55a1", b"", b"# no", b"0d55", b"zz"]
)


@given(lines=st.lists(LINES, min_size=1, max_size=12), number=st.integers(1, 9))
def test_lines_are_read_alike_or_named(lines, number):
    block = b"\n".join(lines) + b"\n"
    alphabet = ALPHABETS["hex"][:3]
    kinds = digits.classes(*alphabet)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(small, "ALLOWANCE", 1e15)
        words, at, hard, skipped, n = small_digits.parse(block, number, alphabet, 24, False)
    expected, expected_at, _, _, expected_n = digits.parse(block, number, kinds, 24, False)
    assert (skipped, n) == (0, expected_n)
    named = [(line, block[start:stop]) for line, start, stop in hard.tolist()]
    texts = block.split(b"\n")
    assert named == [(i, texts[i - number]) for i, _ in named]
    careful = {i: parse_frames(text) for i, text in named if i in set(expected_at)}
    assert {*at.tolist(), *careful} == set(expected_at)
    by_line = dict(zip(at.tolist(), words.tolist(), strict=True))
    for i, [frame] in careful.items():
        by_line[i] = small_gf2.pack_bits(digit_bits([frame.digits], 24)).tolist()[0]
    assert [by_line[i] for i in expected_at] == expected.tolist()


def test_bits_are_read_alike(plain):
    block = b"1011\n0001\n11 01\n"
    alphabet = ALPHABETS["bits"][:3]
    words, at, hard, _, _ = small_digits.parse(block, 5, alphabet, 4, False)
    assert (words.tolist(), at.tolist(), hard.tolist()) == ([[13], [8]], [5, 6], [[7, 10, 15]])


@pytest.mark.parametrize("field", ["2", "7", "9"])
def test_a_verb_on_a_small_table_loads_neither_compiler_nor_scipy(tmp_path, field):
    rows = np.random.default_rng(1).integers(0, int(field), (300, 4))
    rows[:, 3] = GF(int(field)).add(rows[:, 0], rows[:, 1])
    path = tmp_path / "rows.csv"
    np.savetxt(path, rows, fmt="%d", delimiter=",")
    words = ["constraints", str(path), "--no-header", "--field", field, "--seed", "1"]
    script = (
        "import sys; from flagstone.cli.runner import run; code = run(sys.argv[1:]);"
        "sys.exit(code or sorted({'numba', 'scipy'} & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", script, *words], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("1 check equation")
