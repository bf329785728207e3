"""Wording that rules share: why a value is a tracer here, and how the trace got here."""

from __future__ import annotations

import ast

from jaxlint.staging.events import Event, LeakEvent
from jaxlint.staging.values import Array
from jaxlint.staging.values.frame import Frame
from jaxlint.staging.values.labels import label_of
from jaxlint.syntax.facts import all_parameters


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


def decided_by_kind(frame: Frame) -> bool:
    """Whether the way here asks for ranks or dtypes, so that it may not be for the shapes that are known."""
    return any("ranked" in one.facts for one in (frame, *frame.callers()))


def guarded(event: Event, convention: bool = True) -> bool:
    """Inside a try that handles what a tracer raises, outside of the trace, or where it depends on the run whether it is reached.

    `convention`: so is what runs under a trace by a framework's habit alone; False for what fails on the host as well.
    """
    value = getattr(event, "value", None)
    differentiated = getattr(event, "differentiated", False)
    if isinstance(value, Array) and value.staged and not event.frame.stage.staged and not differentiated:
        return True  # it left its trace: a leak, which is told where it happens, or a state that a library restores
    frame: Frame | None = event.frame
    stored = isinstance(event, LeakEvent)  # what is kept from this trace on is wrong, whoever asked first
    same = True
    while frame is not None:
        stage = frame.stage
        unsure = not stage.certain and (convention or stage.kind != "convention")
        if (
            (same and frame.catching)
            or frame.replaceable
            or (stage.staged and (frame.doubt or unsure or ("perhaps kept" in frame.facts and not stored)))
            or (differentiated and frame.doubt)
        ):
            return True
        if frame.caller is not None and frame.caller.stage is not frame.stage:
            same = False
        frame = frame.caller
    return False
