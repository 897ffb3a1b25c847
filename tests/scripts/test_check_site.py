"""The check of the built site finds what it is there to find."""

import pytest

from scripts.check_site import problems

GOOD = '<h1 id="top">x</h1><a href="other.html#there">x</a><img src="_images/sphx_glr_x.png">'


@pytest.fixture
def site(tmp_path):
    (tmp_path / "gallery").mkdir()
    (tmp_path / "index.html").write_text(GOOD)
    (tmp_path / "other.html").write_text('<p id="there">x</p><a href="index.html">x</a>')
    (tmp_path / "gallery" / "page.html").write_text('<img src="../_images/sphx_glr_x.png">')
    return tmp_path


def test_a_whole_site_has_no_problems(site):
    assert problems(site) == []


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("index.html", '<script src="https://host/x.js"></script>', "loads https://host/x.js"),
        ("index.html", '<link rel="stylesheet" href="//host/x.css">', "loads //host/x.css"),
        ("index.html", '<a href="nowhere.html">x</a>', "which is not there"),
        ("index.html", '<a href="other.html#elsewhere">x</a>', "which has no such place"),
        ("gallery/page.html", "<p>no figure</p>", "has no picture"),
        ("other.html", '<div class="highlight-python" id="there">', "without copy buttons"),
    ],
)
def test_what_is_amiss_is_said(site, file, text, said):
    (site / file).write_text(text)
    assert any(said in line for line in problems(site)), problems(site)
