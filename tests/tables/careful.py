"""What a reader of frames finds, by its kernels and by the careful parser alone."""

from contextlib import contextmanager

import pytest

from flagstone._kernels import available
from flagstone.errors import InputError
from flagstone.tables import frames

VERSIONS = available()


@contextmanager
def version(name):
    """Read frames with another version of the kernels."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frames, "kernels", VERSIONS[name])
        yield


def with_care(reader):
    """Return a function that parses blocks as the reader does, each line on its own."""

    def parse(block, line):
        texts = frames._lines(block)
        return *reader._with_care(enumerate(texts, line)), len(texts)

    return parse


def everything(reader, parse, size=1 << 20):
    """Return rows, lines, skipped rows and positions, block by block, and the error at the end."""
    line, found = 1, []
    try:
        for block, after, _ in reader._blocks(0, size):
            words, lines, skipped, n_lines = parse(block, line)
            line += n_lines
            found.append((words.tolist(), list(lines), skipped, after))
    except InputError as error:
        found.append(str(error))
    return found
