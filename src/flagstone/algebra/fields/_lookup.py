"""The fields by order or by name."""

from __future__ import annotations

import operator
import re
from functools import cache
from typing import Any, cast

from flagstone.algebra.bitrows import BitRows
from flagstone.algebra.fields._base import Field, FieldLike
from flagstone.algebra.fields._binary import BinaryField
from flagstone.algebra.fields._finite import FiniteField
from flagstone.algebra.fields._rational import RationalField
from flagstone.checks import shown
from flagstone.errors import InputError, Parameter

_LARGEST_PRIME = 2**31
_LARGEST_EXTENSION = 2**16
_SIZES = "primes go up to 2^31, prime powers to 2^16"

QQ: Field = RationalField()


def GF(order: int) -> Field:
    """Return the finite field of the given order.

    Parameters
    ----------
    order : int
        A prime below 2^31, or a prime power of at most 2^16.

    Examples
    --------
    >>> from flagstone import GF
    >>> GF(2), GF(11), GF(256)
    (GF(2), GF(11), GF(2^8))
    >>> GF(6)
    Traceback (most recent call last):
    ...
    flagstone.errors.InputError: there is no field of order 6 = 2 · 3; the order must be a prime \
or a prime power
    """
    try:
        q = operator.index(order)
    except TypeError:
        raise InputError(f"the order of a field must be an integer, got {order!r}") from None
    return _finite_field(q)


@cache
def _finite_field(q: int) -> Field:
    if q < 2:
        raise InputError(f"the order of a field must be at least 2, got {shown(q)}")
    if q >= _LARGEST_PRIME:
        raise InputError(f"GF({shown(q)}) is too large: {_SIZES}")
    p = _smallest_factor(q)
    rest, k = q, 0
    while rest % p == 0:
        rest, k = rest // p, k + 1
    if rest != 1:
        raise InputError(
            f"there is no field of order {q} = {p**k} · {rest}; "
            "the order must be a prime or a prime power"
        )
    if q == 2:
        return BinaryField()
    if k > 1 and q > _LARGEST_EXTENSION:
        raise InputError(f"GF({p}^{k}) is too large: prime powers go up to 2^16 = 65536")
    return FiniteField(p, k)


def pack(X: Any) -> BitRows:
    """Pack a table of zeros and ones into :class:`BitRows`.

    Packing once and updating many times from the packed rows is the fastest way in.

    Examples
    --------
    >>> from flagstone import pack
    >>> pack([[1, 0], [1, 1]]).unpack().tolist()
    [[1, 0], [1, 1]]
    """
    return cast(BitRows, GF(2).rows(X))


def as_field(spec: FieldLike) -> Field:
    """Return a field from a Field, an order, or a text such as ``"QQ"`` or ``"GF(2^8)"``.

    >>> from flagstone.algebra.fields import as_field
    >>> as_field(2), as_field("QQ"), as_field("2^8"), as_field("GF(7)")
    (GF(2), QQ, GF(2^8), GF(7))
    """
    if isinstance(spec, Field):
        return spec
    if isinstance(spec, str):
        return _from_text(spec)
    if isinstance(spec, bool):
        raise InputError(
            Parameter("field"), f" must be an order or a name such as 'QQ', got {spec!r}"
        )
    return GF(spec)


def _from_text(text: str) -> Field:
    plain = re.sub(r"\s", "", text).upper()
    if plain in ("QQ", "Q"):
        return QQ
    match = re.fullmatch(r"(?:GF|F)?\(?(\d{1,12})(?:(?:\^|\*\*)(\d{1,3}))?\)?", plain)
    if match is None:
        raise InputError(
            Parameter("field"),
            f" must be 2, 11, '2^8', 'GF(256)', 'QQ' or the like, got {shown(text)}",
        )
    p, k = int(match[1]), int(match[2] or 1)
    if p > 1 and k * (p.bit_length() - 1) >= 31:  # before the power is written out
        raise InputError(f"the field {text!r} is too large: {_SIZES}")
    return GF(p**k)


def _smallest_factor(n: int) -> int:
    if n % 2 == 0:
        return 2
    f = 3
    while f * f <= n:
        if n % f == 0:
            return f
        f += 2
    return n
