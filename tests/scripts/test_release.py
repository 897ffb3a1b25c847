"""A release is refused until version, changelog, tag and packages agree."""

import pytest

from scripts.release import problems, section

CHANGELOG = """# Changelog

## Unreleased

## 1.2.0 (2027-01-02)

- Something new.

## 1.1.0 (2026-01-02)

- Something old.
"""
READY = {
    "version": "1.2.0",
    "changelog": CHANGELOG,
    "citation": "title: flagstone\nversion: 1.2.0\ndate-released: 2027-01-02\n",
    "metadata": '[project]\nname = "flagstone"\n\n[project.urls]\nSource = "https://example.org"\n',
    "tags": ["v1.2.0"],
    "changed": [],
    "built": ["flagstone-1.2.0.tar.gz", "flagstone-1.2.0-cp311-cp311-linux_x86_64.whl"],
}


def test_a_section_ends_where_the_next_begins():
    assert section(CHANGELOG, "1.2.0") == "- Something new."
    assert section(CHANGELOG, "Unreleased") == ""
    assert section(CHANGELOG, "1.3.0") is None


def test_all_in_order():
    assert problems(**READY) == []


def test_before_packages_are_built_only_the_tree_counts():
    assert problems(**(READY | {"built": None})) == []
    assert len(problems(**(READY | {"built": None, "tags": []}))) == 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"version": "1.2.0.dev0"}, "the version is 1.2.0.dev0"),
        ({"changelog": CHANGELOG.replace("1.2.0", "1.2.1")}, "no section '## 1.2.0"),
        ({"changelog": CHANGELOG.replace("2027-01-02", "soon")}, "'## 1.2.0 (YYYY-MM-DD)'"),
        ({"changelog": CHANGELOG.replace("## Unreleased\n", "## Unreleased\n\n- x")}, "Unreleased"),
        ({"citation": "version: 1.1.0\ndate-released: 2027-01-02\n"}, "'version: 1.2.0'"),
        ({"citation": "version: 1.2.0\n"}, "no date-released"),
        ({"metadata": "# [project.urls] waits\n"}, "no [project.urls]"),
        ({"tags": ["v1.1.0"]}, "no tag v1.2.0"),
        ({"changed": ["README.md"]}, "README.md"),
        ({"built": ["flagstone-1.2.0.tar.gz"]}, "no wheel of flagstone 1.2.0"),
        ({"built": ["flagstone-1.2.0-cp311-cp311-linux_x86_64.whl"]}, "flagstone-1.2.0.tar.gz"),
    ],
)
def test_what_is_missing_is_said(change, said):
    found = problems(**(READY | change))
    assert any(said in line for line in found), found
