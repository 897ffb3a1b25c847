"""Links made automatically: numbered statements, public names, tests.

``S18`` leads to the statement, ``index_rho`` in code to its page, ``tests/…::name`` to the source
of the test, which is shown as a page. Roles in docstrings find public names wherever they live.
"""

from __future__ import annotations

import contextlib
import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from sphinx.util.nodes import make_refnode

from flagstone.cli.verbs import VERBS

ROOT = Path(__file__).parents[2]
STATEMENT = re.compile(r"\bS(\d+)\b")
#: V_j and 2^{-i} in plain text, as pages for every reader have them; no names such as t_min.
SCRIPT = re.compile(r"(?<=[^\W\d_])_(?:\{([^}]+)\}|([^\W_]\b))|\^(?:\{([^}]+)\}|([-−]?\w)\b)")
TITLE = re.compile(r"S(\d+)\. ")
TEST = re.compile(r"(tests/[\w/]+\.py)(?:::(\w+))?")
GALLERY = [
    "first_span", "ledger", "survey", "categories", "key_check", "fault_rule", "low_degree",
    "sensor_digest", "crc32_packets", "isbn10", "dram_banks", "blind_code", "network_coding",
    "parity_against_learners", "side_by_side", "papers_figure", "certificate_against_bound",
    "out_of_core",
]  # fmt: skip


class GalleryOrder:
    """The order of the gallery: tables, frames, comparisons, scale."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __call__(self, name: str) -> int:
        """Return the place of an example; those not listed come last."""
        name = Path(name).stem
        return GALLERY.index(name) if name in GALLERY else len(GALLERY)


def name_statements(app: Any, doctree: nodes.document) -> None:
    """Give each numbered statement a short anchor, and remember its page."""
    known = app.env.__dict__.setdefault("flagstone_statements", {})
    for section in doctree.findall(nodes.section):
        found = TITLE.match(section.next_node(nodes.title).astext())
        if found:
            section["ids"].append(f"s{found[1]}")
            known[found[1]] = app.env.docname


def _is_free(node: nodes.Node) -> bool:
    """Whether a link may stand here: not inside another one, a title or code."""
    while node is not None:
        if isinstance(
            node, (nodes.reference, nodes.title, nodes.literal_block, nodes.FixedTextElement)
        ):
            return False
        if type(node).__name__ in {"desc_signature", "toctree", "download_reference"}:
            return False
        node = node.parent
    return True


def _objects(app: Any, *, bare: bool = False) -> dict[str, tuple[str, str]]:
    """Return page and anchor of every public name, under each of its shorter names as well.

    Methods and attributes keep the name of their class, unless ``bare``.
    """
    known: dict[str, tuple[str, str]] = {}
    objects = app.env.get_domain("py").objects
    for full, entry in sorted(objects.items(), key=lambda item: item[0].count(".")):
        parts = full.split(".")
        inside = entry.objtype in {"method", "attribute", "property"}
        least = 2 if inside and not bare else 1
        for start in range(len(parts) - least + 1):
            known.setdefault(".".join(parts[start:]), (entry.docname, entry.node_id))
    return known


def _by_name(known: dict[str, tuple[str, str]], text: str) -> tuple[str, str] | None:
    """Return where a name in code leads. A plain word must look like a call: others are verbs."""
    name = re.sub(r"\(.*\)$", "", text)
    is_word = name == text and re.fullmatch(r"[a-z]+", name)
    return known.get(name) if re.fullmatch(r"[A-Za-z_][\w.]*", name) and not is_word else None


def link(app: Any, doctree: nodes.document, docname: str) -> None:
    """Turn statements, names and tests into links, once the whole site is known."""
    builder = app.builder
    if builder.format != "html":
        return
    statements = app.env.__dict__.get("flagstone_statements", {})
    known, shown = _objects(app), _shown_tests()
    if docname.startswith(("theory/", "api/", "guide/")):
        for node in list(doctree.findall(nodes.Text)):
            if not isinstance(node.parent, nodes.literal):
                found = statements if _is_free(node) else {}
                pieces = list(_pieces(builder, docname, node.astext(), found))
                if len(pieces) > 1 and not _is_code(node):
                    node.parent.replace(node, pieces)
    for node in list(doctree.findall(nodes.literal)):
        if not _is_free(node):
            continue
        text = node.astext()
        test = TEST.fullmatch(text)
        if test and test[1] in shown:
            uri = builder.get_relative_uri(docname, _page_of(test[1]))
            where = uri + (f"#{test[2]}" if test[2] else "")
        elif docname == "command-line" and text in VERBS:
            where = f"{builder.get_relative_uri(docname, 'verbs')}#{text}"
        elif target := _by_name(known, text):
            where = f"{builder.get_relative_uri(docname, target[0])}#{target[1]}"
        else:
            continue
        reference = nodes.reference("", "", node.deepcopy(), internal=True, refuri=where)
        node.parent.replace(node, reference)


def _pieces(builder: Any, docname: str, text: str, known: dict[str, str]) -> Iterator[nodes.Node]:
    """Yield a text with its statements linked, its indices lowered and its exponents raised."""
    last = 0
    marks = sorted([*STATEMENT.finditer(text), *SCRIPT.finditer(text)], key=re.Match.start)
    for found in marks:
        if found.start() < last or (found.re is STATEMENT and found[1] not in known):
            continue
        yield nodes.Text(text[last : found.start()])
        if found.re is STATEMENT:
            uri = builder.get_relative_uri(docname, known[found[1]])
            yield nodes.reference("", found[0], internal=True, refuri=f"{uri}#s{found[1]}")
        elif found[0].startswith("_"):
            yield nodes.subscript("", found[1] or found[2])
        else:
            yield nodes.superscript("", found[3] or found[4])
        last = found.end()
    yield nodes.Text(text[last:])


def _is_code(node: nodes.Node) -> bool:
    """Whether a text is code, a formula or part of a signature, which stay as they are."""
    while node is not None:
        if isinstance(
            node, (nodes.literal_block, nodes.FixedTextElement, nodes.math, nodes.math_block)
        ):
            return True
        if type(node).__name__.startswith("desc_") and type(node).__name__ != "desc_content":
            return True
        node = None if type(node).__name__ == "desc_content" else node.parent
    return False


def _page_of(test: str) -> str:
    return test.removesuffix(".py")


def _shown_tests() -> list[str]:
    """Return the test files that the theory names: their sources become pages."""
    pages = (ROOT / "docs" / "theory").glob("*.md")
    theory = "".join(page.read_text(encoding="utf-8") for page in pages)
    return sorted({found[1] for found in TEST.finditer(theory)})


def test_pages(app: Any) -> Iterator[tuple[str, dict[str, str], str]]:
    """Yield a page with the source of each test file that the theory names."""
    for path in _shown_tests():
        code = (ROOT / path).read_text(encoding="utf-8")
        html = highlight(code, PythonLexer(), HtmlFormatter(nowrap=True))
        lines = []
        for line, shown in zip(code.splitlines(), html.splitlines(), strict=False):
            start = re.match(r"def (\w+)\(", line)
            lines.append(f'<span id="{start[1]}">{shown}</span>' if start else shown)
        body = (
            f'<h1><code>{path}</code></h1><div class="highlight"><pre>'
            + "\n".join(lines)
            + "</pre></div>"
        )
        yield _page_of(path), {"title": path, "body": body}, "page.html"


def resolve(app: Any, env: Any, node: Any, content: nodes.Node) -> nodes.Node | None:
    """Find what a role in a docstring names: by its full name, or by the end of it.

    What exists but is not public stays plain text; what does not exist at all is a warning.
    """
    if node.get("refdomain") != "py":
        return None
    known = _objects(app, bare=True)
    parts = node["reftarget"].split(".")
    for start in range(len(parts)):
        target = known.get(".".join(parts[start:]))
        if target:
            return make_refnode(app.builder, node["refdoc"], *target, content, node["reftarget"])
    return content if _exists(node["reftarget"]) else None


def _exists(name: str) -> bool:
    """Whether a module of ours has this name, or is it."""
    package, _, last = name.rpartition(".")
    for module in (name, package):
        with contextlib.suppress(ImportError, ValueError):
            importlib.import_module(module)
    ours = [m for m in sys.modules if m.split(".")[0] == "flagstone" and m.endswith(package)]
    return name in sys.modules or any(hasattr(sys.modules[m], last) for m in ours)


def project_pages(app: Any, name: str, source: list[str]) -> None:
    """Lead links to files at the root of the project and to examples to the pages made of them."""
    up = "../" * name.count("/")
    for file in ("CHANGELOG", "CONTRIBUTING", "SECURITY"):
        source[0] = source[0].replace(f"](../{up}{file}.md)", f"]({up}project/{file.lower()}.md)")
    source[0] = source[0].replace(f"](../{up}examples/)", f"]({up}gallery/index.rst)")
    example = rf"\]\(\.\./{re.escape(up)}examples/(\w+)\.py\)"
    source[0] = re.sub(example, rf"]({up}gallery/\1.rst)", source[0])


def setup(app: Any) -> dict[str, bool]:
    """Connect all of it."""
    app.connect("source-read", project_pages)
    app.connect("doctree-read", name_statements)
    app.connect("doctree-resolved", link)
    app.connect("html-collect-pages", test_pages)
    app.connect("missing-reference", resolve)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
