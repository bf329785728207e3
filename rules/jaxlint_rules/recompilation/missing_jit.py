"""Functions of many array operations that a loop on the host runs one operation at a time."""

from __future__ import annotations

import ast

from jaxlint.finding import Severity
from jaxlint.rule import Example, Rule, concerns
from jaxlint.staging import Reporter
from jaxlint.staging.events import CallEvent, OperationEvent
from jaxlint.staging.values import Array, Function, TupleValue, Value
from jaxlint_rules._eager import computes_only
from jaxlint_rules._loops import host_loops

_MANY = 6  # operations of its own


class MissingJit(Rule):
    """A function of many array operations is called in a loop, and nothing compiles it.

    ## What it does
    Finds calls, in loops on the host, of functions that do six or more array operations and nothing else, and that the
    program never stages.

    ## Why is this bad?
    Each operation is sent to the device on its own, and writes its result to memory for the next to read. Compiled, they
    are one call, and fused. Eight operations on 1,000 numbers took over 20 times as long without `jit`, on a CPU.

    ## Example
    ```python
    for batch in batches:
        total = total + energy(params, batch)
    ```

    ## Use instead
    ```python
    energy = jax.jit(energy)

    for batch in batches:
        total = total + energy(params, batch)
    ```

    ## Fix safety
    There is no automatic fix: arguments may have to be static.

    ## When not to fix
    When the loop runs a few times, each time on another shape: compiling costs more than it saves; or when callers that cannot be
    seen stage the function. The rule is in preview: of four findings in open repositories one was right, two were wrong, for
    the callers' sake, and one was debatable.

    ## References
    - [JAX: just-in-time compilation](https://docs.jax.dev/en/latest/jit-compilation.html)
    """

    code = "JAX408"
    name = "missing-jit"
    category = "recompilation"
    severity = Severity.WARNING
    preview = True
    proof = "source"
    examples = (
        Example(
            "a loop over numbers",
            """
import jax.numpy as jnp

def energy(w, x):
    h = jnp.tanh(x @ w)
    h = jnp.tanh(h @ w + x)
    h = h - h.mean()
    return jnp.sum(h**2)

def main():
    w, x = jnp.ones((64, 64)), jnp.ones((32, 64))
    total = 0.0
    for i in range(100):
        total = total + energy(w, x * i)  # finding
    return total

main()
""",
        ),
        Example(
            "compiled, staged elsewhere, light, decided in Python, outside of loops",
            """
import jax
import jax.numpy as jnp

@jax.jit
def compiled(w, x):
    h = jnp.tanh(x @ w)
    h = jnp.tanh(h @ w + x)
    return jnp.sum((h - h.mean()) ** 2)

def energy(w, x):
    h = jnp.tanh(x @ w)
    h = jnp.tanh(h @ w + x)
    return jnp.sum((h - h.mean()) ** 2)

gradient = jax.jit(jax.grad(energy))

def light(x):
    return x * 2 + 1

def decided(x):
    h = jnp.tanh(x * 2 + 1)
    h = jnp.exp(h - h.max())
    if h.sum() > 1:
        h = h / h.sum()
    return jnp.sin(h) * 2

def once(x):
    h = jnp.tanh(x * 2 + 1)
    h = jnp.exp(h - h.max())
    return jnp.sin(h) * 2

def main():
    w, x = jnp.ones((64, 64)), jnp.ones((32, 64))
    for i in range(100):
        x = x - compiled(w, x) - energy(w, x) - light(x) - decided(x)
        w = w - gradient(w, x)
    return once(x)

main()
""",
        ),
    )

    def __init__(self) -> None:
        self.operations: dict[ast.AST, set[ast.AST]] = {}
        self.staged: set[ast.AST] = set()
        self.called: dict[ast.AST, tuple[CallEvent, Function]] = {}

    def on_operation(self, event: OperationEvent, report: Reporter) -> None:
        frame = event.frame
        if frame.function is None:
            return
        if frame.stage.staged:
            self.staged.add(frame.function.node)
        elif isinstance(event.result, Array) and event.result.certain:
            self.operations.setdefault(frame.function.node, set()).add(event.node)

    @concerns(callees=("Function",))
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        frame, callee = event.frame, event.callee
        if frame.stage.staged or frame.module.is_test or not isinstance(callee, Function) or not frame.loops:
            return
        if host_loops(frame) and _arrays(event.result) and any(_arrays(value) for value in event.args):
            self.called.setdefault(callee.node, (event, callee))

    def finish(self, report: Reporter) -> None:
        for node, (event, function) in self.called.items():
            count = len(self.operations.get(node, ()))
            if (
                node in self.staged
                or count < _MANY
                or not computes_only(node)
                or not event.frame.module.reported
            ):
                continue
            report.event = event
            report(
                event.node,
                f"`{function.qualname}` runs its {count} operations one by one in each iteration; `jax.jit` makes one program of them",
                reason="it is called in a loop, does nothing but compute, and nothing in the program stages it",
            )


def _arrays(value: Value) -> bool:
    if isinstance(value, TupleValue):
        return bool(value.items) and all(_arrays(part) for part in value.items or ())
    return isinstance(value, Array) and value.certain and not value.jitted
