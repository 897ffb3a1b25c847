"""Where samples come from: a table that is divided again for every pair, or a sampler."""

from __future__ import annotations

import hashlib
import inspect
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
from flagstone.wording import counted

Array = npt.NDArray[Any]

#: Most rows that are held out, once for all pairs and again for every pair.
_HELD_OUT = 200
#: At most one row of a table in ten is held out, for each of the two purposes.
_ONE_IN = 10

#: Said of intervals of a table.
HALVES = (
    "INDICATIVE ONLY: pairs are random halves of one table, not fresh samples; the intervals "
    "describe this table"
)
#: Samples of fewer rows are warned of.
_FEW = 10
_BOOTSTRAP = (
    "BOOTSTRAP: the two samples of a pair share rows, which makes them agree more often than "
    "fresh samples do"
)


class Sample(NamedTuple):
    """Rows, and their labels if there are any."""

    X: Any
    y: Any = None


class Sampler:
    """Independent samples of ``m`` rows of a distribution or a function ``sampler(m, rng)``.

    ``caution`` says why intervals are only indicative (empty: they are not); ``anonymous`` whether
    the data cannot be identified in a result file.
    """

    caution = ""
    #: Rows that are held out for each pair; none before the fixed inputs are chosen.
    _fresh = 0

    def __init__(self, draw: Any, m: int | None, name: str | None = None) -> None:
        self.law = draw if isinstance(draw, Distribution) else None
        if m is None:
            raise InputError("a distribution or a sampler needs the number of rows: m=...")
        self.m = checked_integer(m, 1, "m, the rows per sample, must be a positive integer")
        if self.law is None:
            check_call(draw, "a sampler is called as sampler(m, rng)", 2)
        self._draw = draw
        self.name, self.anonymous = (
            (repr(draw), False) if self.law is not None else identified(draw, name)
        )

    def hold_out(self, rng: np.random.RandomState) -> Sample:
        """Choose the fixed inputs, the same for all pairs."""
        self._fresh = _HELD_OUT
        return self.sample(_HELD_OUT, rng)

    def pair(self, rng: np.random.RandomState) -> tuple[Sample, Sample, Sample]:
        """Draw two samples, and held-out rows for this pair."""
        first, second = self.sample(self.m, rng), self.sample(self.m, rng)
        return first, second, self.sample(self._fresh, rng) if self._fresh else Sample([])

    def sample(self, m: int, rng: np.random.RandomState) -> Sample:
        """Draw m rows."""
        if self.law is not None:
            rows = self.law.sample(m, rng)
            labelled = isinstance(self.law, LabelledParity)
            return Sample(rows[:, :-1], rows[:, -1]) if labelled else Sample(rows)
        drawn = self._draw(m, rng)
        X, y = drawn if isinstance(drawn, tuple) and len(drawn) == 2 else (drawn, None)
        X = X.unpack() if isinstance(X, BitRows) else X
        if np.ndim(X) != 2 or np.shape(X)[0] != m:
            raise InputError(
                f"the sampler {self.name!r} must return {m} rows in two dimensions, "
                f"got X of shape {np.shape(X)}"
            )
        if y is not None and np.shape(y) != (m,):
            raise InputError(
                f"the sampler {self.name!r} must return one label per row: {m} rows, "
                f"y of shape {np.shape(y)}"
            )
        return Sample(X, y)

    def canonical(self) -> dict[str, Any]:
        """Return plain data that identify the data."""
        what = {"function": self.name} if self.law is None else {"law": self.law.canonical()}
        return {**what, "m": self.m}

    def __repr__(self) -> str:
        return f"{self.m:,} fresh rows of {self.name.partition('#')[0]}"


class DividedTable:
    """Disjoint random halves, or bootstrap samples, of the rows that are not held out.

    Rows of one group are never divided between the parts of a pair.
    """

    anonymous = False
    _fresh = 0

    def __init__(
        self, X: Any, y: Any = None, *, groups: Any = None, bootstrap: bool = False
    ) -> None:
        if hasattr(X, "tocsr"):
            raise InputError("sparse matrices cannot be audited: pass X.toarray(), or a sampler")
        # A frame stays one: pipelines choose columns by their names.
        frame = nw.from_native(X, eager_only=True, pass_through=True)
        self._frame = frame if isinstance(frame, nw.DataFrame) else None
        self.X: Array = X.unpack() if isinstance(X, BitRows) else exact_array(X)
        self.y: Array | None = None if y is None else exact_array(y)
        n = len(self.X) if self.X.ndim else 0
        if self.X.ndim != 2 or n < 2:
            raise InputError(
                "a table that is divided needs two dimensions and at least 2 rows, "
                f"got shape {self.X.shape}"
            )
        if self.y is not None and self.y.shape == (n, 1):
            self.y = self.y[:, 0]
        if self.y is not None and self.y.shape != (n,):
            raise InputError(
                f"there must be one label per row: {n} rows, y of shape {self.y.shape}"
                f"{_column_of(y)}"
            )
        self._rest, self._groups = np.arange(n), None
        if groups is not None:
            names, self._groups = np.unique(np.asarray(groups), return_inverse=True)
            if self._groups.shape != (n,) or len(names) < 4:
                raise InputError(
                    f"groups must name one group per row, and at least 4 of them: {n} rows, "
                    f"shape {np.shape(groups)}, {len(names)} groups{_column_of(groups)}"
                )
        self.bootstrap = bool(bootstrap)

    @property
    def caution(self) -> str:
        """Why intervals are only indicative, in lines."""
        said = _BOOTSTRAP if self.bootstrap else HALVES
        if self._size >= _FEW:
            return said
        size = counted(self._size, "row")
        return f"TOO FEW ROWS: samples of {size} say nothing about larger ones\n{said}"

    @property
    def _size(self) -> int:
        """How many rows a sample has."""
        rest = len(self._rest) - self._fresh
        return rest if self.bootstrap else rest // 2

    def hold_out(self, rng: np.random.RandomState) -> Sample:
        """Choose the fixed inputs, the same for all pairs. They are in no sample from then on."""
        n = len(self.X)
        self._fresh = min(_HELD_OUT, max(n // _ONE_IN, int(n >= 4)))
        fixed, self._rest = self._divide(self._shuffled(rng), self._fresh)
        return self._rows(fixed)

    def pair(self, rng: np.random.RandomState) -> tuple[Sample, Sample, Sample]:
        """Draw two samples, and held-out rows for this pair that are in neither."""
        fresh, rest = self._divide(self._shuffled(rng), self._fresh)
        if self.bootstrap:
            first, second = self._drawn(rest, rng), self._drawn(rest, rng)
        else:
            first, second = self._divide(rest, len(rest) // 2)
        m = min(len(first), len(second))
        return self._rows(first[:m]), self._rows(second[:m]), self._rows(fresh)

    def _shuffled(self, rng: np.random.RandomState) -> Array:
        """Return the rows that are not held out, in random order, groups together."""
        if self._groups is None:
            return rng.permutation(self._rest)
        place = rng.permutation(self._groups.max() + 1)
        return self._rest[np.argsort(place[self._groups[self._rest]], kind="stable")]

    def _divide(self, rows: Array, size: int) -> tuple[Array, Array]:
        """Cut rows after about ``size`` of them, where one group ends and another begins."""
        if self._groups is not None and size:
            ends = np.flatnonzero(np.diff(self._groups[rows])) + 1
            size = int(ends[np.argmin(abs(ends - size))])
        return rows[:size], rows[size:]

    def _drawn(self, rows: Array, rng: np.random.RandomState) -> Array:
        """Draw as many rows, or groups, with replacement."""
        if self._groups is None:
            return rng.choice(rows, len(rows))
        names = np.unique(self._groups[rows])
        parts = [rows[self._groups[rows] == name] for name in rng.choice(names, len(names))]
        return np.concatenate(parts)

    def _rows(self, chosen: Array) -> Sample:
        X = self.X.take(chosen, axis=0) if self._frame is None else self._frame[chosen].to_native()
        return Sample(X, None if self.y is None else self.y[chosen])

    def canonical(self) -> dict[str, Any]:
        """Return plain data that identify the data."""
        return {
            "table": array_hash(self.X),
            "y": array_hash(self.y),
            "groups": array_hash(self._groups),
            "bootstrap": self.bootstrap,
            "columns": None if self._frame is None else list(self._frame.columns),
        }

    def __repr__(self) -> str:
        if self.bootstrap:
            return f"bootstrap samples of a table of {len(self.X):,} rows"
        near = "about " if self._groups is not None else ""
        each = f"{near}{counted(self._size, 'row')} each"
        return f"disjoint halves ({each}) of a table of {len(self.X):,} rows"


Data = Sampler | DividedTable


def as_data(
    X: Any,
    y: Any = None,
    m: int | None = None,
    *,
    groups: Any = None,
    bootstrap: bool = False,
    name: str | None = None,
) -> Data:
    """Return the data of an audit: a table, or a distribution or function that is sampled."""
    if isinstance(X, Distribution) or callable(X):
        if y is not None or groups is not None or bootstrap:
            raise InputError(
                "y, groups and bootstrap belong to a table; a sampler returns (X, y) itself"
            )
        return Sampler(X, m, name)
    if m is not None:
        raise InputError("a table is divided as it is; m belongs to distributions and samplers")
    if isinstance(X, tuple) and len(X) == 2 and y is None:
        X, y = X
    return DividedTable(X, y, groups=groups, bootstrap=bootstrap)


def stacked(first: Any, second: Any) -> Any:
    """Return the rows of two samples below each other: arrays, or frames of one kind."""
    if isinstance(first, np.ndarray) and isinstance(second, np.ndarray):
        return np.concatenate([first, second])
    frames = [nw.from_native(rows, eager_only=True, pass_through=True) for rows in (first, second)]
    if all(isinstance(frame, nw.DataFrame) for frame in frames):
        return nw.concat(frames).to_native()
    return np.concatenate([np.asarray(first), np.asarray(second)])


def _column_of(given: Any) -> str:
    """Return what to give in place of the name of a column."""
    return f"; give the column itself: table[{given!r}]" if isinstance(given, str) else ""


def array_hash(array: Array | None) -> str | None:
    """Return a SHA-256 of shape, type and values."""
    if array is None:
        return None
    head = f"{array.shape} {array.dtype.str}\n".encode()
    body = repr(array.tolist()).encode() if array.dtype == object else array.tobytes()
    return hashlib.sha256(head + body).hexdigest()


def check_call(function: Any, said: str, n_arguments: int) -> None:
    """Refuse a function that does not take that many arguments."""
    try:
        signature = inspect.signature(function)
    except ValueError:  # some callables of C have no signature
        return
    try:
        signature.bind(*[None] * n_arguments)
    except TypeError as error:
        name = getattr(function, "__name__", type(function).__name__)
        raise InputError(f"{said}, which {name} does not allow: {error}") from None


def identified(function: Callable[..., Any], name: str | None) -> tuple[str, bool]:
    """Return what identifies a function, and whether nothing does.

    A plain function is identified by its place and its source; anything else needs a name.
    """
    known = getattr(function, "__name__", type(function).__name__)
    plain = inspect.isfunction(function) and not function.__closure__ and known != "<lambda>"
    if name is None and plain:
        # from Python 3.13 on, the command after -c has that name, too
        if function.__code__.co_filename == "<string>":
            return known, True
        try:
            source = inspect.getsource(function)
        except (OSError, TypeError):
            return known, True
        digest = hashlib.sha256(source.encode()).hexdigest()[:16]
        return f"{function.__module__}.{function.__qualname__}#{digest}", False
    return name or known, name is None


def random_stream(
    text: str, generator: np.random.RandomState | None = None
) -> np.random.RandomState:
    """Return the generator that a text starts; a given one starts anew, which takes less time."""
    digest = hashlib.sha256(text.encode()).digest()
    generator = np.random.RandomState() if generator is None else generator
    generator.seed(np.frombuffer(digest, dtype=">u4").astype(np.uint32))
    return generator
