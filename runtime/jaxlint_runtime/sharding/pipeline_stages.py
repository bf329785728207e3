"""A step divided into stages by layers, and these into pieces that run one after the other, each on its stage's
device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from jaxlint_runtime import compat
from jaxlint_runtime.compat import DropVar, Literal, open_jaxpr
from jaxlint_runtime.inspection.flops import equation_work
from jaxlint_runtime.lowering.avals import nbytes
from jaxlint_runtime.sharding.repeated_layers import Layered


@dataclass(frozen=True)
class Piece:
    """Equations of one stage between two exchanges with others. `inputs` and `outputs` are variables of the jaxpr."""

    stage: int
    equations: tuple[Any, ...]
    inputs: tuple[Any, ...]
    outputs: tuple[Any, ...]

    def function(self) -> Callable[..., list[Any]]:
        """The piece as a function of its inputs."""

        def run(*values: Any) -> list[Any]:
            known = dict(zip(self.inputs, values, strict=True))

            def read(variables: Sequence[Any]) -> list[Any]:
                return [var.val if isinstance(var, Literal) else known[var] for var in variables]

            for eqn in self.equations:
                known.update(zip(eqn.outvars, compat.bind(eqn, read(eqn.invars)), strict=True))
            return read(self.outputs)

        return run


@dataclass(frozen=True)
class Staged:
    """A step in stages. `firsts` has the first layer of each, and the number of layers at its end."""

    layered: Layered
    firsts: tuple[int, ...]
    flops: tuple[float, ...]  # of each stage
    pieces: tuple[Piece, ...]

    @property
    def count(self) -> int:
        """How many stages."""
        return len(self.flops)

    def stage(self, layer: int) -> int:
        """The stage of a layer."""
        return sum(first <= layer for first in self.firsts[1:-1])

    @property
    def held(self) -> dict[Any, int]:
        """The stage of each input that belongs to one: parameters and the state that follows them."""
        invars = open_jaxpr(self.layered.jaxpr).invars
        return {invars[n]: self.stage(layer) for n, layer in self.layered.inputs.items()}


def work(step: Layered) -> list[float]:
    """FLOPs by layer."""
    found = [0.0] * step.count
    for eqn, layer in zip(open_jaxpr(step.jaxpr).eqns, step.equations, strict=True):
        if layer is not None:
            found[layer] += equation_work(eqn).flops
    return found


def balanced(flops: Sequence[float], count: int) -> tuple[int, ...]:
    """The cuts of layers into stages that minimise the largest work of a stage."""
    total = [0.0]
    for one in flops:
        total.append(total[-1] + one)
    best: list[list[tuple[float, tuple[int, ...]]]] = [[(total[n], (0, n)) for n in range(len(flops) + 1)]]
    for stages in range(2, count + 1):
        best.append(
            [
                min(
                    (
                        (max(best[-1][cut][0], total[n] - total[cut]), (*best[-1][cut][1], n))
                        for cut in range(stages - 1, n)
                    ),
                    default=(float("inf"), ()),
                )
                for n in range(len(flops) + 1)
            ]
        )
    return best[-1][len(flops)][1]


def cut(step: Layered, firsts: tuple[int, ...]) -> Staged:
    """The step with its layers divided into stages."""
    flops = work(step)
    stages = Staged(step, firsts, tuple(sum(flops[a:b]) for a, b in pairwise(firsts)), ())
    return Staged(step, firsts, stages.flops, _pieces(stages))


def _pieces(stages: Staged) -> tuple[Piece, ...]:
    """The equations by stage and turn: a turn ends where a value of another stage is needed."""
    parts, step = open_jaxpr(stages.layered.jaxpr), stages.layered
    maker = {var: n for n, eqn in enumerate(parts.eqns) for var in eqn.outvars}
    of = [None if layer is None else stages.stage(layer) for layer in step.equations]
    turn = [0] * len(parts.eqns)

    given: list[list[int]] = []  # the values that each waits for; equations without a stage wait for none
    for eqn in parts.eqns:
        made = [maker[var] for var in eqn.invars if not isinstance(var, Literal) and var in maker]
        given.append([one for one in made if of[one] is not None])
    for n, own in enumerate(of):
        if own is not None:
            turn[n] = max((turn[one] + (of[one] != own) for one in given[n]), default=0)
    users: dict[int, list[int]] = {}
    for n, before in enumerate(given):
        for one in before:
            users.setdefault(one, []).append(n)
    for n in reversed(range(len(parts.eqns))):
        later = users.get(n, [])
        # Equations that depend on no other stage run when needed: a weight decay, a moment, the labels.
        early = n not in step.data or (turn[n] == 0 and of[n])
        if early and later and all(of[one] == of[n] for one in later):
            turn[n] = min(turn[one] for one in later)
    groups: dict[tuple[int, int], list[int]] = {}
    for n, own in enumerate(of):
        if own is not None:
            groups.setdefault((turn[n], own), []).append(n)
    free = {n for n, own in enumerate(of) if own is None}
    returned = {var for var in parts.outvars if not isinstance(var, Literal)}
    return tuple(
        _piece(parts, key[1], numbers, free, maker, returned) for key, numbers in sorted(groups.items())
    )


def _piece(
    parts: Any, stage: int, numbers: list[int], free: set[int], maker: dict[Any, int], returned: set[Any]
) -> Piece:
    wanted, pending = set(numbers), list(numbers)
    while pending:
        for var in parts.eqns[pending.pop()].invars:
            source = None if isinstance(var, Literal) else maker.get(var)
            if source in free and source not in wanted:
                wanted.add(source)
                pending.append(source)
    equations = tuple(parts.eqns[n] for n in sorted(wanted))
    own = {var for eqn in equations for var in eqn.outvars}
    used = dict.fromkeys(
        var for eqn in equations for var in eqn.invars if not isinstance(var, Literal) and var not in own
    )
    elsewhere = {
        var
        for n, eqn in enumerate(parts.eqns)
        if n not in wanted
        for var in eqn.invars
        if not isinstance(var, Literal)
    }
    made = [var for n in numbers for var in parts.eqns[n].outvars if not isinstance(var, DropVar)]
    given = tuple(var for var in made if var in elsewhere or var in returned)
    return Piece(stage, equations, tuple(used), given)


def alone(stages: Staged) -> Piece:
    """The results of the step that no stage computes: counters, and inputs passed through."""
    parts = open_jaxpr(stages.layered.jaxpr)
    maker = {var: n for n, eqn in enumerate(parts.eqns) for var in eqn.outvars}
    free = {n for n, layer in enumerate(stages.layered.equations) if layer is None}
    numbers = [maker[var] for var in parts.outvars if not isinstance(var, Literal) and maker.get(var) in free]
    returned = {var for var in parts.outvars if not isinstance(var, Literal)}
    return _piece(parts, 0, list(dict.fromkeys(numbers)), free, maker, returned)


def crossing(stages: Staged) -> list[int]:
    """Bytes that each stage receives from others in a call: results of their pieces, and parameters used by two
    stages."""
    maker = {var: piece.stage for piece in stages.pieces for var in piece.outputs} | stages.held
    taken = {
        (piece.stage, var)
        for piece in stages.pieces
        for var in piece.inputs
        if maker.get(var, piece.stage) != piece.stage
    }
    return [sum(nbytes(var.aval) for own, var in taken if own == stage) for stage in range(stages.count)]
