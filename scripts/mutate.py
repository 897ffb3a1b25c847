"""Plant mistakes in the sources, one at a time, and show that the tests catch each of them.

The fixed list edits insert and merge; the property tests of flags and merges then run on the
scratch copy, with the compiler off, until the first failure. A mutant that survives means that the
tests do not pin down that branch: add one that does. A snippet that is no longer found means that
the kernel has changed: bring the table up to date.

The random ones (`scripts/mutations.py`) go anywhere else. Each meets the doctests of its module and
the tests named after it, then the general ones. Some survivors change nothing that could be seen:
they are reported, and it is for the reader to tell those from gaps.

    make mutants                                         # the fixed list, then 30 at random
    python -m scripts.mutate --fixed gf2_sweep merge     # those whose file or function matches
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
    "tests/test_flag.py",
    "tests/test_merge.py",
    "tests/test_serialize.py",
    "tests/kernels/test_finite.py",
    "tests/kernels/test_gf2_flags.py",
    "tests/kernels/test_gf2_product.py",
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

WORD = "[2] or [63] or [64] or (first_fit and (20 or 64))"
MAPS = "maps or weights_of_every or again_and_again"
WIDE = (
    "[449] or (wide_flags and 300 and (ties or change)) or grows or misses "
    "or (own and 0.03 and 65) or tells"
)
FINITE = "[3] or [4] or [251] or other_fields or (wide_flags and (7-20 or 3-33 or 16-20))"
RATIONAL = "[QQ]"


class Mutant(NamedTuple):
    """Replace ``old`` by ``new`` in one function; ``tests`` selects who should notice."""

    file: str
    function: str
    old: str
    new: str
    tests: str


def kernel(name: str, tests: str, *edits: tuple[str, str, str]) -> list[Mutant]:
    return [Mutant(f"kernels/{name}.py", *edit, tests) for edit in edits]


MUTANTS = [
    *kernel(
        "gf2_sweep",
        MAPS,
        ("_exchange", "pair = ~odd(coords, end)", "pair = odd(coords, end)"),
        ("_exchange", "add = plus(coords, end, _ALL)", "add = coords"),  # the wrong update
        ("_exchange", "mask = plus(end, bit, pair)", "mask = end"),  # half of the test
        ("_exchange", "take_place(basis, low, high, rows, i, coords)", "pass"),
        ("_exchange", "plus(cut_below(runs, end), end,", "plus(runs, end,"),  # no new end
        ("_exchange", "counts[high] = count", "pass"),
        ("_insert", "then = plus(then, first[3], odd(then, first[2]))", "pass"),  # late update lost
        ("_insert", "add = plus(first[3], second[3], odd(first[3], second[2]))", "add = first[3]"),
        ("_image", "return plus(image, second[3], odd(coords, second[2]))", "return image"),
        ("_exchange", "counts[high] += weights[0][i]", "counts[high] += 1"),
        ("_exchange", "add = plus(coords, mask, _ALL)", "add = coords"),
        ("_insert", "counts[first[1]] > most[first[1]] or ", "False and "),  # keys worn out
        ("insert_weighted", "prepend=0), wide)", "prepend=0), 1)"),
        ("insert_weighted", "wide // 8 - 1", "4 * wide"),
        ("insert_weighted", "np.flatnonzero(weights > most) + 1", "()"),
        ("insert_weighted", "state.basis[:] = state.basis[order]", "pass"),
        ("count_again", "state.counts[:-1] == state.counts[1:]", "state.counts[:-1] < 0"),
        ("loaded", "= counts[::-1]", "= counts"),
    ),
    *kernel(
        "gf2_eights",
        MAPS,
        ("_insert", "single = odd(coords, end)", "single = ~odd(coords, end)"),
        ("_insert", "add = plus(coords, end, _ALL)", "add = coords"),
        ("_insert", "mask = plus(end, bit, ~single)", "mask = end"),
        ("_insert", "then = plus(then, add, odd(then, mask))", "pass"),
        ("_insert", "change_lanes(work, own, mask, add)", "pass"),
        ("_insert", "(low ^ high) & single", "(low ^ high) & _NONE"),
        ("_insert", "plus(cut_below(runs, end), end, joined)", "cut_below(runs, end)"),
        ("_insert", "walk(table, work, names, none)\n    put_row", "put_row"),  # the last changes
        ("_insert", "names = named(names, high, low, single)", "pass"),
        ("_insert", "counts[high] += weight", "counts[high] += 1"),
        ("_insert", "worn |= counts[high] > weights[3][high]", "pass"),
        ("insert", "octets[:, places ^ 7]", "octets[:, places]"),
    ),
    *kernel(
        "gf2_tiles",
        "tiles or maps",
        ("_insert", "which = _column(work, g, place) * _OCTET", "pass"),
        ("_insert", "newest[place] = first + s", "pass"),
        ("_insert", "step = min(weight, levels[COUNT, m] - levels[COUNT, n])", "pass"),
        ("_insert", "map_tiles(summands, g, work, g)", "pass"),
        ("_coordinates", "used[all_used] = octet", "used[all_used] = 0"),
        ("_ties", "more = common_words(row, 0, masks, n, later)", "pass"),
        ("_pass_on", "if h != g:", "if h > g:"),
        ("_pass_on", "names |= _column(work, h, places[8 * g + r]) << np.uint64(r)", "pass"),
    ),
    *kernel(
        "gf2_panels",
        WIDE,
        ("_insert_bulk", "masks[above, k] |= word", "masks[above, k] = word"),
        ("_insert_bulk", "levels[SIZE, above] += taken", "pass"),
    ),
    *kernel(
        "gf2_wide",
        WIDE,
        ("insert", "i += done", "i += len(batch)"),
        ("_insert_within", "inside = inside[: number - done]", "pass"),
        ("_insert_within", "grown or too_wide or too_long", "too_wide or too_long"),
        ("_open", "counts[:above] - base", "counts[:above]"),
        ("dump", "counts[within.held] += inner.counts", "pass"),
        ("copy", "within = replace(within, flag=within.kernel.copy(within.flag))", "pass"),
    ),
    *kernel(
        "gf2_space",
        WIDE,
        ("_split", "if apart != _NONE:", "if rows[i, 0] != combined[i, 0]:"),
        ("_split", "coordinates[inside, k] = coordinates[i, k]", "pass"),
    ),
    *kernel(
        "gf2_product",
        "picked or named",
        ("_choose", "place -= 1 << power", "pass"),
        ("_pick", "result[i, last] |= bits >> _ONE >> (np.uint64(63) - shift)", "pass"),
        ("_add_narrow", "if j < len(rows):", "if j < len(rows) - 1:"),
        ("_tabulate", "if first + j < len(rows)", "if first + j < len(rows) - 1"),
        ("_add_tiles", "if 8 * octet + r < len(rows)", "if 8 * octet + r < len(rows) - 1"),
        ("_add_tiles", "tile_rows(tiles, g, names, first + 8 * g, len(names) - 1)", "pass"),
    ),
    *kernel(
        "gf2_linalg",
        "merge and (" + WORD + " or [65] or [200] or full_rank)",
        ("_merge", "for i in range(len(Y)):", "for i in range(len(Y) - 1, -1, -1):"),  # wrong order
        ("_merge", "while claimed[q]:", "while False:"),  # claims not respected
        ("_merge", "_add(vector, basis[q])", "pass"),  # claimer subtracted by coordinates only
        ("_merge", "counts[q] += cy[i]", "counts[q] = cy[i]"),
        ("_last", "range(len(vector) - 1, -1, -1)", "range(len(vector))"),
    ),
    *kernel(
        "chain",
        FINITE,
        ("insert_row", "if counts[i] != level:", "if True:"),  # the last hit of a class
        ("insert_row", "min(weight, counts[start - 1] - counts[start])", "weight"),
        ("insert_row", "if weight > 0 and top > 0 and", "if False and"),  # second smallest
        ("promote", "axpy(ar, w, rows, slot, negate(ar, a))", "pass"),  # no rank-one update
        ("insert_row", "start = class_start(counts, counts[f], f)", "start = f"),
        ("merge_into", "for y in range(Y.shape[0]):", "for y in range(Y.shape[0] - 1, -1, -1):"),
        ("merge_into", "if other < 0:", "if True:"),
        ("merge_into", "cz[last] += cy[y]", "cz[last] = cy[y]"),
    ),
    *kernel(
        "panel",
        FINITE,
        ("insert_panel", "= levels[other] == known", "= False"),  # no correction
        ("insert_panel", "= levels[other] == known", "= True"),  # of every class
        ("insert_panel", "work.starts[k] > lowest", "False"),  # the columns have moved since
        ("insert_panel", "clear_between(state, work, begin, left, lowest, ar.budget)", "ar.budget"),
        ("insert_panel", "over = start == dim or counts[start] != known", "over = True"),
        ("find_classes", "if begins[b] <= i:", "if True:"),  # of rows that were found
        ("insert_rows", "weights[base + n] <= 1", "weights[base + n] <= 2"),
    ),
    *kernel(
        "rational",
        RATIONAL,
        ("_insert", "if not hits or count[hits[-1][0]] != count[i]:", "if True:"),
        ("_insert", "min(weight, count[start - 1] - count[start])", "weight"),
        ("_insert", "if hits and count[hits[-1][0]] == count[start]:", "if False:"),
        ("_promote", "state.rows[i] -= state.rows[i][column] * x", "pass"),
        ("merge", "while last in claims:", "while False:"),
        ("merge", "y -= factor * common[last]", "pass"),
        ("merge", "count[last] += int(weight)", "count[last] = int(weight)"),
    ),
    Mutant(
        "flag.py",
        "adapted_basis",
        "self.field.reduce(rest[size:], block, pivots)",
        "rest[size:]",
        "equal_bytes or round_trip",
    ),
    Mutant("flag.py", "merge_tree", "layer[2 * len(pairs) :]", "[]", "fixed_tree"),
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
    """Return "passed", "no tests", "failed: <test>" or "hung" (after so many seconds)."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--tb=no", "-p", "no:cacheprovider"]
    env = os.environ | {"PYTHONPATH": str(copy / "src"), "HYPOTHESIS_PROFILE": "mutants"}
    env["PYTHONDONTWRITEBYTECODE"] = "1"  # an edit within one second must not meet stale bytecode
    if not compiled:
        command += ["-W", "ignore::RuntimeWarning"]
        env["NUMBA_DISABLE_JIT"] = "1"
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
    """Yield a copy of the project, compiled kernels included."""
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
