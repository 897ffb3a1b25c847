"""Where the two fresh samples of a pair come from."""

from __future__ import annotations

import hashlib
import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

import narwhals.stable.v1 as nw
import numpy as np
import numpy.typing as npt

from flagstone.algebra.bitrows import BitRows
from flagstone.checks import checked_integer
from flagstone.distributions import Distribution, LabelledParity
from flagstone.errors import InputError
from flagstone.exact import exact_array

Array = npt.NDArray[Any]

_ROWS = "the number of rows per sample must be a positive integer"


class Sample(NamedTuple):
    """One sample: rows, labels if any, integer weights if any."""

    X: Any
    y: Any = None
    weights: Any = None


class Source(ABC):
    """Gives pairs of samples, and says who it is."""

    #: Whether pairs are *not* fresh samples, so that intervals are only indicative.
    indicative: bool = False
    #: Whether it cannot be told apart from others, so that its results must not be filed.
    anonymous: bool = False

    @abstractmethod
    def pair(
        self, first: np.random.RandomState, second: np.random.RandomState
    ) -> tuple[Sample, Sample]:
        """Draw the two samples of a pair."""

    @abstractmethod
    def canonical(self) -> dict[str, Any]:
        """Return plain data that identify the source."""


class _Fresh(Source):
    """Draws one sample after the other."""

    @abstractmethod
    def _draw(self, rng: np.random.RandomState) -> Sample: ...

    def pair(
        self, first: np.random.RandomState, second: np.random.RandomState
    ) -> tuple[Sample, Sample]:
        return self._draw(first), self._draw(second)


class FromLaw(_Fresh):
    """Independent samples of ``m`` rows from a :class:`~flagstone.distributions.Distribution`.

    ``weighted=True`` hands distinct rows with integer ``sample_weight`` to the estimator, which
    makes samples of :math:`10^9` rows from a small support affordable.
    """

    def __init__(self, law: Distribution, m: int, *, weighted: bool = False) -> None:
        if not isinstance(law, Distribution):
            raise InputError(f"law must be a Distribution, got {type(law).__name__}")
        self.law = law
        self.m = checked_integer(m, 1, _ROWS)
        self.weighted = bool(weighted)

    def _draw(self, rng: np.random.RandomState) -> Sample:
        labelled = isinstance(self.law, LabelledParity)
        if self.weighted:
            rows, weights = self.law.sample_weighted(self.m, rng)
        else:
            rows, weights = self.law.sample(self.m, rng), None
        if labelled:
            return Sample(rows[:, :-1], rows[:, -1], weights)
        return Sample(rows, None, weights)

    def canonical(self) -> dict[str, Any]:
        return {
            "source": "law",
            "law": self.law.canonical(),
            "m": self.m,
            "weighted": self.weighted,
        }

    def __repr__(self) -> str:
        return f"{self.m} fresh rows of {self.law!r}"


class FromFunction(_Fresh):
    """Independent samples from a function ``sampler(m, rng)`` returning ``X`` or ``(X, y)``.

    Parameters
    ----------
    function : callable
    m : int
        Rows per sample; the function must return exactly that many.
    name : str, optional
        Identifies the sampler in result files. Needed there (and only there) for lambdas, closures
        and callable objects, whose meaning cannot be read off their source.
    """

    def __init__(
        self,
        function: Callable[[int, np.random.RandomState], Any],
        m: int,
        *,
        name: str | None = None,
    ) -> None:
        if not callable(function):
            raise InputError(f"a sampler must be callable as sampler(m, rng), got {function!r}")
        self.function = function
        self.m = checked_integer(m, 1, _ROWS)
        self.name, self.anonymous = identified(function, name)

    def _draw(self, rng: np.random.RandomState) -> Sample:
        drawn = self.function(self.m, rng)
        X, y = drawn if isinstance(drawn, tuple) and len(drawn) == 2 else (drawn, None)
        shape = np.shape(X) if not isinstance(X, BitRows) else (len(X), X.dim)
        if len(shape) != 2 or shape[0] != self.m:
            raise InputError(
                f"the sampler {self.name!r} must return {self.m} rows in two dimensions, "
                f"got X of shape {shape}"
            )
        if y is not None and np.shape(y) != (self.m,):
            raise InputError(
                f"the sampler {self.name!r} must return one label per row: {self.m} rows, "
                f"y of shape {np.shape(y)}"
            )
        return Sample(X, y)

    def canonical(self) -> dict[str, Any]:
        return {"source": "function", "name": self.name, "m": self.m}

    def __repr__(self) -> str:
        return f"{self.m} fresh rows of {self.name}"


class FromTable(Source):
    """Disjoint random halves of one finite table: indicative only.

    The pairs share their rows, so they are not independent of each other: the result describes
    random halves of *this table* (of half its size), not fresh samples of its distribution.
    """

    indicative = True

    def __init__(self, X: Any, y: Any = None) -> None:
        # A frame stays one: pipelines choose columns by their names.
        self._frame = nw.from_native(X, eager_only=True, pass_through=True)
        self.X: Array = X.unpack() if isinstance(X, BitRows) else exact_array(X)
        self.y: Array | None = None if y is None else exact_array(y)
        if self.X.ndim != 2 or len(self.X) < 2:
            raise InputError(
                f"a table to be halved needs two dimensions and at least 2 rows, "
                f"got shape {self.X.shape}"
            )
        if self.y is not None and self.y.shape != (len(self.X),):
            raise InputError(
                f"there must be one label per row: {len(self.X)} rows, y of shape {self.y.shape}"
            )
        self.m = len(self.X) // 2

    def pair(
        self, first: np.random.RandomState, second: np.random.RandomState
    ) -> tuple[Sample, Sample]:
        order = first.permutation(len(self.X))
        halves = order[: self.m], order[self.m : 2 * self.m]
        a, b = (Sample(self._rows(h), None if self.y is None else self.y[h]) for h in halves)
        return a, b

    def _rows(self, chosen: Array) -> Any:
        if isinstance(self._frame, nw.DataFrame):
            return self._frame[chosen].to_native()
        return self.X[chosen]

    def canonical(self) -> dict[str, Any]:
        named = {}
        if isinstance(self._frame, nw.DataFrame):
            named = {"columns": list(self._frame.columns)}
        values = {"X": array_hash(self.X), "y": array_hash(self.y)}
        return {"source": "halves of a table", **values, **named}

    def __repr__(self) -> str:
        return f"disjoint halves ({self.m} rows each) of a table of {len(self.X)} rows"


def array_hash(array: Array | None) -> str | None:
    """Return a SHA-256 of shape, type and values."""
    if array is None:
        return None
    head = f"{array.shape} {array.dtype.str}\n".encode()
    body = repr(array.tolist()).encode() if array.dtype == object else array.tobytes()
    return hashlib.sha256(head + body).hexdigest()


def callable_identity(function: Callable[..., Any]) -> str | None:
    """Identify a plain function by its place and its source; None where that is impossible."""
    simple = (
        inspect.isfunction(function)
        and function.__closure__ is None
        and function.__name__ != "<lambda>"
    )
    if not simple:
        return None
    try:
        source = inspect.getsource(function)
    except (OSError, TypeError):
        return None
    digest = hashlib.sha256(source.encode()).hexdigest()[:16]
    return f"{function.__module__}.{function.__qualname__}#{digest}"


def identified(function: Callable[..., Any], name: str | None) -> tuple[str, bool]:
    """Return what a function is called, and whether that does not tell it apart from others."""
    identity = name or callable_identity(function)
    # no address, so that it is always the same
    unnamed = f"{getattr(function, '__name__', type(function).__name__)} (unnamed)"
    return identity or unnamed, identity is None
