"""Python loops in traced code that unroll into a long program."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from jaxlint.api import Event, Frame, Loop, OperationEvent, Reporter, Rule
from jaxlint.api.syntax import cache, dotted, nodes_of, walk
from jaxlint.api.values import UNKNOWN, Array, Value, constant, shape_of, short_source
from jaxlint.finding import Severity
from jaxlint_rules._cost import FELT, OPERATION, PLAIN, level
from jaxlint_rules._given import defaults_of, numbers_given
from jaxlint_rules._loops import has_other_way
from jaxlint_rules._names import last_name, unpacked, updated_at
from jaxlint_rules._purpose import UNROLLED, says
from jaxlint_rules._reasons import staged_because
from jaxlint_rules.recompilation._repeated import LAYERS, STEPS, carries, counter, may_loop, may_repeat

MANY = 16  # iterations that make a loop worth a scan
_PRODUCTS = frozenset({"dot", "matmul", "einsum", "tensordot", "outer", "convolve", "cross", "kron", "vdot"})
_LIGHT_CALLS = 8
_ALONG, _UNKNOWN = 64, 8  # iterations along an axis, and of a number of steps, whose length is unknown


@dataclass(slots=True, eq=False)
class _Loop:
    event: OperationEvent
    frame: Frame
    trips: int | None
    operations: set[ast.AST] = field(default_factory=set)


class UnrolledLoop(Rule):
    """A long Python loop in a traced function is unrolled.

    ## What it does
    Finds `for _ in range(n)`, and `while i < n` with a counter, in traced code, where the body
    computes arrays from the result of the last iteration. The loop has 16 or more iterations, or
    `n` is named like a number of steps or iterations. Also finds
    `sum(term(x, k) for k in range(n))` with 16 or more terms.

    ## Why is this bad?
    JAX runs the Python loop at trace time, so the program contains its body `n` times. Compile time
    and program size grow with `n`, and XLA sees no loop whose buffers it could reuse. With
    `n = 150`, a body of three operations took 2.4 times as long to compile as the same loop under
    `lax.fori_loop`. Larger bodies take longer.

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
    Use `jax.lax.scan` if the loop collects results. Both have a reverse mode when the bounds are
    Python numbers.

    ## Fix safety
    There is no automatic fix: the carry must keep its shapes and dtypes, and code that uses `t` as
    a Python number must work with a tracer.

    ## When not to fix
    Advice if the length is unknown and the body is a few operations on elements, or if the file
    gives it a small value: a default (`substeps: int = 2`). Also advice if the iterations, times
    the operations of the body, are fewer than about 300, and in a file of a project if the body only
    computes with elements and no known length makes the compilation take 10 seconds. Keep it if the
    iterations differ in their shapes or in the functions that they call, or if a few expensive
    operations run faster unrolled.

    ## References
    - [JAX: control flow](https://docs.jax.dev/en/latest/control-flow.html)
    """

    code = "JAX406"
    name = "unrolled-loop"
    category = "recompilation"
    severity = Severity.WARNING

    def __init__(self) -> None:
        self.loops: dict[ast.AST, _Loop] = {}
        self.sums: dict[ast.AST, _Loop] = {}  # by the summed comprehension

    def on_operation(self, event: OperationEvent, report: Reporter) -> None:
        frame: Frame | None = event.frame
        if not event.result.staged:
            return
        while frame is not None and frame.stage.staged:
            for loop in frame.loops:
                if loop.kind == "comprehension" and _is_long_sum(loop, frame):
                    if _shows_more(frame, self.sums.get(loop.node)):
                        self.sums[loop.node] = _Loop(event, frame, loop.trips)
                if loop.kind not in ("for", "while") or not frame.module.reported:
                    continue
                trips = loop.trips if loop.kind == "for" else _trips(loop.node, frame)
                if _is_counted(loop, trips, frame):
                    if _shows_more(frame, self.loops.get(loop.node)):
                        self.loops[loop.node] = _Loop(event, frame, trips)
                    self.loops[loop.node].operations.add(event.operation.node)
            if frame.caller is None or frame.caller.stage is not frame.stage:
                break
            frame = frame.caller

    def finish(self, report: Reporter) -> None:
        told: set[ast.AST] = set()
        for node, loop in sorted(self.loops.items(), key=lambda one: getattr(one[0], "lineno", 0)):
            assert isinstance(node, (ast.For, ast.While))
            frame = loop.frame
            if told.intersection(frame.module.ancestors(node)):
                continue  # the outer loop is reported
            if not _is_unrolled_unasked(frame) or says(frame, node, UNROLLED):
                continue
            if len(loop.operations) < 2 and not _calls(node):
                continue
            if not (carries(node) and may_loop(node)) or has_other_way(node, frame.module):
                continue
            how = f"{loop.trips} times" if loop.trips is not None else _repetitions(node)
            told.add(node)
            report.event = Event(node, frame)
            report(
                node.iter if isinstance(node, ast.For) else node.test,
                f"the loop is unrolled and compiled {how}; use `lax.fori_loop` or `lax.scan`",
                reason=staged_because(frame),
                function=frame.name,
                severity=Severity.INFO
                if loop.trips is None and (_is_light(node, frame) or _is_short_by_default(node, frame))
                else level(
                    (loop.trips or _given_length(node, frame) or _expected(node, frame))
                    * _size(loop, node)
                    * OPERATION
                ),
                # its iterations are worth a loop where each is more than operations on elements, or where they are many
                shown=not _is_of_elements(node)
                or (loop.trips or _given_length(node, frame)) * _size(loop, node) * OPERATION >= PLAIN * FELT,
            )
        for node, loop in self.sums.items():
            frame = loop.frame
            if _is_unrolled_unasked(frame):
                assert isinstance(node, ast.comprehension)
                report.event = Event(node.iter, frame)
                report(
                    node.iter,
                    f"the sum is unrolled and compiled {loop.trips} times; use `jax.vmap` and `jnp.sum`",
                    reason=staged_because(frame),
                    function=frame.name,
                )


def _shows_more(frame: Frame, known: _Loop | None) -> bool:
    """Whether a frame decides about a loop: the first one, and the first under a trace that is certain. A layer is seen
    as programs usually call it before it is seen under jit."""
    return known is None or (_is_unrolled_unasked(frame) and not _is_unrolled_unasked(known.frame))


def _is_unrolled_unasked(frame: Frame) -> bool:
    """Whether a loop there is certainly traced; a kernel unrolls on purpose."""
    stage = frame.home
    return stage.staged and stage.certain and not frame.module.is_test and not stage.within("pallas")


def _range_of(node: ast.For) -> ast.Call | None:
    """The `range(...)` that a loop iterates over, also backwards."""
    iterable = node.iter
    if isinstance(iterable, ast.Call) and dotted(iterable.func) == "reversed" and iterable.args:
        iterable = iterable.args[0]
    if isinstance(iterable, ast.Call) and dotted(iterable.func) == "range" and iterable.args:
        return iterable
    return None


def _trips(node: ast.AST, frame: Frame) -> int | None:
    """The iterations of a `while i < n`, if `n` is known and each iteration increments `i` by one."""
    if not isinstance(node, ast.While) or not counter(node):
        return None
    assert isinstance(node.test, ast.Compare)
    bound = node.test.comparators[0]
    subtracted = 0
    if (
        isinstance(bound, ast.BinOp)
        and isinstance(bound.op, ast.Sub)
        and isinstance(bound.right, ast.Constant)
    ):
        subtracted = bound.right.value if isinstance(bound.right.value, int) else 0
        bound = bound.left
    held = frame.value_of(bound.id) if isinstance(bound, ast.Name) else None
    value = bound.value if isinstance(bound, ast.Constant) else constant(held) if held else None
    return value - subtracted if type(value) is int else None


def _is_counted(loop: Loop, trips: int | None, frame: Frame) -> bool:
    """A loop over `range`, or a counting `while`, that visibly has many iterations."""
    node = loop.node
    if isinstance(node, ast.While):
        return trips is not None and trips >= MANY and not LAYERS.search(ast.unparse(node.test).lower())
    if not isinstance(node, ast.For) or not isinstance(node.target, ast.Name):
        return False
    text = _range_text(node)
    if text is None or LAYERS.search(text):
        return False
    if trips is not None:
        return trips >= MANY
    return bool(STEPS.search(text)) or _goes_along_an_axis(node, frame)


def _is_of_elements(node: ast.For | ast.While) -> bool:
    """Whether a body only computes with elements: no call of a model, a solver or the project, and no product of matrices."""
    parts = list(_nodes(node))
    products = any(isinstance(part, ast.BinOp) and isinstance(part.op, ast.MatMult) for part in parts)
    called = [part.func for part in parts if isinstance(part, ast.Call)]
    return not products and all(map(_is_elementwise, called))


def _is_elementwise(function: ast.expr) -> bool:
    """`jnp.where`, `x.at[i].set`, `len`."""
    name = function.attr if isinstance(function, ast.Attribute) else dotted(function)
    return name in _CHEAP or (dotted(function).startswith(("jnp.", "jax.numpy.")) and name not in _PRODUCTS)


def _is_light(node: ast.For | ast.While, frame: Frame) -> bool:
    """Whether the body of a loop of unknown length is a few operations on elements: no call of the project, no product."""
    if not isinstance(node, ast.For) or STEPS.search(_range_text(node) or ""):
        return False
    parts = list(_nodes(node))
    called = [dotted(part.func) for part in parts if isinstance(part, ast.Call)]
    products = any(isinstance(part, ast.BinOp) and isinstance(part.op, ast.MatMult) for part in parts)
    return (
        not products
        and len(called) <= _LIGHT_CALLS
        and all(
            name.startswith(("jnp.", "jax.numpy.")) or name in ("int", "float", "bool") for name in called
        )
        and not any(name.rpartition(".")[2] in _PRODUCTS for name in called)
    )


def _is_short_by_default(node: ast.For | ast.While, frame: Frame) -> bool:
    """Whether what the file has for the length is small: the default of a parameter or a field, `num_steps: int = 5`. One of the
    functions around goes before others with that name, as where `self.substeps` is what `__init__` was given."""
    bound = _bound(node)
    name = last_name(bound)
    if not name:
        return False
    if isinstance(bound, ast.Name):
        for above in frame.module.ancestors(node):
            if isinstance(above, (ast.FunctionDef, ast.AsyncFunctionDef)) and name in defaults_of(above):
                return defaults_of(above)[name] < MANY
    given = numbers_given(frame.module.tree).get(name, frozenset())
    return bool(given) and max(given) < MANY


def _expected(node: ast.For | ast.While, frame: Frame) -> int:
    """The iterations of a loop whose length nothing gives."""
    along = (
        isinstance(node, ast.For) and isinstance(node.target, ast.Name) and _goes_along_an_axis(node, frame)
    )
    return _ALONG if along else _UNKNOWN


def _size(loop: _Loop, node: ast.For | ast.While) -> int:
    """The operations of one iteration; a cell or a layer of a library has a dozen."""
    return len(loop.operations) + _CELL * len(_cells(node))


def _cells(node: ast.For | ast.While) -> list[str]:
    """The calls of an iteration that may be any code: of the project, of a layer, of a solver."""
    called = [dotted(part.func) for part in _nodes(node) if isinstance(part, ast.Call)]
    return [
        name
        for name in called
        if not name.startswith(("jnp.", "jax.")) and name.rpartition(".")[2] not in _CHEAP
    ]


_CELL = 12
_CHEAP = frozenset({"append", "len", "range", "float", "int", "enumerate", "zip", "set", "add", "get"})


def _given_length(node: ast.For | ast.While, frame: Frame) -> int:
    """The largest number that the file gives to the length by default; 0 if it gives none."""
    return max(numbers_given(frame.module.tree).get(last_name(_bound(node)), ()), default=0)


def _is_long_sum(loop: Loop, frame: Frame) -> bool:
    """`sum(term(x, k) for k in range(n))` with many terms that differ only in `k` and are more than an item each."""
    node, parents = loop.node, frame.module.parents
    if loop.trips is None or loop.trips < MANY or not isinstance(node, ast.comprehension):
        return False
    around = parents.get(node)
    if not isinstance(around, (ast.GeneratorExp, ast.ListComp)) or len(around.generators) != 1 or node.ifs:
        return False
    called, counted = parents.get(around), node.iter
    if (
        not isinstance(called, ast.Call)
        or dotted(called.func) != "sum"
        or not isinstance(node.target, ast.Name)
    ):
        return False
    if not isinstance(counted, ast.Call) or dotted(counted.func) != "range":
        return False
    if LAYERS.search(ast.unparse(counted).lower()) or not frame.module.reported:
        return False
    term = around.elt
    return any(isinstance(part, ast.Call) for part in walk(term)) and may_repeat([term], node.target.id)


@cache
def _range_text(node: ast.For) -> str | None:
    """The arguments of `range`, in lower case."""
    counted = _range_of(node)
    return " ".join(ast.unparse(argument) for argument in counted.args).lower() if counted else None


def _goes_along_an_axis(node: ast.For, frame: Frame) -> bool:
    """Whether the bound is an array's length, and the body takes one of its rows or columns by the counter."""
    owner = frame.owner
    if _is_short_by_its_array(node, frame):
        return False
    counted = _range_of(node)
    assert counted is not None
    measured = [frame.value_of(name) for name in _measured(_bound_of(counted), owner)]
    if measured and all(held is not None and not _is_array(held) for held in measured):
        return False  # a list of models or tables, whose items may differ
    for name in _taken_by_counter(node, owner):
        held = frame.value_of(name)
        if held is not None and _is_array(held):
            return True
    return False


def _is_array(value: Value) -> bool:
    return isinstance(value, Array) and not value.tree


def _is_short_by_its_array(node: ast.For, frame: Frame) -> bool:
    """Whether the bound is `len(x)` or `x.shape[0]` of an array that is known to have few rows."""
    counted = _range_of(node)
    assert counted is not None
    bound = _bound_of(counted)
    if isinstance(bound, ast.Subscript) and not ast.unparse(bound).endswith(".shape[0]"):
        return False
    for name in _measured(bound, frame.owner):
        shape = shape_of(frame.value_of(name) or UNKNOWN)
        if shape and shape[0] < MANY:
            return True
    return False


@cache
def _taken_by_counter(node: ast.For, owner: ast.AST) -> frozenset[str]:
    """The arrays from which the body takes an item by the counter, if it does nothing else with them."""
    counted = _range_of(node)
    assert counted is not None
    assert isinstance(node.target, ast.Name)
    if not _measured(_bound_of(counted), owner) or not any(
        isinstance(child, ast.Call) and (dotted(child.func) or updated_at(child)) for child in _nodes(node)
    ):
        return frozenset()  # not the length of an array; or a sum, which is cheap to trace
    found: set[str] = set()
    indices, counters = 0, 0
    for child in _nodes(node):
        if isinstance(child, ast.Name) and child.id == node.target.id:
            counters += 1
        elif isinstance(child, ast.Subscript):
            parts = child.slice.elts if isinstance(child.slice, ast.Tuple) else [child.slice]
            places = sum(_is_counter(part, node.target.id) for part in parts)
            indices += places
            if places and isinstance(child.ctx, ast.Load):
                found.add(dotted(child.value))
    return frozenset(found) if indices == counters else frozenset()  # `axis=i` needs a Python number


def _is_counter(index: ast.expr, counter: str) -> bool:
    """`t`, `t + 1`, `t - 1`."""
    if isinstance(index, ast.BinOp) and isinstance(index.op, (ast.Add, ast.Sub)):
        return isinstance(index.right, ast.Constant) and _is_counter(index.left, counter)
    return isinstance(index, ast.Name) and index.id == counter


def _nodes(node: ast.For | ast.While) -> Iterator[ast.AST]:
    for statement in node.body:
        yield from walk(statement)


def _measured(bound: ast.expr, owner: ast.AST) -> set[str]:
    """The arrays with the length `bound`: `x.shape[0]`, `len(x)`, or a name with such a length."""
    found: set[str] = set()
    for child in walk(bound):
        if isinstance(child, ast.Attribute) and child.attr == "shape":
            found.add(dotted(child.value))
        elif isinstance(child, ast.Call) and dotted(child.func) == "len" and child.args:
            found.add(dotted(child.args[0]))
        elif isinstance(child, ast.Name):
            found |= _lengths(owner).get(child.id, frozenset())
    return found - {""}


@cache
def _lengths(owner: ast.AST) -> dict[str, frozenset[str]]:
    """Names that a function binds to lengths, and the arrays: `n = x.shape[0]`, `batch, time = x.shape`."""
    found: dict[str, frozenset[str]] = {}
    for statement in nodes_of(owner, ast.Assign):
        value = statement.value
        if isinstance(value, ast.Subscript):
            value = value.value
        if isinstance(value, ast.Attribute) and value.attr == "shape":
            array = dotted(value.value)
        elif isinstance(value, ast.Call) and dotted(value.func) == "len" and value.args:
            array = dotted(value.args[0])
        else:
            continue
        for target in statement.targets:
            for part in unpacked(target):
                if isinstance(part, ast.Name) and array:
                    found[part.id] = frozenset({array})
    return found


def _bound_of(counted: ast.Call) -> ast.expr:
    return counted.args[min(1, len(counted.args) - 1)]


def _bound(node: ast.For | ast.While) -> ast.expr:
    if isinstance(node, ast.While):
        return node.test
    counted = _range_of(node)
    assert counted is not None
    return _bound_of(counted)


def _repetitions(node: ast.For | ast.While) -> str:
    """How often a loop of unknown length runs, in words: only `range(n)` has `n` iterations."""
    counted = _range_of(node) if isinstance(node, ast.For) else None
    if counted is not None and len(counted.args) > 1:
        return f"once for each number of `{short_source(counted)}`"
    return f"`{short_source(_bound(node))}` times"


def _calls(node: ast.For | ast.While) -> bool:
    return any(isinstance(child, ast.Call) for statement in node.body for child in walk(statement))
