"""Mutations of an argument that a jitted function does not return."""

from __future__ import annotations

import ast

from jaxlint.api import Reporter, Rule, TransformEvent
from jaxlint.api.syntax import (
    FunctionNode,
    all_parameters,
    changed_variable,
    dotted,
    nodes_of,
    unread_statements,
)
from jaxlint.api.values import Function
from jaxlint.finding import Severity
from jaxlint_rules._callables import innermost
from jaxlint_rules._names import function_around

_IN_PLACE = frozenset({"append", "extend", "insert", "update", "setdefault", "add"})


class LostMutation(Rule):
    """A jitted function mutates an argument, and the change is lost.

    ## What it does
    Finds functions under `jax.jit` that store into a dict, list or object that is one of their
    traced arguments, and neither read it afterwards nor return it.

    ## Why is this bad?
    `jax.jit` flattens its arguments and rebuilds them from tracers. The function mutates this copy,
    so the caller's dict, list or object does not change. No exception is raised.

    ## Example
    ```python
    @jax.jit
    def update(stats, x):
        stats["mean"] = 0.9 * stats["mean"] + 0.1 * x.mean()

    for x in batches:
        update(stats, x)
    ```

    ## Use instead
    ```python
    @jax.jit
    def update(stats, x):
        return {**stats, "mean": 0.9 * stats["mean"] + 0.1 * x.mean()}

    for x in batches:
        stats = update(stats, x)
    ```

    ## Fix safety
    There is no automatic fix: the function must return the new value, and its callers must use it.

    ## When not to fix
    If the statement is a leftover, delete it. Refs of `jax.new_ref` and nnx modules do change for
    the caller and are not reported.

    ## References
    - [JAX: pure functions](https://docs.jax.dev/en/latest/notebooks/Common_Gotchas_in_JAX.html#pure-functions)
    """

    code = "JAX206"
    name = "lost-mutation"
    category = "purity"
    severity = Severity.WARNING

    def on_transform(self, event: TransformEvent, report: Reporter) -> None:
        t = event.transformed
        function = innermost(t.target)
        if t.kind != "jit" or not isinstance(function, Function) or function.module is not event.frame.module:
            return
        if isinstance(function.node, ast.Lambda) or event.frame.is_in_test():
            return
        static, certain = report.static_parameters(t)
        traced = [
            p.arg
            for p in all_parameters(function.node)
            if p.arg not in static and p.arg not in ("self", "cls")
        ]
        if not certain:
            return
        for statement in sorted(unread_statements(function.node), key=lambda part: part.lineno):
            name = changed_variable(statement)
            if name in traced and _is_content(statement) and not _is_rebound(name, function.node):
                traced.remove(name)
                report(
                    statement,
                    f"`{t.label}` mutates its own copy of `{name}`, so the change is lost; return the new value",
                    reason=f"{t.why.explain(report.module)}; jit rebuilds `{name}` from its leaves for each trace",
                )
        for name in traced:
            lost = _lost_part(name, function.node, report)
            if lost is not None and not _is_rebound(name, function.node):
                report(
                    lost,
                    f"`{t.label}` mutates its own copy of `{name}`, so the change is lost; return the new value",
                    reason=f"{t.why.explain(report.module)}; `{name}` is not returned, and nothing reads this part again",
                )


def _lost_part(name: str, function: FunctionNode, report: Reporter) -> ast.stmt | None:
    """A statement that mutates a part of a parameter that is never read again, if the parameter itself is not passed
    on."""
    read: list[tuple[str, int]] = []
    for node in nodes_of(function, ast.Name):
        if node.id != name or not isinstance(node.ctx, ast.Load):
            continue
        part = report.module.parents.get(node)
        if not isinstance(part, (ast.Attribute, ast.Subscript)) or part.value is not node or not _key(part):
            return None  # it is passed on
        if function_around(node, report.module) is not function or report.module.call_of(part) is not None:
            return None
        if isinstance(part.ctx, ast.Load):
            read.append((_key(part), part.lineno))
    for statement in nodes_of(function, ast.Assign):
        target = statement.targets[0]
        if len(statement.targets) != 1 or not isinstance(target, (ast.Attribute, ast.Subscript)):
            continue
        if dotted(target.value) != name or not _key(target) or not _is_content(statement):
            continue
        in_loop = any(isinstance(a, (ast.For, ast.While)) for a in report.module.ancestors(statement))
        end = statement.end_lineno or statement.lineno
        if not in_loop and not any(key == _key(target) and line > end for key, line in read):
            return statement
    return None


def _key(part: ast.Attribute | ast.Subscript) -> str:
    """The part of an object or a dict; "" if it is not literal."""
    if isinstance(part, ast.Attribute):
        return part.attr if part.attr != "value" else ""  # for a reference
    return str(part.slice.value) if isinstance(part.slice, ast.Constant) else ""


def _is_content(statement: ast.stmt) -> bool:
    """Whether a statement mutates a dict, a list or an object: an item with a string key, an attribute, or by a
    method."""
    if isinstance(statement, ast.Expr):
        call = statement.value
        return (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Attribute)
            and call.func.attr in _IN_PLACE
        )
    target = statement.targets[0] if isinstance(statement, ast.Assign) else getattr(statement, "target", None)
    if isinstance(target, ast.Attribute):
        return isinstance(target.value, ast.Name)
    return isinstance(target, ast.Subscript) and (
        isinstance(target.slice, ast.Constant) and isinstance(target.slice.value, str)
    )


def _is_rebound(name: str, function: FunctionNode) -> bool:
    """Whether the function rebinds the parameter, or gives the value another name."""
    return any(
        (isinstance(node.ctx, ast.Store) and node.id == name) for node in nodes_of(function, ast.Name)
    ) or any(
        isinstance(part.value, ast.Name) and part.value.id == name for part in nodes_of(function, ast.Assign)
    )
