"""Gradients that each device of a `pmap` applies on its own."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxlint.finding import Severity
from jaxlint.rule import Example, Rule
from jaxlint.staging import Reporter
from jaxlint.staging.events import TransformEvent
from jaxlint.staging.syntax_facts import dotted, nodes_of
from jaxlint.staging.values import Function
from jaxlint_rules._loops import names_in

_GRADIENTS = frozenset({"grad", "value_and_grad", "filter_grad", "filter_value_and_grad"})
_COLLECTIVES = frozenset(
    {"pmean", "psum", "psum_scatter", "all_gather", "pmap_mean", "all_to_all", "ppermute"}
)
_APPLYING = frozenset({"update", "apply_gradients", "apply_gradient", "apply_updates", "map", "tree_map"})


class UnsyncedGradient(Rule):
    """Each device of a `pmap` applies its own gradient.

    ## What it does
    Finds functions under `jax.pmap(..., axis_name=...)` that differentiate and update what they are given, without `lax.pmean` or
    another collective on the gradient.

    ## Why is this bad?
    Every device sees another part of the batch, so its gradient is another one. Without a mean over the axis the copies of the
    parameters drift apart, and training goes on as if each device had been alone, silently.

    ## Example
    ```python
    @partial(jax.pmap, axis_name="batch")
    def step(params, batch):
        grads = jax.grad(loss)(params, batch)
        return jax.tree.map(lambda p, g: p - lr * g, params, grads)
    ```

    ## Use instead
    ```python
    @partial(jax.pmap, axis_name="batch")
    def step(params, batch):
        grads = jax.lax.pmean(jax.grad(loss)(params, batch), "batch")
        return jax.tree.map(lambda p, g: p - lr * g, params, grads)
    ```

    ## Fix safety
    There is no automatic fix: whether a mean or a sum is meant depends on the loss.

    ## When not to fix
    When each device trains a model of its own; it needs no `axis_name` then.

    ## References
    - [JAX: `jax.pmap`](https://docs.jax.dev/en/latest/_autosummary/jax.pmap.html)
    """

    code = "JAX1210"
    name = "unsynced-gradient"
    category = "sharding"
    severity = Severity.WARNING
    examples = (
        Example(
            "the loss is averaged and the gradient is not, or nothing is",
            """
from functools import partial
import jax
import jax.numpy as jnp
import optax

tx = optax.sgd(0.1)

def loss(params, batch):
    return jnp.mean((batch @ params) ** 2)

@partial(jax.pmap, axis_name="batch")
def train_step(params, state, batch):
    value, grads = jax.value_and_grad(loss)(params, batch)
    updates, state = tx.update(grads, state)  # finding
    return optax.apply_updates(params, updates), state, jax.lax.pmean(value, "batch")

def plain(params, batch):
    grad_fn = jax.grad(loss)
    g = grad_fn(params, batch)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, g)  # finding

step = jax.pmap(plain, axis_name="i")
""",
        ),
        Example(
            "averaged, averaged by a helper or after the update, inside of the loss; models of their own",
            """
from functools import partial
import jax
import jax.numpy as jnp
import optax

tx = optax.sgd(0.1)

def loss(params, batch):
    return jnp.mean((batch @ params) ** 2)

def whole(params, batch):
    return jax.lax.pmean(loss(params, batch), "batch")

def mean_over_devices(tree):
    return jax.lax.pmean(tree, axis_name="batch")

@partial(jax.pmap, axis_name="batch")
def averaged(params, state, batch):
    value, grads = jax.value_and_grad(loss)(params, batch)
    grads = jax.lax.pmean(grads, "batch")
    updates, state = tx.update(grads, state)
    return optax.apply_updates(params, updates), state

@partial(jax.pmap, axis_name="batch")
def helped(params, state, batch):
    grads = jax.grad(loss)(params, batch)
    updates, state = tx.update(mean_over_devices(grads), state)
    return optax.apply_updates(params, updates), state

@partial(jax.pmap, axis_name="batch")
def afterwards(params, batch):
    params = jax.tree.map(lambda p, g: p - 0.1 * g, params, jax.grad(loss)(params, batch))
    return jax.lax.pmean(params, "batch")

@partial(jax.pmap, axis_name="batch")
def inside(params, batch):
    grads = jax.grad(whole)(params, batch)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)

@jax.pmap
def ensemble(params, batch):
    grads = jax.grad(loss)(params, batch)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)
""",
        ),
    )

    def on_transform(self, event: TransformEvent, report: Reporter) -> None:
        t = event.transformed
        if t.kind != "pmap" or "axis_name" not in t.options or report.module.is_test:
            return
        function = t.target
        if not isinstance(function, Function) or function.module is not event.frame.module:
            return
        node = function.node
        if isinstance(node, ast.Lambda):
            return
        gradients = _gradients(node)
        if not gradients or self.is_synced(function, gradients):
            return
        place = next(_applied(node, gradients), None)
        if place is not None:
            report(
                place,
                f"each device applies its own gradient, and the copies of what `{t.label}` trains drift apart: take "
                "`lax.pmean` of it first",
                reason=f"{t.why.explain(report.module)}, and no collective is given {', '.join(f'`{g}`' for g in sorted(gradients))}",
                function=function.qualname,
            )

    @staticmethod
    def is_synced(function: Function, gradients: set[str]) -> bool:
        """Whether a collective may see the gradient, or what is made of it, also in a function that is called."""
        derived = set(gradients)
        for statement in _assignments(function.node):
            if names_in(statement.value) & derived:
                derived |= set().union(*(names_in(target) for target in statement.targets))
        for call in nodes_of(function.node, ast.Call):
            last = dotted(call.func).rpartition(".")[2]
            if last in _COLLECTIVES and names_in(call) & derived:
                return True
            held = function.scope.lookup(dotted(call.func)) if isinstance(call.func, ast.Name) else None
            called = held[0] if held is not None else None
            if isinstance(called, Function) and _speaks_of_collectives(called.node):
                return True
        # The loss that is differentiated may hold the collective.
        for name in {part.id for part in ast.walk(function.node) if isinstance(part, ast.Name)}:
            held = function.scope.lookup(name)
            used = held[0] if held is not None else None
            if isinstance(used, Function) and used is not function and _speaks_of_collectives(used.node):
                return True
        return any(
            _speaks_of_collectives(inner) for inner in ast.walk(function.node) if _is_inner(inner, function)
        )


def _assignments(node: ast.AST) -> list[ast.Assign]:
    return sorted(nodes_of(node, ast.Assign), key=lambda statement: statement.lineno)


def _is_inner(node: ast.AST, function: Function) -> bool:
    return isinstance(node, (ast.FunctionDef, ast.Lambda)) and node is not function.node


def _speaks_of_collectives(node: ast.AST) -> bool:
    return any(
        (isinstance(part, ast.Attribute) and part.attr in _COLLECTIVES)
        or (isinstance(part, ast.Name) and part.id in _COLLECTIVES)
        for part in ast.walk(node)
    )


def _gradients(node: ast.AST) -> set[str]:
    """Names that a function binds to gradients: `g = grad(f)(x)`, `value, g = grad_fn(x)`."""
    makers: dict[str, str] = {}
    found: set[str] = set()
    for statement in _assignments(node):
        value, target = statement.value, statement.targets[0]
        if not isinstance(value, ast.Call):
            continue
        made = dotted(value.func).rpartition(".")[2]
        if made in _GRADIENTS:
            makers[dotted(target)] = made
            continue
        inner = value.func if isinstance(value.func, ast.Call) else None
        kind = (
            dotted(inner.func).rpartition(".")[2] if inner is not None else makers.get(dotted(value.func), "")
        )
        if kind not in _GRADIENTS:
            continue
        paired = "value_and" in kind or any(k.arg == "has_aux" for k in (inner.keywords if inner else []))
        if isinstance(target, (ast.Tuple, ast.List)) and target.elts:
            target = target.elts[-1 if "value_and" in kind else 0] if paired else target.elts[0]
        if isinstance(target, ast.Name):
            found.add(target.id)
    return found


def _applied(node: ast.AST, gradients: set[str]) -> Iterator[ast.AST]:
    """Where gradients are made updates, or new parameters, of."""
    for call in sorted(nodes_of(node, ast.Call), key=lambda call: call.lineno):
        if dotted(call.func).rpartition(".")[2] in _APPLYING:
            given = set().union(
                *(names_in(a) for a in [*call.args, *(k.value for k in call.keywords)]), set()
            )
            if given & gradients:
                yield call
