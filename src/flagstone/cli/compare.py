"""``flagstone compare``: do two runs agree, and where do they part?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from flagstone.cli.inputs import expect_seed
from flagstone.cli.options import ExpectSeedOption, JsonOption
from flagstone.cli.runner import FAILED, OK, UsageError, verb

if TYPE_CHECKING:
    from flagstone.models import Model, SummaryFile

JSON_KEYS = {
    "same": "whether the two answers (or flags) are equal",
    "fingerprints": "of the first and of the second",
    "only_in_first, only_in_second": "lines of the answer that the other one lacks",
    "dimensions": "of the two spans, of their intersection and of their sum",
    "settings": "seed, columns, rows and window that differ: [name, first, second]",
    "first_difference": "flags: the first set whose spaces differ",
}

EXAMPLES = ("flagstone compare frames.json frames.json",)


@verb
def command(
    first: Annotated[str, typer.Argument(metavar="FIRST", help="A model or flag file.")],
    second: Annotated[str, typer.Argument(metavar="SECOND", help="Another one.")],
    seed: ExpectSeedOption = None,
    json: JsonOption = False,
) -> int:
    """Compare two models (or two flags): the same or not, and where they part; exit code 0 or 4."""
    from flagstone.cli.output import print_json, safe
    from flagstone.models import Model, load

    a, b = load(first), load(second)
    expect_seed(a, first, seed)
    expect_seed(b, second, seed)
    if isinstance(a, Model) != isinstance(b, Model):
        raise UsageError("one file is a model and the other a flag: compare like with like")
    if isinstance(a, Model) and isinstance(b, Model):
        found = compare_models(a, b)
    else:
        found = _compare_flags(a, b)  # type: ignore[arg-type]
    if json:
        print_json(found)
        return OK if found["same"] else FAILED
    print("same" if found["same"] else "NOT the same")
    for name, digits in zip((first, second), found["fingerprints"], strict=True):
        print(f"  {digits[:16]}  {name}")
    for key, name in (("only_in_first", first), ("only_in_second", second)):
        lines = found.get(key) or []
        if lines:
            print(f"only in {name}:")
            for line in lines[:20]:
                print(f"  {safe(line)}")
            if len(lines) > 20:
                print(f"  … and {len(lines) - 20} more")
    if found.get("dimensions") and not found["same"]:
        print("spans: dimensions {} and {}, {} in common, {} together".format(*found["dimensions"]))
    if found.get("first_difference"):
        print(f"the flags part at set {found['first_difference']:,}")
    for name, left, right in found.get("settings") or []:
        print(f"{name}: {_short(safe(str(left)))} against {_short(safe(str(right)))}")
    return OK if found["same"] else FAILED


def _short(text: str, most: int = 60) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def compare_models(a: Model, b: Model) -> dict[str, Any]:
    """Say whether two models give one answer, and how they differ."""
    left = list(getattr(a.answer, "lines", (a.answer.text,)))
    right = list(getattr(b.answer, "lines", (b.answer.text,)))
    dimensions = None
    V, W = a.subspace, b.subspace
    if V is not None and W is not None and (V.field, V.ambient_dim) == (W.field, W.ambient_dim):
        dimensions = [V.dim, W.dim, (V & W).dim, (V + W).dim]
    same = a.verb == b.verb and a.fingerprint == b.fingerprint
    return {
        "same": same,
        "fingerprints": [a.fingerprint, b.fingerprint],
        "only_in_first": [] if same else [line for line in left if line not in right],
        "only_in_second": [] if same else [line for line in right if line not in left],
        "dimensions": dimensions,
        "settings": [
            [name, x, y]
            for name, x, y in zip(_SETTINGS, _settings(a), _settings(b), strict=True)
            if x != y
        ],
    }


_SETTINGS = ("question", "seed", "columns", "encoders", "rows", "window", "threshold")


def _settings(model: Model) -> list[Any]:
    guarantee, encoding = model.guarantee, model.encoding
    return [
        model.verb,
        model.details.get("seed"),
        None if encoding is None else ", ".join(encoding.names),
        None if encoding is None else ", ".join(e.text for e in encoding.encoders),
        None if guarantee is None else guarantee.n_rows,
        None if guarantee is None else str(guarantee.window),
        None if guarantee is None else guarantee.threshold,
    ]


def _compare_flags(a: SummaryFile, b: SummaryFile) -> dict[str, Any]:
    import hashlib

    from flagstone.histogram import Histogram

    flags = [s.to_flag() if isinstance(s, Histogram) else s for s in (a.summary, b.summary)]
    V, W = flags
    prints = [hashlib.sha256(s.summary.to_bytes()).hexdigest() for s in (a, b)]
    part = None
    if V.field == W.field and V.dim == W.dim:
        ends = {level.first_index for flag in flags for level in flag.levels()}
        ends |= {flag.n_sets + 1 for flag in flags}
        part = next((j for j in sorted(ends) if V.span_at(j) != W.span_at(j)), None)
    settings = [
        [name, x, y]
        for name, x, y in (
            ("field", V.field.name, W.field.name),
            ("dimension", V.dim, W.dim),
            ("rows", V.n_rows, W.n_rows),
            ("shards", V.n_shards, W.n_shards),
            ("layout", str(a.layout), str(b.layout)),
        )
        if x != y
    ]
    return {
        "same": prints[0] == prints[1] and a.layout == b.layout,
        "fingerprints": prints,
        "first_difference": part,
        "settings": settings,
    }
