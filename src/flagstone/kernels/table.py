"""Arithmetic of GF(p^k), order ≤ 2^16, through tables: whole arrays by NumPy, rows for the kernels.

An element is the integer whose base-p digit i is the coefficient of x^i, the usual polynomial
representation. Products go through discrete logarithms to a primitive element g (the class of x,
which a Conway polynomial makes primitive). The logarithm of 0 is the out-of-range 2(q−1), and the
table of powers is zero from there on, so multiplication needs no test for 0.

Sums need no table at all in the kernels: a working row holds *spread* elements, one bit field of a
lane per digit, which add without carries until ``budget`` products have been added (characteristic
2: exclusive or, no budget needed). A lane is one word of 32 bits, or two if there are many digits,
and no field crosses words: so a lane can be multiplied by a digit word by word.

The ``row_…`` and ``scalar_…`` functions are plain Python on purpose:
:mod:`flagstone.kernels.rowops` compiles them into the algorithms. Nothing here imports Numba.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray


class Table(NamedTuple):
    """The arithmetic of GF(p^k).

    Attributes
    ----------
    q, p, k : order, characteristic, degree
    exp : powers of g as integers, zero from index 2(q−1) on
    log : discrete logarithms, log[0] = 2(q−1)
    minus : discrete logarithms of −a, by a
    spread : the powers of g in lane form; the same length as ``exp``
    lanes : the lane form of every element
    parts : the multiples that make up the product with every element (see ``_parts``)
    sums, groups : which of these are sums of two others; how many make up a product
    places : the lowest bit of each digit of a lane
    half : digits per word of a lane
    digits : bits per digit of a lane
    tops : the highest bit of every digit of a word
    reciprocal : floor(2^32 / p), which reduces digits without a division
    short : floor(2^16 / p), likewise
    budget : how many products a settled lane can take up before it must be settled again
    lane, factor : zeros with the dtypes of a working row and of the factors of a panel, which are
        logarithms
    nil : the factor 0
    together : so many exchanges in a panel are made up for at once
    """

    q: np.int64
    p: np.uint64
    k: np.int64
    exp: NDArray[np.uint16]
    log: NDArray[np.uint32]
    minus: NDArray[np.uint32]
    spread: NDArray[Any]
    lanes: NDArray[Any]
    parts: NDArray[np.uint64]
    sums: NDArray[np.uint8]
    groups: np.int64
    places: NDArray[np.uint64]
    half: np.int64
    digits: np.uint64
    tops: np.uint64
    reciprocal: np.uint64
    short: np.uint64
    budget: np.int64
    lane: Any
    factor: np.uint32
    nil: np.uint32
    together: np.int64


def build(p: int, k: int, poly: ArrayLike) -> Table:
    """Build the tables of GF(p^k) = GF(p)[x] / (poly).

    Parameters
    ----------
    p, k
        Characteristic and degree, p^k ≤ 2^16.
    poly
        The k + 1 coefficients of a monic primitive polynomial, constant term first.

    Examples
    --------
    GF(4) = {0, 1, x, x + 1}, in which x² = x + 1:

    >>> ar = build(2, 2, [1, 1, 1])
    >>> int(mul(ar, 2, 2)), int(add(ar, 2, 3))
    (3, 1)
    """
    q = p**k
    low = [(-int(c)) % p for c in np.asarray(poly).tolist()[:k]]  # x^k in lower powers
    top = q // p
    feedback = [sum((t * c) % p * p**i for i, c in enumerate(low)) for t in range(p)]
    powers = np.zeros(q - 1, np.int64)
    element = 1
    for i in range(q - 1):
        powers[i] = element
        carry, rest = divmod(element, top)
        element = _add_integers(rest * p, feedback[carry], p)
    exp = np.zeros(4 * (q - 1) + 1, np.uint16)  # log 0 + log 0 is still in range
    exp[: 2 * (q - 1)] = np.concatenate([powers, powers])
    log = np.full(q, 2 * (q - 1), np.uint32)
    log[powers] = np.arange(q - 1)
    parts, sums, groups = _parts(p, k)
    most = groups * (p - 1) if len(sums) else k * (p - 1) ** 2  # that a product adds to a digit
    for bits, least in ((32, 12), (64, 1)):
        half = -(-k * 32 // bits)
        digits = min(32 // half, 32 if k * p**2 > 2**12 else 16)  # up to 16, cheaper to reduce
        budget = (2**digits - p) // most
        if budget >= least:
            break
    places = [32 * (i // half) + digits * (i % half) for i in range(k)]
    if p == 2:
        budget, spread, minus = 2**62, exp, log
    else:
        spread = np.zeros(exp.size, f"uint{bits}")
        rest = exp.astype(spread.dtype)
        for place in places:
            spread |= rest % spread.dtype.type(p) << spread.dtype.type(place)
            rest //= spread.dtype.type(p)
        minus = np.where(log < q - 1, (log + (q - 1) // 2) % (q - 1), log).astype(np.uint32)
    return Table(
        np.int64(q), np.uint64(p), np.int64(k), exp, log, minus, spread, spread[log],
        parts, sums, np.int64(groups), np.array(places, np.uint64), np.int64(half),
        np.uint64(digits), np.uint64(sum(1 << digits * (i + 1) - 1 for i in range(half))),
        np.uint64(2**32 // p), np.uint64(2**16 // p), np.int64(budget),
        spread.dtype.type(0), np.uint32(0), np.uint32(2 * (q - 1)),
        np.int64(1),
    )  # fmt: skip


def _parts(p: int, k: int) -> tuple[NDArray[np.uint64], NDArray[np.uint8], int]:
    """Say how the product with every element is made up of few multiples.

    Multiple 0 is 0, 1 + t is by x^t, and each later one the sum of two before: it is by some digits
    of an element at once, which stand side by side. The parts of an element are fields of 16 bits:
    the number of a multiple, and how many times it is taken (8 bits each). Of one digit by itself
    it is as often as the digit says.
    """
    width = max(next(g for g in range(5, -1, -1) if p**g <= 27), -(-k // 4))
    elements, parts = np.arange(p**k, dtype=np.uint64), np.zeros(p**k, np.uint64)
    sums = list[tuple[int, int]]()
    starts = range(0, k, width)
    for group, start in enumerate(starts):
        entries = {0: 0}
        for t in range(start, min(start + width, k)):
            for entry, number in list(entries.items()):
                for times in range(1, p if width > 1 else 2):
                    before = entries[entry + (times - 1) * p ** (t - start)]
                    if before:
                        sums.append((before, 1 + t))
                        number = k + len(sums)
                    else:
                        number = 1 + t
                    entries[entry + times * p ** (t - start)] = number
        digits = elements // np.uint64(p**start) % np.uint64(p**width)
        if width > 1:
            names = np.array([entries[e] for e in range(len(entries))], np.uint64)
            field = names[digits] | np.uint64(1 << 8)
        else:
            field = np.uint64(1 + start) | digits << np.uint64(8)
        parts |= field << np.uint64(16 * group)
    return parts, np.array(sums, np.uint8).reshape(-1, 2), len(starts)


def _add_integers(a: int, b: int, p: int) -> int:
    """Add two elements digit by digit."""
    if p == 2:
        return a ^ b
    total, place = 0, 1
    while a or b:
        a, i = divmod(a, p)
        b, j = divmod(b, p)
        total += (i + j) % p * place
        place *= p
    return total


def dtype(ar: Table) -> np.dtype[Any]:
    """Return the narrowest unsigned dtype that holds the field's elements."""
    return np.dtype(np.uint8 if ar.q <= 256 else np.uint16)


def cell(ar: Table) -> np.dtype[Any]:
    """Return the dtype in which flags keep their rows: one for all orders, compiled once."""
    return np.dtype(np.uint16)


def add(ar: Table, a: ArrayLike, b: ArrayLike) -> NDArray[Any]:
    """Return a + b, elementwise.

    >>> ar = build(3, 2, [2, 2, 1])
    >>> int(add(ar, 5, 7))  # (x + 2) + (2x + 1)
    0
    """
    a, b = np.asarray(a, np.int64), np.asarray(b, np.int64)
    if ar.p == 2:
        return (a ^ b).astype(dtype(ar))
    p, place = int(ar.p), 1
    total = np.zeros(np.broadcast_shapes(a.shape, b.shape), np.int64)
    for _ in range(int(ar.k)):
        total += (a // place + b // place) % p * place
        place *= p
    return total.astype(dtype(ar))


def neg(ar: Table, a: ArrayLike) -> NDArray[Any]:
    """Return −a, elementwise."""
    minus_one = 1 if ar.p == 2 else int(ar.p) - 1  # NumPy 1 makes a float of uint64 − int
    return mul(ar, a, minus_one)


def sub(ar: Table, a: ArrayLike, b: ArrayLike) -> NDArray[Any]:
    """Return a − b, elementwise."""
    return add(ar, a, neg(ar, b))


def mul(ar: Table, a: ArrayLike, b: ArrayLike) -> NDArray[Any]:
    """Return a · b, elementwise."""
    i, j = ar.log[np.asarray(a)], ar.log[np.asarray(b)]
    return ar.exp[i + j].astype(dtype(ar))


def inv(ar: Table, a: ArrayLike) -> NDArray[Any]:
    """Return 1 / a, elementwise; the inverse of 0 comes out as 0.

    >>> ar = build(2, 3, [1, 1, 0, 1])
    >>> mul(ar, np.arange(1, 8), inv(ar, np.arange(1, 8)))
    array([1, 1, 1, 1, 1, 1, 1], dtype=uint8)
    """
    a = np.asarray(a)
    return np.where(a == 0, 0, ar.exp[(2 * (ar.q - 1) - ar.log[a]) % (2 * (ar.q - 1))]).astype(
        dtype(ar)
    )


def digit(ar: Table, x: Any, i: Any) -> Any:
    """Return digit i of a spread lane in odd characteristic, not reduced."""
    return (np.uint64(x) >> ar.places[i]) & ((np.uint64(1) << ar.digits) - np.uint64(1))


def scalar_value(ar: Table, x: Any) -> Any:
    """Return the field element that a lane stands for."""
    if ar.p == 2:
        return np.uint64(x)
    total = np.uint64(0)
    for i in range(ar.k - 1, -1, -1):
        f = digit(ar, x, i)
        # Barrett: the quotient is short by at most one.
        r = f - ((f * ar.reciprocal) >> np.uint64(32)) * ar.p
        total = total * ar.p + (r - ar.p if r >= ar.p else r)
    return total


def scalar_neg(ar: Table, a: Any) -> Any:
    """Return −a."""
    return np.uint64(ar.exp[ar.minus[a]])


def scalar_mul(ar: Table, a: Any, b: Any) -> Any:
    """Return a · b."""
    return np.uint64(ar.exp[np.int64(ar.log[a]) + np.int64(ar.log[b])])


def scalar_inv(ar: Table, a: Any) -> Any:
    """Return 1 / a for a ≠ 0."""
    return np.uint64(ar.exp[ar.q - 1 - np.int64(ar.log[a])])


def scalar_lift(ar: Table, a: Any) -> Any:
    """Return a field element in lane form."""
    return ar.lanes[a]


def row_axpy(ar: Table, w: NDArray[Any], rows: NDArray[Any], s: int, c: Any) -> None:
    """Add c · rows[s] to the working row; spends one unit of the budget."""
    shift = np.int64(ar.log[c])
    for j in range(w.shape[0]):
        w[j] = joined(ar, w[j], ar.spread[shift + np.int64(ar.log[rows[s, j]])])


def joined(ar: Table, x: Any, y: Any) -> Any:
    """Return the sum of two lanes, not reduced."""
    return x ^ y if ar.p == 2 else x + y


def row_settle(ar: Table, w: NDArray[Any]) -> None:
    """Bring the working row to normal form, which restores the budget."""
    for j in range(w.shape[0]):
        w[j] = ar.lanes[scalar_value(ar, w[j])]


def row_lower(ar: Table, rows: NDArray[Any], s: int, w: NDArray[Any], c: Any) -> None:
    """Store c · w as rows[s]; w must be settled."""
    for j in range(w.shape[0]):
        rows[s, j] = scalar_mul(ar, scalar_value(ar, w[j]), c)


def panel_factors(
    ar: Table, W: NDArray[Any], j: int, A: NDArray[Any], i: int, seen: NDArray[Any]
) -> None:
    """Let A[i] be the factors (logarithms) that clear column j of the rows that are seen."""
    for b in range(A.shape[1]):
        A[i, b] = ar.minus[scalar_value(ar, W[j, b])] if seen[b] != 0 else ar.nil


def panel_axpy(
    ar: Table, W: NDArray[Any], columns: NDArray[Any], rows: NDArray[Any], s: int, a: NDArray[Any]
) -> None:
    """Add the multiple of rows[s] by the factor a[b] to row b of the panel, in these columns."""
    products = ar.spread[ar.log[rows[s, columns]][:, None] + a]
    W[columns] = W[columns] ^ products if ar.p == 2 else W[columns] + products
