"""What is audited: an estimator, a source of samples, a notion of "same"."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from flagstone.audit.same import Same
from flagstone.audit.sources import FromFunction, FromLaw, FromTable, Source, array_hash
from flagstone.distributions import Distribution
from flagstone.errors import InputError


class Task:
    """One replicability question: how often do two runs on fresh samples give the same answer?

    Parameters
    ----------
    estimator : object with ``fit``
        Cloned for every run. Each parameter called ``random_state``, also inside pipelines, is
        set to the coins of the pair: the same for its two runs, fresh for each pair.
    source : Source, Distribution, callable or (X, y)
        Where samples come from; see :mod:`flagstone.audit.sources`. A distribution or a function
        ``sampler(m, rng)`` needs ``m``; a table is halved, which is indicative only.
    m : int, optional
        Rows per sample.
    same : str, callable or Same, default "auto"
        When two answers count as the same.
    integrate : bool, default False
        Integrate the threshold of our rules out exactly: far fewer pairs for the same interval.
    seed : int or str, default 0
        Starts every random stream of the audit.
    name : str, optional
        For reports; no part of the identity.

    Attributes
    ----------
    strong_id : str
        SHA-256 of the canonical task: results are filed under it, and all random streams are
        derived from it, so pair i is the same wherever and whenever it is computed.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from flagstone.audit import Same, Task
    >>> from flagstone.distributions import planted_parity
    >>> D = planted_parity([1, 1, 0], corruption=0.1)
    >>> grid = Same(grid=[[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]])
    >>> task = Task(DecisionTreeClassifier(), D, m=50, same=grid)
    >>> task.strong_id == Task(DecisionTreeClassifier(), D, m=50, same=grid).strong_id
    True
    >>> task.strong_id == Task(DecisionTreeClassifier(), D, m=51, same=grid).strong_id
    False
    """

    def __init__(
        self,
        estimator: Any,
        source: Any,
        *,
        m: int | None = None,
        same: str | Callable[[Any, Any], bool] | Same = "auto",
        integrate: bool = False,
        seed: int | str = 0,
        name: str | None = None,
    ) -> None:
        if not callable(getattr(estimator, "fit", None)):
            raise InputError(f"an estimator needs a method fit, got {type(estimator).__name__}")
        if isinstance(estimator, type):
            raise InputError(f"give an instance, not the class: {estimator.__name__}(...)")
        self.estimator = estimator
        self.source = as_source(source, m)
        self.same = same if isinstance(same, Same) else Same(same)
        self.integrate = bool(integrate)
        if self.integrate and self.same.kind not in {"auto", "fingerprint"}:
            raise InputError(
                "integrate=True compares the answers for all thresholds by their fingerprints; "
                f"it does not go with same={self.same.name!r}"
            )
        self.seed = str(seed)
        self.name = name or type(estimator).__name__

    def canonical(self) -> dict[str, Any]:
        """Return plain data that identify the task."""
        return {
            "format": 1,
            "estimator": describe_estimator(self.estimator),
            "source": self.source.canonical(),
            "same": self.same.canonical(),
            "integrate": self.integrate,
            "seed": self.seed,
        }

    @cached_property
    def strong_id(self) -> str:
        """SHA-256 of the canonical task."""
        return strong_id_of(self.canonical())

    def stream(self, pair: int, purpose: str) -> np.random.RandomState:
        """Return the random stream of a pair for a purpose; a function of the task alone."""
        return random_stream(f"{self.strong_id}/{pair}/{purpose}")

    def coins(self, pair: int) -> int:
        """Return the seed that the two runs of a pair share."""
        digest = hashlib.sha256(f"{self.strong_id}/{pair}/coins".encode()).digest()
        return int.from_bytes(digest[:4], "big") >> 1

    def __repr__(self) -> str:
        return f"Task({self.name} on {self.source!r}, {self.strong_id[:16]})"


def strong_id_of(canonical: Mapping[str, Any]) -> str:
    """Return the strong id of a task from the plain data that identify it."""
    text = json.dumps(canonical, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def random_stream(text: str) -> np.random.RandomState:
    """Return the generator that a text starts, the same everywhere."""
    digest = hashlib.sha256(text.encode()).digest()
    return np.random.RandomState(np.frombuffer(digest, dtype=">u4").astype(np.uint32))


def as_source(source: Any, m: int | None) -> Source:
    """Return a source: as it is, or made from a law, a sampler or a table."""
    if isinstance(source, Source):
        if m is not None and m != getattr(source, "m", m):
            raise InputError("m is already part of the source; do not give another one")
        return source
    if isinstance(source, Distribution) or callable(source):
        if m is None:
            raise InputError("a distribution or a sampler needs the number of rows: m=...")
        if isinstance(source, Distribution):
            return FromLaw(source, m)
        return FromFunction(source, m)
    if m is not None:
        raise InputError(
            "a table is halved as it is; m belongs to distributions and samplers, and labels to "
            "the table: (X, y)"
        )
    if isinstance(source, tuple) and len(source) == 2:
        return FromTable(*source)
    return FromTable(source)


def describe_estimator(estimator: Any) -> Any:
    """Return plain data for an estimator: its class and parameters, the random states left out."""
    kind = f"{type(estimator).__module__}.{type(estimator).__qualname__}"
    if callable(getattr(estimator, "get_params", None)):
        params = estimator.get_params(deep=False)
    else:
        params = {k: v for k, v in vars(estimator).items() if not k.startswith("_")}
    plain = {k: _plain(v, f"{kind}.{k}") for k, v in sorted(params.items()) if k != "random_state"}
    return {"class": kind, "params": plain}


def _plain(value: Any, where: str) -> Any:
    """Turn a parameter into JSON data without losing its identity."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, (float, np.floating)):
        return {"float": float(value).hex()}
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, np.ndarray):
        return {"array": array_hash(value)}
    if isinstance(value, (list, tuple)):
        return [_plain(v, where) for v in value]
    if isinstance(value, dict):
        return {str(k): _plain(v, where) for k, v in sorted(value.items(), key=lambda i: str(i[0]))}
    if callable(getattr(value, "fit", None)) or hasattr(value, "get_params"):
        return describe_estimator(value)
    text = (
        f"{value.__module__}.{value.__qualname__}"
        if hasattr(value, "__qualname__")
        else repr(value)
    )
    if " at 0x" in text or "<lambda>" in text or "<locals>" in text:
        raise InputError(
            f"the parameter {where} has no stable description ({text}); results could not be told "
            "apart from those of another value: use a named function or an object with a repr"
        )
    return text
