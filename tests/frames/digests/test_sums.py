"""Sums are named on the rows, where equations show only their lowest bit."""

import numpy as np
import pytest

from flagstone import AffineSpan
from flagstone.answers import Constraints
from flagstone.frames.digests import SAMPLE, Frame, analyze, name_frame, name_sums
from tests.frames.digests import oracle


def carried(function, width, seed, n=800, n_bytes=5, **layout):
    """Frames with a check, skewed and damaged; what is found in them; which are damaged."""
    rng = np.random.default_rng(seed)
    payload = oracle.skewed(rng, n, n_bytes)
    checks = [function(data) for data in payload.tolist()]
    X, hit = oracle.damaged(rng, oracle.frames(payload, checks, width, rng=rng, **layout), 0.01)
    span = AffineSpan(contamination=0.01, random_state=1).fit(X)
    return X, Frame.of(span.constraints_), hit


def around(value, modulus):
    """End-around carry, literally."""
    while value > modulus:
        value = (value & modulus) + (value >> modulus.bit_length())
    return value


NIBBLES = lambda data: sum((b >> 4) + (b & 15) for b in data)  # noqa: E731


@pytest.mark.parametrize(
    ("function", "name", "constant"),
    [
        (lambda d: sum(d) & 255, "sum of bytes, 8 bits", 0),
        (lambda d: sum(d) + 0x5A & 255, "sum of bytes, 8 bits", 0x5A),
        (lambda d: -sum(d) & 255, "minus the sum of bytes, 8 bits", 0),
        (lambda d: ~sum(d) & 255, "minus the sum of bytes, 8 bits", 0xFF),
        (lambda d: NIBBLES(d) & 255, "sum of nibbles, 8 bits", 0),
        (lambda d: around(sum(d), 255), "sum of bytes, 8 bits, with end-around carry", 0),
        (
            lambda d: 255 - around(sum(d), 255),
            "minus the sum of bytes, 8 bits, with end-around carry",
            0,
        ),
    ],
)
def test_sums_of_eight_bits(function, name, constant):
    X, frame, hit = carried(function, 8, constant + 1)
    assert len(frame.own) - frame.n_free <= 1  # at most the lowest bit is linear
    (digest,) = name_sums(frame.names, X[:200])
    digest = digest.measured(X)
    assert digest.name == name
    assert int(digest.parameters["constant"], 16) == constant
    assert digest.formula.startswith("additive, not linear")
    assert digest.rows_verified == len(X)
    assert digest.rows_broken <= hit.sum()
    assert digest.columns == tuple(f"x{i}" for i in range(40, 48))


def test_the_complement_of_a_sum_with_carries_is_never_all_ones():
    rng = np.random.default_rng(7)
    payload = oracle.skewed(rng, 40, 5)
    X = oracle.frames(payload, [255 - around(sum(data), 255) for data in payload.tolist()], 8)
    assert (X[:, 40:].any(axis=1) & ~X[:, 40:].all(axis=1)).all()  # neither 0 nor 255 was seen
    (digest,) = name_sums([f"x{i}" for i in range(48)], X)
    bytes_that_add_up = [0xFF, 0, 0, 0, 0, 0], [0xFF, 0, 0, 0, 0, 0xFF]
    fresh = np.unpackbits(np.array(bytes_that_add_up, dtype=np.uint8), axis=1)
    assert digest.rule.broken(fresh).tolist() == [False, True]


@pytest.mark.parametrize("n_nibbles", [14, 15])
def test_sums_of_nibbles_with_the_low_nibble_first(n_nibbles):
    """As Oregon Scientific sends them, at a byte or between two."""
    rng = np.random.default_rng(n_nibbles)
    data = rng.integers(0, 16, size=(300, n_nibbles))
    total = data.sum(axis=1) + 0x11 & 255
    rest = rng.integers(0, 16, size=(300, n_nibbles % 2))
    body = np.hstack([data, np.column_stack([total & 15, total >> 4]), rest])
    X = np.unpackbits((body[:, ::2] << 4 | body[:, 1::2]).astype(np.uint8), axis=1)
    (digest,) = name_sums([f"x{i}" for i in range(X.shape[1])], X)
    assert digest.name == "sum of nibbles, 8 bits, low nibble first"
    assert digest.rule.check == (4 * n_nibbles, 4 * n_nibbles + 8)
    assert digest.rule.data == (0, 4 * n_nibbles)
    assert (digest.parameters["constant"], digest.parameters["nibbles_swapped"]) == ("0x11", True)
    assert digest.formula.endswith("modulo 256, lowest nibble first")
    assert not digest.rule.broken(X).any()


def test_sums_of_four_bits():
    X, frame, _ = carried(lambda d: NIBBLES(d) & 15, 4, 3)
    (digest,) = name_sums(frame.names, X)
    assert (digest.name, digest.parameters["data"]) == (
        "sum of nibbles, 4 bits",
        oracle.columns(0, 39),
    )


@pytest.mark.parametrize("little", [False, True])
def test_sums_of_sixteen_bits(little):
    X, frame, _ = carried(lambda d: sum(d) + 0x1234, 16, 4, little=little)
    (digest,) = name_sums(frame.names, X)
    assert digest.name == "sum of bytes, 16 bits"
    assert digest.parameters["byte_order"] == ("little" if little else "big")
    assert digest.parameters["constant"] == "0x1234"

    def words(d):
        return around(sum((a << 8) + b for a, b in zip(d[::2], d[1::2], strict=True)), 65535)

    X, frame, _ = carried(lambda d: 65535 - words(d), 16, 5, n_bytes=6)
    (digest,) = name_sums(frame.names, X)
    assert digest.name == "minus the sum of 16-bit words, 16 bits, with end-around carry"
    assert digest.parameters["constant"] == "0x0000"


@pytest.mark.parametrize("seed", range(4))
def test_a_constant_byte_before_a_sum_is_no_part_of_it(seed):
    """Where small readings make few carries, 16 bits fit most rows: those without one."""
    rng = np.random.default_rng(seed)
    reading = 210 + np.cumsum(rng.integers(-3, 4, 400)) // 4
    columns = [np.full(400, 0x7B), rng.integers(0, 3, 400) << 4, reading & 255]
    data = np.stack([*columns, rng.integers(50, 60, 400), np.full(400, 0x5A)], axis=1)
    sums = (data.sum(axis=1, keepdims=True) + 0x31) % 256
    X = np.unpackbits(np.hstack([data, sums]).astype(np.uint8), axis=1)
    (digest,) = name_sums([f"x{i}" for i in range(48)], X)
    assert digest.name == "sum of bytes, 8 bits"
    assert digest.measured(X).rows_broken == 0


def test_sums_with_the_lowest_bit_first():
    def turned(value, width):
        return int(f"{value:0{width}b}"[::-1], 2)

    X, frame, _ = carried(lambda d: turned(sum(turned(b, 8) for b in d) & 255, 8), 8, 9)
    (digest,) = name_sums(frame.names, X)
    assert digest.parameters["order"] == "lowest bit first"
    assert (digest.name, digest.parameters["data"]) == (
        "sum of bytes, 8 bits",
        oracle.columns(0, 39),
    )

    def nibbles(data):
        return turned(sum(turned(n, 4) for b in data for n in (b >> 4, b & 15)) & 15, 4)

    X, frame, _ = carried(nibbles, 4, 10)
    (digest,) = name_sums(frame.names, X)
    assert (digest.name, digest.parameters["order"]) == (
        "sum of nibbles, 4 bits",
        "lowest bit first",
    )


def test_a_constant_that_is_added_without_carries():
    X, frame, hit = carried(lambda d: NIBBLES(d) & 15 ^ 0xA, 4, 11)
    (digest,) = name_sums(frame.names, X)
    assert (digest.parameters["constant"], digest.parameters["xorout"]) == ("0x0", "0xa")
    assert digest.measured(X).rows_broken <= hit.sum()


@pytest.mark.parametrize("first", [False, True])
def test_sums_that_skip_what_stands_beside_the_check(first):
    X, frame, _ = carried(lambda d: sum(d[2:] if first else d[:3]) & 255, 8, 12)
    X = np.roll(X, 8, axis=1) if first else X
    (digest,) = name_sums(frame.names, X)
    assert digest.parameters["data"] == (oracle.columns(24, 47) if first else oracle.columns(0, 23))


def test_two_sums_and_columns_that_are_taken():
    def both(data):
        return (sum(data[:3]) & 255) << 8 | NIBBLES(data) & 255

    X, frame, _ = carried(both, 16, 13)
    names = {d.columns[0]: d.name for d in name_sums(frame.names, X)}
    assert names == {"x40": "sum of bytes, 8 bits", "x48": "sum of nibbles, 8 bits"}
    X[:, 48:56] = 0  # columns that are taken
    (digest,) = name_sums(frame.names, X)
    assert digest.columns[0] == "x40"


def test_what_is_not_covered_and_what_is_constant():
    X, frame, _ = carried(lambda d: sum(d[1:]) & 255, 8, 6, after=8)
    (digest,) = name_sums(frame.names, X)
    assert digest.parameters["data"] == oracle.columns(8, 39)


def test_an_analysis_lists_no_name_that_most_rows_break():
    X, _, _ = carried(lambda d: sum(d) & 255, 8, 8)
    nothing = Constraints(np.zeros((0, 48)), np.zeros(0))
    assert [digest.kind for digest in analyze(nothing, X).digests] == ["sum"]
    # the same sum in the rows that are searched, and then nothing but noise
    many = np.tile(X, (6, 1))[:SAMPLE]
    noise = np.random.default_rng(1).integers(0, 2, size=(SAMPLE, 48), dtype=np.uint8)
    assert [digest.kind for digest in analyze(nothing, many).digests] == ["sum"]
    assert analyze(nothing, np.concatenate([many, noise])).digests == []


def test_crcs_and_random_bits_are_no_sums():
    rng = np.random.default_rng(7)
    names = [f"x{i}" for i in range(40)]
    for _ in range(8):
        X = rng.integers(0, 2, size=(60, 40), dtype=np.uint8)
        X[:, 32:] = X[:, :32] @ rng.integers(0, 2, size=(32, 8)) % 2
        assert name_sums(names, X) == []


@pytest.mark.parametrize("n_bits", [0, 1, 2, 3])
def test_poor_data_fit_many_sums_and_get_none(n_bits):
    rng = np.random.default_rng(n_bits)
    payload = np.full((200, 5), 0x31, dtype=np.uint8)
    payload[:, 2] = rng.integers(0, 1 << n_bits, 200)
    X = oracle.frames(payload, [sum(d) & 255 for d in payload.tolist()], 8)
    frame = Frame.of(AffineSpan(random_state=1).fit(X).constraints_)
    assert name_sums(frame.names, X) == []
    assert name_frame(frame) == []
