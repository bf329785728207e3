"""The equations of a jaxpr that a derivative goes through; masks and lengths are not among them."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from jaxlint_runtime.compat import DropVar, Literal, open_jaxpr


def differentiated_equations(jaxpr: Any) -> set[int]:
    """Numbers of the equations with a floating or complex result that depends on such an input."""
    parts = open_jaxpr(jaxpr)
    reached = {var for var in parts.invars if _is_inexact(var)}
    found: set[int] = set()
    for number, eqn in enumerate(parts.eqns):
        if any(not isinstance(var, Literal) and var in reached for var in eqn.invars):
            outputs = [var for var in eqn.outvars if not isinstance(var, DropVar) and _is_inexact(var)]
            reached.update(outputs)
            if outputs:
                found.add(number)
    return found


def _is_inexact(var: Any) -> bool:
    dtype = getattr(var.aval, "dtype", None)
    return dtype is not None and bool(jnp.issubdtype(dtype, jnp.inexact))
