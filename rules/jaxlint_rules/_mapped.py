"""The values that `vmap` maps over."""

from __future__ import annotations

from jaxlint.api import Stage
from jaxlint.api.values import Array, ListValue, TupleValue, Value

_MOST_LINKS = 24


def mapping(stage: Stage) -> Stage | None:
    """The `vmap` around a stage, if nothing in between runs its elements sequentially."""
    current: Stage | None = stage
    while current is not None:
        if current.kind == "vmap":
            return current
        if current.kind not in ("cond", "checkpoint", "jit"):
            return None
        current = current.parent
    return None


def mapping_around(stage: Stage) -> Stage | None:
    """The innermost `vmap` around a stage, through loops as well."""
    current: Stage | None = stage
    while current is not None and current.kind != "vmap":
        current = current.parent
    return current


def varies(value: Value | None, stage: Stage, depth: int = _MOST_LINKS) -> bool:
    """Whether a value inside a loop is certainly computed from an argument that this `vmap` maps over.

    Every value in the loop is a tracer there, also one that is the same for all elements.
    """
    if depth == 0:
        return False
    if isinstance(value, (TupleValue, ListValue)):
        return any(varies(part, stage, depth - 1) for part in value.elements())
    if not isinstance(value, Array) or value.tree:
        return False
    if value.made is not None:
        if value.made.name.endswith("_like"):  # it only reads a shape
            return False
        return any(varies(part, stage, depth - 1) for part in value.made.args)
    if value.why is not None and value.why.cause is not None and value.why.cause is stage.why:
        return value.certain
    form = value.form
    comes = form is not None and (form.equal or form.first or form.how in ("row", "stacked"))
    return varies(form.of[0], stage, depth - 1) if form is not None and comes else False


def is_mapped(value: Array, stage: Stage) -> bool:
    """Whether this `vmap` makes a value a tracer."""
    why = value.why
    while why is not None:
        if why is stage.why:
            return True
        why = why.cause
    return False
