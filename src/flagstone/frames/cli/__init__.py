"""``flagstone frames``: pattern, digest, types and damage of frames, and code that checks them."""

from __future__ import annotations

from flagstone.cli.options import ColumnOptions, FrameOptions
from flagstone.cli.runner import UsageError
from flagstone.frames.cli.answer import answer_frames, answer_frames_each, show_frames
from flagstone.question import ConstraintsQuestion, SpanQuestion
from flagstone.store import is_saved, read_document


def command(
    files: list[str],
    table: ColumnOptions,
    options: FrameOptions,
    linear: bool,
    solve: list[str] | None,
    each: bool,
    split_types: bool,
) -> int:
    """Find the pattern and the digest of frames, or show those of a finding that was saved.

    --as also takes c, python and rtl_433: code that checks the check bits of a frame.
    """
    question = SpanQuestion() if linear else ConstraintsQuestion()
    if each and split_types:
        raise UsageError("--each and --split-types: one at a time")
    if split_types and linear:
        raise UsageError("--split-types tells rows apart by constants: leave out --linear")
    if len(files) == 1 and table.format is None and _is_finding(files[0]):
        if each or split_types:
            raise UsageError(f"{files[0]} is a finding, and holds no rows: give files of frames")
        return show_frames(files[0], options, solve or None)
    if each:
        return answer_frames_each(question, files, table, options, solve=solve or None)
    return answer_frames(question, files, table, options, solve=solve or None, split=split_types)


def _is_finding(file: str) -> bool:
    return is_saved(file) and read_document(file)[0] == "finding"
