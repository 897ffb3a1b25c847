"""The container: one JSON document with a format, a version and a checksum.

    {"format": "flagstone", "version": 2, "kind": "finding", "content": {…}, "sha256": "…"}

The checksum is the SHA-256 of the document without it, as JSON with sorted keys, no spaces
and non-ASCII characters escaped. Binary data (a serialized flag) are base64 text inside.
Reading is ``json.loads`` and nothing else: no file can make it run code. Equal keys, numbers
that are none (NaN) and nesting without end are refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flagstone.disk import atomic_write, json_checksum, json_text, parse_json, read_regular
from flagstone.errors import FormatError

VERSION = 2
_FORMAT = "flagstone"


class ForeignFileError(FormatError):
    """A file that is none of ours, as far as can be seen."""


def pack_document(kind: str, content: Mapping[str, Any]) -> bytes:
    """Return the bytes of a document; equal contents give equal bytes."""
    document = {"format": _FORMAT, "version": VERSION, "kind": kind, "content": dict(content)}
    document["sha256"] = json_checksum(document)
    return json_text(document, indent=1, sort_keys=True).encode() + b"\n"


def unpack_document(data: bytes, name: str = "these bytes") -> tuple[str, dict[str, Any]]:
    """Return (kind, content) of a document, or say why it is none."""
    try:
        document = parse_json(data)
    except ValueError as error:
        raise ForeignFileError(
            f"{name}: no flagstone file, or cut short or damaged (it is not JSON: {error})"
        ) from error
    if not isinstance(document, dict) or document.get("format") != _FORMAT:
        raise ForeignFileError(f"{name}: no flagstone file (it does not say so)")
    version = document.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise FormatError(f"{name}: damaged (it has no format version)")
    if version > VERSION:
        raise FormatError(
            f"{name}: written in format version {version}, newer than {VERSION}; "
            "update flagstone to read it"
        )
    if version < VERSION:
        raise FormatError(
            f"{name}: written by a development version, in format {version}, which nothing reads "
            "any more; make it again"
        )
    given = document.pop("sha256", None)
    try:
        found = json_checksum(document)
    except (ValueError, RecursionError) as error:  # NaN, or nested without end
        raise FormatError(f"{name}: damaged ({error})") from error
    if given != found:
        raise FormatError(f"{name}: damaged (its checksum does not match); get it again")
    kind, content = document.get("kind"), document.get("content")
    if not isinstance(kind, str) or not isinstance(content, dict):
        raise FormatError(f"{name}: damaged (it has no kind or no content)")
    return kind, content


def write_document(
    path: str | Path, kind: str, content: Mapping[str, Any], *, overwrite: bool = False
) -> None:
    """Write a document atomically; one that stands there already may be written again."""
    atomic_write(path, pack_document(kind, content), overwrite=overwrite, keep_equal=True)


def read_document(path: str | Path) -> tuple[str, dict[str, Any]]:
    """Read a document, refusing foreign, damaged and newer ones with a reason."""
    return unpack_document(read_regular(path), str(path))
