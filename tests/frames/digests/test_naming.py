"""Names in frames as devices send them: several checks, poor payloads, pairs, odd lengths."""

import numpy as np
import pytest

from flagstone import AffineSpan
from flagstone.frames.digests import Frame, analyze, name_frame
from flagstone.frames.digests.catalogue import CATALOGUE
from tests.frames.digests import oracle

KNOWN = {known.name: known for known in CATALOGUE}


def crc(name, data):
    return oracle.crc(data, KNOWN[name])


def xor(data):
    return int(np.bitwise_xor.reduce(data))


def sensor(rng, n, n_bytes=5):
    """Payloads as sensors have them: three devices, a slow temperature, a humidity below 100."""
    P = np.zeros((n, n_bytes), dtype=np.int64)
    P[:, 0] = rng.integers(0, 256, 3)[rng.integers(0, 3, n)]
    P[:, 1] = rng.integers(0, 4, n) << 4 | rng.integers(0, 8, n)
    temperature = (200 + np.cumsum(rng.normal(0, 4, n))).astype(int) % 1024
    P[:, 2], P[:, 3] = temperature & 255, temperature >> 8 << 4 | rng.integers(0, 16, n)
    P[:, 4] = np.clip(rng.normal(55, 15, n), 0, 99)
    P[:, 5:] = rng.integers(0, 256, size=(n, n_bytes - 5))
    return P.astype(np.uint8)


def named(X, contamination=0.01):
    """The analysis of rows, and the names in it, in the order of their columns."""
    equations = AffineSpan(contamination=contamination, random_state=1).fit(X).constraints_
    analysis = analyze(equations, X)
    digests = [digest for digest in analysis.digests if digest.name is not None]
    return analysis, sorted(digests, key=lambda d: analysis.layers.names.index(d.columns[0]))


def frames(build, seed=1, n=600, n_bytes=5):
    """Bits of frames that a function makes of payload bytes, one in a hundred of them damaged."""
    rng = np.random.default_rng(seed)
    rows = np.array([build(data) for data in sensor(rng, n, n_bytes).tolist()], dtype=np.uint8)
    return oracle.damaged(rng, np.unpackbits(rows, axis=1), 0.01)[0]


def nibble_parities(data):
    bits = "".join(str(nibble.bit_count() & 1) for b in data for nibble in (b >> 4, b & 15))
    return list(int(bits, 2).to_bytes(len(bits) // 8, "big"))


def two_checks():
    """Frames with two checks, as functions of the payload, and both names with their columns."""

    def parities_crc(data):
        body = [*data, *nibble_parities(data)]
        return [*body, crc("CRC-8/SMBUS", body)]

    def header(data):
        body = [*data[:3], crc("CRC-8/MAXIM-DOW", data[:3]), *data[3:]]
        return [*body, *crc("CRC-16/XMODEM", body).to_bytes(2, "big")]

    def xor_crc(data):
        body = [*data, xor(data)]
        return [*body, crc("CRC-8/SMBUS", body)]

    def crc_xor(data):
        body = [*data, crc("CRC-8/SMBUS", data)]
        return [*body, xor(body)]

    def xor_sum(data):
        body = [*data, xor(data)]
        return [*body, sum(body) & 255]

    def two_sums(data):
        body = [*data[:3], sum(data[:3]) & 255, *data[3:]]
        return [*body, sum((b >> 4) + (b & 15) for b in body) & 255]

    return [
        (parities_crc, 4, {32: "even parity of each nibble", 40: "CRC-8/SMBUS"}),
        (header, 6, {24: "CRC-8/MAXIM-DOW", 56: "CRC-16/XMODEM"}),
        (xor_crc, 5, {40: "XOR of bytes", 48: "CRC-8/SMBUS"}),
        (crc_xor, 5, {40: "CRC-8/SMBUS", 48: "XOR of bytes"}),
        (xor_sum, 5, {40: "XOR of bytes", 48: "sum of bytes, 8 bits"}),
        (two_sums, 6, {24: "sum of bytes, 8 bits", 56: "sum of nibbles, 8 bits"}),
    ]


@pytest.mark.parametrize(
    ("build", "n_bytes", "expected"), two_checks(), ids=lambda case: getattr(case, "__name__", None)
)
def test_two_checks_in_a_frame_get_both_names(build, n_bytes, expected):
    X = frames(build, n_bytes=n_bytes) if n_bytes > 4 else rich(build)
    analysis, digests = named(X)
    assert {analysis.layers.names.index(d.columns[0]): d.name for d in digests} == expected
    for digest in digests:
        assert digest.rows_verified == len(X)
        assert digest.rows_broken <= 0.03 * len(X)
    if analysis.layers.solved is None:
        return
    linear = {i for d in digests if d.kind != "sum" for i in d.rule.columns}
    assert {i for i in linear if analysis.frame.varies[i]} <= set(analysis.layers.solved.columns)


def rich(build, n_bytes=4):
    """Frames whose payload has more to say."""
    rng = np.random.default_rng(3)
    payload = oracle.skewed(rng, 600, n_bytes)
    rows = np.array([build(data) for data in payload.tolist()], dtype=np.uint8)
    return oracle.damaged(rng, np.unpackbits(rows, axis=1), 0.01)[0]


def test_parities_inside_bytes_and_a_crc_over_them():
    def build(data):
        body = [b & 127 | ((b & 127).bit_count() & 1) << 7 for b in data]
        return [*body, crc("CRC-8/SMBUS", body)]

    _, digests = named(rich(build, 5))
    assert [d.name for d in digests] == ["even parity inside each byte", "CRC-8/SMBUS"]


@pytest.mark.parametrize("place", [0, 2, 5])
def test_check_bits_that_are_constant_or_copies_belong_to_the_check(place):
    """Of a poor payload: the highest bit of the XOR follows a single data bit."""
    X = frames(lambda data: [*data[:place], xor(data), *data[place:]], seed=2)
    analysis, (digest,) = named(X)
    assert digest.name == "XOR of bytes"
    # each byte is the XOR of the others: then the last one is called the check
    assert digest.columns == tuple(f"x{i}" for i in range(40, 48))
    assert analysis.layers.solved is not None


@pytest.mark.parametrize("n_leading", [1, 3])
def test_frames_that_begin_between_bytes(n_leading):
    for build, name in [
        (lambda data: [*data, crc("CRC-8/SMBUS", data)], "CRC-8/SMBUS"),
        (lambda data: [*data, sum(data) & 255], "sum of bytes, 8 bits"),
    ]:
        X = frames(build)
        X = np.hstack([np.ones((len(X), n_leading), dtype=np.uint8), X])
        assert [d.name for d in named(X)[1]] == [name]


@pytest.mark.parametrize("opposite", [0, 1])
def test_a_check_behind_pairs_of_bits(opposite):
    X = frames(lambda data: [*data, crc("CRC-8/SMBUS", data)], n=800)
    pairs = np.stack([X, X ^ opposite], axis=2).reshape(len(X), -1)
    _, (digest,) = named(pairs)
    assert digest.name == "CRC-8/SMBUS"
    assert digest.parameters["bits"] == "the first bit of each pair"
    assert digest.columns == tuple(f"x{i}" for i in range(80, 96, 2))
    assert digest.rows_verified == len(X)


def test_the_complement_of_a_byte_is_no_check():
    rng = np.random.default_rng(5)
    a, c = rng.integers(0, 256, size=(2, 400))
    X = np.unpackbits(np.stack([a, 255 - a, c, 255 - c], axis=1).astype(np.uint8), axis=1)
    analysis, digests = named(X, 0)
    assert digests == []
    assert len(analysis.layers.pairs) == 16


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 5))]
)
def test_no_name_for_payloads_without_a_check(seed):
    rng = np.random.default_rng(seed)
    counter = np.arange(400)
    rows = {
        "sensor": sensor(rng, 400, 6),
        "copies": np.tile(rng.integers(0, 256, size=(400, 2)), 3),
        "counter": np.stack([counter >> 8, counter & 255, counter * 3 + 7 & 255], axis=1),
        "gray": np.stack([counter & 255, counter & 255 ^ (counter & 255) >> 1], axis=1),
        "text": rng.choice(list(b"0123456789ABCDEF.-"), size=(400, 6)),
    }
    for what, data in rows.items():
        X = np.unpackbits(data.astype(np.uint8), axis=1)
        assert named(X, 0)[1] == [], what


def test_columns_that_settle_others():
    X = np.tile(np.random.default_rng(1).integers(0, 2, size=(99, 4)), 2)
    frame = Frame.of(AffineSpan(random_state=1).fit(X).constraints_)
    assert frame.needed([4], [3, 2, 1, 0]) == 4
    assert frame.needed([4, 5], [0, 1, 2, 3]) >= 2
    assert frame.needed([4], [1, 2]) is None
    assert frame.copies([0]) == {4}
    assert name_frame(frame) == []
