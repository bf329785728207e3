"""Peak of live bytes over a jaxpr in program order: an estimate that needs no compiler.

It knows nothing of fusion, so it is for ranking versions of one function against each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jaxlint_runtime.compat import DropVar, Literal, inner_jaxprs, open_jaxpr
from jaxlint_runtime.inspection.live_equations import needed_equations
from jaxlint_runtime.inspection.updates import ELEMENTWISE as _ELEMENTWISE
from jaxlint_runtime.lowering.avals import nbytes

# Results that compilers compute where they are used instead of storing.
_VIRTUAL = frozenset(
    "broadcast_in_dim iota reshape squeeze expand_dims convert_element_type transpose".split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True)
class Liveness:
    """Bytes of the arguments, and the most that is alive at once, arguments included."""

    arguments: int
    total: int


def liveness(jaxpr: Any, donated: Sequence[bool] = ()) -> Liveness:
    """Walk the needed equations once, freeing each value after its last use.

    `donated` says for each input whether its buffer is given up, so that it is freed as well.
    """
    parts = open_jaxpr(jaxpr)
    freed = _given(parts, donated)
    arguments = sum(nbytes(var.aval) for var in (*parts.constvars, *parts.invars))
    kept = arguments - sum(freed.values())
    return Liveness(arguments, kept + _peak(jaxpr, freed))


@dataclass(frozen=True, slots=True)
class Moment:
    """Bytes that are alive while one equation runs, arguments included.

    `within` are the name stacks of the equations around it. `alive` holds the sizes of the values, by jaxpr from the outermost on;
    it is only true until the next moment is asked for.
    """

    nbytes: int
    equation: Any
    within: str
    alive: tuple[Mapping[Any, int], ...]


def walk(jaxpr: Any, donated: Sequence[bool] = ()) -> Iterator[Moment]:
    """The moments of a program in program order; the bodies of calls and loops once, where they stand."""
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
    """Walk the needed equations, freeing each value after its last use. Arguments that are not `given` count nothing."""
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
        # The results of a body are among what is alive inside it. An elementwise result may take the place of an
        # operand that dies with it, as the new parameters take that of the old.
        reused = min(made, dead) if eqn.primitive.name in _ELEMENTWISE else 0
        yield Moment(now + made - reused, eqn, stack, (alive,))
        now += made
        for var in dying.get(index, ()):
            now -= alive.pop(var, 0)
