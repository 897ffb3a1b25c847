"""The mutants are mistakes: each changes the program, and a test that looks at it fails."""

import ast
import random
from pathlib import Path

import pytest

from scripts import mutate
from scripts.mutations import draw, mutations

SOURCES = Path(mutate.ROOT) / "src" / "flagstone"

#: one statement, and everything that must be made of it
SLIPS = [
    ("a < b", ["a <= b", "a >= b"]),
    ("a is None", ["a is not None"]),
    ("a in b", ["a not in b"]),
    ("0 < a <= b", ["0 <= a <= b", "0 >= a <= b", "0 < a < b", "0 < a > b", "1 < a <= b",
                    "-1 < a <= b"]),
    ("a and b", ["a or b", "a", "b"]),
    ("a or b or c", ["a and b and c", "b or c", "a or c", "a or b"]),
    ("a + b", ["a - b", "a"]),
    ("a * b", ["a / b"]),
    ("(a - b) * c", ["(a - b) / c", "(a + b) * c", "a * c"]),
    ("a[1:]", ["a[0:]", "a[2:]"]),
    ("not a", ["a"]),
    ("f(key=True)", ["f(key=False)"]),
    ("x += a", ["pass"]),
    ("x.y = a", ["pass"]),
    ("f(a)", ["pass"]),
    ("a if b else c", ["a if not b else c"]),
    ("a if b == c else d", ["a if b != c else d"]),
    ("[a for a in b if c]", ["[a for a in b if not c]"]),
    ("if a:\n    b = c\nelse:\n    b = d", ["if not a:\n    b = c\nelse:\n    b = d"]),
    ("raise E('x')", ["pass"]),
    ("x: Literal[1] = a", []),
    ("assert a < b", []),
    ("x = f'{a < b}'", []),
    ("x = 'text'", []),
    ("raise AssertionError('unreachable')", []),
    ("if TYPE_CHECKING:\n    a = b + c", []),
    ("def _draw(self, axes):\n    axes[0].text(0.5, 'x')", []),
]  # fmt: skip


def dump(source: str) -> str:
    return ast.dump(ast.parse(source))


@pytest.mark.parametrize(("source", "expected"), SLIPS)
def test_every_slip_is_made_and_no_other(source, expected):
    """An expression stands on the right of an assignment, where it cannot be dropped."""
    if isinstance(ast.parse(source).body[0], ast.Expr) and source != "f(a)":
        source, expected = f"x = {source}", [f"x = {text}" for text in expected]
    found = [dump(mutation.planted(source)) for mutation in mutations(source, "x.py")]
    assert sorted(found) == sorted(map(dump, expected))


def test_a_result_is_lost():
    source = "def f(a):\n    return a  # the ä before b counts two bytes: ä\n"
    (mutation,) = mutations(source, "x.py")
    assert mutation.planted(source) == source.replace("return a", "return None")
    assert str(mutation) == "x.py:2: return a → return None"


def test_lines_and_letters_of_any_width_stay_in_place():
    source = "x = 'ä' if 'ö' in b else (\n    c\n    + d\n)  # é\n"
    texts = [mutation.planted(source) for mutation in mutations(source, "x.py")]
    assert "x = 'ä' if ('ö' not in b) else (\n    c\n    + d\n)  # é\n" in texts
    assert "x = 'ä' if 'ö' in b else (\n    (c - d)\n)  # é\n" in texts


def test_every_mutant_of_the_library_is_another_program():
    every = draw(SOURCES, 10**6, 0, [])
    assert len(every) == len(set(every)) > 5000
    assert not any(mutation.file.startswith("kernels") for mutation in every)
    for mutation in random.Random(0).sample(every, 100):
        source = (SOURCES / mutation.file).read_text()
        assert dump(mutation.planted(source)) != dump(source)
        assert mutation.old in source


def test_a_seed_draws_the_same_mutants_again():
    first = draw(SOURCES, 20, 7, ["tables", "coins"])
    assert draw(SOURCES, 20, 7, ["tables", "coins"]) == first
    assert draw(SOURCES, 20, 8, ["tables", "coins"]) != first
    assert all("tables" in mutation.file or "coins" in mutation.file for mutation in first)


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A module with one doctest, a test named after it, and a general one."""
    files = {
        "pyproject.toml": "[tool.pytest.ini_options]\naddopts = '--doctest-modules'\n",
        "src/flagstone/__init__.py": "",
        "src/flagstone/sums.py": (
            "def total(a, b):\n    '''\n    >>> total(0, 0)\n    0\n    '''\n    return a + b\n\n\n"
            "def is_many(n):\n    return n > 9\n\n\n"
            "def unseen(n):\n    return n > 9\n"
        ),
        "src/flagstone/loops.py": "def run(go):\n    while not go:\n        pass\n",
        "tests/test_sums.py": (
            "from flagstone.sums import total\n\n\ndef test_total():\n    assert total(1, 1) == 2\n"
        ),
        "tests/test_loops.py": (
            "from flagstone.loops import run\n\n\ndef test_run():\n    run(True)\n"
        ),
        "tests/test_all.py": (
            "from flagstone.sums import is_many\n\n\ndef test_many():\n"
            "    assert is_many(10) and not is_many(9)\n"
        ),
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # none is needed here
    monkeypatch.setattr(mutate, "ROOT", tmp_path)
    monkeypatch.setattr(mutate, "GENERAL_TESTS", ["tests/test_all.py"])
    return tmp_path


def test_the_tests_of_a_module_are_those_of_its_name(project):
    for name in ("sums/test_more", "other/test_sums", "browser/test_sums", "test_summary"):
        path = project / "tests" / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.touch()
    expected = ["tests/other/test_sums.py", "tests/sums/test_more.py", "tests/test_sums.py"]
    for file in ("sums.py", "sums/_all.py"):
        own = mutate.concerned_tests(project, file)
        assert own[-1] == f"src/flagstone/{file}"
        assert [test for test in own[:-1] if "sum" in test] == expected
    assert "tests/test_all.py" in mutate.concerned_tests(project, "sums/_all.py")


def test_what_is_seen_is_reported_as_caught(project):
    """By the test beside it, by the general ones, or by nobody; the file is put back."""
    path = project / "src" / "flagstone" / "sums.py"
    source = path.read_text()
    verdicts = {
        f"{mutation.line}: {mutation.new}": mutate.verdict_on(project, mutation)
        for mutation in mutations(source, "sums.py")
        if mutation.new in ("(a - b)", "(n >= 9)")
    }
    assert verdicts == {
        "6: (a - b)": "failed: test_total",
        "10: (n >= 9)": "failed: test_many",
        "14: (n >= 9)": "passed",
    }
    assert path.read_text() == source


def test_a_mutant_that_never_ends_is_caught(project, monkeypatch):
    monkeypatch.setattr(mutate, "TIME_LIMIT", 5)
    (endless,) = mutations((project / "src/flagstone/loops.py").read_text(), "loops.py")
    assert mutate.verdict_on(project, endless) == "hung"


def test_random_survivors_are_reported_and_fail_nothing(project, capsys):
    assert mutate.main(["--random", "2", "--seed", "4", "--minutes", "9", "sums"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("2 mutants at random, seed 4\n")
    survivors = said.count("SURVIVED")
    assert f"{2 - survivors} of 2 random mutants caught (seed 4)" in said
    assert said.count("  survived: sums.py:") == survivors
    assert mutate.main(["--random", "2", "--minutes", "0", "sums"]) == 0
    assert "0 of 0 random mutants caught" in capsys.readouterr().out


def test_listed_survivors_fail(project, monkeypatch, capsys):
    listed = [
        mutate.Mutant("sums.py", "total", "a + b", "a - b", "total"),
        mutate.Mutant("sums.py", "unseen", "n > 9", "n >= 9", "total"),
    ]
    monkeypatch.setattr(mutate, "MUTANTS", listed)
    monkeypatch.setattr(mutate, "KERNEL_TESTS", ["tests/test_sums.py"])
    assert mutate.main(["--fixed", "total"]) == 0
    assert mutate.main(["--fixed"]) == 1
    said = capsys.readouterr().out
    assert "SURVIVED  sums.py unseen: n > 9 → n >= 9" in said
    assert said.endswith("1 of 2 listed mutants caught\n")


def test_tests_that_fail_by_themselves_stop_everything(project):
    (project / "tests/test_sums.py").write_text("def test_total():\n    assert False\n")
    with pytest.raises(SystemExit, match="without any mutant: failed: test_total"):
        mutate.main(["--random", "1", "sums"])


@pytest.mark.parametrize("mutant", mutate.MUTANTS, ids=lambda mutant: f"{mutant.file}-{mutant.old}")
def test_listed_mutants_change_a_function_that_is_there(mutant):
    source = (mutate.ROOT / "src/flagstone" / mutant.file).read_text()
    functions = {
        node.name: ast.get_source_segment(source, node)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef)
    }
    assert functions[mutant.function].count(mutant.old) == 1
