"""Indices that are out of bounds."""

from __future__ import annotations

import ast

from jaxlint.api import BranchesEvent, CallEvent, Event, OperationEvent, Reporter, Rule, concerns
from jaxlint.api.syntax import dotted, nodes_of
from jaxlint.api.tables import AT_UPDATES
from jaxlint.api.values import (
    Array,
    AtIndexer,
    ExternalMethod,
    ExternalObject,
    ListValue,
    Static,
    TupleValue,
    Value,
    beyond,
    constant,
    is_inexact,
    out_of_range,
    shape_text,
    symbolic_shape,
)
from jaxlint.finding import Severity
from jaxlint_rules._callables import argument
from jaxlint_rules._names import function_around, last_name, names_in, updated_at

# The number of rows of an embedding, its first argument.
_EMBEDDINGS = {
    "flax.linen.Embed": "num_embeddings",
    "flax.nnx.Embed": "num_embeddings",
    "haiku.Embed": "vocab_size",
}
_LOSSES = (
    "optax.softmax_cross_entropy_with_integer_labels",
    "optax.losses.softmax_cross_entropy_with_integer_labels",
)
_SEGMENTS = tuple(f"jax.ops.segment_{name}" for name in ("sum", "max", "min", "prod"))
_AT = frozenset(AT_UPDATES) - {"get"}
_MANY = 2**31
# The positions of the starts, and of the sizes or the update; whether there is one start for each axis.
_DYNAMIC = {
    "dynamic_slice": (1, "start_indices", 2, "slice_sizes", True),
    "dynamic_slice_in_dim": (1, "start_index", 2, "slice_size", False),
    "dynamic_update_slice": (2, "start_indices", 1, "update", True),
    "dynamic_update_slice_in_dim": (2, "start_index", 1, "update", False),
}


class IndexOutOfRange(Rule):
    """An index is out of bounds.

    ## What it does
    Finds indices that certainly leave their axis, as numbers or as ranges that the program states,
    such as draws of `randint`, `arange`, the index of a `fori_loop` and what `jnp.clip` leaves:

    - `x[i]`, `x.at[i].set(v)` and `jnp.take(x, i)`;
    - the rows of an embedding, and integer labels beside the logits of a loss of optax;
    - the start of `lax.dynamic_slice` and `lax.dynamic_update_slice`;
    - `jax.nn.one_hot(i, n)`, `lax.switch(i, branches)` and `jax.ops.segment_sum(x, i, n)`.

    ## Why is this bad?
    JAX does not raise `IndexError`. `x[i]` clamps the index: beyond the end it returns the last
    element, before the start the first. `switch` and the dynamic slices clamp as well. `jnp.take`
    and the losses return NaN, `one_hot` a row of zeros; `segment_sum` and `.at[i].set` drop the
    element. The program computes with that.

    ## Example
    ```python
    alpha_bar = jnp.cumprod(1 - jnp.linspace(1e-4, 0.02, 1000))
    t = jax.random.randint(key, (16,), 1, 1001)
    noise_level = alpha_bar[t]
    ```

    ## Use instead
    ```python
    t = jax.random.randint(key, (16,), 0, 1000)
    noise_level = alpha_bar[t]
    ```

    ## Fix safety
    There is no automatic fix: only you know which element is meant.

    ## When not to fix
    If clamping is intended, say so with `jnp.take(x, i, mode="clip")` or
    `x.at[i].get(mode="clip")`.

    ## References
    - [JAX: out-of-bounds indexing](https://docs.jax.dev/en/latest/notebooks/Common_Gotchas_in_JAX.html#out-of-bounds-indexing)
    """

    code = "JAX122"
    name = "index-out-of-range"
    category = "tracing"
    severity = Severity.WARNING
    needs_whole_program = True
    follows_calls = True

    @concerns("getitem", "take", "one_hot", *_DYNAMIC)
    def on_operation(self, event: OperationEvent, report: Reporter) -> None:
        operation = event.operation
        if operation.name == "one_hot":
            self.check_count(event, operation.operand(0, "x"), operation.operand(1, "num_classes"), report)
            return
        if operation.name.startswith("dynamic_"):
            self.check_start(event, report)
            return
        array, index = operation.operand(0, "a"), operation.operand(1, "indices")
        if not isinstance(array, Array) or not array.certain or array.tree or array.role in ("ref", "key"):
            return
        shape = symbolic_shape(array)
        if shape is None or index is None:
            return
        if operation.name == "take":
            if "mode" in operation.kwargs or len(operation.args) > 4:
                return
            axis = constant(operation.operand(2, "axis"))
            if type(axis) is int and -len(shape) <= axis < len(shape):
                size = shape[axis]
                reached = beyond(index, -size, size) if isinstance(size, int) else None
                if reached is not None:
                    what = f"axis {axis} of shape {shape_text(shape)} has {_number(size, 'element')}; JAX returns {_filled(array)}"
                    self.tell(event, index, reached, what, report)
            return
        found = out_of_range(shape, index)
        if found is None or found[2] == 0:
            return  # an empty array stands in for one that is set later
        number, axis, size = found
        what = f"axis {axis} of shape {shape_text(shape)} has {_number(size, 'element')}; JAX clamps it"
        self.tell(event, index, number, what, report)

    @concerns(*_LOSSES, *_SEGMENTS, callees=("ExternalObject", "ExternalMethod"))
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        if isinstance(event.callee, ExternalMethod):
            self.check_update(event, event.callee.receiver, report)
        elif event.name in _SEGMENTS:
            if "mode" not in event.kwargs:
                ids, count = argument(event, 1, "segment_ids"), argument(event, 2, "num_segments")
                self.check_count(event, ids, count, report)
        elif event.name in _LOSSES:
            logits, labels = argument(event, 0, "logits"), argument(event, 1, "labels")
            shape = symbolic_shape(logits) if isinstance(logits, Array) else None
            reached = beyond(labels, -_MANY, shape[-1]) if shape else None
            if reached is not None and shape and "axis" not in event.kwargs:
                what = f"the logits of shape {shape_text(shape)} have {shape[-1]} class{'es' * (shape[-1] != 1)}; the loss is NaN"
                self.tell(event, labels, reached, what, report)
        elif isinstance(event.callee, ExternalObject) and event.callee.name in _EMBEDDINGS:
            count = argument(event.callee, 0, _EMBEDDINGS[event.callee.name])
            self.check_count(event, event.args[0] if event.args else None, count, report)

    def on_branches(self, event: BranchesEvent, report: Reporter) -> None:
        count = len(event.functions)
        if event.api.endswith("switch") and count > 1 and event.choice is not None:
            self.check_count(event, event.choice, Static(count), report)

    def check_update(self, event: CallEvent, place: Value, report: Reporter) -> None:
        """`x.at[i].set(v)`."""
        if not isinstance(place, AtIndexer) or place.index is None or "mode" in event.kwargs:
            return
        if event.callee.name not in _AT:  # type: ignore[attr-defined]
            return
        array = place.array
        shape = symbolic_shape(array)
        if shape is None or not array.certain or array.tree or array.role in ("ref", "key"):
            return
        found = out_of_range(shape, place.index)
        if found is not None and found[2] > 0 and not isinstance(place.index, Static):
            number, axis, size = found
            what = f"axis {axis} of shape {shape_text(shape)} has {_number(size, 'element')}; JAX drops the update"
            self.tell(event, place.index, number, what, report)

    def check_start(self, event: OperationEvent, report: Reporter) -> None:
        """A slice that starts too late, so that JAX moves it."""
        operation = event.operation
        at, starts, taken_at, taken, several = _DYNAMIC[operation.name]
        start, sizes = operation.operand(at, starts), operation.operand(taken_at, taken)
        whole = symbolic_shape(operation.args[0]) if operation.args else None
        if whole is None or sizes is None or start is None:
            return
        lengths = _lengths(sizes)
        parts = [start]
        axes = [constant(operation.operand(3, "axis") or Static(0))]
        if several:
            parts = start.elements() if isinstance(start, (TupleValue, ListValue)) else []
            axes = list(range(len(parts)))
        elif taken == "slice_size":
            lengths = {axes[0]: constant(sizes)}
        if not all(type(axis) is int and -len(whole) <= axis < len(whole) for axis in axes):
            return
        for axis, part in zip(axes, parts, strict=True):
            size, length = whole[axis], lengths.get(axis)
            if not isinstance(size, int) or type(length) is not int:
                continue
            last = size - length
            reached = beyond(part, -size, last + 1)
            if reached is not None and last >= 0:
                what = f"a slice of {length} in axis {axis} of shape {shape_text(whole)} starts at {last} at most; JAX moves it"
                self.tell(event, part, reached, what, report)
                return

    def check_count(self, event: Event, index: Value | None, count: Value | None, report: Reporter) -> None:
        """An index into so many classes, segments, rows or branches. Negative ones are left out on purpose."""
        size = constant(count)
        branches = isinstance(event, BranchesEvent)
        reached = beyond(index, 0 if branches else -_MANY, size) if type(size) is int else None
        if reached is None:
            return
        if branches:
            what = f"there are {size} branches; JAX clamps it"
        elif isinstance(event, OperationEvent):
            what = f"`one_hot` has {size} class{'es' * (size != 1)}; its row is all zeros"
        else:
            segments = isinstance(event, CallEvent) and event.name in _SEGMENTS
            what = (
                f"`num_segments` is {size}; JAX drops it"
                if segments
                else f"the embedding has {_number(size, 'row')}; JAX {_read_beyond(event)}"
            )
        self.tell(event, index, reached, what, report)

    @staticmethod
    def tell(event: Event, index: Value | None, number: int, what: str, report: Reporter) -> None:
        frame = event.frame
        if event.is_caught() or event.is_guarded(convention=False) or frame.is_chosen_by_size():
            return
        if _is_chosen_by_index(event) or any(loop.is_beyond_its_items() for loop in frame.loops):
            return
        reaches = "index" if isinstance(index, Static) else "the index reaches"
        report(
            event.node,
            f"{reaches} {number} is out of bounds: {what}"
            if reaches == "index"
            else f"{reaches} {number}, but {what}",
            reason="JAX raises no IndexError",
        )


def _number(size: object, what: str) -> str:
    return f"{size} {what}{'s' * (size != 1)}"


def _filled(array: Array) -> str:
    """What `jnp.take` returns beyond the end: NaN for floats, the lowest or highest number for integers."""
    return "NaN" if is_inexact(array) else "a fill value"


def _read_beyond(event: Event) -> str:
    """What an embedding does beyond its end: haiku's indexes its table, flax's takes from it."""
    layer = event.callee if isinstance(event, CallEvent) else None
    indexes = isinstance(layer, ExternalObject) and layer.name == "haiku.Embed"
    return "clamps it" if indexes else "returns NaN"


def _is_chosen_by_index(event: Event) -> bool:
    """Whether the code is a branch of `lax.cond` whose predicate tests the values behind the index: `i < n -
    1` before `x[i + 1]`.
    """
    module, node = event.frame.module, event.node
    at = updated_at(node) if isinstance(node, ast.Call) else None
    index = at[1] if at is not None else getattr(node, "slice", None)
    names = names_in(index)
    for above in module.ancestors(node) if names else ():
        if isinstance(above, ast.Lambda):
            calls = [module.parents.get(above)]
        elif isinstance(above, ast.FunctionDef):
            around = function_around(above, module)
            given = nodes_of(around, ast.Call) if around is not None else []
            calls = [call for call in given if any(dotted(one) == above.name for one in call.args)]
        else:
            continue
        for call in calls:
            if isinstance(call, ast.Call) and last_name(call.func) in ("cond", "switch") and call.args:
                if names & names_in(call.args[0]):
                    return True
    return False


def _lengths(sizes: Value) -> dict[object, object]:
    """The length of a slice along each axis, from its sizes or from the update."""
    shape = symbolic_shape(sizes) if isinstance(sizes, Array) else constant(sizes)
    return dict(enumerate(shape)) if isinstance(shape, tuple) else {}
