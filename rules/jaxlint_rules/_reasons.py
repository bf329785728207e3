"""Wording that rules share: why a value is a tracer here, and how the trace got here."""

from __future__ import annotations

import ast

from jaxlint.api import Event, Frame
from jaxlint.api.syntax import all_parameters
from jaxlint.api.values import Array, label_of


def traced(event: Event, array: Array) -> str:
    """ "traced because `x` is a parameter of `f`, `f` is passed to `jax.jit` at line 30; reached through `g`"."""
    reader = event.frame.module
    if array.why is None:
        return "traced"
    return f"traced because {array.why.explain(reader)}{path_to(event.frame)}"


def path_to(frame: Frame) -> str:
    """The calls between the staged function and this frame, when there are any."""
    names: list[str] = []
    current: Frame | None = frame
    while current is not None and current.function is not None and len(names) < 8:
        names.append(label_of(current.function))
        caller = current.caller
        if caller is None or caller.stage is not current.stage:
            break
        current = caller
    names.reverse()
    return f"; called as {' -> '.join(f'`{name}`' for name in names)}" if len(names) > 1 else ""


def staged_because(frame: Frame) -> str:
    """Why this frame runs under a trace."""
    why = frame.stage.why
    return f"staged because {why.explain(frame.module)}{path_to(frame)}" if why is not None else "staged"


def certain_tracer(value: object) -> bool:
    """A value that is a tracer on every run that reaches the place, and a single array."""
    return isinstance(value, Array) and value.staged and value.certain and not value.tree


def is_parameter(node: ast.AST | None, frame: Frame) -> bool:
    """Whether an expression is a parameter of the function, whose callers may each pass something else."""
    if not isinstance(node, ast.Name) or frame.function is None:
        return False
    return any(parameter.arg == node.id for parameter in all_parameters(frame.function.node))
