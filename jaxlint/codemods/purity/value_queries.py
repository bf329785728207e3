"""The interface between the parts that compute possible values."""

from __future__ import annotations

import ast
from typing import Any, Protocol

from jaxlint.codemods.purity.program import File, FunctionNode, Program
from jaxlint.codemods.purity.values import Cls, Place, Value, Values
from jaxlint.codemods.source.name_scopes import Binding


class ValueQueries(Protocol):
    """The values of one program's expressions."""

    program: Program
    expressions: Any
    call_sites: Any
    classes: Any

    def of(self, node: ast.expr | None, file: File) -> Values:
        """The possible values of an expression; unknown if the search takes too long."""

    def of_place(self, place: Place) -> Values:
        """All values assigned to a variable."""

    def of_binding(self, binding: Binding, place: Place) -> Values:
        """The value of one binding of a variable."""

    def of_definition(self, node: ast.FunctionDef | ast.AsyncFunctionDef, file: File) -> Values:
        """A function with its decorators applied."""

    def added(self, use: ast.expr, file: File) -> Values:
        """The values that the code around the use of a container adds to it."""

    def attribute(self, value: Value, name: str) -> Values:
        """`value.name`."""

    def returned(self, function: FunctionNode, file: File) -> Values:
        """The possible results of a function; an iterator if it yields."""

    def name_of(self, node: ast.expr, file: File) -> str:
        """The canonical name of something external, from a name or attribute; "" for anything else."""

    def external_bases(self, cls: Cls) -> set[str]:
        """The names of the external classes that a class derives from; "?" for an unknown one."""

    def fields(self, cls: Cls) -> list[str]:
        """The annotated names of a class and its bases, in order."""
