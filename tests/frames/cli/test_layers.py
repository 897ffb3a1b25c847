"""``flagstone frames``: layers, names, --solve, and their JSON."""

import json
from dataclasses import replace

import numpy as np
import pytest

from flagstone.cli.json_keys import EACH_KEYS
from flagstone.cli.verbs import VERBS
from flagstone.frames.digests.catalogue import CATALOGUE
from flagstone.store import load, save
from tests.frames.digests import oracle

SEED = ["--contamination", "0.01", "--seed", "1"]


def write(place, name, X):
    lines = [f"{{{X.shape[1]}}}{np.packbits(row).tobytes().hex()}" for row in X]
    (place / name).write_text("\n".join(lines) + "\n")
    return name


@pytest.fixture
def capture(place):
    """Frames: a constant byte, a pair, a CRC; six of them damaged."""
    known = next(k for k in CATALOGUE if k.name == "CRC-8/MAXIM-DOW")
    rng = np.random.default_rng(1)
    bits = np.unpackbits(oracle.skewed(rng, 600, 4), axis=1)
    bits[:, 3] = bits[:, 2] ^ 1
    payload = np.packbits(bits, axis=1)
    checks = [oracle.crc(data, known) for data in payload.tolist()]
    X = oracle.frames(payload, checks, 8, before=(0x2D,))
    X[:6, 45] ^= 1
    return write(place, "crc.hex", X)


@pytest.fixture
def sums(place):
    """Frames that end in the sum of their bytes."""
    payload = oracle.skewed(np.random.default_rng(2), 500, 4)
    return write(place, "sum.hex", oracle.frames(payload, payload.sum(axis=1) & 255, 8))


def test_the_first_screen(run, capture):
    done = run("frames", capture, *SEED)
    assert done.code == 0
    head, *lines = done.out.split("\n\n")[0].split("\n")
    assert head.startswith("17 check equations hold; at most")
    assert lines[0] == "  pattern     00101101 ???????? ???????? ???????? ???????? ????????"
    assert lines[1] == "  digest      CRC-8/MAXIM-DOW"
    assert "in x40..x47: polynomial 0x31, init 0x00, xorout 0x00, reflected, over x8" in lines[2]
    assert "init and xorout only together" in lines[3]
    assert lines[4].endswith("6 of 600 rows do not fit it; 248 bits of its map are determined")
    assert lines[5] == "  opposite    x10 ⊕ x11 = 1"
    assert lines[6].startswith("  check bits  x40 = ")
    assert [line for line in lines if line.endswith("(6 rows break it)")] == [lines[11]]
    assert len(lines) == 14


@pytest.mark.parametrize("name", ["data..raw", "a, b", "x0..x3, x5", "..", "data"])
def test_digests_of_a_column_of_any_name(run, place, capture, name):
    """Columns of a digest are kept as a list, not read off the text that is shown."""
    frames = (place / capture).read_text().splitlines()
    header = '"' + name + '"'
    (place / "t.csv").write_text("\n".join([header, *frames]) + "\n")
    words = ["frames", "t.csv", "--encode", f"{name}=hex:48", *SEED]
    done = run(*words, "-o", "m.json", "--report", "r.html")
    assert done.code == 0, done.err
    assert "CRC-8/MAXIM-DOW" in done.out
    assert f"in {name}[40]..{name}[47]: polynomial 0x31" in done.out
    (digest,) = json.loads(run(*words, "--json").out)["digest"]
    assert digest["columns"] == [f"{name}[{i}]" for i in range(40, 48)]
    assert digest["parameters"]["catalogued"][0]["data"] == [f"{name}[{i}]" for i in range(8, 40)]
    assert f"in {name}[40]..{name}[47]: polynomial 0x31" in run("frames", "m.json").out
    code = run(*words, "--as", "rtl_433")
    assert "crc8le(&b[1], 4, 0x31, 0x00) != b[5]" in code.out, code.err
    solved = run(*words, "--solve", f"{name}[40]..{name}[47]")
    assert solved.code == 0, solved.err


def test_json_and_plain_text(run, capture):
    found = json.loads(run("frames", capture, *SEED, "--json").out)
    assert found["pattern"] == "00101101" + "?" * 40
    (digest,) = found["digest"]
    assert (digest["kind"], digest["name"]) == ("crc", "CRC-8/MAXIM-DOW")
    assert digest["columns"] == [f"x{i}" for i in range(40, 48)]
    assert (digest["rows_verified"], digest["rows_broken"]) == (600, 6)
    kinds = [relation["kind"] for relation in found["relations"]]
    assert kinds == ["pair"] + ["check"] * 8
    assert sum(r["rows_broken"] for r in found["relations"]) == 6
    # the list of equations is what it was
    text = run("frames", capture, *SEED, "--as", "text").out.splitlines()
    assert text == found["text"]["lines"]


def test_names_need_rows(run, capture):
    done = run("frames", capture, *SEED, "--no-measure")
    assert "not looked for: the rows were not read again" in done.out
    assert "CRC-8" not in done.out
    found = json.loads(run("frames", capture, *SEED, "--no-measure", "--json").out)
    assert found["digest"] is None
    assert found["pattern"].startswith("00101101?")
    assert {relation["rows_broken"] for relation in found["relations"]} == {None}


def test_a_saved_finding_remembers_its_digest(run, capture, sums, place):
    """Named on the rows that were read then, and said to be: on the console and in the report."""
    for file, name in ((capture, "CRC-8/MAXIM-DOW"), (sums, "sum of bytes, 8 bits")):
        found = run("frames", file, *SEED, "-o", "m.json", "--force").out
        assert name in found
        shown = run("frames", "m.json", "--report", "m.html", "--force").out
        kept = load("m.json").provenance["digest"]
        assert [digest["name"] for digest in kept] == [name]
        verified = f"verified on the {kept[0]['rows_verified']:,} rows read then: "
        assert f"digest      {name}\n" in shown
        assert verified in shown
        assert verified not in found
        assert verified in (place / "m.html").read_text()


def test_a_saved_finding_says_whether_a_digest_was_looked_for(run, place):
    random = np.random.RandomState(1).randint(0, 2, size=(400, 40))
    random[:, :12] = random[:, 12:24]
    file = write(place, "pairs.hex", random)
    for options, said in (((), False), (("--no-measure",), True)):
        run("frames", file, *SEED, *options, "-o", "m.json", "--force")
        assert ("not looked for" in run("frames", "m.json").out) == said


@pytest.mark.parametrize(
    "change",
    [
        {"name": None},
        {"rows_broken": 10**6},
        {"rows_verified": "2000"},
        {"columns": ["nowhere"]},
        {"columns": []},
        {"columns": [[0]]},
        {"parameters": 5},
        {"parameters": {"data": "x0..x3"}},
        {"parameters": {"data": ["nowhere"]}},
        {"parameters": {"data": ["x0"], "catalogued": [{"data": [0]}]}},
        {"more": 1},
    ],
)
def test_a_digest_that_no_rows_can_have_shown_is_refused(run, capture, change):
    run("frames", capture, *SEED, "-o", "m.json")
    found = load("m.json")
    digest = {**found.provenance["digest"][0], **change}
    save("m.json", replace(found, provenance={"digest": [digest]}), overwrite=True)
    shown = run("frames", "m.json")
    assert (shown.code, shown.out) == (1, "")
    assert "holds a digest that no rows can have shown" in shown.err


def test_sums_are_said_to_be_additive(run, sums):
    done = run("frames", sums, "--seed", "1")
    assert "digest      sum of bytes, 8 bits" in done.out
    assert "additive, not linear: sum of the bytes of x0..x31, modulo 256" in done.out


def test_chosen_columns(run, capture):
    done = run("frames", capture, *SEED, "--solve", "x46..x47,x45")
    lines = done.out.split("\n")
    start = next(i for i, line in enumerate(lines) if line.startswith("  check bits"))
    assert [line[14:19] for line in lines[start : start + 3]] == ["x46 =", "x47 =", "x45 ="]
    assert "no name is known" in done.out
    found = json.loads(run("frames", capture, *SEED, "--solve", "x40..x47", "--json").out)
    assert found["digest"][0]["name"] == "CRC-8/MAXIM-DOW"


@pytest.mark.parametrize(
    ("solve", "words"),
    [
        ("x99", "names 'x99', which is no column"),
        ("x47..x40", "runs backwards: write x40..x47"),
        ("x0", "holds x0, constant in these equations"),
        ("x40,x40", "names a column twice"),
        ("x12..x47", "the equations do not say what"),
        ("", "names '', which is no column"),
    ],
)
def test_what_cannot_be_solved_for_is_misuse(run, capture, solve, words):
    done = run("frames", capture, *SEED, "--solve", solve, "-o", "m.json")
    assert done.code == 2
    assert words in done.err
    assert len(done.err.strip().splitlines()) == 1


def test_other_fields_and_small_answers_stay_plain(run, place):
    (place / "t.csv").write_text("a,b\n" + "1,2\n2,4\n" * 30)
    done = run("frames", "t.csv", "--field", "7", "--seed", "1")
    assert "pattern" not in done.out
    found = json.loads(run("frames", "t.csv", "--field", "7", "--seed", "1", "--json").out)
    assert (found["pattern"], found["digest"], found["relations"]) == (None, None, None)
    assert (
        "--solve is for equations over GF(2)"
        in run("frames", "t.csv", "--field", "7", "--seed", "1", "--solve", "a").err
    )
    done = run("frames", "examples/frames.txt", "-f", "bits", "--seed", "1")
    assert "pattern" not in done.out


def test_too_few_rows_are_said_first(run, place):
    X = np.random.default_rng(3).integers(0, 2, size=(20, 40), dtype=np.uint8)
    X[:, :8] = 1
    done = run("frames", write(place, "few.hex", X), "--seed", "1")
    assert done.code == 3
    assert done.out.startswith("Not supported by the rows")
    if "pattern" in done.out:
        assert "(not supported by the rows)" in done.out
    assert "CRC" not in done.out
    assert "LFSR" not in done.out


def test_code_for_decoders(run, capture, place):
    done = run("frames", capture, *SEED, "--as", "python", "-o", "m.json")
    assert done.code == 0
    assert "check bits x40..x47: CRC-8/MAXIM-DOW" in done.out
    space = {}
    exec(done.out, space)
    frames = [bytes.fromhex(line[4:]) for line in (place / capture).read_text().split()]
    wrong = [space["frame_check"](frame) for frame in frames]
    assert wrong[:6] == [1] * 6
    assert not any(wrong[6:])
    code = run("frames", capture, *SEED, "--as", "c").out
    assert "static int frame_check(uint8_t const *b)" in code
    assert "static int frame_check" in run("frames", "m.json", "--as", "c").out


def test_code_undoes_the_order_that_bits_were_read_in(run, capture, place):
    done = run("frames", capture, *SEED, "--bit-order", "lsb", "--as", "python")
    space = {}
    exec(done.out, space)
    frames = [bytes.fromhex(line[4:]) for line in (place / capture).read_text().split()]
    wrong = [space["frame_check"](frame) > 0 for frame in frames]
    assert wrong == [True] * 6 + [False] * 594


def test_there_is_no_code_without_check_bits(run, sums):
    done = run("frames", sums, "--seed", "1", "--as", "c", "-o", "m.json")
    assert done.code == 2
    assert "say which they are with --solve" in done.err


def test_code_by_the_routines_of_rtl_433(run, capture, sums):
    done = run("frames", capture, *SEED, "--as", "rtl_433", "-o", "m.json")
    assert done.code == 0
    assert "if (crc8le(&b[1], 4, 0x31, 0x00) != b[5]) {" in done.out
    turned = run("frames", capture, *SEED, "--bit-order", "lsb", "--as", "rtl_433").out
    assert turned.startswith("reflect_bytes(b, 6);\n")
    assert "if (crc8(&b[1], 4, 0x31, 0x00) != b[5]) {" in turned
    assert "add_bytes(&b[0], 4) & 0xff" in run("frames", sums, "--seed", "1", "--as", "rtl_433").out
    assert (
        run("frames", "m.json", "--as", "rtl_433").out == done.out
    )  # the finding keeps the digest
    assert run("frames", capture, *SEED, "--no-measure", "-o", "once.json").code == 0
    for refused, words in [
        (run("frames", "once.json", "--as", "rtl_433"), "none was verified on rows"),
        (
            run("frames", capture, *SEED, "--bit-order", "reversed", "--as", "rtl_433"),
            "no routine for --bit-order reversed",
        ),
    ]:
        assert refused.code == 2
        assert words in refused.err


def test_other_verbs_take_the_finding_as_any_other(run, capture, place):
    """Fingerprint and equations are those of constraints; the digest is plain data to them."""
    frames = json.loads(run("frames", capture, *SEED, "--json", "-o", "m.json").out)
    plain = json.loads(run("constraints", capture, *SEED, "--json", "-o", "c.json").out)
    assert frames["fingerprint"] == plain["fingerprint"]
    assert not {"pattern", "digest", "relations", "clusters", "types"} & plain.keys()
    assert "digest" not in plain["provenance"]
    assert run("compare", "m.json", "c.json").code == 0
    shown = run("show", "m.json", "--report", "r.html")
    assert shown.code == 0
    assert frames["text"]["lines"][-1] in shown.out
    assert "CRC" not in shown.out
    assert "CRC" not in (place / "r.html").read_text()
    assert run("check", "m.json", capture, "--tolerance", "0.02").code == 0
    # and frames shows what constraints saved, as far as the equations tell
    assert "not looked for: the rows were not read again" in run("frames", "c.json").out


def test_a_finding_has_no_rows_to_tell_apart(run, capture):
    assert run("frames", capture, *SEED, "-o", "m.json").code == 0
    for words in (["--each"], ["--split-types"], ["-o", "n.json"]):
        done = run("frames", "m.json", *words)
        assert done.code == 2
        assert "m.json is a finding" in done.err


def test_json_has_exactly_the_documented_keys(run, capture):
    found = json.loads(run("frames", capture, *SEED, "--json").out)
    documented = [keys for keys in VERBS["frames"].json_keys if keys not in EACH_KEYS]
    assert list(found) == [key for keys in documented for key in keys.split(", ")]
