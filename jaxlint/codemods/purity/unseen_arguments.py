"""Arguments of compiled code from definitions that no run has reached.

A run shows the values of the definitions that it reached: trees that JAX accepts, with sortable keys, and
numbers that fit into 32 bits. Another definition may provide a value that only the original code accepts.

    state = pickle.load(file) if args.resume else fresh()     # not reached, and may be anything
    for batch in batches:
        state = advance(state, batch)
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from jaxlint.codemods.purity.expressions import OPTIONS
from jaxlint.codemods.purity.origins import Definition, Origins
from jaxlint.codemods.purity.possible_values import PossibleValues
from jaxlint.codemods.purity.program import File, FunctionNode
from jaxlint.codemods.purity.values import (
    NUMPY,
    Box,
    Made,
    Unknown,
    Value,
    leaves_of,
)
from jaxlint.codemods.source.text_edits import shown_source

_LARGEST = 2**31 - 1
# Libraries whose objects are valid arguments of compiled functions, or are closed over by them.
_TREES = ("jax", "optax.", "flax.", "haiku.", "equinox.", "distrax.", "chex.")
_OF_32_BITS = frozenset({"float32", "int32", "uint32", "bool_", "bool", "float16", "int8", "int16", "uint8", "uint16"})  # fmt: skip


class UnseenArguments:
    """Whether all definitions that reach the arguments of compiled code are of a known kind."""

    def __init__(self, possible: PossibleValues) -> None:
        self.possible = possible
        self._missed = {file: _missed(file) for file in possible.program.files}

    def of(self, node: ast.expr, file: File) -> Iterator[str]:
        """Problems with an expression that is passed as an argument, in words."""
        for one in self._origins().of(node, file):
            yield from self._problem(shown_source(node), one)

    def of_parameter(self, parameter: ast.arg, function: FunctionNode, file: File) -> Iterator[str]:
        """Problems with the arguments of a parameter at all calls of its function, in words."""
        for one in self._origins().of_parameter(parameter, function, file):
            yield from self._problem(parameter.arg, one)

    def _origins(self) -> Origins:
        return Origins(self.possible, self._missed)

    def _problem(self, name: str, given: Definition) -> Iterator[str]:
        node, file, is_missed = given
        place = self.possible.program.place(file, node)
        if not is_missed:
            if self._is_open_option(node, file):
                yield f"`{name}` may be the option `{shown_source(node)}` at {place}, whose type is unknown"
            return
        if (what := self._doubt(node, file)) is not None:
            yield f"`{name}` may be `{shown_source(node)}` at {place}, {what}, and no run has reached it; add one with --also"

    def _is_open_option(self, node: ast.expr, file: File) -> bool:
        """Whether it is an option of the command line that may be anything: a run shows only its own value."""
        return (
            isinstance(node, ast.Attribute)
            and OPTIONS in self.possible.of(node.value, file)
            and any(isinstance(one, Unknown) for one in self.possible.of(node, file))
        )

    def _doubt(self, node: ast.expr, file: File) -> str | None:
        """A possible value of an expression that compiled code may not accept as the original code does, in words."""
        values = leaves_of(self.possible.of(node, file))
        if any(map(_is_open, values)):
            return "whose type is unknown"
        if NUMPY in values and not _has_32_bits(node):
            return "an array that may have 64 bits"
        for part in ast.walk(node):
            if isinstance(part, ast.Constant) and type(part.value) is int and part.value > _LARGEST:
                return "which needs more than 32 bits"
        if _kinds_of_keys(self.possible.of(node, file)) - {str}:
            return "a dict whose keys are not all strings"
        return None


def _is_open(value: Value) -> bool:
    if isinstance(value, Made):
        return not value.name.startswith(_TREES)
    return isinstance(value, Unknown)


def _has_32_bits(node: ast.expr) -> bool:
    """Whether a NumPy array is visibly created with at most 32 bits."""
    if not isinstance(node, ast.Call):
        return False
    named = [node.func, *node.args, *(one.value for one in node.keywords if one.arg == "dtype")]
    words = (getattr(one, "attr", getattr(one, "value", None)) for one in named)
    return any(isinstance(one, str) and one in _OF_32_BITS for one in words)


def _kinds_of_keys(values: Iterable[Value]) -> set[type]:
    found: set[type] = set()
    for value in values:
        if isinstance(value, Box):
            if value.kind == "dict":
                found.update(map(type, value.keys))
            found |= _kinds_of_keys(value.parts())
    return found


def _missed(file: File) -> frozenset[ast.AST]:
    """The nodes of a file of which no run reached the enclosing statement or branch."""
    missed = file.module.source.missed
    if not missed:
        return frozenset()
    return frozenset(
        node
        for node in ast.walk(file.tree)
        if isinstance(node, ast.stmt | ast.expr)
        and (node.lineno, node.col_offset, node.end_lineno or node.lineno, node.end_col_offset or 0) in missed
    )
