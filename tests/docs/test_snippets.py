"""Every snippet and every command of README and docs runs as printed.

Python with prompts (``>>>``) is run by pytest's own doctests; this file runs all the rest.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import re
import shlex
import shutil
import tomllib

import pytest

from flagstone.cli import main
from flagstone.cli.verbs import VERBS

from .snippets import PAGES, ROOT, blocks, commands

#: What needs another machine.
ELSEWHERE = ("tcp://", "s3://")
ids = {page: str(page.relative_to(ROOT)) for page in PAGES}


def looks_like(shown: str, said: str) -> bool:
    """Say whether a text is what a page shows, … standing for anything."""
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    return doctest.OutputChecker().check_output(shown.replace("…", "..."), said, options)


def run(words: list[str]) -> tuple[int, str]:
    """Run the command line, and return exit code and all that was said."""
    said, code = io.StringIO(), 0
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            main(words)
        except SystemExit as stop:
            code = int(stop.code or 0)
    return code, said.getvalue()


@pytest.fixture
def place(shelf, tmp_path, monkeypatch):
    """A fresh copy of the files that pages talk about, to work in."""
    folder = tmp_path / "place"
    shutil.copytree(shelf, folder)
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize(
    "page", [page for page in PAGES if any(commands(page))], ids=lambda page: ids[page]
)
def test_commands_run_as_printed(page, place):
    """In order, in one folder: later commands use what earlier ones wrote."""
    makefile = (ROOT / "Makefile").read_text()
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for command in commands(page):
        program, *words = command.words
        if program == "make":
            assert re.search(rf"^{words[0]}:.*##", makefile, re.MULTILINE), str(command)
        elif program == "pip":
            for extra in re.findall(r"\[(\w+)\]", " ".join(words)):
                assert extra in extras["optional-dependencies"], str(command)
        elif program == "python":
            script = words[1].replace(".", "/") if words[0] == "-m" else words[0]
            assert list(ROOT.glob(f"{script}*")), str(command)
        elif any(sign in word for word in words for sign in ELSEWHERE):
            assert "flagstone" in program
        else:
            assert program == "flagstone", str(command)
            prepare(words, place)
            if "--workers" in words:  # starting processes has tests of its own, in distributed
                at = words.index("--workers")
                del words[at : at + 2]
            code, said = run(words)
            assert code == command.exit_code, (str(command), said)
            assert not command.shown or looks_like(command.shown, said), (str(command), said)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: ids[page])
def test_commands_inside_a_sentence_name_what_there_is(page, capsys):
    """They are no recipes, and files are made up; verbs and options must exist all the same."""
    for line in re.findall(r"(?<!`)`flagstone ([^`]+)`(?!`)", page.read_text(encoding="utf-8")):
        verb, *words = shlex.split(line.replace("\n", " "))
        if verb == "VERB" or verb.startswith("-") or page.name == "formats.md":  # headers of files
            continue
        assert verb in VERBS, line
        with pytest.raises(SystemExit):
            main([verb, "--help-all"])
        known = capsys.readouterr().out
        for option in (word.partition("=")[0] for word in words if word.startswith("-")):
            assert re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", known), (line, option)


def prepare(words, place):
    """Make what another page, or another day, would have left."""
    for name in (word for word in words if word.endswith(".hex") and not (place / word).exists()):
        shutil.copy(place / "capture.hex", place / name)
    if words[0] == "check" and "rule.json" in words and not (place / "rule.json").exists():
        assert run(["learn", "new.csv", "--label", "fault", "-o", "rule.json"])[0] == 0
    if words[0] == "merge":
        for name in words[1:]:
            if name.endswith(".flag") and not (place / name).exists() and "-o" in words:
                folder = name.removesuffix(".flag")
                if (place / folder).is_dir():
                    assert run(["summarize", folder, "--format", "hex", "-o", name])[0] == 0


PLAIN = [
    (page, number)
    for page in PAGES
    for number, block in enumerate(blocks(page))
    if block.language == "python" and ">>>" not in block.text
]


@pytest.mark.parametrize(("page", "number"), PLAIN, ids=[f"{ids[p]}-{n}" for p, n in PLAIN])
def test_python_without_prompts_runs_and_prints_what_is_shown(page, number, place):
    code, *rest = blocks(page)[number:]
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(code.text, str(page), "exec"), {})
    assert rest, "what it prints must be shown below it"
    assert rest[0].language == "text", "what it prints must be shown below it"
    assert looks_like(rest[0].text, said.getvalue()), said.getvalue()


def test_the_readme_has_both():
    """So that an empty parametrization is no success."""
    assert PLAIN
    assert len(list(commands(ROOT / "README.md"))) >= 5


@pytest.mark.parametrize("page", PAGES, ids=lambda page: ids[page])
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\((?!https?:|#)([^)#\s]+)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target
