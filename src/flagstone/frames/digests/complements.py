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
#: Bytes of which fewer bits vary may be complements by chance, unless those beside them are, too.
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
    checks = {(i - phase) // 8 for i in taken}  # bytes that hold check bits
    pairs: dict[int, int] = {}

    def add(i: int, j: int, n_free: int) -> bool:
        """Add a pair of bytes, i before j, if they convince."""
        data, check = (j, i) if j in checks else (i, j)
        is_used = data in pairs or check in pairs or check in pairs.values()
        fits = check not in checks and not is_used and _convinces(values[:, [i, j]], n_free)
        if fits:
            pairs[check] = data
        return fits

    for j in range(size):
        opposite = values[:_FIRST, :j] + values[:_FIRST, j : j + 1] == 255
        for i in np.flatnonzero(opposite.mean(axis=0) >= _FIRST_SHARE)[::-1].tolist():
            add(i, j, _FEWEST_FREE)
    # bytes that hardly vary were inverted together with those beside them
    for check, data in [*pairs.items()]:
        for step in (-1, 1, -2, 2):
            i, j = sorted((data + step, check + step))
            while i >= 0 and j < size and add(i, j, 1):
                i, j = i + step, j + step
    return sorted((phase + 8 * data, phase + 8 * check) for check, data in pairs.items())


def _convinces(values: Array, n_free: int) -> bool:
    """Say whether two numbers are complements in most rows, and this many of their bits vary."""
    fits = values.sum(axis=1) == 255
    if fits.mean() < _SHARE:
        return False
    different = np.unique(values[fits, 0])
    bits = (different ^ different[0])[:, np.newaxis] >> np.arange(8) & 1
    return rank(bits.astype(np.uint8)) >= n_free


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
