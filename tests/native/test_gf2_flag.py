"""Counted flags over GF(2): every version against the oracle and against each other."""

from __future__ import annotations

from threading import Thread
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import naive
from tests.native import versions
from tests.native.gf2 import integers, levels
from tests.strategies import rows_of

NATIVE, VERSIONS = versions.NATIVE, versions.VERSIONS
EDGES = (1, 2, 7, 8, 9, 63, 64, 65, 127, 128, 129, 191, 192, 193, 255, 256, 257, 383, 384, 385)
WIDE = (511, 512, 513, 640, 700)


@pytest.fixture(params=VERSIONS.values(), ids=VERSIONS, scope="module")
def version(request: pytest.FixtureRequest) -> Any:
    return request.param


def width(dim: int) -> int:
    return max(1, -(-dim // 64))


def pack(numbers, dim: int) -> np.ndarray:
    octets = b"".join(n.to_bytes(8 * width(dim), "little") for n in numbers)
    return np.frombuffer(octets, np.uint64).reshape(len(numbers), width(dim))


def canonical(flag) -> list[tuple[int, frozenset[int]]]:
    """Counts, and what is counted as often: the same for equal flags, whatever their bases are."""
    basis, counts = flag.dump()
    assert basis.shape == (len(counts), width(flag.dim))
    assert all(row < 1 << flag.dim for row in integers(basis))
    return levels(basis, counts)


def sample(rng: np.random.Generator, kind: str, n: int, dim: int) -> np.ndarray:
    """Rows whose flags have many levels, ties, or a small space of most rows."""
    words = rng.integers(0, 2**64, (n, width(dim)), dtype=np.uint64)
    pool = rng.integers(0, 2**64, (max(1, dim // 5), width(dim)), dtype=np.uint64)
    if kind == "sparse":
        words[:] = 0
        for _ in range(3):
            column = rng.integers(0, dim, n)
            words[np.arange(n), column // 64] ^= np.uint64(1) << (column % 64).astype(np.uint64)
    elif kind == "repeats":
        words = pool[np.minimum(rng.geometric(0.4, n) - 1, len(pool) - 1)]
    elif kind in ("low rank", "planted"):
        names = rng.integers(0, 2, (n, len(pool))).astype(bool)
        inside = np.zeros_like(words)
        for j, vector in enumerate(pool):
            inside[names[:, j]] ^= vector
        outlier = rng.random(n) < (0.02 if kind == "planted" else 0)
        words = np.where(outlier[:, None], words, inside)
    if dim % 64:
        words[:, -1] &= np.uint64((1 << dim % 64) - 1)
    words[rng.random(n) < 0.03] = 0
    return np.ascontiguousarray(words)


KINDS = ("uniform", "sparse", "repeats", "low rank", "planted")


@given(data=st.data(), dim=st.integers(1, 9))
def test_flag_is_the_stable_partition(version: Any, data: st.DataObject, dim: int) -> None:
    rows = data.draw(rows_of(2, dim, max_rows=24))
    weights = data.draw(st.none() | st.lists(st.integers(-1, 4), min_size=len(rows)))
    flag = version.gf2.flag(dim)
    words = pack([sum(bit << i for i, bit in enumerate(row)) for row in rows], dim)
    times = [1] * len(rows)
    if weights is None:
        flag.insert(words)
    else:
        times = weights[: len(rows)]
        flag.insert(words, np.array(times, np.int64))
    space = naive.ambient(2, dim)
    repeated = [row for row, w in zip(rows, times, strict=True) for _ in range(w)]
    chain = naive.chain(space, repeated)
    basis, counts = flag.dump()
    tuples = [tuple(n >> i & 1 for i in range(dim)) for n in integers(basis)]
    assert [
        space.span([v for v, c in zip(tuples, counts, strict=True) if c > j])
        for j in range(int(counts[0]) if len(counts) else 0)
    ] == chain


@pytest.mark.parametrize("dim", EDGES)
@pytest.mark.parametrize("kind", KINDS)
def test_versions_agree(kind: str, dim: int) -> None:
    rng = np.random.default_rng([dim, *kind.encode()])
    rows = sample(rng, kind, min(1400, 200 + 6 * dim), dim)
    weights = rng.integers(-1, 5, len(rows))
    for times in (None, weights):
        flags = [version.gf2.flag(dim) for version in VERSIONS.values()]
        for flag in flags:
            flag.insert(rows, times)
        expected = canonical(flags[-1])
        assert all(canonical(flag) == expected for flag in flags)


@pytest.mark.parametrize("dim", WIDE)
def test_wide_versions_agree(dim: int) -> None:
    for kind in KINDS:
        rng = np.random.default_rng([dim, *kind.encode()])
        rows = sample(rng, kind, 1800, dim)
        flags = [version.gf2.flag(dim) for version in VERSIONS.values()]
        for flag in flags:
            flag.insert(rows)
        expected = canonical(flags[-1])
        assert all(canonical(flag) == expected for flag in flags)


@given(data=st.data(), dim=st.integers(1, 700), seed=st.integers(0, 2**32))
def test_interleaved_calls(data: st.DataObject, dim: int, seed: int) -> None:
    """Portions of rows, copies, dumps and loads, the same on all versions."""
    rng = np.random.default_rng(seed)
    flags = [version.gf2.flag(dim) for version in VERSIONS.values()]
    for action in data.draw(st.lists(st.sampled_from("iiwcl"), max_size=5)):
        if action in "iw":
            n = data.draw(st.sampled_from((0, 1, 7, 8, 9, 63, 130, 300)))
            rows = sample(rng, data.draw(st.sampled_from(KINDS)), n, dim)
            weights = rng.integers(-1, 1000, n) if action == "w" else None
            for flag in flags:
                flag.insert(rows, weights)
        elif action == "c":
            copies = [flag.copy() for flag in flags]
            for flag in flags:
                flag.insert(sample(rng, "uniform", 3, dim))
            flags = copies
        else:
            flags = [
                version.gf2.flag_load(dim, *flag.dump())
                for version, flag in zip(VERSIONS.values(), flags, strict=True)
            ]
        expected = canonical(flags[-1])
        assert all(canonical(flag) == expected for flag in flags)


@pytest.mark.parametrize("native", NATIVE.values(), ids=NATIVE)
@pytest.mark.parametrize("dim", [300, 513])
def test_most_rows_in_a_space(native: Any, dim: int) -> None:
    """Outliers, then a change of the space, then single rows: the same as in one-row calls."""
    rng = np.random.default_rng(dim)
    parts = [
        sample(rng, kind, n, dim)
        for kind, n in [("planted", 5000), ("repeats", 3000), ("uniform", 700), ("planted", 3000)]
    ]
    rows = np.concatenate(parts)
    whole, single = native.gf2.flag(dim), native.gf2.flag(dim)
    whole.insert(rows)
    for start in range(0, len(rows), 50):
        single.insert(rows[start : start + 50])
    assert canonical(whole) == canonical(single)


def test_a_flag_of_no_columns(version: Any) -> None:
    flag = version.gf2.flag(0)
    flag.insert(np.full((3, 1), 5, np.uint64))
    flag.insert(np.full((3, 1), 5, np.uint64), np.full(3, 2))
    assert canonical(flag) == canonical(flag.copy()) == []
    assert flag.dump()[0].shape == (0, 1)
    assert canonical(version.gf2.flag_load(0, *flag.dump())) == []


@pytest.mark.parametrize("dim", [1, 20, 65, 300])
def test_bits_past_the_last_column_are_ignored(version: Any, dim: int) -> None:
    rng = np.random.default_rng(dim)
    rows = sample(rng, "planted", 600, dim)
    noisy = rows.copy()
    noisy[:, -1] |= rng.integers(0, 2**64, 600, dtype=np.uint64) << np.uint64(dim % 64)
    flags = [version.gf2.flag(dim) for _ in range(4)]
    for flag, data, weights in zip(
        flags, (rows, noisy, rows, noisy), (None, None, *[np.arange(600)] * 2), strict=True
    ):
        flag.insert(data, weights)
    assert canonical(flags[0]) == canonical(flags[1])
    assert canonical(flags[2]) == canonical(flags[3])


def test_load_is_exact(version: Any) -> None:
    rng = np.random.default_rng(1)
    flag = version.gf2.flag(150)
    flag.insert(sample(rng, "sparse", 90, 150), rng.integers(1, 2**50, 90))
    basis, counts = flag.dump()
    again = version.gf2.flag_load(150, basis, counts)
    assert canonical(again) == canonical(flag)
    more = sample(rng, "uniform", 300, 150)
    again.insert(more)
    flag.insert(more)
    assert canonical(again) == canonical(flag)


def test_bad_arguments(version: Any) -> None:
    flag = version.gf2.flag(70)
    good = np.ones((4, 2), np.uint64)
    ones = np.ones(4, np.int64)
    for rows in (
        good.astype(np.int64),
        good.astype(np.float64),
        good[0],
        good[None],
        np.ones((4, 4), np.uint64)[:, ::2],
        np.asfortranarray(np.ones((4, 2), np.uint64)),
    ):
        with pytest.raises(TypeError):
            flag.insert(rows)
    for weights in (ones.astype(np.int32), ones.astype(float), ones[:, None], np.ones(8, int)[::2]):
        with pytest.raises(TypeError):
            flag.insert(good, weights)
    for rows in (good[:, :1].copy(), np.ones((4, 3), np.uint64), np.ones((4, 0), np.uint64)):
        with pytest.raises(ValueError, match="one word for 64 columns"):
            flag.insert(rows)
    with pytest.raises(ValueError, match="one weight for each row"):
        flag.insert(good, ones[:3])
    with pytest.raises(ValueError, match="63 bits"):
        flag.insert(good, np.full(4, 2**62))
    flag.insert(good, np.array([2**63 - 5, 0, 0, 0]))
    with pytest.raises(ValueError, match="63 bits"):
        flag.insert(np.ones((5, 2), np.uint64))
    assert flag.dump()[1].tolist() == [2**63 - 5]
    with pytest.raises(TypeError):
        version.gf2.flag(-1)
    with pytest.raises(TypeError):
        version.gf2.flag("3")


def test_bad_loads(version: Any) -> None:
    def load(rows, counts, dim=3):
        return version.gf2.flag_load(
            dim, np.array(rows, np.uint64)[:, None], np.array(counts, np.int64)
        )

    assert load([1, 2], [2, 1]).dump()[1].tolist() == [2, 1]
    for counts in ([1, 2], [1, 0], [-1, -1]):
        with pytest.raises(ValueError, match="positive and falling"):
            load([1, 2], counts)
    for rows in ([1, 2, 3], [1, 0, 2], [1, 1, 1], [8, 1, 2], [1, 2, 4, 7], [1, 1, 1, 1]):
        with pytest.raises(ValueError, match="independent"):
            load(rows, [1] * len(rows))
    with pytest.raises(ValueError, match="for each row"):
        load([1, 2], [1])
    with pytest.raises(ValueError, match="one word"):
        load([1, 2], [1, 1], dim=65)
    with pytest.raises(ValueError, match=r"independent|63 bits"):
        load([1, 1], [2**62, 2**62])


@pytest.mark.parametrize("native", NATIVE.values(), ids=NATIVE)
def test_threads_share_a_flag(native: Any) -> None:
    """Every row is counted once, whatever the threads do at the same time."""
    flag = native.gf2.flag(130)
    rows = sample(np.random.default_rng(2), "uniform", 500, 130)
    rows = rows[rows.any(axis=1)]

    def work() -> None:
        for _ in range(10):
            flag.insert(rows)
            assert flag.dump()[1].sum() % len(rows) == 0
            flag.copy()

    threads = [Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert flag.dump()[1].sum() == 40 * len(rows)
