"""Arguments of `vmap` that are repeated by hand."""

from __future__ import annotations

import ast

from jaxlint.api import CallEvent, Reporter, Rule, concerns
from jaxlint.api.syntax import cache, dotted, walk
from jaxlint.api.values import Array, Transformed, Value, constant, short_source
from jaxlint.finding import Severity
from jaxlint_rules._names import function_around, is_new_axis, last_name

_REPEATING = frozenset({"tile", "repeat", "broadcast_to"})


class BroadcastForVmap(Rule):
    """An array is copied for each row so that `vmap` can map over the copies.

    ## What it does
    Finds calls of a function under `vmap` that pass `jnp.tile`, `jnp.repeat`, `jnp.broadcast_to` or
    `jnp.stack([x] * n)` of an array that is the same for every row.

    ## Why is this bad?
    Outside `jit` the copies are real: they take memory and bandwidth for `n` arrays instead of one.
    With `in_axes=None` all rows share one array.

    ## Example
    ```python
    jax.vmap(predict)(jnp.tile(w[None], (len(x), 1, 1)), x)
    ```

    ## Use instead
    ```python
    jax.vmap(predict, in_axes=(None, 0))(w, x)
    ```

    ## Fix safety
    There is no automatic fix.

    ## When not to fix
    Keep it if each copy is changed on its own afterwards.

    ## References
    - [JAX: `vmap`](https://docs.jax.dev/en/latest/_autosummary/jax.vmap.html)
    """

    code = "JAX706"
    name = "broadcast-for-vmap"
    category = "vectorization"
    severity = Severity.WARNING

    @concerns(callees=("Transformed",))
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        callee, node, frame = event.callee, event.node, event.frame
        if not isinstance(callee, Transformed) or callee.kind != "vmap" or not isinstance(node, ast.Call):
            return
        if frame.module.is_test or len(node.args) < 2 or any(isinstance(a, ast.Starred) for a in node.args):
            return
        axes = constant(callee.options["in_axes"]) if "in_axes" in callee.options else 0
        if axes != 0 and not (isinstance(axes, tuple) and set(axes) == {0}):
            return
        for argument, value in zip(node.args, event.args, strict=False):
            how = self.repeated(argument, value, report)
            if how:
                report(
                    argument,
                    f"`{short_source(argument)}` copies one array for each row; pass the array with `in_axes=None`",
                    reason=f"{how} gives `{callee.label}` the same array in each row",
                )

    def repeated(self, node: ast.expr, value: Value, report: Reporter) -> str:
        """The expression that repeats an array along its first axis; "" if there is none."""
        if isinstance(node, ast.Name):
            bound = _binding(node, report)
            return self.repeated(bound, value, report) if bound is not None else ""
        if not isinstance(node, ast.Call) or not isinstance(value, Array):
            return ""
        last = last_name(node.func)
        if last == "stack" and node.args and isinstance(node.args[0], ast.BinOp):
            times = node.args[0]
            listed = times.left if isinstance(times.left, ast.List) else times.right
            if isinstance(times.op, ast.Mult) and isinstance(listed, ast.List) and len(listed.elts) == 1:
                return "`jnp.stack([x] * n)`"
            return ""
        if last not in _REPEATING or len(node.args) < 2:
            return ""
        first, sizes = node.args[0], node.args[1]
        if last == "broadcast_to":
            return "`jnp.broadcast_to`" if _prepends(first, sizes) else ""
        if not _has_new_axis(first):
            return ""
        if last == "tile":
            ones = isinstance(sizes, ast.Tuple) and all(
                isinstance(part, ast.Constant) and part.value == 1 for part in sizes.elts[1:]
            )
            return "`jnp.tile`" if ones else ""
        axis = next((k.value for k in node.keywords if k.arg == "axis"), None)
        return "`jnp.repeat`" if isinstance(axis, ast.Constant) and axis.value == 0 else ""


def _has_new_axis(node: ast.expr) -> bool:
    """`x[None]` or `jnp.expand_dims(x, 0)`: one element is repeated."""
    if isinstance(node, ast.Subscript):
        first = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) and node.slice.elts else node.slice
        return is_new_axis(first)
    return isinstance(node, ast.Call) and dotted(node.func).endswith("expand_dims")


def _prepends(first: ast.expr, sizes: ast.expr) -> bool:
    """`broadcast_to(x, (n, *x.shape))` or `(n,) + x.shape`."""
    name = dotted(first)
    if not name:
        return _has_new_axis(first)
    wanted = f"{name}.shape"
    if isinstance(sizes, ast.Tuple) and len(sizes.elts) == 2 and isinstance(sizes.elts[1], ast.Starred):
        return dotted(sizes.elts[1].value) == wanted
    if isinstance(sizes, ast.BinOp) and isinstance(sizes.op, ast.Add):
        return (
            dotted(sizes.right) == wanted and isinstance(sizes.left, ast.Tuple) and len(sizes.left.elts) == 1
        )
    return False


def _binding(name: ast.Name, report: Reporter) -> ast.expr | None:
    """The value of a local name that is bound once."""
    function = function_around(name, report.module)
    if function is None:
        return None
    found = _assigned(function).get(name.id, ())
    return found[0] if len(found) == 1 else None


@cache
def _assigned(function: ast.FunctionDef | ast.AsyncFunctionDef) -> dict[str, list[ast.expr]]:
    """The values bound to each name in a function."""
    found: dict[str, list[ast.expr]] = {}
    for child in walk(function):
        if isinstance(child, ast.Assign):
            for name in {dotted(target) for target in child.targets}:
                found.setdefault(name, []).append(child.value)
    return found
