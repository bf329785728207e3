"""For `inspect`, where it is asked for: the calls that hand tracers to the parameters of each function."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jaxlint.staging.values import Value
from jaxlint.staging.values.pytrees import tracer_in

if TYPE_CHECKING:
    from jaxlint.staging.values.frame import Frame


@dataclass(frozen=True, slots=True)
class Giver:
    """A call from the first to the last of its lines; `staged`: of a function that is being traced there itself."""

    path: str
    line: int
    end: int
    staged: bool


class TracerSources:
    """The calls that were seen, those included of which a context like another was not evaluated again.

    None stands for what is no call: what a program is supposed to pass, or passes by a framework's habit.
    """

    def __init__(self) -> None:
        self.seen: dict[ast.AST, dict[str, dict[Giver | None, None]]] = {}

    def note(
        self, function: ast.AST, bound: dict[str, Value], node: ast.AST | None, caller: Frame | None
    ) -> None:
        """Remembers a call of `function` in a stage."""
        known = self.seen.setdefault(function, {})
        giver = _giver(node, caller)
        for name, value in bound.items():
            if tracer_in(value) is not None:
                known.setdefault(name, {})[giver] = None

    def of(self, function: ast.AST, name: str) -> list[Giver | None]:
        """The calls that hand the parameter a tracer, in the order in which they were seen."""
        return list(self.seen.get(function, {}).get(name, {}))


def _giver(node: ast.AST | None, caller: Frame | None) -> Giver | None:
    if caller is None or not isinstance(node, (ast.expr, ast.stmt)):
        return None
    # What stands for the caller where a function is transformed is entered from outside of the stage.
    staged = caller.home.staged and caller.context != "creation"
    return Giver(caller.module.display, node.lineno, node.end_lineno or node.lineno, staged)
