"""A fixpoint over questions that depend on each other in cycles: all questions of a cycle are asked again until
nothing changes."""

from __future__ import annotations

import ast
from collections.abc import Callable

from jaxlint.codemods.purity.program import File, FunctionNode
from jaxlint.codemods.purity.values import NOTHING, Place, Values, unknown

_STEPS = 200_000
_ROUNDS = 8

CallSite = tuple[ast.Call | None, str, File]  # a call of a function, the callers in between, and the file
Question = ast.expr | ast.AugAssign | Place  # of an augmented assignment: the value before it


class Fixpoint:
    """The answers to questions about one program. `known`: the final ones."""

    def __init__(self, known: dict[Question, Values]) -> None:
        self.known = known
        self.round: dict[Question, Values] = {}  # of the current question
        self.before: dict[Question, Values] = {}  # the time of its last evaluation
        self.open: set[Question] = set()
        self.calls: dict[FunctionNode, list[CallSite] | None] = {}  # of functions, as known in this round
        self.cyclic = False
        self.guesses = 0  # preliminary answers so far
        self.steps = 0

    def answer(self, key: Question, work: Callable[[], Values]) -> Values:
        """The answer to a question. A question that depends on itself is asked again until the answers converge."""
        if (found := self.known.get(key)) is not None:
            return found
        if (found := self.round.get(key)) is not None:
            self.guesses += 1
            return found
        if key in self.open:
            self.cyclic = True
            self.guesses += 1
            return self.before.get(key, NOTHING)
        if self.open:
            return self._once(key, work)
        for _ in range(_ROUNDS):
            self.round, self.calls, self.cyclic = {}, {}, False
            result = self._once(key, work)
            if not self.cyclic or self.round == self.before:
                break  # nothing in the cycles has changed; answers outside them were final at once
            self.before = self.round
        else:
            self.round = {
                one_: given if self.before.get(one_) == given else unknown("the analysis does not converge")
                for one_, given in self.round.items()
            }
            result = self.round[key]
        self.known.update(self.round)
        self.round, self.before, self.calls = {}, {}, {}
        return result

    def _once(self, key: Question, work: Callable[[], Values]) -> Values:
        self.steps += 1
        if self.steps > _STEPS:
            self.guesses += 1  # another question may have steps left
            return unknown("the program is too large")
        self.open.add(key)
        guesses = self.guesses
        try:
            result = work()
        except RecursionError:
            result = unknown("the program is nested too deeply")
        finally:
            self.open.discard(key)
        (self.known if self.guesses == guesses else self.round)[key] = result
        return result
