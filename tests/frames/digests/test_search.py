"""The search over all levels of the flag: few frames, much damage, several checks, long frames."""

import numpy as np
import pytest

from flagstone import Coins, IndexRule
from flagstone.frames.digests import MOST_COLUMNS
from flagstone.frames.digests.catalogue import CATALOGUE
from flagstone.frames.digests.crc import joined
from flagstone.frames.digests.search import flag_levels, search, usual_frame
from flagstone.frames.study import study
from flagstone.frames.text import digest_lines
from flagstone.tables import Place
from tests.frames.digests import oracle

KNOWN = {known.name: known for known in CATALOGUE}


def bits(*columns):
    return np.unpackbits(np.column_stack(columns).astype(np.uint8), axis=1)


def names(X):
    return [f"x{i}" for i in range(X.shape[1])]


def payload(seed, n, n_bytes):
    return np.random.default_rng(seed).integers(0, 256, (n, n_bytes))


def crc8(data, poly=0x31, init=0, xorout=0):
    known = KNOWN["CRC-8/SMBUS"]._replace(poly=poly, init=init, xorout=xorout)
    return np.array([oracle.crc(row, known) for row in data.tolist()])


@pytest.mark.parametrize("poly", [0x31, 0x07, 0x1D, 0x2F, 0x9B])
@pytest.mark.parametrize("n", [18, 400])
def test_a_crc_that_a_sum_follows_is_found_in_its_byte(poly, n):
    data = payload(poly, n, 6)
    data[:, 0] = 0x42
    body = np.column_stack([data, crc8(data, poly)])
    crc, total = search(names(X := bits(body, body.sum(axis=1) & 255)), X)
    assert crc.kind == "crc"
    assert int(crc.parameters["poly"], 16) == poly
    assert (crc.columns[0], total.columns[0]) == ("x48", "x56")
    assert (total.name, crc.rows_broken, total.rows_broken) == ("sum of bytes, 8 bits", 0, 0)


@pytest.mark.parametrize("name", ["CRC-16/MODBUS", "CRC-16/KERMIT", "CRC-8/MAXIM-DOW"])
@pytest.mark.parametrize("little", [True, False])
@pytest.mark.parametrize("n_bytes", [5, 6])
def test_a_reflected_crc_that_covers_an_xor_is_found_in_its_byte(name, little, n_bytes):
    """All data are multiples of x⁸ + 1, which shares a factor with these polynomials."""
    data, width = payload(n_bytes, 300, n_bytes), KNOWN[name].width
    body = np.column_stack([data, np.bitwise_xor.reduce(data, axis=1)])
    checks = np.array([oracle.crc(row, KNOWN[name]) for row in body.tolist()])
    X = oracle.frames(body, checks, width, little=little)
    crc, xor = search(names(X), X)
    assert (crc.name, crc.columns[0]) == (name, f"x{8 * n_bytes + 8}")
    assert (xor.name, xor.columns[0]) == ("XOR of bytes", f"x{8 * n_bytes}")


@pytest.mark.parametrize("fill", [0, 1])
def test_zeros_that_fill_the_last_byte_are_part_of_a_crc(fill):
    """Rubicson: 28 bits and four zeros enter the CRC, which stands in the place of the zeros."""
    data = payload(4, 300, 4)
    data[:, 3] &= 0xF0
    checks = crc8(np.insert(data, 4, 1, axis=1) if fill else data, 0x31, 0x6C)
    X = bits(data, checks)[:, [*range(28), *range(32, 40)]]
    (digest,) = search(names(X), X)
    assert digest.rows_broken == 0
    if fill:  # more than zeros is not in the frame
        assert digest.kind == "lfsr"
        return
    assert digest.name == "CRC-8 with polynomial 0x31 and 4 bits that are not in the frame"
    assert digest.formula == (
        "polynomial 0x31, init 0x6c with xorout 0, or init 0 with xorout 0x82, over x0..x27, "
        "then 4 bits 0, in the place of those not in the frame"
    )


@pytest.mark.parametrize("n", [100, 280, 530, 4096])
def test_random_frames_usually_show_nothing_however_few(n):
    X = bits(payload(3, n, 32))
    frame = usual_frame(names(X), X)
    assert frame is None or frame.n_free > min(n, 256) - 8


@pytest.mark.parametrize("contamination", [0.0, 0.01, 0.05])
@pytest.mark.parametrize("share", [0, 0.1])
def test_contamination_does_not_decide_whether_a_digest_is_found(contamination, share):
    data = payload(1, 600, 6)
    X = bits(data, crc8(data))
    X, hit = oracle.damaged(np.random.default_rng(2), X, share)
    places = [Place("f", i + 1, i + 1) for i in range(len(X))]
    (digest,) = study(X, places, IndexRule(contamination=contamination), Coins(1)).digests
    assert (digest.kind, digest.parameters["poly"], digest.columns[0]) == ("crc", "0x31", "x48")
    assert hit.sum() - 5 <= digest.rows_broken <= hit.sum()
    assert digest.level >= 1
    assert digest.to_dict()["level"] == digest.level


@pytest.mark.parametrize("kind", ["crc", "xor"])
def test_a_tenth_of_random_frames_hides_no_digest(kind):
    """Damage in every direction: no level of the flag is free of it, but a few rows are."""
    data = payload(4, 300, 10)
    X = bits(data, crc8(data) if kind == "crc" else np.bitwise_xor.reduce(data, axis=1))
    X[::10] = np.random.default_rng(5).integers(0, 2, (30, 88))
    (digest,) = search(names(X), X)
    assert (digest.kind, digest.columns[0], digest.level) == (kind, "x80", None)
    assert 28 <= digest.rows_broken <= 30


def test_levels_of_the_flag_the_most_distinct_one_first():
    data = payload(3, 500, 4)
    X = bits(data, np.bitwise_xor.reduce(data, axis=1))
    X[:3] ^= np.eye(40, dtype=np.uint8)[[1, 9, 30]]
    (level, frame), *others = flag_levels(names(X), X)
    assert (level, frame.n_free) == (2, 32)
    assert (1, 34) in [(level, frame.n_free) for level, frame in others] or others


@pytest.mark.parametrize("n", [9, 12])
def test_a_few_frames_show_crcs_and_sums(n):
    data = payload(4, n, 7)
    (digest,) = search(names(X := bits(data, crc8(data, init=0x12))), X)
    assert (digest.kind, digest.parameters["init_if_xorout_is_0"]) == ("crc", "0x12")
    wide = np.array([oracle.crc(row, KNOWN["CRC-16/XMODEM"]) for row in data.tolist()])
    (digest,) = search(names(X := bits(data, wide >> 8, wide & 255)), X)
    assert digest.name == "CRC-16/XMODEM"
    (digest,) = search(names(X := bits(data, data.sum(axis=1) + 9 & 255)), X)
    assert (digest.kind, digest.parameters["constant"]) == ("sum", "0x09")


@pytest.mark.parametrize("width", range(1, 13))
@pytest.mark.parametrize("n", [5, 12, 60])
def test_frames_narrower_than_any_check(width, n):
    X = np.random.default_rng(width).integers(0, 2, (n, width), dtype=np.uint8)
    assert [digest.kind for digest in search(names(X), X)] in ([], ["linear"], ["parity"])


def swapped(values):
    return values >> 4 | (values & 15) << 4


@pytest.mark.parametrize("in_data", [False, True])
@pytest.mark.parametrize("in_check", [False, True])
def test_crcs_with_swapped_nibbles(in_data, in_check):
    data = payload(5, 200, 5)
    check = crc8(swapped(data) if in_data else data, init=0x12)
    (digest,) = search(names(X := bits(data, swapped(check) if in_check else check)), X)
    assert (digest.kind, digest.parameters["poly"]) == ("crc", "0x31")
    assert digest.parameters["nibbles_swapped"] is in_check
    assert (digest.parameters["order"] == "low nibble of each byte first") is in_data
    assert digest.rows_broken == 0


def test_a_reflected_crc_with_swapped_nibbles():
    known = KNOWN["CRC-8/MAXIM-DOW"]
    data = payload(5, 200, 5)
    check = np.array([oracle.crc(row, known) for row in data.tolist()])
    (digest,) = search(names(X := bits(data, swapped(check))), X)
    assert (digest.kind, digest.parameters["nibbles_swapped"]) == ("crc", True)
    assert digest.name == "CRC-8/MAXIM-DOW"
    assert digest.formula.endswith("reflected, nibbles of the check swapped, over x0..x39")


def alternating(data, mask):
    even = np.bitwise_xor.reduce(data[:, ::2], axis=1)
    total = np.bitwise_xor.reduce(data, axis=1)
    for j in range(7):
        if mask >> j & 1:
            total ^= even << (j + 1) & 255
    return total


def mixing(data, shift):
    r = np.zeros(len(data), dtype=int)
    for column in data.T:
        r ^= column
        r ^= ((r ^ (r << shift if shift > 0 else r >> -shift)) & 15) << 4
    return r


@pytest.mark.parametrize("n_bytes", [6, 7])
def test_xor_shift_bytes(n_bytes):
    data = payload(6, 200, n_bytes)
    (digest,) = search(names(X := bits(data, alternating(data, 0x18) ^ 0x5A)), X)
    assert digest.name == "xor_shift_bytes, shifts 0x18 of every second byte"
    assert digest.formula.endswith(f"over x0..x{8 * n_bytes - 1}, then ⊕ 0x5a")
    (digest,) = search(names(X := bits(data, mixing(data, -3))), X)
    assert (digest.name, digest.rows_broken) == ("xor_shift_bytes, the nibble shifted by -3", 0)


@pytest.mark.parametrize("unit", [2, 3, 4, 6])
def test_sums_of_small_units(unit):
    X = np.random.default_rng(unit).integers(0, 2, (300, 12 * unit), dtype=np.uint8)
    weights = 1 << np.arange(unit)[::-1]
    added = X.reshape(300, -1, unit) @ weights
    check = (added.sum(axis=1) + 1) % (1 << unit)
    X = np.hstack([X, (check[:, np.newaxis] >> np.arange(unit)[::-1] & 1).astype(np.uint8)])
    (digest,) = search(names(X), X)
    assert (digest.kind, digest.parameters["unit"], digest.parameters["width"]) == (
        "sum",
        unit,
        unit,
    )
    assert (int(digest.parameters["constant"], 16), digest.rows_broken) == (1, 0)


def test_sums_modulo_100():
    data = payload(7, 300, 5)
    (digest,) = search(names(X := bits(data, data.sum(axis=1) % 100)), X)
    assert digest.name == "sum of bytes, 8 bits, modulo 100"
    assert (digest.parameters["modulus"], digest.rows_broken) == (100, 0)


def test_sums_modulo_100_in_damaged_frames():
    data = payload(7, 300, 5)
    check = data.sum(axis=1) % 100
    check[::30] = 0xE7  # no remainder
    (digest,) = search(names(X := bits(data, check)), X)
    assert digest.name == "sum of bytes, 8 bits, modulo 100"
    assert (digest.parameters["modulus"], digest.rows_broken) == (100, 10)


@pytest.mark.parametrize(("n_bytes", "n_constant"), [(62, 0), (126, 110)])
def test_long_frames(n_bytes, n_constant):
    data = payload(8, 900, n_bytes)
    data[:, 1 : 1 + n_constant] = 7
    X = bits(data, crc8(data))
    places = [Place("f", i + 1, i + 1) for i in range(len(X))]
    (digest,) = study(X, places, IndexRule(), Coins(1)).digests
    assert (digest.kind, digest.columns[0]) == ("crc", f"x{8 * n_bytes}")


@pytest.mark.parametrize(
    ("seed", "flipped"),
    [(46, [7, 2, 19, 16, 29]), (47, [24, 15, 26, 3, 18]), (49, [1, 13, 15, 8, 27])],
)
def test_bits_that_vary_in_one_damaged_frame_are_no_check(seed, flipped):
    """Keys in a slow counter's high byte would explain the damaged frame, too."""
    counter = 0x6BAD + 7 * np.arange(100)
    data = np.column_stack([counter >> 8, counter & 255, payload(seed, 100, 2)])
    check = np.bitwise_xor.reduce(swapped(data) ^ data, axis=1) & 15 ^ 3
    X = bits(data, check << 4)[:, :36]
    X[53, flipped] ^= 1
    (digest,) = search(names(X), X)
    assert (digest.name, digest.columns[0]) == ("XOR of nibbles", "x32")
    assert digest.rows_broken == 1


def test_the_wide_digest_is_named_not_the_narrow_one_that_follows_from_it():
    """The XOR of all nibbles follows from the XOR of all bytes, and ends the frame."""
    rng = np.random.default_rng(9)
    data = rng.integers(0, 256, (972, 9))
    data[:, 0], data[:, 1] = 7, np.arange(972) & 255
    X = bits(np.bitwise_xor.reduce(data, axis=1) ^ 0x30, data)
    (digest,) = search(names(X), X)
    assert digest.name == "XOR of bytes"
    assert digest.rows_broken == 0


def test_a_field_and_a_difference_are_no_check():
    rng = np.random.default_rng(10)
    a, b, c = rng.integers(0, 256, (3, 500))
    for field in (255 - a, a - b & 255, a ^ a >> 1, a % 100 // 10 << 4 | a % 10, a):
        X = bits(a, b, field, c, rng.integers(0, 256, 500))
        assert search(names(X), X) == []


def test_a_constant_that_depends_on_a_field():
    """As automotive checksums have it: the low nibble of byte 1 chooses a constant."""
    rng = np.random.default_rng(11)
    data = payload(11, 800, 7)
    data[:, 1] = data[:, 1] & 0xF0 | np.arange(800) % 16
    table = rng.integers(0, 256, 16)
    count, cases = data[:, 1] & 15, [12, 13, 14, 15]
    X, hit = oracle.damaged(rng, bits(data, crc8(data, 0x1D) ^ table[count]), 0.02)
    (digest,) = search(names(X), X, cases=cases)
    assert (digest.kind, digest.parameters["poly"], digest.columns[0]) == ("crc", "0x1d", "x56")
    assert digest.parameters["case"]["bits"] == ["x12", "x13", "x14", "x15"]
    assert digest.rows_broken <= hit.sum()
    fresh = payload(12, 100, 7)
    check = crc8(fresh, 0x1D) ^ table[fresh[:, 1] & 15]
    assert not digest.rule.broken(bits(fresh, check)).any()
    assert digest.rule.broken(bits(fresh, check ^ 1)).all()
    again = type(digest).from_dict(digest.to_dict(), names(X))
    assert not again.rule.broken(bits(fresh, check)).any()
    added = (data.sum(axis=1) + table[count]) % 256
    (digest,) = search(names(X := bits(data, added)), X, cases=cases)
    assert (digest.kind, digest.rows_broken) == ("sum", 0)
    assert [int(v, 16) for v in digest.parameters["case"]["table"].values()] == table.tolist()
    assert search(names(X), X) == []


def test_the_formula_of_a_check_with_cases_says_how_the_check_is_ordered():
    data, known = payload(13, 600, 5), KNOWN["CRC-16/MODBUS"]
    table = np.array([0, 0x1234, 0x00FF, 0x8001])
    checks = [oracle.crc(row, known) ^ table[row[0] & 3] for row in data.tolist()]
    X = oracle.frames(data, checks, 16, little=True)
    (digest,) = search(names(X), X, cases=[6, 7])
    said = "polynomial 0x8005, init 0, xorout 0, reflected, bytes lowest first, over x0..x39; "
    assert digest.formula.startswith(said)


@pytest.mark.parametrize("name", ["CRC-16/XMODEM", "CRC-16/MODBUS", "CRC-8/AUTOSAR", None])
def test_frames_of_several_lengths_tell_init_from_xorout(name):
    known = KNOWN[name] if name else KNOWN["CRC-8/SMBUS"]._replace(init=0x3C, xorout=0xA7)
    w, little = known.width, known.refin and known.width > 8

    def frames(n, n_bytes):
        data = payload(n_bytes, n, n_bytes)
        return oracle.frames(data, [oracle.crc(d, known) for d in data.tolist()], w, little=little)

    X, others = frames(300, 6), {8 * n + w: frames(n, n) for n in (4, 7)}
    (digest,) = search(names(X), X)
    told = joined(digest, names(X), X, others)
    assert told.parameters["init"] == f"0x{known.init:0{w // 4}x}"
    assert told.parameters["xorout"] == f"0x{known.xorout:0{w // 4}x}"
    assert told.parameters["lengths"] == [32 + w, 48 + w, 56 + w]
    assert told.name == (name or "CRC-8 with polynomial 0x07")
    assert f"init {told.parameters['init']}, xorout {told.parameters['xorout']}" in told.formula
    others[64 + w] = np.random.default_rng(1).integers(0, 2, (40, 64 + w), dtype=np.uint8)
    assert joined(digest, names(X), X, others).parameters == told.parameters  # noise says nothing
    assert joined(digest, names(X), X, {}) is digest


def test_a_check_stays_where_it_is_if_random_bits_follow():
    data = payload(2, 270, 6)
    X = bits(data, crc8(data), payload(3, 270, 1))[:, :57]
    (digest,) = search(names(X), X)
    assert digest.columns == tuple(f"x{i}" for i in range(48, 56))


@pytest.mark.parametrize(
    ("name", "n", "n_bytes"), [("CRC-16/XMODEM", 400, 254), ("CRC-32/ISO-HDLC", 2400, 200)]
)
def test_a_long_frame_has_its_digest_at_an_end(name, n, n_bytes):
    rng = np.random.default_rng(1)
    known = KNOWN[name]
    data = rng.integers(0, 256, size=(n, n_bytes), dtype=np.uint8)
    X = oracle.frames(data, [oracle.crc(row, known) for row in data.tolist()], known.width)
    X, hit = oracle.damaged(rng, X)
    analysis = study(X, [Place("f", i, i) for i in range(n)], IndexRule(), Coins(1)).analysis
    (digest,) = analysis.digests
    assert analysis.frame.is_long
    assert digest.name == name
    assert digest.rows_broken == hit.sum()
    assert digest.parameters["catalogued"][0]["data"] == oracle.columns(0, 8 * n_bytes - 1)


def test_frames_in_which_too_many_bits_vary_are_not_searched():
    X = np.random.default_rng(1).integers(0, 2, size=(30, MOST_COLUMNS + 8), dtype=np.uint8)
    found = study(X, [Place("f", i, i) for i in range(30)], IndexRule(), Coins(1))
    assert found.analysis is None
    assert digest_lines(found) == [
        (
            "digest",
            "not looked for: more than 4,096 bits vary; cut the frames to their first bits: "
            "--truncate --length 4096",
        )
    ]
