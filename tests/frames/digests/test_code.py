"""Code for digests says of every frame what the digest says, in C and in Python."""

import shutil
import subprocess
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from flagstone import InputError
from flagstone.frames.digests import Digest, Layers, frame_code
from flagstone.frames.digests.rules import Sum
from tests.frames.digests.test_crc import random_frame

MAIN = """
#include <stdio.h>
int main(void)
{
    uint8_t b[64];
    while (fread(b, 1, SIZE, stdin) == SIZE)
        printf("%d\\n", check_frame(b));
    return 0;
}
"""
N_BITS = 72
SUMS = {
    "bytes": Sum((64, 72), 8, (0, 64), 8, 1, 256, 0x5A),
    "minus bytes, xor": Sum((64, 72), 8, (8, 64), 8, -1, 256, 0x11, xor=0xC3),
    "nibbles, lowest bit first": Sum((64, 72), 8, (4, 64), 4, 1, 256, 0, turned=True),
    "low nibble first": Sum((60, 68), 8, (0, 60), 4, 1, 256, 0, little=True),
    "four bits": Sum((64, 68), 4, (0, 64), 4, -1, 16, 3),
    "carries around": Sum((64, 72), 8, (0, 64), 8, 1, 255, 0, zero=255),
    "words, lowest byte first": Sum((48, 64), 16, (0, 48), 16, 1, 65536, 9, little=True),
    "words": Sum((48, 64), 16, (0, 48), 16, 1, 65535, 9),
    "check in the middle": Sum((16, 24), 8, (0, 72), 8, 1, 256, 0),
    "between bytes": Sum((61, 69), 8, (5, 61), 8, 1, 256, 0),
}


def digest_of(rule) -> Digest:
    """A digest with this rule."""
    return Digest("sum", "a check", ("x0",), {}, "computed", 0, rule)


def mostly_right(rule, rng, n_bits=N_BITS):
    """Frames most of which obey a rule: every frame takes the check that is right."""
    good = ()
    while len(good) == 0:  # one frame in 65,536 obeys a sum of words
        X = rng.integers(0, 2, size=(60_000, n_bits), dtype=np.uint8)
        good = X[~rule.broken(X).reshape(len(X), -1).any(axis=1)][:150]
    return np.concatenate([good, X[:50]])


def linear(width, seed=1):
    """Check bits of random frames, and rows of which some break some."""
    rng = np.random.default_rng(seed)
    frame = random_frame(rng, 24, width, 24)
    rule = Layers.solved_for(frame, tuple(range(24, 24 + width))).solved
    good = rng.integers(0, 2, size=(200, frame.n_free)) @ frame.directions % 2 ^ frame.point
    return rule, (good ^ (rng.random(good.shape) < 0.02)).astype(np.uint8)


@cache
def case(name):
    """Return a rule, given by its name or its number of check bits, and frames."""
    if isinstance(name, int):
        return linear(name)
    return SUMS[name], mostly_right(SUMS[name], np.random.default_rng(7))


def good(rule, X) -> list[bool]:
    return (~rule.broken(X).reshape(len(X), -1).any(axis=1)).tolist()


def in_c(text, X, folder) -> list[bool]:
    """Compile a program without a warning, and run it on frames."""
    frames = np.packbits(X, axis=1)
    (folder / "check.c").write_text(text + MAIN.replace("SIZE", str(frames.shape[1])))
    words = ["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-o", "check", "check.c"]
    subprocess.run(words, cwd=folder, check=True)
    out = subprocess.run([folder / "check"], input=frames.tobytes(), capture_output=True)
    return [word == b"1" for word in out.stdout.split()]


def in_python(text, X) -> list[bool]:
    """Run a module on frames."""
    space: dict = {}
    exec(text, space)
    return [space["check_frame"](np.packbits(row).tobytes()) for row in X]


@pytest.mark.parametrize("name", [3, 8, 40, *SUMS])
def test_python(name):
    rule, X = case(name)
    found = in_python(frame_code(X.shape[1], [digest_of(rule)], "python"), X)
    assert found == good(rule, X)
    assert any(found)
    assert not all(found)


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
@pytest.mark.parametrize("name", [3, 8, 40, *SUMS])
def test_c(name, tmp_path):
    rule, X = case(name)
    assert in_c(frame_code(X.shape[1], [digest_of(rule)], "c"), X, tmp_path) == good(rule, X)


@pytest.mark.parametrize("language", ["c", "python"])
def test_several_digests_and_equations(language, tmp_path):
    rng = np.random.default_rng(3)
    equations = linear(8)[0]
    rules = [SUMS["bytes"], replace(SUMS["words"], check=(40, 56), data=(0, 32))]
    X = rng.integers(0, 2, size=(400, N_BITS), dtype=np.uint8)
    wide = replace(equations, matrix=np.pad(equations.matrix, ((0, 0), (0, N_BITS - 32))))
    text = frame_code(N_BITS, [digest_of(rule) for rule in rules], language, equations=wide)
    found = in_c(text, X, tmp_path) if language == "c" else in_python(text, X)
    expected = zip(*(good(rule, X) for rule in (*rules, wide)), strict=True)
    assert found == [all(parts) for parts in expected]


@pytest.mark.parametrize("name", [3, 8, 40, *SUMS])
def test_frames_in_another_order(name):
    rule, X = case(name)
    order = np.random.default_rng(4).permutation(X.shape[1])
    text = frame_code(X.shape[1], [digest_of(rule)], "python", order=order)
    written = np.zeros_like(X)
    written[:, order] = X
    assert in_python(text, written) == good(rule, X)


def test_frames_of_another_length_do_not_pass():
    space: dict = {}
    exec(frame_code(N_BITS, [digest_of(SUMS["bytes"])], "python"), space)
    assert not space["check_frame"](b"")
    assert not space["check_frame"](bytes(10))


@pytest.mark.parametrize("language", ["c", "python"])
def test_names_end_no_comment_and_no_string(language):
    evil = replace(digest_of(SUMS["bytes"]), name='x */ """ \\ \n évil')
    assert "x ?/ ??? ? ? ?vil" in frame_code(N_BITS, [evil], language)


def test_what_is_no_code_is_refused():
    with pytest.raises(InputError, match="c or python, not in 'rust'"):
        frame_code(N_BITS, [digest_of(SUMS["bytes"])], "rust")
    with pytest.raises(InputError, match="there is none"):
        frame_code(N_BITS, [], "c")


@pytest.mark.parametrize("name", [3, 8, 40, *SUMS])
def test_a_rule_is_kept_as_plain_values(name):
    rule, X = case(name)
    names = [f"x{i}" for i in range(X.shape[1])]
    digest = replace(digest_of(rule), rows_verified=2)
    again = Digest.from_dict(digest.to_dict(), names)
    assert good(again.rule, X) == good(rule, X)
