"""A constant for each case: the commonest one, and of equally frequent ones the first."""

from collections import Counter

import numpy as np
import pytest

from flagstone.frames.digests.catalogue import CATALOGUE
from flagstone.frames.digests.rules import Cases, Sum, case_of
from flagstone.frames.digests.search import search
from tests.frames.digests import oracle

RULE = Sum((4, 8), 4, (0, 4), 4, 1, 16, 0)


@pytest.mark.parametrize("seed", range(8))
def test_fitted_counts_as_a_counter_does(seed):
    random = np.random.default_rng(seed)
    X = random.integers(0, 2, size=(random.integers(1, 60), 12), dtype=np.uint8)
    columns = [8, 9, 10][: 1 + seed % 3]
    found = Cases.fitted(RULE, columns, X)
    values: dict[int, Counter[int]] = {}
    for case, value in zip(case_of(X, columns).tolist(), RULE.residual(X).tolist(), strict=True):
        values.setdefault(case, Counter())[value] += 1
    for case, counts in values.items():
        value, n = counts.most_common(1)[0]
        assert found.constants.get(case) == (value if n >= 2 else None)
    assert set(found.constants) <= set(values)
    right = [
        found.constants.get(case) == value
        for case, value in zip(case_of(X, columns), RULE.residual(X), strict=True)
    ]
    assert (~found.broken(X)).tolist() == right


@pytest.mark.parametrize(("n_bytes", "kind"), [(1, "crc"), (2, "crc"), (3, "lfsr")])
def test_data_may_end_with_bytes_that_are_not_in_the_frame(n_bytes, kind):
    known = next(one for one in CATALOGUE if one.name == "CRC-16/KERMIT")
    rng = np.random.default_rng(3)
    data, more = rng.integers(0, 256, (400, 5)), rng.integers(0, 256, (2, n_bytes))
    checks = [oracle.crc([*row, *more[row[0] >> 7]], known) for row in data.tolist()]
    X = oracle.frames(data, checks, 16)
    (digest,) = search([f"x{i}" for i in range(56)], X, cases=[0])
    assert (digest.kind, digest.rows_broken) == (kind, 0)
    given = digest.parameters
    if kind == "crc":
        assert (given["poly"], given["refin"], given["refout"]) == ("0x1021", True, True)
        assert given["bytes_not_in_frame"] == n_bytes
