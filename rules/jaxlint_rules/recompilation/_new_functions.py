"""Objects that hold a function of their own: each object is another program for `eqx.filter_jit`."""

from __future__ import annotations

import ast

from jaxlint.api import Frame, Loop
from jaxlint.api.values import Function, Instance, Transformed, Value
from jaxlint_rules._loops import assigned_once, host_loops
from jaxlint_rules._names import last_name
from jaxlint_rules._periods import comes_back


def own_function(value: Instance) -> str:
    """The field that holds a function which the constructor creates: a lambda, a nested function, or `jax.jit` of one."""
    maker = value.cls.lookup("__init__")
    if not isinstance(maker, Function):
        return ""
    return next((name for name, part in value.fields.items() if _is_made_in(part, maker)), "")


def _is_made_in(part: Value, maker: Function) -> bool:
    """`jax.jit` of the same function is another object at each call; equinox compares its own wrappers by content."""
    if not isinstance(part, (Transformed, Function)) or part.module is not maker.module:
        return False
    if isinstance(part, Transformed) and part.kind != "jit":
        return False
    first, last = maker.node.lineno, maker.node.end_lineno or 0
    return first < getattr(part.node, "lineno", 0) <= last


def loop_that_makes(value: Instance, argument: ast.expr, frame: Frame) -> tuple[Frame, Loop] | None:
    """The loop that creates an object again and again, around a place that passes it: in the frame, around an inner loop, or
    in its caller."""
    if isinstance(argument, ast.Name):
        for loop in host_loops(frame):
            made = assigned_once(loop.node).get(argument.id)
            is_new = isinstance(made, ast.Call) and last_name(made.func) == value.cls.name
            if is_new and comes_back(frame, loop):
                return frame, loop
    caller = frame.caller
    if caller is None or frame.function is None or caller.stage.staged or not frame.has_made(value.serial):
        return None
    loops = host_loops(caller)
    if not loops or not comes_back(frame) or not comes_back(caller, loops[0]):
        return None
    return caller, loops[0]
