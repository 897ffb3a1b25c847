"""``flagstone frames``: the first screen, its JSON, and saved findings."""

import json
from dataclasses import replace

import numpy as np
import pytest

from flagstone.cli.json_keys import GROUP_KEYS
from flagstone.cli.verbs import VERBS
from flagstone.store import load, save
from tests.frames.cli.captured import SEED, with_crc, write
from tests.frames.digests.test_complements import remote


def labelled(text):
    """Return the lines of a screen by their labels."""
    found, label = {}, ""
    for line in text.split("\n"):
        label = line[:12].strip() or label
        found.setdefault(label, []).append(line[12:])
    return found


def test_the_first_screen_has_pattern_digest_damage_and_decoder(run, capture):
    done = run("frames", capture, *SEED)
    assert done.code == 0
    assert done.out.startswith("600 frames of 48 bits (6 bytes) in crc.hex, read as hex\n")
    said = labelled(done.out)
    ruler, pattern = said["byte"][0], said["pattern"][0]
    assert pattern.startswith("00101101 ????????")
    assert [pattern[ruler.index(str(i)) - 1] for i in range(1, 6)] == [" "] * 5
    assert "CRC-8/MAXIM-DOW" in said["digest"][0]
    assert "594 of 600" in said["evidence"][0]
    assert said["damaged"][0] == "6 frames"
    for i, line in enumerate(said["damaged"][1:6], 1):
        assert line.startswith(f"crc.hex line {i}: 2d ")
        assert line.endswith("]   byte 5 bit 2 flipped?")
    assert said["decoder"][0].startswith(f"flagstone frames crc.hex {' '.join(SEED)} --as c")


def test_the_first_screen_has_at_most_thirty_lines_and_no_sampling_statistics(run, place, capture):
    wide = with_crc(np.random.default_rng(3), 300, "CRC-16/XMODEM", (1, 2, 3), 24)
    noise = np.random.default_rng(4).integers(0, 2, size=(200, 320), dtype=np.uint8)
    noise[:, 160:] = noise[:, :160]
    huge = np.random.default_rng(5).integers(0, 2, size=(100, 4800), dtype=np.uint8)
    captures = {"wide.hex": wide, "noise.hex": noise, "huge.hex": huge}
    names = [capture, *(write(place, name, X) for name, X in captures.items())]
    for name in names:
        lines = run("frames", name, "--seed", "1").out.splitlines()
        assert len(lines) <= 30
        for word in ("plateau", "promise", "coverage", "threshold", "directions", "confidence"):
            assert word not in " ".join(lines)


def test_a_digest_is_shown_without_warnings_about_the_equations(run, place):
    X = with_crc(np.random.default_rng(6), 200)
    done = run("frames", write(place, "f.hex", X), "--contamination", "0.1", "--seed", "1")
    assert labelled(done.out)["digest"] == ["CRC-8/MAXIM-DOW, in byte 5"]
    assert done.err == ""


def test_few_rows_show_no_equations(run, place):
    few = np.random.default_rng(6).integers(0, 2, size=(30, 40), dtype=np.uint8)
    assert "equations" not in labelled(run("frames", write(place, "few.hex", few)).out)


@pytest.mark.parametrize(("n", "few"), [(3, True), (30, False)])
def test_few_frames_are_said_where_no_digest_is_found(run, place, n, few):
    X = np.random.default_rng(6).integers(0, 2, size=(n, 40), dtype=np.uint8)
    X = np.concatenate([X, X])  # repeated frames count once
    said = run("frames", write(place, "few.hex", X), *SEED).out
    assert ("3 different frames may be too few to show one: capture at least 12" in said) == few
    assert ("too few" in said) == few


def test_long_damaged_frames_are_cut_to_what_is_wrong(run, place):
    X = with_crc(np.random.default_rng(7), 200, before=(0x2D,) * 90)
    X[3, [8 * 92, 8 * 93]] ^= 1  # no single bit repairs it
    X[4, 8 * 60] ^= 1
    X[4, 8 * 92] ^= 1
    done = run("frames", write(place, "long.hex", X), *SEED)
    lines = [line.split(": ")[1] for line in done.out.split("\n") if line[12:].startswith("long")]
    assert lines == ["2d 2d 2d 2d …", "2d 2d 2d 2d … 2d [ad] 2d …"]


def test_common_names_of_a_crc_are_said(run, place):
    X = with_crc(np.random.default_rng(8), 200, "CRC-16/IBM-3740")
    said = labelled(run("frames", write(place, "f.hex", X), *SEED).out)
    assert said["digest"] == ["CRC-16/IBM-3740 (CRC-16/CCITT-FALSE), in bytes 5..6"]


def test_promises_are_said_where_they_are_asked_for(run, capture):
    said = labelled(run("frames", capture, *SEED, "--promises").out)
    assert {"promises", "threshold", "directions"} <= said.keys()


def test_without_a_digest_the_equations_are_listed(run, place):
    X = np.random.default_rng(5).integers(0, 2, size=(400, 16), dtype=np.uint8)
    X[:, 3] = X[:, 9]
    done = run("frames", write(place, "pair.hex", X), "--seed", "1")
    assert done.code == 0
    said = labelled(done.out)
    assert said["digest"][0].startswith("none found; tried CRC")
    assert said["equations"] == ["b0.4 ⊕ b1.6 = 0"]
    assert "decoder" not in said


def test_exit_code_is_3_only_without_digest_and_equations(run, place):
    few = np.random.default_rng(6).integers(0, 2, size=(30, 40), dtype=np.uint8)
    assert run("frames", write(place, "few.hex", few), "--seed", "1").code == 3


def test_json(run, capture):
    found = json.loads(run("frames", capture, *SEED, "--json").out)
    documented = [keys for keys in VERBS["frames"].json_keys if keys not in GROUP_KEYS]
    assert list(found) == [key for keys in documented for key in keys.split(", ")]
    assert found["capture"] == {
        "format": "hex", "frames": 600, "lengths": [[48, 600]], "notes": []
    }  # fmt: skip
    assert found["pattern"] == "00101101" + "?" * 40
    assert found["digest"][0]["name"] == "CRC-8/MAXIM-DOW"
    assert found["damaged"]["frames"] == 6
    assert [frame["line"] for frame in found["damaged"]["first"]] == [1, 2, 3, 4, 5, 6]
    assert [frame["marks"] for frame in found["damaged"]["first"]] == [[45]] * 6


def test_the_equations_are_those_of_constraints(run, capture):
    frames = json.loads(run("frames", capture, *SEED, "--json", "-o", "m.json").out)
    plain = json.loads(run("constraints", capture, *SEED, "--json", "-o", "c.json").out)
    assert frames["fingerprint"] == plain["fingerprint"]
    assert frames["promises"] == plain["promises"]
    assert frames["rows"] == plain["rows"]
    assert run("compare", "m.json", "c.json").code == 0


def test_a_saved_finding_remembers_its_digest(run, capture, sums, place):
    for file, name in ((capture, "CRC-8/MAXIM-DOW"), (sums, "sum")):
        run("frames", file, *SEED, "-o", "m.json", "--force")
        shown = run("frames", "m.json", "--report", "m.html", "--force")
        assert shown.code == 0
        kept = load("m.json").provenance["digest"]
        assert name in kept[0]["name"]
        assert kept[0]["name"] in labelled(shown.out)["digest"][0]
        assert kept[0]["name"] in (place / "m.html").read_text()
        found = json.loads(run("frames", "m.json", "--json").out)
        assert (found["capture"], found["damaged"], found["types"]) == (None, None, None)
        assert found["digest"][0]["name"] == kept[0]["name"]


@pytest.mark.parametrize(
    "change",
    [
        {"name": 3},
        {"columns": ["nowhere"]},
        {"more": 1},
        {"rule": {"kind": "riddle"}},
        {"rule": {"kind": "linear", "columns": [], "masks": [], "constant": []}},
        {
            "rule": {
                "kind": "linear",
                "columns": [47],
                "masks": ["0xfffffffffffff"],
                "constant": [0],
            }
        },
        {"rule": {"kind": "sum", "check": [40, 10**15], "data": [0, 40]}},
    ],
)
def test_a_digest_that_no_frames_can_have_shown_is_refused(run, capture, change):
    run("frames", capture, *SEED, "-o", "m.json")
    found = load("m.json")
    digest = {**found.provenance["digest"][0], **change}
    save("m.json", replace(found, provenance={"digest": [digest]}), overwrite=True)
    shown = run("frames", "m.json")
    assert (shown.code, shown.out) == (1, "")
    assert "holds a digest" in shown.err


def test_a_finding_holds_no_frames(run, capture):
    run("frames", capture, *SEED, "-o", "m.json")
    for words in (["--by", "id"], ["--decode", "invert"], ["-o", "n.json"]):
        done = run("frames", "m.json", *words)
        assert done.code == 2
        assert "m.json is a finding" in done.err
    assert "a finding holds none" in run("frames", "m.json", "--as", "bitbench").err


def test_two_findings_are_for_compare(run, capture):
    for name in ("a.json", "b.json"):
        run("frames", capture, *SEED, "-o", name)
    for files in (("a.json", "b.json"), (capture, "a.json")):
        done = run("frames", *files)
        assert done.code == 2
        assert "a.json is a finding: frames shows one at a time, and compare holds two" in done.err


def test_chosen_check_bits(run, capture):
    for words in (["x40..x47"], ["b5"]):
        found = json.loads(run("frames", capture, *SEED, "--solve", *words, "--json").out)
        assert found["digest"][0]["name"] == "CRC-8/MAXIM-DOW"
    done = run("frames", capture, *SEED, "--solve", "x99")
    assert done.code == 2
    assert "names 'x99', which is no bit of these frames" in done.err


def test_a_protocol_fixes_seed_window_and_frames(run, place):
    rng = np.random.default_rng(8)
    write(place, "pilot.hex", with_crc(rng, 600))
    write(place, "fresh.hex", with_crc(rng, 700))
    words = ["--seed", "7", "--max-rows", "600", "-o", "protocol.json"]
    assert run("plan", "--pilot", "pilot.hex", *words).code == 0
    found = json.loads(run("frames", "fresh.hex", "--protocol", "protocol.json", "--json").out)
    plain = json.loads(run("constraints", "fresh.hex", "--protocol", "protocol.json", "--json").out)
    assert found["fingerprint"] == plain["fingerprint"]
    assert (found["seed"], found["rows"]["read"]) == ("7", 600)
    assert run("frames", "fresh.hex", "--protocol", "protocol.json", "--seed", "8").code == 2


def test_bytes_and_their_complements_are_named_saved_and_compared(run, place):
    X = remote(np.random.default_rng(1), 300)
    done = run("frames", write(place, "remote.hex", X), *SEED, "-o", "remote.json")
    assert done.code == 0
    assert "digest      complement of byte 0, byte 2, in byte 1, byte 3\n" in done.out
    assert "  formula   byte 1 = byte 0 inverted, byte 3 = byte 2 inverted\n" in done.out
    shown = run("frames", "remote.json", "--as", "rtl_433").out
    assert shown == run("frames", "remote.hex", *SEED, "--as", "rtl_433").out
    assert "if ((b[0] ^ b[1]) != 0xff || (b[2] ^ b[3]) != 0xff) {" in shown
    X[:, 8:16] ^= 1
    run("frames", write(place, "other.hex", X), *SEED, "-o", "other.json")
    compared = run("compare", "remote.json", "other.json")
    assert compared.code == 4
    assert (
        "different digests: complement of x0..x7, x16..x23; complement of x16..x23" in compared.out
    )
