"""The theory pages, the code and the tests point at each other: no link may dangle."""

import importlib.util
import re
import sys
from pathlib import Path

import pytest

from flagstone import guarantees

ROOT = Path(__file__).parent.parent
NAMES = [
    "README", "flag", "rules", "guarantees", "learners", "certificates", "single", "lower",
    "related", "paper", "open", "glossary", "statements",
]  # fmt: skip
PAGES = [ROOT / "docs" / "theory" / f"{name}.md" for name in NAMES]
TEXT = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
STATEMENTS = [int(n) for n in re.findall(r"^### S(\d+)\. ", TEXT, flags=re.MULTILINE)]
CODE = sorted(
    [*(ROOT / "src").rglob("*.py"), *(ROOT / "cpp").rglob("*.h"), *(ROOT / "cpp").rglob("*.cpp")]
)
SOURCES = [
    *(path for path in CODE if re.search(r"\bS\d+\b", path.read_text(encoding="utf-8"))),
    *(ROOT / "tests" / "certificates").glob("*.py"),
    *(ROOT / "tests" / "statistical").glob("*.py"),
]


@pytest.fixture(scope="module")
def listing():
    """scripts/statements.py, which makes the list of all statements."""
    spec = importlib.util.spec_from_file_location("statements", ROOT / "scripts" / "statements.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["statements"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["statements"]


def test_every_number_is_given_once():
    assert sorted(STATEMENTS) == list(range(1, len(STATEMENTS) + 1))


def test_coverage_statements_stand_together():
    place = {number: place for place, number in enumerate(STATEMENTS)}
    assert place[36] + 1 == place[41] == place[42] - 1


def test_the_list_of_statements_is_up_to_date(listing):
    """If it is not: python scripts/statements.py."""
    assert PAGES[-1].read_text(encoding="utf-8") == listing.page()


def test_the_list_of_statements_leads_to_each_of_them(listing):
    slugs = pytest.importorskip("myst_parser.slugs")
    for statement in listing.statements():
        # "²" stays in anchors of the site, but not in those of GitHub
        assert re.fullmatch(r"[a-z0-9_-]+", statement.anchor)
        heading = f"S{statement.number}. {statement.title}"
        assert statement.anchor == slugs.github_slugify(heading.replace("\\", ""))
        assert f"({statement.page}.md#{statement.anchor})" in listing.page()


def test_every_statement_in_use_names_its_tests(listing):
    bare = {3, 4, 6, 45}  # used by other statements only
    for statement in listing.statements():
        if statement.title != "(not in use)":
            assert statement.tests, statement
            assert statement.code or statement.number in bare, statement


def test_code_cites_the_page_on_which_a_statement_stands(listing):
    pages = {statement.number: statement.page for statement in listing.statements()}
    for path in CODE:
        text = path.read_text(encoding="utf-8")
        for page, numbers in re.findall(r"docs/theory/(\w+)\.md,((?:[\s,]|and|S\d+)+)", text):
            for number in re.findall(r"S(\d+)", numbers):
                assert pages[int(number)] == page, f"{path}: S{number} is not on {page}.md"


def test_pieces_are_cited_by_the_statements_on_pieces():
    """S35 is about a gap that is stated in advance; pieces that add up are S30 and S31."""
    for path in CODE:
        text = path.read_text(encoding="utf-8")
        if "S35" in text:
            assert path.name in ("planning.py", "__init__.py"), path


def test_letters_have_one_meaning():
    """E is expectation, k the start of the window, L the length of a piece, K blocks."""
    assert "E(s, b, M)" not in TEXT
    assert "d·L" not in TEXT
    assert not re.findall(r"λ_K|U_K|1/K\b|δ/K", TEXT)
    assert not re.findall(r"[λμcM]_k|Σ_k", TEXT)


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_code_cites_statements_that_exist(source):
    cited = {int(n) for n in re.findall(r"\bS(\d{1,2})\b", source.read_text(encoding="utf-8"))}
    assert cited <= set(STATEMENTS)


def test_pages_cite_statements_that_exist():
    assert {int(n) for n in re.findall(r"\bS(\d+)\b", TEXT)} <= set(STATEMENTS)


@pytest.mark.parametrize("link", sorted(set(re.findall(r"tests/[\w/]+\.py(?:::\w+)?", TEXT))))
def test_tests_named_on_the_pages_exist(link):
    path, _, name = link.partition("::")
    text = (ROOT / path).read_text(encoding="utf-8")
    assert not name or f"def {name}(" in text


BOUNDS = [*guarantees.__all__, "index_window", "mean_failure", "pilot_share"]


@pytest.mark.parametrize("name", sorted(n for n in BOUNDS if n.islower()))
def test_every_bound_is_named_on_a_page(name):
    if not name.startswith("check_"):
        assert f"`{name}" in TEXT, f"no statement in docs/theory has {name} in its line Code"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages(page):
    for target in re.findall(r"\]\(([\w/.]+\.md)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists()
