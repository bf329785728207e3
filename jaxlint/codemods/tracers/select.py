"""Values that a traced test selects: `jnp.where` if both may be evaluated, otherwise `lax.cond`."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field

from jaxlint.codemods.facts.dataflow import FUNCTIONS
from jaxlint.codemods.facts.local_effects import check_expression, constant_type, is_floating, is_total
from jaxlint.codemods.registry import Draft
from jaxlint.codemods.source.imports import reference
from jaxlint.codemods.source.layout import Layout
from jaxlint.codemods.source.name_scopes import Scope
from jaxlint.codemods.source.site import Refused, Site
from jaxlint.codemods.source.text_edits import shown_source
from jaxlint.finding import Span
from jaxlint.jaxapi.dtypes import TRUTH_FUNCTIONS

_STATIC_CALLS = frozenset({"isinstance", "issubclass", "hasattr", "callable", "len"})
_STATIC_ATTRIBUTES = frozenset({"shape", "ndim", "dtype", "size"})
# Displays that need the same number of parts in both branches.
_DISPLAYS = (ast.Tuple, ast.List, ast.Dict)
_NO_ARRAYS = (ast.Lambda, ast.JoinedStr, ast.Set, ast.SetComp, ast.GeneratorExp)
_CHOOSE_RESULTS = "call each in its own branch, or use `jax.lax.switch`"


@dataclass(slots=True)
class Choice:
    """One of the values, as text, with facts about it. `kept` are the spans that the text was copied from."""

    text: str
    node: ast.expr | None = None
    total: bool = True
    floating: bool = False
    kept: list[Span] = field(default_factory=list)

    @property
    def literal(self) -> type | None:
        return constant_type(self.node) if self.node is not None else None


class Selector:
    """Writes selections at one place of a file."""

    def __init__(self, draft: Draft, layout: Layout, at: ast.AST, indent: str) -> None:
        self.draft, self.layout, self.at, self.indent = draft, layout, at, indent
        self.site = draft.site

    def name(self, target: str) -> str:
        """How the file spells the dotted name `target`."""
        return reference(self.site, self.draft.imports, target, self.at)

    def choice(self, node: ast.expr, what: str) -> Choice:
        """A value of the program. Raises Refused if it cannot be the result of a branch."""
        check_expression(self.site, node, what)
        if isinstance(node, _NO_ARRAYS) or constant_type(node) in (str, bytes, type(None), type(...)):
            raise Refused(f"{what} returns `{shown_source(node)}`, which is not an array")
        if isinstance(node, ast.Name):
            held = self.site.names.bindings_of(node.id, self.site.names.scope_at(node))
            if any(isinstance(one.node, (*FUNCTIONS, ast.ClassDef)) for one in held):
                raise Refused(f"{what} returns the function `{node.id}`; {_CHOOSE_RESULTS}")
        text = self.layout.argument(node)
        total = is_total(self.site, node)
        return Choice(text, node, total, is_floating(self.site, node), [self.site.span(node)])

    def check_not_called(self, results: Iterable[str], scope: Scope) -> None:
        """Raises Refused if the program calls a variable of `results`: a branch cannot return functions."""
        for name in results:
            for use in self.site.names.uses_of(name, scope):
                around = self.site.names.parents.get(use.name)
                if isinstance(around, ast.Call) and around.func is use.name:
                    raise Refused(
                        f"`{name}` is called, and a tracer cannot select functions; {_CHOOSE_RESULTS}"
                    )

    def select(self, test: ast.expr, yes: Choice, no: Choice, head: str = "") -> Choice:
        """`jnp.where(test, yes, no)`, or `lax.cond` with two lambdas. `head` is the text before it on its line."""
        self.check_same(yes, no)
        asked = self.layout.argument(test)
        kept = [self.site.span(test), *yes.kept, *no.kept]
        floating = yes.floating and no.floating
        if yes.total and no.total and not any(isinstance(one.node, _DISPLAYS) for one in (yes, no)):
            function = self.name("jax.numpy.where")
            text = self.layout.call(head, function, [asked, yes.text, no.text], self.indent)
            return Choice(text, None, True, floating, kept)
        branches = [f"lambda: {_as(one, other)}" for one, other in ((yes, no), (no, yes))]
        text = self.layout.call(head, self.name("jax.lax.cond"), [asked, *branches], self.indent)
        return Choice(text, None, False, floating, kept)

    @staticmethod
    def check_same(yes: Choice, no: Choice) -> None:
        """Raises Refused if the two certainly differ in structure."""
        one, two = yes.node, no.node
        for first, second in ((one, two), (two, one)):
            if not isinstance(first, _DISPLAYS) or second is None:
                continue
            if isinstance(second, (ast.Constant, ast.BinOp, ast.Compare, ast.UnaryOp)):
                raise Refused("one branch returns several values, the other only one")
            if isinstance(second, _DISPLAYS) and (
                type(first) is not type(second) or _size(first) != _size(second)
            ):
                raise Refused("the branches return pytrees of different structure")


def _size(node: ast.expr) -> object:
    if isinstance(node, ast.Dict):
        return [ast.dump(key) if key is not None else None for key in node.keys]
    return len(node.elts)  # type: ignore[attr-defined]


def _as(one: Choice, other: Choice) -> str:
    """The text of `one`, an integer as a float if the other branch returns floats."""
    return (
        f"{one.text}.0"
        if one.literal is int and other.floating and one.text.lstrip("-").isdigit()
        else one.text
    )


def check_test(layout: Layout, test: ast.expr) -> None:
    """Raises Refused for a test that also tests values known at trace time, and guards the branches by it."""
    check_expression(layout.site, test, "the test")
    guard = static_part(test)
    if guard is not None:
        raise Refused(
            f"`{shown_source(guard)}` in the test is a compile-time constant and may guard the branch; move it into its own `if`"
        )


def is_truth(site: Site, node: ast.expr) -> bool:
    """Whether `node` certainly returns truth values, and not numbers used as such."""
    if isinstance(node, (ast.BoolOp, ast.BinOp)):
        parts = node.values if isinstance(node, ast.BoolOp) else [node.left, node.right]
        if isinstance(node, ast.BinOp) and not isinstance(node.op, (ast.BitAnd, ast.BitOr, ast.BitXor)):
            return False
        return all(is_truth(site, part) for part in parts)
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.Not) or (
            isinstance(node.op, ast.Invert) and is_truth(site, node.operand)
        )
    if isinstance(node, ast.Call):
        name = site.names.qualified(node.func) or ""
        if name.startswith("jax.numpy."):
            return name.rpartition(".")[2] in TRUTH_FUNCTIONS
        method = node.func
        return isinstance(method, ast.Attribute) and method.attr in ("any", "all")
    return isinstance(node, ast.Compare) or constant_type(node) is bool


def static_part(test: ast.expr) -> ast.expr | None:
    """The part of `test` about a Python fact: identity, type, shape, string."""
    for node in ast.walk(test):
        if isinstance(node, ast.Compare):
            if any(isinstance(op, (ast.Is, ast.IsNot)) for op in node.ops):
                return node
            sides = [node.left, *node.comparators]
            if any(constant_type(side) is str for side in sides) or any(map(is_static, sides)):
                return node
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id in _STATIC_CALLS - {"len"}:
                return node
    return None


def is_static(node: ast.expr) -> bool:
    """Whether `node` is visibly a shape, dtype or length."""
    while isinstance(node, ast.Subscript):
        node = node.value
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id == "len"
    return isinstance(node, ast.Attribute) and node.attr in _STATIC_ATTRIBUTES
