"""The paper's evaluation: its experiments, and private learners."""

from flagstone.paper.experiments import (
    EXPERIMENTS,
    Experiment,
    OtherConfigurationError,
    Result,
    run,
)
from flagstone.paper.private import PrivateParityClassifier
from flagstone.paper.private_span import PrivateSpan, private_parity, private_span

__all__ = [
    "EXPERIMENTS",
    "Experiment",
    "OtherConfigurationError",
    "PrivateParityClassifier",
    "PrivateSpan",
    "Result",
    "private_parity",
    "private_span",
    "run",
]
