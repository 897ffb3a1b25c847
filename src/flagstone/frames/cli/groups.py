"""``frames --by``: an answer for each group of frames, and what the groups share."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from flagstone.algebra import Array
from flagstone.cli.console import safe
from flagstone.cli.verbs import FrameOptions
from flagstone.comparison import common
from flagstone.finding import Finding
from flagstone.frames.captures import Capture
from flagstone.frames.cli.screen import frame_keys, print_lines
from flagstone.frames.digests import MOST_COLUMNS, SAMPLE, Digest, name_sums, search
from flagstone.frames.digests.digest import broken_by
from flagstone.frames.digests.rules import case_of
from flagstone.frames.digests.search import usual_frame
from flagstone.frames.ruler import in_bytes, ruled
from flagstone.frames.study import Study
from flagstone.frames.text import Line, digest_lines
from flagstone.wording import counted

Groups = Mapping[str, Study]
#: The most values of a field that is tried, and the fewest bits that a digest of its frames has.
_MOST_VALUES, _FEWEST_BITS = 16, 4
#: Fewer frames than this show no digest of their own. Where they are fewer than the free bits, only
#: this many fields are tried, of at most this many values.
_FEWEST_FRAMES, _TRIES, _FEW_VALUES = 12, 4, 8
#: The most fields whose frames are searched for sums.
_SUM_TRIES = 12


def has_digest(found: Study) -> bool:
    """Say whether a digest was named that is more than a parity bit."""
    return any(len(digest.columns) >= _FEWEST_BITS for digest in found.named)


Studying = Callable[[Capture], Study]


class TellingField(NamedTuple):
    """A field whose values have digests of their own, or one digest with other constants."""

    name: str
    changes_constant: bool = False


def telling_field(capture: Capture, study: Studying) -> TellingField | None:
    """Return the field whose values have digests of their own, where all frames together have none.

    Columns of the file are tried, then bytes and nibbles of the frame; the two most frequent values
    must have a digest each.
    """
    there = capture.columns[0] if capture.columns else {}
    for name in ("id", "model", "channel"):
        if name in there and _tells(capture, name, study):
            return TellingField(name)
    rows = capture.rows(len(capture.frames[0]))[:SAMPLE]
    if (rows != rows[0]).any(axis=0).sum() > MOST_COLUMNS:
        return None
    names = [f"x{i}" for i in range(rows.shape[1])]
    n_free, tries, searched, summed = _n_free(names, rows), 0, 0, 0
    # of few frames the second space of the flag is small by chance, whatever the field
    is_small_by_chance = len(rows) < 2 * int((rows != rows[0]).any(axis=0).sum())
    for first in range(0, rows.shape[1] - 7, 8):
        byte = f"b{first // 8}"
        fields = ((byte, 0, 8), (f"{byte}.7..{byte}.4", 0, 4), (f"{byte}.3..{byte}.0", 4, 8))
        for name, start, end in fields:
            field = list(range(first + start, first + end))
            numbers, counts = np.unique(case_of(rows, field), return_counts=True)
            if not 2 <= len(numbers) <= _MOST_VALUES or np.sort(counts)[-2] < _FEWEST_FRAMES:
                continue
            # what frames of one value obey beyond what all obey is a check of its own
            enough = n_free - int(math.log2(len(numbers))) - _FEWEST_BITS
            frequent = [case_of(rows, field) == n for n in numbers[np.argsort(-counts)[:2]]]
            parts = [rows[which] for which in frequent]
            may_search = not is_small_by_chance or searched < _TRIES
            if may_search and _n_free(names, rows, field) <= enough:
                searched += 1
                digests = search(names, rows, cases=field)
                if any(_fits_all(digest, parts) for digest in digests):
                    return TellingField(name, changes_constant=True)
            if len(parts[0]) <= n_free:
                tries += len(numbers) <= _FEW_VALUES
                shown = len(numbers) <= _FEW_VALUES and tries <= _TRIES
            else:
                # a part of too few rows spans little by chance; sums take time to search for
                many = [part for part in parts if len(part) > n_free]
                shown = any(_n_free(names, part) <= enough for part in many)
                if not shown and len(numbers) <= _FEW_VALUES and summed < _SUM_TRIES:
                    summed += 1
                    shown = any(name_sums(names, part) for part in parts)
            if shown and _tells(capture, name, study):
                return TellingField(name)
    return None


def _fits_all(digest: Digest, parts: Sequence[Array]) -> bool:
    """Say whether a digest is more than a parity bit, and fits most rows of each part."""
    if not digest.name or len(digest.columns) < _FEWEST_BITS:
        return False
    return all(2 * broken_by([digest], rows).sum() < len(rows) for rows in parts)


def _tells(capture: Capture, name: str, study: Studying) -> bool:
    """Say whether the two most frequent values of a field have digests of their own."""
    groups = list(capture.by(name).values())
    if not 2 <= len(groups) <= _MOST_VALUES or len(groups[1]) < _FEWEST_FRAMES:
        return False
    return all(has_digest(study(capture.some(index))) for index in groups[:2])


def _n_free(names: Sequence[str], rows: Array, cases: Sequence[int] = ()) -> int:
    """Return how many bits are free in what rows usually show."""
    frame = usual_frame(names, rows, cases)
    return len(names) if frame is None else frame.n_free


def same_check(
    capture: Capture, parts: Mapping[str, Sequence[int]], study: Studying
) -> dict[str, Capture]:
    """Put parts of a capture together that have the same digests; without a digest, none."""
    alike: dict[str, list[str]] = {}
    for name, index in parts.items():
        rules = [digest.rule.to_dict() for digest in study(capture.some(index)).named]
        alike.setdefault(repr(rules) if rules else name, []).append(name)
    return {
        " or ".join(names): capture.some(sorted({i for name in names for i in parts[name]}))
        for names in alike.values()
    }


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
        names = [in_bytes(digest.name or digest.formula) for digest in found.digests]
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
