"""Bytes: canonical, checked to the last bit, and never trusted."""

import hashlib
import json
import pickle
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagstone.algebra.flag import Flag
from flagstone.errors import FormatError
from tests.bridge import chain_of, flag_of
from tests.strategies import ORDERS, WIDTHS, sample_pairs, samples


def resealed(data, *, version=None, **header):
    """Return the bytes with another version or header and a checksum that fits."""
    magic = len(b"flagstone\n")
    size = int.from_bytes(data[magic + 4 : magic + 8], "little")
    start = magic + 8
    fields = json.loads(data[start : start + size]) | header
    text = json.dumps(fields, sort_keys=True, separators=(",", ":")).encode()
    number = data[magic : magic + 4] if version is None else version.to_bytes(4, "little")
    content = (
        data[:magic] + number + len(text).to_bytes(4, "little") + text + data[start + size : -32]
    )
    return content + hashlib.sha256(content).digest()


@pytest.mark.parametrize("order", ORDERS)
@given(data=st.data())
def test_round_trip(order, data):
    sample = data.draw(samples(order))
    flag = flag_of(sample)
    again = Flag.from_bytes(flag.to_bytes())
    assert again == flag
    assert again.to_bytes() == flag.to_bytes()
    assert chain_of(sample.space, again) == sample.chain
    assert (again.n_rows, again.n_shards) == (flag.n_rows, flag.n_shards)
    assert pickle.loads(pickle.dumps(flag)) == flag


@pytest.mark.parametrize("dim", WIDTHS)
@given(data=st.data())
def test_round_trip_at_every_width(dim, data):
    flag = flag_of(data.draw(samples(2, dim=dim)))
    assert Flag.from_bytes(flag.to_bytes()) == flag


@pytest.mark.parametrize("order", ORDERS)
@given(data=st.data())
def test_a_flag_read_back_goes_on_as_if_never_written(order, data):
    one, two = data.draw(sample_pairs(order))
    read = Flag.from_bytes(flag_of(one).to_bytes())
    assert read.update(two.X) == flag_of(one).update(two.X)
    merged = flag_of(one).merge(flag_of(two))
    again = Flag.from_bytes(merged.to_bytes())
    assert again == merged
    assert again.update(two.X) == merged.update(two.X)


SMALL = [
    Flag(3).update([[1, 0, 1], [1, 1, 1], [1, 0, 1]]),
    Flag(2, 5).update([[1, 4], [2, 3]]),
    Flag(2, "QQ").update([["1/2", 3]]),
    Flag(70).update(np.eye(70, dtype=int)[:2]),
]


@pytest.mark.parametrize("summary", SMALL, ids=repr)
def test_every_single_byte_corruption_is_detected(summary):
    """Every byte, each of its 255 wrong values."""
    good = summary.to_bytes()
    for at in range(len(good)):
        bad = bytearray(good)
        for wrong in range(256):
            if wrong != good[at]:
                bad[at] = wrong
                with pytest.raises(FormatError):
                    type(summary).from_bytes(bytes(bad))


@pytest.mark.parametrize("summary", SMALL, ids=repr)
def test_every_truncation_and_extension_is_detected(summary):
    good = summary.to_bytes()
    for end in range(len(good)):
        with pytest.raises(FormatError):
            type(summary).from_bytes(good[:end])
    for more in (b"\0", b"\n", good):
        with pytest.raises(FormatError):
            type(summary).from_bytes(good + more)


def test_foreign_bytes_are_refused():
    for data in (b"", b"flagstone\n", b"\x80\x04N.", b"PAR1" * 40, np.zeros(100).tobytes()):
        with pytest.raises(FormatError, match="do not start like one"):
            Flag.from_bytes(data)


@pytest.mark.parametrize("summary", SMALL, ids=repr)
def test_newer_versions_are_refused_with_a_reason(summary):
    with pytest.raises(FormatError, match="newer"):
        type(summary).from_bytes(resealed(summary.to_bytes(), version=2))


@pytest.mark.parametrize(
    "header",
    [
        {"dim": 70}, {"dim": 0}, {"dim": -3}, {"dim": "x"}, {"dim": None}, {"dim": 10**12},
        {"rank": 1}, {"rank": 3}, {"rank": -1}, {"rank": 10**9},
        {"field": "GF(3)"}, {"field": "GF(6)"}, {"field": "QQ"}, {"field": 7.5},
        {"n_rows": 1}, {"n_rows": -1}, {"n_rows": "many"},
        {"n_shards": 0}, {"n_shards": "two"}, {"n_rows": 2**70}, {"n_rows": 3.5}, {"extra": 1},
    ],
    ids=str,
)  # fmt: skip
def test_headers_that_lie_are_refused(header):
    """Even under a checksum that fits: a forged header must not crash, hang or pass."""
    with pytest.raises(FormatError):
        Flag.from_bytes(resealed(SMALL[0].to_bytes(), **header))


def forged(data, *integers, size=8):
    """Return the bytes with other integers in place of the last ones, and a checksum that fits."""
    body = b"".join(number.to_bytes(size, "little", signed=True) for number in integers)
    content = data[: -32 - len(body)] + body
    return content + hashlib.sha256(content).digest()


@pytest.mark.parametrize(
    ("numbers", "reason"),
    [
        ((1, 2, 5, 2), "falling positive"),
        ((2, 0, 5, 2), "falling positive"),
        ((2, -1, 5, 2), "falling positive"),
        ((3, 1, 5, 2), "more rows than it saw"),
        ((2, 1, 5, 5), "independent vectors"),
        ((2, 1, 5, 7), "not the canonical one"),
        ((2, 1, 5, 8), "3"),  # a bit outside of the three columns
    ],
)
def test_counts_and_rows_that_contradict_are_refused_with_a_reason(numbers, reason):
    good = Flag(3).update([[1, 0, 1], [1, 1, 1], [1, 0, 1]]).to_bytes()
    assert forged(good, 2, 1, 5, 2) == good
    with pytest.raises(FormatError, match=f"these bytes are no valid flag: .*{reason}"):
        Flag.from_bytes(forged(good, *numbers))


def test_headers_at_their_limits_are_read():
    """As many rows as the largest integer, all but two of them zero; two shards."""
    data = resealed(SMALL[0].to_bytes(), n_rows=2**63 - 1, n_shards=2)
    assert (Flag.from_bytes(data).n_rows, Flag.from_bytes(data).n_shards) == (2**63 - 1, 2)
    with pytest.raises(FormatError, match="n_rows must be an integer in"):
        Flag.from_bytes(resealed(data, n_rows=2**63))
    with pytest.raises(FormatError, match="n_shards must be an integer in"):
        Flag.from_bytes(resealed(data, n_shards=0))


def test_headers_that_are_no_description_are_refused():
    content = b"flagstone\n\x01\0\0\0"
    for header, reason in (
        (b"[1, 2]", "hold no flag"),
        (b'{"kind": "histogram"}', "hold no flag"),
        (b"{}", "hold no flag"),
        (b"{nonsense", "no readable header"),
        (b"\xff\xfe", "no readable header"),
    ):
        body = content + len(header).to_bytes(4, "little") + header
        with pytest.raises(FormatError, match=reason):
            Flag.from_bytes(body + hashlib.sha256(body).digest())


def test_any_kind_of_bytes_is_read():
    flag = SMALL[0]
    data = flag.to_bytes()
    for same in (bytearray(data), memoryview(data)):
        assert Flag.from_bytes(same) == flag


JUNK = [
    None, True, 0, -1, 1, 2, 64, 65, 128, 2**20, 10**11, 2**63 - 1, 2**64, 0.5, float("nan"),
    float("inf"), "", "2", "QQ", "GF(2)", "GF(5)", "GF(999999999999^999)", [], {}, [1], "\ud800",
]  # fmt: skip
SPLICES = [b"\0" * 8, b"1", b" ", b"\n", b"/0", b"e999999999", b"9" * 5000, b"-", b"\xff", b"["]


def twisted(data, rng):
    """Return bytes with a changed header or body under a checksum that fits."""
    start = len(b"flagstone\n") + 8
    size = int.from_bytes(data[start - 4 : start], "little")
    head, body = data[start : start + size], bytearray(data[start + size : -32])
    version, length = data[start - 8 : start - 4], None
    how = rng.randrange(4)
    if how == 0:
        header = json.loads(head)
        for _ in range(rng.choice([1, 2])):
            header[rng.choice([*header, "extra"])] = rng.choice(JUNK)
        head = json.dumps(header, sort_keys=True, separators=(",", ":")).encode()
    elif how == 1:
        at = rng.randrange(size)
        junk = rng.choice([*SPLICES, b"", b"[" * 100_000, b"9" * 10_000])
        head = head[:at] + junk + head[at + rng.choice([0, 1]) :]
    elif how == 2:
        length, version = rng.choice([0, 1, size + 1, 2**32 - 1]), rng.choice([version, bytes(4)])
    for _ in range(rng.choice([1, 2]) if how == 3 else 0):
        at = rng.randrange(len(body) + 1)
        junk = rng.choice([*SPLICES, b"", bytes([rng.randrange(256)])])
        body[at : at + rng.choice([0, 1, 8])] = junk
    length = len(head) if length is None else length
    content = data[: start - 8] + version + length.to_bytes(4, "little") + head + bytes(body)
    return content + hashlib.sha256(content).digest()


@pytest.mark.parametrize("summary", [*SMALL, Flag(3), Flag(2, "QQ"), Flag(2, 5)], ids=repr)
def test_forged_bytes_are_a_summary_or_a_format_error(summary):
    """Whatever stands under the checksum: read it as it is, or say that it is none."""
    rng = random.Random(repr(summary))
    good, refused = summary.to_bytes(), 0
    for _ in range(150):
        data = twisted(good, rng)
        try:
            assert type(summary).from_bytes(data).to_bytes() == data
        except FormatError:
            refused += 1
    assert refused > 100


def test_bases_that_are_not_canonical_are_refused():
    """Equal flags are equal bytes, so other bytes of the same flag are no flag."""
    good = Flag(3, 3).update([[1, 0, 1], [0, 1, 1]]).to_bytes()
    body = bytearray(good[:-32])
    assert bytes(body[-6:]) == bytes([1, 0, 1, 0, 1, 1])
    for rows in (
        [1, 1, 2, 0, 1, 1],
        [2, 0, 2, 0, 1, 1],
        [0, 1, 1, 1, 0, 1],
        [1, 0, 1, 1, 0, 1],
        [1, 0, 7, 0, 1, 1],
    ):
        content = bytes(body[:-6]) + bytes(rows)
        with pytest.raises(FormatError):
            Flag.from_bytes(content + hashlib.sha256(content).digest())


def test_bytes_are_frozen():
    """Format 1 for ever: a change of layout needs a new version number."""
    flag = Flag(3).update([[1, 0, 1], [1, 1, 1], [1, 0, 1]])
    header = b'{"dim":3,"field":"GF(2)","kind":"flag","n_rows":3,"n_shards":1,"rank":2}'
    content = (
        b"flagstone\n\x01\0\0\0" + len(header).to_bytes(4, "little") + header
        + b"\x02" + bytes(7) + b"\x01" + bytes(7)  # counts 2, 1
        + b"\x05" + bytes(7) + b"\x02" + bytes(7)  # rows 101, 010
    )  # fmt: skip
    assert flag.to_bytes() == content + hashlib.sha256(content).digest()
