"""Flag: the spans of the stable partition, with counts, in one pass and O(d²) memory."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeVar

import numpy as np

from flagstone.algebra import serialize
from flagstone.algebra.fields import Array, Field, FieldLike, FlagState, Rows, as_field
from flagstone.algebra.subspace import Subspace
from flagstone.checks import checked_dim, checked_integer, checked_total, checked_weights
from flagstone.errors import FormatError, InputError
from flagstone.markup import card, table

T = TypeVar("T")
_Batch = tuple[Array, Array | None]  # rows, and how often each comes

#: Small batches wait (rows of a batch, rows that wait): insertion takes a copy of the state.
_FEW, _MOST_WAITING = 8, 128


class Level(NamedTuple):
    """Sets ``first .. last`` of the partition span one space of dimension ``dim``."""

    dim: int
    first: int
    last: int

    @property
    def multiplicity(self) -> int:
        """How many sets span it."""
        return self.last - self.first + 1


class Flag:
    """The counted flag V_1 ⊇ V_2 ⊇ … of the rows seen so far.

    V_j is the span of the j-th set of the stable partition (Algorithm 3 of [NST26], kept
    literally as :func:`~flagstone.stable_partition`). The spans are nested, so all of them
    are held by one *counted basis*: vectors x_i with counts c_i, where V_j is spanned by the
    x_i with c_i ≥ j. A new row changes it by one basis exchange, and two flags merge by
    adding counts on a common basis (docs/theory/flag.md).

    Parameters
    ----------
    dim : int
        The number of columns d.
    field : Field, int or str, default=2

    Attributes
    ----------
    n_rows : int
        All rows seen, zero rows included.
    n_shards : int
        How many separately built flags were merged into this one: the bounds on
        replicability and coverage grow with it (docs/theory/guarantees.md, S23). Rows that
        come after a merge do not.

    Notes
    -----
    **Guarantees**

    The flag equals that of the literal partition of the rows in arrival order, bit for bit.
    Adding or removing one row, anywhere, changes exactly one V_j by one dimension.
    Threads may read a flag while one of them updates it: each sees the rows of before or of after
    (``n_rows`` follows at last). Of two updates at once, one may be lost: those need a lock.

    References
    ----------
    .. [NST26] M. Noivirt, J. Sorrell, E. Tsfadia, "Computationally Efficient Replicable
       Learning of Parities and Applications", 2026.

    Examples
    --------
    >>> from flagstone import Flag
    >>> flag = Flag(2).update([[1, 0], [1, 0], [0, 0], [0, 1], [1, 1]])
    >>> flag
    Flag(dim=2, field=GF(2), n_rows=5, rank=2, n_sets=2)
    >>> flag.counts.tolist()
    [2, 2]
    >>> flag.update([[1, 1]]).levels()
    [Level(dim=2, first=1, last=2), Level(dim=1, first=3, last=3)]
    >>> flag.span_at(3).basis.tolist()
    [[1, 1]]

    Repeated rows may come as weights:

    >>> flag == Flag(2).update([[1, 0], [0, 0], [0, 1], [1, 1]], weights=[2, 1, 1, 2])
    True
    """

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, dim: int, field: FieldLike = 2) -> None:
        self.field = as_field(field)
        self.dim = checked_dim(dim)
        self.n_rows = 0
        self.n_shards = 1
        try:
            # The state of a flag, which never changes, and rows that are not in it yet.
            self._held: tuple[FlagState, tuple[_Batch, ...]] = self.field.kernel.flag(self.dim), ()
        except (MemoryError, ValueError) as error:
            raise InputError(
                f"a flag of {self.dim} columns takes memory in proportion to the square of that, "
                "more than there is; drop or combine columns"
            ) from error
        self._snapshot: tuple[Any, FlagState, tuple[Rows, Array]] | None = None

    def update(self, X: Any, weights: Any = None) -> Flag:
        """Add rows in the order they come, each ``weights[i]`` times, and return self.

        The promises need an order that does not depend on the sample: arrival, or sorted by value,
        but not by frequency (docs/theory/flag.md, S7). With weights, sort the rows first.

        A row outside the field, of another width or with a bad weight is refused with its
        number, and then the flag is as before: all rows are added or none.
        """
        rows = self.field.rows(X, dim=self.dim)
        counts, total = checked_weights(weights, len(rows))
        n_rows, matrix = checked_total(self.n_rows, total), self.field.matrix(rows)
        held, known = self._held, self._snapshot
        state, waiting = (known[1], ()) if known is not None and known[0] is held else held
        if 0 < len(matrix) <= _FEW and len(waiting) < _MOST_WAITING:
            batch = matrix.copy(), None if counts is None else counts.copy()
            self._held = state, (*waiting, batch)
        else:
            state = self._settled(state, waiting)  # an interrupt must not leave half an update
            state.insert(matrix, counts)
            self._held = state, ()
        self.n_rows, self._snapshot = n_rows, None
        return self

    def _settled(self, state: FlagState, waiting: tuple[_Batch, ...]) -> FlagState:
        """Return a copy of a state, with the rows that wait."""
        state = state.copy()
        for plain, batches in itertools.groupby(waiting, lambda batch: batch[1] is None):
            rows, counts = zip(*batches, strict=True)
            weights = None if plain else np.concatenate(counts)
            state.insert(np.concatenate(rows), weights)
        return state

    def merge(self, other: Flag) -> Flag:
        """Return the flag M_k = Σ_{i+j=k} V_i ∩ W_j of two shards (V_0 = W_0 = F^d).

        Commutative, but not associative, and not the flag of the concatenated rows: the
        order of merges is part of the algorithm (:func:`merge_flags` fixes one).
        """
        if not isinstance(other, Flag):
            raise TypeError(f"a flag merges with a flag, got {type(other).__name__}")
        if self.field != other.field or self.dim != other.dim:
            raise InputError(
                f"the flags do not fit: one is over {self.field}^{self.dim}, "
                f"the other over {other.field}^{other.dim}"
            )
        n_rows = checked_total(self.n_rows, other.n_rows)
        basis, counts = self.field.merge(*self._adapted(), *other._adapted())
        # Merging a single row is the same as inserting it, so it makes no further shard.
        shards = sum(f.n_shards for f in (self, other) if f.n_rows > 1)
        return Flag._restore(self.field, self.dim, basis, counts, n_rows, max(1, shards))

    def copy(self) -> Flag:
        """Return an independent copy."""
        twin = Flag(self.dim, self.field)
        twin._held = self._held
        twin.n_rows, twin.n_shards = self.n_rows, self.n_shards
        return twin

    @property
    def counts(self) -> Array:
        """The counts of the basis vectors, falling; their sum is the number of non-zero rows."""
        return self._adapted()[1].copy()

    @property
    def rank(self) -> int:
        """The dimension of V_1, the span of all rows."""
        return len(self._adapted()[1])

    @property
    def n_sets(self) -> int:
        """The number of sets of the partition; V_j = {0} for larger j."""
        counts = self._adapted()[1]
        return int(counts[0]) if len(counts) else 0

    def levels(self) -> list[Level]:
        """Return the distinct spaces, from V_1 (the largest) to the last."""
        counts = self._adapted()[1]
        levels, first = [], 1
        for last in sorted(set(counts.tolist())):
            levels.append(Level(int(np.count_nonzero(counts >= last)), first, last))
            first = last + 1
        return levels

    def dim_at(self, j: int) -> int:
        """Return dim V_j (j counts from 1); 0 past the last set."""
        number = checked_integer(j, 1, "sets are numbered from 1 on")
        return int(np.count_nonzero(self._adapted()[1] >= number))

    def span_at(self, j: int) -> Subspace:
        """Return V_j (j counts from 1); {0} past the last set."""
        dim = self.dim_at(j)
        return Subspace.of_rows(self._adapted()[0][:dim], self.field)

    def adapted_basis(self, *, canonical: bool = True) -> tuple[Rows, Array]:
        """Return the canonical counted basis: equal flags give equal arrays.

        Level by level from the smallest space outwards, each block reduced modulo the
        blocks before it and in reduced row echelon form. Or the one at hand, of the same spaces.
        """
        rest, counts = self._adapted()
        if not canonical:
            return rest, counts
        blocks = self.field.empty(0, self.dim)
        start = 0
        while start < len(counts):
            size = int(np.count_nonzero(counts == counts[start]))
            block, pivots = self.field.rref(rest[:size])
            blocks = self.field.stack(blocks, block)
            rest = self.field.reduce(rest[size:], block, pivots)
            start += size
        return blocks, counts

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Flag):
            return NotImplemented
        return (
            (self.field, self.dim, self.n_rows, self.n_shards)
            == (other.field, other.dim, other.n_rows, other.n_shards)
            and np.array_equal(self._adapted()[1], other._adapted()[1])
            and np.array_equal(
                self.field.matrix(self.adapted_basis()[0]),
                self.field.matrix(other.adapted_basis()[0]),
            )
        )

    def __repr__(self) -> str:
        shards = f", n_shards={self.n_shards}" if self.n_shards > 1 else ""
        return (
            f"Flag(dim={self.dim}, field={self.field}, n_rows={self.n_rows}, "
            f"rank={self.rank}, n_sets={self.n_sets}{shards})"
        )

    def _repr_html_(self) -> str:
        facts = [
            ("Rows", f"{self.n_rows:,}"),
            ("Dimension", f"{self.rank:,} of {self.dim:,}"),
            ("Sets", f"{self.n_sets:,}"),
        ]
        levels = [
            (f"{v.first:,}" + f" … {v.last:,}" * (v.multiplicity > 1), f"{v.dim:,}")
            for v in self.levels()
        ]
        spans = table(levels, head=("Sets", "span dimension")) if levels else ""
        return card(f"Flag over {self.field}", table(facts), spans)

    def to_bytes(self) -> bytes:
        """Serialize on the canonical basis: equal flags are byte-identical.

        The layout is in :mod:`flagstone.algebra.serialize`; a checksum guards every byte.
        """
        basis, counts = self.adapted_basis()
        return serialize.flag_to_bytes(
            self.field, self.dim, basis, counts, self.n_rows, self.n_shards
        )

    @classmethod
    def from_bytes(cls, data: bytes) -> Flag:
        """Read what :meth:`to_bytes` wrote; anything else is refused with a reason."""
        try:
            flag = cls.of_basis(*serialize.flag_from_bytes(data))
            if flag.to_bytes() != bytes(data):  # also where the header says more than is asked
                raise ValueError("they are not the canonical ones")
        except FormatError:
            raise
        except (ValueError, MemoryError) as error:
            raise FormatError(f"these bytes are no valid flag: {error}") from error
        return flag

    def __reduce__(self) -> tuple[Any, tuple[bytes]]:
        return Flag.from_bytes, (self.to_bytes(),)

    @classmethod
    def of_basis(
        cls, field: Field, dim: int, basis: Rows, counts: Array, n_rows: int, n_shards: int = 1
    ) -> Flag:
        """Return the flag that a counted basis describes; raise an error if it describes none."""
        if len(counts) and (counts[-1] < 1 or (np.diff(counts) > 0).any()):
            raise InputError("the counts of a flag must be falling positive integers")
        if n_shards < 1 or not sum(counts.tolist()) <= checked_total(0, n_rows):
            raise InputError("a flag cannot count more rows than it saw")
        if len(basis) != len(counts) or len(field.rref(basis)[1]) != len(counts):
            raise InputError("a flag needs a basis: independent vectors, one for each count")
        return cls._restore(field, dim, basis, counts, n_rows, n_shards)

    @classmethod
    def _restore(
        cls, field: Field, dim: int, basis: Rows, counts: Array, n_rows: int, n_shards: int
    ) -> Flag:
        flag = cls(dim, field)
        flag._held = field.kernel.flag_load(dim, field.matrix(basis), counts), ()
        flag.n_rows, flag.n_shards = n_rows, n_shards
        return flag

    def _adapted(self) -> tuple[Rows, Array]:
        """Return some counted basis, counts falling, as it comes from the kernel."""
        held, known = self._held, self._snapshot
        if known is None or known[0] is not held:
            state = self._settled(*held) if held[1] else held[0]
            basis, counts = state.dump()
            # with what it is of: another thread may have come up with more rows meanwhile
            self._snapshot = known = held, state, (self.field.wrap(basis, self.dim), counts)
        return known[2]


def merge_flags(flags: Iterable[Flag]) -> Flag:
    """Merge shards by the fixed tree: (0, 1), (2, 3), …, an odd one carried up, and again.

    Merging is not associative, so the tree is part of the algorithm: it depends on the
    numbers of the shards alone, never on which worker was done first.

    Examples
    --------
    >>> from flagstone import Flag
    >>> from flagstone.algebra.flag import merge_flags
    >>> shards = [Flag(2).update([[1, 0], [1, 1]]) for _ in range(3)]
    >>> merge_flags(shards).counts.tolist()
    [3, 3]
    """
    return merge_tree(flags, Flag.merge)


def merge_tree(parts: Iterable[T], merge: Callable[[T, T], T]) -> T:
    """Put parts together two by two, by the tree of `merge_flags`; the one home of that tree.

    >>> merge_tree("abcde", lambda a, b: f"({a}{b})")
    '(((ab)(cd))e)'
    """
    layer = list(parts)
    if not layer:
        raise InputError("there are no flags to merge")
    while len(layer) > 1:
        pairs = [merge(a, b) for a, b in zip(layer[::2], layer[1::2], strict=False)]
        layer = pairs + layer[2 * len(pairs) :]
    return layer[0]
