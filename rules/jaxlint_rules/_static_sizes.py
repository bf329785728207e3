"""Parameters of jitted functions that are array sizes and so must be static."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxlint.api import Event
from jaxlint.api.syntax import all_parameters, names_stored, nodes_of
from jaxlint.api.tables import SHAPE_ARGUMENTS, STATIC_JIT_KINDS
from jaxlint.api.values import Array, Function, Static
from jaxlint.finding import FixRequest
from jaxlint_rules._fixes import declare_static
from jaxlint_rules._names import external_name


def static_size(event: Event, array: Array) -> tuple[str, FixRequest | None]:
    """The addition to a message about `array` if it is a size, and the fix; "" and None if it is not known to be one.

    Such a function fails on every call while the parameter is traced, so making it static breaks no working caller.
    """
    name = _parameter(event, array)
    made = array.why.cause if name and array.why is not None else None
    if made is None:
        return "", None
    return (
        f'; declare it static: `static_argnames="{name}"`',
        declare_static(made.node, made.module, name),
    )


def _parameter(event: Event, array: Array) -> str:
    """The parameter that a tracer is, or is computed from by numbers alone, if its function is jitted and creates
    arrays of that size."""
    while array.made is not None and array.made.args:
        arrays = [one for one in array.made.args if not isinstance(one, Static)]
        if len(arrays) != 1 or not isinstance(arrays[0], Array):
            return ""
        array = arrays[0]
    function, why = event.frame.function, array.why
    if function is None or why is None:
        return ""
    is_own = event.frame.stage.kind in STATIC_JIT_KINDS
    return why.parameter if is_own and why.parameter in _sizes(function) else ""


def _sizes(function: Function) -> frozenset[str]:
    """The parameters of a function that it never rebinds and that are sizes of arrays or slices."""
    found = {name for call in nodes_of(function.node, ast.Call) for name in _sizes_in(call, function)}
    for cut in nodes_of(function.node, ast.Slice):
        if (cut.lower is None) != (cut.upper is None):  # the size of `x[i : i + 3]` may be known
            found.update(_bare(cut.lower or cut.upper))
    return frozenset(found & {p.arg for p in all_parameters(function.node)}) - names_stored(function.node)


def _sizes_in(call: ast.Call, function: Function) -> Iterator[str]:
    name = external_name(call.func, function.scope)
    name = f"jax.{name}" if name.startswith("numpy.") else name
    positions, keywords = SHAPE_ARGUMENTS.get(name, ((), ()))
    given = [call.args[n] for n in positions if n < len(call.args)]
    for part in [*given, *(one.value for one in call.keywords if one.arg in keywords)]:
        yield from _bare(part)


def _bare(node: ast.AST | None) -> Iterator[str]:
    """The names in an expression that are numbers themselves, not values with a size."""
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Tuple | ast.List | ast.BinOp | ast.UnaryOp | ast.Starred):
        for child in ast.iter_child_nodes(node):
            yield from _bare(child)
