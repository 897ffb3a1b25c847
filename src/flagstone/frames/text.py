"""What is said about the digests of frames, on the console and in reports: labels and texts."""

from __future__ import annotations

from typing import Any

import numpy as np

from flagstone.frames.digests import MOST_COLUMNS, Digest
from flagstone.frames.digests.crc import also_called
from flagstone.frames.digests.digest import different_rows
from flagstone.frames.ruler import as_options, in_bytes, place_text
from flagstone.frames.study import Study
from flagstone.wording import counted

#: The most equations that are listed where no digest explains them.
_LISTED = 8
#: Digests of eight bits are found in this many different frames; these are counted in few frames.
_FEWEST, _COUNTED = 12, 10_000
Line = tuple[str, str]


def digest_text(digest: Digest) -> str:
    """Return the name of a digest and its place."""
    name = also_called(digest.name or "check bits without a known name")
    return f"{in_bytes(name)}, in {place_text(digest.rule.checks)}"


def headline(found: Study) -> str:
    """Return what was found, in a line."""
    if not found.checks:
        return f"No digest found in {counted(found.finding.rows.read, 'frame')}"
    names = "; ".join(digest_text(digest) for digest in found.checks)
    fit = min(digest.rows_verified - digest.rows_broken for digest in found.checks)
    return f"{names}: fits {fit:,} of {counted(found.checks[0].rows_verified, 'frame')}"


def digest_lines(found: Study) -> list[Line]:
    """Return name, place, formula and evidence of each digest; equations where there is none."""
    lines: list[Line] = []
    for digest in found.checks:
        lines += _digest(digest, found)
    if lines:
        return [*lines, *([("  strength", str(found.strength))] if found.strength else [])]
    if found.analysis is None:
        most = f"more than {MOST_COLUMNS:,} bits vary"
        cut = f"cut the frames to their first bits: --truncate --length {MOST_COLUMNS}"
        return [("digest", f"not looked for: {most}; {cut}")]
    if not len(found.rows) and not found.analysis.looked:
        return [("digest", "not looked for: the frames were not read")]
    lines.append(("digest", "none found; tried CRC widths 3–32, LFSR, XOR, sums"))
    n = len(np.unique(found.rows, axis=0)) if len(found.rows) < _COUNTED else _FEWEST
    if 0 < n < _FEWEST:
        said = f"{counted(n, 'different frame')} may be too few to show one"
        lines.append(("", f"{said}: capture at least {_FEWEST}"))
    answer: Any = found.finding.answer
    texts = list(answer.lines) if found.finding.is_answer else []  # a few rows obey much by chance
    known = [text for text, row in zip(texts, answer.shown[:, :-1], strict=False) if row.sum() > 1]
    for i, text in enumerate(known[:_LISTED]):
        lines.append(("" if i else "equations", as_options(text)))
    if len(known) > _LISTED:
        lines.append(("", f"… and {len(known) - _LISTED} more: --as text"))
    return lines


def _digest(digest: Digest, found: Study) -> list[Line]:
    lines = [
        ("digest", digest_text(digest)),
        ("  formula", in_bytes(digest.formula)),
    ]
    if digest.kind == "linear":
        lines += _keys(digest)
    fit = digest.rows_verified - digest.rows_broken
    said = f"fits {fit:,} of {counted(digest.rows_verified, 'frame')}"
    if len(found.rows):
        n, w = different_rows(digest, found.rows), len(digest.columns)
        said += f": {n:,} different ones × {counted(w, 'bit')} = {counted(n * w, 'bit')}"
        said += f", against 2^{digest.candidate_bits} candidates"
    return [*lines, ("  evidence", said)]


def _keys(digest: Digest) -> list[Line]:
    """Return the keys of check bits without a name, a line for each byte."""
    keys = {int(name[1:]): key for name, key in digest.parameters["keys"].items()}
    by_byte = [
        (byte, [f"{7 - i % 8}: {keys[i]}" for i in range(8 * byte, 8 * byte + 8) if i in keys])
        for byte in range(max(keys) // 8 + 1)
    ]
    lines = [("", f"byte {byte} bit {'  '.join(texts)}") for byte, texts in by_byte if texts]
    if len(lines) > _LISTED:
        lines = [*lines[:_LISTED], ("", "… and more: --json, --as c")]
    return lines


def next_lines(found: Study) -> list[Line]:
    """Return which data bits should vary in the next capture."""
    unseen = found.unseen
    if unseen is None or not str(unseen):
        return []
    said = "what these bits add to the digest is unseen: capture frames in which they differ"
    return [("capture", str(unseen)), ("", said)]
