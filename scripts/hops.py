"""Count the functions that one row passes from ``flagstone constraints`` to the printed equation.

A reader who follows the row looks at the calls in progress at five moments: when a row reaches the
kernel, when the space is chosen, when it is read as equations, when an equation is put into words,
and when it is printed. Every function of ours on these stacks is a hop, counted once. The search
for other types of rows, the pieces of rows that certify, and whether the first rows span the
answer, lead to no equation of it, and are not counted.

    python scripts/hops.py            the number
    python scripts/hops.py --list     and the functions, in the order of the road
"""

from __future__ import annotations

import contextlib
import functools
import io
import sys
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import flagstone

ROOT = Path(flagstone.__file__).parent
FRAMES = Path(__file__).parents[1] / "examples" / "frames.txt"
WORDS = [
    "constraints", str(FRAMES), "-f", "bits", "--contamination", ".01", "--seed", "7", "-q",
]  # fmt: skip
FIRST = "cli/constraints: command"
ASIDE = (
    "cli/clustered: types_of",
    "certificates/certifier: Certifier.update",
    "certification: _Start.update",
)
MOMENTS = {
    "kernels/small_gf2: insert",
    "flag: Flag.span_at",
    "answers/_constraints: Equations.__post_init__",
    "answers/_text: combination",
}


@functools.cache
def name_of(code: CodeType) -> str | None:
    """Return module and function of code of ours."""
    path = Path(code.co_filename)
    if ROOT not in path.parents or code.co_name.startswith("<"):
        return None
    return f"{path.relative_to(ROOT).with_suffix('')}: {code.co_qualname}"


def stack(frame: FrameType | None) -> list[str]:
    """Return our functions on the stack of a frame, from the verb inwards."""
    names: list[str] = []
    while frame is not None:
        name = name_of(frame.f_code)
        names += [name] if name else []
        if name in (FIRST, *ASIDE):
            return names[::-1] if name == FIRST else []
        frame = frame.f_back
    return []


def hops() -> list[str]:
    """Return the functions on the way, in order."""
    from flagstone.cli import main

    met: dict[str, None] = {}
    left: set[str | None] = {*MOMENTS, "print"}

    def profile(frame: FrameType, event: str, argument: Any) -> None:
        # by us: the compiler prints, too, in a first run
        printing = event == "c_call" and argument is print and name_of(frame.f_code) is not None
        name = name_of(frame.f_code) if event == "call" else None
        if printing or name in MOMENTS:
            left.discard("print" if printing else name)
            met.update(dict.fromkeys(stack(frame)))

    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
        sys.setprofile(profile)
        try:
            main(WORDS)
        finally:
            sys.setprofile(None)
    if left:
        raise SystemExit(
            f"the row never came to {', '.join(sorted(map(str, left)))}: mend this script"
        )
    return list(met)


if __name__ == "__main__":
    names = hops()
    if "--list" in sys.argv[1:]:
        print("\n".join(names))
    print(f"{len(names)} functions")
