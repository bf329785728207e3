"""What the parts that work out values ask of each other."""

from __future__ import annotations

import ast
from typing import Protocol

from jaxlint.codemods.name_scopes import Binding
from jaxlint.codemods.purity.program import File, FunctionNode, Program
from jaxlint.codemods.purity.values import Cls, Place, Value, Values


class ValueQueries(Protocol):
    """The values of the expressions of one program."""

    program: Program

    def of(self, node: ast.expr | None, file: File) -> Values:
        """What an expression may be; unknown where the work is too much."""

    def of_place(self, place: Place) -> Values:
        """All that a variable is given anywhere."""

    def of_binding(self, binding: Binding, place: Place) -> Values:
        """What one binding of a variable gives it."""

    def of_definition(self, node: ast.FunctionDef | ast.AsyncFunctionDef, file: File) -> Values:
        """A function with what its decorators make of it."""

    def attribute(self, value: Value, name: str) -> Values:
        """`value.name`."""

    def returned(self, function: FunctionNode, file: File) -> Values:
        """What a function may return; an iterator where it yields."""

    def name_of(self, node: ast.expr, file: File) -> str:
        """The canonical name of what is outside of the program, as a name or attribute spells it; "" for all else."""

    def external_bases(self, cls: Cls) -> set[str]:
        """The names of the classes outside of the program that a class comes from; "?" for what is not known."""

    def fields(self, cls: Cls) -> list[str]:
        """The annotated names of a class and its bases, in order."""
