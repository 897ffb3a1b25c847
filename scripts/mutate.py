"""Plant known mistakes in insert and merge, and show that the tests catch each of them.

Every mutant is one small edit of one function in a scratch copy of the sources; the property tests
of flags and merges then run on it, with the compiler off, until the first failure. A mutant that
survives means that the tests do not pin down that branch: add one that does. A snippet that is no
longer found means that the kernel has changed: bring the table up to date.

    make mutants                              # all of them
    python scripts/mutate.py gf2_word merge   # those whose file or function matches a word
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
TIME_LIMIT = 600
TESTS = [
    "tests/test_flag.py",
    "tests/test_merge.py",
    "tests/test_serialize.py",
    "tests/kernels/test_finite.py",
    "tests/kernels/test_gf2_flags.py",
    "tests/kernels/test_gf2_product.py",
]

WORD = "[2] or [63] or [64] or (first_fit and (20 or 64))"
PAIR = "[65] or [127] or [128] or (first_fit and (100 or 128))"
WIDE = (
    "[129] or [200] or (first_fit and 300) or (kind_of_data and 129 and ties) or grows or misses "
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
        "gf2_word",
        WORD,
        ("_insert", "if tie != first:", "if tie == first:"),  # the tie rule, flipped
        ("_insert", "add = coords ^ first", "add = _NONE"),  # no rank-one update
        ("_insert", "basis[trailing_zeros(first)] = rows[i]", "pass"),  # row not stored
        ("_insert", "ahead ^ (add if ahead & bit else _NONE)", "ahead"),  # late update forgotten
        ("_insert", "level += np.uint64(coords & two == _NONE)", "pass"),  # a level skipped
        ("_insert", "rest &= ~(three | masks[level + _THREE])", "rest = _NONE"),  # the highest only
        ("_insert", "elif counts[level + _ONE] != count and left", "elif left"),  # not joined
        ("_insert_weighted", "tie != first or ", ""),  # ties not exchanged
        ("_insert_weighted", " or _passes(masks, counts, coords ^ tie, level, weights[i])", ""),
        ("_passes", "weight > counts[above]", "weight < counts[above]"),  # second smallest
        ("_raise", "masks[level] |= bit", "masks[level] = bit"),  # a level forgets the others
    ),
    *kernel(
        "gf2_pair",
        PAIR,
        ("_insert", "tie1 ^ first1 != _NONE", "tie1 ^ first1 == _NONE"),
        ("_insert", "add0, add1 = coords0 ^ first0, coords1 ^ first1", "add0 = add1 = _NONE"),
        ("_insert", "missed = (ahead0 & bit0) | (ahead1 & bit1)", "missed = ahead0 & bit0"),
        ("_insert", "(~tie1 + _ONE) if tie0 == _NONE else _NONE", "(~tie1 + _ONE)"),
        ("_insert", "rest0 &= ~(masks[level, 0] | masks[level + _ONE, 0])", "rest0 = _NONE"),
        ("_insert_weighted", "exchange = count > counts[above]", "exchange = False"),
        ("_insert_weighted", "tie0 ^ first0 | tie1 ^ first1 != _NONE", "False"),
        ("_raise", "masks[level, 1] |= bit1", "masks[level, 1] = bit1"),
    ),
    *kernel(
        "gf2_echelon",
        WIDE,
        ("insert_singly", "if counts[p] < lowest:", "if counts[p] <= lowest:"),  # the last tie
        ("insert_singly", "if lowest == 0:", "if lowest == 1:"),  # stops at too large a count
        ("insert_weighted", "if counts[p] < count:", "if counts[p] > count:"),
        ("insert_weighted", "count = lowest + weights[i]", "count = lowest + 1"),
        ("_take", "counts[p] = base + 1", "counts[p] = base + 2"),
        ("insert_by_coordinates", "if second < (count + 1)", "if second >= (count + 1)"),
        ("_exchange", "set_sum(supports, j, supports, j, scratch, 0, first & ~3)", "pass"),
    ),
    *kernel(
        "gf2_wide",
        WIDE,
        ("_insert_within", "if done == len(outside) else int(outside[done])", ""),
        ("_insert_within", "inside = inside[: number - done]", "pass"),
        ("_insert_within", "grown or too_wide or debt", "too_wide or debt"),  # V may grow unnoticed
        ("_insert_inside", "_frozen(batch[left])", "_frozen(batch[left[:0]])"),  # the rest is lost
        ("_open", "state.counts[above] - base", "state.counts[above]"),
        ("_close", "within.base + flag.counts", "flag.counts"),
        ("copy", "within = replace(within, flag=within.kernel.copy(within.flag))", "pass"),
        ("load", "if len(np.unique(columns)) == len(columns):", "if True:"),
    ),
    *kernel(
        "gf2_space",
        WIDE,
        ("_split", "if something != _NONE:", "if left[i, 0] != _NONE:"),
        ("_split", "coordinates[inside, k] = coordinates[i, k]", "pass"),
    ),
    *kernel(
        "gf2_product",
        "picked or named",
        ("_choose", "place -= 1 << power", "pass"),
        ("_pick", "result[i, last] |= bits >> _ONE >> (np.uint64(63) - shift)", "pass"),
        ("_add_narrow", "if j < len(rows):", "if j < len(rows) - 1:"),
        ("_tabulate", "if first + j < len(rows)", "if first + j < len(rows) - 1"),
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
        ("promote", "class_start(state.counts, state.counts[f], f)", "f"),
        ("merge_into", "for y in range(Y.shape[0]):", "for y in range(Y.shape[0] - 1, -1, -1):"),
        ("merge_into", "if other < 0:", "if True:"),
        ("merge_into", "cz[last] += cy[y]", "cz[last] = cy[y]"),
    ),
    *kernel(
        "panel",
        FINITE,
        ("insert_panel", "if levels[other] != level:", "if True:"),  # no correction
        ("insert_panel", "if levels[other] != level:", "if False:"),  # of every class
        ("insert_rows", "weights[r + n] <= 1", "weights[r + n] <= 2"),
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
    Mutant("flag.py", "merge_flags", "layer[2 * len(pairs) :]", "[]", "fixed_tree"),
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


def run_tests(copy: Path, select: str) -> str:
    """Return "passed", "failed: <test>" or "hung"."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--tb=no", "-p", "no:cacheprovider"]
    command += ["-W", "ignore::RuntimeWarning", "-k", select, *TESTS]
    env = os.environ | {"PYTHONPATH": "src", "NUMBA_DISABLE_JIT": "1"}
    env["PYTHONDONTWRITEBYTECODE"] = "1"  # an edit within one second must not meet stale bytecode
    try:
        done = subprocess.run(
            command, cwd=copy, env=env, capture_output=True, text=True, timeout=TIME_LIMIT
        )
    except subprocess.TimeoutExpired:
        return "hung"
    if done.returncode == 0:
        return "passed"
    if done.returncode == 1:
        named = re.search(r"^(?:FAILED|ERROR) \S+::(\S+)", done.stdout, re.MULTILINE)
        return f"failed: {named[1] if named else '?'}"
    if done.returncode < 0:
        return f"failed: killed by signal {-done.returncode}"
    raise SystemExit(f"pytest could not run:\n{done.stdout}{done.stderr}")


def main(words: list[str]) -> int:
    chosen = [
        mutant
        for mutant in MUTANTS
        if not words or any(word in f"{mutant.file} {mutant.function}" for word in words)
    ]
    survivors = 0
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch)
        ignore = shutil.ignore_patterns("__pycache__")
        for part in ("src", "tests"):
            shutil.copytree(ROOT / part, copy / part, ignore=ignore)
        shutil.copy(ROOT / "pyproject.toml", copy)
        for select in dict.fromkeys(mutant.tests for mutant in chosen):
            verdict = run_tests(copy, select)
            if verdict != "passed":
                raise SystemExit(f"the tests fail without any mutant ({select}): {verdict}")
        for mutant in chosen:
            path = copy / "src" / "flagstone" / mutant.file
            source = path.read_text()
            path.write_text(planted(source, mutant))
            verdict = run_tests(copy, mutant.tests)
            path.write_text(source)
            survivors += verdict == "passed"
            mark = "SURVIVED" if verdict == "passed" else "caught"
            print(f"{mark:8}  {mutant.file} {mutant.function}: {mutant.old} → {mutant.new}")
            if verdict != "passed":
                print(f"          {verdict}", flush=True)
    print(f"{len(chosen) - survivors} of {len(chosen)} mutants caught")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
