"""Tree walks, and the names in trees."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple, TypeVar

from jaxlint.syntax.memo import cache
from jaxlint.syntax.newer_grammar import NEWER_NODES

Node = TypeVar("Node", bound=ast.AST)
_PLAIN_FIELDS = frozenset(
    {"arg", "asname", "attr", "conversion", "ctx", "id", "kind", "level", "name", "type_comment"}
)
# For each kind of node, the fields that may hold nodes other than contexts.
CHILD_FIELDS = {
    kind: tuple(name for name in kind._fields if name not in _PLAIN_FIELDS)
    for kind in (*vars(ast).values(), *NEWER_NODES)
    if isinstance(kind, type) and issubclass(kind, ast.AST)
}
# The fields that hold blocks of statements, and the parts of a statement that do.
_BLOCKS = {
    kind: tuple(name for name in ("body", "orelse", "finalbody", "handlers", "cases") if name in names)
    for kind, names in CHILD_FIELDS.items()
}
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """Every node in `node`, itself included, in no order; three times as fast as `ast.walk`."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        stack += children(current)


@cache
def parts(node: ast.expr) -> tuple[ast.AST, ...]:
    """The result of `walk` for an expression that several facts inspect, such as a test."""
    return tuple(walk(node))


def children(node: ast.AST) -> list[ast.AST]:
    """The children of `node` in source order; faster than `ast.iter_child_nodes`."""
    found: list[ast.AST] = []
    held = node.__dict__
    for name in CHILD_FIELDS[node.__class__]:
        value = held.get(name)
        if value.__class__ is list:
            found += [part for part in value if isinstance(part, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """Every statement in `node`, itself included, in no order; a tenth of its nodes."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        for name in _BLOCKS[current.__class__]:
            block = current.__dict__.get(name)
            if block.__class__ is list:
                stack += block


@cache
def nodes_of(owner: ast.AST, kind: type[Node]) -> tuple[Node, ...]:
    """Every node of one kind in `node`, itself included, in no order."""
    every = _statements_of(owner) if issubclass(kind, ast.stmt) else walk(owner)
    return tuple([node for node in every if isinstance(node, kind)])


@cache
def _statements_of(owner: ast.AST) -> tuple[ast.AST, ...]:
    """The result of `statements`, cached because callers ask for several kinds of nodes."""
    return tuple(statements(owner))


@cache
def name_loads(node: ast.AST) -> tuple[ast.Name, ...]:
    """Every name that is read in `node`, in no order."""
    return tuple(n for n in walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))


class Contents(NamedTuple):
    """The common input of several facts about a function, from one walk: the names and attributes that it stores to,
    and its tests."""

    stores: tuple[ast.Name | ast.Attribute, ...]
    tests: tuple[ast.If | ast.IfExp | ast.While | ast.Assert, ...]


@cache
def contents(node: ast.AST) -> Contents:
    """The stores and tests in `node`, nested functions included."""
    stores: list[ast.Name | ast.Attribute] = []
    tests: list[ast.If | ast.IfExp | ast.While | ast.Assert] = []
    for part in walk(node):
        if isinstance(part, (ast.Name, ast.Attribute)):
            if type(part.ctx) is ast.Store:
                stores.append(part)
        elif isinstance(part, (ast.If, ast.IfExp, ast.While, ast.Assert)):
            tests.append(part)
    return Contents(tuple(stores), tuple(tests))


@cache
def names_stored(node: ast.AST) -> frozenset[str]:
    """The names that `node` binds, nested functions included."""
    return frozenset(stored.id for stored in contents(node).stores if isinstance(stored, ast.Name))


@cache
def loop_variables(node: ast.AST) -> frozenset[str]:
    """The names that a `for` loop in `node` binds to counters or elements."""
    return frozenset(
        name.id
        for loop in statements(node)
        if isinstance(loop, (ast.For, ast.AsyncFor))
        for name in walk(loop.target)
        if isinstance(name, ast.Name)
    )


def last_name(node: ast.expr) -> str:
    """The last part of a name or attribute chain; "" for anything else."""
    return node.attr if type(node) is ast.Attribute else node.id if type(node) is ast.Name else ""


def dotted(node: ast.AST | None) -> str:
    """The source of a name or attribute chain; otherwise ""."""
    if type(node) is ast.Name:
        return node.id
    if type(node) is ast.Attribute:
        base = dotted(node.value)
        return f"{base}.{node.attr}" if base else ""
    return ""


@cache
def place_of(node: ast.AST | None) -> str:
    """The source text of a place: "x", "state.params", "carry[0]", or "" for anything that is not a place."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        base = place_of(node.value)
        return f"{base}.{node.attr}" if base else ""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        base = place_of(node.value)
        return f"{base}[{node.slice.value!r}]" if base else ""
    return ""


@cache
def steps_on(node: ast.Assign) -> bool:
    """Whether the statement updates a place from its own value: `count = count + 1`."""
    place = place_of(node.targets[0])
    return bool(place) and any(place_of(part) == place for part in walk(node.value))


def names_bound_by(binding: ast.Assign) -> list[str]:
    return [target.id for target in binding.targets if isinstance(target, ast.Name)]


@cache
def loops_over(node: FunctionNode) -> dict[str, ast.expr]:
    """The iterables of a function's `for` loops, by loop variable."""
    body = node.body if isinstance(node.body, list) else []
    return {
        part.target.id: part.iter
        for statement in body
        for part in statements(statement)
        if isinstance(part, ast.For) and isinstance(part.target, ast.Name)
    }


def is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is Ellipsis


def literal_number(node: ast.expr) -> int | float | None:
    """The number that a literal gives, with its sign; None for anything else."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = literal_number(node.operand)
        return None if inner is None else -inner
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return node.value  # type: ignore[return-value]
    return None
