"""Summaries as bytes: self-describing, checksummed, never executed.

The layout: the magic ``b"flagstone\\n"``; the format version and the length of the header as
little-endian 4-byte integers; the header, JSON with sorted keys and no spaces; the arrays;
and the SHA-256 of everything before it. Integers in arrays are little-endian.

- Flag: the counts (int64), then the canonical counted basis: packed words (uint64) over
  GF(2), integers of the field's dtype over other finite fields, lines of text over QQ.
- Histogram: the values seen (int64, rising), then how often (int64).
"""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from flagstone.bitrows import BitRows
from flagstone.errors import FormatError, InputError
from flagstone.fields import Array, Field, Rows, as_field
from flagstone.subspace import canonical_text

if TYPE_CHECKING:
    from flagstone.flag import Flag
    from flagstone.histogram import Histogram

__all__ = [
    "FORMAT_VERSION",
    "flag_from_bytes",
    "flag_to_bytes",
    "histogram_from_bytes",
    "histogram_to_bytes",
]

FORMAT_VERSION = 1
_MAGIC = b"flagstone\n"
_HASH_SIZE = 32


def flag_to_bytes(flag: Flag) -> bytes:
    """Serialize a flag on its canonical counted basis."""
    basis, counts = flag.adapted_basis()
    header = {
        "kind": "flag",
        "field": flag.field.name,
        "dim": flag.dim,
        "rank": len(counts),
        "n_rows": flag.n_rows,
        "n_shards": flag.n_shards,
    }
    return _seal(header, counts.astype("<i8").tobytes() + _rows_to_bytes(basis, flag.field))


def flag_from_bytes(data: bytes) -> Flag:
    """Read a flag, or say why these bytes are none."""
    from flagstone.flag import Flag

    header, body = _open(data, "flag")
    try:
        field, dim, rank = as_field(header["field"]), int(header["dim"]), int(header["rank"])
        counts = np.frombuffer(body[: 8 * rank], dtype="<i8").astype(np.int64)
        basis = _rows_from_bytes(body[8 * rank :], field, rank, dim)
        n_rows, n_shards = header["n_rows"], header["n_shards"]
        if not (type(n_rows) is type(n_shards) is int and n_rows < 2**63 and n_shards >= 1):
            raise ValueError("its numbers of rows and shards are impossible")
        flag = Flag.of_basis(field, dim, basis, counts, n_rows, n_shards)
        if flag.to_bytes() != bytes(data):
            raise ValueError("its basis is not the canonical one")
    except (KeyError, ValueError, TypeError, InputError) as error:
        raise FormatError(f"these bytes are no valid flag: {error}") from error
    return flag


def histogram_to_bytes(histogram: Histogram) -> bytes:
    """Serialize a histogram by the values it has seen."""
    values = np.flatnonzero(histogram.counts)
    header = {
        "kind": "histogram",
        "field": histogram.field.name,
        "dim": histogram.dim,
        "n_values": len(values),
    }
    arrays = (values, histogram.counts[values])
    return _seal(header, b"".join(a.astype("<i8").tobytes() for a in arrays))


def histogram_from_bytes(data: bytes) -> Histogram:
    """Read a histogram, or say why these bytes are none."""
    from flagstone.histogram import Histogram

    header, body = _open(data, "histogram")
    try:
        histogram = Histogram(int(header["dim"]), header["field"])
        values, counts = np.frombuffer(body, dtype="<i8").reshape(2, header["n_values"])
        if len(values) and (values[0] < 0 or values[-1] >= len(histogram.counts)):
            raise ValueError("a value lies outside the domain")
        if (np.diff(values) <= 0).any() or (counts < 1).any():
            raise ValueError("its values are not rising, or a count is not positive")
        histogram._add(values, counts)
    except (KeyError, ValueError, TypeError, InputError) as error:
        raise FormatError(f"these bytes are no valid histogram: {error}") from error
    return histogram


def _seal(header: dict[str, Any], body: bytes) -> bytes:
    text = json.dumps(header, sort_keys=True, separators=(",", ":")).encode()
    sizes = FORMAT_VERSION.to_bytes(4, "little") + len(text).to_bytes(4, "little")
    content = _MAGIC + sizes + text + body
    return content + hashlib.sha256(content).digest()


def _open(data: bytes, kind: str) -> tuple[dict[str, Any], bytes]:
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise FormatError(f"a {kind} is read from bytes, got {type(data).__name__}")
    data = bytes(data)
    start = len(_MAGIC) + 8
    if not data.startswith(_MAGIC) or len(data) < start + _HASH_SIZE:
        raise FormatError(f"these bytes are no flagstone {kind}: they do not start like one")
    content, digest = data[:-_HASH_SIZE], data[-_HASH_SIZE:]
    if hashlib.sha256(content).digest() != digest:
        raise FormatError(f"this {kind} is damaged: its checksum does not match; get it again")
    version = int.from_bytes(data[start - 8 : start - 4], "little")
    if version > FORMAT_VERSION:
        raise FormatError(
            f"this {kind} has format version {version}, newer than {FORMAT_VERSION}; "
            "update flagstone to read it"
        )
    end = start + int.from_bytes(data[start - 4 : start], "little")
    try:
        header = json.loads(content[start:end])
    except ValueError as error:
        raise FormatError(f"this {kind} has no readable header: {error}") from error
    if not isinstance(header, dict) or header.get("kind") != kind:
        found = header.get("kind") if isinstance(header, dict) else None
        raise FormatError(f"these bytes hold a {found or 'foreign object'}, not a {kind}")
    return header, content[end:]


def _rows_to_bytes(rows: Rows, field: Field) -> bytes:
    matrix = field.matrix(rows)
    if field.order is None:
        return canonical_text(field, matrix)
    return matrix.astype(matrix.dtype.newbyteorder("<")).tobytes()


def _rows_from_bytes(body: bytes, field: Field, n_rows: int, dim: int) -> Rows:
    if field.order is None:
        lines = body.decode().splitlines()
        array: Array = np.array([[Fraction(x) for x in line.split(" ")] for line in lines], object)
        return field.rows(array.reshape(n_rows, dim), dim=dim)
    if field.order == 2:
        words = np.frombuffer(body, dtype="<u8").astype(np.uint64).reshape(n_rows, -(-dim // 64))
        return BitRows(words, dim)
    flat = np.frombuffer(body, dtype=field.dtype.newbyteorder("<")).astype(field.dtype)
    return field.rows(flat.reshape(n_rows, dim), dim=dim)
