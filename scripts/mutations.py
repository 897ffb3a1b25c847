"""Small mistakes, one at a time: what a slip of the hand could have made of a source file.

A mutation replaces one expression or statement: a comparison flipped or moved by its boundary,
`and` for `or`, a term dropped, `+` for `-`, a number off by one, a condition negated (the branches
swapped), a result lost, a statement left out. Only the text of that node changes, so that lines
and comments stay where they are.
"""

from __future__ import annotations

import ast
import copy
import random
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

COMPARISONS = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
ARITHMETIC = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
#: No test should ever see an assertion fail; Python 3.11 misplaces what is inside an f-string.
SKIPPED = (ast.Assert, ast.JoinedStr, ast.Import, ast.ImportFrom)
SKIPPED_PARTS = ("annotation", "returns", "decorator_list")


class Mutation(NamedTuple):
    """In ``file``, the bytes from ``start`` to ``stop`` become ``new``."""

    file: str
    line: int
    start: int
    stop: int
    old: str
    new: str

    def planted(self, source: str) -> str:
        data = source.encode()
        return (data[: self.start] + self.new.encode() + data[self.stop :]).decode()

    def __str__(self) -> str:
        old, new = (" ".join(text.split()) for text in (self.old, self.new))
        return f"{self.file}:{self.line}: {old} → {new}"


def variants(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what a slip could have made of one node."""
    match node:
        case ast.Compare(ops=ops):
            for i, op in enumerate(ops):
                for other in COMPARISONS[type(op)]:
                    yield _with(node, ops=[*ops[:i], other(), *ops[i + 1 :]])
        case ast.BoolOp(op=op, values=values):
            yield _with(node, op=ast.Or() if isinstance(op, ast.And) else ast.And())
            for i in range(len(values)):
                rest = values[:i] + values[i + 1 :]
                yield rest[0] if len(rest) == 1 else _with(node, values=rest)
        case ast.BinOp(left=left, op=op) if type(op) in ARITHMETIC:
            yield _with(node, op=ARITHMETIC[type(op)]())
            if isinstance(op, (ast.Add, ast.Sub)):
                yield left
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield operand
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value) | float(value)):
            yield ast.Constant(value + 1)
            yield ast.Constant(value - 1)
        case ast.Return(value=value) if value is not None and ast.unparse(value) != "None":
            yield ast.Return(ast.Constant(None))
        case ast.Raise() if "AssertionError" not in ast.unparse(node):
            yield ast.Pass()
        case ast.Expr(value=value) if not isinstance(value, ast.Constant):
            yield ast.Pass()
        case ast.AugAssign() | ast.Break() | ast.Continue():
            yield ast.Pass()
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield ast.Pass()


def mutations(source: str, file: str) -> list[Mutation]:
    """Return every mutation of a source file, in the order of the text."""
    data = source.encode()
    starts = [0]
    for line in data.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found = set()
    for node, changed in _changes(ast.parse(source)):
        start = starts[node.lineno - 1] + node.col_offset
        stop = starts[node.end_lineno - 1] + node.end_col_offset
        new = ast.unparse(changed)
        if isinstance(changed, ast.expr) and not isinstance(changed, (ast.Constant, ast.Name)):
            new = f"({new})"
        old = data[start:stop].decode()
        found.add(Mutation(file, node.lineno, start, stop, old, new))
    return sorted(found)


def draw(root: Path, count: int, seed: int, words: list[str]) -> list[Mutation]:
    """Return mutations of the modules under ``root``, reference kernels aside, equally likely.

    With ``words``, of those modules only whose path holds one of them.
    """
    every: list[Mutation] = []
    for path in sorted(root.rglob("*.py")):
        file = path.relative_to(root).as_posix()
        if not file.startswith("_reference/") and any(word in file for word in words or [""]):
            every += mutations(path.read_text(), file)
    return random.Random(seed).sample(every, min(count, len(every)))


def _with(node: ast.AST, **fields: object) -> ast.AST:
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


def _changes(node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Yield (node, variant) for everything below a node that a running program can tell."""
    for name, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or isinstance(child, SKIPPED) or _is_unseen(child):
                continue
            if name in SKIPPED_PARTS:
                continue
            yield from ((child, variant) for variant in variants(child))
            if name in ("test", "ifs") and not isinstance(node, ast.While):
                yield from _negations(child)
            yield from _changes(child)


def _negations(test: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Negate a condition, unless flipping its comparison or dropping its `not` does that."""
    flipped = isinstance(test, ast.Compare) and len(test.ops) == 1
    if not flipped and not (isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)):
        yield test, ast.UnaryOp(ast.Not(), test)


def _is_unseen(node: ast.AST) -> bool:
    """Whether only the type checker, or only the eye of a reader of figures, meets this node."""
    if isinstance(node, ast.If):
        return ast.unparse(node.test) == "TYPE_CHECKING"
    if isinstance(node, ast.FunctionDef):
        return any(argument.arg in ("axis", "axes") for argument in node.args.args)
    return False
