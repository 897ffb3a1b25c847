"""``flagstone compare``: whether two runs agree, and where they differ."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from flagstone.cli.console import FAILED, OK, UsageError, print_json, safe
from flagstone.cli.inputs import command_of, expect_seed
from flagstone.cli.verbs import CompareOptions, saved_frames
from flagstone.comparison import compare as compare_findings
from flagstone.errors import FlagstoneError, FormatError
from flagstone.finding import SCHEMA, Finding
from flagstone.protocol import Protocol
from flagstone.store import ForeignFileError, SummaryFile, load
from flagstone.wording import counted


def command(options: CompareOptions) -> int:
    """Compare two findings (or flags): what they share, where they differ; exit code 0 or 4."""
    first, second = options.first, options.second
    a, b = _loaded(first, second), _loaded(second, first)
    expect_seed(a, first, options.seed)
    expect_seed(b, second, options.seed)
    if isinstance(a, Protocol) or isinstance(b, Protocol):
        raise UsageError("compare takes findings or flags; of protocols compare the fingerprints")
    if isinstance(a, Finding) != isinstance(b, Finding):
        raise UsageError("one file is a finding and the other a flag: compare like with like")
    if isinstance(a, Finding):
        found = compare_findings(a, b).to_dict()
    else:
        found = _compare_flags(a, b)
    same, digests = _digests(first, a, second, b)
    found = {"schema": SCHEMA} | found | {"digests": digests}
    found["same"] = found["same"] and same
    if options.json:
        print_json(found)
        return OK if found["same"] else FAILED
    print("same" if found["same"] else "NOT the same")
    for name, digits in zip((first, second), found["fingerprints"], strict=True):
        print(f"  {digits[:16]}  {name}")
    for line in found["digests"] or []:
        print(safe(line))
    shared, only = found.get("shared"), [found.get(f"only_in_{which}") or [] for which in _WHICH]
    if shared is not None and not found["same"]:
        n = len(shared["lines"])
        parts = [name for name, lines in zip((first, second), only, strict=True) if not lines]
        whole = f" (all that {' and '.join(parts)} says)" if parts and n else ""
        implied = shared["implied"]
        more = f" and {implied:,} implied by the encoding" if implied else ""
        print_list(
            f"shared: {counted(n, 'equation')}{more}{whole}, fingerprint "
            f"{shared['fingerprint'][:16]}",
            shared["lines"],
        )
    for name, lines in zip((first, second), only, strict=True):
        if lines:
            print_list(f"only in {name}:", lines)
    if found.get("note"):
        print(safe(found["note"]))
    if found.get("dims") and not found["same"]:
        print("spans: dimensions {} and {}, {} in common, {} together".format(*found["dims"]))
    if found.get("first_difference"):
        print(f"the flags differ from set {found['first_difference']:,} on")
    for name, left, right in found.get("settings") or []:
        print(f"{name}: {_short(safe(str(left)))} against {_short(safe(str(right)))}")
    return OK if found["same"] else FAILED


_WHICH = ("first", "second")


def _loaded(file: str, other: str) -> Any:
    """Load one of the files; of rows in its place, say how to save a finding of them."""
    try:
        return load(file)
    except FormatError as error:
        told = f"{error}; compare takes two findings, or two flags, that a verb has saved with -o"
        if isinstance(error, ForeignFileError) and not file.endswith(".json"):
            told += _how_to_save(file, other)
        raise FormatError(told) from error


def _how_to_save(file: str, other: str) -> str:
    """Return a command that saves a finding of some rows, if the other file holds one, too."""
    try:
        known = load(other)
    except FlagstoneError:
        known = None
    if not isinstance(known, Finding):
        return ""
    verb = "frames" if saved_frames(known.provenance) else command_of(known.question)
    seed = [] if known.seed is None else ["--seed", known.seed]
    command = ["flagstone", *verb.split(), file, *seed, "-o", f"{Path(file).name}.json"]
    return f", such as: {shlex.join(command)}"


def _digests(first: str, a: Any, second: str, b: Any) -> tuple[bool, list[str] | None]:
    """Compare the digests of two findings of frames: equal or not, and lines; None of all others.

    A sum is no equation over GF(2), so that equal equations may come with different sums.
    """
    if not isinstance(a, Finding) or "digest" not in b.provenance:
        return True, None
    frames = saved_frames(a.provenance)
    if frames is None:
        return True, None
    same, lines = frames.compare(first, a, second, b)
    return bool(same), list(lines)


def print_list(head: str, lines: Sequence[str], most: int = 20) -> None:
    """Print the first lines of a list under its head."""
    print(head)
    for line in lines[:most]:
        print(f"  {safe(line)}")
    if len(lines) > most:
        print(f"  … and {len(lines) - most:,} more")


def _short(text: str, most: int = 60) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _compare_flags(a: SummaryFile, b: SummaryFile) -> dict[str, Any]:
    V, W = flags = [part.summary for part in (a, b)]
    prints = [hashlib.sha256(s.summary.to_bytes()).hexdigest() for s in (a, b)]
    part = None
    if V.field == W.field and V.dim == W.dim:
        ends = {level.first for flag in flags for level in flag.levels()}
        ends |= {flag.n_sets + 1 for flag in flags}
        part = next((j for j in sorted(ends) if V.span_at(j) != W.span_at(j)), None)
    settings = [
        [name, x, y]
        for name, x, y in (
            ("field", V.field.name, W.field.name),
            ("dimension", V.dim, W.dim),
            ("rows", V.n_rows, W.n_rows),
            ("shards", V.n_shards, W.n_shards),
            ("what stands in a row", a.question.row, b.question.row),
        )
        if x != y
    ]
    return {
        "same": prints[0] == prints[1] and a.question.row == b.question.row,
        "fingerprints": prints,
        "first_difference": part,
        "settings": settings,
    }
