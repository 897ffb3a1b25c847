"""Sums: checks that are additive, not linear, found on the rows themselves.

Of a sum with carries only the lowest bit is linear over GF(2), so equations show one bit of it.
The sum itself is seen at once when it is tried: the difference of check and sum is constant.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from flagstone.digests.digest import Digest, span_text
from flagstone.digests.registers import CERTAIN
from flagstone.digests.relations import rank
from flagstone.fields import Array

__all__ = ["Sum", "name_sum"]

#: Rows that every candidate is tried on, before the best are tried on all.
_SCREEN = 64
#: A sum must fit this share of the rows.
_SHARE = 0.9
#: log2 of the number of sums that are tried, at most.
_CANDIDATES = 16
#: Frames with more bytes are not searched.
_LONGEST = 128

#: Width of the check, of what is added, and whether the lowest byte stands first.
_KINDS = (
    (8, 8, False),
    (8, 4, False),
    (4, 4, False),
    (16, 8, False),
    (16, 8, True),
    (16, 16, False),
    (16, 16, True),
)
_WORDS = {4: "nibbles", 8: "bytes", 16: "16-bit words"}


@dataclass(frozen=True)
class Sum:
    """check = constant ± the sum of units, modulo 2^w, or 2^w − 1 where carries come around.

    Examples
    --------
    >>> import numpy as np
    >>> rule = Sum((16, 24), 8, (0, 16), 8, 1, 256, 0)
    >>> X = np.unpackbits(np.array([[200, 100, 44], [1, 2, 4]], dtype=np.uint8), axis=1)
    >>> rule.broken(X).tolist()
    [False, True]
    """

    check: tuple[int, int]
    width: int
    data: tuple[int, int]
    unit: int
    sign: int
    modulus: int
    constant: int
    little: bool = False
    zero: int = 0

    def broken(self, X: Array) -> Array:
        """Say of each row of bits whether its check is wrong."""
        columns = [i for i in range(*self.data) if not self.check[0] <= i < self.check[1]]
        total = units(X[:, columns], self.unit, self.little and self.unit == 16).sum(axis=1)
        value = (self.constant + self.sign * total) % self.modulus
        value[value == 0] = self.zero
        check = units(X[:, range(*self.check)], self.width, self.little)[:, 0]
        return np.asarray(value != check)


def units(X: Array, size: int, little: bool = False) -> Array:
    """Return the bits of rows as numbers of so many bits, shape (n_rows, n_units).

    >>> import numpy as np
    >>> units(np.array([[1, 0, 1, 0, 0, 0, 1, 1]]), 4).tolist()
    [[10, 3]]
    """
    parts = X.reshape(len(X), X.shape[1] // size, size).astype(np.int64)
    if little and size == 16:
        parts = np.concatenate([parts[:, :, 8:], parts[:, :, :8]], axis=2)
    weights: Array = np.int64(1) << np.arange(size - 1, -1, -1)
    return np.asarray(parts @ weights)


def name_sum(names: Sequence[str], X: Array) -> Digest | None:
    """Name a check that is a sum with carries; None where there is none.

    Parameters
    ----------
    names : sequence of str
        Of the columns.
    X : array of shape (n_rows, d)
        Rows of bits: the first of many will do, the digest counts all.
    """
    if X.shape[1] > 8 * _LONGEST or len(X) < 4:
        return None
    found = []
    screen = X[:: max(1, len(X) // _SCREEN)][:_SCREEN]
    for rule in _candidates(screen):
        fits = ~rule.broken(X)
        if fits.mean() < _SHARE:
            continue
        rows = X[fits]
        data = [i for i in range(*rule.data) if not rule.check[0] <= i < rule.check[1]]
        free = rank((rows[1:] ^ rows[0])[:, data])
        if rule.width * free < _CANDIDATES + rule.width + CERTAIN:
            continue
        length = rule.data[1] - rule.data[0]
        plain = (rule.constant != 0, rule.sign < 0, rule.modulus % 2, -length, rule.unit)
        # the widest check, the most rows; of bytes that add up to a constant each may be the check:
        # then the last; then the plainest formula
        order = (-rule.width, -int(fits.sum()), -rule.check[0], *plain)
        found.append((order, rule, rule.width * free))
    if not found:
        return None
    _, rule, bits = min(found, key=lambda entry: entry[0])
    return _described(names, rule, bits)


def _candidates(X: Array) -> Iterator[Sum]:
    """Return the sums whose difference to the check is one constant in most of a few rows."""
    for width, unit, little in _KINDS:
        for start in range(0, X.shape[1] - width + 1, min(width, 8)):
            end = start + width
            check = units(X[:, start:end], width, little)
            if (check == check[0]).all():
                continue
            places, totals = _totals(X, start, end, unit, little and unit == 16)
            for sign in (1, -1):
                for modulus in (1 << width, (1 << width) - 1):
                    found = _common((check - sign * totals) % modulus)
                    zeros = (0,) if modulus % 2 == 0 else (modulus, 0)
                    for (i, constant), zero in product(found, zeros):
                        data = places[i]
                        yield Sum(
                            (start, end), width, data, unit, sign, modulus, constant, little, zero
                        )


def _totals(
    X: Array, start: int, end: int, unit: int, little: bool
) -> tuple[list[tuple[int, int]], Array]:
    """Return what a sum may cover, and the sums: up to the check, from it on, or all around it."""
    first, last = start % unit, end + (X.shape[1] - end) // unit * unit
    before = units(X[:, first:start], unit, little)[:, ::-1].cumsum(axis=1)
    after = units(X[:, end:last], unit, little).cumsum(axis=1)
    places = [(start - unit * (i + 1), start) for i in range(before.shape[1])]
    places += [(end, end + unit * (i + 1)) for i in range(after.shape[1])]
    totals = np.concatenate([before, after], axis=1)
    if first == 0 and last == X.shape[1] and start and last > end:
        places.append((0, last))
        totals = np.concatenate([totals, before[:, -1:] + after[:, -1:]], axis=1)
    return places, totals


def _common(values: Array) -> list[tuple[int, int]]:
    """Return the columns most of whose values are one, with it; the first few rows show it."""
    found: dict[int, int] = {}
    for row in values[:5]:
        for i in np.flatnonzero((values == row).mean(axis=0) >= _SHARE - 0.1).tolist():
            found.setdefault(i, int(row[i]))
    return sorted(found.items())


def _described(names: Sequence[str], rule: Sum, bits: int) -> Digest:
    carry = rule.modulus % 2 == 1
    data = span_text(
        names, [i for i in range(*rule.data) if not rule.check[0] <= i < rule.check[1]]
    )
    digits = rule.width // 4
    start = f"0x{rule.constant:0{digits}x}"
    sign = "−" if rule.sign < 0 else "+"
    head = f"{start} {sign} " if rule.constant or rule.sign < 0 else ""
    name = f"{'minus the ' if rule.sign < 0 else ''}sum of {_WORDS[rule.unit]}, {rule.width} bits"
    name += ", with end-around carry" if carry else ""
    formula = (
        f"additive, not linear: {head}sum of the {_WORDS[rule.unit]} of {data}, modulo "
        f"{rule.modulus}"
    )
    if carry:
        formula += f" (0 written as 0x{rule.zero:0{digits}x})"
    if rule.little:
        formula += ", lowest byte first"
    return Digest(
        "sum",
        name,
        tuple(names[i] for i in range(*rule.check)),
        {
            "width": rule.width,
            "unit": rule.unit,
            "sign": rule.sign,
            "modulus": rule.modulus,
            "constant": start,
            "carry": "end-around" if carry else "dropped",
            "byte_order": ("little" if rule.little else "big") if rule.width > 8 else None,
            "data": data,
        },
        formula,
        bits,
        rule,
    )
