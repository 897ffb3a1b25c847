"""From files of frames, or a saved finding, to what is printed, drawn and written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from flagstone.cli.answering import Found, find
from flagstone.cli.describe import finding_json, headline_notes, print_finding
from flagstone.cli.each import each_keys, find_each, print_each
from flagstone.cli.inputs import load_finding
from flagstone.cli.options import AnswerOptions, ColumnOptions
from flagstone.cli.output import print_json
from flagstone.cli.outputs import (
    check_outputs,
    refuse_existing_outputs,
    refuse_inputs,
    refuse_several,
    write_outputs,
)
from flagstone.cli.runner import BOTTOM, OK, UsageError
from flagstone.finding import Finding
from flagstone.frames.captures import Capture
from flagstone.frames.cli.clusters import cluster_keys, misfit_notes, types_of
from flagstone.frames.cli.layers import (
    analysis_of,
    layer_keys,
    layer_lines,
    shown_lines,
)
from flagstone.frames.cli.types import check_split, print_types
from flagstone.frames.digests import DigestAnalysis
from flagstone.frames.report import FrameView
from flagstone.question import Question
from flagstone.second_pass import Observer


def answer_frames(
    question: Question,
    files: Sequence[str],
    table: ColumnOptions,
    options: AnswerOptions,
    *,
    solve: Sequence[str] | None = None,
    split: bool = False,
) -> int:
    """Answer for frames; with ``split`` for each type of them, if there are several."""
    check_outputs(options)
    if split:
        refuse_several("split-types", options)
    found = find(question, files, table, options, observe=_observers(solve, all_places=split))
    analysis, capture = _watched(found)
    finding = _with_digest(found.finding, analysis)
    if split:
        check_split(capture)
    shown = None if options.show_as is None else shown_lines(finding, analysis, options.show_as)
    types = types_of(capture, finding, found.rule)
    notes = misfit_notes(capture, finding, options.listed_rows, types)
    view = None if analysis is None else FrameView(analysis)
    loud = headline_notes(finding, notes)
    written = write_outputs(finding, options, view, resumed=found.work.resumed, notes=loud)
    found.work.finish()
    if capture is not None and split and (len(types) > 1 or (types and options.json)):
        print_types(finding, analysis, capture, types, options, solve)
        return OK
    if split:
        none = "not looked for: there is no answer that the rows support"
        notes.append(("types", "one: nothing speaks for a second one" if types else none))
    extra = layer_keys(analysis) | cluster_keys(capture, finding, options.listed_rows, types)
    _print(finding, analysis, options, written, shown, extra, notes)
    return OK if finding.is_answer else BOTTOM


def show_frames(file: str, options: AnswerOptions, solve: Sequence[str] | None = None) -> int:
    """Show what a saved finding says of frames; --report and --plot draw it again."""
    if options.output is not None:
        raise UsageError(f"{file} is a finding already: leave out --output, or copy the file")
    check_outputs(options)
    refuse_existing_outputs(options)
    refuse_inputs([options.report, options.plot], [file])
    finding = load_finding(file, options.seed)
    analysis = analysis_of(finding, solve)
    shown = None if options.show_as is None else shown_lines(finding, analysis, options.show_as)
    view = None if analysis is None else FrameView(analysis)
    written = write_outputs(finding, options, view)
    _print(finding, analysis, options, written, shown, layer_keys(analysis))
    return OK if finding.is_answer else BOTTOM


def answer_frames_each(
    question: Question,
    files: Sequence[str],
    table: ColumnOptions,
    options: AnswerOptions,
    *,
    solve: Sequence[str] | None = None,
) -> int:
    """Answer for each capture with one seed, and say what they share."""
    each = find_each(question, files, table, options, observe=_observers(None))
    shared = each.shared
    analysis = None if shared is None else analysis_of(shared, solve)
    for one in each.found:
        if analysis is not None and options.measure:
            one.work.show(analysis)
        one.work.finish()
    if options.json:
        keys = each_keys(each)
        for capture, one in zip(keys["captures"], each.found, strict=True):
            capture["finding"] |= layer_keys(_watched(one)[0])
        if shared is not None:
            keys["common"] |= layer_keys(analysis)
        print_json(keys)
    else:
        lines = None if shared is None else layer_lines(analysis, shared, always=True)
        print_each(each, lines, _digest_names)
    return each.exit_code


def _digest_names(found: Found) -> list[tuple[str, str]]:
    analysis, _ = _watched(found)
    digests = [] if analysis is None else analysis.digests
    return [("digest", digest.name or digest.formula) for digest in digests]


def _observers(
    solve: Sequence[str] | None, *, all_places: bool = False
) -> Callable[[Finding], Sequence[Observer]]:
    """Return who watches the rows of a finding: an analysis, and a capture that keeps rows."""

    def observe(finding: Finding) -> Sequence[Observer]:
        analysis = analysis_of(finding, solve)
        return [] if analysis is None else [analysis, Capture(all_places=all_places)]

    return observe


def _watched(found: Found) -> tuple[DigestAnalysis | None, Capture | None]:
    """Return the observers of a finding, as they are after the pass."""
    analyses = [one for one in found.observers if isinstance(one, DigestAnalysis)]
    captures = [one for one in found.observers if isinstance(one, Capture)]
    return (analyses[0], captures[0]) if analyses else (None, None)


def _with_digest(finding: Finding, analysis: DigestAnalysis | None) -> Finding:
    """Return the finding with the named digests that were verified on its rows, as plain data."""
    if analysis is None or not analysis.n_rows:
        return finding
    named = [digest.to_dict() for digest in analysis.digests if digest.name]
    return replace(finding, provenance={**finding.provenance, "digest": named})


def _print(
    finding: Finding,
    analysis: DigestAnalysis | None,
    options: AnswerOptions,
    written: Sequence[str],
    shown: Sequence[str] | None,
    extra: Mapping[str, Any],
    notes: Sequence[tuple[str, str]] = (),
) -> None:
    """Print a finding with its layers, or in JSON, or as --as says."""
    if options.json:
        print_json(finding_json(finding) | {"outputs": list(written)} | dict(extra))
    elif shown is not None:
        print("\n".join(shown))
    else:
        said = layer_lines(analysis, finding)
        print_finding(finding, options, written, said=said, notes=notes)
