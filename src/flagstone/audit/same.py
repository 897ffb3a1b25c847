"""What it means for two fitted estimators to have given the same answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from flagstone.audit.sources import array_hash, identified
from flagstone.checks import owner_of
from flagstone.errors import BottomError, InputError


class TaskError(InputError):
    """The question cannot be asked of this estimator, on any pair: never counted, always raised."""


class Same:
    """A notion of sameness.

    Parameters
    ----------
    kind : {"auto", "fingerprint", "coef", "predictions"} or callable
        ``"fingerprint"`` compares ``fingerprint_``; ``"coef"`` compares ``coef_`` and, where there
        is one, ``intercept_``; of a pipeline those of its last step, and what the columns mean
        that the steps before hand on to it. ``"predictions"`` compares ``predict(grid)``; a
        callable gets the two fitted estimators and returns a truth value. ``"auto"`` takes
        predictions where a grid is given, else the fingerprint, else the coefficients.
    grid : array, optional
        The fixed rows of ``"predictions"``.
    name : str, optional
        Identifies a callable in result files; needed there if it is no plain function.

    Examples
    --------
    Two trees of different shape may still agree wherever it matters:

    >>> from flagstone.audit import Same
    >>> Same("predictions", grid=[[0, 0], [0, 1], [1, 0], [1, 1]])
    Same('predictions', grid of 4 rows)
    """

    def __init__(
        self,
        kind: str | Callable[[Any, Any], bool] = "auto",
        *,
        grid: Any = None,
        name: str | None = None,
    ) -> None:
        known = {"auto", "fingerprint", "coef", "predictions"}
        if isinstance(kind, str) and kind not in known:
            raise InputError(f"'same' must be a callable or one of {sorted(known)}, got {kind!r}")
        if not isinstance(kind, str) and not callable(kind):
            raise InputError(f"'same' must be a name or a callable, got {kind!r}")
        if kind == "auto" and grid is not None:
            kind = "predictions"
        if (kind == "predictions") != (grid is not None):
            raise InputError(
                "same='predictions' compares predictions on fixed rows: give them as grid=..., "
                "and only there"
            )
        self.kind = kind
        self.grid = None if grid is None else np.asarray(grid)
        #: What it is called; whether that does not tell it apart, so that nothing may be filed.
        self.name, self.anonymous = (
            (kind, False) if isinstance(kind, str) else identified(kind, name)
        )

    def __call__(self, a: Any, b: Any) -> bool:
        """Compare two fitted estimators."""
        if not isinstance(self.kind, str):
            return bool(self.kind(a, b))
        kind = self.kind
        if kind == "auto":
            kind = "coef" if owner_of(a, "fingerprint_") is None else "fingerprint"
        if kind == "predictions":
            first, second = (_predicted(estimator, self.grid) for estimator in (a, b))
            return bool(np.array_equal(first, second))
        attribute = "fingerprint_" if kind == "fingerprint" else "coef_"
        if meaning(a) != meaning(b):
            return False
        a, b = _owner(a, attribute), _owner(b, attribute)
        if kind == "fingerprint":
            return bool(a.fingerprint_ == b.fingerprint_)
        return np.array_equal(a.coef_, b.coef_) and np.array_equal(
            getattr(a, "intercept_", 0), getattr(b, "intercept_", 0)
        )

    def canonical(self) -> dict[str, Any]:
        """Return plain data that identify the notion."""
        return {"same": self.name, "grid": array_hash(self.grid)}

    def __repr__(self) -> str:
        rows = "" if self.grid is None else f", grid of {len(self.grid)} rows"
        return f"Same({self.name!r}{rows})"


def meaning(estimator: Any) -> list[Any]:
    """Return what the columns mean that the last step of a pipeline sees."""
    pipeline = owner_of(estimator, "steps")
    if pipeline is None or len(pipeline.steps) < 2:
        return []
    before = [step for _, step in pipeline.steps[:-1]]
    try:
        names = [str(name) for name in pipeline[:-1].get_feature_names_out()]
    except (AttributeError, ValueError):  # some steps have no names to hand on
        names = []
    return [names, *(getattr(step, "encoders_", None) for step in before)]


def _predicted(estimator: Any, grid: Any) -> Any:
    """Return what is predicted of the rows; None where the answer predicts nothing."""
    try:
        return estimator.predict(grid)
    except BottomError:
        return None


def _owner(estimator: Any, attribute: str) -> Any:
    owner = owner_of(estimator, attribute)
    if owner is None:
        raise TaskError(
            f"{type(estimator).__name__} has no {attribute}; compare predictions on a fixed grid "
            "(same='predictions', grid=...) or give your own comparison"
        )
    return owner
