"""Findings and flags on disk: versioned, checksummed, written atomically, never executed.

A file is one JSON document:

    {"format": "flagstone", "version": 2, "kind": "finding", "content": {…}, "sha256": "…"}

The checksum is the SHA-256 of the document without it, as JSON with sorted keys, no spaces
and non-ASCII characters escaped. Binary data (a serialized flag) are base64 text inside.
Reading is ``json.loads`` and nothing else: no file can make it run code. Equal keys, numbers
that are none (NaN) and nesting without end are refused. Newer, damaged and foreign files are
refused with a reason.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from flagstone.algebra import Flag
from flagstone.answers import Answer
from flagstone.disk import (
    atomic_write,
    check_fields,
    json_checksum,
    json_text,
    parse_json,
    read_regular,
)
from flagstone.encoding import Encoding
from flagstone.errors import FlagstoneError, FormatError, InputError
from flagstone.finding import Finding
from flagstone.protocol import Protocol
from flagstone.question import Question, SpanQuestion, question_from_dict

VERSION = 2
_FORMAT = "flagstone"


class ForeignFileError(FormatError):
    """A file that was not written by flagstone, as far as can be seen."""


def pack_document(kind: str, content: Mapping[str, Any]) -> bytes:
    """Return the bytes of a document; equal contents give equal bytes."""
    document = {"format": _FORMAT, "version": VERSION, "kind": kind, "content": dict(content)}
    document["sha256"] = json_checksum(document)
    return json_text(document, indent=1, sort_keys=True).encode() + b"\n"


def unpack_document(data: bytes, name: str = "these bytes") -> tuple[str, dict[str, Any]]:
    """Return (kind, content) of a document, or raise an error that says what is wrong."""
    try:
        document = parse_json(data)
    except ValueError as error:
        raise ForeignFileError(
            f"{name}: not a flagstone file, or cut short or damaged (not JSON: {error})"
        ) from error
    if not isinstance(document, dict) or document.get("format") != _FORMAT:
        raise ForeignFileError(f"{name}: not a flagstone file (it does not say so)")
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
    """Write a document atomically; an existing one may be replaced."""
    atomic_write(path, pack_document(kind, content), overwrite=overwrite, keep_equal=True)


def read_document(path: str | Path) -> tuple[str, dict[str, Any]]:
    """Read a document, refusing foreign, damaged and newer ones with a reason."""
    return unpack_document(read_regular(path), str(path))


_LOOK = 4096
#: What the details of a summary must be, where they are there.
_DETAILS = {
    "sources": list,
    "skipped": int,
    "reading": dict,
    "seed": str | None,
    "conditions": list,
}


@dataclass(frozen=True)
class SummaryFile:
    """A flag with what its rows are: enough to merge it and to answer from it."""

    summary: Flag
    question: Question
    encoding: Encoding | None = None
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def seed(self) -> str | None:
        """The seed published with the summary, if any."""
        return self.details.get("seed")

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "summary": "flag",
            "bytes": base64.b64encode(self.summary.to_bytes()).decode(),
            "question": self.question.to_dict(),
            "encoding": None if self.encoding is None else self.encoding.to_dict(),
            "details": dict(self.details),
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], name: str = "this file") -> SummaryFile:
        """Read the JSON form."""
        try:
            if content["summary"] != "flag":
                raise ValueError("it holds another kind of summary")
            encoding = content["encoding"]
            return cls(
                Flag.from_bytes(base64.b64decode(content["bytes"], validate=True)),
                question_from_dict(content["question"]),
                None if encoding is None else Encoding.from_dict(encoding),
                _checked_details(content["details"]),
            )
        except (KeyError, TypeError, ValueError, binascii.Error, FlagstoneError) as error:
            raise FormatError(f"{name}: no valid flag ({error})") from error


def _checked_details(details: Any) -> dict[str, Any]:
    if not isinstance(details, dict):
        raise ValueError("its details are no JSON object")
    check_fields({key: details[key] for key in _DETAILS if key in details}, {}, _DETAILS)
    texts = [*details.get("sources", []), *details.get("conditions", [])]
    if details.get("skipped", 0) < 0 or not all(isinstance(text, str) for text in texts):
        raise ValueError("its sources are no names, or it skipped fewer rows than none")
    return details


#: What a document can hold.
_KINDS: dict[str, Any] = {"finding": Finding, "summary": SummaryFile, "protocol": Protocol}


def save(path: str | PathLike[str], thing: Any, *, overwrite: bool = False) -> None:
    """Write a finding (or what has one), an answer or a flag to a file, atomically.

    Parameters
    ----------
    path : str or Path
    thing : Finding, fitted estimator, Answer, Protocol, SummaryFile or Flag
    overwrite : bool
        Replace any file that exists; otherwise only one that holds the same kind of thing.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from flagstone.answers import ParityRule
    >>> from flagstone.store import load, save
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "rule.json"
    >>> save(path, ParityRule([0, 1, 1], 1))
    >>> print(load(path).answer)
    y = x1 ⊕ x2 ⊕ 1
    """
    thing = getattr(thing, "finding_", thing)
    if isinstance(thing, Answer):
        thing = Finding.of(thing)
    if isinstance(thing, Flag):
        thing = SummaryFile(thing, SpanQuestion())
    kind = next((kind for kind, type_ in _KINDS.items() if isinstance(thing, type_)), None)
    if kind is None:
        raise InputError(
            "a finding, a fitted estimator, an answer, a protocol or a flag can be saved, "
            f" got {type(thing).__name__}"
        )
    overwrite = overwrite or _kind_of(path) == kind
    write_document(Path(path), kind, thing.to_dict(), overwrite=overwrite)


def _kind_of(path: str | PathLike[str]) -> str | None:
    """Return the contents of a file of flagstone; None for other files, and without a file."""
    try:
        return read_document(Path(path))[0] if is_saved(path) else None
    except (FlagstoneError, OSError):
        return None


def is_saved(path: str | PathLike[str]) -> bool:
    """Say whether a file holds what :func:`save` wrote, however it was indented since.

    A table is told apart by a look at both ends of the file; only what may be a document of
    ours is read as one.
    """
    try:
        if not Path(path).is_file():  # to open a pipe is to wait for its other end
            return False
        with Path(path).open("rb") as stream:
            head = stream.read(_LOOK)
            stream.seek(max(0, Path(path).stat().st_size - _LOOK))
            ends = head + stream.read(_LOOK)
        if not head.lstrip().startswith(b"{") or b'"format"' not in ends:
            return False
        read_document(Path(path))
    except OSError:
        return False
    except FlagstoneError as error:
        # of a damaged document the reader says what is wrong; a table is none
        return not isinstance(error, ForeignFileError)
    return True


def load(path: str | PathLike[str]) -> Any:
    """Read what :func:`save` wrote: a Finding, a SummaryFile or a Protocol.

    Raises
    ------
    FormatError
        The file is foreign, damaged, or written by a newer flagstone.
    """
    name = str(Path(path))
    kind, content = read_document(Path(path))
    if kind not in _KINDS:
        raise FormatError(f"{name}: a flagstone {kind}, neither a finding, a flag nor a protocol")
    return _KINDS[kind].from_dict(content, name)
