"""Packages on top of the others can be deleted: everything else still works.

A copy of the tree loses the folders of one package. In it every module is imported and some tests
run; ``make validate`` runs all of them.
"""

import ast
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
#: What tests need of the tree.
KEPT = ("src", "tests", "docs", "examples", "scripts", "benchmarks", "cpp")
#: Quick tests of what names every package: verbs, public names, modules. A package that is gone
#: loads no more, and reaches into no other.
QUICK = (
    "tests/cli/test_help.py",
    "tests/docs/test_reference.py",
    "tests/test_package.py",
    "-k",
    "not load and not private and not garbage",
)
#: Says how many modules were imported, from where, and whether the package is gone; then tests.
IMPORT_ALL_AND_TEST = """
import importlib, importlib.util, pkgutil, sys
import flagstone, pytest
names = [m.name for m in pkgutil.walk_packages(flagstone.__path__, "flagstone.")]
for name in names:
    if not name.endswith("__main__"):
        importlib.import_module(name)
print(len(names), flagstone.__file__, importlib.util.find_spec(sys.argv[1]) is None, flush=True)
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", *sys.argv[2:]]))
"""


@dataclass(frozen=True)
class Removable:
    """A package, its verb if it has one, and the folders and pages that go with it."""

    name: str
    verb: str | None
    parts: tuple[str, ...]


PACKAGES = [
    Removable(
        "frames",
        "frames",
        ("src/flagstone/frames", "tests/frames", "docs/digests.md", "docs/api/frames.md"),
    ),
    Removable(
        "paper",
        "reproduce",
        ("src/flagstone/paper", "tests/paper", "docs/api/paper.md"),
    ),
]


@pytest.fixture(scope="module", params=PACKAGES, ids=lambda package: package.name)
def without(request, tmp_path_factory) -> tuple[Removable, Path]:
    """A copy of the tree without the package."""
    package, tree = request.param, tmp_path_factory.mktemp(f"without-{request.param.name}")
    ignored = shutil.ignore_patterns("_build", "generated", "gallery")
    for name in KEPT:
        shutil.copytree(ROOT / name, tree / name, ignore=ignored)
    for path in ROOT.iterdir():
        if path.is_file():
            shutil.copy(path, tree)
    for part in package.parts:
        path = tree / part
        assert path.exists(), part
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    return package, tree


def run(tree: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run Python on the copy."""
    environment = os.environ | {"PYTHONPATH": str(tree / "src")}
    command = [sys.executable, *words]
    return subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True)


def test_every_other_module_loads_and_some_tests_pass(without):
    package, tree = without
    done = run(tree, "-c", IMPORT_ALL_AND_TEST, f"flagstone.{package.name}", *QUICK)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    count, file, is_gone = done.stdout.splitlines()[0].split()
    assert int(count) > 100
    assert Path(file).is_relative_to(tree)
    assert is_gone == "True"


def test_its_verb_is_not_offered(without):
    package, tree = without
    if package.verb is not None:
        assert f"  {package.verb} " not in run(tree, "-m", "flagstone", "--help").stdout
        assert run(tree, "-m", "flagstone", package.verb, "--help").returncode == 2


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_no_other_test_imports_it(package):
    own = [ROOT / part for part in package.parts]
    for path in ROOT.glob("tests/**/*.py"):
        text = path.read_text()
        if package.name not in text or any(path.is_relative_to(part) for part in own):
            continue
        for node in ast.parse(text).body:  # what collecting the tests would run
            if isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            else:
                continue
            start = f"flagstone.{package.name}"
            assert not any(f"{name}.".startswith(f"{start}.") for name in names), path


@pytest.mark.slow
def test_all_other_tests_pass(without):
    left_out = ("--deselect", "tests/test_removable.py", "--ignore", "tests/docs")
    done = run(without[1], "-m", "pytest", "-q", "-p", "no:cacheprovider", *left_out, "tests")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
