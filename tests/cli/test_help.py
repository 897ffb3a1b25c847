"""Help: examples that work as printed, keys that are documented, and a quick start."""

import dataclasses
import importlib
import inspect
import io
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from flagstone.cli.console import BOTTOM, ERROR, FAILED, OK, RED, USAGE, painted
from flagstone.cli.help import EXIT_CODES, _roff, described
from flagstone.cli.parser import GROUPS
from flagstone.cli.verbs import VERB_GROUPS, VERBS

HEAVY = {
    "sklearn", "matplotlib", "dask", "pyarrow", "scipy", "pandas", "rich", "numpy",
    "shtab", "asyncio",
}  # fmt: skip


def test_the_overview_lists_every_verb(run):
    done = run("--help")
    assert done.code == 0
    for name, verb in VERBS.items():
        assert re.search(rf"^  {name} +{re.escape(verb.summary)}$", done.out, re.MULTILINE)
    groups = re.findall(r"^([A-Z][a-z]+):\n", done.out, re.MULTILINE)
    assert groups[: len(VERB_GROUPS)] == list(VERB_GROUPS)
    for code in (OK, ERROR, USAGE, BOTTOM, FAILED, 130, 143):
        assert re.search(rf"^  {code} +\w", done.out.partition("Exit codes:")[2], re.MULTILINE)


def test_every_verb_has_help_of_twelve_options_at_most_and_more_in_help_all(run):
    for name, verb in VERBS.items():
        short, full = run(name, "--help").out, run(name, "--help-all").out
        listed = re.findall(r"^  (?:-\w, )?(--\S+)", short.partition("Examples:")[0], re.MULTILINE)
        assert len(listed) <= 12, name
        for option in verb.options.values():
            assert re.search(rf"^  {re.escape(option.usage)}  ", full, re.MULTILINE), option
        hidden = len(verb.options) - len(verb.listed(everything=False))
        assert (f"{hidden} more options: flagstone {name} --help-all" in short) == (hidden > 0)
        assert set(verb.common.split()) <= {
            name for option in verb.options.values() for name in option.names
        }


def test_every_argument_and_option_has_one_line_in_a_group(run):
    for name, verb in VERBS.items():
        text = run(name, "--help-all").out.partition("Keys of --json:")[0]
        groups = re.findall(r"^([A-Z][a-z ]+):$", text, re.MULTILINE)
        assert groups == [group for group in GROUPS if group in groups] + ["Examples"]
        for line in text.splitlines():
            assert len(line) <= 100, line
            assert not line.startswith(" " * 20), f"a second line: {line}"
        for option in verb.options.values():
            assert (option.names == ()) == (option.group == "Arguments")


def test_arguments_come_first_and_usage_names_what_is_required(run):
    usage, _, text = run("merge", "--help").out.partition("\n\n")
    assert usage == "Usage: flagstone merge [OPTIONS] -o FILE FLAG..."
    assert re.findall(r"^([A-Z]\w+):$", text, re.MULTILINE) == ["Arguments", "Output", "Examples"]


def test_help_is_a_verb_of_its_own(run):
    assert run("help") == run("--help")
    assert run("help", "learn") == run("learn", "--help")
    assert run("help", "lern").code == 2


def test_help_all_of_the_command_holds_that_of_every_verb(run):
    text = run("--help-all").out
    for name in VERBS:
        assert run(name, "--help-all").out.strip() in text


def test_the_manual_page_holds_every_verb_option_key_and_exit_code(run):
    done = run("--print-man")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0].startswith(".TH FLAGSTONE 1 ")
    assert done.out.isascii()

    def entry(name: str, text: str) -> None:
        place = lines.index(rf"\fB{_roff(name)}\fR")
        assert lines[place - 1] == ".TP"
        assert _roff(text) in lines, (name, text)

    for name, verb in VERBS.items():
        assert f".SH FLAGSTONE {name.upper()}" in lines
        for option in verb.options.values():
            entry(option.usage, described(option))
        for key, text in verb.json_keys.items():
            entry(key, text)
        assert set(map(_roff, verb.examples)) <= set(lines)
    for code, text in EXIT_CODES.items():
        entry(code, text)


@pytest.mark.skipif(shutil.which("groff") is None, reason="no groff to render the page with")
def test_the_manual_page_renders_without_a_warning(run):
    page = run("--print-man").out
    words = ["groff", "-ww", "-man", "-Tutf8"]
    done = subprocess.run(words, input=page, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    shown = re.sub(r"\x1b\[[0-9;]*m|.\x08", "", done.stdout)
    for part in ("EXIT STATUS", "--contamination SHARE", "no answer: ⊥", "; \\t is a tab"):
        assert part in shown


def test_the_docs_have_the_same_table_of_exit_codes():
    page = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text()
    assert dict(re.findall(r"^\| (\d+) \| (.+) \|$", page, re.MULTILINE)) == EXIT_CODES


def test_a_verb_of_a_package_that_is_missing_is_not_listed():
    there = VERBS["merge"]
    assert there.is_present
    assert not dataclasses.replace(
        there, function="flagstone.no_such_package.cli:command"
    ).is_present
    assert dataclasses.replace(there, function="flagstone.report:command").is_present


def test_the_functions_of_verbs_take_what_the_table_gives_them():
    for verb in VERBS.values():
        module, _, name = verb.function.partition(":")
        command = getattr(importlib.import_module(module), name)
        (given,) = inspect.get_annotations(command, eval_str=True).items() - {("return", int)}
        assert given[1] is verb.record, verb.name


def test_an_option_may_stand_anywhere_and_its_value_may_begin_with_a_dash():
    parse = VERBS["constraints"].parse
    words = ["a.csv", "-c", "-x0", "--seed=-1", "b.csv", "-fcsv", "-", "--", "-c"]
    values = parse(words)
    assert values.files == ["a.csv", "b.csv", "-", "-c"]
    assert (values.columns, values.seed, values.format) == (["-x0"], "-1", "csv")
    assert parse(["a", "--header"]).header is True
    assert parse(["a", "--no-header"]).header is False
    assert parse(["a"]).header is None
    assert parse(["a", "--delimiter", ""]).delimiter == ""
    assert parse(["a", "--seed="]).seed == ""


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self):
        return True


def test_colour_is_for_terminals_that_want_it(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert painted("error:", RED, Terminal()) == "\x1b[1;31merror:\x1b[0m"
    assert painted("error:", RED, io.StringIO()) == "error:"
    monkeypatch.setenv("NO_COLOR", "1")
    assert painted("error:", RED, Terminal()) == "error:"
    monkeypatch.setenv("NO_COLOR", "")
    monkeypatch.setenv("TERM", "dumb")
    assert painted("error:", RED, Terminal()) == "error:"


@pytest.mark.parametrize(
    ("words", "code", "part"),
    [
        (["constraints", "--json", "none.csv"], 1, "none.csv"),
        (["constraints", "--json", "\x9b31m.csv"], 1, "\\x9b31m.csv"),
        (["constraints", "--json", "--sede"], 2, "there is no option --sede"),
        (["constraints", "--json", "--linear=3"], 2, "--linear takes no value, got '3'"),
        (["constraints", "examples/frames.txt", "--json", "--as", "xml"], 2, "--as must be one"),
        (["check", "--json", "b.json", "examples/equations.csv"], 3, "holds ⊥"),
        (["plan", "--json", "t.csv"], 2, "'t.csv' is one argument too many; did you mean --pilot"),
        (["compare", "--json", "a", "b", "c"], 2, "compare takes FIRST and SECOND; 'c' is one"),
    ],
)
def test_errors_under_json_are_json(run, place, words, code, part):
    (place / "t.csv").write_text("x,y\n" + "0,0\n0,1\n" * 20)
    assert run("learn", "t.csv", "-l", "y", "-o", "b.json").code == 3
    done = run(*words)
    assert (done.code, done.out) == (code, "")
    found = json.loads(done.err)
    assert set(found) == {"error", "exit_code"}
    assert part in found["error"]
    assert found["exit_code"] == code


@pytest.mark.parametrize("verb", VERBS)
def test_help_documents_options_and_json_keys(run, verb):
    text = run(verb, "--help-all").out
    assert text.startswith(f"Usage: flagstone {verb} ")
    assert "--json" in text
    assert "--seed" in text
    assert "Keys of --json:" in text


def test_only_verbs_with_a_label_offer_one(run):
    offering = {verb for verb in VERBS if "--label COLUMN" in run(verb, "--help-all").out}
    assert offering == {"learn", "equations", "subspace", "summarize", "plan", "audit"}


def test_json_output_uses_the_documented_keys(run):
    """Whatever a verb prints as JSON is explained in its help."""
    words = ["-l", "fault", "-e", "auto", "--intercept", "--seed", "7", "-o", "r.json"]
    run("learn", "examples/faults.csv", *words)
    run("summarize", "examples/frames.txt", "-f", "bits", "-o", "p.flag")
    frames = ["examples/frames.txt", "-f", "bits"]
    calls = {
        "learn": ["examples/faults.csv", "-l", "fault", "-e", "auto"],
        "constraints": frames,
        "equations": ["examples/equations.csv", "-l", "b", "--field", "7"],
        "subspace": ["examples/faults.csv", "-l", "fault", "-e", "auto"],
        "predict": ["r.json", "examples/faults.csv"],
        "check": ["r.json", "examples/faults.csv"],
        "show": ["p.flag"],
        "compare": ["r.json", "r.json"],
        "summarize": ["examples/frames.txt", "-f", "bits", "-o", "q.flag"],
        "merge": ["p.flag", "p.flag", "-o", "s.flag"],
        "plan": ["--dim", "3", "--rho", "0.1"],
    }
    for verb, words in calls.items():
        text = run(verb, "--help-all").out.partition("Keys of --json:")[2]
        found = json.loads(run(verb, *words, "--json").out)
        for key in found:
            assert re.search(rf"\b{key}\b", text), (verb, key)


def imported(*words: str) -> set[str]:
    """Return the modules that a run of the command loads."""
    code = (
        "import sys\nfrom flagstone.cli import main\n"
        "try:\n    main(sys.argv[1:])\nexcept SystemExit:\n    pass\n"
    )
    return loaded_by(code, *words)


def loaded_by(code: str, *words: str) -> set[str]:
    """Return the modules that are loaded after some code."""
    code += "\nimport sys; print(' '.join(sys.modules), file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, check=True
    )
    return set(done.stderr.split())


def test_help_loads_nothing_heavy():
    for words in (["--help-all"], ["learn", "--help-all"], ["--version"], ["learn", "--sede"]):
        assert not imported(*words) & HEAVY, words


@pytest.mark.parametrize(
    "words",
    [
        ["learn", "examples/faults.csv", "-l", "fault", "-e", "auto", "--report", "r.html"],
        ["constraints", "examples/frames.txt", "-f", "bits", "--plot", "p.svg"],
    ],
)
def test_verbs_load_neither_scikit_learn_nor_for_small_files_a_compiler(place, words):
    loaded = imported(*words)
    assert "numpy" in loaded
    assert not loaded & {"sklearn", "matplotlib", "dask", "pandas", "scipy"}
    lean = {"typer", "rich", "narwhals", "asyncio", "numpy.ma", "pyarrow.compute"}
    assert not loaded & lean - loaded_by("import numpy")  # a fifth of the start
    assert (place / words[-1]).exists()


@pytest.mark.parametrize(("given", "left_alone"), [("", True), ("['--version']", False)])
def test_garbage_is_left_alone_in_a_process_of_our_own_only(given, left_alone):
    code = (
        "import atexit, gc, sys; from flagstone.cli import main; "
        "before, frozen = gc.get_threshold(), gc.get_freeze_count(); "
        "say = lambda: print(gc.get_freeze_count() > frozen, gc.get_threshold() != before); "
        f"atexit.register(say); main({given})"
    )
    words = [sys.executable, "-c", code, "--version"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == f"{left_alone} {left_alone}"


def test_version(run):
    from flagstone import __version__

    assert run("--version").out == f"flagstone {__version__}\n"
