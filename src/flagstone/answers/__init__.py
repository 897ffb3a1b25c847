"""Answers: what a replicable subspace says, as values that predict, check, print and compare.

The last step of the pipeline rows → flag → subspace → answer. Every answer is a function of a
subspace and of coins alone, so equal subspaces and equal seeds give equal answers: an answer is
at least as replicable as its subspace.

- :class:`ParityRule`: a linear function of the features (the paper's Algorithm 2);
- :class:`Constraints`: the equations that rows obey;
- :class:`LinearSystem`: a small system equivalent to a large one.
"""

from flagstone.answers._base import Answer, equation, exact_entry
from flagstone.answers._equations import Constraints, Contradiction, Equations, LinearSystem
from flagstone.answers._parity import ParityRule
from flagstone.answers._solve import VectorCoins, check_choice, sparsest

__all__ = [
    "Answer",
    "Constraints",
    "Contradiction",
    "Equations",
    "LinearSystem",
    "ParityRule",
    "VectorCoins",
    "check_choice",
    "equation",
    "exact_entry",
    "sparsest",
]
