"""The calls that pass tracers to the parameters of each function, for `inspect`."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jaxlint.staging.values import Value
from jaxlint.staging.values.pytrees import tracer_in

if TYPE_CHECKING:
    from jaxlint.staging.values.frame import Frame


@dataclass(frozen=True, slots=True)
class CallSite:
    """A call site, from its first to its last line. `staged`: in a function that is itself being traced there."""

    path: str
    line: int
    end: int
    staged: bool


class TracerSources:
    """The call sites that the analysis saw, including calls that reused the context of a similar call.

    None stands for an assumed call, or one by a framework's convention.
    """

    def __init__(self) -> None:
        self.seen: dict[ast.AST, dict[str, dict[CallSite | None, None]]] = {}

    def note(
        self, function: ast.AST, bound: dict[str, Value], node: ast.AST | None, caller: Frame | None
    ) -> None:
        """Records a call of `function` in a stage."""
        known = self.seen.setdefault(function, {})
        call = _call_site(node, caller)
        for name, value in bound.items():
            if tracer_in(value) is not None:
                known.setdefault(name, {})[call] = None

    def of(self, function: ast.AST, name: str) -> list[CallSite | None]:
        """The call sites that pass a tracer to the parameter, in the order in which they were seen."""
        return list(self.seen.get(function, {}).get(name, {}))


def _call_site(node: ast.AST | None, caller: Frame | None) -> CallSite | None:
    if caller is None or not isinstance(node, (ast.expr, ast.stmt)):
        return None
    # a transformation's stand-in for the caller enters from outside the stage
    staged = caller.home.staged and caller.context != "creation"
    return CallSite(caller.module.display, node.lineno, node.end_lineno or node.lineno, staged)
