"""The question about a part of a program before it is traced, and the possible problems."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from jaxlint.codemods.purity.program import File, FunctionNode, Program
from jaxlint.codemods.purity.values import Box, Inst, Value
from jaxlint.codemods.source.text_edits import shown_source


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a part of a program must not be traced, for a reader."""

    reason: str
    certain: bool


@dataclass(frozen=True, slots=True)
class Region:
    """The code to be traced: where variables count as its own, and which modules are carried through it."""

    node: ast.AST
    own: frozenset[ast.AST]  # the nodes of the region, if it is not a function
    carries_nnx: bool = False

    def encloses(self, node: ast.AST, file: File) -> bool:
        """Whether a node lies in the region."""
        return node is self.node or self.node in file.names.ancestors(node)


class Walk(Protocol):
    """The interface of the walk that the effects of calls belong to."""

    region: Region

    def anew(self) -> Walk:
        """A walk of the same region that has visited nothing but the jitted functions of this one."""

    def of_call(self, function: FunctionNode, file: File, *, fresh_self: bool) -> Iterator[Problem]:
        """The side effects of the body of a function. `fresh_self`: its first argument was created for this call."""

    def of_special_methods(self, value: Inst) -> Iterator[Problem]:
        """The side effects of special methods that operators and builtins call on an object."""

    def is_nnx(self, node: ast.expr, file: File) -> bool:
        """Whether an expression is part of a flax.nnx module, whose state the transformation carries."""

    def comes_from_outside(self, node: ast.expr, file: File) -> bool:
        """Whether an expression is part of a module variable, or of a variable of a function around the region."""


def problem(program: Program, what: str, node: ast.AST, file: File, *, certain: bool) -> Problem:
    """A problem with a node, quoted with its place."""
    return Problem(f"`{shown_source(node)}` at {program.place(file, node)} {what}", certain)


def is_generator(value: Value) -> bool:
    """Whether a value is the generator of a function that yields."""
    return isinstance(value, Box) and value.kind == "generator"
