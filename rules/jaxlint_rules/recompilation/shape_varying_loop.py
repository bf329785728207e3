"""Jitted functions that receive another shape in every iteration."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxlint.api import CallEvent, Loop, Reporter, Rule, StagedReturnEvent, concerns
from jaxlint.api.syntax import cache, dotted, nodes_of, walk
from jaxlint.api.tables import JIT_KINDS
from jaxlint.api.values import (
    Array,
    Instance,
    Origin,
    Transformed,
    TupleValue,
    Unknown,
    Value,
    parts_of,
    short_source,
)
from jaxlint.finding import Severity
from jaxlint_rules._callables import jitted_call
from jaxlint_rules._eager import runs_model
from jaxlint_rules._loops import (
    GROWING,
    SIZED,
    assigned_once,
    bodies,
    counters,
    growing,
    host_loops,
    is_under_test,
    line_of_loop,
    loop_variables,
    place_of_loop,
    rebound,
)
from jaxlint_rules._names import last_name, names_in, passed, unpacked
from jaxlint_rules.recompilation._gathered import gathered
from jaxlint_rules.recompilation._growth import Growth
from jaxlint_rules.recompilation._ragged import CONVERTING, PADS, drawn, ragged, text_length

_STACKING = frozenset({"array", "asarray", "stack", "concatenate", "vstack", "hstack"})
_SEARCHES = frozenset({"nonzero", "where", "flatnonzero", "argwhere"})
# Methods of NumPy's generators.
_DRAWS = frozenset(
    ["random", "uniform", "normal", "integers", "binomial", "standard_normal", "rand", "randn", "randint"]
)
_MASKS = frozenset({"isnan", "isfinite", "isinf", "isin", "logical_not", "logical_and", "logical_or"})
_MODULES = frozenset({"linen", "nnx"})
_EVEN = frozenset({"range", "arange", "linspace"})


class ShapeVaryingLoop(Rule):
    """A jitted function gets a new shape in every iteration and recompiles.

    ## What it does
    Finds calls of jitted functions in a loop with an argument whose shape changes. The argument may
    grow:

    - a slice up to the loop variable (`x[:i]`);
    - an array that grows by `jnp.concatenate`, in the loop, in a function or method that the loop
      calls, or in the jitted function that returns it;
    - a list or dict that grows, also in an attribute of an object.

    A model outside jit that gets such an array is found as well: each operation compiles again.

    Or its length may depend on data:

    - the tokens of a text;
    - the rows of a class (`x[labels == c]`, `x[np.flatnonzero(labels == c)]`), or of a random mask;
    - the distinct items of a batch (`np.unique(batch)`);
    - a slice between two offsets (`x[starts[i] : starts[i + 1]]`);
    - an array of a random size;
    - the part of an object's buffer that the loop has filled;
    - a batch that a function of the project pads to its longest item, or collects until a condition
      holds.

    ## Why is this bad?
    JAX compiles one program per shape. A function that runs in microseconds is then traced and
    compiled in every iteration: a `tanh` and a sum took over 100 ms a call on a CPU, and 0.01 ms a
    call with one shape.

    ## Example
    ```python
    for i in range(1, length):
        logits = next_token(params, tokens[:, :i])
    ```

    ## Use instead
    ```python
    for i in range(1, length):
        logits = next_token(params, tokens, i)  # masks the positions from i on
    ```
    Or keep a buffer of the final size and write to it with `.at[i].set(...)`, or take windows of
    one size with `jax.lax.dynamic_slice`.

    ## Fix safety
    There is no automatic fix. With one shape, the entries that are not filled yet must be masked
    out of every sum, softmax, norm and mean inside the function, and only you know where. Static
    arguments do not help: each new value of a static argument recompiles too. If sizes come from
    data, round them up to a few sizes (powers of two) to bound the number of compilations, with the
    same masks. `jaxlint verify` names the array that grows and the time that its compilations took.
    A list of parts of one shape that is stacked after the loop compiles once;
    [append-loop](append-loop.md) has a fix for it.

    ## When not to fix
    Keep it if the loop runs only a few times, or if the sizes repeat from run to run and the
    persistent compilation cache is on.

    ## References
    - [JAX: just-in-time compilation and caching](https://docs.jax.dev/en/latest/jit-compilation.html#jit-and-caching)
    """

    code = "JAX403"
    name = "shape-varying-loop"
    category = "recompilation"
    severity = Severity.WARNING
    needs_whole_program = True

    def __init__(self) -> None:
        # By jitted function: parameters that it returns longer, with the growing part and the position of the result.
        self.grown: dict[ast.AST, dict[tuple[str, int], str]] = {}
        self.carried: list[
            tuple[CallEvent, Transformed, Loop, list[str]]
        ] = []  # calls in loops, and their targets
        self.growth = Growth()

    def on_staged_return(self, event: StagedReturnEvent, report: Reporter) -> None:
        if event.transformed.kind not in JIT_KINDS:
            return
        given = {
            value.origin: name
            for name, value in event.parameters.items()
            if isinstance(value, (Array, Unknown)) and value.origin is not None
        }
        several = isinstance(event.value, TupleValue) and event.value.items is not None
        for position, value in enumerate(parts_of(event.value) if several else [event.value]):
            for origin in _lengthened(value):
                if origin.root() in given:
                    grown = self.grown.setdefault(event.transformed.node, {})
                    grown[given[origin.root()], position] = origin.name

    def finish(self, report: Reporter) -> None:
        for event, callee, loop, targets in self.carried:
            node = event.node
            assert isinstance(node, ast.Call)
            given = dict(zip(report.signature(callee.target), node.args, strict=False))
            given |= {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg}
            for (name, position), part in self.grown.get(callee.node, {}).items():
                if name in given and position < len(targets) and dotted(given[name]) == targets[position]:
                    if _is_reset(targets[position], loop.node, node):
                        continue
                    report.event = event
                    how = f"it returns `{part}` longer than it received it"
                    self.tell(event, callee, given[name], how, loop, report)
                    break

    @concerns(callees=("Transformed", "ExternalObject", "Instance", "BoundMethod"))
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        called, frame = jitted_call(event), event.frame
        if called is None:
            self.check_eager(event, report)
            return
        callee, node = called
        for loop, body in bodies(frame):
            for argument in passed(node):
                how = gathered(argument, body, frame)
                if how:
                    self.tell(event, callee, argument, how, loop, report)
                    return
        if not frame.loops:
            return
        for loop in host_loops(frame, comprehensions=True):
            for argument in passed(node):
                how = (
                    _varies(argument, loop, report)
                    or ragged(argument, loop.node, frame)
                    or drawn(argument, loop.node, frame)
                )
                if how:
                    self.tell(event, callee, argument, how, loop, report)
                    return
        for loop in host_loops(frame):
            how = "" if frame.is_conditional_in(loop) else self.growth.see(event, node, loop)
            if how:
                self.tell(event, callee, node, how, loop, report)
                return
        loop = frame.loops[-1]
        targets = _targets(event)
        if targets and not frame.guarded_in_loop() and loop in host_loops(frame):
            self.carried.append((event, callee, loop, targets))

    def check_eager(self, event: CallEvent, report: Reporter) -> None:
        """A model outside jit that a loop calls on an array that grows: each of its operations compiles for each length."""
        frame, node = event.frame, event.node
        if frame.stage.staged or not isinstance(node, ast.Call) or is_under_test(frame):
            return
        loop = next(iter(host_loops(frame)), None)
        if loop is None or frame.is_conditional_in(loop):
            return
        if isinstance(node.func, ast.Call):
            return  # `Dense(features)(x)`: a layer made there is a part of a module, which something else runs
        if not runs_model(event.callee) and not (
            isinstance(event.callee, Instance) and event.callee.cls.kind in _MODULES
        ):
            return
        for argument in passed(node):
            name = dotted(argument)
            if name in growing(loop.node) and isinstance(frame.value_of(name), Array):
                report(
                    node,
                    f"`{short_source(node.func)}` compiles all its operations every iteration: `{name}` grows; pad it",
                    reason=f"outside jit JAX compiles each operation for each shape; the loop at line {line_of_loop(loop.node)} makes `{name}` longer",
                )
                return

    def tell(
        self, event: CallEvent, callee: Transformed, node: ast.expr, how: str, loop: Loop, report: Reporter
    ) -> None:
        report(
            event.node,
            f"`{callee.label}` recompiles every iteration: {how}; {'fix the length' if PADS in how else 'pad it'}",
            reason=f"{callee.why.explain(report.module)}, called in {place_of_loop(loop, event.frame)}",
        )


def _is_reset(name: str, loop: ast.AST, call: ast.AST) -> bool:
    """Whether each iteration rebinds `name` to another value besides the call's result: `parts = []`."""
    return any(
        statement.value is not call and any(dotted(target) == name for target in statement.targets)
        for statement in nodes_of(loop, ast.Assign)
    )


def _lengthened(value: Value, depth: int = 3, field: str = "") -> Iterator[Origin]:
    """The arrays in a value before a concatenation.

    `field`: the attribute that holds the value, if only that attribute is passed to the next call.
    """
    made = value.made if isinstance(value, Array) else None
    if made is not None and made.name in GROWING and made.args:
        parts = parts_of(made.args[0]) if not isinstance(made.args[0], Array) else made.args[:2]
        for part in parts:
            if isinstance(part, Array) and part.origin is not None:
                if not field or part.origin.name.rpartition(".")[2] == field:
                    yield part.origin
    elif depth > 0:
        for name, part in _attributes(value).items() or ((field, part) for part in parts_of(value)):
            yield from _lengthened(part, depth - 1, name)


def _attributes(value: Value) -> dict[str, Value]:
    """The values in an object or a named tuple, by field name."""
    if isinstance(value, Instance):
        return value.fields
    if isinstance(value, TupleValue) and value.cls is not None:
        return dict(zip(value.cls.all_fields(), value.elements(), strict=False))
    return {}


def _targets(event: CallEvent) -> list[str]:
    """The names that the results of a call are assigned to."""
    statement = event.assignment()
    if not isinstance(statement, ast.Assign) or statement.value is not event.node:
        return []
    target = statement.targets[0]
    return [dotted(part) for part in unpacked(target)]


def _varies(node: ast.expr, loop: Loop, report: Reporter, depth: int = 0) -> str:
    """Why the shape of an argument differs between the iterations of `loop`; "" if that is unknown."""
    changing = counters(loop.node)
    if isinstance(node, ast.Subscript):
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        for part in parts:
            if isinstance(part, ast.Slice) and part.step is None:
                moving = changing | rebound(loop.node)
                lower = bool(part.lower is not None and names_in(part.lower) & moving)
                upper = bool(part.upper is not None and names_in(part.upper) & moving)
                bound = part.lower if lower else part.upper
                if _between_offsets(part, loop, report.module.tree):
                    return f"`{short_source(node)}` varies in length"
                if (
                    lower != upper
                    and bound is not None
                    and names_in(bound) & changing
                    and not _bounded(bound)
                ):
                    name = sorted(names_in(part.lower or part) & changing | names_in(part) & changing)[0]
                    return f"`{short_source(node)}` varies in length with `{name}`"
        return _selects(node, loop)
    name = dotted(node)
    if name:
        if name in growing(loop.node):
            return f"`{name}` grows"
        bound = assigned_once(loop.node).get(name) if depth == 0 else None
        return _varies(bound, loop, report, depth + 1) if bound is not None else ""
    if isinstance(node, ast.Call):
        last = last_name(node.func)
        base = dotted(node.func).partition(".")[0]
        if last in _STACKING and node.args and dotted(node.args[0]) in growing(loop.node):
            return f"the list `{dotted(node.args[0])}` grows"
        if last in CONVERTING and base in ("jnp", "np", "jax", "numpy") and len(node.args) > 0:
            sliced = isinstance(node.args[0], ast.Subscript) and _varies(node.args[0], loop, report, depth)
            return sliced or text_length(
                node.args[0], loop.node, assigned_once(loop.node), _bound_names(loop)
            )
        if (
            base in ("np", "numpy")
            and last not in _SEARCHES - {"flatnonzero", "argwhere"}
            and _is_search(node, loop)
        ):
            return f"`{short_source(node)}` varies in length"
        if last in SIZED and base in ("jnp", "np", "jax", "numpy") and node.args:
            sizes = [node.args[0]] if last != "linspace" else node.args[2:3]
            used = set().union(*(names_in(size) for size in sizes)) & changing
            if used and last != "full" and not any(_bounded(size) for size in sizes):
                return f"`{short_source(node)}` varies with `{sorted(used)[0]}`"
    return ""


def _between_offsets(part: ast.Slice, loop: Loop, tree: ast.AST) -> bool:
    """`x[starts[i] : starts[i + 1]]`, and `x[lo:hi]` for `zip(starts[:-1], starts[1:])`: slices of data-dependent
    length."""
    lower, upper = part.lower, part.upper
    if isinstance(lower, ast.Subscript) and isinstance(upper, ast.Subscript):
        offsets = dotted(lower.value)
        apart = isinstance(upper.slice, ast.BinOp) and isinstance(upper.slice.op, ast.Add)
        counted = isinstance(lower.slice, ast.Name) and lower.slice.id in counters(loop.node)
        return bool(
            counted and apart and offsets == dotted(upper.value) and offsets not in _evenly_spaced(tree)
        )
    target, iterable = getattr(loop.node, "target", None), getattr(loop.node, "iter", None)
    if not isinstance(target, (ast.Tuple, ast.List)) or not isinstance(iterable, ast.Call):
        return False
    if [dotted(name) for name in target.elts] != [dotted(lower or part), dotted(upper or part)]:
        return False
    how = last_name(iterable.func)
    given = iterable.args
    if how == "pairwise" and len(given) == 1:
        offsets = dotted(given[0])
    elif how == "zip" and len(given) == 2 and isinstance(given[1], ast.Subscript):
        first = given[0].value if isinstance(given[0], ast.Subscript) else given[0]
        offsets = dotted(given[1].value) if dotted(first) == dotted(given[1].value) else ""
    else:
        return False
    return bool(offsets) and offsets not in _evenly_spaced(tree)


@cache
def _evenly_spaced(tree: ast.AST) -> frozenset[str]:
    """Names bound to equidistant numbers, anywhere in a module."""
    return frozenset(
        dotted(target)
        for statement in nodes_of(tree, ast.Assign)
        for target in statement.targets
        if any(
            isinstance(child, ast.Call) and last_name(child.func) in _EVEN for child in walk(statement.value)
        )
    )


def _bound_names(loop: Loop) -> frozenset[str]:
    """The names that an iteration binds, its variable included."""
    return rebound(loop.node) | loop_variables(loop.node)


def _selects(node: ast.Subscript, loop: Loop) -> str:
    """`x[y == c]`, `np.nonzero(y == c)[0]` and `x[np.flatnonzero(y == c)]`: as many rows as are true in this iteration."""
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if any(_chooses(part, loop) for part in parts) or _is_search(node, loop):
        return f"`{short_source(node)}` varies in length"
    return ""


def _chooses(index: ast.expr, loop: Loop) -> bool:
    """Whether an index is a mask, or the numbers of the rows where one is true, and another one in each iteration."""
    if isinstance(index, ast.Name):
        index = assigned_once(loop.node).get(index.id, index)
    return _is_search(index, loop) or (_is_mask(index) and _is_another(index, loop))


def _is_search(node: ast.expr, loop: Loop) -> bool:
    """`np.flatnonzero(mask)`, `np.where(mask)[0]`, and `np.unique(batch)`, of what changes; `size=` fixes the length."""
    part = isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant)
    if isinstance(node, ast.Subscript) and part:
        node = node.value
    if not isinstance(node, ast.Call) or len(node.args) != 1 or node.keywords:
        return False
    if part and last_name(node.func) not in ("nonzero", "where"):
        return False  # one of the numbers that were found
    last, given = last_name(node.func), node.args[0]
    if last == "unique":
        return _is_another(given, loop)
    if last not in _SEARCHES:
        return False
    if isinstance(given, ast.Name):
        given = assigned_once(loop.node).get(given.id, given)
    return _is_mask(given) and _is_another(given, loop)


def _is_another(node: ast.AST, loop: Loop) -> bool:
    """Whether an expression reads what the iteration binds, or draws random numbers of NumPy."""
    return bool(names_in(node) & _bound_names(loop)) or any(
        isinstance(part, ast.Call)
        and isinstance(part.func, ast.Attribute)
        and part.func.attr in _DRAWS
        and not dotted(part.func).startswith(("jax.", "jr.", "random."))
        for part in walk(node)
    )


def _is_mask(node: ast.AST) -> bool:
    """A comparison, a NaN test and the like, and combinations by `~`, `&` and `|`."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert):
        return _is_mask(node.operand)
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.BitAnd, ast.BitOr)):
        return _is_mask(node.left) or _is_mask(node.right)
    if isinstance(node, ast.Call):
        return last_name(node.func) in _MASKS
    compared = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)
    return isinstance(node, ast.Compare) and isinstance(node.ops[0], compared)


def _bounded(node: ast.expr | None) -> bool:
    """A bound that takes few values, or stops growing: `i % 4`, `min(i, n)`."""
    return node is not None and any(
        (isinstance(child, ast.BinOp) and isinstance(child.op, (ast.Mod, ast.FloorDiv)))
        or (isinstance(child, ast.Call))
        for child in ast.walk(node)
    )
