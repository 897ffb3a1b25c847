"""Digests as code that a decoder can paste: ``check_frame`` in C or Python, without a library.

Equations become masks, whose parity is known; sums become the expression that computes them. Both
languages share the expressions: ``frame[2] + bits(frame, 24, 4, 1)``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from flagstone.algebra import Array
from flagstone.errors import InputError
from flagstone.frames.digests.cases import Cases
from flagstone.frames.digests.digest import Digest, Rule
from flagstone.frames.digests.layers import Solved
from flagstone.frames.digests.sums import Sum, units

_C = """\
{what}
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
_C_MASKS = """\
    static const uint8_t mask{k}[{n}][{size}] = {{
{masks}
    }};
    static const uint8_t odd{k}[{n}] = {{{parities}}};
    for (int i = 0; i < {n}; ++i)
        if (parity(frame, mask{k}[i], {size}) != odd{k}[i])
            return 0;"""
_C_SUM = """\
    uint32_t sum{k} = {value}, check{k} = {check};
    {zero}if ({sum} != check{k})
        return 0;"""

_PYTHON = '''\
"""{what}"""

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
_PYTHON_MASKS = """\
    masks = (
{masks}
    )
    value = int.from_bytes(frame, "big")
    if any((value & mask).bit_count() % 2 != parity for mask, parity in masks):
        return False"""
_PYTHON_SUM = """\
    total = {value}
    {zero}if {total} != {check}:
        return False"""


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
    tests: list[tuple[str, Rule]] = [
        (f"{digest.name or 'check bits'}: {digest.formula}", digest.rule) for digest in digests
    ]
    if equations is not None:
        tests.append(("what all frames of the capture obey", equations))
    if not tests:
        raise InputError("code checks a digest, and there is none")
    frame = f"Frames of {n_bits} bits; the first bit is the highest one of frame[0]."
    places = np.arange(n_bits) if order is None else np.asarray(order)
    return LANGUAGES[language]([frame, *([note] if note else [])], tests, places)


def _c(head: Sequence[str], tests: Sequence[tuple[str, Rule]], places: Array) -> str:
    body, helpers = [], set[str]()
    size = -(-len(places) // 8)
    for k, (what, rule) in enumerate(tests, 1):
        body.append(f"    /* {harmless(what)} */")
        if isinstance(rule, Cases):
            body.append(_c_cases(rule, places, k))
            helpers |= {_C_BITS, _C_PARITY} if isinstance(rule.rule, Solved) else {_C_BITS}
        elif isinstance(rule, Solved):
            rows = [", ".join(f"0x{byte:02x}" for byte in row) for row in _packed(rule, places)]
            masks = "\n".join(f"        {{{row}}}," for row in rows)
            parities = ", ".join(map(str, rule.constant.tolist()))
            given = {"k": k, "n": len(rows), "size": size, "masks": masks, "parities": parities}
            body.append(_C_MASKS.format(**given))
            helpers.add(_C_PARITY)
        else:
            value, check, xor, zero = _sum(rule, places)
            written = f"if (sum{k} == 0)\n        sum{k} = {zero};\n    " if zero else ""
            shown = f"(sum{k} ^ {xor:#x})" if xor else f"sum{k}"
            body.append(_C_SUM.format(k=k, value=value, zero=written, sum=shown, check=check))
            helpers |= {_C_BITS} if "bits(" in value + check else set()
    what = "\n   ".join(harmless(line) for line in head)
    return _C.format(what=f"/* {what} */", helpers="".join(sorted(helpers)), body="\n".join(body))


def _python(head: Sequence[str], tests: Sequence[tuple[str, Rule]], places: Array) -> str:
    body, helpers = [], ""
    for what, rule in tests:
        body.append(f"    # {harmless(what)}")
        if isinstance(rule, Cases):
            body.append(_python_cases(rule, places))
            helpers = _PYTHON_BITS
        elif isinstance(rule, Solved):
            rows = zip(_packed(rule, places), rule.constant.tolist(), strict=True)
            masks = (f"        (0x{row.tobytes().hex()}, {value})," for row, value in rows)
            body.append(_PYTHON_MASKS.format(masks="\n".join(masks)))
        else:
            value, check, xor, zero = _sum(rule, places)
            written = f"total = total or {zero}\n    " if zero else ""
            shown = f"(total ^ {xor:#x})" if xor else "total"
            body.append(_PYTHON_SUM.format(value=value, zero=written, total=shown, check=check))
            helpers = _PYTHON_BITS if "bits(" in value + check else helpers
    what = "\n".join(harmless(line) for line in head)
    size = -(-len(places) // 8)
    return _PYTHON.format(what=what, helpers=helpers, body="\n".join(body), size=size)


def _c_cases(rule: Cases, places: Array, k: int) -> str:
    """Return code that holds the constant of a frame against the one of its case."""
    known = [str(rule.constants.get(case, -1)) for case in range(1 << len(rule.columns))]
    table = f"    static const int64_t table{k}[{len(known)}] = {{{', '.join(known)}}};\n"
    case = _expression(places[list(rule.columns)].tolist())
    if isinstance(rule.rule, Sum):
        value = f"    int64_t found{k} = {_residual(rule.rule, places)};"
    else:
        rows = [", ".join(f"0x{byte:02x}" for byte in row) for row in _packed(rule.rule, places)]
        size, masks = -(-len(places) // 8), "\n".join(f"        {{{row}}}," for row in rows)
        value = (
            f"    static const uint8_t mask{k}[{len(rows)}][{size}] = {{\n{masks}\n    }};\n"
            f"    int64_t found{k} = 0;\n    for (int i = 0; i < {len(rows)}; ++i)\n"
            f"        found{k} = found{k} << 1 | parity(frame, mask{k}[i], {size});"
        )
    return f"{table}{value}\n    if (found{k} != table{k}[{case}])\n        return 0;"


def _python_cases(rule: Cases, places: Array) -> str:
    """Return code that holds the constant of a frame against the one of its case."""
    table = ", ".join(f"{case}: {value:#x}" for case, value in rule.constants.items())
    case = _expression(places[list(rule.columns)].tolist())
    if isinstance(rule.rule, Sum):
        value = f"    found = {_residual(rule.rule, places)}"
    else:
        masks = ", ".join(f"0x{row.tobytes().hex()}" for row in _packed(rule.rule, places))
        value = (
            f'    value, found = int.from_bytes(frame, "big"), 0\n    for mask in ({masks},):\n'
            "        found = found << 1 | (value & mask).bit_count() % 2"
        )
    return f"{value}\n    if found != {{{table}}}.get({case}, -1):\n        return False"


def _residual(rule: Sum, places: Array) -> str:
    """Return the constant with which the check of a frame would be right."""
    value, check, xor, _ = _sum(replace(rule, constant=0, sign=-rule.sign), places)
    return f"({check} ^ {xor:#x}) % {rule.modulus} + {value}".join("()") + f" % {rule.modulus}"


LANGUAGES: dict[str, Callable[[Sequence[str], Sequence[tuple[str, Rule]], Array], str]]
LANGUAGES = {"c": _c, "python": _python}


def _packed(rule: Solved, places: Array) -> Array:
    """Return the masks of check bits, in bytes of the frame as it is given to the code."""
    moved = np.zeros_like(rule.masks)
    moved[:, places] = rule.masks
    return np.packbits(moved, axis=1)


def _sum(rule: Rule, places: Array) -> tuple[str, str, int, int]:
    """Return a sum, what it is held against, what is XORed to it, and how a sum of 0 is written."""
    if not isinstance(rule, Sum):
        raise InputError(f"there is no code for {type(rule).__name__}")
    parts = _numbers(rule.columns, rule.unit, rule.little and rule.unit == 16, rule.turned)
    added = " + ".join(_expression(places[part]) for part in parts)
    if rule.sign < 0:
        added = f"{rule.modulus} - ({added}) % {rule.modulus}"
    head = f"{rule.constant:#x} + " if rule.constant else ""
    check = [*_numbers(list(range(*rule.check)), rule.width, rule.little, rule.turned)]
    value = f"({head}{added}) % {rule.modulus}"
    return value, _expression(places[check[0]]), rule.xor, rule.zero


def _numbers(columns: Sequence[int], size: int, little: bool, turned: bool) -> Iterator[list[int]]:
    """Return the columns of each number that is added, the highest bit first."""
    weights = units(np.eye(len(columns), dtype=np.uint8), size, little, turned)
    for number in weights.T:
        used = np.flatnonzero(number)
        yield [columns[i] for i in used[np.argsort(-number[used])].tolist()]


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
