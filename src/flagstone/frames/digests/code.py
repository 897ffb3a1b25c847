"""Digests as code that a decoder can paste: ``check_frame`` in C or Python, without a library.

Equations become masks, whose parity is known; sums become the expression that computes them. Both
languages share the expressions: ``frame[2] + bits(frame, 24, 4, 1)``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from textwrap import indent

import numpy as np

from flagstone.algebra import Array
from flagstone.errors import InputError
from flagstone.frames.digests.digest import Digest, number
from flagstone.frames.digests.rules import Cases, Rule, Solved, Sum, units

_C = """\
/* {head} */
#include <stdint.h>
{helpers}
/* Return 1 for a frame that passes, 0 for one that does not. */
int check_frame(const uint8_t *frame)
{{
{body}
    return 1;
}}
"""
_C_BITS = """
static uint32_t bits(const uint8_t *frame, int first, int n, int step)
{
    uint32_t value = 0;
    for (; n > 0; --n, first += step)
        value = value << 1 | (frame[first / 8] >> (7 - first % 8) & 1);
    return value;
}
"""
_C_PARITY = """
static int parity(const uint8_t *frame, const uint8_t *mask, int size)
{
    uint8_t x = 0;
    for (int i = 0; i < size; ++i)
        x ^= frame[i] & mask[i];
    x ^= x >> 4;
    x ^= x >> 2;
    x ^= x >> 1;
    return x & 1;
}
"""
_PYTHON = '''\
"""{head}"""

{helpers}
def check_frame(frame: bytes) -> bool:
    """Return True for a frame that passes, False for one that does not."""
    if len(frame) != {size}:
        return False
{body}
    return True
'''
_PYTHON_BITS = '''
def bits(frame: bytes, first: int, n: int, step: int) -> int:
    """Return n bits of a frame as a number: first, first + step, and so on."""
    places = range(first, first + n * step, step)
    return int("".join(str(frame[i // 8] >> (7 - i % 8) & 1) for i in places), 2)

'''
#: How many equations are one number.
_AT_ONCE = 32


@dataclass(frozen=True)
class _Test:
    """A number that is computed from a frame, and the one that it must be.

    ``value`` is an expression, or the parities of masks. ``expected`` is an expression, too: the
    number itself, or with ``table`` its place there, where -1 stands for no number.
    """

    what: str
    value: str | list[bytes]
    expected: str
    zero: int = 0  # how a value of 0 is written
    table: list[int] | None = None


def frame_code(
    n_bits: int,
    digests: Sequence[Digest],
    language: str,
    *,
    equations: Solved | None = None,
    order: Sequence[int] | None = None,
    note: str = "",
) -> str:
    """Return the source of ``check_frame``, which says whether a frame passes every digest.

    Parameters
    ----------
    n_bits : int
        The bits of a frame. The first one is the highest bit of its first byte.
    digests : sequence of Digest
    language : {"c", "python"}
    equations : Solved, optional
        What frames must obey besides (``--strict``): constants, and what is usual.
    order : sequence of int, optional
        Where each bit stands in the frame that is given to the code, if that has another order.
    note : str
        A line for the reader.

    Examples
    --------
    >>> import numpy as np
    >>> rule = Solved((8,), np.array([[1, 1, 0, 0, 0, 0, 0, 0, 0]]), np.array([1]))
    >>> digest = Digest("linear", None, ("x8",), {}, "x8 = x0 ⊕ x1 ⊕ 1", 2, rule)
    >>> space = {}
    >>> exec(frame_code(9, [digest], "python"), space)
    >>> [space["check_frame"](frame) for frame in (b"\\x80\\x00", b"\\x80\\x80", b"")]
    [True, False, False]
    """
    if language not in LANGUAGES:
        raise InputError(f"code is written in {' or '.join(LANGUAGES)}, not in {language!r}")
    rules: list[tuple[str, Rule]] = [
        (f"{digest.name or 'check bits'}: {digest.formula}", digest.rule) for digest in digests
    ]
    if equations is not None:
        rules.append(("what all frames of the capture obey", equations))
    if not rules:
        raise InputError("code checks a digest, and there is none")
    frame = f"Frames of {n_bits} bits; the first bit is the highest one of frame[0]."
    places = np.arange(n_bits) if order is None else np.asarray(order)
    tests = [test for what, rule in rules for test in _tests(harmless(what), rule, places)]
    head = [harmless(line) for line in (frame, note) if line]
    return LANGUAGES[language](head, tests, -(-n_bits // 8))


def _tests(what: str, rule: Rule, places: Array) -> Iterator[_Test]:
    """Return what a frame must have, if its bits stand in these places."""
    if isinstance(rule, Cases):
        case = _expression(places[list(rule.columns)])
        table = [rule.constants.get(i, -1) for i in range(1 << len(rule.columns))]
        value = (
            _residual(rule.rule, places)
            if isinstance(rule.rule, Sum)
            else _masks(rule.rule, places)
        )
        yield _Test(what, value, case, table=table)
    elif isinstance(rule, Solved):
        masks = _masks(rule, places)
        for start in range(0, len(masks), _AT_ONCE):
            some = slice(start, start + _AT_ONCE)
            yield _Test(what, masks[some], f"{number(rule.constant[some]):#x}")
    elif isinstance(rule, Sum):
        value, check = _sum(rule, places)
        yield _Test(what, value, f"({check} ^ {rule.xor:#x})" if rule.xor else check, rule.zero)
    else:
        raise InputError(f"there is no code for {type(rule).__name__}")


def _c(head: Sequence[str], tests: Sequence[_Test], size: int) -> str:
    lines: list[str] = []
    for k, test in enumerate(tests, 1):
        found, expected = f"found{k}", test.expected
        lines.append(f"/* {test.what} */")
        if test.table is not None:
            known = ", ".join(map(str, test.table))
            lines.append(f"static const int64_t table{k}[{len(test.table)}] = {{{known}}};")
            expected = f"table{k}[{expected}]"
        if isinstance(test.value, str):
            lines.append(f"int64_t {found} = {test.value};")
        else:
            n = len(test.value)
            rows = [", ".join(f"0x{byte:02x}" for byte in mask) for mask in test.value]
            lines.append(f"static const uint8_t mask{k}[{n}][{size}] = {{")
            lines += [f"    {{{row}}}," for row in rows]
            lines += ["};", f"int64_t {found} = 0;", f"for (int i = 0; i < {n}; ++i)"]
            lines.append(f"    {found} = {found} << 1 | parity(frame, mask{k}[i], {size});")
        if test.zero:
            lines += [f"if ({found} == 0)", f"    {found} = {test.zero};"]
        lines += [f"if ({found} != {expected})", "    return 0;"]
    body = indent("\n".join(lines), "    ")
    used = (("bits(frame", _C_BITS), ("parity(frame", _C_PARITY))
    helpers = "".join(helper for call, helper in used if call in body)
    return _C.format(head="\n   ".join(head), helpers=helpers, body=body)


def _python(head: Sequence[str], tests: Sequence[_Test], size: int) -> str:
    lines: list[str] = []
    for test in tests:
        expected = test.expected
        lines.append(f"# {test.what}")
        if test.table is not None:
            known = (f"{i}: {value:#x}" for i, value in enumerate(test.table) if value >= 0)
            expected = f"{{{', '.join(known)}}}.get({expected}, -1)"
        if isinstance(test.value, str):
            lines.append(f"found = {test.value}")
        else:
            masks = [f"    0x{mask.hex()}," for mask in test.value]
            lines += ["masks = (", *masks, ")"]
            lines += ['value, found = int.from_bytes(frame, "big"), 0', "for mask in masks:"]
            lines.append("    found = found << 1 | (value & mask).bit_count() % 2")
        if test.zero:
            lines.append(f"found = found or {test.zero}")
        lines += [f"if found != {expected}:", "    return False"]
    body = indent("\n".join(lines), "    ")
    helpers = _PYTHON_BITS if "bits(frame" in body else ""
    return _PYTHON.format(head="\n".join(head), helpers=helpers, body=body, size=size)


LANGUAGES: dict[str, Callable[[Sequence[str], Sequence[_Test], int], str]]
LANGUAGES = {"c": _c, "python": _python}


def _masks(rule: Solved, places: Array) -> list[bytes]:
    """Return the masks of check bits, in bytes of the frame as it is given to the code."""
    moved = np.zeros_like(rule.masks)
    moved[:, places] = rule.masks
    return [row.tobytes() for row in np.packbits(moved, axis=1)]


def _sum(rule: Sum, places: Array) -> tuple[str, str]:
    """Return a sum, and what is held against it."""
    parts = _numbers(rule.columns, rule.unit, rule.little and rule.unit == 16, rule.turned)
    added = " + ".join(_expression(places[part]) for part in parts)
    if rule.sign < 0:
        added = f"{rule.modulus} - ({added}) % {rule.modulus}"
    head = f"{rule.constant:#x} + " if rule.constant else ""
    check = [*_numbers(rule.checks, rule.width, rule.little, rule.turned)]
    return f"({head}{added}) % {rule.modulus}", _expression(places[check[0]])


def _residual(rule: Sum, places: Array) -> str:
    """Return the constant with which the check of a frame would be right."""
    value, check = _sum(replace(rule, constant=0, sign=-rule.sign), places)
    return f"(({check} ^ {rule.xor:#x}) % {rule.modulus} + {value}) % {rule.modulus}"


def _numbers(columns: Sequence[int], size: int, little: bool, turned: bool) -> Iterator[list[int]]:
    """Return the columns of each number that is added, the highest bit first."""
    weights = units(np.eye(len(columns), dtype=np.uint8), size, little, turned)
    for unit in weights.T:
        used = np.flatnonzero(unit)
        yield [columns[i] for i in used[np.argsort(-unit[used])].tolist()]


def _expression(places: Iterable[int]) -> str:
    """Return bits of a frame, the highest first, as a number in both languages.

    >>> _expression(range(16, 32)), _expression([4, 5, 6, 7]), _expression([15, 14, 13, 12])
    ('(frame[2] << 8 | frame[3])', 'bits(frame, 4, 4, 1)', 'bits(frame, 15, 4, -1)')
    """
    runs: list[list[int]] = []
    columns = list(map(int, places))
    for place in columns:
        run = runs[-1] if runs else []
        step = place - run[-1] if run else 0
        if run and abs(step) == 1 and (len(run) == 1 or run[1] - run[0] == step):
            run.append(place)
        else:
            runs.append([place])
    parts, shift = [], len(columns)
    for run in [part for some in runs for part in _bytes(some)]:
        shift -= len(run)
        step = run[1] - run[0] if len(run) > 1 else 1
        whole = len(run) == 8 and step == 1 and run[0] % 8 == 0
        read = f"frame[{run[0] // 8}]" if whole else f"bits(frame, {run[0]}, {len(run)}, {step})"
        parts.append(f"{read} << {shift}" if shift else read)
    return parts[0] if len(parts) == 1 else f"({' | '.join(parts)})"


def _bytes(run: list[int]) -> list[list[int]]:
    """Cut a run into bytes, if it is made of whole ones."""
    if len(run) % 8 or run[0] % 8 or run[-1] < run[0]:
        return [run]
    return [run[i : i + 8] for i in range(0, len(run), 8)]


def harmless(text: str) -> str:
    """Return a text that ends no comment and no string, whatever columns are called."""
    text = text.replace("⊕", "xor").replace("−", "-").replace("±", "+-")
    kept = (c if c.isascii() and (c.isalnum() or c in " .,:;-_/()[]+=") else "?" for c in text)
    return "".join(kept)
