"""The values that `vmap` maps over."""

from __future__ import annotations

from jaxlint.api import Stage
from jaxlint.api.values import Array


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


def is_mapped(value: Array, stage: Stage) -> bool:
    """Whether this `vmap` makes a value a tracer."""
    why = value.why
    while why is not None:
        if why is stage.why:
            return True
        why = why.cause
    return False
