"""Sums: checks that are additive, not linear, found on the rows themselves.

Of a sum with carries only the lowest bit is linear over GF(2), so equations show one bit of it.
The sum itself is seen at once when it is tried: the difference of check and sum is constant.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

import numpy as np

from flagstone.algebra.fields import Array
from flagstone.answers.relations import rank
from flagstone.frames.digests.digest import RULES, Digest, names_of, span_text
from flagstone.frames.digests.registers import CERTAIN

#: Rows that every candidate is tried on, before the best are tried on all.
_SCREEN = 64
#: A sum must fit this share of the rows.
_SHARE = 0.9
#: log2 of the number of sums that are tried, at most.
_CANDIDATES = 21
#: So many sums of one frame are named.
_MOST = 2
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
    """check = constant ± the sum of units, modulo 2^w, or 2^w − 1 where carries come around; ⊕ xor.

    ``turned`` says that the lowest bit of each byte, or nibble, stands first.

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
    turned: bool = False
    xor: int = 0

    @property
    def columns(self) -> list[int]:
        """The data."""
        return [i for i in range(*self.data) if not self.check[0] <= i < self.check[1]]

    def broken(self, X: Array) -> Array:
        """Say of each row of bits whether its check is wrong."""
        added = units(X[:, self.columns], self.unit, self.little and self.unit == 16, self.turned)
        value = (self.constant + self.sign * added.sum(axis=1)) % self.modulus
        value[value == 0] = self.zero
        check = units(X[:, range(*self.check)], self.width, self.little, self.turned)[:, 0]
        return np.asarray(value ^ self.xor != check)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], dim: int) -> Sum:
        """Read what :meth:`to_dict` wrote."""
        pairs = {name: tuple(values[name]) for name in ("check", "data")}
        if any(not 0 <= place <= dim for pair in pairs.values() for place in pair):
            raise ValueError("a sum of bits that these rows do not have")
        return cls(**{**values, **pairs})

    def varying(self, varies: Array) -> tuple[int, frozenset[int]]:
        """Return how many units vary, and all columns that do, with the check."""
        shown = varies[self.columns].reshape(-1, self.unit).any(axis=1)
        columns = [*self.columns, *range(*self.check)]
        return int(shown.sum()), frozenset(i for i in columns if varies[i])


RULES["sum"] = Sum


def units(X: Array, size: int, little: bool = False, turned: bool = False) -> Array:
    """Return the bits of rows as numbers of so many bits, shape (n_rows, n_units).

    >>> import numpy as np
    >>> units(np.array([[1, 0, 1, 0, 0, 0, 1, 1]]), 4).tolist()
    [[10, 3]]
    >>> units(np.array([[1, 0, 1, 0, 0, 0, 1, 1]]), 4, turned=True).tolist()
    [[5, 12]]
    """
    parts = X.reshape(len(X), X.shape[1] // size, size).astype(np.int64)
    if turned:
        inner = parts.reshape(len(X), -1, min(size, 8))[:, :, ::-1]
        parts = inner.reshape(parts.shape)
    if little and size == 16:
        parts = np.concatenate([parts[:, :, 8:], parts[:, :, :8]], axis=2)
    weights: Array = np.int64(1) << np.arange(size - 1, -1, -1)
    return np.asarray(parts @ weights)


def name_sums(
    names: Sequence[str], X: Array, taken: Collection[int] = (), copied: Collection[int] = ()
) -> list[Digest]:
    """Name checks that are sums with carries; none where there is none.

    Parameters
    ----------
    names : sequence of str
        Of the columns.
    X : array of shape (n_rows, d)
        Rows of bits: the first of many will do, the digest counts all.
    taken : collection of int
        Columns that hold another check.
    copied : collection of int
        Columns that equal another one, or its opposite. A byte and its complement add up to a
        constant without being a check, so half the check must be none of these.
    """
    if X.shape[1] > 8 * _LONGEST or len(X) < 4:
        return []
    found = []
    varies = np.asarray(X.any(axis=0) & ~X.all(axis=0))
    screen = X[:: max(1, len(X) // _SCREEN)][:_SCREEN]
    for rule in _candidates(screen):
        check = set(range(*rule.check))
        if check.isdisjoint(taken) and 2 * len(check.intersection(copied)) < rule.width:
            fits = ~rule.broken(X)
            n_units, columns = rule.varying(varies)
            if fits.mean() < _SHARE or n_units < 2:
                continue
            moved = X[fits][1:] ^ X[fits][0]
            parts = units(moved[:, range(*rule.check)], min(8, rule.width))
            if not parts.any(axis=0).all():
                continue  # a constant byte before a sum of 8 bits is no part of it
            free = rank(moved[:, rule.columns])
            if rule.width * free >= _CANDIDATES + rule.width + CERTAIN:
                found.append((_order(rule, int(fits.sum())), rule, rule.width * free, columns))
    kept: list[tuple[Sum, int]] = []
    seen: list[frozenset[int]] = []
    for _, rule, bits, columns in sorted(found, key=lambda entry: entry[0]):
        # of bytes that add up to a constant each may be the check: that is one sum, not many
        other = set(range(*rule.check))
        if columns not in seen and not any(other & set(range(*a.check)) for a, _ in kept):
            kept.append((rule, bits))
        seen.append(columns)
    return [_described(names, rule, bits) for rule, bits in kept[:_MOST]]


def _order(rule: Sum, n_fit: int) -> tuple[int, ...]:
    """The widest check, the most rows, the last place, then the plainest formula."""
    length = rule.data[1] - rule.data[0]
    strange = (rule.xor != 0, rule.turned, rule.constant != 0, rule.sign < 0, rule.modulus % 2)
    return (-rule.width, -n_fit, -rule.check[0], *map(int, strange), -length, rule.unit)


def _candidates(X: Array) -> Iterator[Sum]:
    """Return the sums whose difference to the check is one constant in most of a few rows.

    Bytes are counted from the first bit, and so that they end with the last one.
    """
    for phase, turned in product(dict.fromkeys([0, X.shape[1] % 8]), (False, True)):
        Y = X[:, phase:]
        for width, unit, little in _KINDS:
            for start in range(0, Y.shape[1] - width + 1, min(width, 8)):
                end = start + width
                check = units(Y[:, start:end], width, little, turned)
                if (check == check[0]).all():
                    continue
                places, totals = _totals(Y, start, end, unit, little and unit == 16, turned)
                for sign, modulus, i, constant, zero, xor in _constants(check, totals, width):
                    data = (places[i][0] + phase, places[i][1] + phase)
                    where = (start + phase, end + phase)
                    given = (where, width, data, unit, sign, modulus, constant, little, zero)
                    yield Sum(*given, turned, xor)


def _constants(
    check: Array, totals: Array, width: int
) -> Iterator[tuple[int, int, int, int, int, int]]:
    """Return sign, modulus, place, constant, how 0 is written, and what is added bit by bit."""
    for sign, modulus in product((1, -1), (1 << width, (1 << width) - 1)):
        zeros = (0,) if modulus % 2 == 0 else (modulus, 0)
        for (i, constant), zero in product(_common((check - sign * totals) % modulus), zeros):
            yield sign, modulus, i, constant, zero, 0
    for i, xor in _common(check ^ totals % (1 << width)):
        if xor:
            yield 1, 1 << width, i, 0, 0, xor


def _totals(
    X: Array, start: int, end: int, unit: int, little: bool, turned: bool
) -> tuple[list[tuple[int, int]], Array]:
    """Return what a sum may cover, and the sums: what ends at the check or begins the frame.

    Likewise what begins after the check or ends the frame, and all around it.
    """
    first, last = start % unit, end + (X.shape[1] - end) // unit * unit
    places: list[tuple[int, int]] = []
    totals: list[Array] = []
    for low, high in ((first, start), (end, last)):
        added = units(X[:, low:high], unit, little, turned)
        n = added.shape[1]
        places += [(low, low + unit * (i + 1)) for i in range(n)]
        places += [(high - unit * (i + 1), high) for i in range(n - 1)]
        totals += [added.cumsum(axis=1), added[:, ::-1].cumsum(axis=1)[:, : max(0, n - 1)]]
    if first == 0 and start and last > end:
        places.append((0, last))
        before, after = (
            units(part, unit, little, turned) for part in (X[:, :start], X[:, end:last])
        )
        totals.append((before.sum(axis=1) + after.sum(axis=1))[:, np.newaxis])
    return places, np.concatenate(totals, axis=1)


def _common(values: Array) -> list[tuple[int, int]]:
    """Return the columns most of whose values are one, with it; the first few rows show it."""
    found: dict[int, int] = {}
    for row in values[:5]:
        for i in np.flatnonzero((values == row).mean(axis=0) >= _SHARE - 0.1).tolist():
            found.setdefault(i, int(row[i]))
    return sorted(found.items())


def _described(names: Sequence[str], rule: Sum, bits: int) -> Digest:
    carry = rule.modulus % 2 == 1
    data = span_text(names, rule.columns)
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
    if rule.xor:
        formula += f", then ⊕ 0x{rule.xor:0{digits}x}"
    if rule.little:
        formula += ", lowest byte first"
    if rule.turned:
        formula += ", lowest bit first"
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
            "xorout": f"0x{rule.xor:0{digits}x}",
            "carry": "end-around" if carry else "dropped",
            "byte_order": ("little" if rule.little else "big") if rule.width > 8 else None,
            "order": "lowest bit first" if rule.turned else "as written",
            "data": names_of(names, rule.columns),
        },
        formula,
        bits,
        rule,
    )
