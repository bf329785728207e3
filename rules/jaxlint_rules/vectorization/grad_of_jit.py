"""Gradients that a training loop computes outside jit."""

from __future__ import annotations

import ast

from jaxlint.api import CallEvent, Reporter, Rule, concerns
from jaxlint.api.syntax import is_script
from jaxlint.api.tables import JIT_KINDS
from jaxlint.api.values import Partial, Transformed, Value
from jaxlint.finding import Severity
from jaxlint_rules._eager import report_eager, steps
from jaxlint_rules._loops import host_loops, is_tried_out

_KINDS = frozenset({"grad", "value_and_grad", "jacobian"})


class GradOfJit(Rule):
    """A loop computes a gradient outside jit.

    ## What it does
    Finds `jax.grad` or `jax.value_and_grad` of a jitted function, called in a loop outside `jit`.
    Also finds the gradient of a function that nothing jits, if the program visibly runs the loop
    and the loop updates the differentiated argument.

    ## Why is this bad?
    `jit` should wrap the whole step. The gradient of a jitted function outside `jit` runs the
    forward and the backward pass as separate programs, traces the differentiation in Python at
    every call, and leaves the parameter update to one small program per operation. The gradient of
    a function that is not jitted dispatches every operation on its own. For a small network a step
    took 3.9 ms that way and 0.07 ms jitted as a whole (on a CPU).

    ## Example
    ```python
    grad_fn = jax.grad(jax.jit(loss))
    for batch in batches:
        grads = grad_fn(params, batch)
        params = jax.tree.map(lambda p, g: p - lr * g, params, grads)
    ```

    ## Use instead
    ```python
    @jax.jit
    def step(params, batch):
        grads = jax.grad(loss)(params, batch)
        return jax.tree.map(lambda p, g: p - lr * g, params, grads)

    for batch in batches:
        params = step(params, batch)
    ```

    ## Fix safety
    There is no automatic fix: only you know which statements belong to the step.

    ## When not to fix
    Keep it if the function is so large that the Python overhead does not matter, or if you inspect
    each gradient on the host.

    ## References
    - [JAX: key concepts, transformations](https://docs.jax.dev/en/latest/key-concepts.html#transformations)
    """

    code = "JAX705"
    name = "grad-of-jit"
    category = "vectorization"
    severity = Severity.WARNING
    cure = ("compile the step", 1)

    def __init__(self) -> None:
        self.told: dict[
            tuple[ast.AST, ast.AST], ast.AST
        ] = {}  # by loop and function: the call that is reported

    @concerns(callees=("Transformed",))
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        callee, frame = event.callee, event.frame
        if not isinstance(callee, Transformed) or callee.kind not in _KINDS or frame.stage.staged:
            return
        inner, api = _jitted(callee.target), callee.api
        if inner is None:
            report_eager(event, callee, report, self.told, api, "jit the whole step")
            return
        if frame.module.is_test or not isinstance(event.node, ast.Call):
            return
        loops = host_loops(frame)
        if not loops or not steps(event.node, loops[0].node) or is_tried_out(loops[0], frame):
            return
        if is_script(frame.module.tree) and not any(part.is_called() for part in (frame, *frame.callers())):
            return  # a script that never calls it
        report(
            event.node,
            f"`{api}` of the jitted `{inner.label}` runs outside jit each iteration; jit the whole step",
            reason=(
                f"{callee.why.explain(report.module)}, called in the loop at line {getattr(loops[0].node, 'lineno', '?')}"
            ),
        )


def _jitted(target: Value) -> Transformed | None:
    if isinstance(target, Partial):
        return _jitted(target.function)
    if isinstance(target, Transformed):
        return target if target.kind in JIT_KINDS and target.kind != "pmap" else None
    return None
