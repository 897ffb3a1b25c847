"""``frames --by``: an answer for each group of frames, and what the groups share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flagstone.cli.console import safe
from flagstone.cli.verbs import FrameOptions
from flagstone.comparison import common
from flagstone.finding import Finding
from flagstone.frames.captures import Capture
from flagstone.frames.cli.screen import frame_keys, print_lines
from flagstone.frames.ruler import in_bytes, ruled
from flagstone.frames.study import Study
from flagstone.frames.text import Line, digest_lines
from flagstone.wording import counted

Groups = Mapping[str, Study]


def print_groups(by: str, groups: Groups, capture: Capture, options: FrameOptions) -> None:
    """Print what the groups share, and then each of them."""
    print(f"{counted(len(groups), 'group')} by {safe(by)}, of {counted(len(capture), 'frame')}")
    for note in capture.notes:
        print(f"! {safe(note)}")
    print_lines(_shared_lines(groups))
    for value, found in groups.items():
        size = f"{counted(len(found.rows), 'frame')} of {len(found.pattern):,} bits"
        print(f"\n{safe(by)} {safe(in_bytes(value))}: {size}, {found.n_damaged:,} damaged")
        for note in found.capture.notes:
            if note not in capture.notes:
                print(f"! {safe(note)}")
        print_lines([*ruled(found.pattern), *digest_lines(found)], margin="  ")
    first = next(iter(groups.values())).finding
    print(f"\n{'finding':<12}seed {safe(str(first.seed))}")


def _shared_lines(groups: Groups) -> list[Line]:
    """Return the digests of the groups, each with the groups that have it."""
    if len(groups) < 2:
        return []
    members: dict[str, list[str]] = {}
    for value, found in groups.items():
        names = [in_bytes(digest.name or digest.formula) for digest in found.checks]
        members.setdefault(" and ".join(names) or "no digest", []).append(in_bytes(value))
    lines: list[Line] = []
    for name, values in members.items():
        which = "all groups" if len(values) == len(groups) else "; ".join(values[:8])
        more = f"; … ({len(values)})" if len(values) > 8 and len(values) < len(groups) else ""
        lines.append(("" if lines else "shared", f"{name}: {which}{more}"))
    shared = _shared(groups)
    if shared is not None:
        lines.append(("", f"{counted(len(shared.answer.lines), 'equation')} in common"))
    return lines


def _shared(groups: Groups) -> Finding | None:
    """Return what the equations of all groups have in common; None for several lengths."""
    findings = [found.finding for found in groups.values()]
    kept = [one for one in findings if not one.answer.is_bottom and not one.is_empty]
    if len(kept) < 2 or len({len(one.encoding.names) for one in findings}) > 1:
        return None
    return common(*kept)


def group_keys(groups: Groups) -> dict[str, Any]:
    """Return the groups and what they share, for JSON."""
    named = [{digest.name for digest in found.named} for found in groups.values()]
    shared = _shared(groups)
    return {
        "groups": [
            {"value": value} | frame_keys(found, None, []) for value, found in groups.items()
        ],
        "shared": {
            "digests": sorted(set.intersection(*named)),
            "lines": None if shared is None else list(shared.answer.lines),
            "fingerprint": None if shared is None else shared.fingerprint,
        },
    }
