"""Methods of equinox modules, given to what hashes its function."""

from __future__ import annotations

import ast

from jaxlint.api import CallEvent, Reporter, Rule, TransformEvent, concerns
from jaxlint.api.syntax import dotted
from jaxlint.api.values import (
    Array,
    BoundMethod,
    DictValue,
    ExternalObject,
    Function,
    Instance,
    ListValue,
    NumpyArray,
    TupleValue,
    Unknown,
    Value,
)
from jaxlint.finding import Severity

# Primitives that look their functions up in a cache, with the positions and the names of these.
_HASHING = {
    "jax.lax.scan": ((0,), ("f",)),
    "jax.lax.while_loop": ((0, 1), ("cond_fun", "body_fun")),
    "jax.lax.fori_loop": ((2,), ("body_fun",)),
    "jax.lax.cond": ((1, 2), ("true_fun", "false_fun")),
    "jax.lax.switch": ((1,), ("branches",)),
    "jax.pure_callback": ((0,), ("callback",)),
}
_KINDS = frozenset({"jit", "pmap", "checkpoint"})
_LAYERS = "equinox.nn."
_WITHOUT_ARRAYS = frozenset(
    ["Dropout", "Identity", "Lambda", "MaxPool1d", "MaxPool2d", "AvgPool1d", "AvgPool2d", "StateIndex"]
)


class UnhashableFunction(Rule):
    """A method of an equinox module is given to what hashes it.

    ## What it does
    Finds methods of an `equinox.Module` with arrays, lists or dicts, and such modules themselves,
    as the function of `jax.jit`, `jax.pmap`, `jax.checkpoint`, `lax.scan`, `lax.while_loop`,
    `lax.fori_loop`, `lax.cond`, `lax.switch` and `jax.pure_callback`.

    ## Why is this bad?
    A method of a module is a pytree, whose hash is that of the module's fields. These
    transformations find their compiled or traced function by its hash, and arrays have none:
    `TypeError: unhashable type: 'ArrayImpl'`.

    ## Example
    ```python
    class Cell(eqx.Module):
        weight: jax.Array

        def step(self, carry, x):
            return jnp.tanh(self.weight @ carry + x), None

        def __call__(self, xs):
            return jax.lax.scan(self.step, xs[0], xs)
    ```

    ## Use instead
    ```python
        def __call__(self, xs):
            return jax.lax.scan(lambda carry, x: self.step(carry, x), xs[0], xs)
    ```
    And `eqx.filter_jit(model)`, `eqx.filter_checkpoint(model)` and `eqx.filter_pmap(model)`.

    ## Fix safety
    There is no automatic fix.

    ## When not to fix
    The error always comes. `jax.vmap`, `jax.grad`, `lax.map` and equinox's own transformations do
    not hash the function, and are not reported, nor are methods of classes with a `__hash__`.

    ## References
    - [Equinox: FAQ](https://docs.kidger.site/equinox/faq/)
    """

    code = "JAX127"
    name = "unhashable-function"
    category = "tracing"
    severity = Severity.ERROR

    def on_transform(self, event: TransformEvent, report: Reporter) -> None:
        transformed = event.transformed
        if transformed.kind in _KINDS and transformed.api.startswith("jax.") and event.decorator is None:
            given = event.node.args[0] if isinstance(event.node, ast.Call) and event.node.args else event.node
            if not event.is_caught() and not event.is_guarded(convention=False):
                self.check(transformed.target, given, f"`{transformed.api}`", report)

    @concerns(*_HASHING)
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        if not isinstance(event.node, ast.Call) or event.is_caught() or event.is_guarded(convention=False):
            return
        positions, names = _HASHING[event.name]
        api = f"`{event.name.replace('jax.lax', 'lax')}`"
        for position, value in enumerate(event.args):
            if position in positions and position < len(event.node.args):
                self.check(value, event.node.args[position], api, report)
        for keyword in event.node.keywords:
            if keyword.arg in names and keyword.arg in event.kwargs:
                self.check(event.kwargs[keyword.arg], keyword.value, api, report)

    def check(self, value: Value, node: ast.expr | ast.AST, api: str, report: Reporter) -> None:
        if isinstance(value, (ListValue, TupleValue)) and value.items:
            for item in value.items:
                self.check(item, node, api, report)
            return
        bound = (
            value.receiver
            if isinstance(value, BoundMethod) and isinstance(value.function, Function)
            else value
        )
        if not isinstance(bound, Instance) or bound.cls.kind != "equinox":
            return
        what = _unhashable(bound)
        if what is None:
            return
        name = dotted(node) or bound.cls.name
        report(
            node,
            f"{api} hashes `{name}`, and its module raises TypeError; pass a `lambda` that calls it",
            reason=f"a hash of `{bound.cls.name}` includes its fields, and `{what}` has none",
        )


def _unhashable(module: Instance, depth: int = 3) -> str | None:
    """The field of a module that has no hash; None if all may have one."""
    for owner in module.cls.mro():
        if "__hash__" in owner.namespace or "__eq__" in owner.namespace:
            return None
    for name, value in module.fields.items():
        if _has_no_hash(value, depth):
            return name
    for owner in module.cls.mro():
        for name, field in owner.fields.items():
            annotation, held = field.annotation, module.fields.get(name)
            unknown = held is None or isinstance(held, Unknown) or (isinstance(held, Array) and held.tree)
            if unknown and annotation is not None and _is_of_arrays(annotation):
                return name
    return None


def _has_no_hash(value: Value, depth: int) -> bool:
    if isinstance(value, (NumpyArray, ListValue, DictValue)):
        return True
    if isinstance(value, Array):
        return not value.tree and not value.mixed
    if isinstance(value, TupleValue):
        return depth > 0 and any(_has_no_hash(part, depth - 1) for part in value.items or ())
    if isinstance(value, ExternalObject):
        layer = value.name.removeprefix(_LAYERS)
        return layer != value.name and layer not in _WITHOUT_ARRAYS
    return (
        depth > 0
        and isinstance(value, Instance)
        and value.cls.kind == "equinox"
        and _unhashable(value, depth - 1) is not None
    )


def _is_of_arrays(annotation: ast.expr) -> bool:
    """`jax.Array`, `Float[Array, "n"]`, `eqx.nn.Linear`, `list[Layer]`: every value of the annotation has no hash."""
    if isinstance(annotation, ast.Subscript):
        name, inner = dotted(annotation.value), annotation.slice
        if name.rpartition(".")[2] in ("list", "List", "dict", "Dict"):
            return True
        parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
        jaxtyped = isinstance(parts[-1], (ast.Constant, ast.JoinedStr)) and len(parts) == 2
        return jaxtyped and _is_of_arrays(parts[0])
    name = dotted(annotation)
    last = name.rpartition(".")[2]
    return last in ("Array", "ndarray", "list", "dict", "PRNGKeyArray") or (
        ".nn." in name and last in ("Linear", "MLP", "Conv1d", "Conv2d", "Embedding", "GRUCell", "LSTMCell")
    )
