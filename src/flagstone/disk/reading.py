"""Bytes of regular files, of bounded size; strict JSON in and out."""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import UnionType
from typing import Any

from flagstone.errors import FormatError, InputError

Kind = type | UnionType

#: More than any file of flagstone holds; larger files are not read.
MOST_BYTES = 1 << 30


def read_regular(path: str | Path) -> bytes:
    """Return the bytes of a file; pipes, devices and huge files are refused before reading."""
    try:
        _check_kind(path, os.stat(path))
        # a pipe that has taken its place since must not block us
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with open(handle, "rb") as stream:
            found = os.fstat(handle)
            _check_kind(path, found)
            data = stream.read(found.st_size + 1)  # memory is taken for as much as is asked for
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    if len(data) > found.st_size:
        raise FormatError(
            f"{path}: grew while it was read; try again when it is no longer written to"
        )
    return data


def _check_kind(path: str | Path, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise InputError(f"{path} is no regular file, and is not read")
    if found.st_size > MOST_BYTES:
        raise FormatError(f"{path}: not a file of flagstone (it is larger than 1 GB)")


def parse_json(data: bytes) -> Any:
    """Return the value of a JSON text; ValueError for any other, and for what JSON leaves open.

    >>> parse_json(b'{"a": 1, "a": 2}')
    Traceback (most recent call last):
        ...
    ValueError: the key 'a' comes twice
    """
    try:
        return json.loads(data.decode(), object_pairs_hook=_unique, parse_constant=_no_constant)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def repeated(names: Iterable[str]) -> str | None:
    """Return the first name that occurs a second time.

    >>> repeated(["a", "b", "a"])
    'a'
    """
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError(f"the key {repeated(key for key, _ in pairs)!r} comes twice")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def json_text(data: Any, **options: Any) -> str:
    r"""Return data as JSON that prints anywhere: what cannot be seen or encoded is escaped.

    >>> print(json_text({"⊕": "\x9b31m", "half": "\ud800"}))
    {"⊕": "\u009b31m", "half": "\ud800"}
    """
    text = json.dumps(data, **({"ensure_ascii": False, "allow_nan": False} | options))
    return re.sub(r"[^\n -~]", _escape, text)


def _escape(found: re.Match[str]) -> str:
    character = found[0]
    return character if character.isprintable() else json.dumps(character)[1:-1]


def json_checksum(document: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a JSON object: with sorted keys, no spaces, and ASCII only.

    ValueError for numbers that JSON does not have.
    """
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def check_fields(
    record: Any, must: Mapping[str, Kind], may: Mapping[str, Kind] | None = None
) -> dict[str, Any]:
    """Return a JSON object that has all required fields of the right types, and no others.

    ``float`` stands for any finite number; nothing else takes a truth value for a number.

    >>> check_fields({"pair": True}, {"pair": int})
    Traceback (most recent call last):
        ...
    ValueError: 'pair' must be of type int, got True
    """
    if not isinstance(record, dict):
        raise ValueError("it is no JSON object")
    known = {**must, **(may or {})}
    for key in must.keys() - record.keys():
        raise ValueError(f"it lacks {key!r}")
    for key, value in record.items():
        if key not in known:
            raise ValueError(f"it has an unknown field {key[:40]!r}")
        kind = known[key]
        fits = isinstance(value, (int, float) if kind is float else kind)
        if isinstance(value, bool) and kind is not bool:
            fits = False
        if not fits or (kind is float and not math.isfinite(value)):
            name = getattr(kind, "__name__", kind)
            raise ValueError(f"{key!r} must be of type {name}, got {repr(value)[:40]}")
    return record
