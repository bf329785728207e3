"""Whether a loss is a sum over its batch, judging by its program at two batch sizes.

In the same equations at two sizes, an axis that differs is a batch axis. A value without such an axis, computed from
values with one, has been reduced over the batch ("pooled"). The loss is a sum over the batch, times a constant, plus
a constant, if pooled values are never combined with batch values again and only pass through linear operations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jaxlint_runtime.compat import Literal, open_jaxpr
from jaxlint_runtime.inspection.repeated_blocks import call_site

_SUMS = frozenset({"reduce_sum", "dot_general"})
_LINEAR = frozenset(
    [
        "add",
        "sub",
        "add_any",
        "neg",
        "convert_element_type",
        "reduce_sum",
        "reshape",
        "squeeze",
        "expand_dims",
        "broadcast_in_dim",
        "transpose",
        "copy",
        "copy_p",
        "reduce_precision",
        "concatenate",
        "stop_gradient",
        "pvary",
        "sharding_constraint",
        "mul",
        "div",
        "dot_general",
        "select_n",
    ]
)
_RANDOM = frozenset({"random_bits", "threefry2x32", "rng_bit_generator", "rng_uniform"})
# Linear in one operand; div only in its first.
_OF_ONE = frozenset({"mul", "div", "dot_general", "select_n"})


class Differs(Exception):
    """The programs at the two sizes have different equations."""


@dataclass(frozen=True, slots=True)
class Coupling:
    """The reason why a loss is not a sum over its batch, and the user's line (file, line, function)."""

    reason: str
    site: tuple[str, int, str] | None


def coupling(whole: Any, part: Any) -> Coupling | None:
    """Why the first result of the program is not a sum over the batch; None if it is one. Raises Differs.

    `whole` and `part` are the same program, with calls inlined, for a batch and for part of it.
    """
    one, other = open_jaxpr(whole), open_jaxpr(part)
    if [eqn.primitive for eqn in one.eqns] != [eqn.primitive for eqn in other.eqns]:
        raise Differs
    batched = {
        var
        for var, twin in zip((*one.constvars, *one.invars), (*other.constvars, *other.invars), strict=True)
        if _shape(var) != _shape(twin)
    }
    needed = _needed(one)
    pooled: set[Any] = set()
    for eqn, twin in zip(one.eqns, other.eqns, strict=True):
        if id(eqn) not in needed:
            continue
        inputs = [var for var in eqn.invars if not isinstance(var, Literal)]
        of_batch = [var for var in inputs if var in batched]
        of_pool = [var for var in inputs if var in pooled]
        varying = [
            var for var, same in zip(eqn.outvars, twin.outvars, strict=True) if _shape(var) != _shape(same)
        ]
        batched.update(varying)
        if any(_axes(var, same) > 1 for var, same in zip(eqn.outvars, twin.outvars, strict=True)):
            return _told(eqn, "each example is compared with the whole batch")
        name = eqn.primitive.name
        if name in _RANDOM and varying:
            return _told(
                eqn, "random numbers are drawn for the whole batch (dropout), so parts would draw others"
            )
        if of_pool and (of_batch or varying):
            return _told(eqn, "a sum over the batch is used for each example")
        if of_pool and not _linear(eqn, pooled):
            return _told(eqn, f"`{name}` takes a sum over the batch")
        if of_batch and len(varying) < len(eqn.outvars):
            if name not in _SUMS or len(eqn.outvars) > 1:
                return _told(eqn, f"`{name}` runs over the batch")
            pooled.update(eqn.outvars)
        elif of_pool:
            pooled.update(eqn.outvars)
    return None


def _linear(eqn: Any, pooled: set[Any]) -> bool:
    name = eqn.primitive.name
    if name not in _LINEAR:
        return False
    if name not in _OF_ONE:
        return True
    where = [n for n, var in enumerate(eqn.invars) if not isinstance(var, Literal) and var in pooled]
    if name == "select_n":
        return 0 not in where
    return where == [0] if name == "div" else len(where) == 1


def _needed(parts: Any) -> set[int]:
    """The equations that the first result depends on."""
    wanted = {var for var in parts.outvars[:1] if not isinstance(var, Literal)}
    found = set()
    for eqn in reversed(parts.eqns):
        if not wanted.isdisjoint(eqn.outvars):
            found.add(id(eqn))
            wanted.update(var for var in eqn.invars if not isinstance(var, Literal))
    return found


def _shape(var: Any) -> Any:
    return getattr(var.aval, "shape", None)


def _axes(var: Any, twin: Any) -> int:
    """The number of batch axes."""
    return sum(a != b for a, b in zip(_shape(var) or (), _shape(twin) or (), strict=False))


def _told(eqn: Any, reason: str) -> Coupling:
    return Coupling(reason, call_site([eqn]))
