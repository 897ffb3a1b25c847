"""``frames --by``: an answer for each group of frames, and what the groups share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from flagstone.cli.output import safe
from flagstone.cli.verbs import FrameOptions
from flagstone.comparison import common
from flagstone.finding import Finding
from flagstone.frames.captures import Capture
from flagstone.frames.cli.screen import frame_keys
from flagstone.frames.digests import Solved
from flagstone.frames.ruler import in_bytes, ruled
from flagstone.frames.study import Study
from flagstone.frames.text import digest_lines
from flagstone.wording import counted

Groups = Mapping[str, tuple[Study, Capture]]
#: The most values of a field that is tried, the most such fields, and the fewest bits that a
#: digest of their frames must have.
_MOST_VALUES, _MOST_FIELDS, _FEWEST_BITS = 16, 8, 4
#: Fewer frames than this show no digest of their own; a field must stand in the first bytes.
_FEWEST_FRAMES, _FIRST_BYTES = 12, 4


def has_digest(found: Study) -> bool:
    """Say whether a digest was named that is more than a parity bit."""
    return any(len(digest.columns) >= _FEWEST_BITS for digest in found.named)


Studying = Callable[[Capture], tuple[Study, Capture]]


def telling_field(capture: Capture, study: Studying) -> tuple[str, bool] | None:
    """Return the field whose values have digests of their own, where all frames together have none.

    Columns of the file are tried, then bytes and nibbles at the beginning of the frame. The two
    most frequent values must have a digest each. Also says whether only the constants of these
    differ.
    """
    there = capture.columns[0] if capture.columns else {}
    columns = [name for name in ("id", "model", "channel") if name in there]
    n_bytes = min(_FIRST_BYTES, min(map(len, capture.frames)) // 8)
    parts = [(f"b{i}", f"b{i}.7..b{i}.4", f"b{i}.3..b{i}.0") for i in range(n_bytes)]
    tried = 0
    for field in [*columns, *(part for some in parts for part in some)]:
        groups = list(capture.by(field).values())
        most = _MOST_VALUES // 2 if "." in field else _MOST_VALUES
        if not 2 <= len(groups) <= most or len(groups[1]) < _FEWEST_FRAMES:
            continue
        found = [study(group)[0] for group in groups[:2]]
        if all(map(has_digest, found)):
            return field, _same_keys(*(one.named[0].rule for one in found))
        tried += 1
        if tried == _MOST_FIELDS:
            break
    return None


def _same_keys(a: object, b: object) -> bool:
    """Say whether two rules differ at most in their constants."""
    if not isinstance(a, Solved) or not isinstance(b, Solved) or a.columns != b.columns:
        return False
    return bool((a.matrix == b.matrix).all())


def same_check(parts: Mapping[str, Capture], study: Studying) -> dict[str, Capture]:
    """Put parts of a capture together that have the same digests; without a digest, none."""
    alike: dict[str, list[str]] = {}
    for name, part in parts.items():
        named = study(part)[0].named
        rules = [digest.rule.to_dict() for digest in named if digest.rule is not None]
        alike.setdefault(repr(rules) if rules else name, []).append(name)
    found = {}
    for names in alike.values():
        captures = [parts[name] for name in names]
        frames, places, columns = (
            [value for one in captures for value in getattr(one, part)]
            for part in ("frames", "places", "columns")
        )
        whole = replace(captures[0], frames=frames, places=places, columns=columns)
        found[" or ".join(names)] = whole.some(
            sorted(range(len(whole)), key=lambda i: whole.places[i].row)
        )
    return found


def print_groups(by: str, groups: Groups, capture: Capture, options: FrameOptions) -> None:
    """Print what the groups share, and then each of them."""
    print(f"{counted(len(groups), 'group')} by {safe(by)}, of {counted(len(capture), 'frame')}")
    for note in capture.notes:
        print(f"! {safe(note)}")
    for line in _shared_lines(groups):
        print(safe(line))
    for value, (found, chosen) in groups.items():
        n = int(found.broken.sum())
        size = f"{counted(len(found.rows), 'frame')} of {len(found.pattern):,} bits"
        print(f"\n{safe(by)} {safe(in_bytes(value))}: {size}, {n:,} damaged")
        for note in chosen.notes:
            if note not in capture.notes:
                print(f"! {safe(note)}")
        for label, text in [*ruled(found.pattern), *digest_lines(found)]:
            print(safe(f"  {label:<12}{text}".rstrip()))
    first = next(iter(groups.values()))[0].finding
    print(f"\n{'finding':<12}seed {safe(str(first.seed))}")


def _shared_lines(groups: Groups) -> list[str]:
    """Return the digests of the groups, each with the groups that have it."""
    if len(groups) < 2:
        return []
    members: dict[str, list[str]] = {}
    for value, (found, _) in groups.items():
        names = [in_bytes(digest.name or digest.formula) for digest in found.digests]
        members.setdefault(" and ".join(names) or "no digest", []).append(in_bytes(value))
    lines: list[str] = []
    for name, values in members.items():
        which = "all groups" if len(values) == len(groups) else "; ".join(values[:8])
        more = f"; … ({len(values)})" if len(values) > 8 and len(values) < len(groups) else ""
        lines.append(f"{'' if lines else 'shared':<12}{name}: {which}{more}")
    shared = _shared(groups)
    if shared is not None:
        lines.append(f"{'':<12}{counted(len(shared.answer.lines), 'equation')} in common")
    return lines


def _shared(groups: Groups) -> Finding | None:
    """Return what the equations of all groups have in common; None for several lengths."""
    findings = [found.finding for found, _ in groups.values()]
    kept = [one for one in findings if not one.answer.is_bottom and not one.is_empty]
    if len(kept) < 2 or len({len(one.encoding.names) for one in findings}) > 1:
        return None
    return common(*kept)


def group_keys(groups: Groups) -> dict[str, Any]:
    """Return the groups and what they share, for JSON."""
    named = [{digest.name for digest in found.named} for found, _ in groups.values()]
    shared = _shared(groups)
    return {
        "groups": [
            {"value": value} | frame_keys(found, chosen, None, [])
            for value, (found, chosen) in groups.items()
        ],
        "shared": {
            "digests": sorted(set.intersection(*named)),
            "lines": None if shared is None else list(shared.answer.lines),
            "fingerprint": None if shared is None else shared.fingerprint,
        },
    }
