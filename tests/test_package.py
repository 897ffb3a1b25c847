"""The package as a whole: what it loads, what it names, what it promises to type checkers."""

import subprocess
import sys
from importlib import import_module, resources

import pytest

import flagstone

HEAVY = [
    "numba", "sklearn", "scipy", "matplotlib", "pyarrow", "typer", "dask", "flint", "pandas",
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
        "flagstone.Histogram(3).update([[1, 0, 1]]).to_flag().span_at(1).annihilator()\n"
        "flagstone.Coins(7).vector('r', 8, 3)\n"
        "heavy = ('sklearn', 'matplotlib', 'pyarrow', 'typer', 'dask')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    assert run(code).strip() == "[]"


def test_every_public_name_resolves():
    for name in flagstone.__all__:
        assert getattr(flagstone, name) is not None
    assert set(flagstone.__all__) <= set(dir(flagstone))
    with pytest.raises(AttributeError, match="no_such_name"):
        flagstone.no_such_name  # noqa: B018


def test_is_typed_and_versioned():
    assert resources.files("flagstone").joinpath("py.typed").is_file()
    assert flagstone.__version__ == import_module("flagstone._version").__version__


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
