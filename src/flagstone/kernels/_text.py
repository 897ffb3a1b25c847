"""What kernels ask of text again and again: blanks, comments, the end of a line."""

from __future__ import annotations

from typing import Any

import numpy as np

from flagstone.kernels._jit import merged
from flagstone.kernels._llvm import exceeding, trailing_zeros

LINE, SPACE, HASH, COMMA, SLASH, COLON, SEMICOLON = tuple(b"\n #,/:;")
BRACE, BRACE_END = tuple(b"{}")
#: Kinds of bytes beside digits, which are their values.
BLANK, FILLER, SEPARATOR, END, OTHER = 16, 17, 18, 19, 20


@merged
def is_blank(c: Any) -> Any:
    """Say whether a byte is a blank, and no line end."""
    return c == SPACE or (c >= 9 and c <= 13 and c != LINE)


@merged
def after_blanks(text: Any, p: int) -> Any:
    """Return the place of the first byte that is no blank."""
    while is_blank(text[p]):
        p += 1
    return p


@merged
def is_over(text: Any, p: int) -> Any:
    """Say whether nothing follows in a line, after a blank, but a comment."""
    c = text[p]
    return c in (LINE, HASH, SEMICOLON) or (c == SLASH and text[p + 1] == SLASH)


@merged
def line_end(text: Any, p: int) -> Any:
    """Return the place of the next line end."""
    while p + 64 <= len(text):
        found = exceeding(text, p, LINE - 1) & ~exceeding(text, p, LINE)
        if found != np.uint64(0):
            return p + trailing_zeros(found)
        p += 64
    while text[p] != LINE:
        p += 1
    return p
