"""Polynomials over GF(2) as Python integers: bit i is the coefficient of xⁱ."""

from __future__ import annotations


def times(a: int, b: int) -> int:
    """Return the product.

    >>> bin(times(0b11, 0b101))      # (x + 1)(x² + 1)
    '0b1111'
    """
    out = 0
    while b:
        if b & 1:
            out ^= a
        a, b = a << 1, b >> 1
    return out


def modulo(a: int, p: int) -> int:
    """Return the remainder of a after division by p.

    >>> modulo(0b1000, 0b1011)       # x³ = x + 1 modulo x³ + x + 1
    3
    """
    length = p.bit_length()
    while (excess := a.bit_length() - length) >= 0:
        a ^= p << excess
    return a


def quotient(a: int, p: int) -> int:
    """Return a divided by p, rounded down."""
    out, length = 0, p.bit_length()
    while (excess := a.bit_length() - length) >= 0:
        a ^= p << excess
        out |= 1 << excess
    return out


def gcd(a: int, b: int) -> int:
    """Return the greatest common divisor.

    >>> gcd(times(0b1011, 0b111), times(0b1011, 0b10)) == 0b1011
    True
    """
    while b:
        length = b.bit_length()  # modulo, written out: nearly all time of a search is spent here
        while (excess := a.bit_length() - length) >= 0:
            a ^= b << excess
        a, b = b, a
    return a


def inverse(a: int, p: int) -> int | None:
    """Return the inverse of a modulo p, or None where they share a factor.

    >>> modulo(times(inverse(0b10, 0b1011), 0b10), 0b1011)
    1
    """
    old, new = (p, 0), (modulo(a, p), 1)
    while new[0]:
        q = quotient(old[0], new[0])
        old, new = new, (old[0] ^ times(q, new[0]), old[1] ^ times(q, new[1]))
    return modulo(old[1], p) if old[0] == 1 else None


def power(exponent: int, p: int) -> int:
    """Return x to the exponent, which may be negative where p has the constant 1, modulo p.

    >>> modulo(times(power(5, 0b1011), power(-5, 0b1011)), 0b1011)
    1
    """
    base = 0b10 if exponent >= 0 else p >> 1
    out, base, left = modulo(1, p), modulo(base, p), abs(exponent)
    while left:
        if left & 1:
            out = modulo(times(out, base), p)
        base, left = modulo(times(base, base), p), left >> 1
    return out


def mirrored(a: int, length: int) -> int:
    """Return the lowest bits in the opposite order.

    >>> hex(mirrored(0x31, 8))
    '0x8c'
    """
    return int(f"{a:0{length}b}"[::-1], 2)
