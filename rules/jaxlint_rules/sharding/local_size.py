"""Sums over all devices that are divided by the size of one shard."""

from __future__ import annotations

import ast

from jaxlint.api import Reporter, Rule, TransformEvent
from jaxlint.api.syntax import dotted, nodes_of, positional_parameters
from jaxlint.api.values import (
    BoundMethod,
    Function,
    ListValue,
    Transformed,
    TupleValue,
    short_source,
    spec_entries,
    strings,
)
from jaxlint.finding import Severity
from jaxlint_rules._names import last_name, unpacked


class LocalSize(Rule):
    """A sum over devices is divided by the size of one device's shard.

    ## What it does
    Finds, in functions under `shard_map` and `pmap`, `lax.psum(..., "data") / x.shape[0]` where `x`
    is sharded along that dimension over the axis `"data"`.

    ## Why is this bad?
    Inside these functions `x.shape[0]` is the size of the device's shard. `psum` sums over all
    shards, so the quotient is too large by the number of devices. On a single device the result is
    right.

    ## Example
    ```python
    def mean(x):
        return jax.lax.psum(jnp.sum(x), "data") / x.shape[0]
    ```

    ## Use instead
    ```python
    def mean(x):
        return jax.lax.psum(jnp.sum(x), "data") / jax.lax.psum(x.shape[0], "data")
    ```

    ## Fix safety
    There is no automatic fix: `lax.pmean` of the local means may be meant as well.

    ## When not to fix
    Keep it if you want the sum of the local means.

    ## References
    - [jax.shard_map](https://docs.jax.dev/en/latest/notebooks/shard_map.html)
    """

    code = "JAX1213"
    name = "local-size"
    category = "sharding"
    severity = Severity.WARNING

    def on_transform(self, event: TransformEvent, report: Reporter) -> None:
        t = event.transformed
        if t.kind not in ("shard_map", "pmap") or report.module.is_test:
            return
        function = t.target.function if isinstance(t.target, BoundMethod) else t.target
        if not isinstance(function, Function) or function.module is not event.frame.module:
            return
        split = _split(t, function, isinstance(t.target, BoundMethod))
        if not split:
            return
        given = _given(function.node)
        for quotient in nodes_of(function.node, ast.BinOp):
            if not isinstance(quotient.op, ast.Div):
                continue
            summed = _summed_over(quotient.left, given)
            size = _size(quotient.right, given)
            if size is not None and summed and set(summed) <= set(split.get(size, ())):
                report(
                    quotient,
                    f"a sum over all devices is divided by the local size `{short_source(quotient.right)}`; use `lax.pmean`",
                    reason=f"axis `{summed[0]}` splits `{size[0]}`; {t.why.explain(report.module)}",
                    function=function.qualname,
                )


def _split(t: Transformed, function: Function, bound: bool) -> dict[tuple[str, int], tuple[str, ...]]:
    """The axes over which each dimension of each parameter is split."""
    names = [parameter.arg for parameter in positional_parameters(function.node)][1 if bound else 0 :]
    found: dict[tuple[str, int], tuple[str, ...]] = {}
    if t.kind == "pmap":
        # The mapped dimension is gone inside; the rest of the batch is the device's shard.
        axis = strings(t.options.get("axis_name"))
        return {(name, 0): axis for name in names} if axis and "in_axes" not in t.options else {}
    specs = t.options.get("in_specs")
    for position, name in enumerate(names):
        if isinstance(specs, (TupleValue, ListValue)):
            spec = specs.items[position] if specs.items is not None and position < len(specs.items) else None
        else:
            spec = specs
        for dimension, axes in enumerate(spec_entries(spec) or ()):
            if axes:
                found[name, dimension] = axes
    return found


def _given(function: ast.AST) -> dict[str, ast.expr]:
    """The values of names that a function binds once, by a plain assignment."""
    found: dict[str, list[ast.expr]] = {}
    for statement in nodes_of(function, ast.Assign):
        for target in statement.targets:
            if isinstance(target, ast.Name):
                found.setdefault(target.id, []).append(statement.value)
    return {name: values[0] for name, values in found.items() if len(values) == 1}


def _summed_over(node: ast.expr, given: dict[str, ast.expr]) -> tuple[str, ...]:
    """The axes of a `psum` expression."""
    if isinstance(node, ast.Name):
        node = given.get(node.id, node)
    if not isinstance(node, ast.Call) or last_name(node.func) != "psum":
        return ()
    axis = next(
        (k.value for k in node.keywords if k.arg == "axis_name"), node.args[1] if len(node.args) > 1 else None
    )
    names = unpacked(axis) if axis is not None else []
    known = [part.value for part in names if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    return tuple(known) if len(known) == len(names) else ()


def _size(node: ast.expr, given: dict[str, ast.expr]) -> tuple[str, int] | None:
    """The array and dimension whose length an expression is: `x.shape[0]`, `len(x)`."""
    if isinstance(node, ast.Name):
        node = given.get(node.id, node)
    if isinstance(node, ast.Call) and dotted(node.func) == "len" and len(node.args) == 1:
        return (node.args[0].id, 0) if isinstance(node.args[0], ast.Name) else None
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Constant):
        return None
    base, _, last = dotted(node.value).rpartition(".")
    return (base, node.slice.value) if last == "shape" and type(node.slice.value) is int else None
