"""Saved findings of frames: checked against other frames, and compared with each other."""

from __future__ import annotations

from typing import Any

import numpy as np

from flagstone.cli.console import FAILED, OK, print_json, safe
from flagstone.cli.verbs import CaptureOptions, CheckOptions, ReadOptions
from flagstone.errors import BottomError, FormatError, InputError
from flagstone.finding import SCHEMA, Finding
from flagstone.frames.captures import FORMATS, length_text
from flagstone.frames.cli.reading import read_frames
from flagstone.frames.cli.screen import damaged_lines, print_lines
from flagstone.frames.digests import Digest, Solved
from flagstone.frames.digests.digest import broken_by
from flagstone.frames.ruler import place_text
from flagstone.frames.strength import bits_between, odds
from flagstone.frames.study import Study, saved_study
from flagstone.frames.text import digest_text
from flagstone.measurement import Measurement
from flagstone.wording import counted

#: The most broken equations that are listed.
_SAID = 4
_SAME = "the same digest"


def reads(options: ReadOptions) -> bool:
    """Say whether files of this format hold frames, as far as that is known."""
    return options.format is None or options.format in FORMATS


def check(finding: Finding, options: CheckOptions) -> int:
    """Count the frames that break the digests; with strict, those that break any equation, too."""
    n_bits, answer = len(finding.encoding.names), finding.answer
    tolerance, strict, most = options.tolerance, options.strict, options.max_misfits
    if answer.is_bottom and not finding.provenance["digest"]:
        raise BottomError("the finding holds ⊥: there is nothing that frames could break")
    capture = read_frames(options.files, _reading(finding, options))
    index = capture.index(n_bits)
    if not index:
        raise InputError(f"no frame has {n_bits} bits here: {length_text(capture.lengths)}")
    chosen, known = capture.some(index), saved_study(finding)
    found = Study(chosen.rows(n_bits), chosen.places, finding, known.analysis)
    lines = () if answer.is_bottom else answer.lines
    syndrome = np.zeros((len(index), 0), dtype=bool)
    if lines:
        syndrome = answer.syndrome(found.rows) != 0  # type: ignore[attr-defined]
    unusual = syndrome.any(axis=1) & ~found.broken
    wrong = found.broken | unusual if strict else found.broken
    n, misfits = len(index), int(wrong.sum())
    share = misfits / n
    ok = share <= tolerance
    counts = dict(zip(lines, syndrome.sum(axis=0).tolist(), strict=True))
    if options.json:
        bad = np.flatnonzero(wrong)[:most].tolist()
        places = tuple((str(p.file), p.row, p.line) for p in (chosen.places[i] for i in bad))
        values = tuple("".join(map(str, found.rows[i].tolist())) for i in bad)
        rows = Measurement(n, None, misfits, len(capture) - n, places, values)
        keys = {
            "share": share,
            "tolerance": tolerance,
            "equations": list(map(list, counts.items())),
            "misfits": None,
        }
        keys["digests"] = [[d.name, int(broken_by([d], found.rows).sum())] for d in found.checks]
        head = {"schema": SCHEMA, "fingerprint": finding.fingerprint, "ok": ok}
        print_json(head | {"rows": rows.to_dict()} | keys | {"unusual": int(unusual.sum())})
        return OK if ok else FAILED
    names = " and ".join(digest_text(d) for d in found.checks) or "the equations"
    print(safe(f"{counted(n, 'frame')} of {n_bits} bits checked against {names}"))
    for note in chosen.notes:
        print(f"! {safe(note)}")
    if len(capture) > n:
        print(f"! {counted(len(capture) - n, 'frame')} of another length left out")
    said = damaged_lines(found, most)
    if unusual.any():
        said += _unusual_lines(finding, syndrome[unusual], strict)
    print_lines(said)
    verdict = "within" if ok else "more than"
    print(f"{'ok' if ok else 'FAILED'}: {verdict} the tolerance of {100 * tolerance:g} %")
    return OK if ok else FAILED


def _reading(finding: Finding, options: ReadOptions) -> CaptureOptions:
    """Return how frames are read: as they were for the finding, unless an option says otherwise.

    The format is recognised again, since these may be other files.
    """
    known = dict(finding.provenance.get("reading") or {})
    raw = known.get("format") == "raw"
    try:
        return CaptureOptions(
            format=options.format or ("raw" if raw else None),
            skip_fields=known.get("skip_fields"),
            length=len(finding.encoding.names) if raw or known.get("truncate") else None,
            decode=list(known.get("decode") or ()),
            sync=known.get("sync"),
            where=list(known.get("where") or ()),
            truncate=bool(known.get("truncate")),
        )
    except TypeError:
        raise FormatError("the finding remembers no way of reading frames") from None


def _unusual_lines(finding: Finding, syndrome: Any, strict: bool) -> list[tuple[str, str]]:
    """Return what frames break that is no digest: what all frames of the capture had."""
    answer: Any = finding.answer
    matrix, values = answer.shown[:, :-1], answer.shown[:, -1]  # what a syndrome is of
    counts = syndrome.sum(axis=0)
    said = []
    for i in np.argsort(-counts, kind="stable").tolist():
        if counts[i] and matrix[i].sum() == 1:
            said.append(f"{place_text([int(matrix[i].argmax())])} = {int(values[i]) ^ 1}")
    relations = int((counts[matrix.sum(axis=1) > 1] > 0).sum())
    parts = [*said[:_SAID], *(["…"] if len(said) > _SAID else [])]
    parts += [counted(relations, "relation")] if relations else []
    n = counted(len(syndrome), "frame")
    lines = [("unusual", f"{n} unlike any frame of the finding: {', '.join(parts)}")]
    return lines if strict else [*lines, ("", "they pass the digest; --strict counts them")]


def compare(first: str, a: Finding, second: str, b: Finding) -> tuple[bool, list[str]]:
    """Say whether the digests of two findings are the same, how they differ, and more.

    That is how often a frame of one finding passes the check of the other.
    """
    ours, theirs = (saved_study(finding).checks for finding in (a, b))
    lines = [_difference(x, y) for x, y in zip(ours, theirs, strict=False)]
    for name, some in ((first, ours[len(theirs) :]), (second, theirs[len(ours) :])):
        lines += [f"only in {name}: {digest_text(digest)}" for digest in some]
    same = all(line.startswith(_SAME) for line in lines)
    if len(a.encoding.names) != len(b.encoding.names) or any(f.answer.is_bottom for f in (a, b)):
        return same, lines
    pairs = ((first, a, ours, second, theirs), (second, b, theirs, first, ours))
    for name, finding, own, other, digests in pairs:
        if digests:
            lines.append(_passing(name, other, bits_between(finding.answer, own, digests)))
    return same, lines


def _passing(name: str, other: str, bits: int | None) -> str:
    if bits is None:
        return f"no frame of {name} passes the check of {other}"
    if bits == 0:
        return f"every frame of {name} passes the check of {other}"
    passing = f"1 of {odds(bits)} frames of {name} passes the check of {other}"
    return f"{passing} ({counted(bits, 'bit')})"


def _difference(x: Digest, y: Digest) -> str:
    """Say how two digests differ."""
    name = x.name or "check bits"
    if x.kind != y.kind or x.columns != y.columns:
        return f"different digests: {name}; {y.name or 'check bits'}"
    p, q, same = x.rule, y.rule, f"same {_WHAT.get(x.kind, 'keys')}"
    if isinstance(p, Solved) and isinstance(q, Solved):
        if p.matrix.shape == q.matrix.shape and (p.matrix == q.matrix).all():
            return _constants(x.name, same, p.constant ^ q.constant)
        if x.parameters.get("poly") is not None and _register(x) == _register(y):
            return f"{same}, over other data: {name}; {y.name}"
        return f"different digests: {name}; {y.name or 'check bits'}"
    given, other = dict(x.parameters), dict(y.parameters)
    one, two = (int(some.pop("constant", "0"), 16) for some in (given, other))
    if given != other:
        return f"different digests: {x.formula}; {y.formula}"
    if one == two:
        return f"{_SAME}: {x.name}"
    return f"{same}, constants differ by {(two - one) % given['modulus']:#04x}: {x.name}"


def _constants(name: str | None, same: str, difference: Any) -> str:
    if not difference.any():
        return f"{_SAME}: {name or 'check bits'}"
    value = int("".join(map(str, difference.tolist())), 2)
    return f"{same}, constants differ by 0x{value:0{-(-len(difference) // 4)}x}"


def _register(digest: Digest) -> tuple[Any, ...]:
    return tuple(digest.parameters.get(name) for name in ("poly", "refin", "refout", "width"))


_WHAT = {"crc": "polynomial", "lfsr": "generator and key", "xor": "XOR", "sum": "sum"}
