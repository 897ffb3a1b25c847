"""The paper's evaluation: its experiments, and its private learner."""

from flagstone.paper.experiments import (
    EXPERIMENTS,
    Experiment,
    OtherConfigurationError,
    Result,
    run,
)
from flagstone.paper.private import PrivateParityClassifier

__all__ = [
    "EXPERIMENTS",
    "Experiment",
    "OtherConfigurationError",
    "PrivateParityClassifier",
    "Result",
    "run",
]
