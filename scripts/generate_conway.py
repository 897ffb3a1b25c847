"""Compute the Conway polynomials of all fields of order ≤ 2^16 and write them down.

    python scripts/generate_conway.py > src/flagstone/algebra/fields/_conway.py

The Conway polynomial C_{p,k} is the first monic polynomial of degree k over GF(p), in the order
below, that is

- *primitive*: the class of x generates the multiplicative group of GF(p)[x] / (C_{p,k}), and
- *norm-compatible*: for every proper divisor m of k, the power x^((p^k − 1) / (p^m − 1)) is a root
  of C_{p,m}.

The order: x^k − a_{k−1} x^{k−1} + a_{k−2} x^{k−2} − … ± a_0 is read as the word a_{k−1} … a_1 a_0,
and words are compared letter by letter, 0 < 1 < … < p − 1.
"""

from __future__ import annotations

import itertools

LARGEST_ORDER = 2**16

Poly = tuple[int, ...]  # coefficients, constant term first


def prime_factors(n: int) -> list[int]:
    """Return the distinct primes that divide n."""
    found = []
    r = 2
    while r * r <= n:
        if n % r == 0:
            found.append(r)
            while n % r == 0:
                n //= r
        r += 1
    return found + [n] if n > 1 else found


def times(a: Poly, b: Poly, f: Poly, p: int) -> Poly:
    """Return a · b modulo the monic polynomial f, as k coefficients."""
    k = len(f) - 1
    product = [0] * (2 * k - 1)
    for i, x in enumerate(a):
        if x:
            for j, y in enumerate(b):
                product[i + j] += x * y
    for i in range(2 * k - 2, k - 1, -1):
        top = product[i] % p
        if top:
            for j in range(k):
                product[i - k + j] -= top * f[j]
    return tuple(c % p for c in product[:k])


def power(a: Poly, n: int, f: Poly, p: int) -> Poly:
    """Return a^n modulo f."""
    result = one(f)
    for bit in bin(n)[2:]:
        result = times(result, result, f, p)
        if bit == "1":
            result = times(result, a, f, p)
    return result


def one(f: Poly) -> Poly:
    return (1,) + (0,) * (len(f) - 2)


def is_root(a: Poly, g: Poly, f: Poly, p: int) -> bool:
    """Say whether g(a) = 0 modulo f (Horner)."""
    value = (0,) * (len(f) - 1)
    for c in reversed(g):
        value = times(value, a, f, p)
        value = ((value[0] + c) % p, *value[1:])
    return not any(value)


def is_primitive(f: Poly, p: int) -> bool:
    """Say whether x has order p^k − 1 modulo f.

    No separate test for irreducibility is due: modulo a reducible f fewer than p^k − 1 elements
    have an inverse, so none has that order.
    """
    k = len(f) - 1
    x = (-f[0] % p,) if k == 1 else (0, 1) + (0,) * (k - 2)
    n = p**k - 1
    return power(x, n, f, p) == one(f) and all(
        power(x, n // r, f, p) != one(f) for r in prime_factors(n)
    )


def conway(p: int, k: int, smaller: dict[tuple[int, int], Poly]) -> Poly:
    """Return C_{p,k}, given those of the proper divisors of k."""
    divisors = [m for m in range(k - 1, 0, -1) if k % m == 0]
    # The norm of x is (−1)^k f(0) = a_0, and must be the root of C_{p,1}: only that word can do.
    last = range(p) if k == 1 else [-smaller[p, 1][0] % p]
    for word in itertools.product(*[range(p)] * (k - 1), last):
        f = tuple((-1) ** (k - i) * word[k - 1 - i] % p for i in range(k)) + (1,)
        x = (0, 1) + (0,) * (k - 2)
        if all(
            is_root(power(x, (p**k - 1) // (p**m - 1), f, p), smaller[p, m], f, p) for m in divisors
        ) and is_primitive(f, p):
            return f
    raise AssertionError(f"no Conway polynomial for p = {p}, k = {k}")


def conway_polynomials(largest_order: int) -> dict[tuple[int, int], Poly]:
    """Return C_{p,k} for all p^k ≤ largest_order with k ≥ 2."""
    found: dict[tuple[int, int], Poly] = {}
    for p in range(2, int(largest_order**0.5) + 1):
        if prime_factors(p) == [p]:
            k = 1
            while p**k <= largest_order:
                found[p, k] = conway(p, k, found)
                k += 1
    return {(p, k): f for (p, k), f in found.items() if k > 1}


def main() -> None:
    print('"""Conway polynomials of all fields GF(p^k) of order ≤ 2^16, k ≥ 2.\n')
    print("``CONWAY[p, k]`` holds the k + 1 coefficients, constant term first. Computed from the")
    print("definition by ``scripts/generate_conway.py``, which says what a Conway polynomial is.")
    print('"""\n')
    print("CONWAY: dict[tuple[int, int], tuple[int, ...]] = {")
    for (p, k), f in conway_polynomials(LARGEST_ORDER).items():
        print(f"    ({p}, {k}): {f},")
    print("}")


if __name__ == "__main__":
    main()
