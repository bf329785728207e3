"""Functions as objects: `jit` returns an object of another class, which has no code, no defaults and no globals, and
cannot be pickled by name.

A call does not notice that. Code that tests the class of a function, reads its attributes, or sends it to another
process does.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxlint.codemods.purity.possible_values import PossibleValues
from jaxlint.codemods.purity.program import File, FunctionNode
from jaxlint.codemods.purity.values import Box, Cls, Fn, Inst, Unknown, Values, Wrapped
from jaxlint.codemods.source.text_edits import shown_source

PARTS = frozenset({"__code__", "__defaults__", "__kwdefaults__", "__globals__", "__closure__"})
_KINDS = frozenset(
    {"types.FunctionType", "types.LambdaType", "inspect.isfunction", "inspect.ismethoddescriptor"}
)
_PICKLE = frozenset(
    {
        f"{module}.{name}"
        for module in ("pickle", "cloudpickle", "dill", "joblib")
        for name in ("dump", "dumps")
    }
)
_PROCESSES = ("multiprocessing.", "multiprocess.", "joblib.", "loky.", "concurrent.futures.ProcessPoolExecutor", "concurrent.futures.process.")  # fmt: skip


class FunctionObjects:
    """Whether a program can distinguish a function from its jitted version other than by a call."""

    def __init__(self, possible: PossibleValues) -> None:
        self.possible, self.program = possible, possible.program

    def problems(self, function: FunctionNode, file: File) -> Iterator[str]:
        """The differences that the program would see, in words."""
        for other in self.program.files:
            for node in ast.walk(other.tree):
                if (words := self._seen(node, other, function, file)) is not None:
                    yield f"`{shown_source(node)}` at {self.program.place(other, node)} {words}"

    def _seen(self, node: ast.AST, other: File, function: FunctionNode, file: File) -> str | None:
        if isinstance(node, ast.Attribute) and node.attr in PARTS:
            if self._may_be(self.possible.of(node.value, other), function):
                return "reads an attribute that a jitted function does not have"
        elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
            name = self.possible.name_of(node, other)
            if name in _KINDS and self._asked(node, other, function):
                return "tests for a Python function, and a jitted function is not one"
            if name.startswith(_PROCESSES) and self._escapes(function, file):
                return "may send the function to another process, and a jitted function cannot be pickled"
        elif isinstance(node, ast.Call):
            name = self.possible.name_of(node.func, other)
            given = self.possible.of(node.args[0], other) if node.args else frozenset()
            if name == "type" and len(node.args) == 1 and self._holds(given, function) is True:
                return "tests the class of the function, and a jitted function has another"
            if name in _PICKLE and self._pickles(given, function, file):
                return "may pickle the function, and a jitted function cannot be pickled"
        return None

    def _asked(self, node: ast.expr, file: File, function: FunctionNode) -> bool:
        """Whether a test of classes may apply to the function; true if its operand is unknown."""
        above = file.names.parents.get(node)
        while isinstance(above, ast.Tuple | ast.BinOp):
            above = file.names.parents.get(above)
        if isinstance(above, ast.Call) and above.args and (above.func is node or above.args[0] is not node):
            name = self.possible.name_of(above.func, file)
            if above.func is node or name in ("isinstance", "issubclass"):
                return self._may_be(self.possible.of(above.args[0], file), function)
        return True

    def _pickles(self, given: Values, function: FunctionNode, file: File) -> bool:
        if not isinstance(function, ast.FunctionDef) or self.possible.classes.class_around(function, file):
            return False  # a method is pickled as its object and its name
        held = self._holds(given, function)
        return held is True or (held is None and self._escapes(function, file))

    def _escapes(self, function: FunctionNode, file: File) -> bool:
        """Whether the function itself escapes to unknown code."""
        return any(call is None for call, _, _ in self.possible.call_sites.calls_of(function, file))

    def _may_be(self, values: Values, function: FunctionNode) -> bool:
        return self._holds(values, function) is not False

    def _holds(self, values: Values, function: FunctionNode, depth: int = 0) -> bool | None:
        """Whether the function is one of the values or in one of them; None if unknown."""
        found: bool | None = False
        for value in values:
            if isinstance(value, Fn):
                one: bool | None = value.node is function
            elif isinstance(value, Wrapped | Box) and depth < 6:
                parts = value.parts() if isinstance(value, Box) else value.inner
                one = self._holds(parts, function, depth + 1)
            else:
                one = None if isinstance(value, Unknown | Inst | Cls | Wrapped | Box) else False
            if one:
                return True
            found = None if one is None else found
        return found


def redefined(possible: PossibleValues, functions: dict[ast.AST, File]) -> Iterator[str]:
    """Where the program may set the defaults or the code of one of the functions, in words."""
    for part in sorted(PARTS):
        for file, store in possible.program.stores.get(part, ()):
            for value in possible.of(store.value, file):
                if isinstance(value, Unknown) or (isinstance(value, Fn) and value.node in functions):
                    yield f"may be given other defaults or code by `{shown_source(store)} = ...` at {possible.program.place(file, store)}"
                    return
