"""Tries placements: first the named ones, then changes of the best, as long as something improves."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
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
Move = tuple[str, Callable[[Strategy], Strategy]]  # the name of a change, and the change


@dataclass(frozen=True)
class Tried:
    """One placement and its result; without figures, `reason` says why it could not be compiled."""

    strategy: Strategy
    placement: Placement
    figures: Figures | None
    reason: str = ""


@dataclass
class Search:
    """Compiles placements, each once, within bounds.

    `expecting` is told which placements follow if nothing improves, so that they can be compiled side by side. What is tried, and
    in which order, does not depend on it.
    """

    classes: Classes
    mesh: MeshShape
    compiling: Callable[[Placement], Figures]
    most: int  # compiles
    seconds: float
    progress: Callable[[str], None] = lambda message: None
    constraints: int = 12  # compiles for constraints on activations, after the others
    expecting: Callable[[Sequence[Placement]], None] | None = None
    tried: list[Tried] = field(default_factory=list)
    _seen: dict[Placement, Tried] = field(default_factory=dict)
    _begun: float = field(default_factory=time.monotonic)

    @property
    def over(self) -> bool:
        """Whether the bounds are reached."""
        return len(self.tried) >= self.most or time.monotonic() - self._begun > self.seconds

    def attempt(self, strategy: Strategy) -> Tried:
        """Compiles a placement, or returns the cached result."""
        placement = self._placement(strategy)
        if placement not in self._seen:
            self.progress(f"placement {len(self.tried) + 1}: {strategy.name}")
            try:
                found = Tried(strategy, placement, self.compiling(placement))
            except StagingError as error:
                found = Tried(strategy, placement, None, str(error))
            if not self.tried:
                self._begun = time.monotonic()  # a job may have waited for its machine
            self._seen[placement] = found
            self.tried.append(found)
        return self._seen[placement]

    def _placement(self, strategy: Strategy) -> Placement:
        gathered = strategy.gathered(self.classes)
        held = tuple(sorted(strategy.held.items()))
        return strategy.leaves(self.classes, self.mesh), tuple(sorted(gathered.items())), held

    def _expect(self, most: int, following: Iterable[Strategy]) -> None:
        """Tells which placements follow, as long as the number of compiles stays below `most`."""
        if self.expecting is None:
            return
        left = most - len(self.tried)
        found: dict[Placement, None] = {}
        for strategy in following:
            if len(found) >= left:
                break
            placement = self._placement(strategy)
            if placement not in self._seen:
                found[placement] = None
        self.expecting(list(found))

    def named(self) -> list[Tried]:
        """The named placements that differ; plain data parallel first."""
        found: list[Tried] = []
        self._expect(self.most, strategies.named(self.classes, self.mesh))
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
        starts = ranked[:_BEAM]
        for number, first in enumerate(starts):
            found = self._descend(first, score, [one.strategy for one in starts[number + 1 :]])
            if score(_figures(found)) < score(_figures(best)):
                best = found
        return best

    def _descend(self, start: Tried, score: Callable[[Figures], float], later: Sequence[Strategy]) -> Tried:
        """The best that it finds from `start`; from `later`, other descents begin."""
        current, lowest = start, score(_figures(start))
        moves = list(self._moves())
        self._expect(self.most, _following([current.strategy, *later], moves, moves))
        moving = True
        while moving and not self.over:
            moving = False
            for number, (name, move) in enumerate(moves):
                if self.over:
                    break
                changed = move(current.strategy)
                one = self.attempt(replace(changed, name=_named_after(current.strategy.name, name)))
                if one.figures is not None and score(one.figures) < _BETTER * lowest:
                    current, lowest, moving = one, score(one.figures), True
                    rest = moves[number + 1 :] + moves
                    self._expect(self.most, _following([current.strategy, *later], rest, moves))
        return current

    def constrain(self, start: Tried, score: Callable[[Figures], float]) -> Tried:
        """Tries constraints on activations one by one, and keeps those that help. They have a separate budget of
        compiles."""
        best = start
        most, begun = len(self.tried) + self.constraints, time.monotonic()
        moves = list(strategies.activation_moves(self.classes, self.mesh, start.strategy))
        self._expect(most, _following([best.strategy], moves, ()))
        for number, (_, move) in enumerate(moves):
            if len(self.tried) >= most or time.monotonic() - begun > self.seconds / 2:
                break
            changed = move(best.strategy)
            one = self.attempt(replace(changed, name=_named_after(start.strategy.name, "activations held")))
            if one.figures is not None and _helps(one.figures, _figures(best), score):
                best = one
                self._expect(most, _following([best.strategy], moves[number + 1 :], ()))
        return best

    def _moves(self) -> Iterator[Move]:
        yield from strategies.batch_moves(self.mesh)
        yield from strategies.group_moves(self.classes, self.mesh)
        yield from strategies.state_moves(self.classes, self.mesh)
        yield from strategies.class_moves(self.classes, self.mesh)


def _following(
    starts: Sequence[Strategy], first: Sequence[Move], others: Sequence[Move]
) -> Iterator[Strategy]:
    """The strategies that follow if nothing improves: the moves `first` from the first start, and `others` from the others."""
    for number, start in enumerate(starts):
        for _, move in others if number else first:
            yield move(start)


def _helps(new: Figures, old: Figures, score: Callable[[Figures], float]) -> bool:
    """Whether a constraint is worth its line: a better score, or an equal one with fewer full gathers."""
    fewer = len(new.rematerialised) < len(old.rematerialised)
    return score(new) < _HELPS * score(old) or (fewer and score(new) <= score(old))


def _figures(one: Tried) -> Figures:
    assert one.figures is not None
    return one.figures


def _named_after(before: str, change: str) -> str:
    return f"{before}; {change}"
