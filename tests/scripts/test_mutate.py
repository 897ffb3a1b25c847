"""The mutants are mistakes, and those that are listed are about code that is there."""

import ast
from itertools import groupby
from operator import attrgetter

import pytest

from scripts import mutate
from scripts.mutations import mutations

FILE = attrgetter("file")

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


def test_listed_mutants_change_a_function_that_is_there():
    for file, mutants in groupby(sorted(mutate.MUTANTS, key=FILE), key=FILE):
        source = (mutate.ROOT / "src/flagstone" / file).read_text()
        lines = source.splitlines()
        functions = {
            node.name: "\n".join(lines[node.lineno - 1 : node.end_lineno])
            for node in ast.walk(ast.parse(source))
            if isinstance(node, ast.FunctionDef)
        }
        for mutant in mutants:
            assert functions[mutant.function].count(mutant.old) == 1, mutant
