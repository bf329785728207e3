"""The equations of a jaxpr whose results reach its outputs: jit also traces dead ones, and the compiler drops them."""

from __future__ import annotations

from typing import Any

from jaxlint_runtime.compat import DropVar, Literal, open_jaxpr


def needed_equations(jaxpr: Any) -> list[Any]:
    """Equations with an effect or a used result, in program order."""
    parts = open_jaxpr(jaxpr)
    used = {var for var in parts.outvars if not isinstance(var, Literal)}
    kept = []
    for eqn in reversed(parts.eqns):
        if eqn.effects or any(var in used for var in eqn.outvars if not isinstance(var, DropVar)):
            kept.append(eqn)
            used.update(var for var in eqn.invars if not isinstance(var, Literal))
    return kept[::-1]
