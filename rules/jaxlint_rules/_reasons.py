"""Shared wording: why a value is a tracer here, and how the trace got here."""

from __future__ import annotations

import ast

from jaxlint.api import Event, Frame, Why
from jaxlint.api.syntax import all_parameters
from jaxlint.api.values import Array, label_of

_LONG = 180  # characters of a reason that is read in one look


def traced(event: Event, array: Array) -> str:
    """ "the tracer comes from `x`, a parameter of `f` (`jax.jit`, line 30); call path: `f` -> `g`"."""
    if array.why is None:
        return "JAX traces this code"
    source = f"the tracer comes from {array.why.source(event.frame.module)}"
    path = path_to(event.frame, array.why)
    return source + (path if len(source + path) <= _LONG else path_to(event.frame, array.why, brief=True))


def path_to(frame: Frame, why: Why | None = None, *, brief: bool = False) -> str:
    """The calls from the first function that `why` names to this frame, if there are any. `brief`: methods without their class."""
    names: list[str] = []
    current: Frame | None = frame
    while current is not None and current.function is not None and len(names) < 8:
        names.append(label_of(current.function))
        caller = current.caller
        if caller is None or caller.stage is not current.stage:
            break
        current = caller
    names.reverse()
    named = next((link.function for link in why.chain() if link.function in names), "") if why else ""
    names = names[names.index(named) :] if named else names
    if len(names) < 2:
        return ""
    shown = [f"`{name.rpartition('.')[2] if brief else name}`" for name in names]
    return f"; call path: {' -> '.join([shown[0], '...', *shown[-2:]] if len(shown) > 4 else shown)}"


def staged_because(frame: Frame) -> str:
    """Why this frame runs at trace time: "JAX traces `f` (`jax.jit`, line 30)"."""
    why = frame.stage.why
    if why is None:
        return "JAX traces this code"
    return f"JAX traces {why.source(frame.module).removeprefix('the call of ')}{path_to(frame, why)}"


def certain_tracer(value: object) -> bool:
    """A single array that is a tracer on every run that reaches the place."""
    return isinstance(value, Array) and value.staged and value.certain and not value.tree


def is_parameter(node: ast.AST | None, frame: Frame) -> bool:
    """Whether an expression is a parameter of the function, for which each caller may pass something else."""
    if not isinstance(node, ast.Name) or frame.function is None:
        return False
    return any(parameter.arg == node.id for parameter in all_parameters(frame.function.node))
