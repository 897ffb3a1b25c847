"""Check bits as code that a decoder can paste: a C function, or a Python one, without a library."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from flagstone.algebra.fields import Array
from flagstone.errors import InputError
from flagstone.finding import Finding
from flagstone.frames.digests.digest import span_text
from flagstone.tables import as_written

if TYPE_CHECKING:
    from flagstone.frames.digests.analysis import DigestAnalysis

_C = """\
#include <stdint.h>

/* {what}
   Returns how many check bits of the frame are wrong: 0 for a good one.
   The first bit of the frame is the highest one of b[0]. */
static int frame_check(uint8_t const *b)
{{
    static uint8_t const mask[{n}][{size}] = {{
{masks}
    }};
    static uint8_t const parity[{n}] = {{{parities}}};
    int wrong = 0;
    for (int i = 0; i < {n}; ++i) {{
        uint8_t x = 0;
        for (int j = 0; j < {size}; ++j)
            x ^= b[j] & mask[i][j];
        x ^= x >> 4;
        x ^= x >> 2;
        x ^= x >> 1;
        wrong += (x & 1) != parity[i];
    }}
    return wrong;
}}
"""

_PYTHON = '''\
def frame_check(b):
    """Return how many check bits of a frame, given as bytes, are wrong: 0 for a good one.

    {what}
    The first bit of the frame is the highest one of b[0].
    """
    masks = (
{masks}
    )
    frame = int.from_bytes(bytes(b[:{size}]), "big")
    return sum((frame & mask).bit_count() % 2 != parity for mask, parity in masks)
'''


def frame_code(finding: Finding, analysis: DigestAnalysis, language: str) -> str:
    """Return a function of frames as written, in C or Python, that checks their check bits."""
    solved = analysis.layers.solved
    if solved is None:
        raise InputError("code checks check bits, and these equations were solved for none")
    rows = solved.matrix.copy()
    rows[range(len(rows)), list(solved.columns)] = 1
    names = [digest.name for digest in analysis.digests if digest.name and digest.kind != "sum"]
    what = f"check bits {span_text(analysis.layers.names, solved.columns)}"
    if names:
        what += f": {', '.join(names)}"
    bits = as_written(finding, rows)
    return check_code(bits, solved.constant.tolist(), what, language).rstrip("\n")


def check_code(bits: Array, values: Sequence[int], what: str, language: str) -> str:
    """Return a function that checks frames.

    Parameters
    ----------
    bits : array of shape (k, n_bits)
        One row per check bit: which bits of a frame, as it is written, it sums up.
    values : sequence of int
        What the sums must be.
    what : str
        A line for the reader.
    language : {"c", "python"}

    Examples
    --------
    >>> import numpy as np
    >>> text = check_code(np.array([[1, 1, 0, 0, 0, 0, 0, 0, 1]]), [1], "x8 = x0 ⊕ x1", "python")
    >>> space = {}
    >>> exec(text, space)
    >>> [space["frame_check"](frame) for frame in (b"\\x80\\x00", b"\\x80\\x80")]
    [0, 1]
    """
    if language not in LANGUAGES:
        raise InputError(f"code is written in {' or '.join(LANGUAGES)}, not in {language!r}")
    packed = np.packbits(np.asarray(bits, dtype=np.uint8), axis=1)
    return LANGUAGES[language](packed, [int(value) for value in values], harmless(what))


def _c(packed: Array, values: list[int], what: str) -> str:
    rows = ("        {" + ", ".join(f"0x{byte:02x}" for byte in row) + "}," for row in packed)
    return _C.format(
        what=what,
        n=len(packed),
        size=packed.shape[1],
        masks="\n".join(rows),
        parities=", ".join(map(str, values)),
    )


def _python(packed: Array, values: list[int], what: str) -> str:
    pairs = zip(packed, values, strict=True)
    rows = (f"        (0x{row.tobytes().hex()}, {value})," for row, value in pairs)
    return _PYTHON.format(what=what, size=packed.shape[1], masks="\n".join(rows))


def harmless(text: str) -> str:
    """Return a text that ends no comment and no string, whatever columns are called."""
    kept = (c if c.isascii() and (c.isalnum() or c in " .,:;-_/()[]") else "?" for c in text)
    return "".join(kept)


LANGUAGES: dict[str, Callable[[Array, list[int], str], str]] = {"c": _c, "python": _python}
