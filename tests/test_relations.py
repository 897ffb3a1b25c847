"""Short equations: found by a bounded search, a function of the space alone."""

from fractions import Fraction

import numpy as np

from flagstone import QQ, Subspace
from flagstone.answers.relations import short_equations


def test_short_equations_over_the_rationals_span_the_same_space():
    rng = np.random.RandomState(5)
    short = np.array([[1, 1, -1, 0, 0, 0, 0], [0, 0, 1, 1, -1, 0, 0], [0, 0, 0, 0, 1, 1, 2]])
    mixed = rng.randint(-3, 4, size=(3, 3)) @ short
    equations = Subspace.span(mixed, "QQ").basis
    found = short_equations(equations, QQ)
    assert Subspace.span(found, "QQ") == Subspace.span(short, "QQ")
    assert np.count_nonzero(found) <= np.count_nonzero(equations)


def test_equations_whose_numbers_would_grow_out_of_hand_stay_as_they_are():
    """Other orders of the columns make coefficients of thousands of digits of them."""
    rng = np.random.RandomState(7)
    numbers = rng.randint(1, 2**60, size=(2, 20, 41))
    equations = np.array([[Fraction(int(a), int(b)) for a, b in zip(*rows, strict=True)]
                          for rows in numbers.transpose(1, 0, 2)])  # fmt: skip
    equations[:, :20] = np.eye(20, dtype=int) * Fraction(1)
    assert short_equations(equations, QQ) is equations
