"""Complements: bytes that a frame holds once more with every bit inverted, as NEC remotes send."""

from __future__ import annotations

from collections.abc import Sequence, Set

import numpy as np

from flagstone.algebra import Array
from flagstone.frames.digests.digest import Digest, names_of, span_text
from flagstone.frames.digests.frame import rank
from flagstone.frames.digests.rules import Solved, units

#: Two bytes must be complements in this share of the rows; of the first rows, in a bit less.
_SHARE, _FIRST, _FIRST_SHARE = 0.85, 64, 0.7
#: Bytes of which fewer bits vary on their own may be complements by chance.
_FEWEST_FREE = 4


def name_complement(names: Sequence[str], X: Array, taken: Set[int] = frozenset()) -> Digest | None:
    """Name the bytes that are the complements of others; None where there are none.

    Parameters
    ----------
    names : sequence of str
        Of the columns.
    X : array of shape (n_rows, d)
        Rows of bits; some of them may be damaged.
    taken : set of int
        Check bits of other digests.

    Examples
    --------
    >>> data = np.random.RandomState(0).randint(0, 256, size=(50, 2), dtype=np.uint8)
    >>> frames = np.column_stack([data[:, 0], ~data[:, 0], data[:, 1], ~data[:, 1]])  # NEC
    >>> digest = name_complement([f"x{i}" for i in range(32)], np.unpackbits(frames, axis=1))
    >>> print(digest.formula)
    x8..x15 = x0..x7 inverted, x24..x31 = x16..x23 inverted
    """
    phases = dict.fromkeys([0, X.shape[1] % 8])
    pairs = max((_pairs(X, phase, taken) for phase in phases), key=len)
    if not pairs:
        return None
    source = {check + i: data + i for data, check in pairs for i in range(8)}
    checks, data = tuple(sorted(source)), sorted(source.values())
    matrix = np.zeros((len(checks), X.shape[1]), dtype=np.uint8)
    matrix[range(len(checks)), [source[i] for i in checks]] = 1
    rule = Solved(checks, matrix, np.ones(len(checks), dtype=np.uint8))
    good = X[~rule.broken(X).any(axis=1)]
    return Digest(
        "complement",
        f"complement of {span_text(names, data)}",
        tuple(names[i] for i in checks),
        {"data": names_of(names, data), "pairs": [[names[a], names[b]] for a, b in pairs]},
        ", ".join(_formulas(names, pairs)),
        len(checks) * rank(good[1:, data] ^ good[:1, data]),
        rule,
    )


def _pairs(X: Array, phase: int, taken: Set[int]) -> list[tuple[int, int]]:
    """Return the first bits of bytes and of their complements, which stand behind them.

    They stand before them where another digest has its check bits behind.
    """
    size = (X.shape[1] - phase) // 8
    values = units(X[:, phase : phase + 8 * size], 8)
    pairs: list[tuple[int, int]] = []
    for j in range(size):
        opposite = values[:_FIRST, :j] + values[:_FIRST, j : j + 1] == 255
        for i in np.flatnonzero(opposite.mean(axis=0) >= _FIRST_SHARE)[::-1].tolist():
            a, b = phase + 8 * i, phase + 8 * j
            data, check = (b, a) if b in taken else (a, b)
            is_used = any(data == c or check in (d, c) for d, c in pairs)
            if check not in taken and not is_used and _convinces(values[:, i], values[:, j]):
                pairs.append((data, check))
    return sorted(pairs)


def _convinces(values: Array, others: Array) -> bool:
    """Say whether numbers are complements in most rows, and vary enough to show it."""
    fits = values + others == 255
    if fits.mean() < _SHARE:
        return False
    different = np.unique(values[fits])
    bits = (different ^ different[0])[:, np.newaxis] >> np.arange(8) & 1
    return rank(bits.astype(np.uint8)) >= _FEWEST_FREE


def _formulas(names: Sequence[str], pairs: Sequence[tuple[int, int]]) -> list[str]:
    """Return a formula for each run of bytes whose complements are neighbours, too."""
    lengths: dict[tuple[int, int], int] = {}
    for data, check in pairs:
        start = next((s for s, n in lengths.items() if (s[0] + n, s[1] + n) == (data, check)), None)
        start = start or (data, check)
        lengths[start] = lengths.get(start, 0) + 8
    return [
        f"{span_text(names, range(b, b + n))} = {span_text(names, range(a, a + n))} inverted"
        for (a, b), n in lengths.items()
    ]
