"""References of Pallas kernels: used like arrays, captured arrays, and their number."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxlint.api import CallEvent
from jaxlint.api.syntax import dotted, positional_parameters
from jaxlint.api.tables import KINDS, STATIC_ATTRIBUTES
from jaxlint.api.values import (
    Array,
    ExternalObject,
    Function,
    ListValue,
    NumpyArray,
    Partial,
    Transformed,
    TupleValue,
    Value,
)
from jaxlint_rules.purity._captures import free_reads

# Members of arrays that references lack; `sum` and the like are looked up on the array behind, and fail.
_METHODS = frozenset({"sum", "mean", "max", "min", "dot", "prod", "argmax", "argmin", "std", "var"})
_MODULES = ("jnp.", "jax.numpy.", "jax.nn.", "nn.", "jax.lax.", "lax.")
_COMPUTING = frozenset(KINDS) | {"where", "einsum", "dot_general", "exp2", "rsqrt"}
_ARITHMETIC = "a Ref has no arithmetic"


def used_as_array(node: ast.AST, refs: set[str]) -> tuple[str, str]:
    """The reference in `refs` that an expression uses like an array, and why that fails; "" for none."""
    if isinstance(node, ast.BinOp):
        return _first([node.left, node.right], refs), _ARITHMETIC
    if isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.Not):
        return _first([node.operand], refs), _ARITHMETIC
    if isinstance(node, ast.Compare):
        if isinstance(node.ops[0], (ast.Lt, ast.LtE, ast.Gt, ast.GtE)):
            return _first([node.left, *node.comparators], refs), "a Ref cannot be compared"
    if isinstance(node, ast.Call):
        name = dotted(node.func)
        owner, _, last = name.rpartition(".")
        if owner in refs and last in _METHODS:
            return owner, f"a Ref has no `{last}`"
        if name.startswith(_MODULES) and last in _COMPUTING:
            return _first(node.args, refs), f"`{name}` takes arrays only"
    return "", ""


def _first(nodes: list[ast.expr], refs: set[str]) -> str:
    parts = [p for n in nodes for p in (n.elts if isinstance(n, (ast.List, ast.Tuple)) else [n])]
    return next((part.id for part in parts if isinstance(part, ast.Name) and part.id in refs), "")


def captured_arrays(kernel: Function) -> Iterator[tuple[str, ast.expr]]:
    """The arrays that a kernel captures, each at its first read."""
    told: set[str] = set()
    parents = kernel.module.parents
    for name, node in free_reads(kernel.node):
        if not isinstance(node, ast.Name) or name in told:
            continue
        above = parents.get(node)
        if isinstance(above, ast.Attribute) and above.attr in STATIC_ATTRIBUTES:
            continue
        value = kernel.scope.value_of(name)
        if isinstance(value, Array) and value.certain and not value.tree and value.role != "ref":
            told.add(name)
            yield name, node


def wrong_reference_count(event: CallEvent) -> str:
    """What is wrong with the number of arrays passed to a `pallas_call`; "" if nothing is certain."""
    called, node = event.callee, event.node
    assert isinstance(called, Transformed)
    if {"grid_spec", "**", "compiler_params"} & set(called.options) or event.kwargs:
        return ""
    if not isinstance(node, ast.Call) or any(isinstance(a, ast.Starred) for a in node.args):
        return ""
    kernel, bound = called.target, 0
    names: set[str] = set()
    if isinstance(kernel, Partial):
        bound, names, kernel = len(kernel.args), set(kernel.kwargs), kernel.function
    if (
        not isinstance(kernel, Function)
        or kernel.cls is not None
        or getattr(kernel.node, "decorator_list", [])
    ):
        return ""
    arguments = kernel.node.args
    if arguments.vararg is not None or arguments.defaults or names - {a.arg for a in arguments.kwonlyargs}:
        return ""
    outputs, scratch = (
        _count(called.options.get("out_shape")),
        _count(called.options.get("scratch_shapes"), 0),
    )
    if outputs is None or scratch is None or not event.args:
        return ""
    if not all(isinstance(value, (Array, NumpyArray)) for value in event.args):
        return ""
    wanted = len(positional_parameters(kernel.node)) - bound
    given = len(event.args) + outputs + scratch
    if wanted == given:
        return ""
    return (
        f"`{kernel.name}` takes {wanted} Ref{'s' * (wanted != 1)} but gets {given}"
        + (f" ({scratch} of them scratch)" if scratch else "")
        + ", which raises TypeError"
    )


def _count(value: Value | None, absent: int | None = None) -> int | None:
    """The number of leaves in a tree of shapes."""
    if value is None:
        return absent
    if isinstance(value, (TupleValue, ListValue)):
        if value.items is None or (isinstance(value, TupleValue) and value.cls is not None):
            return None
        counts = [_count(item) for item in value.items]
        return None if None in counts else sum(count for count in counts if count is not None)
    if isinstance(value, ExternalObject) or (isinstance(value, Array) and not value.tree):
        return 1
    return None
