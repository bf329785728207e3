"""Optimizer updates that run outside jit, operation by operation."""

from __future__ import annotations

import ast
import re

from jaxlint.api import CallEvent, Frame, Module, Reporter, Rule, concerns
from jaxlint.api.syntax import dotted, nodes_of
from jaxlint.api.values import BoundMethod, ExternalMethod, ExternalObject, Function, Unknown
from jaxlint.finding import FixRequest, Severity
from jaxlint_rules._cost import DISPATCH, level, runs
from jaxlint_rules._eager import is_decorated_elsewhere
from jaxlint_rules._fixes import propose
from jaxlint_rules._loops import (
    bodies,
    frame_of_loop,
    has_few_turns,
    host_loops,
    is_brief,
    is_host_loop,
    is_under_test,
    name_of_step,
    place_of_loop,
)
from jaxlint_rules._names import names_in
from jaxlint_rules._periods import comes_back
from jaxlint_rules.api._training import is_optimiser_update

_UNPACKED = frozenset({"opt_update", "optim_update", "optimizer_update", "tx_update"})
_OF_STATES = "apply_gradients"
_AVERAGES = ("optax.incremental_update",)
_MAPS = ("jax.tree.map", "jax.tree_util.tree_map")
_STEP = 100  # operations of an optimizer over the same
_LEAVES = 20  # operations of an average over the arrays of a small network
_NNX = ("flax.nnx.Optimizer", "flax.nnx.ModelAndOptimizer")


class EagerUpdate(Rule):
    """The optimizer of a training loop runs outside jit.

    ## What it does
    Finds calls of an optimizer's `update` (optax, flax.nnx), and of `apply_gradients` of a train
    state, in host loops outside `jit`, and in functions and methods that such a loop calls. Also moving
    averages of parameters there, as those of a target network: `optax.incremental_update`, and
    `jax.tree.map` of `target * (1 - tau) + params * tau`.

    ## Why is this bad?
    An update is about ten operations for each parameter array. Outside `jit`, each is dispatched to
    the device on its own, in every iteration. With a multilayer perceptron of three layers and
    `adamw`, the loop ran 8 times as fast on a CPU once gradient, update and `apply_updates` were
    one jitted step.

    ## Example
    ```python
    for x, y in batches:
        loss, grads = grad_fn(params, x, y)
        updates, opt_state = optimizer.update(grads, opt_state, params)
        params = optax.apply_updates(params, updates)
    ```

    ## Use instead
    ```python
    @jax.jit
    def train_step(params, opt_state, x, y):
        loss, grads = grad_fn(params, x, y)
        updates, opt_state = optimizer.update(grads, opt_state, params)
        params = optax.apply_updates(params, updates)
        return params, opt_state, loss


    for x, y in batches:
        params, opt_state, loss = train_step(params, opt_state, x, y)
    ```

    ## Fix safety
    Unsafe: a compiled step rounds in another order, and captures the variables around it at trace
    time. The fix turns as many statements around the call as can be compiled into the step. It
    donates the state that the step replaces, unless a caller visibly keeps it. A function
    that the loop calls has no fix: you decide which of its parameters are static.
    `jaxlint verify --apply` writes the fix only after the program ran with it, gave the same
    results and was faster.

    ## When not to fix
    Keep it if the loop runs only a few times, or each step has other shapes. Reported as advice: a
    loop of at most 32 iterations that the program enters once, and a function that says so
    (`eager_step`).

    ## References
    - [JAX: just-in-time compilation](https://docs.jax.dev/en/latest/jit-compilation.html)
    """

    code = "JAX410"
    name = "eager-update"
    category = "recompilation"
    severity = Severity.WARNING
    cure = ("compile the step", 0)
    fixable = "unsafe"
    proof = "source"

    def __init__(self) -> None:
        self.told: set[ast.AST] = (
            set()
        )  # loops and the functions that they call: one jitted step replaces all updates of a loop

    @concerns(
        *_AVERAGES,
        *_MAPS,
        callees=("BoundMethod", "ExternalMethod", "Unknown"),
        methods=("update", _OF_STATES, *_UNPACKED),
    )
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        frame = event.frame
        nnx, average = _is_nnx_update(event), _averages(event)
        if frame.stage.staged or is_under_test(frame) or is_decorated_elsewhere(frame):
            return
        if not (
            nnx
            or average
            or is_optimiser_update(event)
            or _is_unpacked_update(event)
            or _updates_state(event)
        ):
            return
        loop, body = next(bodies(frame), (None, None))
        if loop is None and average:  # the cost counts every N-th iteration
            loop = next((one for one in host_loops(frame) if comes_back(frame, one)), None)
            body = loop.node if loop is not None else None
        if loop is None or body is None or self.told & {loop.node, body} or not is_host_loop(loop, frame):
            return
        if has_few_turns(loop, frame_of_loop(loop, frame)):
            return
        self.told |= {loop.node, body}
        called = ast.unparse(event.node.func) if isinstance(event.node, ast.Call) else "update"
        own = loop in frame.loops
        light = is_brief(loop, frame) or _is_of_host(event) or _is_eager_on_purpose(frame)
        light = light or (average and level(runs(frame, loop) * _LEAVES * DISPATCH) is Severity.INFO)
        report(
            event.node,
            f"`{called}` runs operation by operation each iteration; jit the train step",
            reason=f"{place_of_loop(loop, frame)} calls {'it' if own else f'`{name_of_step(frame)}`'} outside jit",
            severity=Severity.INFO if light else None,
            shown=level(runs(frame, loop) * _STEP * DISPATCH) is None,
            fix=_step(event.node, report, "flax.nnx.jit" if nnx else _jit_of(report.module)) if own else None,
        )


def _averages(event: CallEvent) -> bool:
    """A moving average of parameters, as that of a target network: by optax, or as `target * (1 - tau) + params * tau`."""
    if event.name in _AVERAGES:
        return True
    function = event.args[0] if event.name in _MAPS and event.args else None
    if (
        not isinstance(function, Function)
        or not isinstance(function.node, ast.Lambda)
        or len(event.args) != 3
    ):
        return False
    body, names = function.node.body, [one.arg for one in function.node.args.args]
    products = [
        part for part in (getattr(body, "left", None), getattr(body, "right", None)) if part is not None
    ]
    return (
        isinstance(body, ast.BinOp)
        and isinstance(body.op, ast.Add)
        and len(names) == 2
        and all(isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mult) for part in products)
        and {name for part in products for name in names_in(part)} >= set(names)
    )


_EAGER = re.compile(r"(^|[_.])(eager(ly)?|no_?jit|without_jit|unjitted|uncompiled)([_.]|$)")


def _is_eager_on_purpose(frame: Frame) -> bool:
    """Whether a function says that it compares with what is not compiled: `eager_step`, in `benchmark_jit_vs_eager`."""
    return frame.function is not None and _EAGER.search(frame.function.qualname.lower()) is not None


def _is_of_host(event: CallEvent) -> bool:
    """Whether the gradient was computed on the host, as by differences of simulations, and is only copied: `g = jnp.array(g_np)`. The
    update is nothing beside that."""
    given = event.node.args[0] if isinstance(event.node, ast.Call) and event.node.args else None
    if isinstance(given, ast.Name):
        made = [
            statement.value
            for statement in nodes_of(event.frame.owner, ast.Assign)
            if [dotted(target) for target in statement.targets] == [given.id]
        ]
        given = made[0] if len(made) == 1 else None
    return isinstance(given, ast.Call) and dotted(given.func) in ("jnp.array", "jnp.asarray")


def _is_nnx_update(event: CallEvent) -> bool:
    callee = event.callee
    return (
        isinstance(callee, ExternalMethod)
        and callee.name == "update"
        and isinstance(callee.receiver, ExternalObject)
        and callee.receiver.name in _NNX
    )


def _updates_state(event: CallEvent) -> bool:
    """`state.apply_gradients(grads=grads)` of a train state of flax, or of one like it."""
    node, callee = event.node, event.callee
    if isinstance(callee, BoundMethod) and (
        not isinstance(callee.function, Function) or callee.function.module.reported
    ):
        return False  # a method of the project, in which the optimizer's own call is seen
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == _OF_STATES
        and "grads" in event.kwargs
    )


def _is_unpacked_update(event: CallEvent) -> bool:
    """`opt_update(grads, state)` after `opt_init, opt_update = optax.adam(1e-3)`."""
    node = event.node
    return (
        isinstance(event.callee, Unknown)
        and isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in _UNPACKED
        and len(event.args) + len(event.kwargs) >= 2
    )


def _jit_of(module: Module) -> str:
    """The jit that accepts the models of a module: equinox models may have functions among their leaves."""
    equinox = any(not dots and name.partition(".")[0] == "equinox" for dots, name in module.asked)
    return "equinox.filter_jit" if equinox else "jax.jit"


def _step(node: ast.AST, report: Reporter, transform: str) -> FixRequest | None:
    """The edit that makes one function from as many statements around a call as only compute."""
    statement = next((one for one in report.module.ancestors(node) if isinstance(one, ast.stmt)), None)
    if statement is None:
        return None
    message = "Jit the train step"
    options = {"transform": transform, "around": True, "donate": True}
    return propose(report, statement, "region-to-jit", message, safe=False, **options)
