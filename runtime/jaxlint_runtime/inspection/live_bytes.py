"""Peak of live bytes over a jaxpr in program order: an estimate that needs no compiler.

It ignores fusion, so it only serves to rank versions of one function.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jaxlint_runtime.compat import DropVar, Literal, inner_jaxprs, open_jaxpr
from jaxlint_runtime.inspection.live_equations import needed_equations
from jaxlint_runtime.inspection.updates import ELEMENTWISE as _ELEMENTWISE
from jaxlint_runtime.lowering.avals import nbytes

# Results that compilers recompute at their uses instead of storing them.
_VIRTUAL = frozenset(
    "broadcast_in_dim iota reshape squeeze expand_dims convert_element_type transpose".split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True)
class Liveness:
    """Bytes of the arguments, and the peak of live bytes, arguments included."""

    arguments: int
    total: int


def liveness(jaxpr: Any, donated: Sequence[bool] = ()) -> Liveness:
    """Walks the needed equations once, and frees each value after its last use.

    `donated` says for each input whether its buffer is donated, so that it is freed as well.
    """
    parts = open_jaxpr(jaxpr)
    freed = _given(parts, donated)
    arguments = sum(nbytes(var.aval) for var in (*parts.constvars, *parts.invars))
    kept = arguments - sum(freed.values())
    return Liveness(arguments, kept + _peak(jaxpr, freed))


@dataclass(frozen=True, slots=True)
class Moment:
    """Live bytes while one equation runs, arguments included.

    `within` are the name stacks of the enclosing equations. `alive` holds the sizes of the values, by jaxpr from the
    outermost inwards. It is only valid until the next moment is requested.
    """

    nbytes: int
    equation: Any
    within: str
    alive: tuple[Mapping[Any, int], ...]


def walk(jaxpr: Any, donated: Sequence[bool] = ()) -> Iterator[Moment]:
    """The moments of a program in program order; the bodies of calls and loops once, at their place."""
    parts = open_jaxpr(jaxpr)
    freed = _given(parts, donated)
    held = {var: nbytes(var.aval) for var in (*parts.constvars, *parts.invars) if var not in freed}
    kept = sum(held.values())
    for moment in _moments(jaxpr, freed, ""):
        yield Moment(kept + moment.nbytes, moment.equation, moment.within, (held, *moment.alive))


def _given(parts: Any, donated: Sequence[bool]) -> dict[Any, int]:
    flags = [*donated, *[False] * (len(parts.invars) - len(donated))]
    return {var: nbytes(var.aval) for var, given in zip(parts.invars, flags, strict=True) if given}


def _peak(jaxpr: Any, given: Mapping[Any, int]) -> int:
    """Peak bytes of `given`, inputs that may be freed, and of the values that the jaxpr computes."""
    return max((moment.nbytes for moment in _moments(jaxpr, given, "")), default=sum(given.values()))


def _moments(jaxpr: Any, given: Mapping[Any, int], within: str) -> Iterator[Moment]:
    """Walks the needed equations, and frees each value after its last use. Arguments that are not `given` count
    nothing."""
    parts = open_jaxpr(jaxpr)
    equations = needed_equations(jaxpr)
    end = len(equations)
    source: dict[Any, Any] = {}  # a virtual result keeps its sources alive; None if it has none
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

    alive = dict(given)
    now = sum(alive.values())
    for index, eqn in enumerate(equations):
        stack = f"{within}/{eqn.source_info.name_stack}"
        for _, body in inner_jaxprs(eqn):
            for inner in _moments(body, {}, stack):
                yield Moment(now + inner.nbytes, inner.equation, inner.within, (alive, *inner.alive))
        made = 0
        for var in eqn.outvars:
            if not isinstance(var, DropVar) and var not in source:
                alive[var] = nbytes(var.aval)
                made += alive[var]
        dead = sum(alive.get(var, 0) for var in dying.get(index, ()))
        # The results of a body count as live inside it. An elementwise result may reuse an operand that dies with it,
        # as new parameters reuse the old ones.
        reused = min(made, dead) if eqn.primitive.name in _ELEMENTWISE else 0
        yield Moment(now + made - reused, eqn, stack, (alive,))
        now += made
        for var in dying.get(index, ()):
            now -= alive.pop(var, 0)
