"""The page of frames in a real browser: layers and marked bits, on a desk and on a phone."""

import json

import numpy as np
import pytest

from flagstone.cli import main
from tests.browser.test_report import VIEWS, browser, check_contrast, keep, visit
from tests.frames.digests import oracle

__all__ = ["browser"]
pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def page_of_frames(tmp_path_factory):
    """Frames that begin with a constant byte and end in the XOR of the others; four damaged."""
    folder = tmp_path_factory.mktemp("frames")
    payload = oracle.skewed(np.random.default_rng(3), 500, 4)
    X = oracle.frames(payload, np.bitwise_xor.reduce(payload, axis=1), 8, before=(0x2D,))
    X[:4, 45] ^= 1
    lines = [np.packbits(row).tobytes().hex() for row in X]
    (folder / "t.hex").write_text("\n".join(lines) + "\n")
    words = ["--contamination", "0.01", "--seed", "7", "-o", str(folder / "finding.json")]
    with pytest.raises(SystemExit) as stop:
        main(["frames", str(folder / "t.hex"), *words, "--report", str(folder / "r.html")])
    assert not stop.value.code
    return folder / "r.html"


@pytest.mark.parametrize("view", VIEWS)
def test_layers_and_marked_bits(browser, page_of_frames, view):
    page, noise = visit(browser, page_of_frames, **VIEWS[view])
    keep(page, f"frames-{view}")
    assert page.locator("h1").inner_text().startswith("XOR of bytes, in byte 5: fits 496 of 500")
    assert page.locator(".layers .digest li").first.inner_text() == "XOR of bytes, in byte 5"
    assert page.locator(".layers .pattern li").inner_text().startswith("00101101")
    ruler = 'e => getComputedStyle(e, "::before").content'
    spans = page.locator(".layers .pattern span[data-byte]").all()
    assert [span.evaluate(ruler) for span in spans] == [f'"{i}"' for i in range(6)]
    found = json.loads((page_of_frames.parent / "finding.json").read_text())["content"]
    assert [digest["name"] for digest in found["provenance"]["digest"]] == ["XOR of bytes"]
    rows = page.locator(".misfits li").all()
    for item, bits in zip(rows, found["rows"]["values"], strict=True):
        assert "".join(item.locator(".bits").inner_text().split()) == bits
        assert item.locator("mark").count() == 5  # the same bit of every byte that is added up
        assert item.locator(".breaks").inner_text() == "one of 5 bits flipped?"
    check_contrast(page, "mark", ".bits", ".layers dt", ".layers li")
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= VIEWS[view]["viewport"]["width"], "the page scrolls sideways"
    assert noise == []
