"""Equations of frames in layers: pattern, pairs, check bits, digest, and the rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flagstone.cli.describe import answer_lines
from flagstone.cli.json_keys import LAYER_KEYS
from flagstone.cli.output import safe
from flagstone.cli.runner import UsageError
from flagstone.cli.words import parsed
from flagstone.errors import FormatError
from flagstone.finding import Finding
from flagstone.frames.digests import (
    MOST_COLUMNS,
    DigestAnalysis,
    analyze,
    decoder_code,
    frame_code,
    layer_text,
)
from flagstone.tables.naming import columns_meant

#: Code that checks frames, instead of the answer.
CODE = ("c", "python", "rtl_433")


def analysis_of(finding: Finding, solve: Sequence[str] | None = None) -> DigestAnalysis | None:
    """Return the analysis of the equations of a finding; None where they have no layers."""
    columns = None if solve is None else _columns(solve, finding.encoding.names)
    analysis = None
    if finding.question.kind in ("constraints", "span"):
        analysis = analyze(finding.answer, columns, finding.provenance.get("digest"))
    if analysis is None and solve is not None:
        if finding.answer.is_bottom:
            raise UsageError("--solve has nothing to solve: the equations contradict each other")
        raise UsageError(
            f"--solve is for equations over GF(2) of at most {MOST_COLUMNS} columns; these are "
            f"over {finding.field} in {finding.answer.dim}"
        )
    return analysis


def _columns(texts: Sequence[str], names: Sequence[str]) -> list[int]:
    """Read x32..x39, x3,x7 or b4.7..b4.0: names of columns, and ranges of them."""
    columns: list[int] = []
    parts = [
        part.strip()
        for given in texts
        for part in ([given] if parsed(columns_meant, given, names) else given.split(","))
    ]
    for text in parts:
        found = parsed(columns_meant, text, names)
        if not found:
            raise UsageError(f"--solve names {text!r}, which is no column of these rows")
        columns += found
    return columns


def shown_lines(finding: Finding, analysis: DigestAnalysis | None, shown_as: str) -> list[str]:
    """Return the answer alone, in the notation that was asked for, or code that checks frames."""
    if shown_as not in CODE:
        return answer_lines(finding, shown_as)
    if shown_as == "rtl_433":
        return _decoder_lines(finding, analysis)
    if analysis is None or analysis.layers.solved is None:
        raise UsageError(
            f"--as {shown_as} writes code for check bits, and none were found; say which they are "
            "with --solve"
        )
    return frame_code(finding, analysis, shown_as).split("\n")


def _decoder_lines(finding: Finding, analysis: DigestAnalysis | None) -> list[str]:
    """Return the named digests as lines of a decoder for rtl_433."""
    if analysis is None or not any(digest.name for digest in analysis.digests):
        raise UsageError(
            "--as rtl_433 writes code for digests with a name, and none was verified on rows; "
            "use --as c, which writes masks"
        )
    order = dict(finding.provenance.get("reading") or {}).get("bit_order") or "msb"
    turned = {"msb": [], "lsb": ["reflect_bytes(b, {n});"], "nibble": ["reflect_nibbles(b, {n});"]}
    if order not in turned:
        raise UsageError(f"--as rtl_433 has no routine for --bit-order {order}; use --as c")
    names = analysis.layers.names
    try:
        code, left = decoder_code(names, analysis.digests)
    except (LookupError, TypeError, ValueError):
        raise FormatError("the finding holds a digest that no rows can have shown") from None
    lines = [line.format(n=-(-len(names) // 8)) for line in turned[order]]
    lines += code.split("\n") if code else []
    rest = [f"/* no routine for this one; --as c has masks: {d.formula} */" for d in left]
    return [safe(line) for line in lines + rest]


def layer_keys(analysis: DigestAnalysis | None) -> dict[str, Any]:
    """Return the layers for JSON."""
    return dict.fromkeys(LAYER_KEYS) if analysis is None else analysis.to_dict()


def layer_lines(
    analysis: DigestAnalysis | None, finding: Finding, *, always: bool = False
) -> list[str] | None:
    """Return the layers for people; None where a plain list says as much, unless ``always``."""
    if analysis is None or finding.nothing_kept:
        return None
    if not always and not layer_text.worth_layers(analysis, len(finding.answer.lines)):
        return None
    return [
        safe(f"{label:<12}{text}{f'   ({remark})' if remark else ''}")
        for label, text, remark in layer_text.layer_lines(analysis, finding.support)
    ]
