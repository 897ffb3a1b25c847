"""Run random cases on every version of the native kernels and compare the results.

Usage: ``python -m scripts.native_fuzz [--cases 100000] [--seed 0] [--only CASE] [--verbose]``

A case has a number. From it and the seed it draws a scenario and its arguments, so that it can be
repeated alone (``--only``). All versions that this processor can run must return what the
reference returns. Some calls get a spoiled argument: then all native versions must raise the same
type of exception, or return the same result. `make sanitize` runs this with AddressSanitizer and
UndefinedBehaviorSanitizer; if a case ends the process, ``--verbose`` names it.

A scenario for a kernel that the module does not offer is left out. A kernel without a scenario is
an error.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import Any

import numpy as np

from flagstone import _native, _reference
from flagstone.notation import FrameProblem, line_form, parse_frames

Random = np.random.Generator

NATIVE: dict[str, Any] = {
    name: getattr(_native, name)
    for name in ("portable", "avx2", "avx512")
    if hasattr(_native, name)
}

#: Widths around the boundaries of words and vectors.
EDGES = (63, 64, 65, 127, 128, 129, 255, 256, 257, 383, 384, 385, 511, 512, 513)

#: p, k, and for k > 1 a primitive polynomial, constant term first.
FIELDS: tuple[tuple[int, int, list[int]], ...] = (
    (2, 1, []), (3, 1, []), (5, 1, []), (251, 1, []), (257, 1, []), (65521, 1, []),
    (2**31 - 1, 1, []), (2, 2, [1, 1, 1]), (2, 3, [1, 1, 0, 1]), (3, 2, [2, 2, 1]),
    (2, 8, [1, 0, 1, 1, 1, 0, 0, 0, 1]), (3, 5, [1, 2, 0, 0, 0, 1]), (67, 2, [2, 63, 1]),
    (2, 9, [1, 0, 0, 0, 1, 0, 0, 0, 0, 1]), (3, 6, [2, 2, 1, 0, 2, 0, 1]),
)  # fmt: skip


class Scenario:
    """How to draw a case of some kernel, and what to compare.

    A *call* draws the arguments of one function. A *program* runs several steps on a module and
    returns what it sees; it draws the same steps for every module.
    """

    def __init__(self, name: str, draw: Callable[..., Any], program: bool) -> None:
        self.name, self.draw, self.program = name, draw, program

    def results(self, modules: dict[str, Any], key: list[int]) -> tuple[Any, dict[str, Any]]:
        """Return what to print of the case, and each module's result."""
        if self.program:
            return "", {m: self.draw(modules[m], np.random.default_rng(key)) for m in modules}
        rng = np.random.default_rng(key)
        arguments = list(self.draw(rng))
        if rng.random() < 0.05 and arguments:
            i = int(rng.integers(len(arguments)))
            arguments[i] = spoiled(rng, arguments[i])
            modules = {name: module for name, module in modules.items() if name in NATIVE}
        kernel = attrgetter(self.name)
        return arguments, {m: outcome(kernel(modules[m]), arguments) for m in modules}


SCENARIOS: dict[str, Scenario] = {}


def call(name: str) -> Callable[[Callable[[Random], Any]], Any]:
    """Register arguments for the function of this name."""

    def register(draw: Callable[[Random], Any]) -> Any:
        SCENARIOS[name] = Scenario(name, draw, program=False)
        return draw

    return register


def program(name: str) -> Callable[[Callable[[Any, Random], Any]], Any]:
    """Register a scenario of several steps that starts with this function."""

    def register(draw: Callable[[Any, Random], Any]) -> Any:
        SCENARIOS[name] = Scenario(name, draw, program=True)
        return draw

    return register


def outcome(function: Callable[..., Any], arguments: list[Any]) -> Any:
    """Return the result, or the type of the exception."""
    try:
        return function(*arguments)
    except (TypeError, ValueError, OverflowError, MemoryError) as error:
        return type(error)


def spoiled(rng: Random, value: Any) -> Any:
    """Return an argument that is probably wrong."""
    if isinstance(value, np.ndarray):
        more = np.concatenate([value, value[:1]]) if len(value) else value
        wrong: list[Any] = [
            value.astype(np.float32), value.astype(np.int8), value[..., np.newaxis], value[:0],
            value[::2], value.T, value.ravel(), more, np.asfortranarray(value), None, [],
        ]  # fmt: skip
    elif isinstance(value, bool | int | float):
        wrong = [-1, 0, int(value) + 1, 2**40, 2**63, 2**64, 2**70, 0.5, np.nan, "1", None]
    else:
        wrong = [None, 1, b"", "text"]
    return wrong[int(rng.integers(len(wrong)))]


def same(a: Any, b: Any) -> bool:
    """Say whether results are equal, types included."""
    if isinstance(a, tuple | list):
        return (
            isinstance(b, tuple | list)
            and len(a) == len(b)
            and all(same(x, y) for x, y in zip(a, b, strict=True))
        )
    if isinstance(a, np.ndarray):
        return (
            isinstance(b, np.ndarray)
            and a.dtype == b.dtype
            and a.shape == b.shape
            and a.tobytes() == b.tobytes()
        )
    if isinstance(a, float) and isinstance(b, float):
        return a == b or (a != a and b != b)
    return bool(a == b)


def rref(dim: int, rows: np.ndarray) -> Any:
    """Return a reduced echelon form quickly; cases of its own compare it with the reference."""
    return NATIVE["portable"].gf2.rref(dim, rows)


# Data


def draw_dim(rng: Random) -> int:
    """Return a number of columns, small ones more often."""
    kind = rng.random()
    if kind < 0.9:
        return int(rng.integers(1, 71)) if kind < 0.7 else int(rng.choice(EDGES[:6]))
    return int(rng.choice(EDGES)) if kind < 0.97 else int(rng.integers(71, 701))


def draw_size(rng: Random) -> int:
    """Return a number of rows."""
    return int(rng.integers(0, (4, 20, 80, 400)[int(rng.choice(4, p=[0.2, 0.4, 0.35, 0.05]))]))


def draw_bits(rng: Random, n_rows: int, dim: int) -> np.ndarray:
    """Return a table of 0 and 1: uniform, sparse, of low rank, repeated, or zero in places."""
    kind = rng.integers(5)
    if kind == 0:
        return (rng.random((n_rows, dim)) < 2 / max(1, dim)).astype(np.uint8)
    if kind == 1:
        rank = int(rng.integers(1, 5))
        pool = rng.integers(0, 2, (rank, dim))
        return (rng.integers(0, 2, (n_rows, rank)) @ pool % 2).astype(np.uint8)
    bits = rng.integers(0, 2, (n_rows, dim), dtype=np.uint8)
    if kind == 2 and n_rows:
        bits = bits[rng.integers(0, 1 + n_rows // 4, n_rows)]
    if kind == 3:
        bits[rng.random(n_rows) < 0.4] = 0
    return bits


def packed(bits: np.ndarray) -> np.ndarray:
    """Pack a table of 0 and 1."""
    octets = np.zeros((len(bits), 8 * max(1, -(-bits.shape[1] // 64))), np.uint8)
    packed_bits = np.packbits(bits, axis=1, bitorder="little")
    octets[:, : packed_bits.shape[1]] = packed_bits
    return octets.view(np.uint64)


def draw_words(rng: Random, n_rows: int, dim: int) -> np.ndarray:
    """Return packed rows."""
    return packed(draw_bits(rng, n_rows, dim))


def draw_counts(rng: Random, n: int) -> np.ndarray:
    """Return falling positive counts."""
    return np.sort(rng.integers(1, int(rng.choice([2, 5, 1000])), n))[::-1].astype(np.int64)


def draw_counted(rng: Random, n_rows: int, dim: int) -> tuple[np.ndarray, np.ndarray]:
    """Return independent packed rows, which need not be in echelon form, and their counts."""
    bits = draw_bits(rng, n_rows, dim)
    chosen = rref(n_rows, packed(bits.T))[1]
    return packed(bits[chosen]), draw_counts(rng, len(chosen))


def draw_weights(rng: Random, n: int) -> np.ndarray | None:
    """Return weights, some of them 0, or none."""
    if rng.random() < 0.5:
        return None
    return rng.integers(0, int(rng.choice([2, 4, 10**6])), n)


def split(rng: Random, n: int) -> Iterator[slice]:
    """Cut 0..n into a few parts."""
    cuts = np.sort(rng.integers(0, n + 1, int(rng.integers(0, 4)))).tolist()
    for start, stop in zip([0, *cuts], [*cuts, n], strict=True):
        yield slice(start, stop)


# Linear algebra, flags and pieces over GF(2)


@call("gf2.rref")
def gf2_rref(rng: Random) -> Any:
    dim = draw_dim(rng)
    return dim, draw_words(rng, draw_size(rng), dim)


@call("gf2.reduce")
def gf2_reduce(rng: Random) -> Any:
    dim = draw_dim(rng)
    basis, pivots = rref(dim, draw_words(rng, int(rng.integers(0, 20)), dim))
    return draw_words(rng, draw_size(rng), dim), basis, pivots


@call("gf2.dot")
def gf2_dot(rng: Random) -> Any:
    dim = draw_dim(rng)
    return draw_words(rng, draw_size(rng), dim), draw_words(rng, int(rng.integers(0, 80)), dim)


@call("gf2.merge")
def gf2_merge(rng: Random) -> Any:
    dim = draw_dim(rng)
    X, Y = (draw_counted(rng, int(rng.integers(1, dim + 2)), dim) for _ in range(2))
    return dim, *X, *Y


def canonical(flag: Any, dim: int) -> Any:
    """Return the counts, and some of their spaces in reduced form: the same for equal flags."""
    basis, counts = flag.dump()
    levels = np.flatnonzero(np.diff(counts, append=0)).tolist()
    some = {*levels[:: 1 + len(levels) // 4], *levels[-1:]}
    return counts, [rref(dim, basis[: i + 1])[0] for i in sorted(some)]


@program("gf2.flag")
def gf2_flag(module: Any, rng: Random) -> Any:
    dim, seen = draw_dim(rng), []
    flag = module.gf2.flag(dim)
    rows = draw_words(rng, draw_size(rng), dim)
    for part in split(rng, len(rows)):
        if rng.random() < 0.3:
            twin = flag.copy()
            flag.insert(rows[part][::-1].copy())
            flag = twin
        flag.insert(rows[part], draw_weights(rng, len(rows[part])))
        if rng.random() < 0.3:
            flag = module.gf2.flag_load(dim, *flag.dump())
        seen.append(canonical(flag, dim))
    return seen


@program("gf2.flag_load")
def gf2_flag_load(module: Any, rng: Random) -> Any:
    dim = draw_dim(rng)
    basis, counts = draw_counted(rng, int(rng.integers(1, dim + 2)), dim)
    flag = module.gf2.flag_load(dim, basis, counts)
    seen = canonical(flag, dim)
    flag.insert(draw_words(rng, draw_size(rng), dim))
    return seen, canonical(flag, dim)


@program("cut_pieces")
def cut_pieces(module: Any, rng: Random) -> Any:
    dim, inside = int(rng.integers(1, 12 if rng.random() < 0.9 else 130)), bool(rng.integers(2))
    pace = float(rng.choice([0.7, 1.0, 1.6, 2.5])) * (1 if rng.random() < 0.5 else dim)
    rule = (
        inside, int(rng.integers(1, 4 * dim + 1)), pace, int(rng.integers(1, 30)),
        int(rng.integers(0, 40)), int(rng.integers(1, 9)),
    )  # fmt: skip
    flag, piece = module.gf2.flag(dim), (0, 0)
    bits, seen = draw_bits(rng, draw_size(rng), dim), []
    for part in split(rng, len(bits)):
        ticks = np.flatnonzero(bits[part].any(axis=1))
        rows, size = packed(bits[part][ticks]), len(bits[part])
        if rng.random() < 0.3:
            twin = flag.copy()
            module.cut_pieces(flag, rule, piece, rows, ticks, size + 3)
            flag = twin
        if rng.random() < 0.3:
            flag = module.gf2.flag_load(dim, *flag.dump())
        ends, piece = module.cut_pieces(flag, rule, piece, rows, ticks, size)
        seen.append((ends, piece))
    return seen


# Packing


def draw_table(rng: Random) -> np.ndarray:
    """Return entries of some type, some of them not 0 or 1."""
    table = draw_bits(rng, draw_size(rng), draw_dim(rng)).astype(
        rng.choice(["?", "u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8"])
    )
    if rng.random() < 0.3 and table.size and table.dtype != bool:
        table.flat[int(rng.integers(table.size))] = int(rng.choice([2, 3, 100]))
    return table


@program("pack")
def pack(module: Any, rng: Random) -> Any:
    table = draw_table(rng)
    if rng.random() < 0.2:
        table = table[::2, ::-1]
    words, fits = module.pack(table)
    return fits, words if fits else None  # else the words mean nothing


@program("pack_columns")
def pack_columns(module: Any, rng: Random) -> Any:
    table = draw_table(rng)
    types = rng.choice(["u1", "i1", "i4", "u8", "i8"], table.shape[1])
    words, fine = module.pack_columns(
        [column.astype(t) for column, t in zip(table.T, types, strict=True)]
    )
    return fine, words if fine else None


# Text


@program("parse_digits")
def parse_digits(module: Any, rng: Random) -> Any:
    width, n_digits = int(rng.choice([1, 4])), int(rng.integers(1, 40))
    digits = b"0123456789abcdefABCDEF" if width == 4 else b"01"
    n_bits = width * n_digits - int(rng.integers(0, width))
    between, lines = bytes(rng.choice([b"", b" ", b":", b", "])), []
    for _ in range(int(rng.integers(0, 20))):
        n = n_digits if rng.random() < 0.9 else int(rng.integers(1, 40))
        text = rng.choice(np.frombuffer(digits, np.uint8), n).tobytes()
        text = text[:-1] + b"0" if rng.random() < 0.5 else text
        text = between.join(text[i : i + 2] for i in range(0, n, 2))
        if rng.random() < 0.5:
            text = b"{%d}" % max(1, n * width - int(rng.integers(0, 4))) + text
        if rng.random() < 0.1:
            at = int(rng.integers(0, len(text) + 1))
            odd = bytes(
                rng.choice([b" ", b"x", b"#", b" ;", b"\t", b"\xff", b"\x81", b"g", b"{8}"])
            )
            text = text[:at] + odd + text[at:]
        lines.append(text * int(rng.choice([1, 1, 1, 2])))
    forms = dict(form for line in lines[::2] if (form := form_of(line, width)) is not None)
    ends = [b"\r\n" if rng.random() < 0.1 else b"\n" for _ in lines]
    block = b"".join(line + end for line, end in zip(lines, ends, strict=True))
    words, numbers, *rest = module.parse_digits(
        block, 5, width, n_bits, list(forms.items()), int(rng.integers(1, 9))
    )
    return words, list(numbers), *rest


def form_of(line: bytes, width: int) -> Any:
    """Return the form of a line, if it is a good one."""
    notation = "hex" if width == 4 else "bits"
    try:
        return line_form(line, notation) if parse_frames(line, notation) else None
    except FrameProblem:
        return None


# Certificates


@call("log_mean_product")
def log_mean_product(rng: Random) -> Any:
    n = int(rng.integers(1, 20))
    values, lengths = rng.integers(0, 30, n).astype(float), rng.integers(1, 900, n).astype(float)
    rates = np.sort(rng.random(int(rng.integers(1, 6)))) * float(rng.choice([-1, 1]))
    times, rows = rng.integers(0, 99, n).astype(float), float(rng.integers(1, 10**5))
    total, nats = float(rng.integers(0, 400)), float(rng.integers(0, 50))
    bet = float(rng.choice([0.2, 0.5, 0.9]))
    return rates, values, lengths, times, total, nats, rows, bet, 1e-12


# Other finite fields


@program("finite_field")
def finite_field(module: Any, rng: Random) -> Any:
    p, k, polynomial = FIELDS[int(rng.integers(len(FIELDS)))]
    field, dtype = module.finite_field(p, k, polynomial), np.min_scalar_type(p**k - 1)
    dim, seen = int(rng.integers(1, 20 if rng.random() < 0.95 else 90)), list[Any]()

    def elements(n_rows: int) -> np.ndarray:
        rows = rng.integers(0, p**k, (n_rows, dim)).astype(dtype)
        if rng.random() < 0.5 and n_rows:  # repeated, and mostly zero: many levels
            rows = rows[rng.integers(0, 1 + n_rows // 3, n_rows)]
            rows *= (rng.random(rows.shape) < 0.3).astype(dtype)
        return rows

    def canonical_levels(basis: np.ndarray, counts: np.ndarray) -> Any:
        levels = np.flatnonzero(np.diff(counts, append=0)).tolist()
        return [(int(counts[i]), field.rref(dim, basis[: i + 1])[0]) for i in levels]

    rows = elements(min(draw_size(rng), 90))
    form, pivots = field.rref(dim, rows)
    seen += [form, pivots, field.reduce(elements(5), form, pivots), field.dot(rows, elements(3))]
    flags = []
    for _ in range(2):
        flag, rows = field.flag(dim), elements(min(draw_size(rng), 60))
        for part in split(rng, len(rows)):
            twin = flag.copy()
            twin.insert(rows[part], draw_weights(rng, len(rows[part])))
            flag = twin if rng.random() < 0.7 else field.flag_load(dim, *twin.dump())
        flags.append(flag.dump())
        seen.append(canonical_levels(*flags[-1]))
    seen.append(canonical_levels(*field.merge(dim, *flags[0], *flags[1])))
    return seen


def kernels(module: Any) -> set[str]:
    """Return the names of the functions that a version offers, those of GF(2) included."""
    public = {name for name in dir(module) if not name.startswith("_")} - {"gf2"}
    functions = {name for name in public if not isinstance(getattr(module, name), type)}
    return functions | {f"gf2.{name}" for name in dir(module.gf2) if not name.startswith("_")}


def main(arguments: list[str] | None = None) -> int:
    """Run the cases; return 1 if any fails."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, help="run this case alone")
    parser.add_argument("--kernel", help="run cases of this kernel only")
    parser.add_argument("--verbose", action="store_true", help="name each case before it runs")
    options = parser.parse_args(arguments)
    failures, start = 0, time.perf_counter()
    offered = kernels(NATIVE["portable"])
    for name, module in NATIVE.items():
        if lacking := offered ^ kernels(module):
            print(f"{name} and portable do not offer the same kernels: {sorted(lacking)}")
            failures += 1
    if missing := offered - SCENARIOS.keys():
        print(f"no scenario for {sorted(missing)}")
        failures += 1
    names = sorted(offered & SCENARIOS.keys())
    if options.kernel:
        names = [options.kernel]
    number: Counter[str] = Counter()
    for case in range(options.cases) if options.only is None else [options.only]:
        key = [options.seed, case]
        name = names[case % len(names)]
        scenario = SCENARIOS[name]
        if options.verbose:
            print(f"case {case}: {name}", flush=True)
        drawn, results = scenario.results({**NATIVE, "reference": _reference}, key)
        first, *others = results
        number[name] += 1
        for other in others:
            if not same(results[first], results[other]):
                failures += 1
                print(f"case {case} (seed {options.seed}, {name}): {first} and {other} differ")
                print(f"  arguments {drawn}\n  {first}: {results[first]}")
                print(f"  {other}: {results[other]}", flush=True)
        if failures >= 10:
            break
    seconds = time.perf_counter() - start
    print(f"{number.total()} cases in {seconds:.0f} s, versions {', '.join(NATIVE)} and reference:")
    print("  " + ", ".join(f"{name} {n}" for name, n in sorted(number.items())))
    print(f"{failures} failures" if failures else "no failures")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
