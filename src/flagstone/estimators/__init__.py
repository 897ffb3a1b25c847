"""Estimators: the answers as scikit-learn estimators.

Nothing here does mathematics of its own: rows are validated, counted in a summary, and the
answers of the core are offered under scikit-learn's names.
"""

from flagstone.estimators.encoder import FieldEncoder
from flagstone.estimators.equations import LinearEquations
from flagstone.estimators.parity import EliminationClassifier, ParityClassifier
from flagstone.estimators.span import AffineSpan, LinearSpan
from flagstone.estimators.subspaces import SubspaceClassifier

__all__ = [
    "AffineSpan",
    "EliminationClassifier",
    "FieldEncoder",
    "LinearEquations",
    "LinearSpan",
    "ParityClassifier",
    "SubspaceClassifier",
]
