"""Gradients and results that devices compute without a collective."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

from jaxlint.api import Reporter, Rule, TransformEvent
from jaxlint.api.syntax import all_parameters, dotted, name_loads, nodes_of, positional_parameters
from jaxlint.api.tables import ARRAY_METHODS
from jaxlint.api.values import (
    BoundMethod,
    DictValue,
    External,
    ExternalObject,
    Function,
    ListValue,
    Transformed,
    TupleValue,
    Value,
    constant,
    is_none,
)
from jaxlint.finding import Severity
from jaxlint_rules._callables import innermost
from jaxlint_rules._names import bound_by, last_name, names_in, passed

_GRADIENTS = frozenset({"grad", "value_and_grad", "filter_grad", "filter_value_and_grad"})
_COLLECTIVES = frozenset(
    """pmean psum pmax pmin psum_scatter all_gather all_gather_invariant pmap_mean all_to_all ragged_all_to_all ppermute
    pshuffle pbroadcast""".split()  # noqa: SIM905
)
_CHECKS = ("check_vma", "check_rep")
_PLACES = frozenset({"axis_index", "shard_map"})
_KNOWN = ("jax.", "jnp.", "lax.", "np.", "nn.", "math.", "functools.", "optax.")
_METADATA = frozenset({"shape", "dtype", "ndim", "size"})
_LIKE = frozenset({"zeros_like", "ones_like", "full_like", "empty_like", "len"})
_DEPTH = 3  # calls below the mapped function
_APPLYING = frozenset({"update", "apply_gradients", "apply_gradient", "apply_updates", "map", "tree_map"})


class UnsyncedGradient(Rule):
    """Each device of a `pmap` applies its own gradient.

    ## What it does
    Finds functions and methods under `jax.pmap(..., axis_name=...)` that take a gradient and update
    their parameters without `lax.pmean` or another collective on the gradient. Under
    `jax.shard_map(..., check_vma=False)` it finds those that apply a collective only to the loss,
    also if they return the gradient and `out_specs` declares it as replicated.
    It also finds functions under `jax.shard_map` that shard their inputs, call no collective, and
    declare a replicated result in `out_specs`.

    ## Why is this bad?
    Every device sees another part of the batch, so the gradients differ. Without a mean over the
    axis, the copies of the parameters diverge, as if each device trained alone, without an
    exception. If `shard_map` checks its `out_specs`, it raises `ValueError`.

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
    There is no automatic fix: whether you need a mean or a sum depends on the loss.

    ## When not to fix
    Keep it if each device trains a model of its own; then you need no `axis_name`.

    ## References
    - [JAX: `jax.pmap`](https://docs.jax.dev/en/latest/_autosummary/jax.pmap.html)
    """

    code = "JAX1210"
    name = "unsynced-gradient"
    category = "sharding"
    severity = Severity.WARNING
    needs_whole_program = True

    def on_transform(self, event: TransformEvent, report: Reporter) -> None:
        t = event.transformed
        if report.module.is_test:
            return
        function = t.target.function if isinstance(t.target, BoundMethod) else t.target
        if t.kind == "pmap":
            function = innermost(function)  # `pmap(jit(step))`
        if t.kind == "shard_map":
            if not _splits_and_replicates(t):
                return
            self.check_replicated(event, report)
            if (
                not _is_unchecked(t)
                or not isinstance(function, Function)
                or not _speaks_of_collectives(function.node)
            ):
                return  # its callees may reduce the gradient
        elif t.kind != "pmap" or "axis_name" not in t.options:
            return
        if not isinstance(function, Function) or function.module is not event.frame.module:
            return
        node = function.node
        if isinstance(node, ast.Lambda):
            return
        gradients = _gradients(node)
        if not gradients and t.kind == "pmap":
            self.check_helpers(event, function, report)
        if not gradients or self.is_synced(function, gradients):
            return
        place = next(_applied(node, gradients), None)
        if place is None and t.kind == "shard_map":
            place = next(_returned(node, gradients), None)
        if place is not None:
            report(
                place,
                f"each device returns its own gradient from `{t.label}`, and JAX keeps only one; use `lax.pmean`"
                if isinstance(place, ast.Return)
                else f"each device applies its own gradient: the copies in `{t.label}` diverge; use `lax.pmean`",
                reason=f"no collective gets {', '.join(f'`{g}`' for g in sorted(gradients))}; {t.why.explain(report.module)}",
                function=function.qualname,
            )

    def check_helpers(self, event: TransformEvent, function: Function, report: Reporter) -> None:
        """A function of the module that a mapped function calls to take a gradient and apply it, where nothing that the
        mapped function names speaks of a collective."""
        helpers = list(_helpers(function, _DEPTH))
        if any(_speaks_of_collectives(one.node) for one in (function, *helpers)):
            return
        for helper in helpers:
            if isinstance(helper.node, ast.Lambda) or self.is_synced(helper, _gradients(helper.node)):
                continue
            place = next(_applied(helper.node, _gradients(helper.node)), None)
            if place is not None:
                label = event.transformed.label
                report(
                    place,
                    f"each device applies its own gradient: the copies in `{label}` diverge; use `lax.pmean`",
                    reason=f"`{label}` calls `{helper.name}`, and neither calls a collective; "
                    f"{event.transformed.why.explain(report.module)}",
                    function=helper.qualname,
                )
                return

    def check_replicated(self, event: TransformEvent, report: Reporter) -> None:
        """A result that `shard_map` declares as replicated, though each device computes it from its shard."""
        t, function = event.transformed, event.transformed.target
        if not isinstance(function, Function) or function.module is not event.frame.module:
            return
        unchecked = _is_unchecked(t)
        if _talks(function, _DEPTH) or not (unchecked or _returns_parts(t, function)):
            return
        report(
            event.decorator or event.node,
            f"the result of `{t.label}` differs between devices, against `out_specs`; use `lax.pmean` or `lax.psum`",
            reason="the function calls no collective, and "
            + ("the check of `shard_map` for that is off" if unchecked else "tracing it raises ValueError"),
        )

    @staticmethod
    def is_synced(function: Function, gradients: set[str]) -> bool:
        """Whether a collective may reduce the gradient or a value computed from it, also in a callee."""
        derived = set(gradients)
        for statement in _assignments(function.node):
            if names_in(statement.value) & derived:
                derived |= bound_by(statement)
        for call in nodes_of(function.node, ast.Call):
            last = last_name(call.func)
            if last in _COLLECTIVES and names_in(call) & derived:
                return True
            called = function.scope.value_of(dotted(call.func)) if isinstance(call.func, ast.Name) else None
            if isinstance(called, Function) and _speaks_of_collectives(called.node):
                return True
        # The differentiated loss may contain the collective.
        for name in {part.id for part in ast.walk(function.node) if isinstance(part, ast.Name)}:
            used = function.scope.value_of(name)
            if isinstance(used, Function) and used is not function and _speaks_of_collectives(used.node):
                return True
        return any(
            _speaks_of_collectives(inner) for inner in ast.walk(function.node) if _is_inner(inner, function)
        )


def _helpers(function: Function, depth: int) -> Iterator[Function]:
    """The functions of the module that a function names, and those that they name."""
    for name in {part.id for part in name_loads(function.node)}:
        held = function.scope.value_of(name)
        used = innermost(held) if held is not None else None
        if isinstance(used, Function) and used.node is not function.node and used.module is function.module:
            yield used
            if depth > 1:
                yield from _helpers(used, depth - 1)


def _is_unchecked(t: Transformed) -> bool:
    """Whether `shard_map` must trust its `out_specs`."""
    return any(constant(t.options[name]) is False for name in _CHECKS if name in t.options)


def _splits_and_replicates(t: Transformed) -> bool:
    """Whether a function under `shard_map` receives shards, and declares its results as replicated."""
    results, given = t.options.get("out_specs"), t.options.get("in_specs")
    if results is None or given is None or not _names_no_axis(results) or _names_no_axis(given):
        return False
    return _may_name_an_axis(given)


def _returns_parts(t: Transformed, function: Function) -> bool:
    """Whether all results of a function depend only on shards, and not just on their shape or dtype."""
    specs = t.options["in_specs"]
    names = [parameter.arg for parameter in positional_parameters(function.node)]
    if isinstance(specs, (TupleValue, ListValue)):
        given = list(zip(names, specs.items or (), strict=False))
    else:
        given = [(name, specs) for name in names]
    parts = {name for name, spec in given if _may_name_an_axis(spec)}
    for statement in _assignments(function.node):
        if _numbers_in(statement.value) & parts:
            parts |= bound_by(statement)
    if isinstance(function.node, ast.Lambda):
        return bool(_numbers_in(function.node.body) & parts)
    returned = [r.value for r in nodes_of(function.node, ast.Return) if r.value is not None]
    return bool(returned) and all(_numbers_in(value) & parts for value in returned)


def _numbers_in(node: ast.AST) -> set[str]:
    """The names whose values an expression depends on."""
    if isinstance(node, ast.Attribute) and node.attr in _METADATA:
        return set()
    if isinstance(node, ast.Call) and last_name(node.func) in _LIKE:
        return set().union(*(_numbers_in(part) for part in [*node.args[1:], *node.keywords]), set())
    if isinstance(node, ast.Name):
        return {node.id}
    return set().union(*map(_numbers_in, ast.iter_child_nodes(node)), set())


def _specs(value: Value) -> list[Value]:
    if isinstance(value, (TupleValue, ListValue, DictValue)):
        return [spec for part in value.elements() for spec in _specs(part)]
    return [value]


def _names_no_axis(value: Value) -> bool:
    """Whether all specs are known and replicate."""
    return all(
        isinstance(spec, ExternalObject)
        and spec.name == "jax.sharding.PartitionSpec"
        and all(is_none(axis) for axis in spec.args)
        for spec in _specs(value)
    )


def _may_name_an_axis(value: Value) -> bool:
    """Whether one of the specs visibly splits its array."""
    return any(
        isinstance(spec, ExternalObject)
        and spec.name == "jax.sharding.PartitionSpec"
        and any(not is_none(axis) for axis in spec.args)
        for spec in _specs(value)
    )


def _talks(function: Function, depth: int) -> bool:
    """Whether a function may communicate between devices, itself or in its callees."""
    decorators = {id(part) for d in getattr(function.node, "decorator_list", ()) for part in ast.walk(d)}
    if _speaks_of_collectives(function.node) or any(
        isinstance(part, ast.Attribute) and part.attr in _PLACES and id(part) not in decorators
        for part in ast.walk(function.node)
    ):
        return True
    for used in name_loads(function.node):
        value = _held(used.id, function)
        if id(used) in decorators or value is function or not isinstance(value, Function):
            continue
        if depth == 0 or _talks(value, depth - 1):  # called here, or passed to something that calls it
            return True
    for call in nodes_of(function.node, ast.Call):
        name = dotted(call.func)
        if id(call) in decorators:
            continue
        if "." in name and not name.startswith(_KNOWN) and name.rpartition(".")[2] not in ARRAY_METHODS:
            return True  # a method, which may contain one
        if name and "." not in name and not isinstance(_held(name, function), (Function, External)):
            if not hasattr(builtins, name):
                return True  # a parameter, or the result of a call
        elif not name and not isinstance(call.func, (ast.Call, ast.Attribute)):
            return True
    return False


def _held(name: str, function: Function) -> Value | None:
    """The value of a name where a function was defined."""
    return function.scope.value_of(name)


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
        made = last_name(value.func)
        if made in _GRADIENTS:
            makers[dotted(target)] = made
            continue
        inner = value.func if isinstance(value.func, ast.Call) else None
        kind = last_name(inner.func) if inner is not None else makers.get(dotted(value.func), "")
        if kind not in _GRADIENTS:
            continue
        paired = "value_and" in kind or any(k.arg == "has_aux" for k in (inner.keywords if inner else []))
        if isinstance(target, (ast.Tuple, ast.List)) and target.elts:
            target = target.elts[-1 if "value_and" in kind else 0] if paired else target.elts[0]
        if isinstance(target, ast.Name):
            found.add(target.id)
    return found


def _returned(node: ast.AST, gradients: set[str]) -> Iterator[ast.AST]:
    """The places where a function returns its gradients."""
    for place in sorted(nodes_of(node, ast.Return), key=lambda place: place.lineno):
        parts = place.value.elts if isinstance(place.value, ast.Tuple) else [place.value]
        if any(isinstance(part, ast.Name) and part.id in gradients for part in parts):
            yield place


def _applied(node: ast.AST, gradients: set[str]) -> Iterator[ast.AST]:
    """The places where gradients become updates, or new parameters."""
    for call in sorted(nodes_of(node, ast.Call), key=lambda call: call.lineno):
        if last_name(call.func) in _APPLYING:
            given = set().union(*(names_in(a) for a in passed(call)), set())
            if given & gradients:
                yield call
    trained = (
        {parameter.arg for parameter in all_parameters(node)} if isinstance(node, ast.FunctionDef) else set()
    )
    for step in nodes_of(node, ast.BinOp):
        if (
            isinstance(step.op, ast.Sub)
            and names_in(step.left) & trained
            and names_in(step.right) & gradients
        ):
            yield step  # `params - lr * grads`
