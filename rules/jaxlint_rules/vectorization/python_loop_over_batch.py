"""Rows that a Python loop computes one by one."""

from __future__ import annotations

import ast

from jaxlint.api import CallEvent, Frame, IterationEvent, Reporter, Rule, TransformEvent, concerns
from jaxlint.api.syntax import cache, dotted, nodes_of, walk
from jaxlint.api.values import (
    Array,
    ExternalObject,
    Function,
    NumpyArray,
    Transformed,
    Value,
    rows_of,
    short_source,
)
from jaxlint.finding import Severity
from jaxlint_rules._cost import INDEX, is_plain, level, runs
from jaxlint_rules._fixes import propose
from jaxlint_rules._loops import FEW, counters, has_few_turns
from jaxlint_rules._names import last_name, names_in
from jaxlint_rules._programs import is_on_host
from jaxlint_rules._purpose import ONE_BY_ONE, says
from jaxlint_rules.vectorization._tables import filled_by_rows, moves_only

_STACKING = frozenset({"jax.numpy.stack", "jax.numpy.array", "jax.numpy.asarray", "jax.numpy.vstack"})
_SUMMING = frozenset({"builtins.sum"})
_TREES = frozenset({"jax.tree.map", "jax.tree_util.tree_map"})
_COMPILED = frozenset({"jit", "nnx.jit", "filter_jit", "vmap"})


class PythonLoopOverBatch(Rule):
    """A Python loop computes the rows of an array one by one.

    ## What it does
    Finds Python loops over the rows of an array, or of several arrays by `zip`:

    - `jnp.stack([f(x) for x in xs])`, also with `jnp.array`;
    - a loop that appends to a list that is stacked afterwards;
    - a loop that writes each result into an array (`table = table.at[i].set(f(xs[i]))`);
    - a sum over rows (`sum(f(x) for x in xs)`);
    - the gradient of one output per iteration, `jax.grad(lambda x: f(x)[i])(x)`, which is one row
      of a Jacobian.

    ## Why is this bad?
    Each row costs its own dispatches, or under `jit` its own copy of the function in the program.
    `jax.vmap` runs all rows at once: for 64 rows of 32 numbers it took less than a quarter of the
    time, without `jit`, on a CPU.

    ## Example
    ```python
    y = jnp.stack([predict(params, x) for x in xs])
    ```

    ## Use instead
    ```python
    y = jax.vmap(predict, in_axes=(None, 0))(params, xs)
    ```

    ## Fix safety
    Unsafe: the fix writes such a `vmap`. The function must not depend on Python values of a row,
    and all rows are in memory at once.

    ## When not to fix
    Keep it if all rows together do not fit into memory; `lax.map` runs them one after another. Not
    reported where the function says so in its name, its docstring or a comment ("sequential", "one
    at a time", "out of memory"), where the file also maps the function with `vmap`, or where a part of
    another size is read for each row. A table into which elements are only copied or converted, once or
    a few dozen times, is advice.

    ## References
    - [JAX: automatic vectorization](https://docs.jax.dev/en/latest/automatic-vectorization.html)
    """

    code = "JAX702"
    name = "python-loop-over-batch"
    category = "vectorization"
    severity = Severity.WARNING
    needs_whole_program = True
    fixable = "unsafe"

    def on_transform(self, event: TransformEvent, report: Reporter) -> None:
        """`jax.grad(lambda x: f(x)[i])` for each `i`: the rows of a Jacobian, one by one."""
        transformed, frame = event.transformed, event.frame
        if transformed.kind != "grad" or not frame.loops or frame.module.is_test:
            return
        output = _returned(transformed.target)
        if not isinstance(output, ast.Subscript) or not isinstance(output.value, ast.Call):
            return
        number = output.slice.id if isinstance(output.slice, ast.Name) else ""
        if number and any(number in counters(loop.node) for loop in frame.loops):
            report(
                event.node,
                f"the loop computes the Jacobian of `{short_source(output.value)}` row by row; use `jax.jacrev`",
                reason=f"{transformed.why.explain(report.module)}; `{number}` counts the rows",
            )

    def on_iteration(self, event: IterationEvent, report: Reporter) -> None:
        """`table = table.at[i].set(f(xs[i]))`: rows computed one by one, each written to a copy of the table."""
        frame, node = event.frame, event.loop.node
        if not isinstance(node, ast.For) or frame.module.is_test or not is_on_host(frame):
            return
        if has_few_turns(event.loop, event.frame):
            return
        read = filled_by_rows(node)
        if not read or any(
            isinstance(outer, ast.For) and filled_by_rows(outer) for outer in frame.module.ancestors(node)
        ):
            return
        held = frame.value_of(read)
        if isinstance(held, Array) and not held.tree and held.certain:
            report(
                node.iter,
                f"the loop computes one row of `{read}` per iteration and copies its output array; use `jax.vmap`",
                reason="the iterations are independent, and `.at[...].set` outside jit copies the whole array",
                severity=level(runs(frame, event.loop) * INDEX) if moves_only(node) else None,
                shown=is_plain(INDEX, frame, event.loop),
            )

    @concerns(*_STACKING, *_SUMMING, *_TREES)
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        node = event.node
        if not isinstance(node, ast.Call) or not node.args or event.frame.module.is_test:
            return
        if event.name in _TREES:
            self.check_listed(node, report, event)
            return
        if event.name not in _STACKING and event.name not in _SUMMING:
            return
        first = node.args[0]
        found: tuple[str, str] | None = None
        done = "summed" if event.name in _SUMMING else "stacked"
        fix = None
        place: ast.expr = node
        if isinstance(first, (ast.ListComp, ast.GeneratorExp)):
            inner = first
            while isinstance(inner.elt, ast.ListComp) and _is_plain(inner):
                inner = inner.elt  # a table: `jnp.array([[f(x, y) for y in ys] for x in xs])`
            if _is_plain(inner):
                generator = inner.generators[0]
                found = self.over(generator.target, generator.iter, inner.elt, event.frame)
                if done == "stacked" and inner is first:
                    fix = propose(report, node, "stack-to-vmap", "Use `vmap`", safe=False)
        elif isinstance(first, ast.Name) and done == "stacked":
            filled = self.filled(first.id, event.frame)
            if filled is not None:
                found, place = filled  # the loop itself should change
                fix = propose(report, place, "for-to-vmap", "Use `vmap`", safe=False)
        if found is not None and not says(event.frame, place, ONE_BY_ONE):
            function, rows = found
            if function in _mapped(event.frame.module.tree):
                return  # the file compares the loop with it
            report(
                place,
                f"the loop calls `{function}` per row of `{rows}`, and the results are {done}; use `jax.vmap`",
                fix=fix,
                reason=f"`{rows}` {'are arrays' if '`' in rows else 'is an array'}, so each row costs a dispatch, or a copy of the body when traced",
            )

    def check_listed(self, node: ast.Call, report: Reporter, event: CallEvent) -> None:
        """`jax.tree.map(lambda *g: sum(g), *found)` for a list with a function's result for each row."""
        last = node.args[-1]
        if not isinstance(last, ast.Starred) or not isinstance(last.value, ast.Name):
            return
        frame = event.frame
        owner = frame.owner
        made = [
            statement.value
            for statement in nodes_of(owner, ast.Assign)
            if dotted(statement.targets[0]) == last.value.id
        ]
        if len(made) != 1 or not isinstance(made[0], ast.ListComp) or len(made[0].generators) != 1:
            return
        generator = made[0].generators[0]
        found = self.over(generator.target, generator.iter, made[0].elt, frame) if not generator.ifs else None
        if found is not None:
            report(
                made[0],
                f"the loop calls `{found[0]}` for each row of `{found[1]}` and collects the results; use `jax.vmap`",
                reason=f"line {node.lineno} reads the list `{last.value.id}`",
            )

    def over(
        self, target: ast.expr, iterable: ast.expr, element: ast.expr, frame: Frame
    ) -> tuple[str, str] | None:
        """The function that is called for each row, and the array of rows."""
        if not isinstance(element, ast.Call):
            return None
        function = dotted(element.func)
        if (
            not function
            or function in ("float", "int", "len", "str")
            or function.endswith((".astype", ".array", ".asarray"))
        ):
            return None
        if isinstance(target, ast.Tuple):
            return self.over_several(target, iterable, element, frame)
        if not isinstance(target, ast.Name):
            return None
        rows = ""
        if isinstance(iterable, ast.Name):
            rows = iterable.id if any(target.id in names_in(a) for a in element.args) else ""
        elif isinstance(iterable, ast.Call) and dotted(iterable.func) == "range" and len(iterable.args) == 1:
            size = iterable.args[0]
            name = ""
            if isinstance(size, ast.Subscript) and dotted(size.value).endswith(".shape"):
                name = dotted(size.value).removesuffix(".shape")
            elif isinstance(size, ast.Call) and dotted(size.func) == "len" and size.args:
                name = dotted(size.args[0])
            indexed = any(
                isinstance(child, ast.Subscript)
                and dotted(child.value) == name
                and names_in(child.slice) == {target.id}
                for argument in element.args
                for child in walk(argument)
            )
            # `xs[: i + 1]` has another size in each call.
            sliced = any(
                isinstance(child, ast.Slice) and target.id in names_in(child)
                for argument in element.args
                for child in walk(argument)
            )
            rows = name if name and indexed and not sliced else ""
        held = frame.value_of(rows) if rows else None
        return (function, rows) if held is not None and _has_rows(held, function, frame) else None

    def over_several(
        self, target: ast.Tuple, iterable: ast.expr, element: ast.Call, frame: Frame
    ) -> tuple[str, str] | None:
        """The same for `zip(xs, ys)`, if each is an array and `element` reads a row of one."""
        if not isinstance(iterable, ast.Call) or dotted(iterable.func) != "zip" or not iterable.args:
            return None
        names = [argument.id for argument in iterable.args if isinstance(argument, ast.Name)]
        held = [frame.value_of(name) for name in names]
        if len(names) != len(iterable.args) or not all(
            one is not None and _has_rows(one, dotted(element.func), frame) for one in held
        ):
            return None
        read = {name for argument in element.args for name in names_in(argument)}
        rows = {part.id for part in target.elts if isinstance(part, ast.Name)}
        return (dotted(element.func), "`, `".join(names)) if read & rows else None

    def filled(self, name: str, frame: Frame) -> tuple[tuple[str, str], ast.expr] | None:
        """The same for a list that a loop only fills, by one `append`; and the loop's iterable."""
        owner = frame.owner
        found = None
        for child in nodes_of(owner, ast.For):
            statements = child.body
            if len(statements) != 1 or not isinstance(statements[0], ast.Expr):
                continue
            call = statements[0].value
            if isinstance(call, ast.Call) and dotted(call.func) == f"{name}.append" and len(call.args) == 1:
                over = self.over(child.target, child.iter, call.args[0], frame)
                found = (over, child.iter) if over is not None else None
        return found


@cache
def _mapped(tree: ast.Module) -> frozenset[str]:
    """The functions to which a file applies `vmap`."""
    return frozenset(
        dotted(call.args[0])
        for call in nodes_of(tree, ast.Call)
        if last_name(call.func) in ("vmap", "filter_vmap") and call.args
    )


def _returned(target: Value) -> ast.expr | None:
    """The expression that a lambda, or a function of one statement, returns."""
    body = target.node.body if isinstance(target, Function) else None
    if isinstance(body, list):
        return body[0].value if len(body) == 1 and isinstance(body[0], ast.Return) else None
    return body


def _cuts_by_numbers(function: Value | None) -> bool:
    """Whether a function cuts parts of its data between numbers that it has computed: no trace can do so."""
    if not isinstance(function, Function):
        return False
    loops: list[ast.For | ast.comprehension] = [*nodes_of(function.node, ast.For)]
    loops += nodes_of(function.node, ast.comprehension)
    for loop in loops:
        numbers = names_in(loop.target) if isinstance(loop.iter, ast.Name) else set()
        if any(names_in(part) & numbers for part in nodes_of(function.node, ast.Slice)):
            return True
    return False


def _has_rows(value: Value, function: str, frame: Frame) -> bool:
    """An array with rows that is not a pytree; or a NumPy array, if `function` is compiled: each row is transferred
    separately."""
    if _cuts_by_numbers(frame.value_of(function)) or _has_few_rows(value):
        return False
    if isinstance(value, NumpyArray):
        held = frame.value_of(function)
        return isinstance(held, Transformed) and held.kind in _COMPILED
    return (
        isinstance(value, Array)
        and not value.tree
        and value.certain
        and not isinstance(value, ExternalObject)
    )


def _has_few_rows(value: Value) -> bool:
    """Whether an array has so few rows, here, that one call for all of them gains next to nothing."""
    count = rows_of(value, 0)
    return count is not None and count <= FEW


def _is_plain(node: ast.ListComp | ast.GeneratorExp) -> bool:
    """Whether a comprehension has one iterable and no condition."""
    return len(node.generators) == 1 and not node.generators[0].ifs
