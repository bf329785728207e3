"""Arrays that a function captured from outside: they become constants of the program and use additional memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jaxlint_runtime.compat import inner_jaxprs, open_jaxpr
from jaxlint_runtime.lowering.avals import nbytes


@dataclass(frozen=True, slots=True)
class Constant:
    """A captured array."""

    shape: tuple[int, ...]
    dtype: str
    nbytes: int


def constants(jaxpr: Any) -> tuple[Constant, ...]:
    """Captured arrays of a jaxpr and its inner jaxprs, largest first; the same array is listed once."""
    found: dict[int, Constant] = {}
    _collect(jaxpr, found)
    return tuple(sorted(found.values(), key=lambda constant: -constant.nbytes))


def _collect(jaxpr: Any, found: dict[int, Constant]) -> None:
    parts = open_jaxpr(jaxpr)
    for var, value in zip(parts.constvars, parts.consts, strict=False):
        aval = var.aval
        if getattr(aval, "shape", None) is not None:
            found[id(value)] = Constant(tuple(aval.shape), str(aval.dtype), nbytes(aval))
    for eqn in parts.eqns:
        for _, inner in inner_jaxprs(eqn):
            _collect(inner, found)
