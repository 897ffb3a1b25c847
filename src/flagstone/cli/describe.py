"""What a model says, in lines for people and in JSON for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from flagstone.cli.options import OutputOptions
from flagstone.cli.output import number, percent, print_json, safe

if TYPE_CHECKING:
    from flagstone.models import Model

__all__ = ["ANSWER_KEYS", "answer_lines", "model_json", "places_text", "print_model"]

ANSWER_KEYS = {
    "verb": "learn, span, constraints or equations",
    "answer": "the answer: kind, text, lines, masks (GF(2) only; bit i, counted from the least "
    "significant one, is column i), expression (Python), is_bottom, details (coefficients)",
    "nothing_kept": "true if no direction was kept: the answer says nothing about the rows "
    "(exit code 3)",
    "fingerprint": "64 hex digits; equal answers have equal fingerprints",
    "field": "the field, e.g. GF(2)",
    "columns": "names of the encoded feature columns",
    "encoding": "how the table was encoded",
    "seed": "the published seed",
    "seed_is_fresh": "whether the seed was drawn for this run",
    "threshold": "the threshold t that the coins drew",
    "window": "rule, start and length of the window it was drawn from",
    "margin": "no fewer altered rows can change the answer",
    "dimension": "dimension of the span behind the answer",
    "guarantee": "every proven bound, as numbers",
    "promises": "the same as a sentence",
    "levels": "the flag: [dimension, sets, first set], from the largest space down",
    "directions": "how often each direction was seen (count, kept, vector)",
    "rows": "read, skipped, uncovered (outside the span), misfits (break the answer), places "
    "(the first of them: file, row, line)",
    "outputs": "files written",
    "command": "the command that repeats this run",
}


def answer_lines(model: Model, shown_as: str) -> list[str]:
    """Return the answer as text, bit masks (by columns or as frames) or Python."""
    from flagstone.models import frame_masks, mask_lines

    if model.is_bottom and model.verb == "learn":
        return [safe(model.answer.text)]  # ⊥ looks the same in every notation
    if shown_as == "python":
        return [model.answer.expression]
    if shown_as == "masks":
        return mask_lines(model.answer)
    if shown_as == "frames":
        return frame_masks(model)
    return [safe(line) for line in model.answer.text.split("\n")]


def model_json(model: Model, written: Sequence[str] = ()) -> dict[str, Any]:
    """Return the documented JSON form of a model (see ANSWER_KEYS)."""
    answer = model.answer
    details = dict(model.details)
    field = model.encoding.field.name if model.encoding else answer.to_dict()["field"]
    binary = field == "GF(2)" and not (model.is_bottom and model.verb == "learn")
    guarantee = model.guarantee
    return {
        "verb": model.verb,
        "answer": {
            "kind": answer.to_dict()["kind"],
            "text": answer.text,
            "lines": list(getattr(answer, "lines", (answer.text,))),
            "masks": answer_lines(model, "masks") if binary else None,
            "expression": answer.expression,
            "is_bottom": model.is_bottom,
            "details": answer.to_dict(),
        },
        "nothing_kept": model.is_nothing_kept,
        "fingerprint": model.fingerprint,
        "field": field,
        "columns": None if model.encoding is None else list(model.encoding.names),
        "encoding": None if model.encoding is None else model.encoding.to_dict(),
        "seed": details.get("seed"),
        "seed_is_fresh": details.get("seed_is_fresh"),
        "threshold": None if guarantee is None else guarantee.threshold,
        "window": None if guarantee is None else guarantee.to_dict()["window"],
        "margin": None if guarantee is None else guarantee.margin,
        "dimension": None if model.subspace is None else model.subspace.dim,
        "guarantee": None if guarantee is None else guarantee.to_dict(),
        "promises": None if guarantee is None else str(guarantee),
        "levels": [list(level) for level in model.levels],
        "directions": details.get("directions"),
        "rows": details.get("rows"),
        "outputs": list(written),
        "command": details.get("command"),
    }


def print_model(model: Model, options: OutputOptions, written: Sequence[str] = ()) -> None:
    """Print a model as the options say."""
    if options.json:
        print_json(model_json(model, written))
        return
    if options.show_as != "text":
        print("\n".join(answer_lines(model, options.show_as)))
        return
    print(headline(model))
    for line in answer_lines(model, "text"):
        print(f"  {line}")
    print(f"\nfingerprint  {model.fingerprint[:16]}")
    if model.guarantee is not None:
        print(f"promises     {model.guarantee}")
        print(f"threshold    {number(model.guarantee.threshold)} from {model.guarantee.window}")
    for label, text in rows_lines(model):
        print(f"{label:<13}{text}")
    details = model.details
    if details.get("seed") is not None:
        share = " (drawn afresh: publish it to be replicable)" if details["seed_is_fresh"] else ""
        print(f"{'seed':<13}{safe(str(details['seed']))}{share}")
    for path in written:
        print(f"{'written':<13}{path}")


_LEFT = {
    "learn": "this rule is only a draw of the coins",
    "span": "what is left is",
    "constraints": "the span {0} leaves only",
    "equations": "what is left is",
}


def headline(model: Model) -> str:
    """Return the first line: what was found."""
    from flagstone.models import SpanAnswer

    answer = model.answer
    if model.is_nothing_kept:
        return f"No direction was kept, so the rows say nothing; {_LEFT[model.verb]}:"
    if model.verb == "learn":
        return "No linear rule fits the rows that were kept:" if model.is_bottom else "The rule:"
    if isinstance(answer, SpanAnswer):
        return "The span:"
    if model.is_bottom:
        return "The equations that were kept contradict each other:"
    count = len(answer)  # type: ignore[arg-type]
    noun = "equation" if count == 1 else "equations"
    if model.verb == "equations":
        return f"A system of {count} {noun} stands for the rows:"
    if count == 0:
        return "No check equation holds:"
    return f"{count} check {noun} {'holds' if count == 1 else 'hold'}:"


def rows_lines(model: Model) -> list[tuple[str, str]]:
    """Return the lines on rows, on rows that do not fit, and on how often directions came."""
    rows: dict[str, Any] = dict(model.details.get("rows") or {})
    lines = []
    if rows:
        text = f"{number(rows['read'])} read"
        if rows.get("skipped"):
            text += f", {number(rows['skipped'])} of another length skipped"
        if rows.get("uncovered") is not None and model.verb == "learn":
            out = rows["uncovered"]
            text += f"; {number(out)} outside the span ({percent(out, rows['read'])})"
        lines.append(("rows", text))
        if rows.get("misfits") is not None:
            lines.append(("do not fit", places_text(rows["misfits"], rows["read"], rows["places"])))
    directions = model.details.get("directions") or []
    if directions:
        kept = [d["count"] for d in directions if d["kept"]]
        lost = [d["count"] for d in directions if not d["kept"]]
        text = f"{len(kept)} kept, seen {_range(kept)} times" if kept else "none kept"
        if lost:
            text += f"; {len(lost)} left out, seen {_range(lost)} times"
        lines.append(("directions", text))
    return lines


def places_text(count: int, total: int, places: Sequence[Sequence[Any]]) -> str:
    """Say how many rows do not fit and where the first of them stand.

    >>> places_text(2, 100, [["a.txt", 3, 5], ["a.txt", 9, 12]])
    '2 rows (2.0 %): a.txt line 5, 12'
    """
    text = f"{number(count)} row{'' if count == 1 else 's'} ({percent(count, total)})"
    if not places:
        return text
    parts, last = [], None
    for file, row, line in places:
        kind = "row" if line is None else "line"
        here = f"{row if line is None else line}"
        parts.append(here if (file, kind) == last else f"{safe(str(file))} {kind} {here}")
        last = (file, kind)
    more = ", …" if count > len(places) else ""
    return f"{text}: {', '.join(parts)}{more}"


def _range(counts: Sequence[int]) -> str:
    low, high = min(counts), max(counts)
    return number(low) if low == high else f"{number(low)} to {number(high)}"
