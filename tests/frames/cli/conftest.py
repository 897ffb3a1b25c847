"""Captures that several tests of the verb read."""

import numpy as np
import pytest

from tests.cli.conftest import place, run
from tests.frames.cli.captured import with_crc, write
from tests.frames.digests import oracle

__all__ = ["capture", "place", "run", "sums"]


@pytest.fixture
def capture(place):
    """Frames: a constant byte, four of data, a CRC; six of them damaged in x45."""
    X = with_crc(np.random.default_rng(1), 600)
    X[:6, 45] ^= 1
    return write(place, "crc.hex", X)


@pytest.fixture
def sums(place):
    """Frames that end in the sum of their bytes."""
    payload = oracle.skewed(np.random.default_rng(2), 500, 4)
    return write(place, "sum.hex", oracle.frames(payload, payload.sum(axis=1) & 255, 8))
