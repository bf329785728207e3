"""The host waits for the device in every iteration of a loop."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from jaxlint.finding import FixRequest, Severity
from jaxlint.rule import Example, Rule
from jaxlint.staging import Reporter
from jaxlint.staging.events import ConvertEvent, Event, TestEvent
from jaxlint.staging.frame import Frame, Loop
from jaxlint.staging.memo import cache
from jaxlint.staging.syntax_facts import dotted, nodes_of, walk
from jaxlint.staging.values import Array
from jaxlint_rules._fixes import propose
from jaxlint_rules._loops import is_few
from jaxlint_rules.transfer._exits import exit_of, has_while_loop

_WAITS = {
    "float": "`float()`",
    "int": "`int()`",
    "bool": "`bool()`",
    "item": "`.item()`",
    "tolist": "`.tolist()`",
    "device_get": "`jax.device_get`",
    "print": "`print`",
    "format": "formatting",
    "str": "formatting",
    "format_method": "formatting",
    "logging": "logging",
    "block_until_ready": "`block_until_ready`",
    "setitem": "storing it into a NumPy array",
}
_OF_ENVIRONMENTS = frozenset(
    {"step", "act", "send", "send_action", "apply_action", "async_step", "step_async"}
)
_NEAR = 2  # calls between a loop and what it waits for
_SHOWN = frozenset({"bool", "float", "item", "print", "format", "format_method", "str", "logging"})
_CLOCKS = frozenset(
    {"time", "perf_counter", "monotonic", "perf_counter_ns", "time_ns", "process_time", "now"}
)


class HostSyncInLoop(Rule):
    """The host waits for the device in every iteration.

    ## What it does
    Finds `float()`, `.item()`, `np.asarray()`, `jax.device_get`, `print`, formatting, logging, writing to a file or to an array of NumPy,
    `block_until_ready` and Python branches on results of a jitted function, in the loop that calls it, or in a function that the loop calls every time.

    ## Why is this bad?
    JAX runs ahead of Python: while the device works on one step, Python prepares the next. Asking for a value makes
    Python wait, and the device then waits for Python, in every iteration.

    ## Example
    ```python
    for batch in batches:
        state, loss = step(state, batch)
        losses.append(float(loss))
    ```

    ## Use instead
    ```python
    for batch in batches:
        state, loss = step(state, batch)
        losses.append(loss)
    losses = jax.device_get(losses)
    ```
    Or log every N steps.

    ## Fix safety
    Safe where a loop does nothing with the number but `losses.append(float(loss))`, the list begins empty right before it and
    is read after it alone, and no other call in the loop is handed the array, which it might give up: the arrays are collected,
    and converted once the loop is done. They stay on the device until then. Everything else has no automatic fix;
    `jaxlint verify` counts the waits per step and measures them.

    ## When not to fix
    When each iteration takes much longer than the transfer and Python has nothing to prepare. Conversions under an `if`
    (every N steps), after the loop, or in tests are not reported.

    ## References
    - [JAX: asynchronous dispatch](https://docs.jax.dev/en/latest/async_dispatch.html)
    """

    code = "JAX501"
    name = "host-sync-in-loop"
    category = "transfer"
    severity = Severity.WARNING
    fixable = "safe"
    examples = (
        Example(
            "conversions and tests on results of the step",
            """
import jax
import jax.numpy as jnp
import numpy as np

@jax.jit
def step(w, batch):
    loss = jnp.mean((batch @ w) ** 2)
    return w - 0.1 * jax.grad(lambda w: jnp.mean((batch @ w) ** 2))(w), {"loss": loss}

def train(w, batches):
    history, hits = [], 0
    for batch in batches:
        w, metrics = step(w, batch)
        history.append(float(metrics["loss"]))  # finding
        hits += np.asarray(metrics["loss"])  # finding
        worst = max(0.0, metrics["loss"])  # finding
        if metrics["loss"] < 1e-3:  # finding
            break
    return w, history, hits, worst
""",
        ),
        Example(
            "written, logged or waited for, also by a function that the loop calls",
            """
import logging
import jax
import jax.numpy as jnp
import numpy as np

log = logging.getLogger(__name__)

class Mean:
    def __init__(self):
        self.total, self.seen = 0.0, 0

    def add(self, value):
        self.total += value.item()  # finding
        self.seen += 1

@jax.jit
def step(w, batch):
    return w - 0.1 * batch, jnp.mean(w * batch)

def show(number, loss):
    print(f"{number}: {loss:.3f}")  # finding

def numbers(metrics):
    return {name: float(value) for name, value in metrics.items()}  # finding

def finite(tree):
    return all(bool(jnp.isfinite(leaf).all()) for leaf in jax.tree.leaves(tree))  # finding

class Trainer:
    def __init__(self, w):
        self.w, self.history = w, {"loss": []}

    def record(self, metrics):
        for name, value in metrics.items():
            self.history[name].append(value.item())  # finding

    def advance(self, batch):
        self.w = move(self.w, batch)
        self.w.block_until_ready()  # finding

    def run(self, batches):
        for batch in batches:
            self.advance(batch)
            w, loss = step(self.w, batch)
            self.record({"loss": loss})
            assert finite([w])

@jax.jit
def move(w, batch):
    return w - 0.1 * batch

def losses(w, batches):
    for batch in batches:
        w, loss = step(w, batch)
        yield loss

def curve(w, batches):
    return [(0, 0.0)], [float(loss) for loss in jax.device_get(list(losses(w, batches)))]

def points(w, batches):
    found = []
    for number, loss in enumerate(losses(w, batches)):
        found.append((number, float(loss)))  # finding
    return found

def train(w, batches, folder):
    mean, rows = Mean(), []
    for number, batch in enumerate(batches):
        w, loss = step(w, batch)
        log.info("loss %s", loss)  # finding
        mean.add(loss)
        show(number, loss)
        rows.append(numbers({"loss": loss}))
        np.save(f"{folder}/{number}.npy", w)  # finding
    return w

def wait(w, batches):
    for batch in batches:
        w, loss = step(w, batch)
        jax.block_until_ready(w)  # finding
    return w

train(jnp.ones(3), [jnp.ones(3)] * 9, ".")
Trainer(jnp.ones(3)).run([jnp.ones(3)] * 9)
""",
        ),
        Example(
            "measured, or done once in a while by the function that is called",
            """
import logging
import time
import jax
import jax.numpy as jnp
import numpy as np

log = logging.getLogger(__name__)

@jax.jit
def step(w, batch):
    return w - 0.1 * batch, jnp.mean(w * batch)

def show(number, loss):
    if number % 100 == 0:
        print(f"{number}: {loss:.3f}")

def save(number, w):
    if number % 1000:
        return
    np.save(f"{number}.npy", w)

def train(w, batches):
    for number, batch in enumerate(batches):
        w, loss = step(w, batch)
        log.debug("loss %s", loss)
        show(number, loss)
        save(number, w)
        if number % 50 == 0:
            log.info("loss %s", loss)
    np.save("last.npy", w)
    return w

def measure(w, batch):
    times = []
    for _ in range(20):
        start = time.perf_counter()
        w, _ = step(w, batch)
        w.block_until_ready()
        times.append(time.perf_counter() - start)
    for _ in range(20):
        jax.block_until_ready(step(w, batch))
    return np.median(times)

train(jnp.ones(3), [jnp.ones(3)] * 9)
""",
        ),
        Example(
            "numbers that are only collected",
            """
import jax

@jax.jit
def step(w, batch):
    return w - 0.1 * batch, (w * batch).sum()

def train(w, batches, epochs):
    losses = []
    for _ in range(epochs):
        for batch in batches:
            w, loss = step(w, batch)
            losses.append(float(loss))  # finding
    return w, losses
""",
            """
import jax

@jax.jit
def step(w, batch):
    return w - 0.1 * batch, (w * batch).sum()

def train(w, batches, epochs):
    losses = []
    for _ in range(epochs):
        for batch in batches:
            w, loss = step(w, batch)
            losses.append(loss)  # finding
    losses = [float(value) for value in losses]
    return w, losses
""",
        ),
        Example(
            "rows of an array of NumPy",
            """
import jax
import jax.numpy as jnp
import numpy as np

@jax.jit
def step(x, key):
    return x + jax.random.normal(key, x.shape)

class Chain:
    def __init__(self, n):
        self.x = jnp.zeros(3)
        self.draws = np.zeros((n, 3))

    def run(self, keys):
        for i, key in enumerate(keys):
            self.x = step(self.x, key)
            self.draws[i] = self.x  # finding
        return self.draws

class Record:
    def __init__(self, n):
        self.sums = np.zeros(n)

    def put(self, i, value):
        self.sums[i] = value  # finding

def recorded(x, keys):
    record = Record(len(keys))
    for i, key in enumerate(keys):
        x = step(x, key)
        record.put(i, x)
    return record.sums

def play(env, keys):
    seen, x = np.zeros((len(keys), 3)), jnp.zeros(3)
    for i, key in enumerate(keys):
        x = step(x, key)
        seen[i] = x
        env.step(np.asarray(x))
    return seen

def thinned(keys):
    kept, x = np.zeros((len(keys) // 10 + 1, 3)), jnp.zeros(3)
    for i, key in enumerate(keys):
        x = step(x, key)
        if i % 10 == 0:
            kept[i // 10] = x
    return kept

Chain(10).run(jax.random.split(jax.random.key(0), 10))
recorded(jnp.zeros(()), jax.random.split(jax.random.key(0), 10))
""",
        ),
        Example(
            "every N steps, after the loop, or without a jitted step",
            """
import jax
import jax.numpy as jnp
import numpy as np

@jax.jit
def step(w, batch):
    loss = jnp.mean((batch @ w) ** 2)
    return w - 0.1 * loss, loss

def train(w, batches, epochs):
    for epoch in range(epochs):
        losses = []
        for i, batch in enumerate(batches):
            w, loss = step(w, batch)
            losses.append(loss)
            if i % 100 == 0:
                print(i, float(loss))
            if i % 100 == 0 and float(loss) > 1e3:
                raise ValueError(i)
        print(epoch, np.mean(jax.device_get(losses)))
    return w, float(loss)

def host_only(x, steps):
    for _ in range(steps):
        loss = np.mean(x**2)
        if loss < 1e-6 or float(loss) > 3:
            break
    return loss
""",
        ),
    )

    def on_convert(self, event: ConvertEvent, report: Reporter) -> None:
        if event.how.startswith("numpy."):
            what = f"`{event.how.replace('numpy.', 'np.')}`"
        elif event.how in _WAITS:
            what = _WAITS[event.how]
        elif "." in event.how:
            what = f"`{event.how}`"  # a function of a library that writes or sends it
        else:
            return
        if event.how == "block_until_ready" and not (_holds_up_a_step(event) or _holds_up_callers(event)):
            return
        if event.how.startswith("numpy.") and _acts_on_the_world(event, report):
            return
        if event.how in ("str", "format") and not _is_output(event, report):
            return
        stepping = [loop for loop in event.frame.loops if loop.calls_jitted]
        if event.frame.loops and all(loop.second for loop in stepping) and (stepping or not _collects(event)):
            return  # a result of the previous iteration: the device is already at work on the next
        self.check(event, event.value, what, report)

    def on_test(self, event: TestEvent, report: Reporter) -> None:
        if event.how in ("if", "while", "not", "and", "or", "conditional expression", "max", "min"):
            if isinstance(event.value, Array) and event.value.tree and _begins_as_none(event):
                return  # asks whether there are results yet
            self.check(event, event.value, f"`{event.how}`", report)

    def check(self, event: Event, value: object, what: str, report: Reporter) -> None:
        frame = event.frame
        if not isinstance(value, Array) or value.staged or not value.jitted:
            return
        if (
            frame.stage.staged
            or frame.module.is_test
            or (frame.function and frame.function.name.startswith("test"))
        ):
            return
        loop = stepping_loop(frame)
        how = event.how if isinstance(event, ConvertEvent) else ""
        if loop is None and how in (*_SHOWN, "block_until_ready", "setitem"):
            loop = _loop_of_callers(event)  # what such a function does with arrays may be what it is for
        if loop is None or (loop in frame.loops and len(frame.guards) > loop.guards):
            return
        if how == "setitem" and _steps_the_world(loop.node):
            return
        if _asked_last(event):
            return  # only where the rest of the condition holds, as in every N-th step
        if exit_of(event) and not has_while_loop(frame):
            return  # `convergence-loop` speaks of it
        if is_few(loop, frame):
            return
        line = getattr(loop.node, "lineno", None) or getattr(
            getattr(loop.node, "target", None), "lineno", "?"
        )
        report(
            event.node,
            f"{what} makes Python wait for the device in every iteration",
            reason=f"the value is a result of the jitted `{value.jitted}`, called in the loop at line {line}",
            data={"loop_line": line},
            fix=_collected(event, report),
        )


def _collected(event: Event, report: Reporter) -> FixRequest | None:
    """The number is appended to a list: it may be fetched later."""
    parent = report.module.parents.get(event.node)
    if (
        not isinstance(event, ConvertEvent)
        or not isinstance(event.node, ast.Call)
        or not isinstance(parent, ast.Call)
    ):
        return None
    if not isinstance(parent.func, ast.Attribute) or parent.func.attr != "append":
        return None
    return propose(report, event.node, "convert-after-loop", "Convert after the loop", safe=True)


def _acts_on_the_world(event: ConvertEvent, report: Reporter) -> bool:
    """`env.step(np.asarray(action))`: an environment on the host waits for the action anyway."""
    parent = report.module.parents.get(event.node)
    return (
        isinstance(parent, ast.Call)
        and isinstance(parent.func, ast.Attribute)
        and parent.func.attr in _OF_ENVIRONMENTS
    )


@cache
def _steps_the_world(loop: ast.AST) -> bool:
    """Whether a loop steps an environment, which waits for the action and what was computed with it."""
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in _OF_ENVIRONMENTS
        for statement in getattr(loop, "body", [])
        for node in walk(statement)
    )


def _begins_as_none(event: Event) -> bool:
    """Whether what is tested is a variable of the function that begins as None."""
    node, function = event.node, event.frame.function
    if not isinstance(node, ast.Name) or function is None:
        return False
    return any(
        isinstance(statement.value, ast.Constant) and statement.value.value is None
        for statement in nodes_of(function.node, ast.Assign)
        if any(dotted(target) == node.id for target in statement.targets)
    )


def _asked_last(event: Event) -> bool:
    """Whether the value stands in an `if`, behind an `and` whose first operand may spare it."""
    parents = event.frame.module.parents
    node: ast.AST = event.node
    behind = False
    parent = parents.get(node)
    while isinstance(parent, (ast.BoolOp, ast.UnaryOp, ast.Compare, ast.Call, ast.Attribute, ast.BinOp)):
        if isinstance(parent, ast.BoolOp) and isinstance(parent.op, ast.And):
            behind = behind or parent.values[0] is not node
        node, parent = parent, parents.get(parent)
    return behind and isinstance(parent, (ast.If, ast.IfExp)) and parent.test is node


def stepping_loop(frame: Frame) -> Loop | None:
    """The innermost loop of the frame, if its own iterations call a jitted function."""
    for loop in reversed(frame.loops):
        if loop.calls_jitted:
            return loop
        if loop.kind != "comprehension":
            return None
    return None


def _collects(event: Event) -> bool:
    """Whether no loop that runs anything is around a place in its function."""
    return all(map(_goes_through_results, event.frame.loops))


def _loop_of_callers(event: Event) -> Loop | None:
    """The loop that calls the function around, in every iteration, or the function that calls that."""
    frame: Frame = event.frame
    for _ in range(_NEAR):
        function, caller = frame.function, frame.caller
        if function is None or caller is None or frame.guards or _may_leave(function.node):
            return None
        if not all(map(_goes_through_results, frame.loops)):
            return None
        loop = stepping_loop(caller)
        if loop is not None:
            return None if len(caller.guards) > loop.guards else loop
        frame = caller
    return None


def _goes_through_results(loop: Loop) -> bool:
    """A comprehension, or `for name, value in metrics.items()`: all of what one step has given."""
    if loop.kind == "comprehension":
        return True
    iterable = getattr(loop.node, "iter", None)
    return (
        isinstance(iterable, ast.Call)
        and isinstance(iterable.func, ast.Attribute)
        and iterable.func.attr in ("items", "values")
        and not loop.calls_jitted
    )


@cache
def _may_leave(function: ast.AST) -> bool:
    """Whether a function may return early: it may be asked in every iteration, and do something in a few."""
    body = getattr(function, "body", [])
    last = body[-1] if isinstance(body, list) and body else None
    leaves = [*nodes_of(function, ast.Return), *nodes_of(function, ast.Raise), *nodes_of(function, ast.Yield)]
    return any(leave is not last for leave in leaves)


def _holds_up_a_step(event: Event) -> bool:
    """Whether what is waited for goes into the next iteration, in a loop that reads no clock."""
    loop = stepping_loop(event.frame)
    node = event.node
    if loop is None or not isinstance(loop.node, ast.For) or not isinstance(node, ast.Call):
        return False
    if node.args:
        waited = node.args[0]
    elif isinstance(node.func, ast.Attribute):
        waited = node.func.value
    else:
        return False  # `wait(x=...)`
    return dotted(waited) in _carried(loop.node)


def _holds_up_callers(event: Event) -> bool:
    """Whether a method waits for what it has just stepped on in its object, in a loop that reads no clock."""
    function, caller, node = event.frame.function, event.frame.caller, event.node
    if function is None or caller is None or event.frame.loops or not isinstance(node, ast.Call):
        return False
    waited = dotted(node.func.value) if isinstance(node.func, ast.Attribute) and not node.args else ""
    loop = stepping_loop(caller)
    if loop is None or not isinstance(loop.node, ast.For) or _is_measured(loop.node):
        return False
    return waited.startswith("self.") and waited in _rebound_by_calls(nodes_of(function.node, ast.Assign))


@cache
def _is_measured(loop: ast.For) -> bool:
    """Whether the body of a loop, or what it enters, measures time."""
    return any(
        isinstance(node, (ast.With, ast.AsyncWith))
        or (isinstance(node, ast.Call) and dotted(node.func).rpartition(".")[2] in _CLOCKS)
        for statement in loop.body
        for node in walk(statement)
    )


def _rebound_by_calls(assignments: Iterable[ast.Assign]) -> frozenset[str]:
    """Variables and attributes that a call is given, and gives anew."""
    found: set[str] = set()
    for statement in assignments:
        if isinstance(statement.value, ast.Call):
            given = {dotted(argument) for argument in statement.value.args}
            made = {
                dotted(part)
                for target in statement.targets
                for part in (target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target])
            }
            found |= given & made
    return frozenset(found - {""})


@cache
def _carried(loop: ast.For) -> frozenset[str]:
    """Variables that an iteration takes from the one before; none where time is measured."""
    return frozenset() if _is_measured(loop) else _rebound_by_calls(nodes_of(loop, ast.Assign))


def _is_output(event: Event, report: Reporter) -> bool:
    """Whether a formatted value goes straight into a call, as with `print(f"...")` or `log.info(f"...")`."""
    for ancestor in report.module.ancestors(event.node):
        if isinstance(ancestor, ast.Call):
            return True
        if isinstance(ancestor, ast.stmt):
            return isinstance(ancestor, ast.Expr)
    return False
