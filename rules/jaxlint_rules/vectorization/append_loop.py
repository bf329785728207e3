"""Loops that append results to a list that is stacked afterwards."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterator

from jaxlint.api import CallEvent, Frame, IterationEvent, LoopEvent, Reporter, Rule, TransformEvent, concerns
from jaxlint.api.syntax import cache, dotted, nodes_of, walk
from jaxlint.api.values import (
    Array,
    ClassValue,
    External,
    ExternalObject,
    Function,
    ListValue,
    ModuleValue,
    Transformed,
    Value,
)
from jaxlint.finding import Severity
from jaxlint_rules._callables import innermost
from jaxlint_rules._fixes import propose
from jaxlint_rules._loops import FEW, counters, given_arguments, has_few_turns, has_other_way
from jaxlint_rules._names import names_in
from jaxlint_rules._reasons import staged_because
from jaxlint_rules.recompilation._repeated import STEPS

_STACKING = ("jax.numpy.stack", "jax.numpy.array", "jax.numpy.asarray")
MANY = 16  # copies of a single expression in a program that are worth a `vmap`
_JAX = ("jax", "optax")
_MODULES = ("flax.linen.", "flax.nnx.", "haiku.", "equinox.nn.")
# Numbers of steps: `range(T - 1)`, `range(n_steps)`, `range(seq_len)`.
_TIMES = re.compile(rf"{STEPS.pattern}|seq|length|time|frame|token|\b[TNn]\b")
_STATEMENTS = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Pass)
_PYTHON = frozenset({"len", "range", "enumerate", "zip", "abs", "sum", "tuple", "dict", "isinstance"})


class AppendLoop(Rule):
    """A loop appends JAX results to a list that is stacked afterwards.

    ## What it does
    Finds loops over a range or the rows of an array that compute a result and append it to a list,
    which `jnp.stack` or `jnp.array` then makes an array: in traced code, and on the host if each
    iteration calls a compiled function or only JAX functions.

    ## Why is this bad?
    In traced code the program contains one copy of the body per iteration, and compile time grows
    with their number. On the host each iteration is dispatched separately. `jax.lax.scan` compiles
    the body once and stacks its results itself. 200 steps of a small recurrence took 60 times as
    long in a Python loop around a jitted step as in a scan, on a CPU.

    ## Example
    ```python
    states = []
    for x in xs:
        h = cell(params, h, x)
        states.append(h)
    states = jnp.stack(states)
    ```

    ## Use instead
    ```python
    def body_fun(h, x):
        h = cell(params, h, x)
        return h, h

    h, states = jax.lax.scan(body_fun, h, xs)
    ```

    ## Fix safety
    Unsafe: a scan requires that each carried variable keeps its shape and dtype, and it traces its
    body, which therefore cannot use Python values of a row. The fix writes a scan as shown above,
    or a `vmap` if no iteration needs the previous one.

    ## When not to fix
    Keep it if an iteration takes so long that dispatch does not matter, or has side effects on the
    host. Not reported: loops of at most 8 iterations; host loops around a compiled training step
    (one that takes `jax.value_and_grad`) that collect its losses, and loops that take slices whose
    length depends on the iteration, directly or in a function that they call.

    A loop of unknown length is reported as advice if it carries nothing, or counts up to a number
    that is neither the length of an array nor a number of steps: most have few iterations.

    ## References
    - [JAX: `lax.scan`](https://docs.jax.dev/en/latest/_autosummary/jax.lax.scan.html)
    """

    code = "JAX703"
    name = "append-loop"
    category = "vectorization"
    severity = Severity.WARNING
    needs_whole_program = True
    fixable = "unsafe"
    cure = ("compile the step", 1)

    def __init__(self) -> None:
        self.loops: dict[ast.AST, tuple[LoopEvent | IterationEvent, bool]] = {}
        self.training: set[ast.AST] = set()  # functions that make up a training step

    def on_transform(self, event: TransformEvent, report: Reporter) -> None:
        if event.transformed.kind == "value_and_grad" and event.frame.stage.staged:
            frames = [event.frame, *event.frame.callers()]
            self.training.update(f.function.node for f in frames if f.stage.staged and f.function is not None)

    def on_loop(self, event: LoopEvent, report: Reporter) -> None:
        if event.is_certain():
            self.note(event, event.iterable)

    def on_iteration(self, event: IterationEvent, report: Reporter) -> None:
        node = event.loop.node
        if isinstance(node, ast.For) and _appends(node):
            if event.loop.calls_jitted or event.frame.stage.staged or _calls_jax_alone(node, event.frame):
                self.note(event, event.iterable)

    def note(self, event: LoopEvent | IterationEvent, iterable: Value) -> None:
        node, trips = event.loop.node, event.loop.trips
        if not isinstance(node, ast.For) or event.frame.module.is_test:
            return
        if event.frame.home.within("pallas"):
            return  # a kernel assembles parts of its block
        if not _appends(node):
            if not event.frame.stage.staged or trips is None or trips < MANY or not _appends_only(node):
                return
        if has_few_turns(event.loop, event.frame) or not _has_rows(iterable, node.iter):
            return
        if _makes_modules(node, event.frame):
            return  # each has its own parameters
        if event.frame.stage.staged or _calls_jax_alone(node, event.frame):
            self.loops.setdefault(node, (event, event.frame.stage.staged))

    @concerns(*_STACKING)
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        node, frame = event.node, event.frame
        if not isinstance(node, ast.Call) or not node.args or not isinstance(node.args[0], ast.Name):
            return
        if not event.args or not _holds_arrays(event.args[0]):
            return
        owner = frame.owner
        for loop in nodes_of(owner, ast.For):
            known = self.loops.get(loop)
            if known is None or node.args[0].id not in (_appends(loop) or {_appends_only(loop)}):
                continue
            if (
                has_other_way(loop, frame.module)
                or self.trains(loop, frame)
                or _varies_slice_length(loop, frame)
            ):
                continue
            seen, staged = known
            trips = seen.loop.trips
            report.event = seen
            report(
                loop.iter,
                f"the loop appends to `{node.args[0].id}`, which line {node.lineno} stacks; "
                + ("use `lax.scan`" if _carries(loop) else "use `jax.vmap`")
                + ", which stacks its results",
                reason=(
                    f"the loop is unrolled at trace time; {staged_because(frame)}"
                    if staged
                    else "each iteration dispatches separately"
                ),
                fix=propose(
                    report,
                    loop.iter,
                    "for-to-scan" if _carries(loop) else "for-to-vmap",
                    "Use `lax.scan`" if _carries(loop) else "Use `jax.vmap`",
                    safe=False,
                ),
                # A loop of unknown length is mostly one over a few species, terms, orders or heads.
                severity=None if _is_long(loop, trips, _carries(loop)) else Severity.INFO,
                loop=loop,
            )

    def trains(self, loop: ast.For, frame: Frame) -> bool:
        """Whether each iteration is a compiled training step: heavy compared with its dispatch, and with few losses."""
        for _, value in _calls(loop, frame):
            called = innermost(value)
            if isinstance(called, Function) and called.node in self.training:
                return not frame.stage.staged
        return False


def _is_long(loop: ast.For, trips: int | None, carries: bool) -> bool:
    """Whether the loop visibly has many iterations: by their number, or as steps of a recurrence along an array or time."""
    if trips is not None:
        return trips > FEW
    if not carries:
        return False
    text = ast.unparse(loop.iter)
    if isinstance(loop.iter, ast.Call) and dotted(loop.iter.func) == "range":
        return any(word in text for word in ("shape", "len(", ".size")) or _TIMES.search(text) is not None
    return True


def _calls(loop: ast.For, frame: Frame) -> Iterator[tuple[ast.Call, Value]]:
    """The calls of project functions in the loop body."""
    for statement in loop.body:
        for part in walk(statement):
            if isinstance(part, ast.Call) and isinstance(part.func, ast.Name):
                held = frame.value_of(part.func.id)
                if held is not None:
                    yield part, held


def _varies_slice_length(loop: ast.For, frame: Frame) -> bool:
    """Whether an iteration takes slices of varying length, itself or in a callee: a scan cannot have those."""
    numbers = counters(loop)
    if not numbers:
        return False
    if _slices_by(loop, numbers):
        return True
    for call, value in _calls(loop, frame):
        called = innermost(value)
        if isinstance(called, Function):
            given = given_arguments(called.node, call)
            counted = frozenset(
                name for name, value in given if name and not numbers.isdisjoint(names_in(value))
            )
            if counted and _slices_by(called.node, counted):
                return True
    return False


@cache
def _slices_by(owner: ast.AST, numbers: frozenset[str]) -> bool:
    """Whether a slice in `owner` has one of these numbers, or one computed from them, as its length."""
    known = set(numbers)
    sums = [
        binding
        for binding in nodes_of(owner, ast.Assign)
        if isinstance(binding.targets[0], ast.Name)
        and all(isinstance(part, _ARITHMETIC) for part in walk(binding.value))
    ]
    for _ in sums:  # each may depend on the previous ones
        known.update(dotted(s.targets[0]) for s in sums if not known.isdisjoint(names_in(s.value)))
    return any(_is_as_long_as(cut, known) for cut in nodes_of(owner, ast.Slice))


_ARITHMETIC = (ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.expr_context)


def _is_as_long_as(cut: ast.Slice, numbers: set[str]) -> bool:
    """Whether the length of a slice depends on one of these numbers: that of `x[i * n : (i + 1) * n]` does not."""
    bounds = [bound for bound in (cut.lower, cut.upper) if bound is not None]
    if all(numbers.isdisjoint(names_in(bound)) for bound in bounds):
        return False
    lengths = set[int | None]()
    for moved in (11, 23):
        start, stop = (_tried(bound, numbers, moved) for bound in (cut.lower, cut.upper))
        lengths.add(None if start is None or stop is None else stop - start)
    return None in lengths or len(lengths) > 1


def _tried(node: ast.expr | None, numbers: set[str], moved: int) -> int | None:
    """The value of an arithmetic expression if each of `numbers` is `moved`, and each other name has a fixed number."""
    if node is None:
        return 0
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) is int else None
    if isinstance(node, (ast.Name, ast.Attribute)):
        return moved if dotted(node) in numbers else sum(map(ord, dotted(node)))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _tried(node.operand, numbers, moved)
        return None if inner is None else -inner
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
        left, right = (_tried(side, numbers, moved) for side in (node.left, node.right))
        return None if left is None or right is None else _OPERATIONS[type(node.op)](left, right)
    return None


_OPERATIONS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}


@cache
def _appends(loop: ast.For) -> frozenset[str]:
    """The lists that a loop fills, once in each iteration, if it otherwise only computes; otherwise none."""
    found: list[str] = []
    if loop.orelse or len(loop.body) < 2 or not all(isinstance(one, _STATEMENTS) for one in loop.body):
        return frozenset()  # a single append is for `python-loop-over-batch`
    for statement in loop.body:
        if isinstance(statement, ast.Expr):
            call = statement.value
            if not isinstance(call, ast.Call):
                continue
            if not (
                isinstance(call.func, ast.Attribute) and call.func.attr == "append" and len(call.args) == 1
            ):
                return frozenset()
            found.append(dotted(call.func.value))
        targets = (
            statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        )
        if any(isinstance(part, (ast.Attribute, ast.Subscript)) for t in targets if t for part in walk(t)):
            return frozenset()
    return frozenset(found) if len(set(found)) == len(found) else frozenset()


@cache
def _appends_only(loop: ast.For) -> str:
    """The list that a loop over a range fills with the results of a call, if these have one shape."""
    numbers = isinstance(loop.iter, ast.Call) and dotted(loop.iter.func) == "range"
    statement = loop.body[0]
    if len(loop.body) != 1 or not numbers or not isinstance(statement, ast.Expr):
        return ""
    call = statement.value
    if not isinstance(call, ast.Call) or len(call.args) != 1 or not isinstance(loop.target, ast.Name):
        return ""
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "append":
        return ""
    parts = list(walk(call.args[0]))
    if not any(isinstance(part, ast.Call) for part in parts):
        return ""
    for part in parts:
        if isinstance(part, (ast.Slice, ast.JoinedStr, ast.Dict)) or (
            isinstance(part, ast.Subscript) and loop.target.id in names_in(part.slice)
        ):
            return ""  # `python-loop-over-batch` covers rows, and a slice may grow
    return dotted(call.func.value)


@cache
def _carries(loop: ast.For) -> bool:
    """Whether an iteration reads names bound by the previous one, or what earlier ones appended: `rows[i - 1]`."""
    if any(
        isinstance(part, ast.Subscript)
        and isinstance(part.ctx, ast.Load)
        and dotted(part.value) in _appends(loop)
        for statement in loop.body
        for part in walk(statement)
    ):
        return True
    bound: set[str] = set()
    stored = {
        part.id
        for statement in loop.body
        for part in walk(statement)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    }
    for statement in loop.body:
        read = {p.id for p in walk(statement) if isinstance(p, ast.Name) and isinstance(p.ctx, ast.Load)}
        if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
            read.add(statement.target.id)
        if (read & stored) - bound:
            return True
        bound |= {p.id for p in walk(statement) if isinstance(p, ast.Name) and isinstance(p.ctx, ast.Store)}
    return False


def _has_rows(iterable: Value, node: ast.expr) -> bool:
    """An array, or a range of Python numbers."""
    if isinstance(iterable, Array):
        return not iterable.tree and iterable.certain
    if isinstance(node, ast.Call) and dotted(node.func) in ("range", "enumerate", "zip"):
        if dotted(node.func) == "range":
            return True
        parts = iterable.args if isinstance(iterable, ExternalObject) else []
        return bool(parts) and all(isinstance(part, Array) and not part.tree for part in parts)
    return False


def _holds_arrays(value: Value) -> bool:
    if not isinstance(value, ListValue):
        return False
    parts = value.elements() or [value.element]
    return all(isinstance(part, Array) and not part.tree for part in parts)


def _makes_modules(loop: ast.For, frame: Frame) -> bool:
    """Whether an iteration creates a module of a framework."""
    for statement in loop.body:
        for part in walk(statement):
            if not isinstance(part, ast.Call):
                continue
            root, _, rest = dotted(part.func).partition(".")
            value = frame.value_of(root) if root else None
            if isinstance(value, ModuleValue):
                value, rest = value.scope.variables.get(rest), ""
            if isinstance(value, ClassValue) and not rest and value.is_module:
                return True
            if isinstance(value, External):
                name = f"{value.name}.{rest}" if rest else value.name
                if name.startswith(_MODULES) and name.rpartition(".")[2][:1].isupper():
                    return True
    return False


def _calls_jax_alone(loop: ast.For, frame: Frame) -> bool:
    """Whether all callees in the body are compiled, or JAX functions or array methods."""
    for statement in loop.body:
        for part in walk(statement):
            if not isinstance(part, ast.Call):
                continue
            function = part.func
            name = dotted(function)
            root = name.partition(".")[0]
            if name in _PYTHON or (isinstance(function, ast.Attribute) and function.attr == "append"):
                continue
            value = frame.value_of(root) if root else None
            if isinstance(value, Transformed) and value.kind in ("jit", "nnx.jit", "filter_jit", "vmap"):
                continue
            if isinstance(value, External) and value.name.startswith(_JAX):
                continue
            if (
                isinstance(value, Array)
                and isinstance(function, ast.Attribute)
                and function.attr not in ("item", "tolist")
            ):
                continue
            return False
    return True
