"""Equations of frames in layers: pattern, pairs, check bits, digest, and the rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from flagstone.cli.output import number, safe
from flagstone.cli.runner import UsageError
from flagstone.cli.words import parsed

if TYPE_CHECKING:
    from flagstone.digests import Relation, Survey
    from flagstone.finding import Finding

__all__ = ["LAYER_KEYS", "code_lines", "layer_keys", "layer_lines", "survey_of"]

LAYER_KEYS = {
    "pattern": "one character per bit: 0, 1, or ? where it varies (GF(2) only; null elsewhere)",
    "digest": "a list: kind, name, columns, parameters, formula, bits_determined, rows_verified, "
    "rows_broken (null where the rows were not read again)",
    "relations": "equations by kind (pair, check, other): text, columns, value, rows_broken",
}

#: With more equations than this, constants or pairs are worth a layer of their own.
_MANY = 8
#: So many relations of a kind are listed; --json has all.
_LISTED = 40


def survey_of(finding: Finding, solve: Sequence[str] | None) -> Survey | None:
    """Return who sorts, names and counts; None where the answer has no layers."""
    from flagstone.digests import MOST_COLUMNS, surveyed

    columns = None if solve is None else _columns(solve, finding.encoding.names)
    survey = surveyed(finding.answer, columns) if finding.question.kind in _KINDS else None
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
    from flagstone.digests import check_code, span_text, surveyed
    from flagstone.models import as_written

    if survey is None and finding.question.kind in _KINDS:
        survey = surveyed(finding.answer)
    solved = None if survey is None else survey.layers.solved
    if survey is None or solved is None:
        raise UsageError(
            f"--as {shown_as} writes code for check bits, and none were found; say which they are "
            "with --solve"
        )
    rows = solved.matrix.copy()
    rows[range(len(rows)), list(solved.columns)] = 1
    names = [digest.name for digest in survey.digests if digest.name and digest.kind != "sum"]
    what = f"check bits {span_text(survey.layers.names, solved.columns)}"
    if names:
        what += f": {names[0]}"
    language = "c" if shown_as == "c" else "python"
    bits = as_written(finding, rows)
    return check_code(bits, solved.constant.tolist(), what, language).rstrip("\n").split("\n")


def layer_keys(survey: Survey | None) -> dict[str, Any]:
    """Return the layers for JSON."""
    return dict.fromkeys(LAYER_KEYS) if survey is None else survey.to_dict()


def layer_lines(survey: Survey | None, finding: Finding, asked: bool) -> list[str] | None:
    """Return the layers for people; None where a plain list says as much."""
    if survey is None or finding.nothing_kept:
        return None
    named = [digest for digest in survey.digests if digest.name is not None]
    constants = survey.layers.pattern.replace("?", "")
    many = len(finding.answer.lines) > _MANY and bool(constants or survey.layers.pairs)
    if not (asked or named or many):
        return None
    return [safe(line) for line in _lines(survey, finding)]


def _lines(survey: Survey, finding: Finding) -> list[str]:
    layers = survey.layers
    forced = " (not supported by the rows)" if finding.support == "none" else ""
    lines = [_row("pattern", _by_byte(layers.pattern) + forced)]
    lines += _digests(survey)
    for word, value in (("equal", 0), ("opposite", 1)):
        pairs = [pair for pair in layers.pairs if pair.value == value]
        lines += _listed(survey, word, pairs, layers.names)
    if layers.solved is not None:
        texts = layers.solved.lines(layers.names)
        counts = [survey.broken(relation) for relation in layers.solved.relations]
        for i, (text, count) in enumerate(zip(texts, counts, strict=True)):
            lines.append(_row("" if i else "check bits", text + _count(count)))
    lines += _listed(survey, "other", layers.relations, layers.names)
    return lines


def _digests(survey: Survey) -> list[str]:
    lines = []
    for digest in survey.digests:
        if digest.name is None:
            lines.append(_row("digest", f"no name is known: {digest.formula}"))
            keys = [f"{column} {key}" for column, key in digest.parameters["keys"].items()]
            for i in range(0, len(keys), 8):
                lines.append(_row("", "  ".join(keys[i : i + 8])))
        else:
            lines.append(_row("digest", digest.name))
            lines.append(_row("", digest.formula))
        if "init_if_xorout_is_0" in digest.parameters:
            lines.append(_row("", "(frames of one length show init and xorout only together)"))
        fit = f"{number(digest.rows_broken)} of {number(digest.rows_verified)} rows do not fit it"
        lines.append(_row("", f"{fit}; {digest.bits_determined} bits of its map are determined"))
    if not survey.n_rows:
        lines.append(_row("digest", "not looked for: the rows were not read again"))
    return lines


def _listed(
    survey: Survey, word: str, relations: Sequence[Relation], names: Sequence[str]
) -> list[str]:
    lines = [
        _row("" if i else word, relation.text(list(names)) + _count(survey.broken(relation)))
        for i, relation in enumerate(relations[:_LISTED])
    ]
    if len(relations) > _LISTED:
        lines.append(_row("", f"… and {len(relations) - _LISTED} more (--json lists all)"))
    return lines


def _row(label: str, text: str) -> str:
    return f"{label:<12}{text}"


def _by_byte(pattern: str) -> str:
    return " ".join(pattern[i : i + 8] for i in range(0, len(pattern), 8))


def _count(count: int | None) -> str:
    if not count:
        return ""
    return f"   ({number(count)} row{' breaks' if count == 1 else 's break'} it)"
