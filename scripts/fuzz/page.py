"""docs/reliability.md: what a run tried and found, and on which code."""

from __future__ import annotations

import hashlib
import platform
import re
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

from scripts.fuzz.command import FAULTS
from scripts.fuzz.kinds import KINDS

if TYPE_CHECKING:
    from scripts.fuzz.__main__ import Record

__all__ = ["PAGE", "READERS", "ROOT", "digest", "named_digest", "write"]

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reliability.md"
#: The modules that read what others have written: folders and files of the package.
READERS = (
    "tables/**/*.py",
    "encoding/**/*.py",
    "store.py",
    "verification.py",
    "disk/**/*.py",
    "distributed/**/*.py",
    "audit/_pairs.py",
    "checkpoints.py",
    "frames/captures/**/*.py",
    "algebra/serialize.py",
    "notation.py",
)
_NAMED = re.compile(r"digest of the modules that read input: `([0-9a-f]{16})`")

_TEXT = """\
# Reliability: what was tried, and what came of it

Whatever a file holds, a command ends with an answer or with one sentence. Whenever it is stopped,
nothing that was kept is lost. `make fuzz` looks for cases in which this does not hold. This page is
written by `make fuzz PAGE=1`, not by hand.

## The run

{minutes:g} minutes, {cases} cases, {commands} commands; seed {seed}, {date}, {python} on {system}.

- code: commit `{commit}`{changes}
- digest of the modules that read input: `{digest}`

## What was tried

{tried}

Every command runs in a process of its own, with 1 GB of memory and {seconds:g} seconds of
processor time. A case is a function of the seed, its kind and its number, and can be run
alone:
`python -m scripts.fuzz --seed {seed} --case files:4711`. A case that fails is written to
`.fuzz/failed`; once the fault is mended it joins `tests/fuzz_corpus`, which every `make test`
replays (*corpus* in the table).

## What was found

{table}

{found}

{meanings}

## What this does not say

Signals count from the moment the program takes them over, about a tenth of a second after its
start; before that, Python itself answers. A run killed outright may leave a hidden
`.flagstone-….tmp` or `.….lock`, which no later run trips over. A checksum detects accidents, not
forgery: who can write a checkpoint can write a false one. Where the address space is too small to
load a library, that library may end the process with a message of its own.
"""


def digest(package: Path) -> str:
    """Return a digest of the modules that read input, below the folder of the package."""
    state = hashlib.sha256()
    for pattern in READERS:
        paths = sorted(package.glob(pattern))
        if not paths:
            raise FileNotFoundError(
                f"no module matches {pattern!r}: update READERS in scripts/fuzz/page.py"
            )
        for path in paths:
            text = path.read_bytes()
            state.update(f"{path.relative_to(package).as_posix()} {len(text)}\n".encode() + text)
    return state.hexdigest()[:16]


def named_digest() -> str | None:
    """Return the digest that the page names."""
    found = _NAMED.search(PAGE.read_text(encoding="utf-8"))
    return found[1] if found else None


def write(record: Record, minutes: float, source: Path) -> None:
    """Write the page from what a run tried and found."""
    from scripts.fuzz.command import SECONDS

    heading, *rows = record.table()
    lines = ["| " + " | ".join(heading) + " |", "|---" * len(heading) + "|"]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    total = record.total
    changed = _git(source, "status", "--porcelain", "--", str(source))
    text = _TEXT.format(
        minutes=minutes,
        cases=f"{total['cases']:,}",
        commands=f"{total['commands']:,}",
        seed=record.seed,
        date=time.strftime("%Y-%m-%d"),
        python=f"Python {platform.python_version()}",
        system=platform.system(),
        commit=_git(source, "rev-parse", "--short=12", "HEAD") or "unknown",
        changes=" with uncommitted changes" if changed else "",
        digest=digest(source / "flagstone"),
        tried="\n".join(_item(name, kind.tried) for name, kind in KINDS.items()),
        seconds=SECONDS,
        table="\n".join(lines),
        found=_found(record),
        meanings="\n".join(_item(name, f"{meaning}.") for name, meaning in FAULTS.items()),
    )
    PAGE.write_text(text, encoding="utf-8")


def _found(record: Record) -> str:
    if not record.faults:
        return "No case failed."
    lines = [f"{len(record.faults):,} cases failed, in these ways:", ""]
    for fault, times in record.distinct():
        case = f"`{fault['kind']}:{fault['case']}`"
        lines.append(f"- {fault['fault']}: {fault['what']} ({times} ×, for example {case})")
    return "\n".join(lines)


def _item(name: str, text: str) -> str:
    import textwrap

    item = f"- **{name}**: {text}"
    return textwrap.fill(item, 100, subsequent_indent="  ", break_on_hyphens=False)


def _git(folder: Path, *words: str) -> str:
    try:
        run = ["git", "-C", str(folder), *words]
        return subprocess.run(run, capture_output=True, text=True).stdout.strip()
    except OSError:
        return ""
