"""The mutants of a file: small faults, each on one line.

The rest of the file stays byte for byte the same. Docstrings, annotations, decorators, f-strings,
`__all__`, and the texts of errors and logs are not mutated.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

OPERATORS: dict[type[ast.AST], tuple[str, str, str]] = {  # node -> (kind, token, replacement)
    ast.Lt: ("compare", "<", "<="),
    ast.LtE: ("compare", "<=", "<"),
    ast.Gt: ("compare", ">", ">="),
    ast.GtE: ("compare", ">=", ">"),
    ast.Eq: ("compare", "==", "!="),
    ast.NotEq: ("compare", "!=", "=="),
    ast.Is: ("compare", "is", "is not"),
    ast.IsNot: ("compare", "is not", "is"),
    ast.In: ("compare", "in", "not in"),
    ast.NotIn: ("compare", "not in", "in"),
    ast.Add: ("arithmetic", "+", "-"),
    ast.Sub: ("arithmetic", "-", "+"),
    ast.Mult: ("arithmetic", "*", "/"),
    ast.Div: ("arithmetic", "/", "*"),
    ast.FloorDiv: ("arithmetic", "//", "*"),
    ast.Mod: ("arithmetic", "%", "//"),
    ast.BitAnd: ("arithmetic", "&", "|"),
    ast.BitOr: ("arithmetic", "|", "&"),
    ast.And: ("bool", "and", "or"),
    ast.Or: ("bool", "or", "and"),
}
NAMES = {"min": "max", "max": "min", "any": "all", "all": "any", "sorted": "list"}
METHODS = NAMES | {"amin": "amax", "amax": "amin", "sum": "mean", "mean": "sum"}
DIMS = {"amax", "amin", "argmax", "argsort", "cumsum", "max", "mean", "min", "softmax", "sum"}
DIMS |= {"cat", "flatten", "index_add", "index_select", "size", "stack", "transpose", "unsqueeze"}
MESSAGES = re.compile(r"\w*(Error|print|echo|secho|warn|warning|info|debug)")  # take texts
SEQUENCES = ast.JoinedStr | ast.List | ast.Tuple  # subtracting them fails in any run


@dataclass(frozen=True)
class Mutant:
    """A changed line.

    Args:
        area: Name of the area of code.
        file: Path below the root of the checkout.
        line: Line number, counted from 1.
        function: Qualified name of the function, or "".
        kind: Kind of the fault.
        ordinal: Number of this mutant among those of its kind in the function.
        text: The line without surrounding spaces.
        changed: The mutated line, likewise.
    """

    area: str
    file: str
    line: int
    function: str
    kind: str
    ordinal: int
    text: str
    changed: str

    @property
    def key(self) -> str:
        """The name of its result. It does not depend on the line number."""
        parts = (self.file, self.function, self.kind, str(self.ordinal), self.text, self.changed)
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]

    def applied(self, source: str) -> str:
        """Return the text of the file with this fault."""
        lines = source.splitlines(keepends=True)
        old = lines[self.line - 1]
        lines[self.line - 1] = old.replace(self.text, self.changed)
        return "".join(lines)


class _Finder(ast.NodeVisitor):
    """Visits the nodes that may be mutated and records mutants of single lines."""

    def __init__(self, area: str, file: str, source: str) -> None:
        self.area, self.file = area, file
        self.lines = [line.encode() for line in source.splitlines()]  # ast counts bytes
        self.names: list[str] = []
        self.counts: Counter[tuple[str, str]] = Counter()
        self.mutants: list[Mutant] = []

    def note(self, kind: str, line: int, start: int, end: int, new: str) -> None:
        """Record the mutant in which `new` replaces these columns."""
        old, function = self.lines[line - 1], ".".join(self.names)
        changed = (old[:start] + new.encode() + old[end:]).decode().strip()
        ordinal = self.counts[function, kind]
        self.counts[function, kind] += 1
        text = old.decode().strip()
        self.mutants.append(
            Mutant(self.area, self.file, line, function, kind, ordinal, text, changed)
        )

    def change(self, kind: str, node: ast.expr | ast.stmt, new: str | Callable[[str], str]) -> None:
        """Record a mutant in which another text replaces a node of one line."""
        start, end = node.col_offset, node.end_col_offset
        if node.lineno == node.end_lineno and end is not None:
            old = self.lines[node.lineno - 1][start:end].decode()
            self.note(kind, node.lineno, start, end, new if isinstance(new, str) else new(old))

    def between(self, left: ast.expr, operator: ast.AST, right: ast.expr) -> None:
        """Record a mutant of the operator between two nodes on one line."""
        kind, token, new = OPERATORS.get(type(operator), ("", "", ""))
        if not kind or left.end_lineno != right.lineno or left.end_col_offset is None:
            return
        gap = self.lines[right.lineno - 1][left.end_col_offset : right.col_offset].decode()
        start = left.end_col_offset + gap.index(token.split()[0])
        self.note(kind, right.lineno, start, start + len(token), new)

    def visit_Compare(self, node: ast.Compare) -> None:
        terms = [node.left, *node.comparators]
        for left, operator, right in zip(terms, node.ops, terms[1:], strict=False):
            self.between(left, operator, right)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        sides = (node.left, node.right)
        text = any(
            isinstance(s, SEQUENCES) or isinstance(getattr(s, "value", 0), str) for s in sides
        )
        types = isinstance(node.op, ast.BitOr) and any(_is_type(s) for s in sides)
        path = isinstance(node.op, ast.Div) and ast.unparse(node.right).isupper()
        if not text and not types and not path:
            self.between(node.left, node.op, node.right)
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        for left, right in zip(node.values, node.values[1:], strict=False):
            self.between(left, node.op, right)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            self.change("not", node, lambda old: old.removeprefix("not").strip())
        elif isinstance(node.op, ast.Invert):
            self.change("not", node, lambda old: old.removeprefix("~"))
        elif isinstance(node.op, ast.USub) and not isinstance(node.operand, ast.Constant):
            self.change("arithmetic", node, lambda old: old.removeprefix("-"))
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant, kind: str = "constant") -> None:
        if isinstance(node.value, bool):
            self.change("true", node, str(not node.value))
        elif isinstance(node.value, int | float):
            self.change(kind, node, str(node.value * 2 if node.value % 1 else node.value + 1))

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self.visit(node.value)
        for part in ast.iter_child_nodes(node.slice) if _many(node.slice) else [node.slice]:
            self.index(part)

    def index(self, node: ast.AST) -> None:
        """Record a mutant of an index or of a dimension."""
        number = node.operand if isinstance(node, ast.UnaryOp) else node
        if isinstance(number, ast.Constant):
            self.visit_Constant(number, "index")
        else:
            self.visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        method = isinstance(node.func, ast.Attribute)
        name = node.func.attr if method else getattr(node.func, "id", "")
        if MESSAGES.fullmatch(name):
            return
        self.visit(node.func)
        if (new := (METHODS if method else NAMES).get(name)) and not (
            name == "sorted" and node.keywords
        ):
            end = node.func.end_col_offset or 0
            self.note("name", node.func.end_lineno or 0, end - len(name), end, new)
        for part in node.args:
            (self.index if method and name in DIMS else self.visit)(part)
        for keyword in node.keywords:
            self.keyword(keyword)

    def keyword(self, node: ast.keyword) -> None:
        """Record mutants of `name=value`: min and max swapped, and the argument dropped."""
        end = node.end_col_offset
        if node.arg and end is not None and node.lineno == node.end_lineno:
            if node.arg in ("min", "max"):
                start = node.col_offset
                self.note("name", node.lineno, start, start + 3, NAMES[node.arg])
            after = re.match(rb",\s*", self.lines[node.lineno - 1][end:])
            self.note(
                "keyword", node.lineno, node.col_offset, end + (after.end() if after else 0), ""
            )
        (self.index if node.arg == "dim" else self.visit)(node.value)

    def visit_Return(self, node: ast.Return) -> None:
        if node.value and not (isinstance(node.value, ast.Constant) and node.value.value is None):
            self.change("return", node, "return None")
        self.generic_visit(node)

    def condition(self, node: ast.If | ast.IfExp | ast.While) -> None:
        if not isinstance(node.test, ast.Compare | ast.BoolOp | ast.UnaryOp):
            self.change("condition", node.test, lambda old: f"(not {old})")
        self.generic_visit(node)

    visit_If = visit_IfExp = visit_While = condition

    def statement(self, node: ast.Expr | ast.AugAssign) -> None:
        if isinstance(node, ast.AugAssign) or isinstance(node.value, ast.Call):
            self.change("statement", node, "pass")
        self.generic_visit(node)

    visit_Expr = visit_AugAssign = statement

    def visit_Raise(self, node: ast.Raise) -> None:
        if node.exc and ast.unparse(node.exc) != "NotImplementedError":
            self.change("statement", node, "pass")

    def visit_Assign(self, node: ast.Assign) -> None:
        if ast.unparse(node.targets[0]) != "__all__":
            self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value:
            self.visit(node.value)

    def scope(self, node: ast.FunctionDef | ast.ClassDef) -> None:
        self.names.append(node.name)
        if isinstance(node, ast.FunctionDef):
            for default in [*node.args.defaults, *filter(None, node.args.kw_defaults)]:
                self.visit(default)
        for part in node.body:
            self.visit(part)
        self.names.pop()

    visit_FunctionDef = visit_ClassDef = scope

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Skip f-strings: Python 3.11 does not know the positions of their parts."""


def _many(node: ast.AST) -> bool:
    return isinstance(node, ast.Tuple | ast.Slice)


def _is_type(node: ast.expr) -> bool:
    name = ast.unparse(node).split("[")[0]
    return name in ("int", "float", "str", "bool", "dict", "list", "None") or name[0].isupper()


def mutants_of(area: str, root: Path, file: str) -> list[Mutant]:
    """Return all mutants of a file that are valid Python."""
    source = (root / file).read_text(encoding="utf-8")
    finder = _Finder(area, file, source)
    finder.visit(ast.parse(source))
    return [m for m in finder.mutants if m.text != m.changed and _parses(m.applied(source))]


def _parses(source: str) -> bool:
    try:
        return bool(ast.parse(source))
    except SyntaxError:
        return False
