"""Bytes that a frame holds once more with every bit inverted."""

import random

import numpy as np
import pytest

from flagstone.frames.digests import frame_code
from flagstone.frames.digests.catalogue import CATALOGUE
from flagstone.frames.digests.complements import name_complement
from tests.frames.digests import oracle
from tests.frames.digests.test_code import good, in_python
from tests.frames.digests.test_naming import named


def remote(rng, n, commands=256):
    """Frames of an NEC remote: address, its complement, command, its complement."""
    address = rng.integers(0, 256, n, dtype=np.uint8)
    command = rng.integers(0, commands, n).astype(np.uint8)
    return np.unpackbits(np.column_stack([address, ~address, command, ~command]), axis=1)


def complement(X, taken=frozenset()):
    return name_complement([f"x{i}" for i in range(X.shape[1])], X, taken)


def test_each_byte_with_its_complement_is_named():
    rng = np.random.default_rng(1)
    X, hit = oracle.damaged(rng, remote(rng, 400))
    digest = named(X)[0].complement
    assert (digest.kind, digest.name) == ("complement", "complement of x0..x7, x16..x23")
    assert list(digest.columns) == [*oracle.columns(8, 15), *oracle.columns(24, 31)]
    assert digest.formula == "x8..x15 = x0..x7 inverted, x24..x31 = x16..x23 inverted"
    assert digest.bits_determined == 16 * 16
    assert 0 < digest.rows_broken <= hit.sum()


def test_generated_code_tests_it():
    rng = np.random.default_rng(2)
    digest = named(remote(rng, 400))[0].complement
    fresh = oracle.damaged(rng, remote(rng, 200), 0.5)[0]
    pairs = np.packbits(fresh, axis=1)
    right = (pairs[:, ::2] ^ pairs[:, 1::2] == 255).all(axis=1).tolist()
    assert good(digest.rule, fresh) == right
    assert in_python(frame_code(32, [digest], "python"), fresh) == right


def test_bytes_may_begin_after_a_start_bit():
    X = remote(np.random.default_rng(3), 100)
    digest = complement(np.hstack([np.ones((100, 1), dtype=np.uint8), X]))
    assert digest.formula == "x9..x16 = x1..x8 inverted, x25..x32 = x17..x24 inverted"


def test_an_inverted_copy_is_one_formula_beside_the_crc():
    rng = np.random.default_rng(4)
    half = remote(rng, 200)[:, [*range(8), *range(16, 24)]]
    digest = complement(np.hstack([half, 1 - half]))
    assert digest.formula == "x16..x31 = x0..x15 inverted"
    # where another digest stands in the second copy, its byte is the one that is inverted
    digest = complement(np.hstack([half, 1 - half]), taken=set(range(24, 32)))
    assert digest.formula == "x16..x23 = x0..x7 inverted, x8..x15 = x24..x31 inverted"


def test_a_repeated_frame_is_taken_in_pairs():
    X = remote(np.random.default_rng(5), 200)[:, :16]
    digest = complement(np.hstack([X, X]))
    assert digest.formula == "x8..x15 = x0..x7 inverted, x24..x31 = x16..x23 inverted"


@pytest.mark.parametrize(("commands", "found"), [(8, False), (16, True)])
def test_four_bits_must_vary(commands, found):
    X = remote(np.random.default_rng(6), 300, commands)[:, 16:]
    assert (complement(X) is not None) == found


def test_bytes_beside_others_may_hardly_vary():
    rng = np.random.default_rng(8)
    X = remote(rng, 200)
    X[:, :16] = np.where(rng.integers(0, 2, size=(200, 1)), X[:1, :16], X[1:2, :16])
    formula = "x8..x15 = x0..x7 inverted, x24..x31 = x16..x23 inverted"  # two addresses
    assert complement(X).formula == formula
    X[0, 0] ^= 1
    assert complement(X[:, :16]) is None


def test_a_frame_after_its_complement():
    """Bresser 5-in-1: no parity of all bits, which follows; the one in the count of ones stays."""
    rng = np.random.default_rng(9)
    data = rng.integers(0, 256, size=(150, 12))
    data[:, 0] = rng.choice([0xE2, 0x3C], 150)
    ones = np.unpackbits(data.astype(np.uint8), axis=1).sum(axis=1)
    half = np.column_stack([data, ones]).astype(np.uint8)
    X, hit = oracle.damaged(rng, np.unpackbits(np.hstack([~half, half]), axis=1))
    analysis, digests = named(X, 0)
    assert analysis.complement.formula == "x104..x207 = x0..x103 inverted"
    assert [digest.name for digest in digests] == ["odd parity of x0..x95"]
    assert analysis.complement.rows_broken == hit.sum()


@pytest.mark.parametrize(
    ("n_ids", "seed", "mask"), [(4, 3, 0), (4, 10, 0), (6, 2, 0), (6, 5, 255), (6, 8, 255)]
)
def test_a_payload_that_is_sent_twice_is_no_evidence_where_it_cancels(n_ids, seed, mask):
    rng = random.Random(seed)
    ids = [rng.randbytes(2) for _ in range(n_ids)]
    frames = []
    for _ in range(60):
        start, data = rng.choice(ids), rng.randbytes(2)
        frames.append(start + data + bytes(byte ^ mask for byte in data))
    X = np.unpackbits(np.array([list(frame) for frame in frames], dtype=np.uint8), axis=1)
    assert named(X, 0)[1] == []


@pytest.mark.parametrize("mask", [0, 255])
@pytest.mark.parametrize("name", ["CRC-8/NRSC-5", "CRC-8/MAXIM-DOW", "CRC-16/KERMIT"])
def test_a_crc_over_a_payload_that_is_sent_twice(name, mask):
    known = next(known for known in CATALOGUE if known.name == name)
    data = np.random.default_rng(10).integers(0, 256, size=(200, 4))
    data = np.hstack([data, data ^ mask])
    checks = [oracle.crc(row, known) for row in data.tolist()]
    (digest,) = named(oracle.frames(data, checks, known.width), 0)[1]
    assert name in digest.name.split(" or ")
    assert digest.rule.columns == tuple(range(64, 64 + known.width))
    assert (digest.rule.matrix[:, :64].any(axis=0)).all()


def test_other_bytes_are_not_named():
    rng = np.random.default_rng(7)
    X = remote(rng, 300)
    X[:, 20] = rng.integers(0, 2, 300)
    X[:60, 9] ^= 1
    assert complement(X) is None
    assert complement(rng.integers(0, 2, size=(300, 64), dtype=np.uint8)) is None
