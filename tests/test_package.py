"""The package as a whole: what it loads, what it names, what it promises to type checkers."""

import ast
import functools
import importlib.util
import inspect
import re
import subprocess
import sys
from collections import Counter
from importlib import import_module, resources
from pathlib import Path

import numpy as np
import pytest

import flagstone

HEAVY = [
    "sklearn", "scipy", "matplotlib", "pyarrow", "dask", "flint", "pandas",
    "narwhals", "rich",
]  # fmt: skip


def run(code):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout


def test_import_loads_nothing_heavy():
    """Kernels and friends load on first use: `import flagstone` is near free."""
    out = run(f"import sys, flagstone; print([m for m in {HEAVY!r} if m in sys.modules])")
    assert out.strip() == "[]"


def test_core_never_loads_sklearn():
    code = (
        "import sys, flagstone\n"
        "flag = flagstone.Flag(3, 5).update([[1, 2, 3]])\n"
        "flagstone.Flag(3).update([[1, 0, 1]]).span_at(1).annihilator()\n"
        "flagstone.Coins(7).vector('r', 8, 3)\n"
        "heavy = ('sklearn', 'matplotlib', 'pyarrow', 'dask')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    assert run(code).strip() == "[]"


@pytest.mark.parametrize(
    ("name", "needs_arrow"), [("t.hex", False), ("t.npy", False), ("t.csv", True)]
)
def test_arrow_is_loaded_where_it_reads(tmp_path, name, needs_arrow):
    (tmp_path / "t.hex").write_text("a5\n0f\n")
    (tmp_path / "t.csv").write_text("a,b\n1,0\n")
    np.save(tmp_path / "t.npy", np.eye(2, dtype=np.uint8))
    code = (
        "import sys\n"
        "from flagstone.tables import open_table\n"
        f"table = open_table({str(tmp_path / name)!r})\n"
        "rows = list(table.rows(table.encoding(2)))\n"
        "print('pyarrow' in sys.modules)"
    )
    assert run(code).strip() == str(needs_arrow)


def test_every_public_name_resolves():
    for name in flagstone.__all__:
        assert getattr(flagstone, name) is not None
    assert set(flagstone.__all__) <= set(dir(flagstone))
    with pytest.raises(AttributeError, match="no_such_name"):
        flagstone.no_such_name  # noqa: B018


def test_is_typed_and_versioned():
    assert resources.files("flagstone").joinpath("py.typed").is_file()
    assert flagstone.__version__ == import_module("flagstone._version").__version__


#: Packages whose public functions are looked at; the last one may have been removed.
PACKAGES = ["flagstone", "flagstone.audit"]
if importlib.util.find_spec("flagstone.paper"):
    PACKAGES.append("flagstone.paper")


@pytest.mark.parametrize("package", PACKAGES)
def test_signatures_name_the_parameters_that_are_documented(package):
    """Type checkers and editors know them then, too."""
    module = import_module(package)
    for name in module.__all__:
        function = getattr(module, name)
        if inspect.isfunction(function):
            text = inspect.cleandoc(function.__doc__)
            found = re.search(r"Parameters\n-+\n(.*?)(\n\n\w+\n-+\n|$)", text, re.DOTALL)
            heads = re.findall(r"^(\w[\w, ]*?)(?: :.*)?$", found[1] if found else "", re.MULTILINE)
            told = {word for head in heads for word in head.split(", ")}
            assert told <= inspect.signature(function).parameters.keys(), name


def test_rationals_without_flint_say_what_to_install():
    code = (
        "import sys; sys.modules['flint'] = None\n"
        "import flagstone\n"
        "try:\n"
        "    flagstone.Flag(2, 'QQ').update([[1, 2]])\n"
        "except flagstone.errors.MissingDependencyError as error:\n"
        "    print(error)"
    )
    assert "pip install 'flagstone[rationals]'" in run("import flagstone.errors\n" + code)


@functools.cache
def sources():
    """Every module of ours, by its dotted name below flagstone, with the nodes of its syntax."""
    root, found = Path(flagstone.__file__).parent, []
    for path in sorted(root.rglob("*.py")):
        name = ".".join(path.relative_to(root).with_suffix("").parts)
        found.append((name, list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))))
    return found


def test_no_package_reaches_into_the_private_modules_of_another():
    for name, nodes in sources():
        for node in nodes:
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("flagstone."):
                package, *rest = node.module.split(".")[1:]
                private = any(part.startswith("_") for part in rest)
                assert not private or name.split(".")[0] == package, (name, node.module)


def test_names_load_by_name_in_two_places_only():
    """`flagstone.X` and the verbs: the rest is plain imports."""
    upwards = {
        name
        for name, nodes in sources()
        for node in nodes
        if isinstance(node, ast.Attribute) and node.attr == "import_module"
    }
    assert upwards == {"__init__", "cli.runner"}


def test_the_span_is_selected_in_one_place():
    callers = {
        name
        for name, nodes in sources()
        for node in nodes
        if isinstance(node, ast.Call) and getattr(node.func, "id", None) == "select_span"
    }
    assert callers == {"pipeline"}


def test_class_names_are_unique():
    """A name means one thing."""
    homes: dict[str, list[str]] = {}
    for name, nodes in sources():
        for node in nodes:
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, []).append(name)
    assert {name: where for name, where in homes.items() if len(where) > 1} == {}


#: For the standard library, which reads streams.
CALLED_FROM_OUTSIDE = {"seekable"}


def test_no_code_is_dead():
    """Whatever is defined is named a second time: where it is used, or on a page of the docs.

    The options of a verb are used by being registered: the function of the verb, which names them
    again, stands in a package that may be removed.
    """
    package, docs = Path(flagstone.__file__).parent, Path(__file__).parents[1] / "docs"
    pages = [*package.rglob("*.py"), *docs.rglob("*.md"), *docs.rglob("*.py")]
    text = "\n".join(path.read_text(encoding="utf-8") for path in pages)
    times = Counter(re.findall(r"\w+", text))
    defined = {
        node.name
        for _, nodes in sources()
        for node in nodes
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("__")
        if not any(ast.unparse(by).startswith("verb(") for by in node.decorator_list)
    }
    assert {name for name in defined if times[name] == 1} <= CALLED_FROM_OUTSIDE
