"""Several captures, and several types in one: ``compare``, ``--each``, ``--split-types``."""

import json

import numpy as np
import pytest

from flagstone import compare, load
from flagstone.frames.captures import Capture
from tests.frames.captures.frames import KNOWN, damaged, device, mixed
from tests.frames.digests import oracle

SEED = ["--contamination", "0.01", "--seed", "1"]


def write(place, name, X):
    lines = [f"{{{X.shape[1]}}}{np.packbits(row).tobytes().hex()}" for row in X]
    (place / name).write_text("\n".join(lines) + "\n")
    return name


def with_a_quiet_bit(rng, n):
    """Frames of the same device whose bit x36, the battery, never changes."""
    payload = oracle.skewed(rng, n, 3)
    payload[:, 2] &= 0xF7
    payload = np.hstack([np.full((n, 1), 0x51, dtype=np.uint8), payload])
    sums = [oracle.crc(data, KNOWN["CRC-8/MAXIM-DOW"]) for data in payload.tolist()]
    return oracle.frames(payload, sums, 8, before=(0x2D,))


@pytest.fixture
def captures(place):
    """Two captures of one device; in the second its battery bit is constant."""
    rng = np.random.default_rng(1)
    a = write(place, "a.hex", damaged(rng, device(rng, 500), how="one"))
    return a, write(place, "b.hex", damaged(rng, with_a_quiet_bit(rng, 500), how="one"))


@pytest.fixture
def two_types(place):
    """Two devices in one capture, each message sent three times."""
    rng = np.random.default_rng(5)
    one = device(rng, 900, repeat=3)
    two = device(rng, 600, "CRC-8/SMBUS", 0x8A, repeat=3)
    return write(place, "two.hex", damaged(rng, mixed(rng, one, two, repeat=3)))


def test_compare_shows_what_captures_share(run, captures):
    for name in captures:
        assert run("frames", name, *SEED, "-o", f"{name}.json").code == 0
    done = run("compare", "a.hex.json", "b.hex.json")
    assert done.code == 4
    print_of_a = load("a.hex.json").fingerprint[:16]
    assert f"shared: 24 equations (all that a.hex.json says), fingerprint {print_of_a}" in done.out
    assert "  … and 4 more\n" in done.out
    assert "only in b.hex.json:\n  x36 = 0\n" in done.out
    assert "only in a.hex.json" not in done.out
    found = json.loads(run("compare", "b.hex.json", "a.hex.json", "--json").out)
    assert found["only_in_first"] == ["x36 = 0"]
    assert found["only_in_second"] == []
    assert found["shared"]["fingerprint"] == load("a.hex.json").fingerprint
    parts = compare(load("b.hex.json"), load("a.hex.json"))
    assert {key: found[key] for key in parts} == json.loads(json.dumps(parts))


def test_each_answers_for_every_file(run, captures):
    done = run("frames", *captures, "--each", *SEED)
    assert done.code == 0
    blocks = done.out.split("\n\n")
    assert blocks[0].startswith("24 check equations hold in all 2 captures:\n  pattern     0010")
    assert "  digest      CRC-8/MAXIM-DOW\n" in blocks[0]
    assert "of 1,000 rows do not fit it" in blocks[0]
    assert blocks[1].endswith("(of what they share)")
    assert blocks[2].startswith("a.hex: 24 check equations hold; at most")
    assert "beyond" not in blocks[2]
    assert blocks[3].startswith("b.hex: 25 check equations hold; at most")
    assert blocks[3].endswith("beyond what they share:\n    x36 = 0")
    assert blocks[4] == "seed          1\n"


def test_each_in_json_is_what_single_runs_say(run, captures):
    found = json.loads(run("frames", *captures, "--each", *SEED, "--json").out)
    assert (found["schema"], found["seed"], found["seed_is_fresh"]) == (3, "1", False)
    for capture in found["captures"]:
        alone = json.loads(run("frames", capture["name"], *SEED, "--json").out)
        mine = capture["finding"]
        assert mine["fingerprint"] == alone["fingerprint"]
        for key in ("answer", "promises", "rows", "threshold", "pattern", "digest", "relations"):
            assert mine[key] == alone[key]
    assert [capture["beyond"] for capture in found["captures"]] == [[], ["x36 = 0"]]
    common = found["common"]
    assert common["fingerprint"] == found["captures"][0]["finding"]["fingerprint"]
    assert common["digest"][0]["name"] == "CRC-8/MAXIM-DOW"
    assert common["digest"][0]["rows_verified"] == 1000
    assert (common["captures"], common["rho"], common["confidence"]) == (2, None, None)


def test_promises_of_captures_add_up(run, place):
    rng = np.random.default_rng(2)
    for name in ("a.hex", "b.hex"):
        write(place, name, device(rng, 4000, skewed=False))
    words = ["--t-min", "5", "--t-max", "80", "--seed", "3"]
    found = json.loads(run("frames", "a.hex", "b.hex", "--each", *words, "--json").out)
    rhos = [capture["finding"]["promises"]["certified"]["rho"] for capture in found["captures"]]
    assert found["common"]["rho"] == pytest.approx(sum(rhos))
    assert found["common"]["confidence"] == pytest.approx(0.98)
    said = run("frames", "a.hex", "b.hex", "--each", *words).out
    assert "two such sets of captures share something else with probability at most" in said


def bits(place, name, X):
    (place / name).write_text("".join("".join(map(str, row)) + "\n" for row in X.tolist()))


def test_promises_add_up_over_captures_that_keep_nothing_this_time(run, place):
    """The third capture keeps nothing at t > 1000, and would at other thresholds."""
    rng = np.random.default_rng(3)
    for name in "ab":
        bits(place, name, np.ones((2000, 2), dtype=int))
    bits(place, "c", rng.integers(0, 2, size=(2000, 2)))
    words = ["-f", "bits", "--each", "--t-min", "1", "--t-max", "2000", "--seed", "5", "--json"]
    found = json.loads(run("frames", "a", "b", "c", *words, "--no-measure").out)
    assert [capture["finding"]["nothing_kept"] for capture in found["captures"]] == [0, 0, 1]
    rhos = [capture["finding"]["promises"]["proven"]["rho"] for capture in found["captures"]]
    assert found["common"]["captures"] == 2
    assert found["common"]["rho"] == pytest.approx(sum(rhos))
    assert found["common"]["confidence"] == 1


def test_no_set_of_captures_promises_more_than_sets_of_captures_keep(run, place):
    """The third capture keeps something in some sets of captures, and nothing in others."""
    words = ["-f", "bits", "--each", "--t-min", "5", "--t-max", "80", "--seed", "3", "--json"]
    shared, promised = [], []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        for name, rows in (("a", 4000), ("b", 4000), ("c", 481)):
            X = rng.integers(0, 2, size=(rows, 12))
            X[:, 11] = X[:, 0] ^ X[:, 1]
            if name == "c":
                X[:, 0], X[:, 3] = 0, X[:, 4]
            bits(place, name, X)
        common = json.loads(run("frames", "a", "b", "c", *words).out)["common"]
        shared.append(common["fingerprint"])
        promised.append(1 if common["rho"] is None else common["rho"])
    assert len(set(shared)) == 2
    assert min(promised) > 0.3


def test_a_capture_without_any_direction_counts_as_one_that_keeps_none(run, place):
    """Whether zeros are all a capture shows is not settled by V*, of which the promise is."""
    bits(place, "a", np.tile([1, 1, 0], (100, 1)))
    bits(place, "b", np.zeros((100, 3), dtype=int))
    bits(place, "c", np.repeat([[0, 0, 0], [0, 1, 1]], [99, 1], axis=0))
    words = ["-f", "bits", "--linear", "--each", "--t-min", "2", "--t-max", "9", "--seed", "3"]
    for names in ("aab", "aac"):
        found = json.loads(run("frames", *names, *words, "--json").out)
        assert found["common"]["captures"] == 2
        assert found["captures"][2]["beyond"] is None


def test_a_fresh_seed_serves_all_captures(run, captures):
    found = json.loads(run("frames", *captures, "--each", "--json").out)
    assert found["seed_is_fresh"]
    assert {capture["finding"]["seed"] for capture in found["captures"]} == {found["seed"]}
    assert "(drawn afresh: publish it" in run("frames", *captures, "--each").out


def test_a_capture_that_keeps_nothing_is_left_out(run, captures, place):
    rng = np.random.default_rng(4)
    write(place, "few.hex", device(rng, 30))
    words = ["--t-min", "8", "--t-max", "8", "--seed", "1"]
    done = run("frames", *captures, "few.hex", "--each", *words)
    assert done.code == 3
    assert "hold in 2 of 3 captures" in done.out
    assert "not counted: it keeps nothing to compare" in done.out
    alone = run("frames", "few.hex", "few.hex", "--each", *words)
    assert alone.out.startswith("Nothing to compare: fewer than two captures keep anything")
    found = json.loads(run("frames", "few.hex", "few.hex", "--each", *words, "--json").out)
    assert found["common"] is None


def test_each_over_another_field(run, place):
    (place / "a.csv").write_text("a,b,c\n" + "1,2,0\n2,4,1\n3,6,1\n" * 30)
    (place / "b.csv").write_text("a,b,c\n" + "1,2,3\n2,4,3\n4,1,3\n" * 30)
    done = run("frames", "a.csv", "b.csv", "--each", "--field", "7", "--seed", "1")
    assert done.code == 0
    assert done.out.startswith("1 check equation holds in all 2 captures:\n  a + 3·b = 0 (mod 7)\n")
    assert "beyond what they share:\n    c = 3 (mod 7)" in done.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["a.hex", "--each"], "--each compares several files, and there is only a.hex"),
        (["a.hex", "b.hex", "--each", "-o", "m.json"], "--output is for one"),
        (["a.hex", "b.hex", "--each", "--report", "m.html"], "--report is for one"),
        (["a.hex", "b.hex", "--each", "--as", "c"], "--as is for one"),
        (["a.hex", "b.hex", "--each", "--workers", "1"], "--workers is for one"),
        (["a.hex", "b.hex", "--each", "--split-types"], "one at a time"),
        (
            ["a.hex", "c.hex", "--each"],
            "c.hex has other columns than a.hex (40 columns against 48)",
        ),
        (["a.hex", "--split-types", "-o", "m.json"], "--split-types gives several answers"),
        (["a.hex", "--split-types", "--linear"], "leave out --linear"),
        (["a.hex", "--split-types", "--no-measure"], "to be read twice"),
        (["a.hex", "--split-types", "--field", "3"], "no field but GF(2)"),
    ],
)
def test_what_cannot_be_told_apart_is_misuse(run, captures, place, words, said):
    write(place, "c.hex", device(np.random.default_rng(1), 50)[:, :40])
    done = run("frames", *words, *SEED)
    assert done.code == 2
    assert said in done.err
    assert len(done.err.strip().splitlines()) == 1


def test_the_first_screen_says_that_there_are_types(run, two_types):
    done = run("frames", two_types, *SEED)
    head, types = done.out.split("\n")[:2]
    assert head == "16 check equations hold; nothing is promised about rows to come:"
    assert types.startswith("! 2 types of rows: ")
    assert types.endswith("rows (x8 = 1). Run them apart: add --split-types")


def test_it_is_said_that_types_are_not_looked_for_among_rows_elsewhere(run, two_types, monkeypatch):
    monkeypatch.setattr(Capture, "update", lambda *given: None)  # as with --workers
    done = run("frames", two_types, "--t-min", "0.02", "--t-max", "0.03", "--seed", "1")
    assert "types         not looked for: the rows are with the workers" in done.out


def test_the_report_says_that_there_are_types(run, two_types, place):
    said = run("frames", two_types, *SEED, "--report", "r.html").out.split("\n")[1]
    assert f'<p class="note">{said.removeprefix("! ")}.</p>' in (place / "r.html").read_text()


def test_types_are_answered_apart(run, two_types):
    done = run("frames", two_types, *SEED, "--split-types")
    assert done.code == 0
    blocks = done.out.split("\n\n")
    assert blocks[0].startswith("2 types of rows; ")
    assert blocks[1].startswith("type 1: 8")
    assert "rows, x8 = 0\n  24 check equations hold; nothing is promised" in blocks[1]
    assert "\n  pattern     00101101 01010001" in blocks[1]
    assert "digest      CRC-8/MAXIM-DOW\n" in blocks[1]
    assert "rows, x8 = 1\n  24 check equations hold; nothing is promised" in blocks[2]
    assert "\n  pattern     00101101 10001010" in blocks[2]
    assert "digest      CRC-8/SMBUS\n" in blocks[2]
    assert "fit no type, nearest to type 1:\n  1 × break" in blocks[3]
    assert "promises      none: other rows were told apart by what they say" in done.out


def test_types_in_json(run, two_types, place):
    found = json.loads(run("frames", two_types, *SEED, "--split-types", "--json").out)
    plain = json.loads(run("frames", two_types, *SEED, "--json").out)
    assert found["fingerprint"] == plain["fingerprint"]
    assert [one["told_by"] for one in found["types"]] == ["x8 = 0", "x8 = 1"]
    assert [[one["rows"], one["told_by"]] for one in plain["types"]] == [
        [one["rows"], one["told_by"]] for one in found["types"]
    ]
    assert [one["digest"][0]["name"] for one in found["types"]] == [
        "CRC-8/MAXIM-DOW",
        "CRC-8/SMBUS",
    ]
    withheld = {one["finding"]["promises"]["withheld"] for one in found["types"]}
    assert len(withheld) == 1
    assert "told apart by what they say" in withheld.pop()
    left = sum(cluster["rows"] for cluster in found["clusters"])
    assert sum(one["rows"] for one in found["types"]) + left == 1500
    lines = (place / two_types).read_text().split()
    for cluster in found["clusters"]:
        for frame in cluster["frames"]:
            assert frame["text"] == lines[frame["line"] - 1]


def test_one_type_is_said_to_be_one(run, captures):
    done = run("frames", "a.hex", *SEED, "--split-types")
    plain = run("frames", "a.hex", *SEED)
    said = "types         one: nothing speaks for a second one\n"
    assert said in done.out
    assert done.out.replace(said, "") == plain.out
    found = json.loads(run("frames", "a.hex", *SEED, "--split-types", "--json").out)
    (only,) = found["types"]
    assert only["finding"]["fingerprint"] == found["fingerprint"]
    assert only["finding"]["promises"]["withheld"] is None  # it is the answer from all rows
    assert "types" not in plain.out


def test_types_of_an_unsupported_answer_are_not_looked_for(run, place):
    write(place, "few.hex", device(np.random.default_rng(4), 30))
    done = run("frames", "few.hex", "--seed", "1", "--split-types")
    assert done.code == 3
    assert "types         not looked for: there is no answer that the rows support\n" in done.out


@pytest.mark.parametrize("order", ["msb", "lsb", "reversed"])
def test_rows_that_do_not_fit_are_shown_as_they_are_written(run, place, order):
    X = device(np.random.default_rng(6), 500)
    X[4:8, 20] ^= 1
    X[9, [3, 30]] ^= 1
    write(place, "t.hex", X)
    words = ["frames", "t.hex", *SEED, "--bit-order", order]
    found = json.loads(run(*words, "--json").out)
    lines = (place / "t.hex").read_text().split()
    first, second = found["clusters"]
    assert (first["rows"], second["rows"]) == (4, 1)
    assert [frame["line"] for frame in first["frames"]] == [5, 6, 7, 8]
    assert [frame["text"] for frame in first["frames"]] == lines[4:8]
    assert len(first["syndrome"]) == len(found["text"]["lines"])
    assert len(first["columns"]) == 1
    said = run(*words).out
    assert f", as if {first['columns'][0]} were turned over, t.hex line 5: {lines[4]}\n" in said
    assert f"1 × breaks {second['syndrome'].count('1')} equations, t.hex line 10: " in said


def test_rows_that_are_no_frames_are_shown_by_columns(run, place):
    X = np.random.default_rng(7).integers(0, 2, size=(400, 6))
    X[:, 5] = X[:, :5].sum(axis=1) % 2
    X[3, 5] ^= 1
    rows = "\n".join(",".join(map(str, row)) for row in X)
    (place / "t.csv").write_text(f"a,b,c,d,e,f\n{rows}\n")
    said = run("frames", "t.csv", *SEED).out
    assert f"t.csv line 5: {''.join(map(str, X[3]))}\n" in said
    (place / "t.bits").write_text("\n".join("".join(map(str, row)) for row in X) + "\n")
    assert f"t.bits line 4: {''.join(map(str, X[3]))}\n" in run("frames", "t.bits", *SEED).out
    found = json.loads(run("frames", "t.bits", *SEED, "--no-measure", "--json").out)
    assert (found["clusters"], found["types"]) == (None, None)
