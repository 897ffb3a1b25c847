"""What once failed passes, a few fresh cases too, and the page is of this code."""

import json
import os
import subprocess
import sys
import warnings

from scripts.fuzz import page
from scripts.fuzz.__main__ import CORPUS


def test_what_once_failed_and_some_fresh_cases(tmp_path):
    words = ["--kinds", "files,valid", "--cases", "2", "--seed", "421"]
    words += ["--minutes", "20", "--json", str(tmp_path / "found.json"), "--failed", str(tmp_path)]
    environment = os.environ | {"PYTHONPATH": str(page.ROOT / "src")}
    run = [sys.executable, "-m", "scripts.fuzz", *words]
    done = subprocess.run(run, cwd=page.ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    counts = json.loads((tmp_path / "found.json").read_text())["counts"]
    assert counts["corpus"]["cases"] == len(list(CORPUS.glob("*.json"))) > 10
    assert all(counts[kind]["cases"] == 2 for kind in ("files", "valid"))


def test_the_page_is_of_these_readers():
    named, now = page.named_digest(), page.digest(page.ROOT / "src" / "flagstone")
    assert named is not None
    if named != now:
        warnings.warn(
            f"{page.PAGE.name} is of other readers ({named}, now {now}); to write it again: "
            "make fuzz PAGE=1 MINUTES=60",
            stacklevel=1,
        )
