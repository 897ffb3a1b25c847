"""Plant mistakes in the sources, one at a time, and show that the tests catch each of them.

The fixed list edits insert and merge of the reference, the specification of the native kernels; the
property tests of flags and merges then run on the scratch copy, in Python, until the first failure.
A mutant that survives means that the tests do not pin down that branch: add one that does. A
snippet that is no longer found means that the code has changed: bring the table up to date.

The random ones (`scripts/mutations.py`) go anywhere else. Each meets the doctests of its module and
the tests named after it, then the general ones. Some survivors change nothing that could be seen:
they are reported, and it is for the reader to tell those from gaps.

    make mutants                                         # the fixed list, then 30 at random
    python -m scripts.mutate --fixed gf2 merge     # those whose file or function matches
    python -m scripts.mutate --random 50 --seed 7 tables # again the same 50, in tables alone
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from scripts.mutations import Mutation, draw

ROOT = Path(__file__).resolve().parent.parent
TIME_LIMIT = 600
KERNEL_TESTS = [
    "tests/algebra/test_flag.py",
    "tests/algebra/test_merge.py",
    "tests/algebra/test_serialize.py",
    "tests/native/test_families.py",
    "tests/native/test_gf2_flag.py",
    "tests/native/test_gf2_flags.py",
    "tests/native/test_gf2_linalg.py",
]

#: Who may notice what the tests named after a module do not; the quick ones first.
GENERAL_TESTS = [
    "tests/test_input.py",
    "tests/test_package.py",
    "tests/test_rules.py",
    "tests/test_answers.py",
    "tests/cli/test_bad_input.py",
    "tests/cli/test_verbs.py",
    "tests/estimators/test_span.py",
    "tests/estimators/test_parity.py",
]


class Mutant(NamedTuple):
    """Replace ``old`` by ``new`` in one function; ``tests`` selects who should notice."""

    file: str
    function: str
    old: str
    new: str
    tests: str


def mutants(file: str, tests: str, *edits: tuple[str, str, str]) -> list[Mutant]:
    return [Mutant(file, *edit, tests) for edit in edits]


MUTANTS = [
    *mutants(
        "_reference/gf2.py",
        "partition or weights",
        ("_exchange", "count = min(count for", "count = max(count for"),  # not the least count
        ("_exchange", "change = coordinates ^ element", "change = coordinates"),
        ("_exchange", "self._basis[element.bit_length() - 1] = row", "pass"),
        ("_exchange", "if x & element else x", "if False else x"),  # the map is not changed
        ("_exchange", "self._levels.get(count + weight, 0) | element", "element"),
        ("insert", "if coordinates and weight > 0:", "if coordinates:"),
    ),
    *mutants(
        "_reference/linalg.py",
        "merge",
        ("merge", "while (last := coords.bit_length() - 1) in claims:",
         "while (last := coords.bit_length() - 1) in ():"),  # claims not respected
        ("merge", "y ^= basis[last]", "pass"),  # claimer added by coordinates only
        ("merge", "counts[last] += count", "counts[last] = count"),
    ),
    *mutants(
        "_reference/finite.py",
        "families",
        ("insert", "self._counts[support].argmin()", "self._counts[support].argmax()"),
        ("insert", "held[:, element] = column", "pass"),
        ("insert", "self._basis[element] = row", "pass"),
        ("merge", "counts[last] += count", "counts[last] = count"),
        ("merge", "claims[last], common[last] = coordinates, y", "common[last] = y"),
    ),
    *mutants(
        "algebra/fields/_flint.py",
        "QQ",
        ("_insert", "if not hits or count[hits[-1][0]] != count[i]:", "if True:"),
        ("_insert", "min(weight, count[start - 1] - count[start])", "weight"),
        ("_insert", "if hits and count[hits[-1][0]] == count[start]:", "if False:"),
        ("_promote", "self.rows[i] -= self.rows[i][column] * x", "pass"),
        ("merge", "while last in claims:", "while False:"),
        ("merge", "y -= factor * common[last]", "pass"),
        ("merge", "count[last] += int(weight)", "count[last] = int(weight)"),
    ),
    Mutant(
        "algebra/flag.py",
        "adapted_basis",
        "self.field.reduce(rest[size:], block, pivots)",
        "rest[size:]",
        "equal_bytes or round_trip",
    ),
    Mutant("algebra/flag.py", "merge_tree", "layer[2 * len(pairs) :]", "[]", "fixed_tree"),
]  # fmt: skip


def planted(source: str, mutant: Mutant) -> str:
    """Return the source with the mistake in it; the snippet must occur once in the function."""
    start = re.search(rf"^ *def {mutant.function}\(", source, re.MULTILINE)
    if start is None:
        raise SystemExit(f"{mutant.file} has no function {mutant.function}: update the table")
    following = re.compile(r"^ {0,4}(@|def |class )", re.MULTILINE).search(source, start.end())
    end = following.start() if following else len(source)
    body = source[start.start() : end]
    if body.count(mutant.old) != 1:
        raise SystemExit(
            f"{mutant.file}, {mutant.function}: {mutant.old!r} occurs {body.count(mutant.old)} "
            "times, expected once: update the table"
        )
    return source[: start.start()] + body.replace(mutant.old, mutant.new) + source[end:]


def run_tests(
    copy: Path, *arguments: str, compiled: bool = True, limit: float | None = None
) -> str:
    """Return "passed", "no tests", "failed: <test>" or "hung" (after this many seconds)."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--tb=no", "-p", "no:cacheprovider"]
    env = os.environ | {"PYTHONPATH": str(copy / "src"), "HYPOTHESIS_PROFILE": "mutants"}
    env["PYTHONDONTWRITEBYTECODE"] = "1"  # an edit within one second must not meet stale bytecode
    if not compiled:
        env["FLAGSTONE_CPU"] = "python"
    with subprocess.Popen(
        [*command, *arguments],
        cwd=copy,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as run:
        try:
            said, _ = run.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(run.pid, signal.SIGKILL)  # its workers, too
            return "hung"
    if run.returncode in (0, 5):
        return "no tests" if run.returncode else "passed"
    if run.returncode < 0:
        return f"failed: killed by signal {-run.returncode}"
    named = re.search(r"^(?:FAILED|ERROR) (?:\S+::)?(\S+)", said, re.MULTILINE)
    return f"failed: {named[1] if named else f'exit code {run.returncode}'}"


@contextlib.contextmanager
def scratch_copy() -> Iterator[Path]:
    """Yield a copy of the project, the native module included."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".*", "*.pyc", "build", "dist"))
        yield copy


@contextlib.contextmanager
def edited(path: Path, text: str) -> Iterator[None]:
    source = path.read_text()
    path.write_text(text)
    try:
        yield
    finally:
        path.write_text(source)


def concerned_tests(copy: Path, file: str) -> list[str]:
    """Return the tests that carry the module's name or its folder's, then it, for its doctests."""
    words = {part.strip("_") for part in Path(file).with_suffix("").parts}
    named = []
    for path in sorted(copy.glob("tests/**/test_*.py")):
        test = path.relative_to(copy / "tests")
        mine = {*test.parent.parts, test.stem.removeprefix("test_")}
        if words & mine and not mine & {"statistical", "browser"}:
            named.append(f"tests/{test.as_posix()}")
    return [*named, f"src/flagstone/{file}"]


def verdict_on(copy: Path, mutation: Mutation) -> str:
    """Return what the tests of the module, then the general ones, say of a mutation."""
    path = copy / "src" / "flagstone" / mutation.file
    own = concerned_tests(copy, mutation.file)
    with edited(path, mutation.planted(path.read_text())):
        verdict = run_tests(copy, *own, limit=TIME_LIMIT)
        if verdict in ("passed", "no tests"):
            others = [test for test in GENERAL_TESTS if test not in own]
            verdict = run_tests(copy, *others, limit=TIME_LIMIT)
    return verdict


def report(text: str, verdict: str) -> None:
    caught = verdict != "passed"
    print(f"{'caught' if caught else 'SURVIVED':8}  {text}", flush=True)
    if caught:
        print(f"          {verdict}", flush=True)


def plant_fixed(words: list[str]) -> int:
    """Plant the listed mutants; return how many survive."""
    chosen = [
        mutant
        for mutant in MUTANTS
        if not words or any(word in f"{mutant.file} {mutant.function}" for word in words)
    ]
    survivors = 0
    with scratch_copy() as copy:
        for select in dict.fromkeys(mutant.tests for mutant in chosen):
            verdict = run_tests(copy, "-k", select, *KERNEL_TESTS, compiled=False)
            if verdict != "passed":
                raise SystemExit(f"without any mutant ({select}): {verdict}")
        for mutant in chosen:
            path = copy / "src" / "flagstone" / mutant.file
            arguments = ("-k", mutant.tests, *KERNEL_TESTS)
            with edited(path, planted(path.read_text(), mutant)):
                verdict = run_tests(copy, *arguments, compiled=False, limit=TIME_LIMIT)
            survivors += verdict == "passed"
            report(f"{mutant.file} {mutant.function}: {mutant.old} → {mutant.new}", verdict)
    print(f"{len(chosen) - survivors} of {len(chosen)} listed mutants caught")
    return survivors


def plant_random(count: int, seed: int, minutes: float, words: list[str]) -> None:
    """Plant random mutations until all are done or the time is over; list those that survive."""
    drawn = draw(ROOT / "src" / "flagstone", count, seed, words)
    print(f"{len(drawn)} mutants at random, seed {seed}", flush=True)
    survivors, done = [], 0
    with scratch_copy() as copy:
        tests = {test for mutation in drawn for test in concerned_tests(copy, mutation.file)}
        verdict = run_tests(copy, *sorted(tests.union(GENERAL_TESTS), reverse=True))  # src last
        if verdict != "passed":
            raise SystemExit(f"without any mutant: {verdict}")
        end = time.monotonic() + 60 * minutes
        for mutation in drawn:
            if time.monotonic() > end:
                print(f"{minutes:g} minutes are over")
                break
            verdict = verdict_on(copy, mutation)
            report(str(mutation), verdict)
            done += 1
            if verdict == "passed":
                survivors.append(mutation)
    print(f"{done - len(survivors)} of {done} random mutants caught (seed {seed})")
    for mutation in survivors:
        print(f"  survived: {mutation}")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("words", nargs="*", help="only files or functions that hold a word")
    parser.add_argument("--fixed", action="store_true", help="the fixed list alone")
    parser.add_argument("--random", type=int, metavar="N", help="N random ones alone")
    parser.add_argument("--seed", type=int, help="the seed of an earlier draw (default: a new one)")
    parser.add_argument("--minutes", type=float, default=30, help="for random ones (default: 30)")
    chosen = parser.parse_args(arguments)
    survivors = 0
    if chosen.fixed or chosen.random is None:
        survivors = plant_fixed(chosen.words)
    if not chosen.fixed:
        seed = time.time_ns() % 10**6 if chosen.seed is None else chosen.seed
        count = 30 if chosen.random is None else chosen.random
        plant_random(count, seed, chosen.minutes, chosen.words)
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
