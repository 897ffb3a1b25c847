"""The rows that are fed in: packed words, always the same for the same arguments.

``SIZES`` are the (m, d) of the main tables. Each generator takes a random generator, m and d, and
returns ``uint64[m, ceil(d / 64)]``, column i at bit ``i % 64`` of word ``i // 64``.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from flagstone import BitRows

__all__ = ["DRAW", "KINDS", "SIZES", "bit_rows", "drawn_dims", "planted", "uniform"]

Words = np.ndarray

SIZES = (
    (10**6, 20),
    (10**6, 64),
    (10**6, 128),
    (2 * 10**5, 512),
    (10**5, 1024),
    (5 * 10**4, 2048),
)


def uniform(rng: np.random.Generator, rows: int, dim: int) -> Words:
    """Every bit fair and independent."""
    n_words = -(-dim // 64)
    words = rng.bit_generator.random_raw(rows * n_words).reshape(rows, n_words)
    if dim % 64:
        words[:, -1] &= np.uint64((1 << dim % 64) - 1)
    return words


def low_rank(rng: np.random.Generator, rows: int, dim: int) -> Words:
    """Uniform in a random subspace of dimension d/4."""
    return _in_span(rng, rows, uniform(rng, dim // 4, dim))


def planted(rng: np.random.Generator, rows: int, dim: int, basis: Words | None = None) -> Words:
    """Uniform in a subspace (random, of dimension d/2), and one row in a hundred uniform."""
    words = _in_span(rng, rows, uniform(rng, dim // 2, dim) if basis is None else basis)
    outlier = rng.random(rows) < 0.01
    words[outlier] = uniform(rng, int(outlier.sum()), dim)
    return words


def skewed(rng: np.random.Generator, rows: int, dim: int) -> Words:
    """Random vectors v_1, v_2, …, v_d; v_i with probability 2^-i, the rest on v_d."""
    index = np.minimum(rng.geometric(0.5, rows) - 1, dim - 1)
    return uniform(rng, dim, dim)[index]


def zipf(rng: np.random.Generator, rows: int, dim: int) -> Words:
    """Random vectors v_1, …, v_d; v_i with a probability proportional to 1/i."""
    weight = 1 / np.arange(1, dim + 1)
    return uniform(rng, dim, dim)[rng.choice(dim, rows, p=weight / weight.sum())]


def sparse(rng: np.random.Generator, rows: int, dim: int) -> Words:
    """Three columns set, drawn at random."""
    words = np.zeros((rows, -(-dim // 64)), dtype=np.uint64)
    for _ in range(3):
        column = rng.integers(0, dim, rows)
        words[np.arange(rows), column // 64] ^= np.uint64(1) << (column % 64).astype(np.uint64)
    return words


def repeats(rng: np.random.Generator, rows: int, dim: int) -> Words:
    """5·d random vectors; the i-th with a probability proportional to i^-1.2."""
    weight = np.arange(1, 5 * dim + 1) ** -1.2
    return uniform(rng, 5 * dim, dim)[rng.choice(5 * dim, rows, p=weight / weight.sum())]


def frames(rng: np.random.Generator, rows: int, dim: int) -> Words:
    """Payload bits that are set with probabilities from 1/2 to 1/64, a linear digest of up to 32
    bits behind them, and in one frame of a hundred a flipped bit."""
    digest = min(32, dim // 4)
    payload = dim - digest
    law = 0.5 ** rng.uniform(1, 6, payload)
    code = uniform(rng, payload, digest)[:, 0]
    words = np.zeros((rows, -(-dim // 64)), dtype=np.uint64)
    ends = np.zeros(rows, dtype=np.uint64)
    for column in range(payload):
        bits = (rng.random(rows, dtype=np.float32) < law[column]).astype(np.uint64)
        words[:, column // 64] |= bits << np.uint64(column % 64)
        ends ^= bits * code[column]
    for column in range(payload, dim):
        bits = ends >> np.uint64(column - payload) & np.uint64(1)
        words[:, column // 64] |= bits << np.uint64(column % 64)
    bad = np.flatnonzero(rng.random(rows) < 0.01)
    column = rng.integers(0, dim, len(bad))
    words[bad, column // 64] ^= np.uint64(1) << (column % 64).astype(np.uint64)
    return words


KINDS: dict[str, Callable[[np.random.Generator, int, int], Words]] = {
    "uniform": uniform,
    "low-rank": low_rank,
    "planted": planted,
    "skewed": skewed,
    "zipf": zipf,
    "frames": frames,
    "sparse": sparse,
    "repeats": repeats,
}

#: Whose draw the dimensions of the sweep over widths are: taken anew for each release.
DRAW = "0.1"


def drawn_dims(draw: str = DRAW) -> tuple[int, ...]:
    """Dimensions from 20 to 3,000: both sides of each change of kernel, and eight that are drawn.

    >>> len(drawn_dims()), drawn_dims() == drawn_dims("0.1"), drawn_dims() == drawn_dims("0.2")
    (16, True, False)
    """
    rng = np.random.default_rng(list(draw.encode()))
    drawn = np.exp(rng.uniform(np.log(20), np.log(3000), 40)).astype(int).tolist()
    fixed = (64, 65, 128, 129, 256, 257, 512, 513)
    return tuple(sorted([*fixed, *[dim for dim in dict.fromkeys(drawn) if dim not in fixed][:8]]))


def bit_rows(kind: str, rows: int, dim: int, seed: int = 2026) -> BitRows:
    """Return rows of one kind, packed as flagstone takes them."""
    return BitRows(KINDS[kind](np.random.default_rng(seed), rows, dim), dim)


def _in_span(rng: np.random.Generator, rows: int, basis: Words) -> Words:
    """Return uniform combinations of the basis, twelve basis vectors per table look-up."""
    words = np.zeros((rows, basis.shape[1]), dtype=np.uint64)
    for start in range(0, len(basis), 12):
        table = np.zeros((1, basis.shape[1]), dtype=np.uint64)
        for vector in basis[start : start + 12]:
            table = np.concatenate([table, table ^ vector])
        words ^= table[rng.integers(0, len(table), rows)]
    return words
