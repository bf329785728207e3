"""Host fetches in a block, which a JAX function does not need: `float(x)`, `x.item()` and the like become `x`."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from jaxlint.codemods.source.layout import Layout
from jaxlint.codemods.source.name_scopes import Names
from jaxlint.codemods.source.site import Refused

_BUILTINS = frozenset({"float", "bool"})  # `int` truncates, which an array would not
_FUNCTIONS = frozenset({"jax.device_get", "jax.block_until_ready", "numpy.asarray", "numpy.array"})
_METHODS = frozenset({"item", "block_until_ready"})


@dataclass(slots=True)
class Fetches:
    """`calls` are the fetches, inner ones first, which is the order of replacement."""

    layout: Layout
    calls: list[tuple[ast.Call, ast.expr]] = field(default_factory=list)

    @property
    def handled(self) -> set[ast.AST]:
        return {call for call, _ in self.calls}

    def rewritten(self, text: str) -> str:
        """`text`, a copy of part of the block, without them. Raises Refused if one is not found in it."""
        done: list[tuple[str, str]] = []
        for call, value in self.calls:
            old, new = self.layout.site.text(call), self.layout.operand(value)
            if "\n" in old:
                raise Refused(f"`{ast.unparse(call)[:40]}` spans several lines")
            for before, after in done:
                old, new = old.replace(before, after), new.replace(before, after)
            text = text.replace(old, new)
            done.append((old, new))
        return text


def fetches_in(layout: Layout, nodes: Iterable[ast.AST]) -> Fetches:
    """The host fetches in `nodes`."""
    found = Fetches(layout)
    for node in nodes:
        for part in ast.walk(node):
            value = _fetched(layout, part)
            if value is not None:
                assert isinstance(part, ast.Call)
                found.calls.append((part, value))
    found.calls.reverse()  # the walk goes from the outside to the inside
    return found


def _fetched(layout: Layout, node: ast.AST) -> ast.expr | None:
    """The array whose value a call fetches."""
    names = layout.site.names
    value = fetched_by(names, node, _BUILTINS, _FUNCTIONS, _METHODS)
    if isinstance(value, ast.Constant) and isinstance(node, ast.Call) and names.builtin(node.func):
        return None
    return value


def fetched_by(
    names: Names,
    node: ast.AST,
    builtins: Collection[str],
    functions: Collection[str],
    methods: Collection[str],
) -> ast.expr | None:
    """The argument that a call of one of these builtins, functions or methods fetches; None for any other call."""
    if not isinstance(node, ast.Call) or node.keywords:
        return None
    function = node.func
    if len(node.args) == 1 and not isinstance(node.args[0], ast.Starred):
        if names.builtin(function) in builtins or names.qualified(function) in functions:
            return node.args[0]
    elif not node.args and isinstance(function, ast.Attribute) and function.attr in methods:
        return function.value
    return None
