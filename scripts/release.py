"""Say whether this tree can be released, and list what is missing: ``python scripts/release.py``.

Version, changelog, citation, tag and built packages must agree. Nothing is uploaded: if nothing is
missing, the release notes are written to dist/notes.md. ``--tree`` looks at the tree only, before
packages are built.
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
    version: str,
    changelog: str,
    citation: str,
    metadata: str,
    tags: Sequence[str],
    changed: Sequence[str],
    built: Sequence[str] | None,
) -> list[str]:
    """Return what is missing for a release.

    Parameters
    ----------
    version : str
        Of the package.
    changelog, citation, metadata : str
        Texts of CHANGELOG.md, CITATION.cff and pyproject.toml.
    tags : sequence of str
        Tags of the current commit.
    changed : sequence of str
        Files that differ from that commit.
    built : sequence of str or None
        Names of the files in dist/; None if nothing is built yet.
    """
    found = []
    if not re.fullmatch(r"\d+\.\d+\.\d+((a|b|rc)\d+)?", version):
        found.append(f"the version is {version}: set src/flagstone/_version.py to a release")
    notes = section(changelog, version)
    if not notes:
        found.append(f"CHANGELOG.md has no section '## {version} (date)'")
    elif not re.search(
        rf"^## {re.escape(version)} \(\d{{4}}-\d\d-\d\d\)$", changelog, re.MULTILINE
    ):
        found.append(f"CHANGELOG.md gives no date: write '## {version} (YYYY-MM-DD)'")
    if section(changelog, "Unreleased"):
        found.append(f"CHANGELOG.md still has entries under Unreleased: move them to {version}")
    if not re.search(rf'^version: "?{re.escape(version)}"?$', citation, re.MULTILINE):
        found.append(f"CITATION.cff does not say 'version: {version}'")
    if not re.search(r"^date-released: ", citation, re.MULTILINE):
        found.append("CITATION.cff has no date-released")
    if not re.search(r"^\[project\.urls\]", metadata, re.MULTILINE):
        found.append("pyproject.toml has no [project.urls]: name the public repository")
    if changed:
        found.append(f"{len(changed)} files differ from the commit, first {changed[0]}")
    if f"v{version}" not in tags:
        found.append(f"the commit has no tag v{version}: git tag -a v{version}")
    if built is None:
        return found
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
    names = ("CHANGELOG.md", "CITATION.cff", "pyproject.toml")
    changelog, citation, metadata = ((ROOT / n).read_text(encoding="utf-8") for n in names)
    dist = ROOT / "dist"
    built = [path.name for path in dist.iterdir()] if dist.is_dir() else []
    changed = [line[3:] for line in git("status", "--porcelain")]
    tags = git("tag", "--points-at", "HEAD")
    before = "--tree" in sys.argv[1:]
    found = problems(
        version, changelog, citation, metadata, tags, changed, None if before else built
    )
    if found:
        print("Not ready for a release:", *found, sep="\n  ")
        return 1
    if before:
        return 0
    (dist / "notes.md").write_text(section(changelog, version) or "", encoding="utf-8")
    print(f"{version} is ready: dist/ holds the packages and notes.md. Nothing was uploaded.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
