"""Equations of frames in layers: pattern, pairs, check bits, digest, and the rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from flagstone.cli.output import safe
from flagstone.cli.runner import UsageError
from flagstone.cli.words import parsed

if TYPE_CHECKING:
    from flagstone.digests import Survey
    from flagstone.finding import Finding

LAYER_KEYS = {
    "pattern": "one character per bit: 0, 1, or ? where it varies (GF(2) only; null elsewhere)",
    "digest": "a list: kind, name, columns, parameters, formula, bits_determined, rows_verified, "
    "rows_broken (null where the rows were not read again)",
    "relations": "equations by kind (pair, check, other): text, columns, value, rows_broken",
}


def survey_of(finding: Finding, solve: Sequence[str] | None) -> Survey | None:
    """Return who sorts, names and counts; None where the answer has no layers."""
    from flagstone.digests import MOST_COLUMNS, surveyed

    columns = None if solve is None else _columns(solve, finding.encoding.names)
    survey = None
    if finding.question.kind in _KINDS:
        survey = surveyed(finding.answer, columns, finding.provenance.get("digest"))
    if survey is None and solve is not None:
        if finding.answer.is_bottom:
            raise UsageError("--solve has nothing to solve: the equations contradict each other")
        raise UsageError(
            f"--solve is for equations over GF(2) of at most {MOST_COLUMNS} columns; these are "
            f"over {finding.field} in {finding.answer.dim}"
        )
    return survey


_KINDS = ("constraints", "span")


def _columns(texts: Sequence[str], names: Sequence[str]) -> list[int]:
    """Read x32..x39, x3,x7 or b4.7..b4.0: names of columns, and ranges of them."""
    from flagstone.tables.naming import columns_meant

    columns: list[int] = []
    for text in [part.strip() for given in texts for part in given.split(",")]:
        found = parsed(columns_meant, text, names)
        if not found:
            raise UsageError(f"--solve names {text!r}, which is no column of these rows")
        columns += found
    return columns


def code_lines(finding: Finding, survey: Survey | None, shown_as: str) -> list[str]:
    """Return a function that checks the check bits of a frame as it is written."""
    from flagstone.digests import surveyed
    from flagstone.models import frame_code

    if shown_as == "rtl_433":
        return _decoder_lines(finding, survey)
    if survey is None and finding.question.kind in _KINDS:
        survey = surveyed(finding.answer)
    if survey is None or survey.layers.solved is None:
        raise UsageError(
            f"--as {shown_as} writes code for check bits, and none were found; say which they are "
            "with --solve"
        )
    return frame_code(finding, survey, "c" if shown_as == "c" else "python").split("\n")


def _decoder_lines(finding: Finding, survey: Survey | None) -> list[str]:
    """Return the named digests as lines of a decoder for rtl_433."""
    from flagstone.digests import decoder_code

    if survey is None or not any(digest.name for digest in survey.digests):
        raise UsageError(
            "--as rtl_433 writes code for digests with a name, and none was verified on rows here; "
            "name them by constraints on the rows themselves, or use --as c, which writes masks"
        )
    order = dict(finding.provenance.get("reading") or {}).get("bit_order") or "msb"
    turned = {"msb": [], "lsb": ["reflect_bytes(b, {n});"], "nibble": ["reflect_nibbles(b, {n});"]}
    if order not in turned:
        raise UsageError(f"--as rtl_433 has no routine for --bit-order {order}; use --as c")
    names = survey.layers.names
    code, left = decoder_code(names, survey.digests)
    lines = [line.format(n=-(-len(names) // 8)) for line in turned[order]]
    lines += code.split("\n") if code else []
    rest = [f"/* no routine for this one; --as c has masks: {d.formula} */" for d in left]
    return [safe(line) for line in lines + rest]


def layer_keys(survey: Survey | None) -> dict[str, Any]:
    """Return the layers for JSON."""
    return dict.fromkeys(LAYER_KEYS) if survey is None else survey.to_dict()


def layer_lines(
    survey: Survey | None, finding: Finding, *, always: bool = False
) -> list[str] | None:
    """Return the layers for people; None where a plain list says as much, unless ``always``."""
    from flagstone.digests import words

    if survey is None or finding.nothing_kept:
        return None
    if not always and not words.worth_layers(survey, len(finding.answer.lines)):
        return None
    return [
        safe(f"{label:<12}{text}{f'   ({remark})' if remark else ''}")
        for label, text, remark in words.layer_lines(survey, finding.support)
    ]
