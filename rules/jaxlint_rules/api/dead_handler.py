"""Handlers of exceptions that no computation of JAX raises."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from itertools import chain

from jaxlint.api import CallEvent, Frame, OperationEvent, Reporter, Rule, Scope, concerns
from jaxlint.api.syntax import dotted, walk
from jaxlint.api.tables import is_integer
from jaxlint.api.values import ELEMENTWISE, REDUCTIONS, Array, Function, dtype_of
from jaxlint.finding import Severity
from jaxlint_rules._names import external_name, last_name

_LINALG = "LinAlgError"
_DIVISION = "ZeroDivisionError"
_SOLVERS = ("jax.numpy.linalg.", "jax.scipy.linalg.", "jax.lax.linalg.")
# What JAX does instead, and what to do.
_NOT_FINITE = "returns infinity or NaN; test the result with `jnp.isfinite`"
_ARBITRARY = "returns an arbitrary integer; test the divisor"
_DEPTH = 2  # functions between the handler and the computation
_DIVISIONS = (ast.Div, ast.Mod, ast.FloorDiv)
_BUILTINS = frozenset({"float", "int", "len", "print", "range", "min", "max", "sum", "abs", "list", "tuple"})
_METHODS = (
    REDUCTIONS | ELEMENTWISE | {"reshape", "transpose", "dot", "set", "add", "item", "block_until_ready"}
)


class DeadHandler(Rule):
    """A handler waits for an exception that JAX never raises.

    ## What it does
    Finds `except np.linalg.LinAlgError` around `jnp.linalg` or `jax.scipy.linalg`, and
    `except ZeroDivisionError` around a division by an array, where nothing else in the `try` raises
    them.

    ## Why is this bad?
    JAX has no exceptions for numbers. `jnp.linalg.cholesky` of a matrix that is not positive
    definite is NaN, `jnp.linalg.inv` of a singular one is infinite, and so is a division by zero.
    The handler never runs, and every number that is computed from the NaN is NaN too.

    ## Example
    ```python
    def factor(k):
        try:
            return jnp.linalg.cholesky(k)
        except np.linalg.LinAlgError:
            return jnp.linalg.cholesky(k + 1e-6 * jnp.eye(len(k)))
    ```

    ## Use instead
    ```python
    def factor(k):
        first = jnp.linalg.cholesky(k)
        second = jnp.linalg.cholesky(k + 1e-6 * jnp.eye(len(k)))
        return jnp.where(jnp.isnan(first).any(), second, first)
    ```

    ## Fix safety
    There is no automatic fix.

    ## When not to fix
    Keep it if the function also gets NumPy arrays, or if `jax_debug_nans` is on.

    ## References
    - [JAX: out of bounds and NaN](https://docs.jax.dev/en/latest/notebooks/Common_Gotchas_in_JAX.html)
    """

    code = "JAX825"
    name = "dead-handler"
    category = "api"
    severity = Severity.WARNING
    preview = True  # until its findings in real code were read: docs/writing-rules.md

    @concerns(*_SOLVERS)
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        if event.name.startswith(_SOLVERS):
            _tell(event.node, event.frame, _LINALG, _NOT_FINITE, report)

    @concerns("divide", "true_divide", "floor_divide", "mod", "remainder")
    def on_operation(self, event: OperationEvent, report: Reporter) -> None:
        node, values = event.node, event.operation.args
        if not isinstance(node, ast.BinOp) or not isinstance(node.op, _DIVISIONS):
            return
        if any(isinstance(value, Array) and value.certain for value in values):
            whole = is_integer(dtype_of(event.result))
            _tell(node, event.frame, _DIVISION, _ARBITRARY if whole else _NOT_FINITE, report)


def _tell(node: ast.AST, frame: Frame, error: str, instead: str, report: Reporter) -> None:
    found = _handler_around(node, frame, error)
    if found is None:
        return
    handler, place = found
    report(
        place,
        f"`except {error}` never runs here: JAX {instead}",
        reason=f"the handler is at line {handler.lineno}, and nothing else in its `try` raises {error}",
    )


def _handler_around(
    node: ast.AST, frame: Frame | None, error: str
) -> tuple[ast.ExceptHandler, ast.AST] | None:
    """The handler for an exception of the computation at `node`, and the place in its `try` that leads to it."""
    for _ in range(_DEPTH):
        if frame is None:
            return None
        inside = node
        for around in frame.module.ancestors(node):
            if isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                break
            if isinstance(around, ast.Try) and any(inside is statement for statement in around.body):
                handler = next((h for h in around.handlers if _waits_for(h, error, frame)), None)
                alone = handler is not None and _is_quiet(around.body, error, frame.scope)
                return (handler, node) if handler is not None and alone else None
            inside = around
        if frame.call_node is None or frame.caller is None or frame.caller.module is not frame.module:
            return None
        node, frame = frame.call_node, frame.caller
    return None


def _waits_for(handler: ast.ExceptHandler, error: str, frame: Frame) -> bool:
    """`except LinAlgError`, and nothing wider."""
    if handler.type is None or last_name(handler.type) != error:
        return False
    return error == _DIVISION or external_name(handler.type, frame.scope).startswith(("numpy.", "scipy."))


def _is_quiet(body: Iterable[ast.AST], error: str, scope: Scope, depth: int = _DEPTH) -> bool:
    """Whether statements compute with JAX alone, so that none of them raises the exception."""
    for part in chain.from_iterable(map(walk, body)):
        if isinstance(part, ast.Raise):
            return False
        if isinstance(part, ast.Call) and not _computes(part, error, scope, depth):
            return False
        if isinstance(part, ast.BinOp) and error == _DIVISION and isinstance(part.op, _DIVISIONS):
            operands = [scope.value_of(dotted(side)) for side in (part.left, part.right) if dotted(side)]
            if not any(isinstance(value, Array) for value in operands):
                return False
    return True


def _computes(call: ast.Call, error: str, scope: Scope, depth: int) -> bool:
    """Whether a call only computes: of a JAX function, a method of arrays, a builtin, or a project function
    that computes with these.
    """
    name = external_name(call.func, scope)
    if name:
        return name.startswith("jax.")
    if isinstance(call.func, ast.Attribute):
        return call.func.attr in _METHODS
    called = dotted(call.func)
    held = scope.value_of(called)
    if isinstance(held, Function) and depth and not isinstance(held.node, ast.Lambda):
        return _is_quiet(held.node.body, error, held.scope, depth - 1)
    return held is None and called in _BUILTINS
