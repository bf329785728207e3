"""Places that a loop reaches now and then: every N-th iteration, as an evaluation, or what it calls there."""

from __future__ import annotations

import ast

from jaxlint.api import Frame, Loop
from jaxlint.api.syntax import cache, dotted, names_stored, nodes_of
from jaxlint.api.values import constant
from jaxlint_rules._names import names_in


def is_periodic(test: ast.expr) -> bool:
    """Whether a test holds in every N-th step: `step % 100 == 0`."""
    return any(isinstance(part.op, ast.Mod) for part in nodes_of(test, ast.BinOp))


def comes_back(frame: Frame, loop: Loop | None = None) -> bool:
    """Whether a place is reached again and again: by each iteration of `loop`, a loop of this frame, or by every N-th one. Without
    `loop`: by each call of the function, or every N-th.
    """
    changing = frozenset(names_stored(loop.node)) if loop is not None else frozenset[str]()
    return all(
        isinstance(one, ast.If) and _lets_every_nth_pass(one.test, changing) for one in frame.conditions(loop)
    )


def periods(frame: Frame) -> list[tuple[Loop, int]]:
    """The loops of which only every N-th iteration reaches a place, each with that N; 0 where it is not known."""
    found: list[tuple[Loop, int]] = []
    pending: list[int] = []  # of tests around a call in a function without a loop
    for one in (frame, *frame.callers()):
        conditions = one.conditions()
        for loop in reversed(one.loops):
            outside = len(one.conditions()) - len(one.conditions(loop))
            inside, conditions = conditions[outside:], conditions[:outside]
            pending += _every(inside, one)
            if pending:
                found.append((loop, max(pending)))
                pending = []
        pending += _every(conditions, one)
    return found


def _every(conditions: list[ast.AST], frame: Frame) -> list[int]:
    tests = [one.test for one in conditions if isinstance(one, ast.If) and is_periodic(one.test)]
    return [_period(test, frame) for test in tests]


def _period(test: ast.expr, frame: Frame) -> int:
    """The N of a test of every N-th step; 0 where it is not known."""
    for part in nodes_of(test, ast.BinOp):
        if isinstance(part.op, ast.Mod):
            held = frame.value_of(dotted(part.right)) if dotted(part.right) else None
            known = part.right.value if isinstance(part.right, ast.Constant) else held and constant(held)
            return known if isinstance(known, int) else 0
    return 0


@cache
def _lets_every_nth_pass(test: ast.expr, changing: frozenset[str]) -> bool:
    """`step % n == 0`, also beside settings that no iteration changes: `n > 0 and step % n == 0`, or beside another occasion:
    `step % n == 0 or step == last`."""
    if isinstance(test, ast.BoolOp):
        if isinstance(test.op, ast.Or):
            return any(_lets_every_nth_pass(part, changing) for part in test.values)
        others = [part for part in test.values if not _lets_every_nth_pass(part, changing)]
        return len(others) < len(test.values) and all(
            names_in(part).isdisjoint(changing) and not nodes_of(part, ast.Call) for part in others
        )
    return is_periodic(test)
