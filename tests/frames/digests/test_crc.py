"""Every catalogued CRC is named, through the whole pipeline; nothing else is."""

import numpy as np
import pytest

from flagstone import AffineSpan, Subspace
from flagstone.answers import Constraints
from flagstone.frames.digests import Frame, Layers, name_check, name_frame
from flagstone.frames.digests.catalogue import CATALOGUE, Known
from tests.frames.digests import oracle


def learned(X, contamination=0.02):
    """The frame that the pipeline finds behind rows."""
    return Frame.of(AffineSpan(contamination=contamination, random_state=1).fit(X).constraints_)


def carried(known, seed, n=500, n_bytes=None, **layout):
    """Frames with this CRC, skewed and damaged, and which are damaged."""
    rng = np.random.default_rng(seed)
    payload = oracle.skewed(rng, n, n_bytes or (5 if known.width > 30 else 3))
    checks = [oracle.crc(data, known) for data in payload.tolist()]
    X = oracle.frames(payload, checks, known.width, rng=rng, **layout)
    return oracle.damaged(rng, X)


@pytest.mark.parametrize("known", CATALOGUE, ids=lambda known: known.name)
def test_check_values(known):
    assert oracle.crc(b"123456789", known) == known.check


def test_there_are_enough_of_them():
    assert len({known.name for known in CATALOGUE}) == len(CATALOGUE) >= 60


@pytest.mark.parametrize("known", CATALOGUE, ids=lambda known: known.name)
def test_every_catalogued_crc_is_named(known):
    little = known.refout and known.width in (16, 24, 32)
    X, hit = carried(known, known.check, little=little)
    (digest,) = name_frame(learned(X))
    assert digest.rule.columns == tuple(range(X.shape[1] - known.width, X.shape[1]))
    assert known.name in digest.name.split(" or ")
    entry = next(e for e in digest.parameters["catalogued"] if e["name"] == known.name)
    assert (int(entry["init"], 16), int(entry["xorout"], 16)) == (known.init, known.xorout)
    assert int(digest.parameters["poly"], 16) == known.poly
    measured = digest.measured(X)
    assert measured.rows_verified == len(X)
    wrong = [oracle.crc(np.packbits(row[: -known.width]).tolist(), known) for row in X]
    words = [int("".join(map(str, row[-known.width :])), 2) for row in X]
    if little:
        size = known.width // 8
        words = [int.from_bytes(word.to_bytes(size, "big"), "little") for word in words]
    assert measured.rows_broken == sum(a != b for a, b in zip(wrong, words, strict=True))
    assert measured.rows_broken <= hit.sum()


def named(name):
    return next(known for known in CATALOGUE if known.name == name)


@pytest.mark.parametrize("little", [False, True])
@pytest.mark.parametrize("name", ["CRC-16/XMODEM", "CRC-16/MODBUS"])
def test_the_order_of_bytes_is_told(name, little):
    X, _ = carried(named(name), 3, little=little)
    (digest,) = name_frame(learned(X))
    assert (digest.name, digest.parameters["byte_order"]) == (name, "little" if little else "big")


def test_constants_before_the_data_and_bits_after_the_check():
    known = named("CRC-8/MAXIM-DOW")
    X, _ = carried(known, 5, before=(0xAA, 0x2D), after=7)
    (digest,) = name_frame(learned(X))
    assert digest.rule.columns == tuple(range(40, 48))
    assert (digest.name, digest.parameters["catalogued"][0]["data"]) == (
        known.name,
        oracle.columns(16, 39),
    )


def test_data_after_the_check():
    known = named("CRC-8/SMBUS")
    X, _ = carried(known, 6)
    frame = learned(np.roll(X, 8, axis=1))
    digest = name_check(frame, range(8))
    assert digest.name == known.name
    assert digest.parameters["data"] == oracle.columns(8, 31)


@pytest.mark.parametrize("end", [(0x7F,), (0, 0, 0x7F)])
def test_constants_at_the_end_of_the_data_after_the_check(end):
    """As automotive checksums have it: the check comes first, and the last bytes are not used."""
    known, rng = named("CRC-8/SAE-J1850"), np.random.default_rng(8)
    payload = oracle.skewed(rng, 400, 3 + len(end))
    payload[:, 3:] = end
    checks = [oracle.crc(data, known) for data in payload.tolist()]
    X = np.roll(oracle.frames(payload, checks, 8), 8, axis=1)
    (digest,) = name_frame(learned(X))
    assert (digest.rule.columns, digest.name) == (tuple(range(8)), known.name)
    assert digest.parameters["catalogued"][0]["data"] == oracle.columns(8, X.shape[1] - 1)


def test_a_digest_before_constants_is_no_crc_unless_its_key_is_one():
    rng = np.random.default_rng(9)
    payload = oracle.skewed(rng, 400, 5)
    payload[:, 4] = 0x7F
    checks = [oracle.lfsr(data, 8, 0x98, 0x3E) for data in payload.tolist()]
    X = np.roll(oracle.frames(payload, checks, 8), 8, axis=1)
    (digest,) = name_frame(learned(X))
    assert (digest.rule.columns, digest.kind) == (tuple(range(8)), "lfsr")


def test_frames_that_are_repeated_in_the_row():
    known = named("CRC-8/SMBUS")
    X = carried(known, 7, n=800, n_bytes=2)[0]
    frame = learned(np.hstack([X, X, X]), contamination=0.03)
    (digest,) = name_frame(frame)
    assert (digest.rule.columns, digest.name) == (tuple(range(16, 24)), known.name)
    assert digest.measured(np.hstack([X, X, X])).rows_verified == 800
    layers = Layers.solved_for(frame, digest.rule.columns)
    assert len(layers.pairs) == 48  # the copies
    assert not layers.solved.matrix[:, 16:].any()  # explain no check bit


def test_a_check_in_the_middle_that_counts_as_zeros():
    known = named("CRC-16/XMODEM")
    rng = np.random.default_rng(12)
    payload = oracle.skewed(rng, 500, 6)
    payload[:, 2:4] = 0
    checks = [oracle.crc(data, known) for data in payload.tolist()]
    payload[:, 2:4] = [divmod(check, 256) for check in checks]
    frame = learned(np.unpackbits(payload, axis=1), contamination=0)
    (digest,) = name_frame(frame)
    assert (digest.rule.columns, digest.name) == (tuple(range(16, 32)), known.name)
    assert digest.parameters["check_counts_as_zeros"]


def test_an_uncatalogued_crc_says_what_the_frames_say():
    known = Known("", 12, 0x5A7, 0x123, False, False, 0x456, 0)
    X, _ = carried(known, 8)
    (digest,) = name_frame(learned(X))
    assert digest.name == "CRC-12 with polynomial 0x5a7"
    assert "catalogued" not in digest.parameters
    init = int(digest.parameters["init_if_xorout_is_0"], 16)
    xorout = int(digest.parameters["xorout_if_init_is_0"], 16)
    for parameters in ({"init": init, "xorout": 0}, {"init": 0, "xorout": xorout}):
        other = known._replace(**parameters)
        assert oracle.crc(b"abc", other) == oracle.crc(b"abc", known)


def test_a_name_that_needs_the_other_order_of_bits_is_said():
    X, _ = carried(named("CRC-8/MAXIM-DOW"), 5, before=(0x2D,))
    X = X.reshape(len(X), -1, 8)[:, :, ::-1].reshape(X.shape)
    (digest,) = name_frame(learned(X))
    assert digest.name == "CRC-8 with polynomial 0x31"
    assert digest.parameters["if_lowest_bit_is_first"] == ["CRC-8/MAXIM-DOW"]
    assert "CRC-8/MAXIM-DOW, if the lowest bit of each byte comes first" in digest.formula
    assert digest.parameters["data"] == oracle.columns(
        8, 31
    )  # where neither init nor xorout is needed


def test_a_reflected_uncatalogued_crc_too():
    known = Known("", 16, 0x5A77, 0x1234, True, True, 0x0F00, 0)
    X, _ = carried(known, 9, little=True)
    (digest,) = name_frame(learned(X))
    assert digest.name == "CRC-16 with polynomial 0x5a77"
    xorout = int(digest.parameters["xorout_if_init_is_0"], 16)
    assert oracle.crc(b"abc", known._replace(init=0, xorout=xorout)) == oracle.crc(b"abc", known)


def test_payloads_that_obey_equations_of_their_own():
    known = named("CRC-8/SMBUS")
    rng = np.random.default_rng(11)
    bits = np.unpackbits(oracle.skewed(rng, 500, 4), axis=1)
    bits[:, 3] = bits[:, 5]  # copied
    bits[:, 11] = bits[:, 10] ^ bits[:, 20] ^ 1  # a habit
    bits[:, 16:18] = [1, 0]  # constant
    payload = np.packbits(bits, axis=1)
    checks = [oracle.crc(data, known) for data in payload.tolist()]
    X, _ = oracle.damaged(rng, oracle.frames(payload, checks, 8))
    (digest,) = name_frame(learned(X))
    assert digest.name == known.name
    assert digest.bits_determined == 8 * 28


def random_frame(rng, n_data, width, n_free):
    """Frames that obey a random affine map of data of which this many bits are free."""
    basis = rng.integers(0, 2, size=(n_free, n_data))
    M, shift = rng.integers(0, 2, size=(n_data, width)), rng.integers(0, 2, n_data + width)
    words = np.concatenate([basis, basis @ M % 2], axis=1)
    A = Subspace.span(words).annihilator().basis
    return Frame.of(Constraints(A, A.astype(int) @ shift % 2))


@pytest.mark.parametrize("n_maps", [200, pytest.param(1000, marks=pytest.mark.slow)])
def test_no_name_for_random_maps(n_maps):
    rng = np.random.default_rng(2026)
    for i in range(n_maps):
        width = (4, 8, 16, 3)[i % 4]
        frame = random_frame(rng, 24, width, 24)
        assert name_check(frame, range(24, 24 + width)) is None
        if i % 20 == 0:
            assert name_frame(frame) == []


@pytest.mark.parametrize("n_free", [1, 2, 3])
@pytest.mark.parametrize("width", [8, 16, 32])
def test_no_name_where_the_data_are_poor(width, n_free):
    rng = np.random.default_rng(n_free)
    for _ in range(5):
        frame = random_frame(rng, 24, width, n_free)
        columns = [i for i in range(24, 24 + width) if frame.varies[i]]
        if columns and frame.solvable(columns):
            assert name_check(frame, columns) is None
        assert name_frame(frame) == []


def test_no_name_for_bits_that_nothing_settles():
    assert name_check(Frame.of(Constraints([[1] * 12], [0])), range(4, 12)) is None


def test_a_real_crc_on_poor_data_is_not_named_either():
    known = named("CRC-8/SMBUS")
    rng = np.random.default_rng(4)
    payload = np.zeros((200, 4), dtype=np.uint8)
    payload[:, 1] = rng.integers(0, 4, 200)
    X = oracle.frames(payload, [oracle.crc(data, known) for data in payload.tolist()], 8)
    assert name_frame(learned(X)) == []
