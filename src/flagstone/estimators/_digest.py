"""A digest of rows that does not depend on how they came in batches, and that can be pickled."""

from __future__ import annotations

import hashlib

import numpy as np

from flagstone.fields import Array, Field, Rows
from flagstone.subspace import canonical_text

_CHUNK = 1 << 16


class RowDigest:
    """Runs over rows and labels; equal ones in equal order give equal digests.

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
        self._states = [(b"", b""), (b"", b"")]  # of rows and of labels: chain, bytes not in it

    def update(self, rows: Rows, labels: Array | None) -> RowDigest:
        """Return the digest of these rows after the others."""
        after = RowDigest(self._field)
        parts = (self._field.matrix(rows), np.empty(0) if labels is None else labels)
        after._states = [
            _chained(*state, _bytes(self._field, part))
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


def _chained(chain: bytes, rest: bytes, data: memoryview) -> tuple[bytes, bytes]:
    """Hash whole chunks into the chain, and keep the bytes past the last."""
    if rest and len(rest) + len(data) >= _CHUNK:
        head = _CHUNK - len(rest)
        chain = hashlib.sha256(chain + rest + data[:head]).digest()
        rest, data = b"", data[head:]
    whole = 0 if rest else len(data) // _CHUNK * _CHUNK
    for start in range(0, whole, _CHUNK):
        running = hashlib.sha256(chain)
        running.update(data[start : start + _CHUNK])
        chain = running.digest()
    return chain, rest + bytes(data[whole:])
