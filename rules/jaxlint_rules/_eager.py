"""Steps that a loop runs op by op: which function they call, and what it does."""

from __future__ import annotations

import ast

from jaxlint.api import CallEvent, Frame, Reporter
from jaxlint.api.syntax import cache, dotted, nodes_of, walk
from jaxlint.api.values import Function, Partial, Transformed, Value
from jaxlint_rules._loops import host_loops, is_on_host, loop_variables
from jaxlint_rules._names import names_in

_HOST = ("np.", "numpy.", "math.", "time.", "os.", "plt.", "random.", "logging.")
_PYTHON = frozenset(
    {"print", "float", "int", "bool", "open", "input", "next", "setattr", "max", "min", "any", "all"}
)
_STATEMENTS = (
    ast.While,
    ast.Try,
    ast.With,
    ast.Raise,
    ast.Assert,
    ast.Global,
    ast.Nonlocal,
    ast.Yield,
    ast.YieldFrom,
    ast.If,
)
_KEEP_EAGER = frozenset({"grad", "value_and_grad", "jacobian", "vmap", "checkpoint"})
_SOME = 4  # calls and operators; fewer are hardly worth compiling


@cache
def computes_only(function: ast.AST) -> bool:
    """Whether a function only computes, without decisions in Python."""
    for part in walk(function):
        if isinstance(part, _STATEMENTS):
            return False
        if isinstance(part, (ast.Attribute, ast.Subscript)) and isinstance(part.ctx, ast.Store):
            return False
        if isinstance(part, ast.Call):
            name = dotted(part.func)
            if (
                name in _PYTHON
                or name.startswith(_HOST)
                or name.endswith((".item", ".tolist", ".append", ".block_until_ready"))
            ):
                return False
    return True


def eager_step(callee: Transformed, node: ast.AST, frame: Frame) -> Function | None:
    """The function that a program loop calls as its step, op by op; None if something may compile it."""
    target: Value = callee
    while isinstance(target, (Transformed, Partial)):
        if isinstance(target, Transformed) and target.kind not in _KEEP_EAGER:
            return None
        target = target.target if isinstance(target, Transformed) else target.function
    if (
        frame.stage.staged
        or frame.module.is_test
        or frame.guarded_in_loop()
        or not isinstance(node, ast.Call)
    ):
        return None
    if not isinstance(target, Function) or not computes_only(target.node) or _size(target.node) < _SOME:
        return None
    loops = host_loops(frame)
    return target if loops and steps(node, loops[0].node) and is_on_host(frame) else None


def report_eager(event: CallEvent, callee: Transformed, report: Reporter, name: str, advice: str) -> None:
    """Reports a call of the result of the transform `name`, if `eager_step` accepts it."""
    function = eager_step(callee, event.node, event.frame)
    if function is not None:
        report(
            event.node,
            f"`{name}` of `{function.qualname}` runs operation by operation each iteration; {advice}",
            reason=f"{callee.why.explain(report.module)}; the loop at line "
            f"{getattr(host_loops(event.frame)[0].node, 'lineno', '?')} calls it outside jit",
        )


def steps(node: ast.Call, loop: ast.AST) -> bool:
    """Whether the loop updates an argument of the call: the body rebinds it."""
    given = {name for argument in node.args for name in names_in(argument)}
    stored: set[str] = set()
    for child in ast.walk(loop):
        if isinstance(child, (ast.Name, ast.Attribute)) and isinstance(child.ctx, ast.Store):
            stored.add(dotted(child).partition(".")[0])
    return bool(given & (stored - loop_variables(loop)))


def _size(function: ast.AST) -> int:
    return len(nodes_of(function, ast.Call)) + len(nodes_of(function, ast.BinOp))
