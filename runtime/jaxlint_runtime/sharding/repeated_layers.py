"""The repeated layers of a train step, and the layer of each equation, by data flow and not by names.

A forward equation depends on parameters of layers up to its own; a backward one reaches new values of parameters of
layers up to its own. So the smaller of the two is the layer. Scalars do not count: a norm over all gradients would
connect everything.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jaxlint_runtime.compat import Literal, open_jaxpr
from jaxlint_runtime.lowering.avals import size
from jaxlint_runtime.sharding.input_classes import Classes, Input, above

_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True)
class Layered:
    """A jaxpr by layers. Equations without a layer (masks, step sizes) are computed wherever they are needed."""

    jaxpr: Any
    count: int
    equations: tuple[int | None, ...]  # the layer of each
    inputs: dict[int, int]  # the layer of parameters, and of the state that follows them
    data: frozenset[int]  # equations that depend on the batch


def layered(jaxpr: Any, classes: Classes, out: Mapping[int, int]) -> Layered | None:
    """The layers of a step; None if its parameters show no repetition. `out`: the input whose new value an output is."""
    parts = open_jaxpr(jaxpr)
    layers = _repeated(classes, parts)
    if not layers:
        return None
    depth, data = _depths(parts, classes, layers)
    for entry in classes.parameters:
        for leader, follower in _followed(entry.members, entry.followers):
            layers.setdefault(follower, layers.get(leader, 0))
    reach = _reaches(parts, layers, out)
    found: list[int | None] = []
    made: dict[Any, int] = {var: layers[n] for n, var in enumerate(parts.invars) if n in layers}
    for eqn, before in zip(parts.eqns, depth, strict=True):
        after = max((reach[var] for var in eqn.outvars if var in reach), default=None)
        known = [layer for layer in (before, after) if layer is not None]
        layer = min(known, default=None)
        if before is None or after is None:
            operands = [var for var in eqn.invars if not isinstance(var, Literal) and var in made]
            wide = [made[var] for var in operands if _counts(var)] or [made[var] for var in operands]
            layer = after if before is None and after is not None else min(wide, default=layer)
        found.append(layer)
        if layer is not None:
            made.update((var, layer) for var in eqn.outvars)
    return Layered(jaxpr, max(layers.values()) + 1, tuple(found), layers, frozenset(data))


def _repeated(classes: Classes, parts: Any) -> dict[int, int]:
    """The parameters of the repeated layers: their paths first differ in a number; they are numbered in order of use."""
    parameters = [one for entry in classes.parameters for one in entry.members]
    prefix = len(above([one.keys for one in parameters])) if parameters else 0
    stacks: dict[tuple[str, ...], dict[str, list[Input]]] = {}
    for one in parameters:
        for position, key in enumerate(one.keys[prefix:], prefix):
            if _DIGITS.search(key):
                stem = (*one.keys[prefix:position], _DIGITS.sub("*", key))
                stacks.setdefault(stem, {}).setdefault(key, []).append(one)
                break
    several = [stack for stack in stacks.values() if len(stack) > 1]
    if not several:
        return {}
    largest = max(several, key=lambda stack: sum(one.nbytes for members in stack.values() for one in members))
    first: dict[Any, int] = {}
    for n, eqn in enumerate(parts.eqns):
        for var in eqn.invars:
            if not isinstance(var, Literal):
                first.setdefault(var, n)
    order = sorted(
        largest.values(),
        key=lambda members: min(first.get(parts.invars[one.number], len(parts.eqns)) for one in members),
    )
    return {one.number: layer for layer, members in enumerate(order) for one in members}


def _depths(parts: Any, classes: Classes, layers: dict[int, int]) -> tuple[list[int | None], set[int]]:
    """The deepest layer that each equation depends on, and the equations that depend on the batch.

    Adds the other parameters to `layers`: each belongs where it is first combined with the batch.
    """
    batch = {parts.invars[one.number] for one in classes.data}
    depth: dict[Any, int] = {parts.invars[n]: layer for n, layer in layers.items()}
    pending: dict[Any, frozenset[int]] = {
        parts.invars[one.number]: frozenset((one.number,))
        for entry in classes.parameters
        for one in entry.members
        if one.number not in layers
    }
    found: list[int | None] = []
    data: set[int] = set()
    for n, eqn in enumerate(parts.eqns):
        operands = [var for var in eqn.invars if not isinstance(var, Literal) and _counts(var)]
        given = any(var in batch for var in eqn.invars if not isinstance(var, Literal))
        waiting = frozenset().union(*(pending.get(var, frozenset()) for var in operands))
        waiting -= layers.keys()
        known = [depth[var] for var in operands if var in depth]
        known += [layers[one] for var in operands for one in pending.get(var, ()) if one in layers]
        if waiting and not known and given:
            known = [0]
        here = max(known, default=None)
        found.append(here)
        if given:
            data.add(n)
            batch.update(eqn.outvars)
            layers.update((one, here) for one in waiting if here is not None)
        for var in eqn.outvars:
            if here is not None:
                depth[var] = here
            if waiting and not given:
                pending[var] = waiting
    return found, data


def _reaches(parts: Any, layers: Mapping[int, int], out: Mapping[int, int]) -> dict[Any, int]:
    """For each value, the deepest layer whose new parameters it reaches."""
    reach: dict[Any, int] = {}
    for output, number in out.items():
        var = parts.outvars[output]
        if number in layers and not isinstance(var, Literal) and _counts(var):
            reach[var] = max(reach.get(var, 0), layers[number])
    for eqn in reversed(parts.eqns):
        here = max((reach[var] for var in eqn.outvars if var in reach), default=None)
        if here is None:
            continue
        for var in eqn.invars:
            if not isinstance(var, Literal) and _counts(var):
                reach[var] = max(reach.get(var, 0), here)
    return reach


def _followed(members: Sequence[Input], followers: Sequence[Input]) -> list[tuple[int, int]]:
    """Each moment of the optimiser with its parameter: the one with the most similar path ending."""

    def alike(one: Input, other: Input) -> int:
        shared = 0
        for a, b in zip(reversed(one.keys), reversed(other.keys), strict=False):
            if a != b:
                break
            shared += 1
        return shared

    return [(max(members, key=lambda one: alike(one, two)).number, two.number) for two in followers]


def _counts(var: Any) -> bool:
    return size(var.aval) > 1
