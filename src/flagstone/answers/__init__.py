"""Answers: what a replicable subspace says, as values that predict, check, print and compare.

The last stop of the road rows → flag → subspace → answer. Every answer is a function of a
subspace and of coins alone, so equal subspaces and equal seeds give equal answers: this is
where replicability passes, by post-processing, from the span to what the user wanted.

- :class:`ParityRule`: a linear function of the features (the paper's Algorithm 2);
- :class:`Constraints`: the equations that rows obey;
- :class:`LinearSystem`: a small system that stands for a large one.
"""

from flagstone.answers._base import Answer
from flagstone.answers._constraints import Constraints, Equations
from flagstone.answers._parity import ParityRule
from flagstone.answers._solve import VectorCoins, check_choice
from flagstone.answers._sparse import sparsest
from flagstone.answers._system import Contradiction, LinearSystem
from flagstone.answers._text import equation

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
    "sparsest",
]
