"""Build wheel and sdist, install each into fresh environments, and use it as a stranger would.

Once with the newest packages it may use, once with the oldest.
``python scripts/try_wheel.py`` leaves both in dist/. Nothing of the clone is importable while they
are tried: not the sources, not the tests.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
TEN_LINES = """
import numpy as np
from flagstone import ParityClassifier, __file__ as home
assert "site-packages" in home, home
X = np.random.RandomState(1).randint(0, 2, size=(2000, 6))
model = ParityClassifier(random_state=2026).fit(X, X[:, 1] ^ X[:, 4])
assert model.formula_ == "y = x1 ⊕ x4", model.formula_
"""


def run(*words: object, cwd: Path = ROOT) -> str:
    """Run a program without the clone on its path; show what it says when it fails."""
    clean = {k: v for k, v in os.environ.items() if k not in {"PYTHONPATH", "VIRTUAL_ENV"}}
    done = subprocess.run(
        [str(word) for word in words], cwd=cwd, env=clean, capture_output=True, encoding="utf-8"
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}\n{done.stdout}{done.stderr}")
    return done.stdout


def build() -> list[Path]:
    """Return wheel and sdist, freshly built."""
    shutil.rmtree(DIST, ignore_errors=True)
    run(sys.executable, "-m", "build", "--outdir", DIST, ROOT)
    made = sorted(DIST.iterdir())
    kinds = sorted(path.name.rpartition(".")[2] for path in made)
    assert kinds == ["gz", "whl"], made
    return made


def tried(package: Path, *, oldest: bool) -> None:
    """Install a package into an environment of its own; run command line, report and library."""
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        pins = place / "pins.txt"
        pins.write_text(run(sys.executable, ROOT / "scripts" / "floors.py") if oldest else "")
        venv.create(place / "env", with_pip=True)
        programs = place / "env" / ("Scripts" if os.name == "nt" else "bin")
        install = (programs / "python", "-m", "pip", "install", "--quiet", "--constraint", pins)
        run(*install, package)
        shutil.copy(ROOT / "examples" / "frames.txt", place)
        version = run(programs / "flagstone", "--version", cwd=place).split()[1]
        assert version in package.name, (version, package.name)
        words = "constraints frames.txt -f bits --contamination 0.01 --seed 2026 -o checks.json"
        said = run(programs / "flagstone", *words.split(), "--report", "page.html", cwd=place)
        assert said.startswith("5 check equations hold"), said
        assert "b9b99303c5e518df" in said, "the frozen fingerprint of the example"
        page = (place / "page.html").read_text(encoding="utf-8")
        assert "b9b99303c5e518df" in page
        run(programs / "flagstone", "check", "checks.json", "frames.txt", "--tolerance", "0.02",
            cwd=place)  # fmt: skip
        run(programs / "python", "-c", TEN_LINES, cwd=place)
        which = "the oldest packages" if oldest else "the newest packages"
        size = package.stat().st_size // 1000
        print(f"{package.name} ({size} kB), {which}: installs, answers, reports", flush=True)


if __name__ == "__main__":
    for package in build():
        tried(package, oldest=False)
        if sys.version_info < (3, 13):  # the oldest NumPy has no wheels for later ones
            tried(package, oldest=True)
