"""Code for check bits says of every frame what the check bits say, in C and in Python."""

import shutil
import subprocess

import numpy as np
import pytest

from flagstone import InputError
from flagstone.frames.digests import Layers, check_code
from tests.frames.digests.test_crc import random_frame

MAIN = """
#include <stdio.h>
int main(void)
{
    uint8_t b[64];
    while (fread(b, 1, SIZE, stdin) == SIZE)
        printf("%d\\n", frame_check(b));
    return 0;
}
"""


def checks(width, n_data=24, seed=1):
    """Check bits of random frames, as masks, and rows of which some break some."""
    rng = np.random.default_rng(seed)
    frame = random_frame(rng, n_data, width, n_data)
    solved = Layers.solved_for(frame, tuple(range(n_data, n_data + width))).solved
    masks = solved.matrix.copy()
    masks[range(width), list(solved.columns)] = 1
    good = rng.integers(0, 2, size=(200, frame.n_free)) @ frame.directions % 2 ^ frame.point
    damage = rng.random(good.shape) < 0.02
    return masks, solved, (good ^ damage).astype(np.uint8)


@pytest.mark.parametrize("width", [3, 8, 40])
def test_python(width):
    masks, solved, X = checks(width)
    space = {}
    exec(check_code(masks, solved.constant, "check bits", "python"), space)
    found = [space["frame_check"](np.packbits(row).tobytes()) for row in X]
    assert found == solved.broken(X).sum(axis=1).tolist()
    assert any(found)
    assert not all(found)


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
@pytest.mark.parametrize("width", [3, 8, 40])
def test_c(width, tmp_path):
    masks, solved, X = checks(width)
    text = check_code(masks, solved.constant, "check bits", "c")
    size = -(-masks.shape[1] // 8)
    (tmp_path / "check.c").write_text(text + MAIN.replace("SIZE", str(size)))
    words = ["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-o", "check", "check.c"]
    subprocess.run(words, cwd=tmp_path, check=True)
    frames = b"".join(np.packbits(row).tobytes() for row in X)
    out = subprocess.run([tmp_path / "check"], input=frames, capture_output=True, check=True)
    assert [int(n) for n in out.stdout.split()] == solved.broken(X).sum(axis=1).tolist()


@pytest.mark.parametrize("language", ["c", "python"])
def test_names_end_no_comment_and_no_string(language):
    text = check_code(np.eye(1, 8), [0], 'x */ """ \\ \n évil', language)
    assert "x ?/ ??? ? ? ?vil" in text


def test_other_languages_are_refused():
    with pytest.raises(InputError, match="c or python, not in 'rust'"):
        check_code(np.eye(1, 8), [0], "", "rust")
