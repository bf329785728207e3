"""Python loops in staged code that unroll into a long program."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field

from jaxlint.finding import Severity
from jaxlint.rule import Example, Rule
from jaxlint.staging import Reporter
from jaxlint.staging.events import Event, OperationEvent
from jaxlint.staging.frame import Frame, Loop
from jaxlint.staging.syntax_facts import dotted, walk
from jaxlint_rules._loops import names_in
from jaxlint_rules._reasons import staged_because

MANY = 16  # iterations from which a loop is worth a scan
_STEPS = re.compile(r"iter|step|horizon|epoch|sweep|max_it|n_time|num_time|timesteps")
_LAYERS = re.compile(r"layer|block|depth|stage|level|head|scale|micro|device|dim|message|pass|modul|refine")


@dataclass(slots=True, eq=False)
class _Loop:
    event: OperationEvent
    frame: Frame
    trips: int | None
    operations: set[ast.AST] = field(default_factory=set)


class UnrolledLoop(Rule):
    """A long Python loop in staged code.

    ## What it does
    Finds `for _ in range(n)` in staged code whose body is array work on what the last iteration left, where `n` is 16 or
    more, or is named as a number of steps or iterations.

    ## Why is this bad?
    Tracing runs the loop: its body is in the program `n` times. Compile time and program size grow with `n`, and XLA sees
    no loop that it could reuse memory in. With `n = 150` a body of three operations took 2.4 times as long to compile as
    the same loop under `lax.fori_loop`; larger bodies fare worse.

    ## Example
    ```python
    @jax.jit
    def simulate(x):
        for t in range(500):
            x = x + dt * velocity(x, t)
        return x
    ```

    ## Use instead
    ```python
    @jax.jit
    def simulate(x):
        return jax.lax.fori_loop(0, 500, lambda t, x: x + dt * velocity(x, t), x)
    ```
    Or `jax.lax.scan` where the loop collects results or is differentiated.

    ## Fix safety
    There is no automatic fix: the carry must keep its shapes and dtypes, and what the body does with `t` as a Python number
    must work with an array.

    ## When not to fix
    When the iterations differ in shapes or in the functions that they call, or a few long operations gain from being
    unrolled.

    ## References
    - [JAX: control flow](https://docs.jax.dev/en/latest/control-flow.html)
    """

    code = "JAX406"
    name = "unrolled-loop"
    category = "recompilation"
    severity = Severity.WARNING
    examples = (
        Example(
            "many steps, and steps that a static argument counts",
            """
import functools
import jax
import jax.numpy as jnp

HORIZON = 150

@jax.jit
def walk(key, x):
    for t in range(HORIZON):  # finding
        x = x + jnp.tanh(jax.random.normal(jax.random.fold_in(key, t), x.shape))
    return x

@functools.partial(jax.jit, static_argnames="num_steps")
def integrate(x, num_steps):
    for _ in range(num_steps):  # finding
        x = smooth(x)
    return x

def smooth(x):
    return 0.5 * (x + jnp.roll(x, 1))
""",
        ),
        Example(
            "short loops, loops on the host, other functions in turn, loops of JAX",
            """
import jax
import jax.numpy as jnp

@jax.jit
def short(x):
    for _ in range(3):
        x = jnp.sin(x)
    return x

@jax.jit
def loop(x):
    return jax.lax.fori_loop(0, 500, lambda t, x: jnp.sin(x) + t, x)

def host(x):
    for _ in range(500):
        x = short(x)
    return x

@jax.jit
def layers(weights, x):
    for i in range(24):
        x = jnp.tanh(x @ weights[f"layer_{i}"])
    return x

@jax.jit
def shapes(x):
    total = 0
    for i in range(32):
        total += x.shape[0] * i
    return x * total

@jax.jit
def pyramid(x):
    for i in range(20):
        x = x[: x.shape[0] // 2] + i
    return x
""",
        ),
    )

    def __init__(self) -> None:
        self.loops: dict[ast.AST, _Loop] = {}

    def on_operation(self, event: OperationEvent, report: Reporter) -> None:
        frame: Frame | None = event.frame
        if not event.result.staged:
            return
        while frame is not None and frame.stage.staged:
            for loop in frame.loops:
                if loop.kind == "for" and frame.module.reported and _is_counted(loop):
                    known = self.loops.get(loop.node)
                    if known is None:
                        known = self.loops[loop.node] = _Loop(event, frame, loop.trips)
                    known.operations.add(event.operation.node)
            if frame.caller is None or frame.caller.stage is not frame.stage:
                break
            frame = frame.caller

    def finish(self, report: Reporter) -> None:
        for node, loop in self.loops.items():
            assert isinstance(node, ast.For)
            frame = loop.frame
            if not frame.home.staged or not frame.home.certain or frame.module.is_test:
                continue
            if len(loop.operations) < 2 and not _calls(node):
                continue
            if not (_carries(node) and _may_loop(node)):
                continue
            how = f"{loop.trips} times" if loop.trips is not None else f"`{ast.unparse(_bound(node))}` times"
            report.event = Event(node, frame)
            report(
                node.iter,
                f"this loop is unrolled: its body is traced and compiled {how}; use `lax.fori_loop` or `lax.scan`",
                reason=staged_because(frame),
                function=frame.name,
            )


def _is_counted(loop: Loop) -> bool:
    """A loop over `range` that runs often, as far as its text says."""
    node = loop.node
    if not (isinstance(node, ast.For) and isinstance(node.iter, ast.Call) and node.iter.args):
        return False
    if dotted(node.iter.func) != "range" or not isinstance(node.target, ast.Name):
        return False
    text = " ".join(ast.unparse(argument) for argument in node.iter.args).lower()
    if _LAYERS.search(text):
        return False
    return loop.trips >= MANY if loop.trips is not None else bool(_STEPS.search(text))


def _bound(node: ast.For) -> ast.expr:
    assert isinstance(node.iter, ast.Call)
    return node.iter.args[min(1, len(node.iter.args) - 1)]


def _calls(node: ast.For) -> bool:
    return any(isinstance(child, ast.Call) for statement in node.body for child in walk(statement))


def _carries(node: ast.For) -> bool:
    """Whether an iteration starts from what the last one left."""
    for statement in node.body:
        if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
            return True
        if isinstance(statement, ast.Assign):
            stored = set().union(*(names_in(target) for target in statement.targets))
            if stored & names_in(statement.value):
                return True
    return False


def _may_loop(node: ast.For) -> bool:
    """Whether the body can be the same program in every iteration."""
    assert isinstance(node.target, ast.Name)
    name = node.target.id
    for statement in node.body:
        for child in walk(statement):
            if isinstance(child, (ast.Break, ast.Return, ast.JoinedStr, ast.Yield)):
                return False
            if isinstance(child, (ast.If, ast.IfExp)) and name in names_in(child.test):
                return False
            if isinstance(child, ast.Slice) and not all(
                bound is None or isinstance(bound, (ast.Constant, ast.UnaryOp))
                for bound in (child.lower, child.upper)
            ):
                return False
            if isinstance(child, ast.Subscript) and name in names_in(child.slice):
                if _LAYERS.search(ast.unparse(child.value).lower()):
                    return False
            if isinstance(child, ast.Call) and _makes_layer(child):
                return False
    return True


def _makes_layer(call: ast.Call) -> bool:
    """A layer that is made and called: each iteration has parameters of its own."""
    made = call.func.func if isinstance(call.func, ast.Call) else call.func
    last = dotted(made).rpartition(".")[2]
    return last[:1].isupper() or last in ("getattr", "setattr", "print")
