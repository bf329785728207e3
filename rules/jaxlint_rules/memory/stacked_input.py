"""Scans that stack their inputs, or outputs of which only the last is read."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxlint.api import CarryEvent, Module, Reporter, Rule
from jaxlint.api.syntax import nodes_of
from jaxlint.api.values import Array, TupleValue, Value, least_size, parts_of, shape_of
from jaxlint.finding import Severity
from jaxlint_rules._cost import level_of_bytes
from jaxlint_rules._names import last_name, unpacked

_DEPTH = 4


class StackedInput(Rule):
    """A scan stacks outputs that nothing needs.

    ## What it does
    Finds bodies of `lax.scan` whose second result contains an unchanged input: a part of the carry
    that the body does not change, or the `xs` of the step. Also finds stacked outputs of which the
    program reads only the last, `ys[-1]`.

    ## Why is this bad?
    The scan stacks the second result of every step. For parameters that the body only reads, it
    stores one copy per step. For the `xs`, it stores what the caller already has. If only the last
    output is read, return it in the carry, which is stored once.

    ## Example
    ```python
    def body(carry, _):
        params, h = carry
        h = jnp.tanh(h @ params["w"])
        return (params, h), (params, h)
    ```

    ## Use instead
    ```python
    def body(h, _):
        h = jnp.tanh(h @ params["w"])
        return h, h
    ```

    ## Fix safety
    There is no automatic fix: the code that reads the results changes with it.

    ## When not to fix
    Keep it if the stacked inputs are small and belong to one structure with the outputs, as in a
    buffer of transitions. It is a warning for arrays that are seen to be large, and advice for
    others.

    ## References
    - [jax.lax.scan](https://docs.jax.dev/en/latest/_autosummary/jax.lax.scan.html)
    """

    code = "JAX606"
    name = "stacked-input"
    category = "memory"
    severity = Severity.WARNING

    def on_carry(self, event: CarryEvent, report: Reporter) -> None:
        result = event.result
        if (
            event.api.rpartition(".")[2] != "scan"
            or not isinstance(result, TupleValue)
            or result.items is None
            or event.frame.is_in_test()
        ):
            return
        if len(result.items) != 2:
            return
        carried, stacked = result.items
        if _reads_last_alone(event, stacked):
            report(
                event.node,
                f"`{event.api}` stacks the results of all steps, but only the last is read; return it in the carry",
                reason="every use takes `[-1]`",
                severity=None if _steps(event.node) >= _LONG else _level_of(stacked),
            )
            return
        # in the same place: a value that moves to another, as in `(before, now) -> (now, next)`, is new to each step
        before, after = list(_leaves(event.carry)), list(_leaves(carried))
        pairs = zip(before, after, strict=True) if len(before) == len(after) else ()
        kept = {id(old) for old, new in pairs if old is new}
        read = {id(leaf) for leaf in _leaves(event.xs)} if event.xs is not None else set()
        for leaf in _leaves(stacked):
            if shape_of(leaf) != () and (id(leaf) in kept or id(leaf) in read):
                what = "a constant part of the carry" if id(leaf) in kept else "its own `xs`"
                report(
                    event.node,
                    f"`{event.api}` stacks {what} once per step; do not return it as output",
                    reason="the second result of the body contains this input unchanged",
                    severity=_level_of(leaf),
                )
                return


def _level_of(value: Value) -> Severity | None:
    """A warning for arrays that are seen to be large, stacked for a few dozen steps."""
    return level_of_bytes(4 * _STEPS * sum(map(least_size, _leaves(value))))


_STEPS = 30
_LONG = 100  # steps whose results matter if there is any array among them


def _steps(node: ast.AST) -> int:
    """The number of steps that a scan is given: `length=500`; 0 if none is written."""
    given = next((one.value for one in getattr(node, "keywords", []) if one.arg == "length"), None)
    return given.value if isinstance(given, ast.Constant) and isinstance(given.value, int) else 0


def _reads_last_alone(event: CarryEvent, stacked: Value) -> bool:
    """Whether the program binds the stacked results to a name, and each use only reads the last of them."""
    module, owner = event.frame.module, event.frame.owner
    statement = module.parents.get(event.node)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return False
    targets = unpacked(statement.targets[0])
    if len(targets) != 2:
        return False
    pairs = [(targets[1], stacked)]
    if isinstance(targets[1], ast.Tuple) and isinstance(stacked, TupleValue) and stacked.items is not None:
        pairs = list(zip(targets[1].elts, stacked.items, strict=False))
    return any(
        isinstance(target, ast.Name)
        and any(shape_of(leaf) != () for leaf in _leaves(value))
        and _is_read_last(target.id, owner, module)
        for target, value in pairs
    )


def _is_read_last(name: str, owner: ast.AST, module: Module) -> bool:
    """Whether a variable is bound once, and each use only reads the last item."""
    mentions = [part for part in nodes_of(owner, ast.Name) if part.id == name]
    reads = [part for part in mentions if isinstance(part.ctx, ast.Load)]
    return (
        bool(reads) and len(mentions) == len(reads) + 1 and all(_takes_last(read, module) for read in reads)
    )


def _takes_last(name: ast.Name, module: Module) -> bool:
    """`ys[-1]`, or `jax.tree.map(lambda y: y[-1], ys)`."""
    parent = module.parents.get(name)
    if isinstance(parent, ast.Subscript) and parent.value is name:
        index = parent.slice.elts[0] if isinstance(parent.slice, ast.Tuple) else parent.slice
        return _is_last(index)
    if not isinstance(parent, ast.Call) or len(parent.args) != 2 or parent.args[1] is not name:
        return False
    function = parent.args[0]
    if last_name(parent.func) not in ("map", "tree_map") or not isinstance(function, ast.Lambda):
        return False
    body = function.body
    return isinstance(body, ast.Subscript) and isinstance(body.value, ast.Name) and _is_last(body.slice)


def _is_last(index: ast.expr) -> bool:
    return (
        isinstance(index, ast.UnaryOp)
        and isinstance(index.op, ast.USub)
        and isinstance(index.operand, ast.Constant)
        and index.operand.value == 1
    )


def _leaves(value: Value, depth: int = _DEPTH) -> Iterator[Array]:
    if isinstance(value, Array):
        yield value
    elif depth > 0:
        for part in parts_of(value):
            yield from _leaves(part, depth - 1)
