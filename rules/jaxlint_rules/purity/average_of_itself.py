"""Averages of two dicts that are one dict under two names."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from jaxlint.api import CallEvent, Event, Frame, OperationEvent, Reporter, Rule, concerns
from jaxlint.api.syntax import cache, dotted, walk
from jaxlint.api.values import DictValue, Instance, ListValue, Value
from jaxlint.finding import Severity
from jaxlint_rules._names import last_name


@dataclass(slots=True)
class _Mixed:
    event: Event
    names: tuple[str, str]
    same: bool  # each time that the place was reached


class AverageOfItself(Rule):
    """An average mixes a dict with itself, under another name.

    ## What it does
    Finds `target[k] = (1 - tau) * target[k] + tau * online[k]` where `target` and `online` are the
    same dict or list, also as attributes and with `for k, v in online.items()`. Also finds
    `nnx.update(target, nnx.state(online))` where both are the same module.

    ## Why is this bad?
    `self.target = self.online` binds a second name and copies nothing. An update in place through
    one name changes both, so the average always equals the newest parameters, and a target network
    moves with the network that it should hold still. No exception is raised.

    ## Example
    ```python
    params = {"w": jnp.zeros(3), "b": jnp.zeros(())}
    ema = params
    for grads in gradients:
        for k in params:
            params[k] = params[k] - lr * grads[k]
            ema[k] = 0.99 * ema[k] + 0.01 * params[k]
    ```

    ## Use instead
    ```python
    params = {"w": jnp.zeros(3), "b": jnp.zeros(())}
    ema = dict(params)
    for grads in gradients:
        for k in params:
            params[k] = params[k] - lr * grads[k]
            ema[k] = 0.99 * ema[k] + 0.01 * params[k]
    ```
    The arrays need no copy, as JAX never changes them in place. For a module use `nnx.clone`.

    ## Fix safety
    There is no automatic fix.

    ## When not to fix
    Not reported where one of the names is bound to another object before the next average.

    ## References
    - [JAX: pytrees](https://docs.jax.dev/en/latest/pytrees.html)
    """

    code = "JAX207"
    name = "average-of-itself"
    category = "purity"
    severity = Severity.WARNING
    preview = True  # until its findings in real code were read: docs/writing-rules.md

    def __init__(self) -> None:
        self.mixed: dict[ast.AST, _Mixed] = {}

    @concerns("add")
    def on_operation(self, event: OperationEvent, report: Reporter) -> None:
        """`a * x[k] + b * y[k]`."""
        node = event.node
        if isinstance(node, ast.BinOp) and _scales(node.left) and _scales(node.right):
            for one in _containers(node.left, node, report):
                for other in _containers(node.right, node, report):
                    if one[1] == other[1]:
                        self.note(event, one[0], other[0])

    @concerns("flax.nnx.update")
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        """`nnx.update(target, nnx.state(online))`, also with a state that is computed from both."""
        node = event.node
        if not isinstance(node, ast.Call) or len(node.args) < 2:
            return
        for part in walk(node.args[1]):
            if isinstance(part, ast.Call) and last_name(part.func) == "state" and part.args:
                self.note(event, dotted(node.args[0]), dotted(part.args[0]))

    def note(self, event: Event, one: str, other: str) -> None:
        if not one or not other or one == other:
            return
        first, second = _value_at(one, event.frame), _value_at(other, event.frame)
        same = first is second and _is_changed_in_place(first)
        known = self.mixed.setdefault(event.node, _Mixed(event, (one, other), same))
        known.same = known.same and same

    def finish(self, report: Reporter) -> None:
        for node, mixed in self.mixed.items():
            if not mixed.same or mixed.event.frame.module.is_test:
                continue
            one, other = mixed.names
            report.event = mixed.event
            report(
                node,
                f"`{one}` and `{other}` are the same object here, so nothing is averaged; copy it once",
                reason=f"an assignment binds a second name; the changes through `{one}` are seen through `{other}`",
            )


def _scales(node: ast.expr) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)


def _containers(term: ast.expr, node: ast.AST, report: Reporter) -> Iterator[tuple[str, str]]:
    """The containers of the items in a term, with the text of their keys."""
    items = _loop_items(node, report)
    assert isinstance(term, ast.BinOp)
    for part in (term.left, term.right):
        if isinstance(part, ast.Subscript) and dotted(part.value):
            yield dotted(part.value), ast.unparse(part.slice)
        elif isinstance(part, ast.Name) and part.id in items:
            yield items[part.id]


def _loop_items(node: ast.AST, report: Reporter) -> dict[str, tuple[str, str]]:
    """`for k, v in x.items()` around a place: `v` is `x[k]`."""
    found: dict[str, tuple[str, str]] = {}
    for above in report.module.ancestors(node):
        if isinstance(above, ast.For):
            found.update(_items_of(above))
    return found


@cache
def _items_of(loop: ast.For) -> dict[str, tuple[str, str]]:
    target, called = loop.target, loop.iter
    if not isinstance(target, ast.Tuple) or not isinstance(called, ast.Call):
        return {}
    if not isinstance(called.func, ast.Attribute) or called.func.attr != "items" or len(target.elts) != 2:
        return {}
    key, value = target.elts
    owner = dotted(called.func.value)
    if not owner or not isinstance(value, ast.Name) or not isinstance(key, ast.Name):
        return {}
    return {value.id: (owner, key.id)}


def _value_at(place: str, frame: Frame) -> Value | None:
    """The value of a variable, or of an attribute of an object."""
    root, *fields = place.split(".")
    value = frame.value_of(root)
    for name in fields:
        value = value.fields.get(name) if isinstance(value, Instance) else None
    return value


def _is_changed_in_place(value: Value | None) -> bool:
    if isinstance(value, Instance):
        return value.cls.model.by_reference
    return isinstance(value, (DictValue, ListValue))
