"""Build the kernels with sanitizers, and run their tests and random cases on them.

``python scripts/sanitize.py --cases 100000``: AddressSanitizer finds accesses outside of arrays,
UndefinedBehaviorSanitizer what the language leaves undefined; either ends the run. The module is
built in build/sanitize and is used by this run alone.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "sanitize"


def main() -> int:
    """Build, copy the package beside the module, run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=100_000, help="random cases to try")
    options = parser.parse_args()
    package = BUILD / "package" / "flagstone"
    shutil.rmtree(package.parent, ignore_errors=True)
    ignored = shutil.ignore_patterns("_native*", "__pycache__")
    shutil.copytree(ROOT / "src" / "flagstone", package, ignore=ignored)
    cmake = [sys.executable, "-m", "cmake"]  # `make sanitize` installs it, and nanobind
    configure = [*cmake, "-S", "cpp", "-B", BUILD, "-DFLAGSTONE_SANITIZE=ON"]
    run(*configure, f"-DPython_EXECUTABLE={sys.executable}", f"-DFLAGSTONE_OUTPUT={package}")
    run(*cmake, "--build", BUILD, "--parallel", "2")
    compiler = os.environ.get("CXX", "c++")
    libraries = [
        subprocess.run(
            [compiler, f"-print-file-name={name}"], capture_output=True, text=True, check=True
        ).stdout.strip()
        # AddressSanitizer looks for the function that throws when it starts: Python has none yet.
        for name in ("libasan.so", "libstdc++.so")
    ]
    sanitized = {
        "LD_PRELOAD": " ".join(libraries),
        "ASAN_OPTIONS": "detect_leaks=0",  # Python itself keeps memory until it ends
        "PYTHONPATH": os.pathsep.join(map(str, [package.parent, ROOT])),
    }
    # -s: a finding ends the process, and with it what pytest has captured.
    tests = ["-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", "-p", "no:xdist", "tests/native"]
    run(sys.executable, *tests, **sanitized)
    run(sys.executable, "scripts/native_fuzz.py", "--cases", options.cases, **sanitized)
    return 0


def run(*words: object, **variables: str) -> None:
    """Run a program in the root of the clone; end with its code if it fails."""
    done = subprocess.run([str(word) for word in words], cwd=ROOT, env={**os.environ, **variables})
    if done.returncode:
        sys.exit(done.returncode)


if __name__ == "__main__":
    sys.exit(main())
