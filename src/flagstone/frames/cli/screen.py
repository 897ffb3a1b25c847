"""The first screen: pattern, digest, damaged frames, what to capture next, and the decoder."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from flagstone.cli.console import UsageError, rerun_command, safe
from flagstone.cli.json_keys import FRAME_KEYS
from flagstone.cli.results import answer_lines, finding_json, remarks
from flagstone.cli.verbs import FrameOptions
from flagstone.errors import FormatError
from flagstone.frames.captures import MessageType
from flagstone.frames.captures.formats import bitbench_link
from flagstone.frames.digests import decoder_code
from flagstone.frames.ruler import marked, ruled, shortened
from flagstone.frames.study import Study
from flagstone.frames.text import Line, digest_lines, next_lines
from flagstone.wording import counted

#: The most notes that are printed.
_NOTES = 8
#: How many frames a link to BitBench holds.
_LINKED = 100


def print_study(found: Study, options: FrameOptions, written: Sequence[str]) -> None:
    """Print the first screen; with --promises, also what holds for future samples."""
    print(_head(found))
    for note in found.capture.notes[:_NOTES]:
        print(f"! {safe(note)}")
    print()
    lines = [*ruled(found.pattern), ("", ""), *digest_lines(found)]
    lines += damaged_lines(found, options.listed_rows)
    lines += next_lines(found)
    if found.checks:  # a decoder writes no files
        lines.append(
            ("decoder", f"{rerun_command(None, outputs=options)} --as c (or python, rtl_433)")
        )
    if options.promises:
        lines += [("", ""), *remarks(found.finding, 0)]
    else:
        seed = f"seed {found.finding.seed}, " if found.finding.seed is not None else ""
        lines.append(("finding", f"{seed}fingerprint {found.finding.fingerprint[:16]}"))
    lines += [("written", path) for path in written]
    print_lines(lines)


def print_lines(lines: Iterable[Line], margin: str = "") -> None:
    """Print labels and texts in two columns."""
    for label, text in lines:
        print(safe(f"{margin}{label:<12}{text}".rstrip()))


def _head(found: Study) -> str:
    """Return how many frames there are, how long, and what they were read as."""
    finding, n_bits = found.finding, len(found.pattern)
    size = counted(n_bits, "bit") + (f" ({n_bits // 8} bytes)" if n_bits % 8 == 0 else "")
    read = counted(finding.rows.read, "frame")
    if not found.capture:
        return f"{read} of {size}, from a saved finding"
    files = dict.fromkeys(place.file for place in found.places[:10_000])
    names = ", ".join(list(files)[:2]) + (", …" if len(files) > 2 else "")
    return safe(f"{read} of {size} in {names}, read as {found.capture.format}")


def damaged_lines(found: Study, most: int) -> list[Line]:
    """Return the frames that break a digest, with marked bytes and the bit that repairs each."""
    n = found.n_damaged
    if not len(found.rows):
        return []
    lines = [("damaged", f"{counted(n, 'frame')}" if n else "none")]
    for place, bits, marks, said in found.damaged(most):
        lines.append(("", f"{place}: {shortened(marked(bits, marks))}   {said}".rstrip()))
    if n > most:
        lines.append(("", f"… and {n - most:,} more: --max-misfits"))
    return lines


def shown_lines(found: Study, shown_as: str, strict: bool = False) -> list[str]:
    """Return the answer alone: equations, code that checks frames, or a link."""
    finding = found.finding
    if shown_as in ("bitbench", "hex"):
        return _frame_lines(found, shown_as)
    if shown_as == "rtl_433":
        return _decoder_lines(found)
    if shown_as not in ("c", "python"):
        return answer_lines(finding, shown_as)
    if not found.checks and not strict:
        raise UsageError(
            f"--as {shown_as} writes code for a digest, and none was found; say which the check "
            "bits are with --solve, or add --strict for what all frames obey"
        )
    return found.source_code(shown_as, strict).rstrip("\n").split("\n")


def _decoder_lines(found: Study) -> list[str]:
    """Return the named digests as lines of a decoder for rtl_433."""
    if not any(digest.name for digest in found.checks):
        raise UsageError(
            "--as rtl_433 writes code for digests with a name, and none was verified on frames; "
            "use --as c, which writes masks"
        )
    codes = dict(found.finding.provenance.get("reading") or {}).get("decode") or []
    names = found.finding.encoding.names
    try:
        code, left = decoder_code(names, found.checks)
    except (LookupError, TypeError, ValueError):
        raise FormatError("the finding holds a digest that no rows can have shown") from None
    lines = [f"reflect_bytes(b, {-(-len(names) // 8)});"] if "reverse-bytes" in codes else []
    lines += code.split("\n") if code else []
    rest = [f"/* no routine for this one; use --as c: {d.formula} */" for d in left]
    return [safe(line) for line in lines + rest]


def _frame_lines(found: Study, shown_as: str) -> list[str]:
    """Return the frames as digits, or the first of them as a link to BitBench with their layout."""
    if not len(found.rows):
        raise UsageError(f"--as {shown_as} writes frames, and a finding holds none: give the files")
    n_bits = found.rows.shape[1]
    rows = found.rows if shown_as == "hex" else found.rows[:_LINKED]
    packed = np.packbits(rows, axis=1)
    frames = [(n_bits, row.tobytes().hex()[: -(-n_bits // 4)]) for row in packed]
    if shown_as == "hex":
        return [f"{{{n_bits}}}{digits}" for _, digits in frames]
    checks = {i for digest in found.checks for i in digest.rule.checks}
    kinds = ["CHECK" if i in checks else "" for i in range(n_bits)]
    cuts = [i for i in range(1, n_bits) if kinds[i] != kinds[i - 1] or i % 8 == 0]
    layout = [
        f"{kinds[a]}:{b - a}h" if kinds[a] else f"{b - a}h"
        for a, b in zip([0, *cuts], [*cuts, n_bits], strict=True)
    ]
    return [bitbench_link(frames, " ".join(layout))]


def frame_keys(
    found: Study, types: Sequence[MessageType] | None, written: Sequence[str]
) -> dict[str, Any]:
    """Return everything for JSON."""
    keys, capture = dict.fromkeys(FRAME_KEYS), found.capture
    analysis = {} if found.analysis is None else found.analysis.to_dict()
    keys |= {name: analysis.get(name) for name in ("pattern", "digest", "relations")}
    if capture:
        first = [
            {**asdict(place), "frame": marked(bits, ()).replace(" ", ""), "marks": list(marks)}
            for place, bits, marks, _ in found.damaged(256)
        ]
        keys |= {
            "capture": {
                "format": capture.format,
                "frames": len(capture),
                "lengths": [list(pair) for pair in capture.lengths.most_common()],
                "notes": list(capture.notes),
            },
            "pattern": found.pattern,
            "damaged": {"frames": found.n_damaged, "first": first},
        }
    keys["capture_next"] = None if found.unseen is None else asdict(found.unseen)
    keys["strength"] = None if found.strength is None else asdict(found.strength)
    if types is not None:
        keys["types"] = [{"rows": len(one.rows), "told_by": one.told_by} for one in types]
    return finding_json(found.finding) | {"outputs": list(written)} | keys
