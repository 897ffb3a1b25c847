"""Lines that tables refuse, since they hold more than frames, are read by frames."""

import numpy as np
import pytest

from flagstone.frames.captures import read_capture
from tests.tables.test_captures_refused import CAPTURES


@pytest.mark.parametrize("kind", CAPTURES)
def test_what_tables_refuse_is_read(tmp_path, kind):
    path = tmp_path / "a.hex"
    path.write_text(f"; a comment\n{CAPTURES[kind]}")
    frames = [bytes(np.packbits(list(bits))).hex() for bits in read_capture([path]).frames]
    assert frames[0] in ("0d55", "10d55")
    assert frames[-1].endswith("0d56")
