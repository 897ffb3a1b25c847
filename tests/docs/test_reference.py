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
#: Packages of which every public name has a page; of other modules, what the pages list is public.
WHOLE = sorted(
    {"flagstone"}
    | {m for m, _ in LISTED if hasattr(import_module(m), "__all__")}
    - {"flagstone.algebra.fields", "flagstone.answers", "flagstone.encoding"}
)
PUBLIC = sorted(
    set(LISTED)
    | {
        (package, name)
        for package in WHOLE
        for name in import_module(package).__all__
        if not inspect.ismodule(getattr(import_module(package), name)) and name != "__version__"
    }
)


def home(package: str, name: str) -> tuple[str, str]:
    """Return where a name is documented: some packages pass on names of others."""
    own = getattr(import_module(package), name)
    places = [("flagstone", name)] if name in flagstone.__all__ else []
    places += [(module, listed) for module, listed in LISTED if listed == name]
    same = (place for place in places if getattr(import_module(place[0]), name) is own)
    return next(same, (package, name))


@pytest.mark.parametrize(("package", "name"), PUBLIC, ids=[".".join(pair) for pair in PUBLIC])
def test_every_public_name_is_listed_and_has_an_example(package, name):
    where = home(package, name)
    assert where in LISTED, f"{'.'.join(where)} is on no page of docs/api"
    thing = getattr(import_module(package), name)
    own = inspect.getdoc(thing) if inspect.isclass(thing) or inspect.isroutine(thing) else ""
    assert ">>>" in (own or "") or name in USED[LISTED[where]], f"{name} has no example"


def test_every_name_is_listed_once_where_it_is_imported_from():
    assert set(LISTED) == {home(*pair) for pair in PUBLIC}
    for module, name in LISTED:
        assert name in getattr(import_module(module), "__all__", [name])


def test_the_top_level_has_few_names_and_every_submodule_a_page():
    assert len(flagstone.__all__) <= 30
    pages = {module.split(".")[1] for module, _ in LISTED if module != "flagstone"}
    assert set(flagstone._SUBMODULES) <= pages


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
