"""Models that a loop runs outside jit, operation by operation."""

from __future__ import annotations

import ast
import itertools
from dataclasses import dataclass

from jaxlint.api import CallEvent, Frame, Loop, Module, Reporter, Rule, concerns
from jaxlint.api.syntax import dotted, nodes_of
from jaxlint.api.tables import DIFFERENTIATION, JIT_KINDS
from jaxlint.api.values import Partial, Transformed, Value
from jaxlint.finding import Severity
from jaxlint_rules._callables import function_in
from jaxlint_rules._cost import DISPATCH, FORWARD, level, runs
from jaxlint_rules._eager import computes_only, is_brief_in_all, running_loop, runs_model
from jaxlint_rules._loops import (
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


@dataclass(frozen=True, slots=True)
class _Loss:
    """A loop calls a function of the project outside jit. `host`: whether the loop is seen to run on the host."""

    event: CallEvent
    function: ast.AST
    loop: Loop
    host: bool
    severity: Severity | None


class EagerForward(Rule):
    """A loop runs a model outside jit.

    ## What it does
    Finds host loops that call a model outside `jit` in every iteration, as evaluation,
    generation and policies do: `model.apply` of flax.linen and haiku, and modules of equinox and
    flax.nnx, mapped or not. The loop may call them through a function. Also finds a loss of the
    project that compiled code differentiates and that a loop calls by itself, outside of it, as a
    validation does.

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
    reported: loops of at most 32 iterations, unless the loops around them make it 500; loops that
    also take gradients outside `jit`, which other rules report. `nnx.jit` splits the
    model at each call, so it gains less: a transformer of two blocks became eight times as fast,
    four linear layers at most three times. It is advice where the loop is not seen to run 500 times.

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
        self.differentiated: dict[
            ast.AST, str
        ] = {}  # losses under a gradient in compiled code, and what compiles them
        self.compiles: set[ast.AST] = set()  # functions that call compiled ones
        self.steps: set[ast.AST] = set()  # functions whose loops do
        self.losses: dict[tuple[ast.AST, ast.AST], _Loss] = {}  # by loop and function

    @concerns(callees=("ExternalObject", "Instance", "Transformed", "Function", "BoundMethod"))
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        self.note_losses(event)
        frame, node = event.frame, event.node
        if frame.stage.staged or not isinstance(node, ast.Call) or not runs_model(event.callee, nnx=True):
            return
        found = _loop_around(event)
        if found is None or found.node in self.told or not is_host_loop(found, frame):
            return
        self.told.add(found.node)
        step = "" if found in frame.loops else name_of_step(frame)
        report(
            node,
            _message(node),
            reason=f"{place_of_loop(found, frame)} calls {f'`{step}`' if step else 'it'} outside jit",
            severity=_cost(found, frame),
        )

    def note_losses(self, event: CallEvent) -> None:
        """What a training step differentiates, and which functions of the project a loop calls."""
        callee, frame = event.callee, event.frame
        function = function_in(callee)
        if function is None:
            return
        if isinstance(callee, Transformed):
            kinds = _kinds(callee)
            staged = frame.stage.within(*JIT_KINDS) and frame.is_certain()
            if DIFFERENTIATION & kinds and (staged or JIT_KINDS & kinds):
                compiler = frame.function.name if staged and frame.function is not None else callee.label
                self.differentiated.setdefault(function.node, compiler or "jit")
            if JIT_KINDS & kinds and frame.function is not None and not frame.stage.staged:
                self.compiles.add(frame.function.node)
                self.steps |= {frame.function.node} if frame.loops else set()
        elif not frame.stage.staged and isinstance(event.node, ast.Call) and computes_only(function.node):
            loop = _loop_around(event) if nodes_of(function.node, ast.Call) else None
            if loop is not None and loop in frame.loops:
                host = is_host_loop(loop, frame)  # its frame has left the loop at the end
                known = self.losses.get((loop.node, function.node))
                if known is None or (host and not known.host):
                    loss = _Loss(
                        event, function.node, loop, host, _cost(loop, frame, _seconds(function.node))
                    )
                    self.losses[loop.node, function.node] = loss

    def finish(self, report: Reporter) -> None:
        """A loss that a compiled step differentiates, and that a loop calls by itself, as a validation does."""
        for one in self.losses.values():
            event, frame = one.event, one.event.frame
            step = self.differentiated.get(one.function)
            if step is None or one.function in self.compiles or one.loop.node in self.told:
                continue
            if not one.host and frame.owner not in self.steps:
                continue  # a caller may run all of it under a trace
            self.told.add(one.loop.node)
            report.event = event
            report(
                event.node,
                _message(event.node),
                reason=f"{place_of_loop(one.loop, frame)} calls it outside jit; the training compiles it, in `{step}`",
                severity=one.severity,
            )


def _message(call: ast.AST) -> str:
    assert isinstance(call, ast.Call)
    return f"`{ast.unparse(call.func)}` runs operation by operation each iteration; jit it"


def _cost(loop: Loop, frame: Frame, each: float = FORWARD) -> Severity | None:
    return Severity.INFO if makes_pictures(frame) else level(runs(frame, loop) * each)


def _seconds(function: ast.AST) -> float:
    """What one call of a loss takes: its operations if it calls functions of JAX alone, and a model else."""
    calls = nodes_of(function, ast.Call)
    operations = len(calls) + len(nodes_of(function, ast.BinOp))
    alone = all(dotted(call.func).startswith(("jnp.", "jax.", "optax.")) for call in calls)
    return min(FORWARD, operations * DISPATCH) if alone else FORWARD


def _loop_around(event: CallEvent) -> Loop | None:
    """The loop that makes a call in most of its iterations, for the model as a whole and without a gradient."""
    frame, node = event.frame, event.node
    if is_under_test(frame) or not isinstance(node, ast.Call):
        return None
    cls = frame.function.cls if frame.function is not None else None
    if cls is not None and cls.kind != "plain":
        return None  # a layer of a larger model
    found = running_loop(node, frame, _lets_many_pass)
    if found is None:
        return None
    loop = found[0]
    if dotted(node.func).partition(".")[0] in loop_variables(loop.node):
        return None  # a layer of a larger model, or one of several models
    if _takes_gradients(loop, frame) or _is_seldom(found[1], loop.node, frame_of_loop(loop, frame).module):
        return None
    return None if is_brief_in_all(loop, frame) else loop


def _kinds(callee: Value) -> set[str]:
    """The transformations of a called function, from the outside in."""
    found: set[str] = set()
    while isinstance(callee, (Transformed, Partial)):
        if isinstance(callee, Transformed):
            found.add(callee.kind)
        callee = callee.target if isinstance(callee, Transformed) else callee.function
    return found


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
    # The gradient of a compiled function holds no layer of what the loop calls beside it.
    eager = (value for value in called if isinstance(value, Transformed) and not JIT_KINDS & _kinds(value))
    return any(value.kind in _GRADIENTS for value in eager) or any(
        last_name(call.func) in _GRADIENTS for call in calls_in(loop.node)
    )


_ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.NotEq)
_GRADIENTS = frozenset({"grad", "value_and_grad", "filter_grad", "filter_value_and_grad"})
