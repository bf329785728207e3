"""A call that is being evaluated: what it passes, and where it stands."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import overload

from jaxlint.staging.values.frame import Frame
from jaxlint.staging.values.plain import Value


@dataclass(slots=True, eq=False)
class Call:
    """The arguments of a call, and its place. What is called stands beside it, since each kind is called in its own way."""

    args: list[Value]
    kwargs: dict[str, Value]
    node: ast.AST
    frame: Frame

    @property
    def inputs(self) -> list[Value]:
        """All arguments, by position first."""
        return [*self.args, *self.kwargs.values()]

    @overload
    def argument(self, position: int, keyword: str = "") -> Value | None: ...
    @overload
    def argument(self, position: int, keyword: str, default: Value) -> Value: ...
    def argument(self, position: int, keyword: str = "", default: Value | None = None) -> Value | None:
        """An argument by position or keyword; `default` where it is not given."""
        if position < len(self.args):
            return self.args[position]
        return self.kwargs.get(keyword, default)

    def passing(self, args: list[Value], kwargs: dict[str, Value] | None = None) -> Call:
        """A call with other arguments in the same place; `kwargs`: this one's, where none are named."""
        return Call(args, self.kwargs if kwargs is None else kwargs, self.node, self.frame)
