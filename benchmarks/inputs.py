"""The rows that are fed in: packed words, always the same for the same arguments.

``SIZES`` are the (m, d) of the main tables. Each generator takes a random generator, m and d, and
returns ``uint64[m, ceil(d / 64)]``, column i at bit ``i % 64`` of word ``i // 64``.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from flagstone import BitRows

__all__ = ["KINDS", "SIZES", "bit_rows", "planted", "uniform"]

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


KINDS: dict[str, Callable[[np.random.Generator, int, int], Words]] = {
    "uniform": uniform,
    "low-rank": low_rank,
    "planted": planted,
    "skewed": skewed,
    "zipf": zipf,
}


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
