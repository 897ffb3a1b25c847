"""Commands to be typed again run as they are printed, and files that look different say so."""

import html
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from flagstone import load
from flagstone.errors import InputWarning
from flagstone.tables import open_table

TAB = "\t"
ROWS = np.random.RandomState(0).randint(0, 2, size=(60, 4))
ROWS[:, 3] = ROWS[:, 0] ^ ROWS[:, 1]


def write(path, delimiter=",", names=("a", "b", "c", "o")):
    lines = [delimiter.join(names), *(delimiter.join(map(str, row)) for row in ROWS)]
    Path(path).write_text("\n".join(lines) + "\n")


def printed(report):
    """The command of a report, as it is copied from the page."""
    [command] = re.findall(
        r"Repeat it.*?<pre data-copy>(.*?)</pre>", Path(report).read_text(), re.DOTALL
    )
    return html.unescape(re.sub(r"<[^>]*>", "", command))


@pytest.mark.parametrize(
    "words",
    [
        ["t.txt", "--format", "csv", "--delimiter", "\\t", "--report", "r.html", "-o", "m.json"],
        ["t.txt", "--format=csv", "--delimiter", TAB, "--report=r.html", "-om.json"],
        ["t.txt", "--format=csv", f"--delimiter={TAB}", "--report", "r.html", "--output", "m.json"],
        ["--report", "r.html", "-o", "m.json", "--plot", "p.svg", "--force", "t.tsv"],
        ["t.tsv", "--columns", "-o", "-o", "m.json", "--report", "r.html", "--seed", "it's 7"],
        ["--report", "r.html", "-o", "m.json", "--", "two words.tsv"],
        ["t.tsv", "-o", "m.json", "--report", "r.html", "--json", "--checkpoint", "c"],
    ],
)
def test_the_command_of_a_report_runs_as_printed(run, words):
    for name in ("t.txt", "t.tsv", "two words.tsv"):
        write(name, TAB)
    first = run("constraints", *words)
    assert (first.code, first.err) == (0, "")
    command = printed("r.html")
    assert command == load("m.json").provenance["command"]
    before = sorted(path.name for path in Path().iterdir())
    program, verb, *rest = shlex.split(command)
    assert program == "flagstone"
    again = run(verb, "--json", *rest)
    assert (again.code, again.err) == (0, "")
    assert load("m.json").fingerprint in again.out
    assert sorted(path.name for path in Path().iterdir()) == before


def test_a_shell_runs_it(run, place):
    write("t.txt", TAB)
    run("constraints", "t.txt", "--format", "csv", "--delimiter", TAB, "--report", "r.html")
    start = shlex.join([sys.executable, "-c", "from flagstone.cli import main; main()"])
    script = printed("r.html").replace("flagstone", start, 1)
    done = subprocess.run(["sh", "-c", script], cwd=place, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "a ⊕ b ⊕ o = 0" in done.stdout


@pytest.mark.parametrize(("made", "other"), [(TAB, ","), (";", ","), (",", ";"), ("|", TAB)])
@pytest.mark.parametrize("verb", ["check", "predict"])
def test_a_finding_says_which_delimiter_it_remembers(run, made, other, verb):
    write("t.csv", made)
    write("u.csv", other)
    assert run("constraints", "t.csv", "--delimiter", made, "-o", "m.json").code == 0
    done = run(verb, "m.json", "u.csv")
    spelled = {TAB: r"'\t'", ";": "';'", "|": "'|'", ",": ","}
    assert done.code == 1
    assert f"the finding remembers a table with --delimiter {spelled[made]}; if" in done.err
    remedy = re.search(r"separates the cells here, give --delimiter (.*)$", done.err.strip())[1]
    assert remedy == spelled[other]
    assert run(verb, "m.json", "u.csv", *shlex.split(f"--delimiter {remedy}")).code == 0


def test_hexadecimal_digits_that_are_all_bits_warn(run):
    bits = ["".join(map(str, row)) for row in ROWS]
    Path("t.hex").write_text("# bits\n" + "\n".join(bits) + "\n")
    done = run("constraints", "t.hex", "--seed", 7)
    assert "warning: t.hex: its hexadecimal digits are all 0 or 1, and each stands" in done.err
    assert "give --format bits" in done.err
    assert done.err.count("warning") == 1
    assert run("constraints", "t.hex", "--seed", 7, "--format", "bits").err == ""
    Path("u.hex").write_text("\n".join([*bits, "0a10"]) + "\n")
    assert run("constraints", "u.hex", "--seed", 7).err == ""
    Path("v.hex").write_text("01\n10\n11\n")  # too few to tell
    assert "warning" not in run("constraints", "v.hex", "--seed", 7).err
    Path("w.hex").write_text("\n".join([*bits] * 500 + ["0a10"]) + "\n")
    with pytest.warns(InputWarning, match=r"the first of its hexadecimal digits.*format='bits'"):
        open_table("w.hex")
