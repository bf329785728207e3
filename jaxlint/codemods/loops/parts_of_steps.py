"""The steps of a loop that prints are compiled in parts, so that it still prints while it runs.

for epoch in range(epochs):                     for start in range(0, epochs, 100):
    params, loss = step(params, x)                  params, losses = run_steps(params, x, jnp.arange(...))
    if epoch % 100 == 0:                            for epoch, loss in zip(range(start, epochs), losses):
        print(epoch, loss)                              if epoch % 100 == 0:
                                                            print(epoch, loss)
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from jaxlint.codemods.loops.host_reads import is_simple
from jaxlint.codemods.loops.steps_region import Steps
from jaxlint.codemods.source.layout import Layout
from jaxlint.codemods.source.site import Refused

_SIZE = 100  # steps in a part, if the host prints in each of them
_MOST = 10_000  # steps that a reader waits for


@dataclass(frozen=True, slots=True)
class Parts:
    """`start`: the variable with the number of the first step of a part; `size`: the number of steps in it."""

    start: str
    first: ast.expr | None
    end: ast.expr
    size: str

    def over(self, layout: Layout) -> str:
        """The iterable of the loop over the parts."""
        first = layout.argument(self.first) if self.first is not None else "0"
        return f"range({first}, {layout.argument(self.end)}, {self.size})"

    def until(self, layout: Layout) -> str:
        """The end of a part."""
        return f"min({self.start} + {self.size}, {layout.argument(self.end)})"

    def rest(self, layout: Layout) -> str:
        """The numbers of the steps in a part and after it."""
        return f"range({self.start}, {layout.argument(self.end)})"


def parts_of(steps: Steps, start: str) -> Parts:
    """The parts of the steps of a loop: one for each print. Raises Refused."""
    over = steps.over
    if not steps.counts or not isinstance(over, ast.Call) or len(over.args) > 2:
        raise Refused("the host prints, and the loop is not over `range(stop)` or `range(start, stop)`")
    *first, end = over.args
    bound = {*steps.variables()[0], *steps.host.bound}
    for one in over.args:
        if not is_simple(one) or bound & {part.id for part in ast.walk(one) if isinstance(part, ast.Name)}:
            raise Refused("the number of steps is computed, or changes in the loop")
    return Parts(start, first[0] if first else None, end, str(_interval(steps) or _SIZE))


def _interval(steps: Steps) -> int | None:
    """The number of steps between two prints, as in `if step % 100 == 0`."""
    target = steps.loop.target
    assert isinstance(target, ast.Name)
    for statement in steps.host.statements:
        if not isinstance(statement, ast.If):
            continue
        for node in ast.walk(statement.test):
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
                of = {part.id for part in ast.walk(node.left) if isinstance(part, ast.Name)}
                every = node.right.value if isinstance(node.right, ast.Constant) else None
                if target.id in of and isinstance(every, int) and 1 < every <= _MOST:
                    return every
    return None
