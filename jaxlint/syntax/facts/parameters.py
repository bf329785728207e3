"""Parameters, and how the body of a function uses them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxlint.syntax.facts.nodes import FunctionNode, contents, dotted, last_name, nodes_of, walk
from jaxlint.syntax.memo import cache

LEAF_ATTRIBUTES = frozenset(
    [
        "shape",
        "ndim",
        "dtype",
        "T",
        "at",
        "astype",
        "sum",
        "mean",
        "max",
        "min",
        "reshape",
        "transpose",
        "flatten",
        "ravel",
        "argmax",
        "argmin",
        "squeeze",
        "std",
        "var",
        "nonzero",
    ]
)


@cache
def leaf_parameters(node: FunctionNode) -> frozenset[str]:
    """Parameters that the body uses as single arrays: in arithmetic, in an ordering, or by an attribute of arrays."""
    names = {argument.arg for argument in all_parameters(node)}
    found: set[str] = set()

    def note(expression: ast.AST) -> None:
        if isinstance(expression, ast.Name) and expression.id in names:
            found.add(expression.id)

    for child in walk(node):
        if isinstance(child, ast.BinOp) and not isinstance(child.op, ast.Mod):
            if isinstance(child.op, ast.Add):  # tuples and lists can be added too
                for side, other in ((child.left, child.right), (child.right, child.left)):
                    if isinstance(other, (ast.BinOp, ast.UnaryOp)) or (
                        isinstance(other, ast.Constant) and isinstance(other.value, (int, float))
                    ):
                        note(side)
            else:
                note(child.left)
                note(child.right)
        elif isinstance(child, ast.UnaryOp) and isinstance(child.op, (ast.USub, ast.Invert)):
            note(child.operand)
        elif isinstance(child, ast.Compare) and isinstance(child.ops[0], (ast.Lt, ast.LtE, ast.Gt, ast.GtE)):
            note(child.left)
            for comparator in child.comparators:
                note(comparator)
        elif isinstance(child, ast.Attribute) and child.attr in LEAF_ATTRIBUTES:
            note(child.value)
    return frozenset(found)


def used_as_arrays(node: FunctionNode) -> frozenset[str]:
    """Parameters that the body uses as single arrays, or whose annotation says so."""
    declared = (
        p.arg for p in all_parameters(node) if dotted(p.annotation).rpartition(".")[2] in _ARRAY_TYPES
    )
    return leaf_parameters(node).union(declared)


_ARRAY_TYPES = frozenset({"Array", "ndarray", "PRNGKeyArray"})


def all_parameters(node: FunctionNode) -> list[ast.arg]:
    """Positional, variadic and keyword parameters, in order."""
    arguments = node.args
    return [
        *arguments.posonlyargs,
        *arguments.args,
        *([arguments.vararg] if arguments.vararg else []),
        *arguments.kwonlyargs,
        *([arguments.kwarg] if arguments.kwarg else []),
    ]


@cache
def defaults_of(node: FunctionNode) -> list[tuple[ast.arg, ast.expr]]:
    """The parameters with a default, and the default, in Python's order of evaluation."""
    positional, defaults = positional_parameters(node), node.args.defaults
    found = list(zip(positional[len(positional) - len(defaults) :], defaults, strict=True))
    named = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
    return found + [(parameter, default) for parameter, default in named if default is not None]


@cache
def switches(node: FunctionNode) -> frozenset[str]:
    """The bool parameters, by annotation or default."""
    named = {
        p.arg
        for p in all_parameters(node)
        if isinstance(p.annotation, ast.Name) and p.annotation.id == "bool"
    }
    return frozenset(named) | {
        parameter.arg
        for parameter, default in defaults_of(node)
        if isinstance(default, ast.Constant) and isinstance(default.value, bool)
    }


@cache
def concrete_names(node: FunctionNode) -> frozenset[str]:
    """The names that a function calls, or compares in a test: they are not tracers.

    Names whose type or kind the function tests first are left out: it does so only where that allows it.
    """
    calls = [call for call in nodes_of(node, ast.Call) if isinstance(call.func, ast.Name)]
    found = {call.func.id for call in calls if isinstance(call.func, ast.Name)}
    asked = {call.args[0] for call in calls if call.args and last_name(call.func) in _ASKS_WHAT_IT_IS}
    stack = [part.test for part in contents(node).tests]
    while stack:
        test = stack.pop()
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            stack.append(test.operand)
        elif isinstance(test, ast.BoolOp):
            stack.extend(test.values)
        elif isinstance(test, ast.Compare):
            found |= {part.id for part in _compared(test) if isinstance(part, ast.Name)}
    return frozenset(found - {part.id for part in asked if isinstance(part, ast.Name)})


_ASKS_WHAT_IT_IS = frozenset({"callable", "isinstance", "hasattr", "issubclass", "type"})


def _compared(test: ast.Compare) -> Iterator[ast.expr]:
    """The operands that a comparison compares by value, not by identity or membership."""
    parts = [test.left, *test.comparators]
    for left, operator, right in zip(parts, test.ops, parts[1:], strict=False):
        if not isinstance(operator, (ast.Is, ast.IsNot)):
            yield left
            if not isinstance(operator, (ast.In, ast.NotIn)):
                yield right


def positional_parameters(node: FunctionNode) -> list[ast.arg]:
    return [*node.args.posonlyargs, *node.args.args]


def sizes_of_kernel(node: FunctionNode) -> frozenset[str]:
    """The parameters of a kernel with a number as default. They keep it: Pallas calls a kernel with its references
    only."""
    defaults = node.args.defaults
    parameters = positional_parameters(node)[-len(defaults) :] if defaults else []
    return frozenset(
        parameter.arg
        for parameter, default in zip(parameters, defaults, strict=True)
        if isinstance(default, ast.Constant) and type(default.value) in (int, float)
    )


def takes_receiver(node: FunctionNode, cls: ast.ClassDef, kind: str) -> bool:
    """Whether the first parameter of a function in a class is an instance of the class, or the class itself.

    Not if its `__init__` has another name for it: such a function is called on the class, like a static method.
    """
    if kind == "staticmethod":
        return False
    own = next(
        (part for part in cls.body if isinstance(part, ast.FunctionDef) and part.name == "__init__"), None
    )
    first, of_init = (
        positional_parameters(node)[:1],
        positional_parameters(own)[:1] if own is not None else [],
    )
    return kind == "classmethod" or not (first and of_init) or first[0].arg == of_init[0].arg


@cache
def handed_on(node: FunctionNode) -> str | None:
    """The one parameter that the body only returns, beside another value, if there is one."""
    if isinstance(node, ast.Lambda):
        return None
    returned: set[str] = set()
    used: set[str] = set()
    stack: list[ast.AST] = list(node.body)
    while stack:
        at = stack.pop()
        if isinstance(at, ast.Return) and isinstance(at.value, ast.Tuple):
            returned.update(part.id for part in at.value.elts if isinstance(part, ast.Name))
            stack.extend(part for part in at.value.elts if not isinstance(part, ast.Name))
        elif isinstance(at, ast.Name):
            used.add(at.id)
        else:
            stack.extend(ast.iter_child_nodes(at))
    found = {parameter.arg for parameter in all_parameters(node)} & returned - used
    return found.pop() if len(found) == 1 else None
