"""A call under evaluation: its arguments and its place."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import overload

from jaxlint.staging.values.frame import Frame
from jaxlint.staging.values.plain import Value


@dataclass(slots=True, eq=False)
class Call:
    """The arguments of a call, and its place. The callee is not part of it, since each kind of callee has its own
    code."""

    args: list[Value]
    kwargs: dict[str, Value]
    node: ast.AST
    frame: Frame

    @property
    def inputs(self) -> list[Value]:
        """All arguments, positional ones first."""
        return [*self.args, *self.kwargs.values()]

    @overload
    def argument(self, position: int, keyword: str = "") -> Value | None: ...
    @overload
    def argument(self, position: int, keyword: str, default: Value) -> Value: ...
    def argument(self, position: int, keyword: str = "", default: Value | None = None) -> Value | None:
        """An argument by position or keyword; `default` if the call does not pass it."""
        if position < len(self.args):
            return self.args[position]
        return self.kwargs.get(keyword, default)

    def passing(self, args: list[Value], kwargs: dict[str, Value] | None = None) -> Call:
        """The same call with other arguments; it keeps its keyword arguments unless `kwargs` are given."""
        return Call(args, self.kwargs if kwargs is None else kwargs, self.node, self.frame)
