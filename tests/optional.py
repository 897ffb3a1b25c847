"""Learners of packages that the rest can do without, tested like the others where they exist."""

from importlib.util import find_spec

#: The private learner, in a list; empty where ``flagstone.paper`` was removed.
PRIVATE: list[type] = []
if find_spec("flagstone.paper") is not None:
    from flagstone.paper import PrivateParityClassifier

    PRIVATE.append(PrivateParityClassifier)
