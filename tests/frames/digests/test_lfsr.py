"""LFSR digests, XORs and parities are named, through the whole pipeline."""

import numpy as np
import pytest

from flagstone import AffineSpan
from flagstone.frames.digests import Frame, Layers, key_stream, name_check, name_frame
from tests.frames.digests import oracle
from tests.frames.digests.test_crc import random_frame


def learned(X):
    """The frame that the pipeline finds behind rows."""
    return Frame.of(AffineSpan(contamination=0.02, random_state=1).fit(X).constraints_)


def only(frame):
    """The one digest that is named."""
    (digest,) = name_frame(frame)
    return digest


def carried(function, width, seed, n=500, n_bytes=4, **layout):
    """Frames with a digest, skewed and damaged."""
    rng = np.random.default_rng(seed)
    payload = oracle.skewed(rng, n, n_bytes)
    checks = [function(data) for data in payload.tolist()]
    X = oracle.frames(payload, checks, width, rng=rng, **layout)
    return oracle.damaged(rng, X)[0]


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize(
    ("generator", "key"), [(0x98, 0x3E), (0x98, 0xF3), (0x8C, 0x31), (0xB8, 1)]
)
def test_lfsr_digests_of_eight_bits(generator, key, backwards):
    def function(data):
        return 0x5A ^ oracle.lfsr(data, 8, generator, key, backwards=backwards)

    X = carried(function, 8, key)
    (digest,) = name_frame(learned(X))
    assert digest.rule.columns == tuple(range(32, 40))
    assert digest.kind == "lfsr"
    found = digest.parameters
    assert (int(found["generator"], 16), int(found["key"], 16)) == (generator, key)
    assert found["order"] == ("last bit first" if backwards else "as written")
    assert found["rtl_433"] == (None if backwards else "lfsr_digest8")
    assert (found["shift"], found["xorout"]) == ("right", "0x5a")
    assert digest.measured(X).rows_broken < 0.04 * len(X)


@pytest.mark.parametrize(("generator", "key"), [(0x31, 0xF4), (0x31, 0x3E), (0x1D, 0x7B)])
def test_reflected_digests_roll_left_from_the_last_bit_on(generator, key):
    X = carried(lambda data: oracle.lfsr(data, 8, generator, key, reflect=True), 8, key)
    (digest,) = name_frame(learned(X))
    found = digest.parameters["turned"]
    assert (int(found["generator"], 16), int(found["key"], 16)) == (generator, key)
    assert (found["shift"], found["order"]) == ("left", "last bit first")
    again = (int(digest.parameters[name], 16) for name in ("generator", "key"))
    assert oracle.lfsr(b"abcd", 8, *again) == oracle.lfsr(b"abcd", 8, generator, key, reflect=True)


def test_a_key_that_makes_a_digest_a_crc_gives_its_name():
    digest = only(learned(carried(lambda d: oracle.lfsr(d, 8, 0x98, 0xF1), 8, 2)))
    assert digest.name == "CRC-8 with polynomial 0x31"
    assert digest.parameters["xorout_if_init_is_0"] == "0x00"


@pytest.mark.parametrize("little", [False, True])
def test_lfsr_digests_of_sixteen_bits(little):
    X = carried(lambda data: oracle.lfsr(data, 16, 0x8810, 0x5412), 16, 3, n_bytes=5, little=little)
    digest = only(learned(X))
    found = digest.parameters
    assert (found["generator"], found["key"]) == ("0x8810", "0x5412")
    assert found["byte_order"] == ("little" if little else "big")
    assert found["rtl_433"] == "lfsr_digest16"


@pytest.mark.parametrize("backwards", [False, True])
def test_a_key_that_starts_again_with_every_byte(backwards):
    def function(data):
        return oracle.lfsr(data, 8, 0x98, 0x3E, backwards=backwards, restart=True)

    X = carried(function, 8, 4)
    digest = only(learned(X))
    found = digest.parameters
    assert (found["generator"], found["key"]) == ("0x98", "0x3e")
    assert found["restarts"] == "byte"
    assert "XOR of bytes" in digest.name


def test_keys_that_no_register_makes_are_listed():
    keys = [0x1D, 0x72, 0x33, 0x90, 0xEF, 0x05, 0x4A, 0xB8]

    def digest_of(data):
        folded = np.bitwise_xor.reduce(data)
        return int(
            np.bitwise_xor.reduce([k for i, k in enumerate(keys) if folded >> (7 - i) & 1] or [0])
        )

    digest = only(learned(carried(digest_of, 8, 5)))
    assert digest.kind == "keys"
    assert [int(k, 16) for k in digest.parameters["keys"]] == keys


@pytest.mark.parametrize("constant", [0, 0xA5])
def test_the_xor_of_bytes(constant):
    X = carried(lambda data: int(np.bitwise_xor.reduce(data)) ^ constant, 8, 6, before=(0x2D,))
    (digest,) = name_frame(learned(X))
    assert (digest.rule.columns, digest.name) == (tuple(range(40, 48)), "XOR of bytes")
    assert digest.parameters["data"] == oracle.columns(0, 39)  # with the constant byte before it
    assert int(digest.parameters["constant"], 16) == constant ^ 0x2D
    assert digest.measured(X).rows_broken < 0.04 * len(X)


def test_the_xor_of_nibbles():
    X = carried(lambda data: int(np.bitwise_xor.reduce([b >> 4 ^ b & 15 for b in data])), 4, 7)
    assert only(learned(X)).name == "XOR of nibbles"


@pytest.mark.parametrize("odd", [0, 1])
def test_parities_of_nibbles_and_bytes_gathered_at_the_end(odd):
    def nibbles(data):
        bits = "".join(str(n.bit_count() + odd & 1) for b in data for n in (b >> 4, b & 15))
        return int(bits, 2)

    digest = only(learned(carried(nibbles, 8, 8)))
    assert digest.name == f"{'odd' if odd else 'even'} parity of each nibble"

    def backwards(data):
        return int("".join(str(b.bit_count() + odd & 1) for b in reversed(data)), 2)

    digest = only(learned(carried(backwards, 4, 9)))
    assert (digest.name[-4:], digest.parameters["order"]) == ("byte", "last unit first")


def test_parities_inside_bytes():
    rng = np.random.default_rng(10)
    bits = np.unpackbits(oracle.skewed(rng, 600, 5), axis=1)
    bits[:, 7::8] = bits.reshape(-1, 5, 8)[:, :, :7].sum(axis=2) % 2
    digest = only(learned(oracle.damaged(rng, bits)[0]))
    assert digest.name == "even parity inside each byte"
    assert digest.columns == ("x7", "x15", "x23", "x31", "x39")


def test_one_parity_bit():
    X = carried(lambda data: sum(b.bit_count() for b in data) & 1, 1, 11)
    digest = only(learned(X))
    assert digest.name == "even parity of x0..x31"


def test_manchester_pairs_are_no_parities():
    rng = np.random.default_rng(12)
    bits = rng.integers(0, 2, size=(300, 20))
    frame = learned(np.stack([bits, 1 - bits], axis=2).reshape(300, 40))
    assert len(frame.pairs) == 20
    assert name_frame(frame) == []


def test_without_a_name_there_are_keys():
    frame = random_frame(np.random.default_rng(13), 24, 8, 24)
    solved = Layers.solved_for(frame, tuple(range(24, 32))).solved
    digest = key_stream(frame, solved)
    assert digest.name is None
    assert digest.bits_determined == 8 * frame.n_free
    assert len(digest.parameters["keys"]) == solved.matrix.any(axis=0).sum()
    assert name_check(frame, range(24, 32)) is None
