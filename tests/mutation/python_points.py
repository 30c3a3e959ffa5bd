"""The points of a Python file that can be mutated, and the file with all its mutants behind guards."""

from __future__ import annotations

import ast
from typing import Any

from mutants import Mutant

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
    ast.LShift: ast.RShift,
}
LEFT = {"__repr__", "__str__"}


class File(ast.NodeTransformer):
    """One source file."""

    def __init__(self, name: str, source: str, first: int) -> None:
        self.name, self.next = name, first
        self.mutants: list[Mutant] = []
        self.functions: list[str] = []
        tree = self.visit(ast.parse(source))
        at = next(n for n, s in enumerate(tree.body) if not is_first(s))
        tree.body.insert(at, ast.parse("from deltaic import _mutant").body[0])
        self.text = ast.unparse(ast.fix_missing_locations(tree))

    def test(self, node: Any, what: str) -> ast.expr:
        """The guard of a new mutant."""
        function = self.functions[-1] if self.functions else ""
        self.mutants.append(Mutant(self.next, self.name, node.lineno, function, what))
        self.next += 1
        return ast.parse(f"_mutant.on({self.next - 1})", mode="eval").body

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        if node.name in LEFT:
            return node
        self.functions.append(node.name)
        # neither its annotations nor its defaults: they are not of one call
        body = [s for old in node.body for s in statements(self.visit(old))]
        has_text = isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant)
        own = node.body[has_text:]
        returns = [n for n in ast.walk(node) if isinstance(n, ast.Return) and n.value is not None]
        yields = any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in ast.walk(node))
        if node.name != "__init__" and not yields and len(own) > 0 and not isinstance(own[0], ast.Pass):
            value = "" if not returns else "None"
            guard = ast.If(self.test(node, f"-> {value or 'nothing'}"), ast.parse(f"return {value}").body, [])
            if isinstance(node.returns, ast.Name) and node.returns.id == "bool":
                yes = ast.If(self.test(node, "-> True"), ast.parse("return True").body, [])
                guard.orelse = [yes]
            body.insert(has_text, guard)
        node.body = body
        self.functions.pop()
        return node

    def visit_If(self, node: ast.If) -> Any:
        return node if "TYPE_CHECKING" in ast.unparse(node.test) else self._turned(node)

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        return self._turned(node)

    def _turned(self, node: ast.If | ast.IfExp) -> ast.AST:
        before = ast.unparse(node.test)
        simple = not isinstance(node.test, (ast.Compare, ast.BoolOp, ast.UnaryOp))
        self.generic_visit(node)
        if simple:
            node.test = ast.IfExp(self.test(node, f"`if {before}` is `if not`"), negated(before), node.test)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        plain = ast.unparse(node)
        self.generic_visit(node)
        out: ast.expr = node
        for at, operator in enumerate(node.ops):
            other = ast.parse(plain, mode="eval").body
            if type(operator) in COMPARISONS and isinstance(other, ast.Compare):
                other.ops[at] = COMPARISONS[type(operator)]()
                out = ast.IfExp(self.test(node, f"`{plain}` is `{ast.unparse(other)}`"), other, out)
        return out

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        other = ast.parse(ast.unparse(node), mode="eval").body
        assert isinstance(other, ast.BoolOp)
        other.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        what = f"`{ast.unparse(node)[:60]}` is `{type(other.op).__name__.lower()}`"
        names = any(isinstance(n, ast.NamedExpr) for n in ast.walk(node))
        self.generic_visit(node)
        return node if names else ast.IfExp(self.test(node, what), other, node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        plain = ast.parse(ast.unparse(node.operand), mode="eval").body
        what = f"without `not` of `{ast.unparse(node.operand)[:60]}`"
        self.generic_visit(node)
        return ast.IfExp(self.test(node, what), plain, node) if isinstance(node.op, ast.Not) else node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        plain = ast.parse(ast.unparse(node), mode="eval").body
        self.generic_visit(node)
        if type(node.op) not in ARITHMETIC or not isinstance(plain, ast.BinOp):
            return node
        plain.op = ARITHMETIC[type(node.op)]()
        return ast.IfExp(self.test(node, f"is `{ast.unparse(plain)[:60]}`"), plain, node)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if isinstance(node.value, bool) and self.functions:
            return ast.IfExp(
                self.test(node, f"`{node.value}` is `{not node.value}`"), ast.Constant(not node.value), node
            )
        return node

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        return ast.If(ast.UnaryOp(ast.Not(), self.test(node, "without `raise`")), [node], [])

    def visit_Continue(self, node: ast.Continue) -> ast.AST:
        return ast.If(ast.UnaryOp(ast.Not(), self.test(node, "without `continue`")), [node], [])

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        if not isinstance(node.value, ast.Call) or not self.functions:
            return node
        what = f"without `{ast.unparse(node)[:60]}`"
        self.generic_visit(node)
        return ast.If(ast.UnaryOp(ast.Not(), self.test(node, what)), [node], [])

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def visit_match_case(self, node: ast.match_case) -> ast.AST:
        # patterns have no code
        if node.guard is not None:
            node.guard = self.visit(node.guard)
        node.body = [s for old in node.body for s in statements(self.visit(old))]
        return node


def negated(text: str) -> ast.expr:
    return ast.UnaryOp(ast.Not(), ast.parse(text, mode="eval").body)


def statements(found: Any) -> list[ast.stmt]:
    return found if isinstance(found, list) else [found]


def is_first(node: ast.stmt) -> bool:
    text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return text or (isinstance(node, ast.ImportFrom) and node.module == "__future__")
