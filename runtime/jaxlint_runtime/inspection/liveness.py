"""Peak of live bytes over a jaxpr in program order: an estimate that needs no compiler.

It knows nothing of fusion, so it is for ranking versions of one function against each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jaxlint_runtime.compat import DropVar, Literal, inner_jaxprs, open_jaxpr
from jaxlint_runtime.inspection.avals import nbytes
from jaxlint_runtime.inspection.needed import needed_equations

# Results that compilers compute where they are used instead of storing.
_VIRTUAL = frozenset(
    "broadcast_in_dim iota reshape squeeze expand_dims convert_element_type transpose".split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True)
class Liveness:
    """Bytes of arguments, and the peak of everything else that is alive at once."""

    arguments: int
    peak: int

    @property
    def total(self) -> int:
        """Arguments and peak together."""
        return self.arguments + self.peak


def liveness(jaxpr: Any) -> Liveness:
    """Walk the needed equations once, freeing each value after its last use."""
    parts = open_jaxpr(jaxpr)
    given = [*parts.constvars, *parts.invars]
    return Liveness(sum(nbytes(var.aval) for var in given), _peak(jaxpr))


def _peak(jaxpr: Any) -> int:
    """Peak bytes of the values that the jaxpr computes, its inputs left out."""
    parts = open_jaxpr(jaxpr)
    equations = needed_equations(jaxpr)
    end = len(equations)
    source: dict[Any, Any] = {}  # a virtual result keeps alive what it is made of; None where that is nothing
    for eqn in equations:
        if eqn.primitive.name in _VIRTUAL:
            made_of = eqn.invars[0] if eqn.invars and not isinstance(eqn.invars[0], Literal) else None
            source[eqn.outvars[0]] = source.get(made_of, made_of)
    last: dict[Any, int] = {}
    for index, eqn in enumerate(equations):
        for var in eqn.invars:
            if not isinstance(var, Literal):
                last[source.get(var, var)] = index
    for var in parts.outvars:
        if not isinstance(var, Literal):
            last[source.get(var, var)] = end
    dying: dict[int, list[Any]] = {}
    for var, index in last.items():
        dying.setdefault(index, []).append(var)

    alive: dict[Any, int] = {}
    now = peak = 0
    for index, eqn in enumerate(equations):
        inside = max((_peak(body) for _, body in inner_jaxprs(eqn)), default=0)
        made = 0
        for var in eqn.outvars:
            if not isinstance(var, DropVar) and var not in source:
                alive[var] = nbytes(var.aval)
                made += alive[var]
        # The results of a body are among what is alive inside it.
        peak = max(peak, now + max(made, inside))
        now += made
        for var in dying.get(index, ()):
            now -= alive.pop(var, 0)
    return peak
