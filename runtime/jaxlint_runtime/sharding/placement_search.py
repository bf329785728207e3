"""Tries placements: first the named ones, then changes of the best, as long as something improves."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from jaxlint_runtime.lowering.function_versions import StagingError
from jaxlint_runtime.sharding import strategies
from jaxlint_runtime.sharding.activation_constraints import Held
from jaxlint_runtime.sharding.input_classes import Classes
from jaxlint_runtime.sharding.mesh import MeshShape
from jaxlint_runtime.sharding.placed_program import Figures
from jaxlint_runtime.sharding.strategies import Spec, Strategy

_BETTER = 0.98  # of the score: a smaller gain is not worth another spec
_HELPS = 0.995  # of the score: a constraint costs one line
_BEAM = 2  # named strategies as starting points


# A spec for each input, the spec in use for parameters that are gathered first, and specs for constrained
# activations.
Placement = tuple[tuple[Spec, ...], tuple[tuple[int, Spec], ...], Held]


@dataclass(frozen=True)
class Tried:
    """One placement and its result; without figures, `reason` says why it could not be compiled."""

    strategy: Strategy
    placement: Placement
    figures: Figures | None
    reason: str = ""


@dataclass
class Search:
    """Compiles placements, each once, within bounds."""

    classes: Classes
    mesh: MeshShape
    compiling: Callable[[Placement], Figures]
    most: int  # compiles
    seconds: float
    progress: Callable[[str], None] = lambda message: None
    constraints: int = 12  # compiles for constraints on activations, after the others
    tried: list[Tried] = field(default_factory=list)
    _seen: dict[Placement, Tried] = field(default_factory=dict)
    _begun: float = field(default_factory=time.monotonic)

    @property
    def over(self) -> bool:
        """Whether the bounds are reached."""
        return len(self.tried) >= self.most or time.monotonic() - self._begun > self.seconds

    def attempt(self, strategy: Strategy) -> Tried:
        """Compiles a placement, or returns the cached result."""
        gathered = strategy.gathered(self.classes)
        held = tuple(sorted(strategy.held.items()))
        placement = strategy.leaves(self.classes, self.mesh), tuple(sorted(gathered.items())), held
        if placement not in self._seen:
            self.progress(f"placement {len(self.tried) + 1}: {strategy.name}")
            try:
                found = Tried(strategy, placement, self.compiling(placement))
            except StagingError as error:
                found = Tried(strategy, placement, None, str(error))
            self._seen[placement] = found
            self.tried.append(found)
        return self._seen[placement]

    def named(self) -> list[Tried]:
        """The named placements that differ; plain data parallel first."""
        found: list[Tried] = []
        for strategy in strategies.named(self.classes, self.mesh):
            if found and self.over:
                break
            one = self.attempt(strategy)
            if all(one is not other for other in found):
                found.append(one)
        return found

    def improve(self, start: list[Tried], score: Callable[[Figures], float]) -> Tried:
        """Descends from the best of `start`: whole groups of axes, then single classes, until nothing helps or the
        bounds are reached."""
        ranked = sorted((one for one in start if one.figures), key=lambda one: score(_figures(one)))
        best = ranked[0]
        for first in ranked[:_BEAM]:
            found = self._descend(first, score)
            if score(_figures(found)) < score(_figures(best)):
                best = found
        return best

    def _descend(self, start: Tried, score: Callable[[Figures], float]) -> Tried:
        current, lowest = start, score(_figures(start))
        moving = True
        while moving and not self.over:
            moving = False
            for name, move in self._moves():
                if self.over:
                    break
                changed = move(current.strategy)
                one = self.attempt(replace(changed, name=_named_after(current.strategy.name, name)))
                if one.figures is not None and score(one.figures) < _BETTER * lowest:
                    current, lowest, moving = one, score(one.figures), True
        return current

    def constrain(self, start: Tried, score: Callable[[Figures], float]) -> Tried:
        """Tries constraints on activations one by one, and keeps those that help. They have a separate budget of
        compiles."""
        best = start
        most, begun = len(self.tried) + self.constraints, time.monotonic()
        for _, move in strategies.activation_moves(self.classes, self.mesh, start.strategy):
            if len(self.tried) >= most or time.monotonic() - begun > self.seconds / 2:
                break
            changed = move(best.strategy)
            one = self.attempt(replace(changed, name=_named_after(start.strategy.name, "activations held")))
            if one.figures is not None and _helps(one.figures, _figures(best), score):
                best = one
        return best

    def _moves(self) -> Iterator[tuple[str, Callable[[Strategy], Strategy]]]:
        yield from strategies.batch_moves(self.mesh)
        yield from strategies.group_moves(self.classes, self.mesh)
        yield from strategies.state_moves(self.classes, self.mesh)
        yield from strategies.class_moves(self.classes, self.mesh)


def _helps(new: Figures, old: Figures, score: Callable[[Figures], float]) -> bool:
    """Whether a constraint is worth its line: a better score, or an equal one with fewer full gathers."""
    fewer = len(new.rematerialised) < len(old.rematerialised)
    return score(new) < _HELPS * score(old) or (fewer and score(new) <= score(old))


def _figures(one: Tried) -> Figures:
    assert one.figures is not None
    return one.figures


def _named_after(before: str, change: str) -> str:
    return f"{before}; {change}"
