"""The work of a callback's host function: output, random numbers, JAX computations."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxlint.api.syntax import dotted, nodes_of
from jaxlint.api.tables import JIT_KINDS
from jaxlint.api.values import (
    BoundMethod,
    External,
    ExternalObject,
    Function,
    Partial,
    Transformed,
    Value,
)
from jaxlint_rules._generators import GENERATORS, NOT_DRAWS, RANDOM
from jaxlint_rules._names import external_name, last_name

_OUTPUT = (
    "print",
    "write",
    "writelines",
    "append",
    "extend",
    "info",
    "warning",
    "error",
    "debug",
    "log",
    "add_scalar",
    "dump",
)
_COMPUTED_BY_JAX = ("jax.numpy", "jax.lax", "jax.scipy", "jax.nn", "jax.random")
_NOT_COMPUTED = frozenset(
    [
        *("asarray", "array", "dtype", "shape", "ndim", "size", "result_type", "promote_types", "issubdtype"),
        *("finfo", "iinfo", "broadcast_shapes", "bool_", "float_", "int_", "complex_"),
    ]
)
_DTYPES = ("float", "int", "uint", "complex", "bfloat")
_COMPUTING = ("np", "numpy", "onp", "math", "jnp", "scipy", "torch", "tf")  # whose `log` is the logarithm


def keeps_order(effect: ast.AST) -> bool:
    """Whether the order matters: rows of a list or a file are ordered, while a metric carries its step."""
    return isinstance(effect, ast.Call) and last_name(effect.func) in (
        "append",
        "extend",
        "write",
        "writelines",
        "print",
    )


def draws(function: Function) -> Iterator[ast.Call]:
    """Draws from Python or NumPy generators outside the function: each call has another result."""
    own = _stored_in(function)
    for call in nodes_of(function.node, ast.Call):
        base, _, last = dotted(call.func).rpartition(".")
        root = base.partition(".")[0]
        owner = function.scope.value_of(root) if root and root not in own else None
        if isinstance(owner, External):
            name = ".".join([owner.name, *base.split(".")[1:], last])
            if name.startswith(RANDOM) and last not in NOT_DRAWS:
                yield call
        elif isinstance(owner, ExternalObject) and owner.name in GENERATORS and base == root:
            yield call


def computes_with_jax(function: Function) -> Iterator[ast.Call]:
    """Calls of JAX functions that run on a device, and of compiled functions; not conversions or dtype queries."""
    own = _stored_in(function)
    for call in nodes_of(function.node, ast.Call):
        path = dotted(call.func)
        held = function.scope.value_of(path) if path else None
        if path.partition(".")[0] in own:
            continue
        if isinstance(held, Transformed) and held.kind in JIT_KINDS:
            yield call
        module, _, last = external_name(call.func, function.scope).rpartition(".")
        converts = last in _NOT_COMPUTED or last.rstrip("0123456789") in _DTYPES
        if module.startswith(_COMPUTED_BY_JAX) and not converts:
            yield call


def host_function(value: Value) -> Function | None:
    """The project function of a callback, under methods and partials."""
    while isinstance(value, (BoundMethod, Partial)):
        value = value.function
    return value if isinstance(value, Function) else None


def effects_of(function: Function) -> Iterator[ast.AST]:
    """Output, and changes of variables that are not local."""
    own = _stored_in(function)
    for node in ast.walk(function.node):
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            yield node
        elif isinstance(node, ast.Call):
            name = dotted(node.func)
            base, _, last = name.rpartition(".")
            if last == "log" and base.rpartition(".")[2] in _COMPUTING:
                continue
            if name == "print" or (base and last in _OUTPUT and base.partition(".")[0] not in own):
                yield node


def _stored_in(function: Function) -> set[str]:
    """The names that a function binds itself."""
    return {
        node.id
        for node in ast.walk(function.node)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
