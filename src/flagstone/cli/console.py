"""What all verbs share: exit codes and errors, the words of the command line, and printing."""

from __future__ import annotations

import codecs
import contextlib
import io
import math
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TextIO, TypeVar

from flagstone.cli.parser import options_given
from flagstone.cli.verbs import VERBS
from flagstone.disk import json_text
from flagstone.errors import FlagstoneError, InputError, Parameter

#: The words of the command line, to print the command that repeats a run.
ARGUMENTS: list[str] = []

#: What a verb holds until it ends: locks, temporary files, the cluster.
AT_END = contextlib.ExitStack()

OK, ERROR, USAGE, BOTTOM, FAILED = 0, 1, 2, 3, 4


class UsageError(FlagstoneError):
    """The command line itself is wrong: exit code 2."""


def refuse_options(options: Any, fields: Iterable[str], why: str) -> None:
    """Refuse options among these fields that were given."""
    for name in options_given(options, fields):
        raise UsageError(f"{name} {why}")


class Interrupted(Exception):
    """The user stopped the run; the message says how to go on, the cause by which signal."""


#: A tab cannot be typed into most shells; the command line takes (and shows) it spelled out.
TAB, TAB_AS_TYPED = "\t", r"\t"
#: Options that are not called as their parameter is.
_OPTIONS = {
    "fit_intercept": "--intercept",
    "max_pairs": "--pairs",
    "n_jobs": "--jobs",
    "overwrite": "--force",
    "random_state": "--seed",
}

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "ki": 1 << 10, "mi": 1 << 20, "gi": 1 << 30}
_SIZE = re.compile(r"(\d{1,18})\s*([kmg]i?|)b?", re.IGNORECASE)

_Value = TypeVar("_Value")


def as_option(parameter: Parameter) -> str:
    """Return a parameter, with its value if it has one, as it is typed.

    >>> from flagstone.errors import Parameter
    >>> as_option(Parameter("t_max")), as_option(Parameter("rule", "heavy"))
    ('--t-max', '--rule heavy')
    >>> as_option(Parameter("encode", {"level": "bits:4"})), as_option(Parameter("overwrite", True))
    ('--encode level=bits:4', '--force')
    """
    option = _OPTIONS.get(parameter.name, "--" + parameter.name.replace("_", "-"))
    value = parameter.value
    if value is None or value is True:
        return option
    if value is False:
        return f"{option[:2]}no-{option[2:]}"
    if isinstance(value, Mapping):
        value = [f"{key}={text}" for key, text in value.items()]
    values = value if isinstance(value, (list, tuple)) else [value]
    return " ".join(f"{option} {shlex.quote(str(v).replace(TAB, TAB_AS_TYPED))}" for v in values)


def option_here(parameter: Parameter) -> str:
    """Return a parameter as an option of this verb, or of the one that has it."""
    option = as_option(parameter)
    having = owners(option.split()[0])
    if not having:
        return str(parameter)  # of the Python interface alone
    here = not ARGUMENTS or ARGUMENTS[0] not in VERBS or ARGUMENTS[0] in having
    return option if here else f"{option} of {'learn' if 'learn' in having else having[0]}"


def owners(option: str) -> list[str]:
    """Return the verbs that have an option."""
    return [
        verb.name
        for verb in VERBS.values()
        if any(option in one.names for one in verb.options.values())
    ]


def size_of(option: str, text: str, *, least: int = 1) -> int:
    """Return a number of bytes as typed: 64MB, 256MiB, or plain.

    >>> size_of("--cache-size", "64MB"), size_of("--cache-size", "1 GiB")
    (64000000, 1073741824)
    """
    found = _SIZE.fullmatch(text.strip())
    size = -1 if found is None else int(found[1]) * _UNITS[found[2].lower()]
    if not least <= size < 1 << 63:
        raise UsageError(f"{option} must be a size such as 64MB or 256MiB, got {text!r}")
    return size


def parsed(parse: Callable[..., _Value], *values: Any) -> _Value:
    """Read the value of an option; one that cannot be read is a mistake in the command."""
    try:
        return parse(*values)
    except InputError as error:
        raise UsageError(*error.args) from error


#: Tabs, spelled out: they cannot be copied from a page.
_TABS_AS_TYPED = {TAB: TAB_AS_TYPED, f"--delimiter={TAB}": f"--delimiter={TAB_AS_TYPED}"}


def output_paths(options: Any) -> list[str]:
    """Return the files that a verb will write, apart from its checkpoint."""
    given = (getattr(options, name, None) for name in ("output", "report", "plot", "results"))
    return [path for path in given if path is not None]


def rerun_command(seed: str | None, outputs: Any = None) -> str:
    """Return the command line as typed, with the seed added if it was drawn afresh.

    With ``outputs`` it writes none of them: they exist by now, and are not to be replaced.
    """
    words = [_TABS_AS_TYPED.get(word, word) for word in ARGUMENTS]
    if outputs is not None:
        names = ("output", "report", "plot")
        written = {f"--{name}": getattr(outputs, name, None) for name in names}
        words = _without(words, written | {"-o": outputs.output})
    end = words.index("--") if "--" in words else len(words)
    given = any(word == "--seed" or word.startswith("--seed=") for word in words)
    if seed is not None and not given:
        words[end:end] = ["--seed", seed]
    return shlex.join(["flagstone", *words])


def how_to_resume(file: str, held: str) -> str:
    """Return what a run that was stopped says: what its file holds, and how it goes on."""
    return (
        f"interrupted; {file} holds {held}. To resume, run the same command again: "
        f"{rerun_command(None)}"
    )


def _without(words: Iterable[str], written: Mapping[str, str | None]) -> list[str]:
    """Leave out --force, and options with these values in each of the ways to write them."""
    joined = {f"{name}{sign}{value}" for name, value in written.items() for sign in ("=", "")}
    kept: list[str] = []
    for word in words:
        if kept and word == written.get(kept[-1]):
            kept.pop()
        elif word != "--force" and word not in joined:
            kept.append(word)
    return kept


#: Colours of a terminal.
BOLD, RED, YELLOW, CYAN = "1", "1;31", "1;33", "36"

_SPELLED = {
    "⊕": "^", "⊥": "_|_", "×": "x", "·": "*", "…": "...", "–": "-", "—": "-", "−": "-", "→": "->",
    "≤": "<=", "≥": ">=", "≠": "!=", "≈": "~", "²": "^2", "√": "sqrt ", "∞": "inf", "ρ": "rho",
    "ε": "eps", "δ": "delta", "α": "alpha", "κ": "kappa",
}  # fmt: skip


def print_json(
    data: Mapping[str, Any], stream: TextIO | None = None, *, indent: int | None = 2
) -> None:
    """Print one JSON object, on standard output if no stream is named."""
    stream = stream or sys.stdout
    encoding = getattr(stream, "encoding", None) or "utf-8"
    is_ascii = not encoding.lower().startswith("utf")
    print(json_text(data, indent=indent, ensure_ascii=is_ascii), file=stream)


def number(value: float) -> str:
    """Return a number for people.

    >>> number(1234567), number(0.5)
    ('1,234,567', '0.5')
    """
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


def percent(part: int, whole: int) -> str:
    """Return a share in percent; a positive one is never rounded to 0.

    >>> percent(1, 3), percent(0, 7), percent(1, 10**6)
    ('33.3 %', '0 %', '0.0001 %')
    """
    if not whole or not part:
        return "0 %"
    share = 100 * part / whole
    digits = 1 if share >= 0.1 else 1 - math.floor(math.log10(share)) - 1
    return f"{share:.{digits}f} %"


def safe(text: str) -> str:
    """Return text from data for a terminal, with control characters escaped.

    >>> safe("a\\x1b[31mb")
    'a\\\\x1b[31mb'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def print_stderr(text: object) -> None:
    """Print one line on standard error, "error:" and "warning:" in colour on a terminal."""
    line = safe(" ".join(str(text).split()))
    for kind, colour in (("error:", RED), ("warning:", YELLOW)):
        if line.startswith(kind):
            line = painted(kind, colour, sys.stderr) + line.removeprefix(kind)
    with spare_stderr():
        print(f"flagstone: {line}", file=sys.stderr)


@contextlib.contextmanager
def spare_stderr() -> Iterator[None]:
    """Lose what standard error cannot take (a full disk, a reader that left), and go on."""
    try:
        yield
        sys.stderr.flush()
    except OSError:
        discard(sys.stderr)


def discard(stream: TextIO) -> None:
    """Discard what a stream could not print: at the end Python would try, and fail, again."""
    with contextlib.suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)


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
    """A stream for people: control characters from data are escaped.

    If its reader leaves (``| head``), the rest is discarded and the verb goes on: its exit code and
    its files do not depend on how much was read. ``raw`` is the stream itself, for data.
    """

    def __init__(self, raw: TextIO) -> None:
        self.raw = raw

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """That of the stream."""
        return self.raw.encoding

    def write(self, text: str) -> int:
        """Write text, line ends as they are and all else safe."""
        with self._reader_may_leave():
            self.raw.write("\n".join(map(safe, text.split("\n"))))
        return len(text)

    def fileno(self) -> int:
        """Return that of the stream."""
        return self.raw.fileno()

    def flush(self) -> None:
        """Pass on what the stream holds back."""
        with self._reader_may_leave():
            self.raw.flush()

    @contextlib.contextmanager
    def _reader_may_leave(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            discard(self.raw)


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
