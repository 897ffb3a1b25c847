"""Say whether this tree can be released, and what is missing: ``python scripts/release.py``.

Version, changelog, tag and built packages must agree. Nothing is uploaded: when all is well, the
notes of the release are written to dist/notes.md, and the last step is left to a person.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def section(changelog: str, title: str) -> str | None:
    """Return the text below ``## title``, with whatever follows it in that line; None without."""
    pattern = rf"^## \[?{re.escape(title)}\]?(?: [^\n]*)?\n(.*?)(?=^## |\Z)"
    found = re.search(pattern, changelog, re.MULTILINE | re.DOTALL)
    return None if found is None else found[1].strip()


def problems(
    version: str, changelog: str, tags: Sequence[str], changed: Sequence[str], built: Sequence[str]
) -> list[str]:
    """Return what stands between this tree and a release.

    Parameters
    ----------
    version : str
        Of the package.
    changelog : str
    tags : sequence of str
        Of the commit at hand.
    changed : sequence of str
        Files that differ from that commit.
    built : sequence of str
        Names of the files in dist/.
    """
    found = []
    if not re.fullmatch(r"\d+\.\d+\.\d+((a|b|rc)\d+)?", version):
        found.append(f"the version is {version}: set src/flagstone/_version.py to a release")
    notes = section(changelog, version)
    if not notes:
        found.append(f"CHANGELOG.md has no section '## {version} (date)'")
    if section(changelog, "Unreleased"):
        found.append(f"CHANGELOG.md still has entries under Unreleased: move them to {version}")
    if changed:
        found.append(f"{len(changed)} files differ from the commit, first {changed[0]}")
    if f"v{version}" not in tags:
        found.append(f"the commit has no tag v{version}: git tag -a v{version}")
    if f"flagstone-{version}.tar.gz" not in built:
        found.append(f"dist/flagstone-{version}.tar.gz is missing: make wheel")
    if not any(
        name.startswith(f"flagstone-{version}-") and name.endswith(".whl") for name in built
    ):
        found.append(f"dist/ has no wheel of flagstone {version}: make wheel")
    return found


def git(*words: str) -> list[str]:
    """Return the lines that git prints."""
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def main() -> int:
    """Print what is missing, or write the notes."""
    text = (ROOT / "src" / "flagstone" / "_version.py").read_text()
    version = re.search(r'__version__ = "(.+)"', text)[1]  # type: ignore[index]
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    dist = ROOT / "dist"
    built = [path.name for path in dist.iterdir()] if dist.is_dir() else []
    changed = [line[3:] for line in git("status", "--porcelain")]
    found = problems(version, changelog, git("tag", "--points-at", "HEAD"), changed, built)
    if found:
        print("Not ready:", *found, sep="\n  ")
        return 1
    (dist / "notes.md").write_text(section(changelog, version) or "", encoding="utf-8")
    print(
        f"{version} is ready: dist/ holds the packages and notes.md. Uploading them is up to you."
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
