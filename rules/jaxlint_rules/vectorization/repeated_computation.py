"""Loops that compute the same in each iteration."""

from __future__ import annotations

import ast
import math
import re

from jaxlint.api import Frame, IterationEvent, Loop, Reporter, Rule
from jaxlint.api.syntax import dotted, name_loads, walk
from jaxlint.api.values import Transformed, Value, least_size, short_source
from jaxlint.finding import Severity
from jaxlint_rules._callables import function_in
from jaxlint_rules._cost import BANDWIDTH, DISPATCH, FELT, FORWARD, RETRACE, is_plain, level, runs, turns
from jaxlint_rules._loops import loop_variables
from jaxlint_rules._main_loops import is_cheap
from jaxlint_rules._names import external_name, last_name
from jaxlint_rules.memory._sizes import shape_written, size_of
from jaxlint_rules.vectorization._unchanging import Unchanging

_CUBIC = frozenset(
    """cholesky inv solve eigh eig eigvalsh svd qr det slogdet lu lu_factor pinv expm lstsq cho_factor sqrtm
    matrix_power matrix_rank""".split()  # noqa: SIM905
)
_TRANSFORMS = frozenset({"vmap", "grad", "value_and_grad", "jacobian", "jacfwd", "jacrev", "hessian"})
_MAKING = frozenset(
    """zeros ones empty full eye arange linspace zeros_like ones_like full_like empty_like copy array_split
    shape ndim size iscomplexobj""".split()  # noqa: SIM905
)
_ARRAYS = ("jax.numpy.", "jax.lax.", "jax.nn.", "jax.scipy.", "jax.device_put", "numpy.", "scipy.linalg.")
_FLOPS = 1e11  # multiplications in a second
_MEASURES = re.compile(r"\b(?:perf_counter|time\.time|timeit|monotonic|process_time|benchmark)\b")


class RepeatedComputation(Rule):
    """A loop computes the same value in each iteration.

    ## What it does
    Finds, in host loops, calls of JAX, NumPy and compiled functions whose arguments the loop does not
    change: a factorization of one matrix, a data set that is normalized and sent to the device again,
    features of frozen weights. It speaks where the sizes and the number of iterations show that this
    takes a second.

    ## Why is this bad?
    The work is done once for each iteration and gives the same each time. The Cholesky factor of a
    matrix of 2000 rows took 0.056 s on one core: 28 s in the 500 iterations of the example.

    ## Example
    ```python
    for key in jax.random.split(key, 500):
        factor = jnp.linalg.cholesky(covariance)
        draws.append(factor @ jax.random.normal(key, (2000,)))
    ```

    ## Use instead
    ```python
    factor = jnp.linalg.cholesky(covariance)
    for key in jax.random.split(key, 500):
        draws.append(factor @ jax.random.normal(key, (2000,)))
    ```

    ## Fix safety
    There is no automatic fix: the value would stay in memory as long as the loop runs.

    ## When not to fix
    Keep it if a copy of the value for each iteration is wanted. Not reported: loops that measure, loops
    in which nothing changes, arguments that a function of the loop may change, and work of which the
    size is not seen.

    ## References
    - [JAX: asynchronous dispatch](https://docs.jax.dev/en/latest/async_dispatch.html)
    """

    code = "JAX709"
    name = "repeated-computation"
    category = "vectorization"
    severity = Severity.WARNING

    def __init__(self) -> None:
        self.seen: set[ast.AST] = set()

    def on_iteration(self, event: IterationEvent, report: Reporter) -> None:
        loop, frame = event.loop, event.frame
        node = loop.node
        if frame.stage.staged or frame.is_in_test() or not isinstance(node, ast.For) or node in self.seen:
            return
        times = turns(loop, frame) * (runs(frame) if frame.loops or frame.callers() else 1)
        if times < 2 or _measures(node, frame) or not _changes_something(node):
            return
        found = [
            (seconds, call)
            for statement, call in Unchanging(node, frame).calls()
            if (seconds := _seconds(call, frame)) * times >= FELT and _is_kept(statement, node)
        ]
        if not found:
            return
        self.seen.add(node)
        seconds, call = max(found, key=lambda one: one[0])
        report(
            call,
            f"`{short_source(call)}` computes the same in each iteration; compute it once, before the loop",
            reason=f"nothing that it reads changes in the loop at line {node.lineno}, which runs about {round(times)} times",
            severity=level(seconds * times),
            shown=is_plain(seconds * turns(loop, frame), frame) and _is_written(loop),
        )


def _is_written(loop: Loop) -> bool:
    return loop.trips is not None


def _measures(loop: ast.For, frame: Frame) -> bool:
    return _MEASURES.search(ast.unparse(loop)) is not None or "bench" in frame.module.display


def _changes_something(loop: ast.For) -> bool:
    """Whether an iteration reads something that another one has left or taken, so that it repeats no more than a part."""
    variables = loop_variables(loop)
    stored: set[str] = set()
    for statement in loop.body:
        stored |= {
            name.id
            for name in walk(statement)
            if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
        }
    before: set[str] = set()
    for statement in loop.body:
        reads = {name.id for name in name_loads(statement)}
        if reads & variables or (reads & stored) - before:
            return True
        before |= {
            name.id
            for name in walk(statement)
            if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
        }
    return False


def _is_kept(statement: ast.stmt, loop: ast.For) -> bool:
    """Whether the result may stay as it is: no name for it is bound again or written to in the loop."""
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    names = {name.id for target in targets for name in walk(target) if isinstance(name, ast.Name)}
    for node in walk(loop):
        if isinstance(node, (ast.Subscript, ast.Attribute)) and not isinstance(node.ctx, ast.Load):
            if dotted(node.value).partition(".")[0] in names:
                return False
        if isinstance(node, ast.AugAssign) and dotted(node.target) in names:
            return False
    stores = [
        name.id
        for name in walk(loop)
        if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store) and name.id in names
    ]
    return (
        len(stores) == len(names)
        if names
        else isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr))
    )


def _seconds(call: ast.Call, frame: Frame) -> float:
    """How long a call takes at least, as far as its sizes are seen."""
    total = 0.0
    for part in walk(call):
        if isinstance(part, ast.Call):
            total += _of_call(part, frame)
        elif isinstance(part, ast.BinOp):
            total += _of_operator(part, frame)
    return total


def _of_call(call: ast.Call, frame: Frame) -> float:
    last = last_name(call.func)
    if isinstance(call.func, ast.Call):
        return _of_transform(call.func, frame) if last_name(call.func.func) in _TRANSFORMS else 0.0
    value = frame.value_of(call.func.id) if isinstance(call.func, ast.Name) else None
    if isinstance(value, Transformed):
        return DISPATCH if is_cheap(value) and not _loops(value) else FORWARD
    name = external_name(call.func, frame.scope)
    if not name.startswith(_ARRAYS) or not call.args or last in _MAKING:
        return 0.0
    started = DISPATCH if name.startswith("jax.") else 0.0
    if last in _CUBIC:
        shape = shape_written(call.args[0], frame.scope, frame.module)
        return started + (
            math.prod(shape[:-2]) * float(shape[-1]) ** 3 / _FLOPS if shape and len(shape) > 1 else 0.0
        )
    size = _size(call.args[0], frame)
    return started + (0.0 if math.isinf(size) else 4 * size / BANDWIDTH)


def _loops(value: Value) -> bool:
    """Whether a function runs a Python loop, as over its layers."""
    function = function_in(value)
    return function is not None and any(
        isinstance(node, (ast.For, ast.While)) for node in walk(function.node)
    )


def _of_transform(transform: ast.Call, frame: Frame) -> float:
    """`jax.hessian(energy)(w)` outside jit: each operation of the function is transformed and runs by itself."""
    named = dotted(transform.args[0]) if transform.args else ""
    value = frame.value_of(named) if named else None
    function = function_in(value) if value is not None else None
    if function is None:
        return 0.0
    return RETRACE * sum(isinstance(part, (ast.Call, ast.BinOp)) for part in walk(function.node))


def _of_operator(node: ast.BinOp, frame: Frame) -> float:
    if isinstance(node.op, ast.MatMult):
        left, right = (shape_written(part, frame.scope, frame.module) for part in (node.left, node.right))
        if left and right:
            return DISPATCH + 2 * math.prod(left) * (right[-1] if len(right) > 1 else 1) / _FLOPS
        return DISPATCH
    size = _size(node, frame)
    return 0.0 if math.isinf(size) else 4 * size / BANDWIDTH


def _size(node: ast.expr, frame: Frame) -> float:
    value = frame.value_of(node.id) if isinstance(node, ast.Name) else None
    return max(size_of(node, frame.scope, frame.module), least_size(value) if value is not None else 0)
