"""The points of a Rust file that can be mutated, and the file with all its mutants behind guards.

A mutant is off until `crate::mutant` gets its number, so that one build serves all.
"""

from __future__ import annotations

import re

import tree_sitter_rust
from mutants import Mutant
from tree_sitter import Language, Node, Parser

PARSER = Parser(Language(tree_sitter_rust.language()))

BINARY = {
    "==": ["!="],
    "!=": ["=="],
    "<": ["==", ">", "<="],
    ">": ["==", "<", ">="],
    "<=": [">"],
    ">=": ["<"],
    "&&": ["||"],
    "||": ["&&"],
    "+": ["-", "*"],
    "-": ["+", "/"],
    "*": ["+", "/"],
    "/": ["%", "*"],
    "%": ["/", "+"],
    "<<": [">>"],
    ">>": ["<<"],
    "&": ["|", "^"],
    "|": ["&", "^"],
    "^": ["|", "&"],
    "+=": ["-=", "*="],
    "-=": ["+=", "/="],
    "*=": ["+=", "/="],
    "|=": ["&="],
    "&=": ["|="],
}
# what has no code of its own, or is decided by the compiler
LEFT = {
    "macro_invocation",
    "macro_definition",
    "const_item",
    "static_item",
    "array_type",
    "type_arguments",
    "enum_variant_list",
    "attribute_item",
    "inner_attribute_item",
    "use_declaration",
    "line_comment",
    "block_comment",
}
INTEGERS = {"u8", "u16", "u32", "u64", "usize", "i8", "i16", "i32", "i64", "isize", "u128", "i128"}


def defaults(kind: str) -> list[str]:
    """Values that a function of a return type may give instead of its own."""
    kind = " ".join(kind.split())
    if kind == "()":
        return ["()"]
    if kind == "bool":
        return ["true", "false"]
    if kind in INTEGERS:
        return ["0", "1"]
    if kind == "String":
        return ["String::new()", '"xyzzy".to_owned()']
    if re.fullmatch(r"&('\w+ )?str", kind):
        return ['""', '"xyzzy"']
    if re.fullmatch(r"&('\w+ )?\[.*\]", kind):
        return ["&[]"]
    found = re.fullmatch(r"(?:\w+::)*(Option|Result|Vec|Box|Arc|Cow)<(.*)>", kind)
    if found:
        outer, inner = found.groups()
        first = split(inner)[0]
        if outer == "Option":
            return ["None", *(f"Some({v})" for v in defaults(first))]
        if outer == "Result":
            return [f"Ok({v})" for v in defaults(first)]
        if outer == "Vec":
            return ["Vec::new()"]
        if outer in ("Box", "Arc"):
            return [f"{outer}::new({v})" for v in defaults(first)]
    if kind.startswith("(") and kind.endswith(")"):
        parts = [defaults(p)[:1] for p in split(kind[1:-1]) if p]
        return ["(" + ", ".join(p[0] for p in parts) + ")"] if all(parts) else []
    if kind == "!" or kind.startswith(("impl ", "&")):
        return []
    return ["Default::default()"]


def split(text: str) -> list[str]:
    """The parts of a list of types, by its own commas only."""
    out, depth, last = [], 0, 0
    for at, char in enumerate(text):
        depth += (char in "<([") - (char in ">)]")
        if char == "," and depth == 0:
            out.append(text[last:at].strip())
            last = at + 1
    return [*out, text[last:].strip()]


class File:
    """One source file."""

    def __init__(self, name: str, source: bytes, first: int, dropped: set[tuple[str, int]]) -> None:
        self.name, self.source, self.next, self.dropped = name, source, first, dropped
        self.mutants: list[Mutant] = []
        self.functions: list[str] = []
        # of the file, so that a mutant keeps its name when others are dropped
        self.ordinal = 0
        self.text = self.emit(PARSER.parse(source).root_node).decode()

    def new(self, node: Node, what: str) -> int | None:
        self.ordinal += 1
        if (self.name, self.ordinal) in self.dropped:
            return None
        function = self.functions[-1] if self.functions else ""
        line = node.start_point[0] + 1
        self.mutants.append(Mutant(self.next, self.name, line, function, what, self.ordinal))
        self.next += 1
        return self.next - 1

    def plain(self, node: Node) -> bytes:
        return self.source[node.start_byte : node.end_byte]

    def emit(self, node: Node) -> bytes:
        if node.type in LEFT:
            return self.plain(node)
        if node.type == "impl_item" and self.is_text(node):
            return self.plain(node)
        if node.type == "function_item":
            return self.function(node)
        if node.type == "call_expression" and self.plain(node.child_by_field_name("function")).endswith(
            b"with_capacity"
        ):
            return self.plain(node)
        if node.type == "array_expression" and node.child_by_field_name("length"):
            return self.plain(node)
        if node.type == "match_expression":
            return self.match(node)
        if node.type in ("binary_expression", "compound_assignment_expr"):
            return self.binary(node)
        if node.type == "unary_expression":
            return self.unary(node)
        if node.type == "expression_statement" and self.is_jump(node.children[0]):
            return self.jump(node.children[0]) + b";"
        return self.inner(node)

    def inner(self, node: Node, replaced: dict[int, bytes] | None = None) -> bytes:
        """The text of a node with mutants within."""
        if node.type.endswith("_pattern") and node.type != "match_pattern":
            return self.plain(node)
        out, at, of_tests = [], node.start_byte, False
        for child in node.children:
            out.append(self.source[at : child.start_byte])
            if replaced and child.id in replaced:
                out.append(replaced[child.id])
            elif of_tests and child.type not in ("attribute_item", "line_comment"):
                out.append(self.plain(child))
            else:
                out.append(self.emit(child))
            if child.type == "attribute_item":
                of_tests = of_tests or b"cfg(test)" in self.plain(child)
            elif child.type != "line_comment":
                of_tests = False
            at = child.end_byte
        out.append(self.source[at : node.end_byte])
        return b"".join(out)

    def is_text(self, node: Node) -> bool:
        trait = node.child_by_field_name("trait")
        return trait is not None and self.plain(trait).split(b"::")[-1] in (b"Display", b"Debug")

    def is_jump(self, node: Node) -> bool:
        return node.type in ("return_expression", "continue_expression", "break_expression") and not (
            self.diverges(node) or b"'" in self.plain(node)[:8]
        )

    @staticmethod
    def diverges(node: Node) -> bool:
        """Whether it stands in the block of `let … else`, which must not end."""
        block = node.parent.parent if node.parent else None
        outer = block.parent if block else None
        return outer is not None and outer.type == "let_declaration"

    def jump(self, node: Node) -> bytes:
        whole = self.inner(node)
        number = self.new(node, f"without `{self.plain(node).decode().split(chr(10))[0]}`")
        if number is None:
            return whole
        return b"/*m%d*/if !crate::mutant::on(%d) { %s }/*e%d*/" % (number, number, whole, number)

    def function(self, node: Node) -> bytes:
        body = node.child_by_field_name("body")
        modifiers = next((c for c in node.children if c.type == "function_modifiers"), None)
        if body is None or (modifiers is not None and b"const" in self.plain(modifiers).split()):
            return self.plain(node)
        self.functions.append(self.plain(node.child_by_field_name("name")).decode())
        result = node.child_by_field_name("return_type")
        values = defaults(self.plain(result).decode() if result else "()")
        guards = []
        for value in values:
            # it is that already
            if self.plain(body).strip(b"{} \n").decode() == value:
                continue
            number = self.new(node, f"-> {value}")
            if number is not None:
                guards.append(
                    b"/*m%d*/if crate::mutant::on(%d) { return %s; }/*e%d*/ "
                    % (number, number, value.encode(), number)
                )
        inside = self.inner(body)
        out = b"{ " + b"".join(guards) + inside[1:]
        whole = self.inner(node, {body.id: out})
        self.functions.pop()
        return whole

    def choice(self, node: Node, original: bytes, changed: list[tuple[str, bytes]]) -> bytes:
        numbers = [(self.new(node, what), text) for what, text in changed]
        kept = [(number, text) for number, text in numbers if number is not None]
        if not kept:
            return original
        out = b"(if crate::mutant::off(%d, %d) { %s }" % (kept[0][0], len(kept), original)
        for place, (number, text) in enumerate(kept):
            test = b"" if place == len(kept) - 1 else b" if crate::mutant::on(%d)" % number
            out += b" else%s {/*m%d*/ %s /*e%d*/}" % (test, number, text, number)
        return out + b")"

    def binary(self, node: Node) -> bytes:
        operator = node.child_by_field_name("operator")
        sign = self.plain(operator).decode()
        whole = self.inner(node)
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        before, after = self.plain(left), self.plain(right)
        changed = [
            (f"`{sign}` is `{other}`", b"%s %s %s" % (before, other.encode(), after))
            for other in BINARY.get(sign, [])
        ]
        return self.choice(operator, whole, changed)

    def unary(self, node: Node) -> bytes:
        whole = self.inner(node)
        sign = self.source[node.start_byte : node.start_byte + 1].decode()
        if sign not in "!-":
            return whole
        return self.choice(node, whole, [(f"without `{sign}`", self.plain(node)[1:])])

    def match(self, node: Node) -> bytes:
        block = node.child_by_field_name("body")
        arms = [c for c in block.children if c.type == "match_arm"]
        has_wildcard = any(self.plain(a.child_by_field_name("pattern")) == b"_" for a in arms)
        replaced = {}
        for arm in arms:
            pattern = arm.child_by_field_name("pattern")
            condition = pattern.child_by_field_name("condition")
            shape = next(c for c in pattern.children if c.type != "if")
            guard: bytes | None = None
            if condition is not None:
                if condition.type in ("let_condition", "let_chain"):
                    continue
                guard = b"(" + self.emit(condition) + b")"
                yes = self.new(condition, "guard is `true`")
                no = self.new(condition, "guard is `false`")
                if yes is not None:
                    guard = b"(/*m%d*/crate::mutant::on(%d)/*e%d*/ || %s)" % (yes, yes, yes, guard)
                if no is not None:
                    guard = b"(/*m%d*/!crate::mutant::on(%d)/*e%d*/ && %s)" % (no, no, no, guard)
            # with a guard, `false` is the same
            if has_wildcard and condition is None and self.plain(pattern) != b"_":
                number = self.new(arm, f"without arm `{self.plain(shape).decode().split(chr(10))[0]}`")
                if number is not None:
                    guard = b"/*m%d*/!crate::mutant::on(%d)/*e%d*/" % (number, number, number)
            if guard is not None:
                # `p | q if …` needs no parentheses: the guard is of both
                replaced[pattern.id] = self.source[pattern.start_byte : shape.end_byte] + b" if " + guard
        inside = self.arms(block, replaced)
        return self.inner(node, {block.id: inside})

    def arms(self, block: Node, replaced: dict[int, bytes]) -> bytes:
        out, at = [], block.start_byte
        for child in block.children:
            out.append(self.source[at : child.start_byte])
            if child.type == "match_arm":
                pattern = child.child_by_field_name("pattern")
                value = child.child_by_field_name("value")
                own = {pattern.id: replaced.get(pattern.id, self.plain(pattern))}
                if self.is_jump(value):
                    own[value.id] = self.jump(value)
                    if self.source[value.end_byte : child.end_byte].strip() == b"":
                        own[value.id] += b","
                out.append(self.inner(child, own))
            else:
                out.append(self.plain(child))
            at = child.end_byte
        out.append(self.source[at : block.end_byte])
        return b"".join(out)
