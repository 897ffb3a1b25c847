"""Read the JSON form of a finding: whatever follows from other parts is computed again.

The coins draw the threshold, it chooses V*, V* is read as the answer, and rule and flag give what
is proven. Only what a second pass over the rows has counted and certified is taken from the file,
if it is possible. So a file cannot claim what its rows do not say, and holds no sentence.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from flagstone.algebra import Flag
from flagstone.coins import Coins
from flagstone.encoding import Encoding
from flagstone.errors import FlagstoneError, FormatError
from flagstone.finding import SCHEMA, Finding
from flagstone.guarantees import Certificate, Certified, Counted, Setup
from flagstone.guarantees.coverage import PILOT_FACTOR, SHARE_OF_PASS, pilot_share
from flagstone.guarantees.promise import counted_outside
from flagstone.measurement import Measurement
from flagstone.pipeline import ask
from flagstone.question import question_from_dict
from flagstone.rules import rule_from_dict

#: What the parts of a provenance must be, where they are there.
_PROVENANCE: dict[str, type] = {
    **dict.fromkeys(("sources", "labels", "digest"), list),
    **dict.fromkeys(("reading", "partitions"), dict),
    **dict.fromkeys(("summary", "command"), str),
}


def read_finding(data: Mapping[str, Any], name: str = "this finding") -> Finding:
    """Read the form that `Finding.to_dict` writes; anything else is refused with a reason."""
    try:
        if data["schema"] != SCHEMA:
            raise FormatError(f"its schema is {data['schema']!r}, only {SCHEMA} is known")
        finding = _computed_again(_bare(data), data)
        _check(finding)
        facts = finding.to_dict()
        for key, value in facts.items():
            if not _agree(value, data[key]):
                raise FormatError(f"its {key} does not follow from its other parts")
        if len(data) != len(facts):
            raise FormatError("it has more parts than a finding")
    except (
        LookupError, TypeError, ValueError, AttributeError, ArithmeticError, FlagstoneError
    ) as error:  # fmt: skip
        raise FormatError(f"{name}: no valid finding ({error})") from error
    return finding


def _bare(data: Mapping[str, Any]) -> Finding:
    """Return the finding without what the flag of its rows says."""
    question = question_from_dict(data["question"])
    bare = Finding(
        question,
        question.answer_type.from_dict(data["answer"]),
        Encoding.from_dict(data["encoding"]),
        seed=data["seed"],
        seed_is_fresh=bool(data["seed_is_fresh"]),
        rows=Measurement.from_dict(data["rows"]),
        provenance=dict(data["provenance"]),
    )
    label, names = bare.encoding.label, bare.encoding.names
    target = "y" if label is None else label.column
    given = bare.answer.names or tuple(f"x{i}" for i in range(len(names)))
    if (bare.encoding.field, len(names), names) != (bare.field, bare.answer.dim, given):
        raise FormatError("its columns are not those of its answer")
    if getattr(bare.answer, "target", target) != target:
        raise FormatError("its label is not that of its answer")
    if question.labelled != (label is not None):
        raise FormatError("it lacks a label, or has one too many")
    question.check(bare.field)
    return bare


def _computed_again(bare: Finding, data: Mapping[str, Any]) -> Finding:
    """Return the finding with everything that its rule, coins and flag give."""
    if data["rule"] is None:
        if bare.seed is not None:
            raise FormatError("it has a seed, but no rule that draws with it")
        return bare
    if type(bare.seed) is not str:
        raise FormatError("it lacks a seed")
    given = data["promises"]
    labels, withheld = given["labels"], given["withheld"]
    found = ask(
        _flag(bare, data),
        bare.question,
        rule_from_dict(data["rule"]),
        Coins(bare.seed),
        encoding=bare.encoding,
        labels=None if labels is None else tuple(map(str, labels)),
        conditions=tuple(map(str, given["conditions"])),
        sorted_rows=bool(given["sorted_rows"]),
        rows=bare.rows,
        seed_is_fresh=bare.seed_is_fresh,
        provenance=bare.provenance,
        warn=False,
    )
    promises, flag = found.promises, found.flag
    assert promises is not None
    assert flag is not None
    certified = _certified(given["certified"], promises.setup, promises.measured.dim)
    promises = replace(promises, certified=certified).with_coverage(flag.counts.tolist())
    if withheld is not None:
        promises = promises.withhold(str(withheld))
    return replace(found, promises=promises).with_counts(bare.rows)


def _flag(bare: Finding, data: Mapping[str, Any]) -> Flag:
    """Return the flag of a finding, from its directions and the number of its rows."""
    F, D = bare.field, bare.question.dim(bare.answer.dim)
    counts = np.array([d["count"] for d in data["directions"]], dtype=np.int64)
    basis = F.from_texts([d["vector"] for d in data["directions"]], D)
    return Flag.of_basis(F, D, basis, counts, bare.rows.read, data["promises"]["shards"])


def _certified(values: Mapping[str, Any], setup: Setup, dim: int) -> Certified:
    """Return what was counted and certified, for an answer of this dimension."""
    certificate, confidence = values["certificate"], values["confidence"]
    any_time = bool(values["any_time"])

    def counted(level: Mapping[str, Any]) -> Counted:
        dim, first, skipped, outside, runs = (level[name] for name in numbers)
        if any_time:
            return Counted.of_stream(dim, first, outside, runs, confidence)
        found = Counted(dim, first, skipped, setup.n_rows, outside, runs)
        return found.certified(setup.dim, confidence)

    numbers = ("dim", "first", "skipped", "outside", "runs")
    levels = tuple(map(counted, values["levels"]))
    return Certified(
        confidence=confidence,
        any_time=any_time,
        counted=counted_outside(levels, dim),
        levels=levels,
        certificate=None if certificate is None else Certificate(**certificate),
    )


def _check(finding: Finding) -> None:
    """Refuse counts, values and provenance that no run gives."""
    provenance, rows, promises = finding.provenance, finding.rows, finding.promises
    if any(
        not isinstance(provenance.get(name, kind()), kind) for name, kind in _PROVENANCE.items()
    ):
        raise FormatError("its provenance cannot be read")
    numbers = [*provenance.get("partitions", {}).values()]
    numbers += [pair[-1] for pair in provenance.get("labels", [])]
    if any(type(number) is not int for number in numbers):
        raise FormatError("it counts partitions or labels in no whole numbers")
    finding.field.from_texts(rows.values, finding.answer.dim + finding.question.labelled)
    if promises is None or finding.subspace is None:
        return
    dims = [level.dim for level in finding.stairs.levels]
    if not rows.agrees(dims, finding.subspace.dim):
        raise FormatError("it counts other rows than its flag")
    certified, m = promises.certified, promises.setup.n_rows
    certificate = certified.certificate
    if not 0 < certified.confidence < 1:
        raise FormatError("its confidence is out of range")
    levels, kept = certified.levels, finding.subspace.dim
    known: Sequence[int]
    counted = [level.dim for level in levels]
    if certified.any_time:  # levels of the flag of a pilot that hold the answer
        known = range(kept, promises.setup.dim)
        if any(PILOT_FACTOR * (level.first or 0) > m for level in levels):
            raise FormatError("it counts more rows after a pilot than there are")
    else:
        known = [kept, *(dim for dim in dims if dim > kept)]
        if counted[:1] not in ([], [kept]):
            raise FormatError("it counts rows outside of a smaller space than its answer")
        if rows.uncovered is not None and levels and levels[0].outside != rows.uncovered:
            raise FormatError("it counts rows outside twice, and differently")
    if counted != sorted({*counted} & {*known}):
        raise FormatError("it counts rows outside of spaces that its flag has not")
    if any(not bool(level.outside) <= level.runs <= level.outside for level in levels):
        raise FormatError("rows outside make at least one run, and no more runs than rows")
    if certificate is not None:
        share = pilot_share(certificate.n_pilot) if certified.any_time else 1.0
        confidence = 1 - SHARE_OF_PASS * share * (1 - certified.confidence)
        if not certificate.fits(promises.setup, confidence):
            raise FormatError("its certificate is out of range")


def _agree(found: Any, given: Any) -> bool:
    """Whether JSON values are equal, floats up to the last digits, which machines round apart."""
    if isinstance(found, dict) and isinstance(given, dict):
        return found.keys() == given.keys() and all(_agree(found[k], given[k]) for k in found)
    if isinstance(found, (list, tuple)) and isinstance(given, (list, tuple)):
        return len(found) == len(given) and all(map(_agree, found, given))
    if isinstance(found, float) and isinstance(given, float):
        return math.isclose(found, given, rel_tol=1e-6)
    return type(found) is type(given) and bool(found == given)
