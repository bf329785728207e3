"""Functional updates whose result is discarded."""

from __future__ import annotations

import ast

from jaxlint.api import CallEvent, Reporter, Rule, concerns
from jaxlint.api.syntax import dotted
from jaxlint.api.tables import AT_UPDATES
from jaxlint.api.values import (
    Array,
    AtIndexer,
    BoundMethod,
    ExternalMethod,
    ExternalObject,
    Function,
    Unknown,
    Value,
)
from jaxlint.finding import Severity
from jaxlint_rules._fixes import propose
from jaxlint_rules._names import external_name

_AT_METHODS = frozenset(AT_UPDATES) - {"get"}
# Methods that modify a NumPy array or a dataclass of that name, but return a new object here.
_ARRAY_METHODS = frozenset({"sort", "astype", "reshape", "transpose", "clip", "swapaxes"})
_STATE_METHODS = frozenset({"replace", "_replace", "apply_gradients"})
_OF_TREES = ("jax.tree.map",)
_FUNCTIONS = {
    "jax.numpy.fill_diagonal": "jnp.fill_diagonal",
    "jax.numpy.put": "jnp.put",
    "jax.numpy.place": "jnp.place",
    "jax.numpy.put_along_axis": "jnp.put_along_axis",
    "jax.numpy.append": "jnp.append",
    "jax.numpy.insert": "jnp.insert",
    "jax.numpy.delete": "jnp.delete",
    "jax.lax.dynamic_update_slice": "lax.dynamic_update_slice",
    "jax.lax.dynamic_update_slice_in_dim": "lax.dynamic_update_slice_in_dim",
    "jax.lax.dynamic_update_index_in_dim": "lax.dynamic_update_index_in_dim",
    "jax.lax.scatter": "lax.scatter",
    "jax.lax.scatter_add": "lax.scatter_add",
    "jax.lax.with_sharding_constraint": "lax.with_sharding_constraint",
    "jax.lax.stop_gradient": "lax.stop_gradient",
    "jax.lax.optimization_barrier": "lax.optimization_barrier",
    "jax.random.permutation": "random.permutation",
    "jax.random.shuffle": "random.shuffle",
    "optax.apply_updates": "optax.apply_updates",
    "optax.incremental_update": "optax.incremental_update",
    "dataclasses.replace": "dataclasses.replace",
    "equinox.tree_at": "eqx.tree_at",
    "equinox.apply_updates": "eqx.apply_updates",
    "equinox.nn.inference_mode": "eqx.nn.inference_mode",
    "equinox.tree_inference": "eqx.tree_inference",
}


class DiscardedUpdate(Rule):
    """The result of a functional update is discarded.

    ## What it does
    Finds functional updates that stand alone as a statement: `x.at[i].set(v)`,
    `state.replace(...)`, `state.apply_gradients(...)`, `optax.apply_updates(params, updates)`,
    `lax.dynamic_update_slice(...)`, `lax.with_sharding_constraint(x, sharding)`,
    `jnp.fill_diagonal(...)`, `x.sort()`, `x.astype(...)`, `jax.tree.map(lambda p: p * 0.9, params)`
    and similar calls. Also finds calls of your own functions that only return such an update.
    `jax.random.split(key)` as a statement is for `discarded-split`.

    ## Why is this bad?
    JAX arrays and the dataclasses that hold them are immutable. Such a call returns a new object
    and does not change the old one. The statement has no effect, so the results are wrong and no
    exception says so.

    ## Example
    ```python
    x.at[0].set(1.0)
    ```

    ## Use instead
    ```python
    x = x.at[0].set(1.0)
    ```

    ## Fix safety
    Unsafe: the fix assigns the result to the updated variable, which changes what the program
    computes, as intended. Updates of unused variables, outer variables and attributes are not
    rewritten.

    ## When not to fix
    A benchmark or test may call a function only for its time or its exception; assign the result to
    `_` to say so. Methods of Pallas refs, NumPy arrays and sets change their object and are not
    reported.

    ## References
    - [jax.numpy.ndarray.at](https://docs.jax.dev/en/latest/_autosummary/jax.numpy.ndarray.at.html)
    """

    code = "JAX109"
    name = "discarded-update"
    category = "tracing"
    severity = Severity.ERROR
    fixable = "unsafe"

    @concerns(*_OF_TREES, *_FUNCTIONS, where=lambda name: not name, discarded=True)
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        what = _updated(event)
        if not what or event.is_caught():
            return  # in a try: to see whether it raises
        fix = None
        if not what.endswith(")"):  # the argument that a function updates is unknown
            fix = propose(
                report, event.node, "bind-result", "Assign the result", safe=False, **_binding(event)
            )
        if raised := _refuses(event):
            report(
                event.node,
                f"{what} raises {raised} for a JAX array; pass `inplace=False` and assign the result",
                reason="JAX arrays are immutable, and the function changes its argument unless `inplace` is False",
                fix=fix,
            )
            return
        report(
            event.node,
            f"{what} returns a new object, which is discarded here; assign the result",
            reason="arrays and pytrees are immutable, so a statement without an assignment has no effect",
            fix=fix,
        )


# What these raise without `inplace=False`.
_IN_PLACE = {
    "fill_diagonal": "NotImplementedError",
    **dict.fromkeys(("put", "place", "put_along_axis"), "ValueError"),
}


def _refuses(event: CallEvent) -> str:
    """The exception of a function that would have to change its argument; "" if it returns a new array."""
    leaf = event.name.rpartition(".")[2] if event.name in _FUNCTIONS else ""
    return _IN_PLACE.get(leaf, "") if "inplace" not in event.kwargs else ""


def _returned_update(callee: Value) -> str:
    """The update that a project function only returns, or ""."""
    function = callee.function if isinstance(callee, BoundMethod) else callee
    if not isinstance(function, Function) or isinstance(function.node, ast.Lambda):
        return ""
    (*before, last) = function.node.body
    described = all(isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant) for s in before)
    call = last.value if described and isinstance(last, ast.Return) else None
    if not isinstance(call, ast.Call):
        return ""
    return _FUNCTIONS.get(external_name(call.func, function.scope), "")


def _binding(event: CallEvent) -> dict[str, object]:
    """The updated argument, and what else the call needs."""
    if event.name == "jax.tree.map":
        return {"argument": 1}
    if event.name not in _FUNCTIONS:
        return {}
    leaf = event.name.rpartition(".")[2]
    found: dict[str, object] = {"argument": 1 if leaf == "tree_at" else 0}
    if leaf in _IN_PLACE:
        found["keyword"] = "inplace=False"  # without it they raise
    return found


def _computes(event: CallEvent) -> bool:
    """Whether the function passed to `tree.map` is a lambda that can only compute: it calls nothing."""
    function = event.args[0] if event.args else None
    if not isinstance(function, Function) or not isinstance(function.node, ast.Lambda):
        return False
    parts = list(ast.walk(function.node.body))
    calls = any(isinstance(part, (ast.Call, ast.NamedExpr)) for part in parts)
    return not calls and any(isinstance(part, ast.BinOp) for part in parts)


def _replaces_fields(event: CallEvent, method: str) -> bool:
    """Whether `x._replace(a=b)` or `x.replace(a=b)` gets new fields, where the class of `x` is not seen.

    Only named tuples have `_replace`, apart from a class that calls its own private method. A string or a path has
    `replace` too, but takes no keywords; a pytree of arrays is neither.
    """
    callee, call = event.callee, event.node
    assert isinstance(call, ast.Call)
    assert isinstance(call.func, ast.Attribute)
    if not call.keywords or call.args or dotted(call.func.value).partition(".")[0] in ("self", "cls"):
        return False
    of_arrays = isinstance(callee, ExternalMethod) and isinstance(callee.receiver, Array)
    if method == "replace":
        return of_arrays and "inplace" not in event.kwargs
    return method == "_replace" and (of_arrays or isinstance(callee, Unknown))


def _updated(event: CallEvent) -> str:
    """The words for the update in the call, or "" if the call is not an update."""
    if event.name in _OF_TREES:
        return f"`{event.name}`" if _computes(event) else ""
    if event.name in _FUNCTIONS:
        return f"`{_FUNCTIONS[event.name]}`"
    callee = event.callee
    call = event.node
    update = _returned_update(callee)
    if update and isinstance(call, ast.Call):
        return f"`{dotted(call.func)}` (`{update}`)"
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return ""
    method = call.func.attr
    if _replaces_fields(event, method):
        return f"`.{method}`"
    if isinstance(callee, ExternalMethod):
        receiver = callee.receiver
        if isinstance(receiver, AtIndexer):
            if receiver.indexed and receiver.array.role != "ref" and method in _AT_METHODS:
                return f"`.at[...].{method}`"
        elif isinstance(receiver, Array):
            if method in _ARRAY_METHODS and receiver.certain and not receiver.tree:
                return f"`.{method}()` of a JAX array"
            if method == "apply_gradients":
                return "`.apply_gradients`"
        return ""
    if isinstance(callee, ExternalObject) and callee.name == "dataclasses.replace":
        return f"`.{method}`" if method in _STATE_METHODS else ""
    if method == "apply_gradients" and "grads" in event.kwargs:
        owner = getattr(getattr(callee, "receiver", None), "cls", None)
        immutable = isinstance(callee, Unknown) or getattr(owner, "kind", "") == "pytree"
        return "`.apply_gradients`" if immutable else ""
    # A value not known to be an array: no other library has `.at[...]` with these methods.
    if isinstance(callee, Unknown) and isinstance(call.func.value, ast.Subscript):
        base = call.func.value.value
        if isinstance(base, ast.Attribute) and base.attr == "at" and method in _AT_METHODS - {"add", "apply"}:
            return f"`.at[...].{method}`"
    return ""
