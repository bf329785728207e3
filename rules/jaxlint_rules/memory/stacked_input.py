"""Scans that stack their inputs, or outputs of which only the last is read."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxlint.api import CarryEvent, Module, Reporter, Rule
from jaxlint.api.syntax import nodes_of
from jaxlint.api.values import (
    Array,
    DictValue,
    Instance,
    ListValue,
    TupleValue,
    Value,
    least_size,
    parts_of,
    shape_of,
)
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
    needs_whole_program = True

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
        last = _read_last_alone(event, stacked)
        if last is not None:
            report(
                event.node,
                f"`{event.api}` stacks the results of all steps, but only the last is read; return it in the carry",
                reason="every use takes `[-1]`",
                severity=None
                if (event.steps or 0) >= _LONG
                else _level_of(_as_it_began(event, carried, last)),
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


def _as_it_began(event: CarryEvent, carried: Value, value: Value) -> Value:
    """What a loop begins with for a value that its body returns in the carry as well: that has the same shape."""
    pairs = list(zip(_leaves(carried), _leaves(event.init), strict=False))
    began = [init for leaf in _leaves(value) for new, init in pairs if new is leaf]
    return TupleValue([*began]) if began else value


_STEPS = 30
_LONG = 100  # steps whose results matter if there is any array among them


def _read_last_alone(event: CarryEvent, stacked: Value) -> Value | None:
    """The stacked result, or the part of it, of which the program only reads the last; None if it reads more."""
    module, owner = event.frame.module, event.frame.owner
    node, statement = event.node, module.parents.get(event.node)
    pairs: list[tuple[ast.expr, Value]] = []
    if isinstance(statement, ast.Subscript) and statement.value is node and _number(statement.slice) == 1:
        statement = module.parents.get(statement)  # `ys = scan(...)[1]`
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            pairs = [(statement.targets[0], stacked)]
    elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        targets = unpacked(statement.targets[0])
        pairs = [(targets[1], stacked)] if len(targets) == 2 else []
    for target, value in list(pairs):
        if isinstance(target, ast.Tuple) and isinstance(value, TupleValue) and value.items is not None:
            pairs = list(zip(target.elts, value.items, strict=False))
    for target, value in pairs:
        if isinstance(target, ast.Name):
            parts = _parts_read_last(target.id, value, owner, module)
            found = next(
                (part for part in parts if any(shape_of(leaf) != () for leaf in _leaves(part))), None
            )
            if found is not None:
                return found
    return None


def _parts_read_last(name: str, value: Value, owner: ast.AST, module: Module) -> list[Value]:
    """The parts of a variable of which only the last row is read; none if it is bound twice, or read otherwise."""
    mentions = [part for part in nodes_of(owner, ast.Name) if part.id == name]
    reads = [part for part in mentions if isinstance(part.ctx, ast.Load)]
    if len(mentions) != len(reads) + 1:
        return []
    parts = [_part_read_last(read, value, module) for read in reads]
    found = [part for part in parts if part is not None]
    return found if len(found) == len(parts) else []


def _part_read_last(read: ast.Name, value: Value, module: Module) -> Value | None:
    """What `ys[-1]`, `ys.field[-1]`, `ys["key"][-1]` or `jax.tree.map(lambda y: y[-1], ys)` takes the last row of."""
    node: ast.expr = read
    while not isinstance(value, Array):
        above = module.parents.get(node)
        part = None
        if isinstance(above, ast.Attribute):
            part = _field(value, above.attr)
        elif isinstance(above, ast.Subscript) and above.value is node and not _is_last(above.slice):
            part = _item(value, above.slice)
        if part is None or not isinstance(above, ast.expr):
            break
        node, value = above, part
    parent = module.parents.get(node)
    if isinstance(parent, ast.Subscript) and parent.value is node and isinstance(value, Array):
        index = parent.slice.elts[0] if isinstance(parent.slice, ast.Tuple) else parent.slice
        return value if _is_last(index) else None
    if not isinstance(parent, ast.Call) or len(parent.args) != 2 or parent.args[1] is not node:
        return None
    function = parent.args[0]
    if last_name(parent.func) not in ("map", "tree_map") or not isinstance(function, ast.Lambda):
        return None
    body = function.body
    takes = isinstance(body, ast.Subscript) and isinstance(body.value, ast.Name) and _is_last(body.slice)
    return value if takes else None


def _field(value: Value, name: str) -> Value | None:
    """The field of an instance or of a named tuple."""
    if isinstance(value, Instance):
        return value.fields.get(name)
    if isinstance(value, TupleValue) and value.cls is not None and value.items is not None:
        names = list(value.cls.fields)
        place = names.index(name) if name in names else len(value.items)
        return value.items[place] if place < len(value.items) else None
    return None


def _item(value: Value, index: ast.expr) -> Value | None:
    """The item of a dict, tuple or list."""
    if not isinstance(index, ast.Constant):
        return None
    if isinstance(value, DictValue):
        return value.items.get(index.value)
    items = value.items if isinstance(value, (TupleValue, ListValue)) else None
    place = _number(index)
    return items[place] if items is not None and place is not None and 0 <= place < len(items) else None


def _number(index: ast.expr) -> int | None:
    return index.value if isinstance(index, ast.Constant) and type(index.value) is int else None


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
