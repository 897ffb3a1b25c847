"""A digest of rows that does not depend on how they came in batches, and that can be pickled."""

from __future__ import annotations

import numpy as np

from flagstone.algebra.fields import Array, Field, Rows
from flagstone.algebra.subspace import canonical_text

_CHUNK = 1 << 16
_START, _HALF = np.uint64(0x9E3779B97F4A7C15), np.uint64(32)


class RowDigest:
    """Runs over rows and labels; equal ones in equal order give equal digests.

    Made to notice mistakes, not malice: whoever certifies has only his own rows to mix up.

    Examples
    --------
    >>> from flagstone import GF
    >>> F, X = GF(2), GF(2).rows([[1, 0], [0, 1], [1, 1]])
    >>> digest = RowDigest(F).update(X[:1], None).update(X[1:], None)
    >>> digest == digest_of(F, X, None), digest == digest_of(F, X[:2], None)
    (True, False)
    """

    def __init__(self, field: Field) -> None:
        self._field = field
        self._states = [(b"", b""), (b"", b"")]  # of rows and of labels: lanes, bytes not in them

    def update(self, rows: Rows, labels: Array | None) -> RowDigest:
        """Return the digest of these rows after the others."""
        after = RowDigest(self._field)
        parts = (self._field.matrix(rows), np.empty(0) if labels is None else labels)
        after._states = [
            _mixed(*state, _bytes(self._field, part))
            for state, part in zip(self._states, parts, strict=True)
        ]
        return after

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RowDigest) and self._states == other._states

    __hash__ = None  # type: ignore[assignment]


def digest_of(field: Field, rows: Rows, labels: Array | None) -> RowDigest:
    """Return the digest of all rows at once."""
    return RowDigest(field).update(rows, labels)


def _bytes(field: Field, part: Array) -> memoryview:
    if not part.size:
        return memoryview(b"")
    if part.dtype == object:
        return memoryview(canonical_text(field, part.reshape(len(part), -1)))
    return np.ascontiguousarray(part).data.cast("B")


def _mixed(lanes: bytes, rest: bytes, data: memoryview) -> tuple[bytes, bytes]:
    """Mix whole chunks into the lanes, word by word, and keep the bytes past the last.

    For given words each step turns different lanes into different ones.
    """
    if len(rest) + len(data) < _CHUNK:
        return lanes, rest + bytes(data)
    head = _CHUNK - len(rest) if rest else 0
    first, data = rest + bytes(data[:head]), data[head:]
    whole = len(data) // _CHUNK * _CHUNK
    chunks = [first] * bool(rest) + [data[i : i + _CHUNK] for i in range(0, whole, _CHUNK)]
    mixed = np.frombuffer(lanes, np.uint64).copy() if lanes else np.full(_CHUNK // 8, _START)
    for chunk in chunks:
        mixed ^= np.frombuffer(chunk, np.uint64)
        mixed *= _START  # odd, so nothing is lost; it carries upwards only, hence the shift
        mixed ^= mixed >> _HALF
    return mixed.tobytes(), bytes(data[whole:])
