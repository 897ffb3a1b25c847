"""The counted flag over other fields, against ranks by python-flint and galois.

python-flint's matrix is made beforehand, so only ``rank()`` is timed, on the same rows; galois gets
the prefix that takes it about a second. flagstone starts from the plain array, checks included.
Over QQ, entries are small integers, and the peer is the rank of an ``fmpz_mat``.
"""

from __future__ import annotations

import numpy as np

from benchmarks import peers
from benchmarks.harness import Bench, Contestant, prefix
from flagstone import GF, Flag

# (m, d): m·d stays near 2·10^6, since python-flint takes its entries as Python integers.
SIZES = ((10**5, 20), (4 * 10**4, 64), (2 * 10**4, 128), (8000, 256), (4000, 512), (2000, 1024))
RATIONAL = ((2000, 8), (1000, 16), (300, 32))
GALOIS = (7, 2**8)  # it compiles for ten seconds and more per field, so for two only
WIDE = (3, 101, 65521)  # a prime for each width of lanes
OTHERS = (3, 11, 101, 65521, 2**31 - 1, 2**4, 2**8, 3**2, 3**4, 3**5, 11**2)


def run(bench: Bench) -> None:
    """Time GF(7) at every size, a few primes from d = 64 on, other fields at d = 64 and 128."""
    for rows, dim in SIZES:
        _compare(bench, 7, bench.scale(rows), dim)
    for order in OTHERS:
        for rows, dim in SIZES[1:] if order in WIDE else SIZES[1:3]:
            _compare(bench, order, bench.scale(rows), dim)
    for rows, dim in RATIONAL:
        _compare_rational(bench, rows, dim)


def _compare_rational(bench: Bench, rows: int, dim: int) -> None:
    X = np.random.default_rng(2026).integers(-9, 10, (rows, dim))
    contestants = [Contestant("flagstone", rows, lambda _: Flag(dim, "QQ").update(X).rank)]
    if peers.versions()["python-flint"] is not None:
        matrix = peers.flint_matrix(X, 0)
        contestants.append(Contestant("python-flint", rows, lambda _: matrix.rank()))
    bench.compare(f"QQ d={dim}", contestants, dim=dim, seconds=1.0)


def _compare(bench: Bench, order: int, rows: int, dim: int) -> None:
    field = GF(order)
    X = np.random.default_rng(2026).integers(0, order, (rows, dim)).astype(field.dtype)
    contestants = [Contestant("flagstone", rows, lambda _: Flag(dim, field).update(X).rank)]
    versions = peers.versions()
    if versions["python-flint"] is not None and field.degree == 1:
        matrix = peers.flint_matrix(X, order)
        slow = dim > 64
        contestants.append(Contestant("python-flint", rows, lambda _: matrix.rank(), slow=slow))
    if versions["galois"] is not None and order in GALOIS:
        n = prefix(lambda n: peers.galois_rank(X[:n], order), rows, 0.1 if bench.quick else 0.5)
        contestants.append(
            Contestant("galois", n, lambda _: peers.galois_rank(X[:n], order), slow=True)
        )
    bench.compare(f"{field} d={dim}", contestants, dim=dim, seconds=1.0)
