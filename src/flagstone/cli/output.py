"""Printing: JSON for programs, a few calm lines for people."""

from __future__ import annotations

import codecs
import io
import json
import math
import os
import sys
from collections.abc import Mapping
from typing import Any, TextIO

#: Colours of a terminal.
BOLD, RED, YELLOW, CYAN = "1", "1;31", "1;33", "36"

_SPELLED = {
    "⊕": "^", "⊥": "_|_", "×": "x", "·": "*", "…": "...", "–": "-", "—": "-", "−": "-", "→": "->",
    "≤": "<=", "≥": ">=", "≠": "!=", "≈": "~", "²": "^2", "√": "sqrt ", "∞": "inf", "ρ": "rho",
    "ε": "eps", "δ": "delta", "α": "alpha", "κ": "kappa",
}  # fmt: skip


def print_json(data: Mapping[str, Any]) -> None:
    """Print one JSON object."""
    from flagstone.disk import json_text

    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    print(json_text(data, indent=2, ensure_ascii=not encoding.lower().startswith("utf")))


def number(value: float) -> str:
    """Return a number for people.

    >>> number(1234567), number(0.5)
    ('1,234,567', '0.5')
    """
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


def percent(part: int, whole: int) -> str:
    """Return a share in percent, never rounded to nothing.

    >>> percent(1, 3), percent(0, 7), percent(1, 10**6)
    ('33.3 %', '0 %', '0.0001 %')
    """
    if not whole or not part:
        return "0 %"
    share = 100 * part / whole
    digits = 1 if share >= 0.1 else 1 - math.floor(math.log10(share)) - 1
    return f"{share:.{digits}f} %"


def safe(text: str) -> str:
    """Return text from data for a terminal: control characters are shown, not obeyed.

    >>> safe("a\\x1b[31mb")
    'a\\\\x1b[31mb'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def print_stderr(text: object) -> None:
    """Say one line on standard error; what kind of line it is stands out on a terminal."""
    line = safe(" ".join(str(text).split()))
    for kind, colour in (("error:", RED), ("warning:", YELLOW)):
        if line.startswith(kind):
            line = painted(kind, colour, sys.stderr) + line.removeprefix(kind)
    print(f"flagstone: {line}", file=sys.stderr)


def print_error_json(message: str, code: int) -> None:
    """Say an error on standard error, as one JSON object."""
    encoding = getattr(sys.stderr, "encoding", None) or "utf-8"
    error = {"error": " ".join(message.split()), "exit_code": code}
    text = json.dumps(error, ensure_ascii=not encoding.lower().startswith("utf"))
    print(safe(text), file=sys.stderr)


def painted(text: str, colour: str, stream: TextIO) -> str:
    """Return text in colour, where the stream is a terminal that has any and NO_COLOR is unset.

    >>> import io
    >>> painted("error:", RED, io.StringIO())
    'error:'
    """
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    if plain or not stream.isatty():
        return text
    return f"\x1b[{colour}m{text}\x1b[0m"


class Plain(io.TextIOBase):
    """A stream of lines for people, in which nothing from data can command their terminal.

    ``raw`` is the stream itself, for data.
    """

    def __init__(self, raw: TextIO) -> None:
        self.raw = raw

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """That of the stream."""
        return self.raw.encoding

    def write(self, text: str) -> int:
        """Write text, line ends as they are and all else safe."""
        return self.raw.write("\n".join(map(safe, text.split("\n"))))

    def fileno(self) -> int:
        """Return that of the stream."""
        return self.raw.fileno()

    def flush(self) -> None:
        """Pass on what the stream holds back."""
        self.raw.flush()


def spell_out() -> None:
    """Let standard streams that lack a character (⊕, ⊥) spell it in ASCII."""
    codecs.register_error("flagstone", _spell)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="flagstone")


def _spell(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lost = error.object[error.start : error.end]
    return "".join(_SPELLED.get(c, c.encode("unicode_escape").decode()) for c in lost), error.end
