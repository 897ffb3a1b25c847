"""The theory pages, the code and the tests point at each other: no link may dangle."""

import re
from pathlib import Path

import pytest

from flagstone import guarantees

ROOT = Path(__file__).parent.parent
NAMES = [
    "README", "flag", "rules", "guarantees", "learners", "certificates", "single", "lower",
    "related", "paper", "open", "glossary",
]  # fmt: skip
PAGES = [ROOT / "docs" / "theory" / f"{name}.md" for name in NAMES]
TEXT = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
STATEMENTS = [int(n) for n in re.findall(r"^### S(\d+)\. ", TEXT, flags=re.MULTILINE)]
SOURCES = [
    *(ROOT / "src" / "flagstone" / "guarantees").glob("*.py"),
    *(ROOT / "src" / "flagstone" / "rules").glob("*.py"),
    *(ROOT / "src" / "flagstone" / "certificates").glob("*.py"),
    *(ROOT / "tests" / "certificates").glob("*.py"),
    *(ROOT / "tests" / "statistical").glob("*.py"),
]


def test_statements_are_numbered_in_order():
    assert STATEMENTS == list(range(1, len(STATEMENTS) + 1))


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_code_cites_statements_that_exist(source):
    cited = {int(n) for n in re.findall(r"\bS(\d+)\b", source.read_text(encoding="utf-8"))}
    assert cited <= set(STATEMENTS)


def test_pages_cite_statements_that_exist():
    assert {int(n) for n in re.findall(r"\bS(\d+)\b", TEXT)} <= set(STATEMENTS)


@pytest.mark.parametrize("link", sorted(set(re.findall(r"tests/[\w/]+\.py(?:::\w+)?", TEXT))))
def test_tests_named_on_the_pages_exist(link):
    path, _, name = link.partition("::")
    text = (ROOT / path).read_text(encoding="utf-8")
    assert not name or f"def {name}(" in text


BOUNDS = [*guarantees.__all__, "index_window", "heavy_window", "mean_failure", "pilot_share"]


@pytest.mark.parametrize("name", sorted(n for n in BOUNDS if n.islower()))
def test_every_bound_is_named_on_a_page(name):
    if not name.startswith("check_"):
        assert f"`{name}" in TEXT


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages(page):
    for target in re.findall(r"\]\(([\w/.]+\.md)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists()
