"""Constructors that check the rank of a leaf, where JAX rebuilds the object with leaves of another rank."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxlint.api import CallEvent, Reporter, Rule, concerns
from jaxlint.api.syntax import all_parameters, dotted
from jaxlint.api.values import (
    ClassValue,
    DictValue,
    Function,
    Instance,
    ListValue,
    StarArgument,
    Transformed,
    TupleValue,
    Value,
    constant,
)
from jaxlint.finding import Severity
from jaxlint_rules._callables import argument, innermost, vmap_called
from jaxlint_rules._names import last_name, names_in
from jaxlint_rules.api._rebuilt import requirement

_TREE_MAPS = ("jax.tree.map", "jax.tree_util.tree_map")


class CheckedRebuild(Rule):
    """A constructor requires a rank that JAX changes when it rebuilds the object.

    ## What it does
    Finds objects that enter a function under `jax.vmap`, or the `xs` of `lax.scan` and `lax.map`, or
    whose leaves `jax.tree.map` stacks or indexes, where JAX rebuilds them through a constructor that
    requires an exact rank: by an `assert`, a `raise`, or by unpacking a shape. `tree_unflatten` calls
    the constructor, or a dataclass of flax, chex or `jax.tree_util.register_dataclass` has a
    `__post_init__` with the check. Also finds objects that such a function creates and returns.

    ## Why is this bad?
    JAX takes a pytree apart and rebuilds it with other leaves: rows of the arrays, tracers,
    `ShapeDtypeStruct`, None. Inside `vmap` each array has one axis fewer, so the check raises
    `AssertionError` or `ValueError`, though nothing is wrong with the data.

    ## Example
    ```python
    @jax.tree_util.register_pytree_node_class
    class Points:
        def __init__(self, xyz):
            assert xyz.ndim == 2
            self.xyz = xyz

        def tree_flatten(self):
            return (self.xyz,), None

        @classmethod
        def tree_unflatten(cls, aux, children):
            return cls(*children)

    jax.vmap(lambda point: point.xyz.sum())(Points(jnp.ones((8, 3))))
    ```

    ## Use instead
    ```python
    @jax.tree_util.register_pytree_node_class
    class Points:
        def __init__(self, xyz):
            assert xyz.ndim == 2
            self.xyz = xyz

        def tree_flatten(self):
            return (self.xyz,), None

        @classmethod
        def tree_unflatten(cls, aux, children):
            points = object.__new__(cls)
            (points.xyz,) = children
            return points

    jax.vmap(lambda point: point.xyz.sum())(Points(jnp.ones((8, 3))))
    ```
    Or check in a function that creates the object.

    ## Fix safety
    There is no automatic fix.

    ## When not to fix
    Always fix it: the call raises.

    ## References
    - [JAX: custom pytrees and initialization](https://docs.jax.dev/en/latest/custom_pytrees.html)
    """

    code = "JAX827"
    name = "checked-rebuild"
    category = "api"
    severity = Severity.ERROR
    follows_calls = True

    @concerns("jax.lax.scan", "jax.lax.map", *_TREE_MAPS, callees=("Transformed",))
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        if event.is_guarded() or report.module.is_test:
            return
        how, mapped = _mapped(event)
        for cls in mapped:
            wanted = requirement(cls)
            if wanted is not None:
                here = wanted.module is report.module
                report(
                    wanted.place if here else event.node,
                    f"{how} rebuilds `{cls.name}` by its constructor, whose check raises {wanted.error}; check elsewhere",
                    reason=f"{how} at line {getattr(event.node, 'lineno', '?')} changes the rank of `{wanted.leaf}`; "
                    f"line {getattr(wanted.node, 'lineno', '?')} requires {wanted.rank}",
                )
                return


def _mapped(event: CallEvent) -> tuple[str, list[ClassValue]]:
    """What maps over the objects of a call, and their classes."""
    if event.name in _TREE_MAPS:
        body = argument(event, 0, "f")
        trees = event.args[1:] if body is not None and "is_leaf" not in event.kwargs else []
        first = (
            trees[0].element if trees and isinstance(trees[0], StarArgument) else trees[0] if trees else None
        )
        return "`tree.map`", [*_classes(first)] if first is not None and _changes_rank(body) else []
    if event.name:
        position = 2 if event.name == "jax.lax.scan" else 1
        xs = argument(event, position, "xs")
        return f"`lax.{event.name.rpartition('.')[2]}`", [*_classes(xs)] if xs is not None else []
    t = vmap_called(event)
    if not isinstance(t, Transformed) or "**" in t.options:
        return "", []
    axes = constant(t.options["in_axes"]) if "in_axes" in t.options else 0
    found: list[ClassValue] = []
    for position, value in enumerate(event.args):
        axis = axes[position] if isinstance(axes, tuple) and position < len(axes) else axes
        if type(axis) is int:
            found += _classes(value)
    if "out_axes" not in t.options:
        found += _classes(event.result)
    return "`vmap`", found


def _changes_rank(body: Value | None) -> bool:
    """Whether a function returns its leaves with an axis more or fewer: stacked, or indexed by a number or None."""
    function = innermost(body) if body is not None else None
    if not isinstance(function, Function):
        return False
    if isinstance(function.node, ast.Lambda):
        result: ast.expr | None = function.node.body
    else:
        last = function.node.body[-1]
        result = last.value if isinstance(last, ast.Return) and len(function.node.body) == 1 else None
    parameters = {one.arg for one in all_parameters(function.node)}
    if isinstance(result, ast.Subscript) and dotted(result.value) in parameters:
        index = result.slice
        return isinstance(index, ast.Constant) and (index.value is None or type(index.value) is int)
    return (
        isinstance(result, ast.Call)
        and last_name(result.func) in ("stack", "expand_dims")
        and bool(result.args)
        and bool(names_in(result.args[0]) & parameters)
    )


def _classes(value: Value, depth: int = 3) -> Iterator[ClassValue]:
    """The classes of the objects in a tree."""
    if isinstance(value, Instance):
        yield value.cls
    elif depth and isinstance(value, (ListValue, TupleValue)):
        for part in value.items or ():
            yield from _classes(part, depth - 1)
    elif depth and isinstance(value, DictValue):
        for part in value.items.values():
            yield from _classes(part, depth - 1)
