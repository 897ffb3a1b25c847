"""Layers in words: the lines that consoles and reports show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from flagstone.answers.relations import Relation
from flagstone.frames.digests.analysis import DigestAnalysis
from flagstone.frames.digests.digest import columns_of, span_text
from flagstone.wording import counted

#: With more equations than this, constants or pairs are worth a layer of their own.
_MANY = 8
#: So many relations of a kind are listed; JSON has all.
_LISTED = 40


class LayerLine(NamedTuple):
    """One line of a layer: its label (empty where it goes on), what it says, and a remark."""

    label: str
    text: str
    remark: str = ""


def worth_layers(analysis: DigestAnalysis, n_equations: int) -> bool:
    """Say whether layers were asked for, or say more than a plain list: names, many constants."""
    constants = analysis.layers.pattern.replace("?", "")
    if analysis.asked or (n_equations > _MANY and (constants or analysis.layers.pairs)):
        return True
    return any(digest.name is not None for digest in analysis.digests)


def layer_lines(analysis: DigestAnalysis, support: str | None = None) -> list[LayerLine]:
    """Return pattern, digest, pairs, check bits and the rest, with how many rows break each.

    Examples
    --------
    >>> from flagstone.answers import Constraints
    >>> checks = Constraints([[1, 0, 0, 0], [0, 1, 1, 0]], [1, 0])
    >>> for line in layer_lines(DigestAnalysis(checks)):
    ...     print(f"{line.label:<8}{line.text}")
    pattern 1???
    digest  not looked for: the rows were not read again
    equal   x1 ⊕ x2 = 0
    """
    layers = analysis.layers
    forced = "not supported by the rows" if support == "none" else ""
    lines = [LayerLine("pattern", by_byte(layers.pattern), forced), *_digests(analysis)]
    for word, value in (("equal", 0), ("opposite", 1)):
        lines += _listed(analysis, word, [pair for pair in layers.pairs if pair.value == value])
    if layers.solved is not None:
        texts = layers.solved.lines(layers.names)
        counts = [analysis.broken(relation) for relation in layers.solved.relations]
        for i, (text, count) in enumerate(zip(texts, counts, strict=True)):
            lines.append(LayerLine("" if i else "check bits", text, _count(count)))
    return lines + _listed(analysis, "other", layers.relations)


def by_byte(pattern: str) -> str:
    """Return characters in groups of eight.

    >>> by_byte("0010110100")
    '00101101 00'
    """
    return " ".join(pattern[i : i + 8] for i in range(0, len(pattern), 8))


def _digests(analysis: DigestAnalysis) -> list[LayerLine]:
    lines, names = [], analysis.layers.names
    for digest in analysis.digests:
        if digest.name is None:
            lines.append(LayerLine("digest", f"no name is known: {digest.formula}"))
            keys = [f"{column} {key}" for column, key in digest.parameters["keys"].items()]
            for i in range(0, len(keys), 8):
                lines.append(LayerLine("", "  ".join(keys[i : i + 8])))
        else:
            where = span_text(names, columns_of(names, digest.columns))
            how = f": {digest.formula}" if digest.formula != digest.name else ""
            lines += [LayerLine("digest", digest.name), LayerLine("", f"in {where}{how}")]
        if "init_if_xorout_is_0" in digest.parameters:
            lines.append(LayerLine("", "(frames of one length show init and xorout only together)"))
        n, total = f"{digest.rows_broken:,}", f"{digest.rows_verified:,}"
        fit = f"{n} of {total} rows do{'es' if n == '1' else ''} not fit it"
        if not analysis.n_rows:
            fit = f"verified on the {total} rows read then: {n} did not fit it"
        bits = counted(digest.bits_determined, "bit")
        lines.append(LayerLine("", f"{fit}; {bits} of its map are determined"))
    if not analysis.looked:
        lines.append(LayerLine("digest", "not looked for: the rows were not read again"))
    return lines


def _listed(analysis: DigestAnalysis, word: str, relations: Sequence[Relation]) -> list[LayerLine]:
    names = analysis.layers.names
    lines = [
        LayerLine("" if i else word, relation.text(names), _count(analysis.broken(relation)))
        for i, relation in enumerate(relations[:_LISTED])
    ]
    if len(relations) > _LISTED:
        lines.append(LayerLine("", f"… and {len(relations) - _LISTED} more (JSON lists all)"))
    return lines


def _count(count: int | None) -> str:
    return counted(count, "row", "breaks it") if count else ""
