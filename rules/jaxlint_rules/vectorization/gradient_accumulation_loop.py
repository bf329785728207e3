"""Gradient accumulation in an unrolled loop."""

from __future__ import annotations

import ast

from jaxlint.api import CallEvent, LoopEvent, Reporter, Rule, concerns
from jaxlint.api.syntax import cache, dotted, walk
from jaxlint.api.values import Array, Transformed, Value
from jaxlint.finding import Severity
from jaxlint_rules._fixes import propose
from jaxlint_rules._names import last_name, names_in
from jaxlint_rules._reasons import staged_because

_GRADIENTS = frozenset({"grad", "value_and_grad"})
_FEW = 2


class GradientAccumulationLoop(Rule):
    """A Python loop accumulates gradients in a traced function.

    ## What it does
    Finds `for` loops in traced code that take a gradient in each iteration and add it to a running
    sum.

    ## Why is this bad?
    Gradients are accumulated so that a large batch fits into memory. Tracing unrolls the loop: the
    program contains a forward and a backward pass per part, and compile time grows with the number
    of parts. XLA may run parts in parallel, each with its own activations. `jax.lax.scan` compiles
    one part and runs the parts in sequence. Tracing and compiling 16 parts of a small network took
    2.8 times as long as the scan, on a CPU.

    ## Example
    ```python
    for i in range(parts):
        part = batch[i * size : (i + 1) * size]
        grads = jax.tree.map(jnp.add, grads, jax.grad(loss)(params, part))
    ```

    ## Use instead
    ```python
    def body_fun(grads, part):
        return jax.tree.map(jnp.add, grads, jax.grad(loss)(params, part)), None

    grads, _ = jax.lax.scan(body_fun, grads, batch.reshape(parts, size, *batch.shape[1:]))
    ```

    ## Fix safety
    Unsafe: the sums need their final shapes and dtypes from the start. The fix writes a scan over
    the range, the rows or the equal parts that the loop iterates over.

    ## When not to fix
    Keep it if there are two or three parts and they compile fast.

    ## References
    - [JAX: `lax.scan`](https://docs.jax.dev/en/latest/_autosummary/jax.lax.scan.html)
    """

    code = "JAX708"
    name = "gradient-accumulation-loop"
    category = "vectorization"
    severity = Severity.WARNING
    fixable = "unsafe"

    def __init__(self) -> None:
        self.taking: set[ast.AST] = set()

    @concerns(callees=("Transformed",))
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        callee = event.callee
        if isinstance(callee, Transformed) and event.frame.loops and event.frame.stage.staged:
            while isinstance(callee, Transformed) and callee.kind not in _GRADIENTS:
                callee = callee.target
            if isinstance(callee, Transformed):
                self.taking.add(event.frame.loops[-1].node)

    def on_loop(self, event: LoopEvent, report: Reporter) -> None:
        node, frame, trips = event.node, event.frame, event.loop.trips
        if not isinstance(node, ast.For) or node not in self.taking or not frame.is_certain():
            return
        if (
            frame.module.is_test
            or (trips is not None and trips <= _FEW)
            or not _has_parts(event.iterable, node.iter)
        ):
            return
        sums = _sums(node) & event.before.keys()
        if not sums:
            return
        report(
            node.iter,
            f"the loop that accumulates gradients in `{min(sums)}` is unrolled: compile time grows; use `lax.scan`",
            reason=staged_because(frame),
            fix=propose(report, node.iter, "for-to-scan", "Use `lax.scan`", safe=False),
        )


def _has_parts(iterable: Value, node: ast.expr) -> bool:
    """Parts of one shape: a range of numbers, the rows of an array, or a split array."""
    if isinstance(node, ast.Call):
        return last_name(node.func) in ("range", "split", "enumerate", "zip")
    return isinstance(iterable, Array) and not iterable.tree


@cache
def _sums(loop: ast.For) -> frozenset[str]:
    """Names to which each iteration adds a value computed from a gradient: a sum of gradients, not parameters under
    descent."""
    made = _made_of_gradients(loop)
    found: set[str] = set()
    for statement in loop.body:
        if isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Add):
            if isinstance(statement.target, ast.Name) and _uses(statement.value, made):
                found.add(statement.target.id)
        elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target, value = statement.targets[0], statement.value
            if isinstance(target, ast.Name) and _adds(value, target.id) and _uses(value, made):
                found.add(target.id)
    return frozenset(name for name in found if not _is_asked_for(loop, name))


def _made_of_gradients(loop: ast.For) -> set[str]:
    made: set[str] = set()
    for statement in loop.body:
        if isinstance(statement, ast.Assign) and _uses(statement.value, made):
            for target in statement.targets:
                made |= {part.id for part in _walk_gradients(target, statement.value)}
    return made


def _walk_gradients(target: ast.expr, value: ast.expr) -> list[ast.Name]:
    """The names bound to gradients: for `value_and_grad`, not the value before them."""
    bound = [target]
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Call):
        bound = target.elts[1:] if "value_and_grad" in ast.unparse(value.func) else bound
    return [part for child in bound for part in walk(child) if isinstance(part, ast.Name)]


def _uses(node: ast.AST, made: set[str]) -> bool:
    if names_in(node) & made:
        return True
    return any(isinstance(part, ast.Call) and "grad" in ast.unparse(part.func) for part in walk(node))


def _adds(value: ast.expr, name: str) -> bool:
    """`name + x`, `jnp.add(name, x)`, `jax.tree.map(add, name, x)`."""
    if isinstance(value, ast.BinOp):
        sides = (value.left, value.right)
        return isinstance(value.op, ast.Add) and any(isinstance(s, ast.Name) and s.id == name for s in sides)
    if isinstance(value, ast.Call):
        given = [argument.id for argument in value.args if isinstance(argument, ast.Name)]
        last = last_name(value.func)
        if last == "add":
            return name in given
        mapped = last in ("map", "tree_map", "tree_multimap") and bool(value.args)
        return mapped and name in given[-2:] and _is_addition(value.args[0])
    return False


def _is_addition(function: ast.expr) -> bool:
    if isinstance(function, ast.Lambda):
        return isinstance(function.body, ast.BinOp) and isinstance(function.body.op, ast.Add)
    return last_name(function) in ("add", "tree_add", "__add__")


def _is_asked_for(loop: ast.For, name: str) -> bool:
    """Whether the gradient is taken at the sum itself: then it is not a sum of gradients."""
    return any(
        isinstance(part, ast.Call)
        and "grad" in ast.unparse(part.func)
        and name in {n for a in part.args for n in names_in(a)}
        for statement in loop.body
        for part in walk(statement)
        if not (isinstance(part, ast.Call) and dotted(part.func).endswith(("map", "add")))
    )
