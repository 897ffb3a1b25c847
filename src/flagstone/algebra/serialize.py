"""Flags as bytes: self-describing, checksummed, never executed.

The layout: the magic ``b"flagstone\\n"``; the format version and the length of the header as
little-endian 4-byte integers; the header, JSON with sorted keys and no spaces; the arrays;
and the SHA-256 of everything before it. Integers in arrays are little-endian.

- Flag: the counts (int64), then the canonical counted basis: packed words (uint64) over
  GF(2), integers of the field's dtype over other finite fields, lines of text over QQ.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np

from flagstone.algebra.bitrows import BitRows
from flagstone.algebra.fields import Array, Field, Rows, as_field
from flagstone.checks import shown
from flagstone.errors import FormatError
from flagstone.exact import exact_rational

FORMAT_VERSION = 1
_MAGIC = b"flagstone\n"
_HASH_SIZE = 32
_MOST_COLUMNS = 1 << 20  # memory grows with the square: 128 GiB for this many over GF(2)


def flag_to_bytes(
    field: Field, dim: int, basis: Rows, counts: Array, n_rows: int, n_shards: int
) -> bytes:
    """Return the bytes of a flag, of which this is the canonical counted basis."""
    header = {
        "kind": "flag",
        "field": field.name,
        "dim": dim,
        "rank": len(counts),
        "n_rows": n_rows,
        "n_shards": n_shards,
    }
    text = json.dumps(header, sort_keys=True, separators=(",", ":")).encode()
    matrix = field.matrix(basis)
    if field.order is None:
        rows = field.canonical_text(matrix)
    else:
        rows = matrix.astype(matrix.dtype.newbyteorder("<")).tobytes()
    sizes = FORMAT_VERSION.to_bytes(4, "little") + len(text).to_bytes(4, "little")
    content = _MAGIC + sizes + text + counts.astype("<i8").tobytes() + rows
    return content + hashlib.sha256(content).digest()


def flag_from_bytes(data: bytes) -> tuple[Field, int, Rows, Array, int, int]:
    """Return what `flag_to_bytes` got; the counted basis may still not describe a flag."""
    header, body = _open(data)
    name = header.get("field")
    if not isinstance(name, str):
        raise ValueError(f"its field must be a name, got {shown(name)}")
    field = as_field(name)
    dim = _number(header, "dim", 1, _MOST_COLUMNS)
    rank = _number(header, "rank", 0, dim)
    n_rows = _number(header, "n_rows", 0, 2**63 - 1)
    n_shards = _number(header, "n_shards", 1, max(1, n_rows))
    _check_size(body[: 8 * rank], 8 * rank)
    counts = np.frombuffer(body[: 8 * rank], dtype="<i8").astype(np.int64)
    basis = _rows_from_bytes(body[8 * rank :], field, rank, dim)
    return field, dim, basis, counts, n_rows, n_shards


def _number(header: dict[str, Any], key: str, least: int, most: int) -> int:
    value = header.get(key)
    if type(value) is not int or not least <= value <= most:
        raise ValueError(f"its {key} must be an integer in {least}..{most}, got {shown(value)}")
    return value


def _check_size(body: bytes, size: int) -> None:
    if len(body) != size:
        raise ValueError(f"its header announces arrays of {size:,} bytes, not of {len(body):,}")


def _open(data: bytes) -> tuple[dict[str, Any], bytes]:
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise FormatError(f"a flag is read from bytes, got {type(data).__name__}")
    data = bytes(data)
    start = len(_MAGIC) + 8
    if not data.startswith(_MAGIC) or len(data) < start + _HASH_SIZE:
        raise FormatError("these bytes are no flagstone flag: they do not start like one")
    content, digest = data[:-_HASH_SIZE], data[-_HASH_SIZE:]
    if hashlib.sha256(content).digest() != digest:
        raise FormatError("this flag is damaged: its checksum does not match; get it again")
    version = int.from_bytes(data[start - 8 : start - 4], "little")
    if version > FORMAT_VERSION:
        raise FormatError(
            f"this flag has format version {version}, newer than {FORMAT_VERSION}; "
            "update flagstone to read it"
        )
    end = start + int.from_bytes(data[start - 4 : start], "little")
    try:
        header = json.loads(content[start:end])
    except (ValueError, RecursionError) as error:
        raise FormatError(f"this flag has no readable header: {error}") from error
    if not isinstance(header, dict) or header.get("kind") != "flag":
        raise FormatError("these bytes hold no flag")
    return header, content[end:]


def _rows_from_bytes(body: bytes, field: Field, n_rows: int, dim: int) -> Rows:
    if field.order is None:
        lines = [line.split(" ") for line in body.decode("ascii").split("\n")]
        if lines.pop() != [""] or len(lines) != n_rows or {dim} < {dim, *map(len, lines)}:
            raise ValueError(f"its basis must be {n_rows} lines of {dim} entries")
        array: Array = np.empty((n_rows, dim), dtype=object)
        for i, line in enumerate(lines):
            array[i] = [exact_rational(x) for x in line]
        return field.rows(array, dim=dim)
    if field.order == 2:
        n_words = -(-dim // 64)
        _check_size(body, 8 * n_words * n_rows)
        words = np.frombuffer(body, dtype="<u8").astype(np.uint64).reshape(n_rows, n_words)
        return BitRows(words, dim)
    _check_size(body, field.dtype.itemsize * dim * n_rows)
    flat = np.frombuffer(body, dtype=field.dtype.newbyteorder("<")).astype(field.dtype)
    return field.rows(flat.reshape(n_rows, dim), dim=dim)
