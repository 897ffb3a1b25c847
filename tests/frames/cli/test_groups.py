"""``frames --by``: an answer for each group, and what the groups share."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from flagstone.frames import fields
from flagstone.frames.captures import Capture
from flagstone.frames.fields import telling_field
from flagstone.frames.study import study
from flagstone.tables import Place
from tests.frames.captures.frames import damaged, device, mixed
from tests.frames.cli.captured import KNOWN, SEED, with_crc, write
from tests.frames.digests import oracle


@pytest.fixture
def log(place):
    """A CAN log of two ids with one CRC, and of one id with another."""
    rng = np.random.default_rng(1)
    lines = []
    for ident, crc in (("123", "CRC-8/SMBUS"), ("229", "CRC-8/SMBUS"), ("3A0", "CRC-8/MAXIM-DOW")):
        for row in with_crc(rng, 300, crc):
            lines.append(f"(1.0) can0 {ident}#{np.packbits(row).tobytes().hex()}\n")
    (place / "log.txt").write_text("".join(np.array(lines)[rng.permutation(900)]))
    return "log.txt"


def test_each_id_has_its_answer(run, log):
    found = json.loads(run("frames", log, "--by", "id", *SEED, "--json").out)
    values = {group["value"]: group for group in found["groups"]}
    assert {value: group["digest"][0]["name"] for value, group in values.items()} == {
        "0x123": "CRC-8/SMBUS",
        "0x229": "CRC-8/SMBUS",
        "0x3A0": "CRC-8/MAXIM-DOW",
    }
    assert found["shared"]["digests"] == []
    assert "x0 = 0" in found["shared"]["lines"]
    alone = json.loads(run("frames", log, "--where", "id=0x229", *SEED, "--json").out)
    assert values["0x229"]["fingerprint"] == alone["fingerprint"]


def test_what_groups_share_is_said_first(run, log):
    done = run("frames", log, "--by", "id", *SEED)
    assert done.code == 0
    head = done.out.split("\n\n")[0].split("\n")
    assert head[0] == "3 groups by id, of 900 frames"
    assert head[1] == "shared      CRC-8/SMBUS: 0x123; 0x229"
    assert head[2] == "            CRC-8/MAXIM-DOW: 0x3A0"
    both = ["--where", "id!=0x3A0"]
    assert "CRC-8/SMBUS: all groups" in run("frames", log, "--by", "id", *both, *SEED).out
    shared = json.loads(run("frames", log, "--by", "id", *both, *SEED, "--json").out)["shared"]
    assert shared["digests"] == ["CRC-8/SMBUS"]


def test_groups_by_file_length_and_bits(run, place):
    rng = np.random.default_rng(2)
    write(place, "a.hex", with_crc(rng, 200))
    write(place, "b.hex", with_crc(rng, 200, n_bytes=5))
    for by, values in (
        ("file", ["a.hex", "b.hex"]),
        ("length", ["48", "56"]),
        ("b0", ["0x2d"]),
    ):
        found = json.loads(run("frames", "a.hex", "b.hex", "--by", by, *SEED, "--json").out)
        assert [group["value"] for group in found["groups"]] == values
    done = run("frames", "a.hex", "--by", "id")
    assert done.code == 1
    assert "there is no column 'id'" in done.err
    assert "300" not in done.err
    many = run("frames", "a.hex", "--by", "b1")
    assert many.code == 2
    assert "64 at most" in many.err


@pytest.mark.parametrize("words", [["-o", "m.json"], ["--report", "m.html"], ["--as", "c"]])
def test_several_answers_are_not_written_to_one_file(run, log, words):
    done = run("frames", log, "--by", "id", *words)
    assert done.code == 2
    assert (
        f"{words[0].replace('-o', '--output')} is for one answer, and --by gives several"
        in done.err
    )


@pytest.fixture
def two_types(place):
    """Two devices in one capture, each message sent three times."""
    rng = np.random.default_rng(5)
    one = device(rng, 300, repeat=3)
    two = device(rng, 201, "CRC-8/SMBUS", 0x8A, repeat=3)
    return write(place, "two.hex", damaged(rng, mixed(rng, one, two, repeat=3)))


def test_types_are_said_and_answered_apart(run, two_types, place):
    done = run("frames", two_types, *SEED, "--report", "r.html")
    [note] = [line for line in done.out.split("\n") if "2 types of frames" in line]
    assert note.endswith("Add --by type")
    assert "2 types of frames" in (place / "r.html").read_text()
    found = json.loads(run("frames", two_types, "--by", "type", *SEED, "--json").out)
    assert {group["digest"][0]["name"] for group in found["groups"]} == {
        "CRC-8/MAXIM-DOW",
        "CRC-8/SMBUS",
    }
    assert sum(group["rows"]["read"] for group in found["groups"]) > 470
    for group in found["groups"]:  # chosen by what the frames say
        assert "told apart by what they say" in group["promises"]["withheld"]


def test_one_type_is_one_group(run, capture):
    done = run("frames", capture, "--by", "type", *SEED)
    assert done.out.startswith("1 group by type, of 600 frames")


def test_frames_without_an_answer_are_one_group(run, place):
    few = np.random.default_rng(6).integers(0, 2, size=(5, 40), dtype=np.uint8)
    done = run("frames", write(place, "few.hex", few), "--by", "type", *SEED)
    assert (done.code, done.err) == (3, "")
    assert done.out.startswith("1 group by type, of 5 frames")


@pytest.mark.parametrize("field", ["b0", "b5"])
def test_a_field_of_several_bits_tells_types_apart(run, place, field):
    """Four message types, told apart by two bits, anywhere: no single bit does."""
    rng = np.random.default_rng(3)
    crcs = ("CRC-8/MAXIM-DOW", "CRC-8/SMBUS", "CRC-8/CDMA2000", "CRC-8/DARC")
    parts = [with_crc(rng, 250, crc, before=(0x40 + i,), n_bytes=5) for i, crc in enumerate(crcs)]
    X = np.concatenate(parts)
    X = np.concatenate([X[:, 8:48], X[:, :8], X[:, 48:]], axis=1) if field == "b5" else X
    write(place, "four.hex", rng.permutation(X))
    done = run("frames", "four.hex", "--seed", "1")
    assert f"! values of {field} have digests of their own: add --by {field}" in done.out
    found = json.loads(run("frames", "four.hex", "--by", field, *SEED, "--json").out)["groups"]
    assert {group["value"]: group["digest"][0]["name"] for group in found} == {
        f"0x{0x40 + i:02x}": crc for i, crc in enumerate(crcs)
    }


@pytest.mark.parametrize("shuffled", [False, True])
def test_ids_that_differ_in_many_bits_and_take_turns(run, place, shuffled):
    rng = np.random.default_rng(4)
    payload = rng.integers(0, 256, (300, 4))
    payload[:, 0] = np.where(np.arange(300) % 2, 0x2E, 0x11)
    checks = np.where(
        np.arange(300) % 2,
        np.bitwise_xor.reduce(payload, axis=1) ^ 0x5C,
        payload.sum(axis=1) & 255,
    )
    X = np.unpackbits(np.column_stack([payload, checks]).astype(np.uint8), axis=1)
    write(place, "two.hex", rng.permutation(X) if shuffled else X)
    said = run("frames", "two.hex", "--seed", "1").out
    assert "--by type" in said or "--by b0" in said
    assert "--case" not in said
    found = json.loads(run("frames", "two.hex", "--by", "type", "--seed", "1", "--json").out)
    digests = {group["digest"][0]["name"] for group in found["groups"]}
    assert digests == {"sum of bytes, 8 bits", "XOR of bytes"}


def test_ids_with_the_same_check_are_one_type(run, place):
    """Whether two bits of the id are equal decides the check: no bit alone does."""
    rng = np.random.default_rng(4)
    crcs = ("CRC-8/MAXIM-DOW", "CRC-8/SMBUS", "CRC-8/SMBUS", "CRC-8/MAXIM-DOW")
    parts = [with_crc(rng, 250, crc, before=(0x40 + i,)) for i, crc in enumerate(crcs)]
    write(place, "two.hex", rng.permutation(np.concatenate(parts)))
    found = json.loads(run("frames", "two.hex", "--by", "type", *SEED, "--json").out)["groups"]
    said = {frozenset(g["value"].split(" or ")): g["digest"][0]["name"] for g in found}
    assert said == {
        frozenset({"b0 = 0x40", "b0 = 0x43"}): "CRC-8/MAXIM-DOW",
        frozenset({"b0 = 0x41", "b0 = 0x42"}): "CRC-8/SMBUS",
    }
    assert [group["rows"]["read"] for group in found] == [500, 500]


def test_a_field_that_changes_the_constant_is_said(run, place):
    rng = np.random.default_rng(5)
    X = with_crc(rng, 600, n_bytes=4)
    X = np.concatenate([X[:, 8:16], X[:, 8:]], axis=1)  # a copy that the check does not cover
    X[:, :8] = np.unpackbits(rng.integers(0, 8, (600, 1), dtype=np.uint8), axis=1)
    table = rng.integers(0, 2, (8, 8), dtype=np.uint8)
    X[:, 40:] ^= table[np.packbits(X[:, :8], axis=1)[:, 0]]
    write(place, "case.hex", X)
    done = run("frames", "case.hex", *SEED)
    assert "! each value of b0 has another constant in its digest: add --case b0" in done.out


def test_a_counter_that_changes_the_constant_is_said(run, place):
    """Sixteen constants, one for each value of a nibble; they are no types."""
    rng = np.random.default_rng(6)
    X = with_crc(rng, 600, before=(), n_bytes=5)
    counter = np.packbits(X[:, 8:16], axis=1)[:, 0] & 15
    X[:, 40:] ^= rng.integers(0, 2, (16, 8), dtype=np.uint8)[counter]
    write(place, "counter.hex", X)
    done = run("frames", "counter.hex", *SEED)
    said = "each value of b1.3..b1.0 has another constant in its digest: add --case b1.3..b1.0"
    assert said in done.out
    assert run("frames", "counter.hex", "--by", "type", *SEED).out.startswith("1 group by type")


def test_ids_with_different_checks_are_said(run, log):
    done = run("frames", log, "--seed", "1", "--where", "id!=0x123")
    assert "! values of id have digests of their own: add --by id" in done.out


def test_frames_that_differ_only_in_their_data_are_not_said_to_be_types(run, place):
    """What --by type puts together again is no reason to advise it."""
    rng = np.random.default_rng(11)
    bits = rng.integers(0, 2, (1200, 40), dtype=np.uint8)
    related = bits[:, 8:24] @ rng.integers(0, 2, (16, 8)) % 2
    bits[:, 24:32] = np.where(bits[:, :1], related, bits[:, 24:32])
    payload = np.packbits(bits, axis=1)
    checks = [oracle.crc(data, KNOWN["CRC-8/SMBUS"]) for data in payload.tolist()]
    name = write(place, "one.hex", oracle.frames(payload, checks, 8))
    assert json.loads(run("frames", name, *SEED, "--json").out)["types"] != []
    assert run("frames", name, "--by", "type", *SEED).out.startswith("1 group by type")
    assert "--by type" not in run("frames", name, *SEED).out


def test_a_log_of_many_ids_says_how_to_look_at_one(run, place):
    """Most ids of a CAN log have no digest, also the most frequent one."""
    rng = np.random.default_rng(12)
    rows = [(0x100, row) for row in rng.integers(0, 2, size=(400, 32), dtype=np.uint8)]
    rows += [(0x229, row) for row in with_crc(rng, 200, n_bytes=2)]
    lines = [f"(1.0) can0 {i:03X}#{np.packbits(row).tobytes().hex()}\n" for i, row in rows]
    (place / "log.txt").write_text("".join(lines))
    assert "! frames of 2 values of id together: add --by id" in run("frames", "log.txt").out
    assert "together" not in run("frames", "log.txt", "--where", "id=0x100").out
    found = json.loads(run("frames", "log.txt", "--by", "id", *SEED, "--json").out)["groups"]
    assert [len(group["digest"]) for group in found] == [0, 1]
    lines = [line.replace("100#", f"{0x100 + i % 70:03X}#") for i, line in enumerate(lines)]
    (place / "many.txt").write_text("".join(lines))
    said = run("frames", "many.txt").out
    assert "! frames of 71 values of id together: add --where id=0x229, or another" in said
    assert run("frames", "many.txt", "--where", "id=0x229").code == 0


def capture_of(rows):
    places = [Place("f", i + 1, i + 1) for i in range(len(rows))]
    return Capture([row.tobytes() for row in rows], places, [{}] * len(rows))


def test_few_fields_are_searched_for_sums(monkeypatch):
    """Each of 16 bytes has six values."""
    rng, parts = np.random.default_rng(5), []
    monkeypatch.setattr(fields, "name_sums", lambda names, part: parts.append(part))
    rows = np.unpackbits(rng.integers(0, 6, (1000, 16), dtype=np.uint8) * np.uint8(37), axis=1)
    assert telling_field(capture_of(rows), lambda part: SimpleNamespace(named=())) is None
    assert 2 <= len(parts) <= 24


def test_random_frames_are_not_studied_value_by_value():
    """A nibble has 16 values, each in about as many frames as these have bits."""
    rng = np.random.default_rng(5)
    capture = capture_of(rng.integers(0, 2, (2000, 128), dtype=np.uint8))
    studied = []

    def study(part):
        studied.append(part)
        return SimpleNamespace(named=())

    assert telling_field(capture, study) is None
    assert studied == []


def test_the_frames_of_each_type_are_studied_once(run, two_types, monkeypatch):
    studied = []

    def counting(rows, *args, **options):
        studied.append(rows.tobytes())
        return study(rows, *args, **options)

    monkeypatch.setattr("flagstone.frames.cli.study", counting)
    monkeypatch.setattr("flagstone.frames.cli.telling_field", lambda capture, study: None)
    assert run("frames", two_types, "--by", "type", *SEED).out.startswith("2 groups by type")
    assert len(studied) == len({*studied}) == 3
