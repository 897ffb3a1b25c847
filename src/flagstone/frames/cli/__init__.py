"""``flagstone frames``: pattern, digest, types and damage of frames, and code that checks them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from flagstone.algebra import Array
from flagstone.cli.answering import rule_of
from flagstone.cli.console import BOTTOM, OK, UsageError, parsed, print_json, rerun_command
from flagstone.cli.inputs import load_finding, load_protocol
from flagstone.cli.parser import options_given, options_of
from flagstone.cli.results import (
    check_outputs,
    refuse_existing_outputs,
    refuse_inputs,
    refuse_several,
    write_outputs,
)
from flagstone.cli.verbs import CaptureOptions, FrameOptions
from flagstone.coins import Coins, fresh_seed
from flagstone.errors import InputError
from flagstone.frames.captures import Capture, MessageType, length_text, message_types
from flagstone.frames.captures.line_codes import suggest
from flagstone.frames.cli.groups import group_keys, print_groups
from flagstone.frames.cli.reading import read_frames
from flagstone.frames.cli.screen import frame_keys, print_study, shown_lines
from flagstone.frames.fields import has_digest, same_check, telling_field
from flagstone.frames.report import FrameView
from flagstone.frames.ruler import in_bytes
from flagstone.frames.study import Study, saved_study, study
from flagstone.question import ConstraintsQuestion
from flagstone.rules import SpanRule
from flagstone.store import is_saved, read_document
from flagstone.tables.naming import columns_meant
from flagstone.wording import counted

#: The most groups that get an answer.
_MOST_GROUPS = 64
#: The most bits of --case: code has a table of all their values.
_MOST_CASE_BITS = 12
_MISALIGNED = "frames may be misaligned"
_CHOSEN = (
    "these frames were told apart by what they say, so nothing is promised about fresh ones; tell "
    "fresh frames apart in the same way beforehand, and ask for each type by itself"
)


def command(options: FrameOptions) -> int:
    """Find the pattern and the digest of frames, or show those of a finding that was saved.

    --as also takes c, python and rtl_433, code that checks a frame, and bitbench, a link.
    """
    check_outputs(options)
    files = options.files
    if len(files) == 1 and options.format is None and _is_finding(files[0]):
        return _show(files[0], options)
    for file in files if options.format is None else ():
        if _is_finding(file):
            raise UsageError(
                f"{file} is a finding: frames shows one at a time, and compare holds two against "
                "each other"
            )
    asked = _Asked(options)
    read = read_frames(files, options)
    refuse_inputs(options, files)
    refuse_existing_outputs(options)
    if options.by is not None:
        refuse_several("by", options)
        return _answer_each(read, options.by, asked)
    return _answer(read, asked)


def _is_finding(file: str) -> bool:
    return is_saved(file) and read_document(file)[0] == "finding"


class _Asked:
    """What is asked of each capture: the rule, the seed, and what a finding shall remember."""

    def __init__(self, options: FrameOptions) -> None:
        self.options = options
        self.rule: SpanRule
        if options.protocol is None:
            self.rule, seed = rule_of(options), options.seed
            self._confidence, self._max_rows = options.confidence, None
        else:
            protocol = load_protocol(options.protocol, ConstraintsQuestion(), options)
            self.rule, seed = protocol.to_rule(), protocol.seed
            self._confidence, self._max_rows = protocol.confidence, protocol.max_rows
        self._fresh = seed is None
        self.seed: str = fresh_seed() if seed is None else seed

    def study(self, capture: Capture) -> Study:
        """Study the frames of one length: the one that was asked for, or the commonest."""
        lengths, length = capture.lengths, self.options.length
        if length is None or length not in lengths:
            length = max(lengths, key=lambda n: (lengths[n], n))
        index = capture.index(length)
        if self._max_rows is not None:
            if len(index) < self._max_rows:
                raise InputError(
                    f"the protocol takes {self._max_rows:,} frames, found {len(index):,}"
                )
            index = index[: self._max_rows]
        chosen = capture.some(index)
        rows = chosen.rows(length)
        found = study(
            rows,
            chosen.places,
            self.rule,
            Coins(self.seed),
            solve=_columns("--solve", self.options.solve, length),
            cases=_cases(self.options.case, length),
            others={n: capture.rows(n) for n in lengths if n != length},
            confidence=self._confidence,
            shown=self.options.kept_rows,
            skipped=len(capture) - len(index),
            seed_is_fresh=self._fresh,
            provenance={
                "sources": list(map(str, self.options.files)),
                "reading": self._reading(capture.format),
                "summary": "flag",
                "partition": "none",
                "command": rerun_command(
                    self.seed if self.options.protocol is None else None, outputs=self.options
                ),
            },
        )
        return replace(found, capture=chosen.noting(*self._notes(capture, index, rows)))

    def _notes(self, capture: Capture, index: Sequence[int], rows: Array) -> Iterator[str]:
        """Say what was left out, and what to try: another length, alignment, or a line code."""
        others = Counter({n: k for n, k in capture.lengths.items() if n != rows.shape[1]})
        if others:
            n = others.total()
            said = f"{counted(n, 'frame')} of other lengths ({length_text(others)})"
            if n == 1:  # a digit may be missing
                kept = set(index)
                odd = next(place for i, place in enumerate(capture.places) if i not in kept)
                said += f", {odd},"
            yield f"{said} not counted here: see --by length, or cut: --truncate"
            pattern = None if self.options.sync else capture.shared_pattern()
            if 2 * len(index) < len(capture) and pattern is not None:
                yield f"{_MISALIGNED}: try --sync {pattern} --truncate"
        code = suggest(rows) if not self.options.decode else None
        if code is not None:
            said = f"try --decode {code}, or differential-{code}"
            if self.options.sync:  # what is decoded first has another sync word
                said = f"write these frames (--as hex > aligned.hex), and {said} on them"
            yield f"pairs of bits are complementary: {said}"

    def types(self, found: Study) -> list[MessageType]:
        """Return the message types; none where there is no answer to tell them by."""
        if not found.finding.is_answer:
            return []
        return message_types(found.finding, found.rows, self.rule, Coins(self.seed))

    def _reading(self, format: str) -> dict[str, Any]:
        """Return how the frames were read, in the words of tables as far as these have them."""
        given = {"length": self.options.length, "skip_fields": self.options.skip_fields}
        reading: dict[str, Any] = {k: v for k, v in given.items() if v is not None}
        reading["format"] = format
        if self.options.decode:
            reading["decode"] = list(self.options.decode)
            if reading["decode"] == ["reverse-bytes"]:
                reading["bit_order"] = "lsb"
        for name in ("sync", "where", "truncate"):
            value = getattr(self.options, name)
            if value:
                reading[name] = value if isinstance(value, (str, bool)) else list(value)
        return reading


def _columns(option: str, texts: Sequence[str] | None, n_bits: int) -> list[int] | None:
    """Read --solve or --case: x32..x39, x3,x7 or b4.7..b4.0."""
    if not texts:
        return None
    names, columns = [f"x{i}" for i in range(n_bits)], list[int]()
    for text in (part.strip() for given in texts for part in given.split(",")):
        found = parsed(columns_meant, text, names)
        if not found:
            raise UsageError(f"{option} names {text!r}, which is no bit of these frames")
        columns += found
    return columns


def _cases(texts: Sequence[str] | None, n_bits: int) -> list[int]:
    columns = _columns("--case", texts, n_bits) or []
    if len(columns) > _MOST_CASE_BITS:
        raise UsageError(
            f"--case takes at most {_MOST_CASE_BITS} bits, got {len(columns)}: name those that vary"
        )
    return columns


def _answer(capture: Capture, asked: _Asked) -> int:
    """Answer for one capture, and say what tells its frames apart."""
    found = asked.study(capture)
    types = asked.types(found)
    chosen = found.capture
    misaligned = any(note.startswith(_MISALIGNED) for note in chosen.notes)  # bytes mean nothing
    told = None if has_digest(found) or misaligned else telling_field(chosen, asked.study)
    by_case = bool(asked.options.case) and has_digest(found)  # frames of other cases are no types
    said = ""
    if by_case:
        types = []
    elif told is not None and told.changes_constant:
        said = f"each value of {told.name} has another constant in its digest: "
        said += f"add --case {told.name}"
    elif len(types) > 1:
        parts = same_check(chosen, _told_apart(types), asked.study)
        each = [f"{len(part.rows):,} ({in_bytes(name)})" for name, part in parts.items()]
        if len(parts) > 1:
            said = f"{len(parts)} types of frames: {'; '.join(each)}. Add --by type"
    elif told is not None:
        said = f"values of {told.name} have digests of their own: add --by {told.name}"
    elif not has_digest(found):
        said = _several_senders(chosen)
    return _tell(replace(found, capture=chosen.noting(said)), types, asked.options)


def _several_senders(capture: Capture) -> str:
    """Say how to look at each id, or model, where the frames of several are looked at together."""
    for name in ("id", "model"):
        values = capture.by(name) if capture.columns and name in capture.columns[0] else {}
        if len(values) > 1:
            add = f"--by {name}"
            if len(values) > _MOST_GROUPS:
                add = f"--where {name}={next(iter(values))}, or another"
            return f"frames of {len(values):,} values of {name} together: add {add}"
    return ""


def _tell(found: Study, types: Sequence[MessageType] | None, options: FrameOptions) -> int:
    """Write and print what was found, as the options say."""
    lines = None
    if options.show_as is not None:
        lines = shown_lines(found, options.show_as, options.strict)
    notes = found.capture.notes if found.capture else None
    written = write_outputs(found.finding, options, FrameView(found), notes=notes)
    if options.json:
        print_json(frame_keys(found, types, written))
    elif lines is not None:
        print("\n".join(lines))
    else:
        print_study(found, options, written)
    return OK if found.named or found.finding.is_answer else BOTTOM


def _answer_each(capture: Capture, by: str, asked: _Asked) -> int:
    """Answer for each value of a column."""
    if by == "type":
        capture, groups = _types(capture, asked)
    else:
        parts = capture.by(by)
        if len(parts) > _MOST_GROUPS:
            few = ", ".join(list(parts)[:4])
            raise UsageError(
                f"--by {by} makes {len(parts):,} groups ({few}, …): {_MOST_GROUPS} at most"
            )
        groups = {value: asked.study(capture.some(index)) for value, index in parts.items()}
    if asked.options.json:
        print_json(group_keys(groups))
    else:
        print_groups(by, groups, capture, asked.options)
    answered = (found.named or found.finding.is_answer for found in groups.values())
    return OK if all(answered) else BOTTOM


def _chosen(found: Study) -> Study:
    """Promise nothing about fresh frames: these were told apart by what they say."""
    promises = found.finding.promises
    if promises is None:
        return found
    return replace(found, finding=replace(found.finding, promises=promises.withhold(_CHOSEN)))


def _types(capture: Capture, asked: _Asked) -> tuple[Capture, dict[str, Study]]:
    """Study the frames of each type: told apart by bits, or by a field; a check is one type."""
    whole = asked.study(capture)
    chosen, types = whole.capture, asked.types(whole)
    told = None if has_digest(whole) else telling_field(chosen, asked.study)
    if (told is None and not types) or (told is not None and told.changes_constant):
        return chosen, {"all": whole}  # one type, maybe with constants for cases
    if len(types) < 2 and told is not None:
        values = chosen.by(told.name).items()
        parts = {f"{told.name} = {value}": index for value, index in values}
    else:
        parts = _told_apart(types)
        left = len(chosen) - len({i for index in parts.values() for i in index})
        chosen = chosen.noting(f"{counted(left, 'frame')} of no type left out" if left else "")
    groups = same_check(chosen, parts, asked.study)
    if len(groups) > 1:
        groups = {value: _chosen(found) for value, found in groups.items()}
    return chosen, groups


def _told_apart(types: Sequence[MessageType]) -> dict[str, list[int]]:
    return {one.told_by or "all others": one.rows.tolist() for one in types}


def _show(file: str, options: FrameOptions) -> int:
    """Show what a saved finding says of frames; --report and --plot draw it again."""
    if options.output is not None:
        raise UsageError(f"{file} is a finding already: leave out --output, or copy the file")
    if options_given(options, options_of(CaptureOptions)):
        raise UsageError(f"{file} is a finding, and holds no frames: give files of frames")
    refuse_existing_outputs(options)
    refuse_inputs(options, [file])
    finding = load_finding(file, options.seed)
    found = saved_study(finding, _columns("--solve", options.solve, len(finding.encoding.names)))
    return _tell(found, None, options)
