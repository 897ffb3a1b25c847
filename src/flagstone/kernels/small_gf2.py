"""Rows over GF(2) in plain NumPy and Python: packing, linear algebra, flags (see `small`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from flagstone.kernels.small import affordable, twin

Words = NDArray[np.uint64]
Counts = NDArray[np.int64]

#: Wider flags take more time and memory than they save.
MOST = 256


def pack_bits(X: NDArray[Any]) -> Words:
    """Pack a 2-D array of 0 and 1 (or of False and True)."""
    octets = np.packbits(X, axis=1, bitorder="little")
    padded = np.zeros((len(X), max(1, -(-X.shape[1] // 64)) * 8), np.uint8)
    padded[:, : octets.shape[1]] = octets
    return padded.view("<u8").astype(np.uint64, copy=False)


def unpack(words: Words, dim: int) -> NDArray[np.uint8]:
    """The first ``dim`` columns as 0/1."""
    octets = words.astype("<u8", copy=False).view(np.uint8)
    return np.unpackbits(octets, axis=1, count=dim, bitorder="little")


@twin("bits", lambda X: 10 + X.size / 200)
def pack(X: NDArray[Any]) -> tuple[Words, int]:
    """Pack a 2-D array of integers or booleans; see `bits.pack`."""
    bad = (X > 1) | (X < 0)
    return pack_bits(X != 0), int(np.argmax(bad)) if bad.any() else -1


@twin("bits", lambda columns: 10 + len(columns) * (5 + len(columns[0]) / 200))
def pack_columns(columns: Sequence[NDArray[Any]]) -> tuple[Words, bool]:
    """Pack columns, each of its own type; say whether all are 0 or 1."""
    words = pack_bits(np.stack([column != 0 for column in columns], axis=1))
    return words, not any(((column > 1) | (column < 0)).any() for column in columns)


def _bits(rows: Words, column: int) -> NDArray[np.bool_]:
    """Say of each row whether it has a bit."""
    return rows[:, column >> 6] & np.uint64(1 << (column & 63)) != 0


def _passes(n_columns: int, rows: Words) -> float:
    """About how long passes over rows take, one for each column."""
    return n_columns * (10 + rows.size / 200)


@twin("gf2_linalg", _passes)
def rref(ar: int, matrix: Words) -> tuple[Words, Counts]:
    """Reduced row echelon form (leftmost pivots) and the pivot columns."""
    rows, pivots = matrix.copy(), list[int]()
    for column in range(ar):
        rank, found = len(pivots), _bits(rows, column)
        if rank == len(rows):
            break
        below = np.flatnonzero(found[rank:])
        if len(below):
            first = rank + int(below[0])
            pivot = rows[first].copy()
            rows[first], found[first] = rows[rank], found[rank]
            rows[found] ^= pivot
            rows[rank] = pivot
            pivots.append(column)
    return rows[: len(pivots)], np.array(pivots, np.int64)


@twin("gf2_linalg", lambda ar, rows, basis, pivots: _passes(len(basis), rows))
def reduce(ar: int, rows: Words, basis: Words, pivots: Counts) -> Words:
    """``rows`` minus the combination of the reduced ``basis`` that cancels its pivot columns."""
    left = rows.copy()
    for row, column in zip(basis, pivots.tolist(), strict=True):
        left[_bits(rows, column)] ^= row
    return left


@twin("gf2_linalg", lambda ar, rows, functionals: _passes(len(functionals), rows))
def dot(ar: int, rows: Words, functionals: Words) -> NDArray[np.uint8]:
    """All products ⟨row, functional⟩ as 0/1."""
    result = np.empty((len(rows), len(functionals)), np.uint8)
    for j, functional in enumerate(functionals):
        left = np.bitwise_xor.reduce(rows & functional, axis=1)
        for shift in (32, 16, 8, 4, 2, 1):
            left ^= left >> np.uint64(shift)
        result[:, j] = left & np.uint64(1)
    return result


def merge(ar: int, X: Words, cx: Counts, Y: Words, cy: Counts) -> tuple[Words, Counts]:
    """Adapted basis of the merge of two flags; always compiled."""
    from flagstone.kernels import gf2_linalg

    return gf2_linalg.merge(ar, X, cx, Y, cy)


@twin("gf2_product", lambda names, rows, result: _passes(len(rows), names))
def add_named(names: Words, rows: Words, result: Words) -> None:
    """Add ``rows[j]`` to ``result[i]`` wherever ``names[i]`` has bit j."""
    for j, row in enumerate(rows):
        result[_bits(names, j)] ^= row


@twin("gf2_product", lambda rows, places: 10 + rows.size / 20)
def place(rows: Words, places: NDArray[Any]) -> NDArray[Any]:
    """``places[k]`` for each row, where k columns reach up to its last bit; 0 of them if none."""
    bits = unpack(rows, 64 * rows.shape[1])[:, ::-1]
    last = np.where(rows.any(axis=1), bits.shape[1] - bits.argmax(axis=1), 0)
    return places.take(last)


def drop(words: Words, first: int, dim: int) -> Words:
    """The columns of rows of width ``dim`` from ``first`` on."""
    if affordable("gf2_product.pick", 20 + len(words) * dim / 200):
        return pack_bits(unpack(words, dim)[:, first:])
    from flagstone.kernels.gf2_product import choose, pick

    return pick(words, choose(np.arange(first, dim), words.shape[1]))


class State(NamedTuple):
    """Basis, coordinates of the unit vectors, and the elements of each distinct count.

    Rows and sets of elements are Python's integers, bit i being column or element i.
    """

    basis: list[int]
    table: list[int]
    levels: dict[int, int]


def row_cost(dim: int) -> float:
    """About how long it takes to insert a row, in microseconds."""
    return 2 + dim / 6


def new(ar: int, dim: int, dtype: Any = None) -> State:
    """The flag of the empty sample in GF(2)^dim: every element has count 0."""
    units = [1 << i for i in range(dim)]
    return State(units, units.copy(), {0: (1 << dim) - 1})


def copy(state: State) -> State:
    """A state that shares nothing with the first."""
    return State._make(part.copy() for part in state)


def load(ar: int, basis: Words, counts: Counts, dim: int) -> State:
    """The flag that an adapted basis with falling counts describes."""
    state = new(ar, dim)
    insert(state, basis, counts)
    return state


def dump(state: State) -> tuple[Words, Counts]:
    """An adapted basis, by falling count."""
    rows, counts = [], []
    for count in sorted(filter(None, state.levels), reverse=True):
        for i in _elements(state.levels[count]):
            rows.append(state.basis[i])
            counts.append(count)
    size = max(1, -(-len(state.basis) // 64)) * 8
    text = b"".join(row.to_bytes(size, "little") for row in rows)
    words = np.frombuffer(text, "<u8").astype(np.uint64).reshape(len(rows), size // 8)
    return words, np.array(counts, np.int64)


def insert(state: State, rows: Words, weights: Counts | None) -> None:
    """Insert ``rows`` in order, each as often as its weight says."""
    basis, table, levels = state
    times = [1] * len(rows) if weights is None else weights.tolist()
    for row, weight in zip(_integers(rows), times, strict=True):
        coords, left = 0, row
        while left:
            bit = left & -left
            coords ^= table[bit.bit_length() - 1]
            left ^= bit
        if not coords or weight <= 0:
            continue
        rising = iter(sorted(levels))
        for count in rising:
            if tie := coords & levels[count]:
                break
        first = tie & -tie
        # Besides a tie: the only smallest count passes the next one in the support.
        if tie != first or (
            weight > 1 and any(coords & levels[c] for c in rising if c < count + weight)
        ):
            basis[first.bit_length() - 1] = row
            add = coords ^ first
            table[:] = [x ^ add if x & first else x for x in table]
        levels[count] ^= first
        if not levels[count]:
            del levels[count]
        levels[count + weight] = levels.get(count + weight, 0) | first


def _integers(rows: Words) -> list[int]:
    if rows.shape[1] == 1:
        numbers: list[int] = rows[:, 0].tolist()
        return numbers
    octets = np.ascontiguousarray(rows, "<u8")
    return [int.from_bytes(row.tobytes(), "little") for row in octets]


def _elements(mask: int) -> Iterator[int]:
    while mask:
        first = mask & -mask
        yield first.bit_length() - 1
        mask ^= first
