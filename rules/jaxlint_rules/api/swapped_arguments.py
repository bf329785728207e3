"""Arguments in the wrong order, where no exception says so: gradients, target parameters, labels."""

from __future__ import annotations

import ast

from jaxlint.api import CallEvent, DifferentiatedEvent, Reporter, Rule, concerns
from jaxlint.api.syntax import dotted
from jaxlint.api.values import (
    Array,
    ExternalMethod,
    ExternalObject,
    Operation,
    TupleValue,
    Unknown,
    Value,
    constant,
    find_array,
    short_source,
)
from jaxlint.finding import Severity
from jaxlint_rules._callables import argument
from jaxlint_rules.api._training import is_optimiser_update, targets_of

_CROSS_ENTROPIES = (
    "optax.softmax_cross_entropy",
    "optax.losses.softmax_cross_entropy",
    "optax.safe_softmax_cross_entropy",
    "optax.losses.safe_softmax_cross_entropy",
)
_CASTS = frozenset({"astype", "reshape", "asarray", "array"})


class SwappedArguments(Rule):
    """Two arguments are in the wrong order, and no exception is raised.

    ## What it does
    Finds calls whose arguments certainly belong to each other's place:

    - `tx.update(params, state, grads)`, where the third argument is a gradient and the first is not;
    - `target = optax.incremental_update(target, params, 0.005)`, which replaces the target by nearly
      all of the new parameters: the new ones come first;
    - `state, updates = tx.update(grads, state)`, where the updates become the state;
    - `grads, loss = jax.value_and_grad(f)(params)`, where the optimizer gets the value of `f`;
    - one optimizer state in two calls of `tx.update`, with the gradients of two models;
    - `optax.softmax_cross_entropy(labels, logits)`, where the labels come from `jax.nn.one_hot`.

    ## Why is this bad?
    The arguments have the same structure and shapes, so nothing fails. The optimizer treats
    parameters as gradients, the target follows at once, and the loss has no minimum.

    ## Example
    ```python
    def step(params, state, batch):
        grads = jax.grad(loss)(params, batch)
        return tx.update(params, state, grads)
    ```

    ## Use instead
    ```python
    def step(params, state, batch):
        grads = jax.grad(loss)(params, batch)
        return tx.update(grads, state, params)
    ```

    ## Fix safety
    There is no automatic fix.

    ## When not to fix
    Keep it if the order is meant, for example in a test of an optimizer.

    ## References
    - [optax.incremental_update](https://optax.readthedocs.io/en/latest/api/apply_updates.html)
    """

    code = "JAX822"
    name = "swapped-arguments"
    category = "api"
    severity = Severity.WARNING

    def __init__(self) -> None:
        # By function and state: what the first gradients that met it are gradients of.
        self.met: dict[tuple[ast.AST, str], tuple[str, str, ast.AST]] = {}
        self.losses: dict[int, Operation] = {}  # what computed the values that `value_and_grad` returns

    def on_differentiated(self, event: DifferentiatedEvent, report: Reporter) -> None:
        made = _made(event.result)
        if made is not None and event.transformed.kind == "value_and_grad":
            self.losses[id(made)] = made

    @concerns(
        "optax.incremental_update",
        *_CROSS_ENTROPIES,
        callees=("ExternalMethod", "Unknown"),
        methods=("update", "apply_gradients"),
    )
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        node = event.node
        if not isinstance(node, ast.Call) or any(isinstance(given, ast.Starred) for given in node.args):
            return
        if event.name == "optax.incremental_update":
            found = _target_first(event, node, report)
        elif event.name:
            found = _labels_first(event)
        else:
            found = (
                _gradients_last(event, node)
                or _state_first(event, node, report)
                or self.crossed(event, node)
                or self.loss_as_gradients(event)
            )
        if found:
            message, reason = found
            report(node, message, reason=reason)

    def loss_as_gradients(self, event: CallEvent) -> tuple[str, str] | None:
        """`grads, loss = value_and_grad(f)(params)`: the pair is unpacked the other way round."""
        if is_optimiser_update(event):
            given = argument(event, 0, "updates")
        elif isinstance(event.callee, ExternalMethod) and _is_nnx(event.callee.receiver):
            given = argument(event, 1, "grads")
        else:
            given = event.kwargs.get("grads")
        made = _made(given) if given is not None else None
        if made is None or id(made) not in self.losses:
            return None
        return (
            "the optimizer gets the loss: `value_and_grad` returns `(value, gradients)`; swap the two names",
            f"line {getattr(made.node, 'lineno', '?')} computes the value that is passed as gradients",
        )

    def crossed(self, event: CallEvent, node: ast.Call) -> tuple[str, str] | None:
        """One state with the gradients of two models: each has a state of its own."""
        state = dotted(node.args[1]) if len(node.args) > 1 else ""
        gradient = find_array(event.args[0]) if is_optimiser_update(event) and event.args else None
        if not state or gradient is None or gradient.role != "grad" or gradient.like is None:
            return None
        of, given = gradient.like.name, short_source(node.args[0])
        optimiser = dotted(node.func)
        first, before, place = self.met.setdefault(
            (event.frame.owner, f"{optimiser}({state})"), (of, given, node)
        )
        if first == of or not of or place is node:
            return None
        if state in map(dotted, targets_of(place, event.frame.module)):
            return None  # the first call gives the name a new state
        return (
            f"`{given}` updates `{state}`, the optimizer state of other parameters; pass its own state",
            f"line {getattr(place, 'lineno', '?')} updates the same state with `{before}`",
        )


def _is_nnx(receiver: Value) -> bool:
    """Whether it is an optimizer of `flax.nnx`, whose `update` takes the model first."""
    return isinstance(receiver, ExternalObject) and receiver.name.startswith("flax.nnx.")


def _made(loss: Value) -> Operation | None:
    """The operation that computed a loss, which may be the first of a pair."""
    if isinstance(loss, TupleValue) and loss.items:
        loss = loss.items[0]
    return loss.made if isinstance(loss, Array) and loss.certain else None


def _gradients_last(event: CallEvent, node: ast.Call) -> tuple[str, str] | None:
    """`tx.update(params, state, grads)`."""
    if not is_optimiser_update(event) or len(event.args) < 2 or not node.args:
        return None
    first, last = event.args[0], argument(event, 2, "params")
    gradient = find_array(last) if last is not None else None
    if gradient is None or gradient.role != "grad" or gradient.like is None:
        return None
    if not isinstance(first, (Array, Unknown)) or first.origin is not gradient.like:
        return None
    given = short_source(node.args[0])
    return (
        f"`update` takes the gradients first, but gets `{given}` there; swap the two arguments",
        f"the third argument is the gradient with respect to `{given}`",
    )


def _state_first(event: CallEvent, node: ast.Call, report: Reporter) -> tuple[str, str] | None:
    """`state, updates = tx.update(grads, state)`: the pair is unpacked the other way round."""
    given = node.args[1] if len(node.args) > 1 else None
    targets = targets_of(node, report.module)
    if not is_optimiser_update(event) or given is None or len(targets) != 2:
        return None
    first, second = (dotted(target) for target in targets)
    if not first or first != dotted(given) or first == second:
        return None
    return (
        f"`update` returns the updates first, and they become `{first}`; swap the two names",
        f"the call takes `{first}` as its state",
    )


def _target_first(event: CallEvent, node: ast.Call, report: Reporter) -> tuple[str, str] | None:
    """`target = incremental_update(target, params, 0.005)`: a small step from the new to the old parameters."""
    size = constant(argument(event, 2, "step_size")) if argument(event, 2, "step_size") is not None else None
    if not isinstance(size, (int, float)) or not 0 < size < 0.5 or len(node.args) < 2:
        return None
    targets = targets_of(node, report.module)
    if len(targets) != 1 or ast.unparse(targets[0]) != ast.unparse(node.args[0]):
        return None
    new, old = (short_source(given) for given in node.args[:2])
    return (
        f"this keeps {1 - size:.3g} of `{old}`: the new parameters come first; swap `{new}` and `{old}`",
        f"the result is assigned to `{new}`, but a step of {size} keeps little of it",
    )


def _labels_first(event: CallEvent) -> tuple[str, str] | None:
    """`softmax_cross_entropy(one_hot(labels), logits)`."""
    value = argument(event, 0, "logits")
    while (
        isinstance(value, Array) and value.made is not None and value.made.name in _CASTS and value.made.args
    ):
        value = value.made.args[0]
    if not isinstance(value, Array) or value.made is None or value.made.full != "jax.nn.one_hot":
        return None
    other = argument(event, 1, "labels")
    if isinstance(other, Array) and other.made is not None and other.made.full == "jax.nn.one_hot":
        return None
    return (
        "the first argument is the logits, but gets one-hot labels; swap the two arguments",
        f"`one_hot` at line {getattr(value.made.node, 'lineno', '?')} creates the labels",
    )
