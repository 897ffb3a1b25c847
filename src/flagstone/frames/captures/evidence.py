"""Evidence that rows are of a type of their own, and no damaged rows of a known one.

Both tests err with probability at most ``failure`` where every row that does not fit is damaged,
independently of the other rows.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from flagstone.algebra import AffineSubspace, Array, Subspace
from flagstone.answers import Constraints
from flagstone.frames.digests import Frame
from flagstone.guarantees.binomial import binomial_above, share_at_most

#: How often a capture of one type, some of its rows damaged, is said to hold another one, at most.
FALSE_ALARMS = 0.001
#: How many equations of its own a type needs, besides relations of the payload.
FEWEST_CHECKS = 4
#: Damage flips at most one in this many of the bits that equations look at.
_FLIPPED = 4


def syndrome_beyond_chance(
    equations: Constraints, n_types: int, n: int, most: int, failure: float
) -> bool:
    """Say whether damage would so often break the very same equations: ``most`` of ``n`` rows.

    Notes
    -----
    **Guarantees**

    False with probability at least 1 − failure if the rows are independent, each is one of
    ``n_types`` = r known types, and in each of them w ≥ 1 of the d bits that some equation holds
    were turned over, at places drawn uniformly, for any w up to a quarter of them. If no more than
    c of these bits stand in the same equations, the last place drawn hits a given syndrome with
    probability at most c/(d − w + 1) ≤ q. Rows with a syndrome of undamaged rows are not seen, so
    that this becomes q/(1 − rq). Some syndrome is that of i given rows with at most the (i−1)-th
    power of it, and there are C(n, i) choices of rows.

    Examples
    --------
    >>> hamming = Constraints([[1,0,1,0,1,0,1], [0,1,1,0,0,1,1], [0,0,0,1,1,1,1]], [0, 0, 0])
    >>> [syndrome_beyond_chance(hamming, 1, 10, most, 0.001) for most in (6, 7, 8)]
    [False, False, True]
    """
    columns = Counter(tuple(column) for column in equations.matrix.T.tolist() if any(column))
    d = sum(columns.values())
    q = max(columns.values(), default=d + 1) / (d - d // _FLIPPED + 1)
    if most < 2 or q * (n_types + 1) >= 1:
        return False
    q /= 1 - n_types * q
    return math.log(math.comb(n, most)) + (most - 1) * math.log(q) <= math.log(failure)


def obey_their_own(U: Subspace, known: Sequence[Array], rows: Array, failure: float) -> bool:
    """Say whether more rows lie in U than damaged rows of the known types would.

    Notes
    -----
    **Guarantees**

    False with probability at least 1 − failure if each row is one of a known type (of which those
    given are a sample), plus damage of any kind that does not depend on what the row says, and U
    was chosen without these rows. Let E hold the equations of U. Whatever the damage e is, the row
    t + e lies in U only if Et = −Ee, which has at most the probability p of the most frequent value
    of Et. So hits are at most binomial; p is bounded from the known rows (Clopper and Pearson), at
    half the failure.

    Examples
    --------
    >>> random = np.random.RandomState(0)
    >>> known = random.randint(0, 2, size=(200, 9))
    >>> own = random.randint(0, 2, size=(20, 9)) * [1, 1, 1, 1, 1, 0, 0, 0, 0]
    >>> U = Subspace.span(np.eye(9, dtype=int)[:5])
    >>> obey_their_own(U, [known], own, 0.001), obey_their_own(U, [known], known[:20], 0.001)
    (True, False)
    """
    hits = int(U.contains(rows).sum())
    share = most_frequent(U, known, failure / 2)
    return binomial_above(len(rows), share, hits - 1) <= failure / 2


def most_frequent(U: Subspace, known: Sequence[Array], failure: float) -> float:
    """Bound the probability of what known rows say most often about the equations of U."""
    F, E, shares = U.field, U.annihilator().basis, []
    for sample in known:
        if not len(E) or not len(sample):
            return 1.0
        values = F.dot(F.rows(sample, dim=U.ambient_dim), E)
        counts = np.unique(values, axis=0, return_counts=True)[1]
        shares.append(share_at_most(int(counts.max()), len(sample), failure / len(known)))
    return max(shares)


def own_checks(space: Subspace, whole: Subspace) -> int:
    """Count the equations of rows (x, 1) of a type that only a check of its own explains.

    Those of ``whole`` are not counted, whatever their right-hand sides; nor are constants and
    relations of two bits: a reading that drifts, or passes a power of two, has such relations, too.

    Examples
    --------
    >>> whole = Subspace.full(7)
    >>> own_checks(Subspace.span(np.eye(7, dtype=int)[3:]), whole)      # x0 = x1 = x2 = 0
    0
    >>> own_checks(Subspace.span([[1, 1, 1, 1, 1, 1, 0]]).annihilator(), whole)
    1
    """
    answer = Constraints.from_subspace(AffineSubspace.from_homogeneous(space))
    if answer.is_bottom:
        return 0
    rows = answer.augmented
    constant = np.zeros((1, rows.shape[1]), dtype=np.uint8)
    constant[0, -1] = 1
    payload_relations = [constant, rows[rows[:, :-1].sum(axis=1) == 1]]
    for pair in Frame.of(answer).pairs:
        payload_relations.append(np.bincount([*pair.columns], minlength=rows.shape[1])[np.newaxis])
    known = whole.annihilator() + Subspace.span(np.concatenate(payload_relations))
    return (known + space.annihilator()).dim - known.dim


def broken_checks(answer: Constraints, rows: Array) -> int:
    """Count the equations that rows break now and then, and that only another check explains.

    Rows of the same type break its equations all in the same way, or as their bits break its
    constants and relations of two bits: a reading that leaves its usual range does that.

    Examples
    --------
    >>> answer = Constraints([[1, 0, 0, 0], [0, 1, 1, 1]], [0, 0])    # x0 = 0, x1 ⊕ x2 ⊕ x3 = 0
    >>> broken_checks(answer, np.array([[0, 0, 0, 1], [1, 0, 0, 0]]))  # x3 ⊕ x0 is the check
    0
    >>> broken_checks(answer, np.array([[1, 0, 0, 1], [1, 0, 0, 0]]))
    1
    """
    broken = answer.syndrome(rows)
    broken = broken ^ broken[0]
    payload_relations = broken[:, answer.shown[:, :-1].sum(axis=1) <= 2]
    ranks = [Subspace.span(part, dim=part.shape[1]).dim for part in (broken, payload_relations)]
    return ranks[0] - ranks[1]
