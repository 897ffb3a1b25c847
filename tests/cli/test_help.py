"""Help: examples that work as printed, keys that are documented, and a quick start."""

import json
import re
import shlex
import subprocess
import sys

import pytest

from flagstone.cli import VERBS

HEAVY = {"numba", "sklearn", "matplotlib", "dask", "pyarrow", "scipy", "pandas", "rich", "numpy"}


def examples_of(text: str) -> list[str]:
    """Return the commands printed under Example(s) in a help text."""
    block = re.search(r"^Examples?:\n((?:  flagstone .*\n)+)", text, re.MULTILINE)
    assert block, "the help has no example"
    return [line.strip() for line in block[1].splitlines()]


def test_the_overview_lists_every_verb(run):
    done = run("--help")
    assert done.code == 0
    for verb, summary in VERBS.items():
        assert re.search(rf"^  {verb} +{re.escape(summary)}$", done.out, re.MULTILINE)


def test_every_example_works_as_printed(run):
    """In the order of the overview: later verbs use what earlier examples wrote."""
    for verb in VERBS:
        for example in examples_of(run(verb, "--help").out):
            words = shlex.split(example)
            assert words[0] == "flagstone"
            done = run(*words[1:])
            assert done.code == 0, (example, done.err)
            assert done.out


@pytest.mark.parametrize("verb", VERBS)
def test_help_documents_options_and_json_keys(run, verb):
    text = run(verb, "--help").out
    assert text.startswith(f"Usage: flagstone {verb} ")
    assert "--json" in text
    assert "--seed" in text
    assert "Keys of --json:" in text


def test_only_verbs_with_a_label_offer_one(run):
    offering = {verb for verb in VERBS if "--label" in run(verb, "--help").out}
    assert offering == {"learn", "equations", "subspace", "summarize", "suggest", "audit"}


def test_json_output_uses_the_documented_keys(run):
    """Whatever a verb prints as JSON is explained in its help."""
    words = ["-l", "fault", "-e", "auto", "--intercept", "--seed", "7", "-o", "r.json"]
    run("learn", "examples/faults.csv", *words)
    run("summarize", "examples/frames.txt", "-f", "bits", "-o", "p.flag")
    frames = ["examples/frames.txt", "-f", "bits"]
    calls = {
        "learn": ["examples/faults.csv", "-l", "fault", "-e", "auto"],
        "span": frames,
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
        "bench": ["--rows", "1000", "--repeats", "1"],
    }
    for verb, words in calls.items():
        text = run(verb, "--help").out.partition("Keys of --json:")[2]
        found = json.loads(run(verb, *words, "--json").out)
        for key in found:
            assert re.search(rf"\b{key}\b", text), (verb, key)


def imported(*words: str) -> set[str]:
    """Return the modules that a run of the command loads."""
    code = (
        "import sys\nfrom flagstone.cli import main\n"
        "try:\n    main(sys.argv[1:])\nexcept SystemExit:\n    pass\n"
        "print(' '.join(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, check=True
    )
    return set(done.stderr.split())


def test_help_loads_nothing_heavy():
    assert not imported("--help") & HEAVY
    assert not imported("learn", "--help") & HEAVY


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
    assert not loaded & {"sklearn", "matplotlib", "dask", "pandas", "numba", "scipy"}
    assert not loaded & {"pydantic", "numpy.ma", "pyarrow.compute"}  # a fifth of the start
    assert (place / words[-1]).exists()


@pytest.mark.parametrize(("given", "left_alone"), [("", True), ("['--version']", False)])
def test_garbage_is_left_alone_in_a_process_of_our_own_only(given, left_alone):
    code = (
        "import atexit, gc, sys; from flagstone.cli import main; before = gc.get_threshold(); "
        "say = lambda: print(gc.get_freeze_count() > 0, gc.get_threshold() != before); "
        f"atexit.register(say); main({given})"
    )
    words = [sys.executable, "-c", code, "--version"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == f"{left_alone} {left_alone}"


def test_version(run):
    from flagstone import __version__

    assert run("--version").out == f"flagstone {__version__}\n"
