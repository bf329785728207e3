"""Python loops on the host over the elements of a JAX array."""

from __future__ import annotations

import ast
from collections.abc import KeysView

from jaxlint.api import (
    CallEvent,
    ConvertEvent,
    Frame,
    IterationEvent,
    Loop,
    LoopEvent,
    Reporter,
    Rule,
    concerns,
)
from jaxlint.api.syntax import dotted, name_loads, names_stored, nodes_of, walk
from jaxlint.api.values import (
    Array,
    External,
    ExternalObject,
    Function,
    Instance,
    Transformed,
    Value,
    shape_of,
    short_source,
)
from jaxlint.finding import Severity
from jaxlint_rules._cost import DISPATCH, INDEX, level, runs, turns
from jaxlint_rules._loops import is_entered_once
from jaxlint_rules._main_loops import advances, holds_loop, loops_around
from jaxlint_rules._names import last_name, names_in
from jaxlint_rules._programs import is_on_host
from jaxlint_rules._shown_results import lists_rows, shows_results, writes_file
from jaxlint_rules.transfer._stacked_again import STACKS, rows_taken, seconds

FEW = 8  # elements that cost less than a rewrite
_PAIRING = ("enumerate", "zip", "reversed")


class ArrayIteration(Rule):
    """A Python loop iterates over a JAX array element by element.

    ## What it does
    Finds `for x in xs` and `for i in range(len(xs))` with `xs[i]`, outside `jit`, where `xs` is a
    JAX array and the loop calls no jitted function. Also finds rows that are taken apart and stacked
    again: `key, *keys = jax.random.split(key, n)`, and then `jnp.array(keys)`.

    ## Why is this bad?
    Each element becomes a JAX array of its own, and each operation on it is a dispatch. On a CPU an
    element cost 6 us by iteration and 190 us by index, against 0.03 us from a NumPy array. The
    operations on the elements come on top.

    ## Example
    ```python
    total = 0.0
    for x in xs:
        total = total + jnp.where(x > 0, x, 0.0)
    ```

    ## Use instead
    ```python
    total = jnp.sum(jnp.where(xs > 0, xs, 0.0))
    ```
    If Python needs the numbers, fetch them all at once: `for x in np.asarray(xs)`, or
    `xs.tolist()`. If each row is a computation of its own, use `jax.vmap` or `jax.lax.scan`.

    ## Fix safety
    There is no automatic fix.

    ## When not to fix
    Keep it if the elements are few, or each is the input of a long computation. Not reported: loops
    that compiled code runs as well, where they are unrolled. Reported as advice: loops over the
    first of a ranking (`jnp.argsort(scores)[:k]`), loops that plot, print or list the elements or
    write them to a file, that a notebook cell runs, or that a script runs once over at most 64
    elements or without computing anything from them, and those that only read elements of an array
    of unknown length, which no loop of a training enters. So is every loop that is not seen to take
    a second of the program's run, by its length and by the loops around it.

    ## References
    - [JAX: thinking in JAX](https://docs.jax.dev/en/latest/notebooks/thinking_in_jax.html)
    """

    code = "JAX502"
    name = "array-iteration"
    category = "transfer"
    severity = Severity.WARNING

    def __init__(self) -> None:
        self.found: dict[ast.AST, tuple[IterationEvent, str, Severity | None]] = {}  # by loop
        self.traced: set[ast.AST] = set()  # loops that compiled code also runs, where they are unrolled
        self.indexing: set[ast.AST] = (
            set()
        )  # loops whose elements index a container of Python, which no tracer can
        # By function: the costliest call that stacks rows again, their array, and the seconds.
        self.stacked: dict[ast.AST, tuple[CallEvent, ast.expr, float]] = {}

    def on_loop(self, event: LoopEvent, report: Reporter) -> None:
        self.traced.add(event.loop.node)

    def on_convert(self, event: ConvertEvent, report: Reporter) -> None:
        if event.how != "index" or event.frame.stage.staged:
            return
        loops = next((one.loops for one in (event.frame, *event.frame.callers()) if one.loops), ())
        self.indexing.update(loop.node for loop in loops[-1:])

    @concerns(*STACKS)
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        whole = rows_taken(event)
        cost = seconds(whole, event.frame) if whole is not None and not event.frame.is_in_test() else 0
        if whole is None or not cost:
            return
        before = self.stacked.get(event.frame.owner)
        if before is None or before[2] < cost:
            self.stacked[event.frame.owner] = (event, whole, cost)

    def on_iteration(self, event: IterationEvent, report: Reporter) -> None:
        loop, frame = event.loop, event.frame
        node = loop.node
        if loop.calls_jitted or frame.is_in_test() or not isinstance(node, (ast.For, ast.comprehension)):
            return
        array, how = _taken_apart(event.node, event.iterable, frame), "iterating over"
        counted = _counted(node) if array is None else ""
        if counted:
            array, how = _held(counted, frame), "indexing"
        if array is None or not _is_plain(array) or any(_selects(part) for part in walk(event.node)):
            return  # as few as there are in the data
        body = _body(node, frame)
        if counted and not _reads_items(node, body, counted, frame):
            return
        if any(isinstance(child, _YIELDING) for part in body for child in walk(part)):
            return  # its caller decides what happens with each
        shape = shape_of(array)
        if shape is not None and (not shape or shape[0] <= FEW):
            return
        alone = not isinstance(event.node, ast.Call) or dotted(event.node.func) == "range"
        known = isinstance(node, ast.For) and (
            shape is not None or _is_made_here(array) or (alone and is_on_host(frame))
        )
        if not known and node not in self.indexing and not _leaves_jax(node, body):
            return  # a caller may run all of it under a trace; stacked rows are another rule's
        light = (
            _is_ranking(array)
            or _reads_once(node, body, shape, frame)
            or _is_of_few(event.node, shape, frame)
            or _is_read_out(loop, body, shape, frame)
        )
        elements = runs(frame, loop) if shape is None else runs(frame, loop) / turns(loop, frame) * shape[0]
        advice = Severity.INFO if light else level(elements * _each(body, bool(counted)))
        before = self.found.get(node)
        if before is None or (before[2] is Severity.INFO and advice is None):
            self.found[node] = event, how, advice  # the call that costs most, of several

    def finish(self, report: Reporter) -> None:
        for call, whole, cost in self.stacked.values():
            report.event = call
            rows = short_source(call.node.args[0]) if isinstance(call.node, ast.Call) else "rows"
            report(
                call.node,
                f"`{rows}` was taken apart row by row and is stacked again, a dispatch for each row; slice the array",
                reason=f"line {whole.lineno} makes an array of each row of `{short_source(whole)}`; `xs[1:]` is one operation",
                severity=level(cost),
            )
        self.tell_loops(report)

    def tell_loops(self, report: Reporter) -> None:
        """Runs once all loops are known: a loop over the elements of an element of another loop is corrected with that one."""
        arrays: set[tuple[ast.AST, str]] = (
            set()
        )  # one copy to the host corrects all comprehensions over an array
        for node, (event, how, severity) in self.found.items():
            if isinstance(node, ast.comprehension) and isinstance(event.node, ast.Name):
                if (event.frame.owner, event.node.id) in arrays:
                    continue
                arrays.add((event.frame.owner, event.node.id))
            if isinstance(node, ast.For) and _fills_a_stack(node, event.frame.owner):
                continue  # `python-loop-over-batch` speaks of the loop
            if node in self.traced or _is_told_around(node, event.node, self.found.keys(), event.frame):
                continue
            report.event = event
            report(
                event.node,
                f"{how} a JAX array dispatches once per element; use array operations, or call `np.asarray` first",
                reason=f"`{_named(node, event.node, event.frame)}` is a JAX array on the host",
                severity=severity,
            )


def _each(body: list[ast.AST], indexed: bool) -> float:
    """Seconds for one element: its own operation, and those of the body."""
    operations = sum(isinstance(part, (ast.Call, ast.BinOp)) for one in body for part in walk(one))
    return (INDEX if indexed else DISPATCH) + operations * DISPATCH


def _fills_a_stack(loop: ast.For, owner: ast.AST) -> bool:
    """`for x in xs: rows.append(f(x))`, and later `jnp.stack(rows)`."""
    call = loop.body[0].value if len(loop.body) == 1 and isinstance(loop.body[0], ast.Expr) else None
    if (
        not isinstance(call, ast.Call)
        or not isinstance(call.func, ast.Attribute)
        or call.func.attr != "append"
    ):
        return False
    made = call.args[0] if call.args else None
    if (
        not isinstance(loop.target, ast.Name)
        or not isinstance(made, ast.Call)
        or not isinstance(loop.iter, ast.Name)
    ):
        return False
    given = set[str]().union(*map(names_in, made.args))
    return loop.target.id in given and any(
        last_name(stack.func) in _STACKS and stack.args and dotted(stack.args[0]) == dotted(call.func.value)
        for stack in nodes_of(owner, ast.Call)
    )


_STACKS = frozenset({"stack", "array", "asarray", "vstack"})


def _is_read_out(loop: Loop, body: list[ast.AST], shape: tuple[int, ...] | None, frame: Frame) -> bool:
    """Whether Python only reads an array that is not visibly long, to list, look up or format its elements,
    and no loop around repeats this.
    """
    if (shape is not None and shape[0] > _LONG) or _computes(body, frame):
        return False
    return not any(map(_is_of_many, frame.module.ancestors(loop.node))) and not any(
        advances(around.node) for around in loops_around(loop, frame) if around is not loop
    )


def _is_of_few(iterable: ast.AST, shape: tuple[int, ...] | None, frame: Frame) -> bool:
    """Whether the array is not visibly long: `jnp.unique(labels)` has one element for each kind, also in a variable."""
    if shape is not None and shape[0] > _LONG:
        return False
    made = [
        statement.value
        for statement in nodes_of(frame.owner, ast.Assign)
        if any(dotted(target) in names_in(iterable) - {""} for target in statement.targets)
    ]
    return any(_selects(part) for value in made for part in walk(value))


_LONG = 64


def _reads_once(
    node: ast.For | ast.comprehension, body: list[ast.AST], shape: tuple[int, ...] | None, frame: Frame
) -> bool:
    """Whether the elements are read as results: plotted, listed as numbers or text, or inspected in a notebook cell."""
    if shows_results(node) or (frame.function is None and frame.module.source.path.suffix == ".ipynb"):
        return True
    once, short = is_entered_once(frame), shape is not None and shape[0] <= _LONG
    if lists_rows(node) or writes_file(node) or (once and (short or not _computes(body, frame))):
        return True
    if isinstance(node, ast.For):
        return _is_passed_on(node, body)
    if any(_is_of_many(above) for above in frame.module.ancestors(node)) or _cuts(node, body):
        return False
    called = {last_name(call.func) for part in body for call in walk(part) if isinstance(call, ast.Call)}
    return called <= _READING and not any(isinstance(part, ast.Compare) for one in body for part in walk(one))


def _cuts(node: ast.For | ast.comprehension, body: list[ast.AST]) -> bool:
    """Whether each element is the bound of a slice, `data[i : i + n]`, which no trace accepts: the batch of a language model."""
    names = names_in(node.target)
    return any(names_in(part) & names for one in body for part in nodes_of(one, ast.Slice))


def _computes(body: list[ast.AST], frame: Frame) -> bool:
    """Whether the code for each element calls a function of JAX, of the project, or of an object that either made."""
    called = {
        dotted(call.func).partition(".")[0]
        for part in body
        for call in walk(part)
        if isinstance(call, ast.Call)
    }
    values = [frame.value_of(name) for name in called - {""}]
    return any(
        isinstance(value, _MADE) or (isinstance(value, External) and value.name.startswith("jax"))
        for value in values
    )


def _is_of_many(above: ast.AST) -> bool:
    """A loop around that may run often; the items of a dict are few, and so are epochs, each of which runs a loop of its own."""
    if isinstance(above, (ast.For, ast.While)) and holds_loop(above):
        return False
    if isinstance(above, ast.For) and isinstance(above.iter, ast.Call):
        return last_name(above.iter.func) not in ("items", "values", "keys")
    return isinstance(above, (ast.For, ast.While))


def _is_told_around(node: ast.AST, iterable: ast.AST, told: KeysView[ast.AST], frame: Frame) -> bool:
    """Whether it runs over an element of an enclosing loop that is reported: one copy to the host corrects both."""
    names = names_in(iterable)
    return any(
        above in told and isinstance(above, ast.For) and names & names_stored(above.target)
        for above in frame.module.ancestors(node)
    )


def _is_passed_on(node: ast.For, body: list[ast.AST]) -> bool:
    """Whether each element is an input of other libraries, such as a SciPy solver: a separate computation."""
    names = names_in(node.target)
    return any(
        isinstance(keyword.value, ast.Name) and keyword.value.id in names
        for part in body
        for call in walk(part)
        if isinstance(call, ast.Call)
        for keyword in call.keywords
    )


_MADE = (Function, Transformed, ExternalObject, Instance)
_READING = frozenset({"float", "int", "bool", "str", "round", "item", "tolist", "format", "slice"})
_SELECTING = frozenset({"where", "nonzero", "flatnonzero", "argwhere", "unique"})
_RANKING = frozenset({"argsort", "argpartition", "sort", "partition", "top_k"})
_YIELDING = (ast.Yield, ast.YieldFrom, ast.Await)


def _selects(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and last_name(node.func) in _SELECTING


def _body(node: ast.For | ast.comprehension, frame: Frame) -> list[ast.AST]:
    """The code for each element."""
    if isinstance(node, ast.For):
        return list(node.body)
    parent = frame.module.parents.get(node)
    if isinstance(parent, ast.DictComp):
        return [parent.key, parent.value, *node.ifs]
    return (
        [parent.elt, *node.ifs] if isinstance(parent, (ast.ListComp, ast.SetComp, ast.GeneratorExp)) else []
    )


def _is_plain(value: Value) -> bool:
    """A certain array whose elements are not keys."""
    return (
        isinstance(value, Array)
        and not value.staged
        and not value.tree
        and value.certain
        and value.role != "key"
    )


def _taken_apart(iterable: ast.AST, value: Value, frame: Frame) -> Array | None:
    """The iterated array, also inside `enumerate` and `zip`."""
    if isinstance(iterable, ast.Call) and dotted(iterable.func) in _PAIRING:
        for argument in iterable.args:
            held = _held(dotted(argument), frame) if dotted(argument) else None
            if held is not None and _is_plain(held):
                return held
        return None
    return value if isinstance(value, Array) and _is_plain(value) else None


def _is_made_here(array: Array) -> bool:
    """Whether it was created from numbers alone, as by `jnp.linspace`: the program chooses the number of elements."""
    made = array.made
    return made is not None and made.name in ("arange", "linspace", "zeros", "ones", "full")


def _is_ranking(array: Array, depth: int = 4) -> bool:
    """Whether it holds the first or last few of a ranking, such as `jnp.argsort(scores)[:k]`: results that are read."""
    cut = False
    while array.made is not None and depth > 0:
        made, depth = array.made, depth - 1
        if made.name in _RANKING:
            return cut or made.name == "top_k"
        if made.name != "getitem" or not made.args or not isinstance(made.args[0], Array):
            return False
        bounds = made.node.slice if isinstance(made.node, ast.Subscript) else None
        cut = cut or (
            isinstance(bounds, ast.Slice) and (bounds.lower is not None or bounds.upper is not None)
        )
        array = made.args[0]
    return False


def _leaves_jax(node: ast.For | ast.comprehension, body: list[ast.AST]) -> bool:
    """Whether the body does something with an element that no tracer allows: it needs its number or its truth."""
    target = node.target
    if isinstance(node.iter, ast.Call) and dotted(node.iter.func) == "enumerate":
        target = target.elts[-1] if isinstance(target, ast.Tuple) else target
    names = names_in(target)
    for statement in body:
        for child in walk(statement):
            asked: ast.AST | None = None
            if isinstance(child, (ast.If, ast.IfExp, ast.While)):
                asked = child.test
            elif isinstance(child, (ast.JoinedStr, ast.Slice)):
                asked = child
            elif isinstance(child, ast.Call):
                last = last_name(child.func)
                if last in ("int", "float", "bool", "str", "print", "item", "tolist"):
                    asked = child
            if asked is not None and any(read.id in names for read in name_loads(asked)):
                return True
    return False


def _counted(node: ast.For | ast.comprehension) -> str:
    """The name whose length a `range` counts to, or ""."""
    call = node.iter
    if not isinstance(node.target, ast.Name):
        return ""
    if not (isinstance(call, ast.Call) and dotted(call.func) == "range" and len(call.args) == 1):
        return ""
    size = call.args[0]
    if isinstance(size, ast.Subscript) and dotted(size.value).endswith(".shape"):
        first = isinstance(size.slice, ast.Constant) and size.slice.value == 0
        return dotted(size.value).removesuffix(".shape") if first else ""
    if isinstance(size, ast.Attribute) and size.attr == "size":
        return dotted(size.value)
    if isinstance(size, ast.Call) and dotted(size.func) == "len" and len(size.args) == 1:
        return dotted(size.args[0])
    return ""


def _reads_items(node: ast.For | ast.comprehension, body: list[ast.AST], array: str, frame: Frame) -> bool:
    """Whether the body reads the items of the array that the loop counts to."""
    counter = node.target
    return isinstance(counter, ast.Name) and any(
        read.id == counter.id and _is_item(read, array, frame) for part in body for read in name_loads(part)
    )


def _named(loop: ast.AST, iterable: ast.AST, frame: Frame) -> str:
    """The source of the array that a loop goes through: `x` in `range(len(x))`, and in `enumerate(x)`."""
    if isinstance(iterable, ast.Call) and dotted(iterable.func) in _PAIRING:
        for argument in iterable.args:
            held = _held(dotted(argument), frame) if dotted(argument) else None
            if held is not None and _is_plain(held):
                return dotted(argument)
    counted = _counted(loop) if isinstance(loop, (ast.For, ast.comprehension)) else ""
    return counted or short_source(iterable)


def _held(name: str, frame: Frame) -> Array | None:
    """The array in a name, or in an attribute of an object in a name."""
    first, _, attribute = name.partition(".")
    value = frame.value_of(first)
    if attribute:
        value = value.fields.get(attribute) if isinstance(value, Instance) else None
    return value if isinstance(value, Array) else None


def _is_item(index: ast.Name, array: str, frame: Frame) -> bool:
    """Whether `index` is read as `array[index]`."""
    parent = frame.module.parents.get(index)
    return (
        isinstance(parent, ast.Subscript)
        and parent.slice is index
        and dotted(parent.value) == array
        and isinstance(parent.ctx, ast.Load)
    )
