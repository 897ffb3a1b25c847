"""Shift registers: polynomial and key of a digest, computed from the map itself, without a search.

A register adds κ·x^e modulo p for every data bit that is 1, where e is its distance from the last
bit; CRCs and the LFSR digests of radio sensors are such. So δ(x)·κ = γ(x) modulo p for the
data δ and the check bits γ of every direction. Then p divides δ₁γ₂ + δ₂γ₁ for every two
directions, and the greatest common divisor of these is p, or says that there is none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, reduce
from itertools import pairwise

import numpy as np

from flagstone.algebra import Array
from flagstone.frames.digests.frame import Frame, rank
from flagstone.frames.digests.polynomials import (
    gcd,
    inverse,
    mirrored,
    modulo,
    power,
    quotient,
    times,
)

#: A name must be less likely to fit by chance than 2 to the minus this many.
CERTAIN = 20
#: log2 of the registers that are tried: layouts, places of the check, names of one frame.
CANDIDATES = 16
#: This many directions refuse nearly all that does not fit.
_FEW = 6
#: A common divisor may be longer than p by this many bits, where the data obey equations.
_SLACK = 8

#: What an order of data bits is called when it is read backwards.
MIRRORED = {
    "as written": "last bit first",
    "last bit first": "as written",
    "lowest bit of each byte first": "last byte first",
    "last byte first": "lowest bit of each byte first",
    "low nibble of each byte first": "last bit first, high nibble of each byte first",
    "last bit first, high nibble of each byte first": "low nibble of each byte first",
}


@dataclass(frozen=True)
class ByteLayout:
    """Which columns enter a register, in which order, and where its bits stand.

    Attributes
    ----------
    data : tuple of int
        Columns in the order in which they enter; −1 for a place that holds a zero.
    word : tuple of int
        Check columns, from the highest bit of the register down.
    order : str
        How the data bits are ordered.
    little : bool
        Whether the bytes of the check stand lowest first.
    filled : bool
        Whether the last data bits enter in the place of the check.
    swapped : bool
        Whether the nibbles of the check stand in the opposite order.
    """

    data: tuple[int, ...]
    word: tuple[int, ...]
    order: str
    little: bool = False
    filled: bool = False
    swapped: bool = False

    def covered(self, skipped: int = 0) -> list[int]:
        """Return the columns that enter, without the first ones, this many."""
        return [i for i in self.data[skipped:] if i >= 0]

    @property
    def moved(self) -> list[int]:
        """The data bits that enter in the place of the check."""
        return sorted(self.data)[-self.width :] if self.filled else []

    @property
    def width(self) -> int:
        """The number of check bits."""
        return len(self.word)


@dataclass(frozen=True)
class Register:
    """A register that fits: polynomial with its highest term, and the key κ of the last bit.

    ``backwards`` says that the layout is the opposite of the one that was found.
    """

    layout: ByteLayout
    poly: int
    key: int
    backwards: bool = False

    def mirrored(self) -> Register:
        """Return the same register with its bits, and the order of the data, turned around."""
        w, n, layout = self.layout.width, len(self.layout.data), self.layout
        poly = mirrored(self.poly, w + 1)
        key = _mirrored_key(self.key, poly, w, n)
        turned = replace(
            layout,
            data=layout.data[::-1],
            word=layout.word[::-1],
            order=MIRRORED[layout.order],
        )
        return Register(turned, poly, key, not self.backwards)

    def keys(self) -> list[int]:
        """Return what each data bit adds, in the order of the layout."""
        out, value = [], self.key
        for _ in self.layout.data:
            out.append(value)
            value = modulo(value << 1, self.poly)
        return out[::-1]


def layouts(frame: Frame, columns: Sequence[int], whole: bool = False) -> Iterator[ByteLayout]:
    """Return every layout worth trying for check columns: range, order, byte order.

    ``whole``: only those of all other columns.
    """
    chosen = set(columns)
    slots = [-1 if i in chosen else i for i in range(frame.dim)]
    seen: set[tuple[tuple[int, ...], bool]] = set()
    for start, end in [(0, frame.dim)] if whole else ranges(frame, tuple(columns)):
        held = slots[start:end]
        kinds = ([i for i in held if i >= 0], held, _filled(held, len(columns)))
        for kind, data in enumerate(kinds[:1] if whole else kinds):
            if not data or data[0] < 0 or data[-1] < 0:
                continue  # a place at an end is no gap
            for order, arranged in _orders(data):
                for little in (False, True) if len(columns) in (16, 24, 32) else (False,):
                    key = (arranged, little)
                    if key not in seen:
                        seen.add(key)
                        yield ByteLayout(arranged, _word(columns, little), order, little, kind == 2)


def swapped_layouts(frame: Frame, columns: Sequence[int]) -> Iterator[ByteLayout]:
    """Return layouts of a byte with swapped nibbles: in the check, in the data, or in both."""
    for data in data_ranges(frame, tuple(columns)):
        if len(data) % 8 or not data:
            continue
        turned = tuple(columns[4:]) + tuple(columns[:4])
        for order, arranged in _orders(data):
            if order != "last bit first":
                yield ByteLayout(arranged, turned, order, swapped=True)
        order = "low nibble of each byte first"
        low = tuple(
            i for b in range(0, len(data), 8) for i in (*data[b + 4 : b + 8], *data[b : b + 4])
        )
        yield ByteLayout(low, turned, order, swapped=True)
        yield ByteLayout(low, tuple(columns), order)


def _filled(held: list[int], w: int) -> list[int]:
    """Return data whose last bits take the place of the check, so that it ends with it."""
    place = held.index(-1) if -1 in held else len(held)
    rest = held[place + w :]
    return [*held[:place], *rest[-w:], *rest[:-w]] if len(rest) > w else []


def _word(columns: Sequence[int], little: bool) -> tuple[int, ...]:
    if not little:
        return tuple(columns)
    parts = [tuple(columns[i : i + 8]) for i in range(0, len(columns), 8)]
    return tuple(i for part in reversed(parts) for i in part)


def _orders(data: Sequence[int]) -> Iterator[tuple[str, tuple[int, ...]]]:
    yield "as written", tuple(data)
    yield "last bit first", tuple(reversed(data))
    if len(data) % 8 == 0:
        parts = [tuple(data[i : i + 8]) for i in range(0, len(data), 8)]
        yield "lowest bit of each byte first", tuple(i for part in parts for i in part[::-1])
        yield "last byte first", tuple(i for part in reversed(parts) for i in part)


@lru_cache(maxsize=256)  # every kind of digest asks for the same
def ranges(frame: Frame, columns: tuple[int, ...]) -> list[tuple[int, int]]:
    """Return ranges of columns that settle the check bits: everything, and as little as can be.

    A copy of a check bit must not explain it, unless nothing else does.
    """
    chosen, copies = set(columns), frame.copies(columns)
    others = [i for i in range(frame.dim) if i not in chosen and i not in copies]
    n_last = frame.needed(columns, others[::-1])
    if n_last is None:
        others = [i for i in range(frame.dim) if i not in chosen]
        n_last = frame.needed(columns, others[::-1])
    if not n_last:
        return []  # nothing settles them, or they are constant
    others = others[-n_last:]
    first, last = others[0], others[(frame.needed(columns, others) or 0) - 1] + 1
    starts = dict.fromkeys([0, first // 8 * 8, first])
    ends = dict.fromkeys([frame.dim, -(-last // 8) * 8, last])
    found = [(start, end) for start in starts for end in ends if end <= frame.dim]
    before = range(columns[0])  # a few frames show more than one range
    if last > columns[-1] and frame.settle(columns, [i for i in before if i not in copies]):
        found.append((0, columns[0]))
    return found


def data_ranges(frame: Frame, columns: tuple[int, ...]) -> Iterator[list[int]]:
    """Return what :func:`ranges` hold besides the check bits."""
    seen = []
    for start, end in ranges(frame, columns):
        data = [i for i in range(start, end) if i not in columns]
        if data not in seen:
            seen.append(data)
            yield data


def registers(frame: Frame, layout: ByteLayout) -> list[Register]:
    """Return the registers of this layout that give every check bit; none where chance would.

    Examples
    --------
    >>> import numpy as np
    >>> from flagstone import Subspace
    >>> from flagstone.answers import Constraints
    >>> words = np.eye(24, 32, dtype=np.uint8)
    >>> for i in range(24):                                   # CRC-8 with polynomial 0x31
    ...     words[i, 24:] = [int(b) for b in f"{power(31 - i, 0x131):08b}"]
    >>> frame = Frame.of(Constraints.from_subspace(Subspace.span(words)))
    >>> layout = next(layouts(frame, range(24, 32)))
    >>> [(hex(r.poly), r.key == power(8, r.poly)) for r in registers(frame, layout)]
    [('0x131', True)]
    """
    w = layout.width
    # directions that begin late, or end early, are of low degree: a few refuse most layouts, soon
    few = _pairs(_few(frame, layout.word, layout.order.startswith("last")), layout)
    if few is None or (few and _common(few, w) is None):
        return []
    pairs = _pairs(frame.padded, layout)
    if pairs is None or not any(b for _, b in pairs):
        return []
    polynomials = _polynomials(pairs, w)
    free = rank(frame.directions[:, layout.covered()])
    needed = 2 * w + CANDIDATES + CERTAIN
    if not polynomials or w * free < needed:
        return []
    found = []
    for poly in polynomials:
        key = _key(pairs, poly, w, len(layout.data))
        if key is not None:
            found.append(Register(layout, poly, key))
    return [register for register in found if w * _n_inputs(frame, register) >= needed]


def _n_inputs(frame: Frame, register: Register) -> int:
    entered = [(i, k) for i, k in zip(register.layout.data, register.keys(), strict=True) if i >= 0]
    return frame.n_inputs([i for i, _ in entered], [key for _, key in entered])


@lru_cache(maxsize=256)  # the same for many layouts
def _few(frame: Frame, word: tuple[int, ...], backwards: bool) -> Array:
    """Return a few directions, of low degree, in which the check is not zero."""
    bits = frame.echelons[backwards]
    return bits[np.flatnonzero(bits[:, list(word)].any(axis=1))[-_FEW:]]


def _pairs(bits: Array, layout: ByteLayout) -> list[tuple[int, int]] | None:
    """Return data and check of directions as polynomials; None for a check without data."""
    inputs, outputs = _numbers(bits[:, list(layout.data)]), _numbers(bits[:, list(layout.word)])
    pairs = [(a, b) for a, b in zip(inputs, outputs, strict=True) if a or b]
    return None if any(not a for a, _ in pairs) else pairs


def _common(pairs: list[tuple[int, int]], w: int) -> int | None:
    """Return what every polynomial that fits divides, 0 for anything; None where none fits."""
    common, (a, b) = 0, pairs[0]
    for i, ((c, d), (e, f)) in enumerate(pairwise(pairs)):
        common = gcd(common, times(c, f) ^ times(e, d))
        if i:
            common = gcd(common, times(a, f) ^ times(e, b))
        if common:
            common = _odd(common)
            if common.bit_length() <= w:
                return None
    return common


def _polynomials(pairs: list[tuple[int, int]], w: int) -> list[int]:
    common = _common(pairs, w)
    if not common:
        return []
    excess = common.bit_length() - 1 - w
    if excess > _SLACK:
        return _beside(common, _odd(reduce(gcd, (a for a, _ in pairs))), w)
    factors = [q for q in range(1 << excess, 2 << excess) if not modulo(common, q)]
    return sorted({quotient(common, q) for q in factors})


def _beside(common: int, shared: int, w: int) -> list[int]:
    """Return polynomials of this width where all data share a factor, as data sent twice do.

    What is left without it lacks the factors that p has in common with it.
    """
    left = quotient(common, shared)
    missing = w + 1 - left.bit_length()
    if not 0 <= missing <= _SLACK:
        return []
    factors = [q for q in range(1 << missing, 2 << missing) if not modulo(shared, q)]
    return [times(left, q) for q in factors]


def _odd(a: int) -> int:
    """Return a polynomial without its factors x: x itself is never a factor of p."""
    return a >> (a & -a).bit_length() - 1


def _key(pairs: list[tuple[int, int]], poly: int, w: int, n_data: int) -> int | None:
    """Return a key that gives every check: that of a CRC, or what one direction says.

    A check inside the data may leave no direction that can be inverted, but CRCs are known.
    """
    turned = power(w, mirrored(poly, w + 1))
    keys = [power(w, poly), _mirrored_key(turned, poly, w, n_data)]
    for a, b in pairs:
        if (inverted := inverse(a, poly)) is not None:
            keys.append(modulo(times(inverted, b), poly))
            break
    for key in keys:
        if all(modulo(times(a, key), poly) == b for a, b in pairs):
            return key
    return None


def _mirrored_key(key: int, poly: int, w: int, n_data: int) -> int:
    """Return the key of the mirrored register, whose polynomial this is."""
    return modulo(times(power(1 - n_data, poly), mirrored(key, w)), poly)


def _numbers(bits: Array) -> list[int]:
    shift = -bits.shape[1] % 8
    packed = np.packbits(bits, axis=1)
    return [int.from_bytes(row.tobytes(), "big") >> shift for row in packed]
