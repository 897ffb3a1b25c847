"""Arithmetic of GF(p), p < 2^31: whole arrays through NumPy, single rows for the compiled kernels.

The compiled kernels never reduce modulo p inside an inner loop. A row being worked on is held in
*lanes* wider than the field's elements, and ``budget`` multiples of other rows may be added to it
before a lane can overflow; only then is it settled back to 0..p−1. Narrow lanes make wide vector
instructions, so each prime gets the narrowest lanes that leave a useful budget.

The ``row_…`` and ``scalar_…`` functions below are plain Python on purpose:
:mod:`flagstone.kernels.rowops` compiles them into the algorithms. Nothing here imports Numba.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray


class Prime(NamedTuple):
    """The arithmetic of GF(p).

    Attributes
    ----------
    p : the modulus
    bits : width of a lane
    reciprocal : floor(2^bits / p), which reduces lanes of 16 and 32 bits without a division
    budget : how many products a settled lane can take up before it must be settled again
    lane, factor : zeros with the dtypes of a working row and of the factors of a panel (see
        ``panel_factors``)
    nil : the factor 0
    together : so many exchanges in a panel are made up for at once
    inverses : of the smallest elements; those of others come from them
    """

    p: np.uint64
    bits: np.uint64
    reciprocal: np.uint64
    budget: np.int64
    lane: Any
    factor: Any
    nil: np.uint32
    together: np.int64
    inverses: NDArray[np.uint32]


def build(p: int) -> Prime:
    """Return the arithmetic of GF(p) for a prime p < 2^31 (primality is the caller's business).

    >>> ar = build(7)
    >>> ar.lane.dtype.name, int(ar.budget)
    ('uint16', 1820)
    """
    square = (p - 1) ** 2
    for bits, least in ((16, 16), (32, 64), (64, 1)):
        budget = (2**bits - p) // square
        if budget >= least:
            break
    ar = Prime(
        np.uint64(p),
        np.uint64(bits),
        np.uint64(2**bits // p),
        np.int64(min(budget, 2**62)),
        np.dtype(f"uint{bits}").type(0),
        np.dtype(f"uint{min(bits, 32)}").type(0),
        np.uint32(0),
        np.int64(4),
        np.zeros(0, np.uint32),
    )
    return ar._replace(inverses=_inverses(p, min(p, 8192)))


def _inverses(p: int, n: int) -> NDArray[np.uint32]:
    """Return the inverses of 0..n−1 (that of 0 as 0), each half from the one before.

    With p = quotient · a − rest, and the quotient rounded, 1 / a is quotient / rest.
    """
    table = np.arange(n)
    for start in (2**k for k in range(1, (n - 1).bit_length())):
        a = np.arange(start, min(2 * start, n))
        quotient = (p + a // 2) // a
        rest = quotient * a - p
        table[a] = np.sign(rest) * quotient * table[abs(rest)] % p
    return table.astype(np.uint32)


def dtype(ar: Prime) -> np.dtype[Any]:
    """Return the narrowest unsigned dtype that holds the field's elements."""
    return np.dtype(np.min_scalar_type(int(ar.p) - 1))


def cell(ar: Prime) -> np.dtype[Any]:
    """Return the dtype in which flags keep their rows: that of factors, which loads spread."""
    return ar.factor.dtype


def add(ar: Prime, a: ArrayLike, b: ArrayLike) -> NDArray[Any]:
    """Return a + b, elementwise.

    >>> add(build(7), [1, 5, 6], 2)
    array([3, 0, 1], dtype=uint8)
    """
    return _narrow(ar, (np.asarray(a, np.uint64) + np.asarray(b, np.uint64)) % ar.p)


def sub(ar: Prime, a: ArrayLike, b: ArrayLike) -> NDArray[Any]:
    """Return a − b, elementwise."""
    return _narrow(ar, (np.asarray(a, np.uint64) + (ar.p - np.asarray(b, np.uint64))) % ar.p)


def neg(ar: Prime, a: ArrayLike) -> NDArray[Any]:
    """Return −a, elementwise."""
    return _narrow(ar, (ar.p - np.asarray(a, np.uint64)) % ar.p)


def mul(ar: Prime, a: ArrayLike, b: ArrayLike) -> NDArray[Any]:
    """Return a · b, elementwise."""
    return _narrow(ar, np.asarray(a, np.uint64) * np.asarray(b, np.uint64) % ar.p)


def inv(ar: Prime, a: ArrayLike) -> NDArray[Any]:
    """Return 1 / a, elementwise, as a^(p−2); the inverse of 0 comes out as 0.

    >>> ar = build(65521)
    >>> a = np.arange(1, 65521)
    >>> bool((mul(ar, a, inv(ar, a)) == 1).all())
    True
    """
    power = np.asarray(a, np.uint64)
    result = np.ones_like(power)
    exponent = int(ar.p) - 2
    while exponent > 0:
        if exponent & 1:
            result = result * power % ar.p
        power = power * power % ar.p
        exponent >>= 1
    if ar.p == 2:
        result = power
    return _narrow(ar, result)


def _narrow(ar: Prime, a: NDArray[np.uint64]) -> NDArray[Any]:
    return a.astype(dtype(ar))


def scalar_value(ar: Prime, x: Any) -> Any:
    """Return the field element that a lane stands for."""
    if ar.lane.itemsize == 8:
        return np.uint64(x) % ar.p
    # Barrett: the quotient is short by at most one.
    r = np.uint64(x) - ((np.uint64(x) * ar.reciprocal) >> ar.bits) * ar.p
    return r - ar.p if r >= ar.p else r


def scalar_neg(ar: Prime, a: Any) -> Any:
    """Return −a."""
    return ar.p - np.uint64(a) if a != 0 else np.uint64(0)


def scalar_mul(ar: Prime, a: Any, b: Any) -> Any:
    """Return a · b."""
    return np.uint64(a) * np.uint64(b) % ar.p


def scalar_inv(ar: Prime, a: Any) -> Any:
    """Return 1 / a for a ≠ 0: where it is not at hand, as ``_inverses`` does."""
    product, rest = np.uint64(1), np.uint64(a)
    known = np.uint64(ar.inverses.shape[0])
    if rest < known:
        return np.uint64(ar.inverses[rest])
    while rest >= known:
        quotient = (ar.p + (rest >> np.uint64(1))) // rest
        near = quotient * rest
        product = scalar_value(ar, product * (quotient if near > ar.p else ar.p - quotient))
        rest = near - ar.p if near > ar.p else ar.p - near
    return scalar_value(ar, product * np.uint64(ar.inverses[rest]))


def scalar_lift(ar: Prime, a: Any) -> Any:
    """Return a field element in lane form."""
    return a


def row_axpy(ar: Prime, w: NDArray[Any], rows: NDArray[Any], s: int, c: Any) -> None:
    """Add c · rows[s] to the working row, unreduced; spends one unit of the budget."""
    factor = np.uint64(c)
    for j in range(w.shape[0]):
        w[j] += factor * np.uint64(rows[s, j])


def row_settle(ar: Prime, w: NDArray[Any]) -> None:
    """Reduce the working row modulo p, which restores the budget."""
    for j in range(w.shape[0]):
        w[j] = scalar_value(ar, w[j])


def row_lower(ar: Prime, rows: NDArray[Any], s: int, w: NDArray[Any], c: Any) -> None:
    """Store c · w as rows[s]; w must be settled."""
    for j in range(w.shape[0]):
        rows[s, j] = scalar_value(ar, np.uint64(c) * np.uint64(w[j]))


def panel_factors(
    ar: Prime, W: NDArray[Any], j: int, A: NDArray[Any], i: int, seen: NDArray[Any]
) -> None:
    """Let A[i] be the factors that clear column j of the rows in the panel W that are seen."""
    for b in range(A.shape[1]):
        A[i, b] = scalar_neg(ar, scalar_value(ar, W[j, b])) if seen[b] != 0 else ar.nil


def panel_axpy(
    ar: Prime, W: NDArray[Any], columns: NDArray[Any], rows: NDArray[Any], s: int, a: NDArray[Any]
) -> None:
    """Add a[b] · rows[s] to row b of the panel, for all b, in these columns, unreduced."""
    W[columns] += a.astype(W.dtype) * rows[s, columns].astype(W.dtype)[:, None]
