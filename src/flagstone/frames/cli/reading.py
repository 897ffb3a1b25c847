"""Read frames as the options say: decode, align, filter and cut them."""

from __future__ import annotations

from collections.abc import Sequence

from flagstone.cli.console import UsageError
from flagstone.cli.spool import spooled
from flagstone.cli.verbs import CaptureOptions
from flagstone.errors import InputError, Parameter
from flagstone.frames.captures import Capture, length_text, read_capture
from flagstone.frames.captures.capture import pattern_bits
from flagstone.frames.captures.line_codes import LINE_CODES


def read_frames(files: Sequence[str], given: CaptureOptions) -> Capture:
    """Read the frames, and decode, align, filter and cut them, in this order."""
    for code in given.decode or ():
        if code not in LINE_CODES:
            raise UsageError(f"--decode must be one of {', '.join(LINE_CODES)}, got {code!r}")
    if given.format == "raw" and given.length is None:
        raise UsageError("-f raw needs --length, the bits of a record")
    capture = read_capture(
        spooled(files),
        format=given.format,
        skip_fields=given.skip_fields,
        length=given.length,
        skip_bad_lines=given.skip_bad_lines,
        max_rows=given.max_rows,
    )
    captured, capture = capture, capture.decoded(given.decode or ())
    if given.sync is not None:
        if given.decode and _holds(captured, given.sync) and not _holds(capture, given.sync):
            raise InputError(
                Parameter("sync", given.sync),
                " is in the frames before decoding, and in none after it: write the aligned frames "
                "first (--as hex > aligned.hex, without --decode), and decode those",
            )
        capture = capture.synced(given.sync)
    for condition in given.where or ():
        capture = capture.where(condition)
    if given.truncate:
        return capture.truncated(given.length)
    if given.length is not None and given.length not in capture.lengths:
        raise InputError(
            Parameter("length", given.length), f" is no length here: {length_text(capture.lengths)}"
        )
    return capture


def _holds(capture: Capture, pattern: str) -> bool:
    bits = pattern_bits(pattern)
    return any(bits in frame for frame in capture.frames)
