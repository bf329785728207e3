"""Models that a loop runs outside jit, operation by operation."""

from __future__ import annotations

import ast
import itertools

from jaxlint.api import CallEvent, Frame, Loop, Module, Reporter, Rule, concerns
from jaxlint.api.syntax import dotted
from jaxlint.api.values import Transformed
from jaxlint.finding import Severity
from jaxlint_rules._cost import FORWARD, level, runs
from jaxlint_rules._eager import running_loop, runs_model
from jaxlint_rules._loops import (
    BRIEF,
    frame_of_loop,
    is_host_loop,
    is_under_test,
    loop_variables,
    name_of_step,
    place_of_loop,
)
from jaxlint_rules._names import last_name
from jaxlint_rules._periods import is_periodic
from jaxlint_rules._purpose import makes_pictures
from jaxlint_rules._slices import calls_in


class EagerForward(Rule):
    """A loop runs a model outside jit.

    ## What it does
    Finds host loops that call a model outside `jit` in every iteration, as evaluation,
    generation and policies do: `model.apply` of flax.linen and haiku, and modules of equinox and
    flax.nnx, mapped or not. The loop may call them through a function.

    ## Why is this bad?
    Outside `jit` Python runs through the layers at each call, and each operation is
    dispatched to the device on its own. Of a multilayer perceptron with four layers of 64
    units, on a CPU, a forward pass took 4.9 ms with flax.linen and 4.3 ms with equinox, and
    0.008 and 0.3 ms under `jax.jit` and `eqx.filter_jit`.

    ## Example
    ```python
    net = eqx.nn.MLP(8, 10, 64, 3, key=key)
    for x, y in test_batches:
        logits = jax.vmap(net)(x)
        correct += (logits.argmax(-1) == y).sum()
    ```

    ## Use instead
    ```python
    net = eqx.nn.MLP(8, 10, 64, 3, key=key)


    @eqx.filter_jit
    def count_correct(net, x, y):
        return (jax.vmap(net)(x).argmax(-1) == y).sum()


    for x, y in test_batches:
        correct += count_correct(net, x, y)
    ```

    ## Fix safety
    There is no automatic fix: you decide which arguments are static. `jaxlint verify
    --transform source PROGRAM` compiles such functions and measures them.

    ## When not to fix
    Keep it if each iteration has another shape: compiling costs more than it saves. Not
    reported: loops of at most 32 iterations; loops that also take gradients, which other rules
    report. `nnx.jit` splits the model at each call, so it gains less: a transformer of two blocks
    became eight times as fast, four linear layers at most three times. It is advice where the loop
    is not seen to run 500 times.

    ## References
    - [JAX: just-in-time compilation](https://docs.jax.dev/en/latest/jit-compilation.html)
    """

    code = "JAX411"
    name = "eager-forward"
    category = "recompilation"
    severity = Severity.WARNING
    proof = "source"

    def __init__(self) -> None:
        self.told: set[ast.AST] = set()  # loops: what runs in one is compiled together

    @concerns(callees=("ExternalObject", "Instance", "Transformed"))
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        frame, node = event.frame, event.node
        if frame.stage.staged or not isinstance(node, ast.Call) or not runs_model(event.callee, nnx=True):
            return
        if is_under_test(frame):
            return
        cls = frame.function.cls if frame.function is not None else None
        if cls is not None and cls.kind != "plain":
            return  # a layer of a larger model
        found = running_loop(node, frame, _lets_many_pass)
        if found is None or found[0].node in self.told or not is_host_loop(found[0], frame):
            return
        loop = found[0]
        if dotted(node.func).partition(".")[0] in loop_variables(loop.node):
            return  # a layer of a larger model, or one of several models
        if _takes_gradients(loop, frame) or _is_seldom(
            found[1], loop.node, frame_of_loop(loop, frame).module
        ):
            return
        if loop.trips is not None and loop.trips <= BRIEF:
            return
        self.told.add(loop.node)
        step = "" if loop in frame.loops else name_of_step(frame)
        report(
            node,
            f"`{ast.unparse(node.func)}` runs operation by operation each iteration; jit it",
            reason=f"{place_of_loop(loop, frame)} calls {f'`{step}`' if step else 'it'} outside jit",
            severity=Severity.INFO if makes_pictures(frame) else level(runs(frame, loop) * FORWARD),
        )


def _is_seldom(call: ast.AST, loop: ast.AST, module: Module) -> bool:
    """Whether a test in the loop lets few iterations pass: `step % 100 == 0`, or a setting. That of exploration lets many pass."""
    inner = call
    for above in module.ancestors(call):
        if above is loop or isinstance(above, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return False
        if isinstance(above, (ast.If, ast.IfExp)) and inner is not above.test and not _lets_many_pass(above):
            return True
        inner = above
    return False


def _lets_many_pass(condition: ast.AST) -> bool:
    """A comparison with a number that is drawn, as in exploration, or with a bound: `step > 1000`."""
    test = condition.test if isinstance(condition, (ast.If, ast.IfExp)) else None
    return isinstance(test, ast.Compare) and isinstance(test.ops[0], _ORDERS) and not is_periodic(test)


def _takes_gradients(loop: Loop, frame: Frame) -> bool:
    """Whether the function that the loop calls takes gradients, or the loop itself does."""
    within = itertools.takewhile(lambda one: loop not in one.loops, (frame, *frame.callers()))
    if any(one.takes_gradient for one in within):
        return True
    runner = frame_of_loop(loop, frame)
    called = (runner.value_of(dotted(call.func)) for call in calls_in(loop.node))
    return any(isinstance(value, Transformed) and value.kind in _GRADIENTS for value in called) or any(
        last_name(call.func) in _GRADIENTS for call in calls_in(loop.node)
    )


_ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.NotEq)
_GRADIENTS = frozenset({"grad", "value_and_grad", "filter_grad", "filter_value_and_grad"})
