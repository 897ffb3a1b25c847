"""Coins: the shared randomness that two runs must have in common.

A replicable learner is a deterministic function of the data and of *published* coins. These
coins are stateless: each draw is a function of the seed's text and the name of the decision
alone, so that no decision ever shifts another, on any platform, in any version.
"""

from __future__ import annotations

import hashlib
import operator
import secrets
from collections.abc import Iterator
from typing import Any

import numpy as np

from flagstone.algebra import Field, FieldLike, as_field
from flagstone.checks import checked_integer
from flagstone.errors import InputError

_DOMAIN = b"flagstone coins v1"


class Coins:
    """Named, platform-stable shared randomness.

    The stream of a name is SHA-256 in counter mode: block ``i`` (counted from 0) is the
    digest of ``b"flagstone coins v1"``, the UTF-8 text of the seed, the UTF-8 name, and
    ``i``; each of seed and name preceded by its length in bytes, and lengths and ``i``
    written as 8-byte big-endian integers. Everything below reads that stream from its
    start:

    - ``uniform``: the first 8 bytes as a big-endian integer, its top 53 bits over 2^53;
    - ``integers``: words of as many whole bytes as ``n - 1`` needs, big-endian, cut down to
      the bit length of ``n - 1`` by dropping low bits; the first one below ``n`` counts;
    - ``vector``: the same, one accepted word after the other.

    Parameters
    ----------
    seed : int or str
        The published seed. Its text is what counts: ``7`` and ``"7"`` are the same seed.

    Examples
    --------
    Draws are functions of (seed, name): no order, no state.

    >>> from flagstone import Coins
    >>> coins = Coins(2026)
    >>> coins.uniform("threshold") == Coins("2026").uniform("threshold")
    True
    >>> coins.integers("die", 6) in range(6)
    True
    >>> coins.vector("tie-break", 5, 4).shape
    (4,)
    """

    __slots__ = ("seed",)

    seed: str

    def __init__(self, seed: int | str) -> None:
        object.__setattr__(self, "seed", _seed_text(seed))

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("Coins are immutable: make new ones with Coins(seed)")

    def __repr__(self) -> str:
        return f"Coins({self.seed!r})"

    def __eq__(self, other: object) -> bool:
        return self.seed == other.seed if isinstance(other, Coins) else NotImplemented

    def __hash__(self) -> int:
        return hash((Coins, self.seed))

    def __reduce__(self) -> tuple[type[Coins], tuple[str]]:
        return Coins, (self.seed,)

    def uniform(self, name: str) -> float:
        """Draw a float uniform on [0, 1), a multiple of 2^-53."""
        word = int.from_bytes(next(self._blocks(name))[:8], "big")
        return (word >> 11) * 2.0**-53

    def integers(self, name: str, n: int) -> int:
        """Draw an integer uniform on {0, …, n − 1}, without bias, for any n ≥ 1."""
        bound = checked_integer(n, 1, "n must be a positive integer")
        return next(self._below(name, bound))

    def vector(self, name: str, field: FieldLike, length: int) -> np.ndarray[Any, Any]:
        """Draw a vector uniform on F^length, as an array of the field's dtype.

        Refused over the rationals, which carry no uniform distribution.
        """
        F: Field = as_field(field)
        if F.order is None:
            raise InputError("there is no uniform vector over QQ; choose a finite field")
        size = checked_integer(length, 0, "the length of a vector must be a whole number ≥ 0")
        draws = self._below(name, F.order)
        return np.fromiter((next(draws) for _ in range(size)), dtype=F.dtype, count=size)

    def _below(self, name: str, n: int) -> Iterator[int]:
        bits = (n - 1).bit_length()
        if bits == 0:
            while True:
                yield 0
        size = (bits + 7) // 8
        buffer = b""
        for block in self._blocks(name):
            buffer += block
            usable = len(buffer) - len(buffer) % size
            for start in range(0, usable, size):
                word = int.from_bytes(buffer[start : start + size], "big") >> (8 * size - bits)
                if word < n:
                    yield word
            buffer = buffer[usable:]

    def _blocks(self, name: str) -> Iterator[bytes]:
        if not isinstance(name, str):
            raise InputError(f"a draw is named by text, got {name!r}")
        prefix = _DOMAIN
        for text in (self.seed, name):
            data = text.encode()
            prefix += len(data).to_bytes(8, "big") + data
        counter = 0
        while True:
            yield hashlib.sha256(prefix + counter.to_bytes(8, "big")).digest()
            counter += 1


def fresh_seed() -> str:
    """Draw a new seed from the system's entropy; publish it to be replicable."""
    return str(secrets.randbits(63))


def _seed_text(seed: int | str) -> str:
    if isinstance(seed, Coins):
        return seed.seed
    if isinstance(seed, str):
        try:
            seed.encode()
        except UnicodeEncodeError:
            raise InputError(
                f"a seed must be a text that can be published, got {seed!r}, which is not valid "
                "Unicode"
            ) from None
        return seed
    if not isinstance(seed, (bool, np.bool_)):
        try:
            return str(operator.index(seed))
        except TypeError:
            pass
    raise InputError(
        f"a seed must be an integer or a text that can be published, got {seed!r} "
        f"({type(seed).__name__}); use for example random_state=2026"
    )
