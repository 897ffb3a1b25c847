"""The reference pages are whole: every public name, with an example; every verb and option."""

from __future__ import annotations

import ast
import doctest
import importlib.util
import inspect
import re
from importlib import import_module

import pytest

import flagstone
from flagstone.cli.verbs import VERBS

from .snippets import ROOT

API = {page.stem: page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "api").glob("*.md")}
LISTED = {
    (module, name): page
    for page, text in API.items()
    for module, names in re.findall(
        r"currentmodule:: ([\w.]+)\n\n.. autosummary::\n(?:   :.*\n)*\n((?:   \w+\n)+)", text
    )
    for name in names.split()
}


def used(text: str) -> set[str]:
    """Return the names that the examples of a page use; to import one is not to use it."""
    sources = [example.source for example in doctest.DocTestParser().get_examples(text)]
    nodes = [node for source in sources for node in ast.walk(ast.parse(source))]
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    return names | {node.attr for node in nodes if isinstance(node, ast.Attribute)}


USED = {page: used(text) for page, text in API.items()}
NAMED = [name for name in flagstone.__all__ if inspect.ismodule(getattr(flagstone, name))]
#: flagstone, the packages that it names, and those that have a page, as frames does.
PACKAGES = sorted({"flagstone", *(f"flagstone.{n}" for n in NAMED), *(m for m, _ in LISTED)})
PUBLIC = [
    (package, name)
    for package in PACKAGES
    for name in import_module(package).__all__
    if not inspect.ismodule(getattr(import_module(package), name)) and name != "__version__"
]


def home(package: str, name: str) -> tuple[str, str]:
    """Return where a name is documented: under flagstone itself, where it is a name of that."""
    own = getattr(import_module(package), name)
    at_top = name in flagstone.__all__ and getattr(flagstone, name) is own
    return ("flagstone", name) if at_top else (package, name)


@pytest.mark.parametrize(("package", "name"), PUBLIC, ids=[".".join(pair) for pair in PUBLIC])
def test_every_public_name_is_listed_and_has_an_example(package, name):
    where = home(package, name)
    assert where in LISTED, f"{'.'.join(where)} is on no page of docs/api"
    thing = getattr(import_module(package), name)
    own = inspect.getdoc(thing) if inspect.isclass(thing) or inspect.isroutine(thing) else ""
    assert ">>>" in (own or "") or name in USED[LISTED[where]], f"{name} has no example"


def test_nothing_is_listed_that_is_not_public():
    assert set(LISTED) <= {home(*pair) for pair in PUBLIC}


def test_every_package_is_in_the_overview():
    for page in API:
        assert page == "index" or f"({page}.md)" in API["index"]


@pytest.fixture(scope="module")
def reference() -> str:
    """The page of verbs, as the site will have it."""
    path = ROOT / "docs" / "_extensions" / "commands.py"
    spec = importlib.util.spec_from_file_location("commands", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.MARK in (ROOT / "docs" / f"{module.PAGE}.md").read_text()
    return module.reference()


@pytest.mark.parametrize("verb", VERBS)
def test_the_page_of_verbs_has_every_option_key_and_example(reference, verb, capsys):
    from flagstone.cli import main

    with pytest.raises(SystemExit):
        main([verb, "--help-all"])
    text = capsys.readouterr().out
    section = re.search(rf"^## {verb}\n(.*?)(?=^## |\Z)", reference, re.MULTILINE | re.DOTALL)[1]
    options, _, keys = text.partition("Keys of --json:")
    for option in re.findall(r"^  (?:-\w, )?(--[\w-]+)", options, re.M):
        assert option == "--help" or option in section, option
    for example in re.findall(r"^  (flagstone .*)$", options, re.MULTILINE):
        assert f"$ {example}" in section
    for key in re.findall(r"^  ([a-z_]+)", keys, re.MULTILINE):
        assert f"`{key}`" in section, key
    assert "Exit codes" in reference
