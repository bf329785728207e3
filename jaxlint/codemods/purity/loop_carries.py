"""Whether a variable may have another shape or dtype after an iteration than before the first: a loop of JAX raises
for it.

A run shows those of its own path. Behind a flag it may start with integers that an iteration turns into floats, with
a scalar where the rows have several numbers, or in 32 bits while a setting makes 64 bits the default. Only evidence
in the program counts: an unknown array is taken to be as in the run.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from jaxlint.codemods.facts.dataflow import FUNCTIONS
from jaxlint.codemods.purity.jax_settings import set_outside
from jaxlint.codemods.purity.possible_values import PossibleValues, default_of
from jaxlint.codemods.purity.program import File, function_around, parameters
from jaxlint.codemods.purity.values import TYPE, Box, Ext
from jaxlint.codemods.source.text_edits import shown_source

AnswerT = TypeVar("AnswerT")
_WHOLE = frozenset({"arange", "randint", "argmax", "argmin", "argsort", "bincount"})
_WHOLE_TYPES = frozenset(
    {"int", "int32", "int64", "uint32", "int8", "uint8", "int16", "uint16", "bool", "bool_"}
)
_FLOATING = frozenset({"sin", "cos", "tan", "tanh", "sinh", "cosh", "exp", "log", "sqrt", "mean", "std", "var", "sigmoid", "softmax", "log_softmax", "logsumexp", "norm", "log1p", "expm1", "gelu", "silu", "softplus"})  # fmt: skip
_SHAPED = {"zeros": 0, "ones": 0, "full": 0, "normal": 1, "uniform": 1, "randint": 1, "bernoulli": 2}
_X64 = "jax_enable_x64"
_ONLY_SOMETIMES = (ast.If, ast.IfExp, ast.While, ast.For, ast.ExceptHandler, ast.Match, ast.BoolOp)
_DTYPES = {"zeros": 1, "ones": 1, "array": 1, "asarray": 1, "full": 2, "normal": 2, "uniform": 2, "zeros_like": 1, "ones_like": 1}  # fmt: skip
_DEPTH = 8


class Carried:
    """The possible shapes and dtypes of a loop's variables, over all paths."""

    def __init__(self, possible: PossibleValues) -> None:
        self.possible = possible
        self._open: set[object] = set()

    def problems(
        self,
        names: Iterable[str],
        loop: ast.AST,
        file: File,
        last: Iterable[tuple[str, ast.expr, ast.expr]] = (),
    ) -> Iterator[str]:
        """What may change, in words. `last`: lists whose last item is carried, with its value before the loop and in it."""
        names, last = list(names), list(last)
        own = set(ast.walk(loop))
        given: list[tuple[str, list[ast.expr], list[ast.expr]]] = []
        for name in names:
            scope = file.names.scope_at(loop).resolve(name)
            bindings = scope.bindings.get(name, ()) if scope is not None else ()
            starts = [value for b in bindings if b.node not in own for value in self._given(b.node, file)]
            steps = [value for b in bindings if b.node in own for value in self._given(b.node, file)]
            given.append((name, starts, steps))
        given += [(f"{name}[-1]", [start], [step]) for name, start, step in last]
        if given and (switch := self._switch_of_bits()):
            yield f"`{given[0][0]}` may change its dtype where {switch} sets 64-bit defaults; a JAX loop keeps dtypes"
        for name, starts, steps in given:
            yield from self._changes(name, starts, steps, loop, file)

    def _changes(
        self, name: str, starts: list[ast.expr], steps: list[ast.expr], loop: ast.AST, file: File
    ) -> Iterator[str]:
        if any(self._is_one_number(value, file) for value in starts):
            for part in self._arrays(loop, steps):
                if len(self.ranks(part, file)) > 1:
                    yield f"`{name}` starts as a scalar, and `{part.id}` may have more axes on another path; a JAX loop keeps shapes"
        if (chosen := self._chosen_dtype(starts, file)) is not None:
            yield f"`{name}` may start with another dtype than in the run, by `{shown_source(chosen)}`; a JAX loop keeps dtypes"
        if any(self.may_be_whole(value, file) for value in starts):
            if any(self.is_float(value, file) for value in steps):
                yield f"`{name}` may start as integers and become floats in an iteration; a JAX loop keeps dtypes"

    def _given(self, node: ast.AST, file: File) -> list[ast.expr]:
        """The expressions that a binding assigns; for a parameter, the arguments at visible calls."""
        if isinstance(node, ast.arg):
            return self._handed(node, file)
        above = file.names.parents.get(node)
        if isinstance(above, ast.NamedExpr | ast.AugAssign):
            return [above.value]
        given = file.names.given(node)
        return [given] if given is not None else []

    def _of_each_given(
        self, node: ast.Name, file: File, asked: str, answer: Callable[[ast.expr], AnswerT]
    ) -> list[AnswerT]:
        """The `answer` for each expression assigned to a variable; empty if the same question about the variable is
        already open."""
        scope = file.names.scope_at(node).resolve(node.id)
        key = (id(scope), node.id, asked)
        if scope is None or key in self._open:
            return []
        self._open.add(key)
        try:
            given = [
                value for one in scope.bindings.get(node.id, ()) for value in self._given(one.node, file)
            ]
            return [answer(value) for value in given]
        finally:
            self._open.discard(key)

    def _handed(self, node: ast.arg, file: File) -> list[ast.expr]:
        function = function_around(node, file)
        if function is None or node not in parameters(function):
            return []
        found = [_In(value, file) for value in [default_of(function, node)] if value is not None]
        for given, other in self.possible.call_sites.arguments_for(function, node, file):
            if isinstance(given, ast.expr):
                found.append(_In(given, other))
        return list(found)

    # Settings

    def _switch_of_bits(self) -> str:
        """Where the program uses 64 bits on some paths and 32 on others; empty if it does not."""
        program = self.possible.program
        for file, call in [*program.calls.get("update", ()), *program.calls.get("enable_x64", ())]:
            name = self.possible.name_of(call.func, file)
            if name in ("jax.enable_x64", "jax.experimental.enable_x64"):
                return f"`{shown_source(call)}` at {program.place(file, call)}"
            setting = call.args[0] if call.args else None  # any name but a literal may be one
            if name != "jax.config.update" or (isinstance(setting, ast.Constant) and setting.value != _X64):
                continue
            if not isinstance(call.args[-1], ast.Constant) or self._only_sometimes(call, file, 0):
                return f"`{shown_source(call)}` at {program.place(file, call)}"
        for node, file in set_outside(program, _X64):
            above = file.names.parents.get(node)
            is_set = isinstance(above, ast.Subscript) and isinstance(above.ctx, ast.Store)
            if not is_set or self._only_sometimes(node, file, 0):
                return f"`{shown_source(above or node)}` at {program.place(file, node)}"
        return ""

    def _only_sometimes(self, node: ast.AST, file: File, depth: int) -> bool:
        """Whether some runs do not evaluate an expression, judging by the code around it and around the calls of its
        function."""
        for above in file.names.ancestors(node):
            if isinstance(above, FUNCTIONS):
                calls = self.possible.call_sites.calls_of(above, file)
                return depth >= _DEPTH or not any(
                    call is not None and not how and not self._only_sometimes(call, other, depth + 1)
                    for call, how, other in calls
                )
            if isinstance(above, _ONLY_SOMETIMES) and "__name__" not in ast.unparse(
                getattr(above, "test", file.tree.body[0])
            ):
                return True
        return False

    # Shapes

    def _is_one_number(self, node: ast.expr, file: File) -> bool:
        if isinstance(node, ast.Constant):
            return isinstance(node.value, int | float)
        if isinstance(node, ast.Call) and node.args:
            first = node.args[0]
            made = self.possible.name_of(node.func, file).startswith("jax.numpy.")
            return made and isinstance(first, ast.Tuple) and not first.elts
        return False

    def _arrays(self, loop: ast.AST, steps: Iterable[ast.expr]) -> list[ast.Name]:
        """The variables from which an iteration takes arrays."""
        over = [loop.iter] if isinstance(loop, ast.For) else []
        found = {
            node.id: node for part in [*over, *steps] for node in ast.walk(part) if isinstance(node, ast.Name)
        }
        return list(found.values())

    def ranks(self, node: ast.expr, file: File, depth: int = 0) -> set[int]:
        """The possible ranks of an array, if the shapes that create it are written out."""
        if depth > _DEPTH:
            return set()
        if isinstance(node, _In):
            return self.ranks(node.inner, node.file, depth)
        if isinstance(node, ast.IfExp):
            return self.ranks(node.body, file, depth + 1) | self.ranks(node.orelse, file, depth + 1)
        if isinstance(node, ast.Name):
            told = self._of_each_given(node, file, "ranks", lambda value: self.ranks(value, file, depth + 1))
            return set().union(*told)
        name = self.possible.name_of(node.func, file) if isinstance(node, ast.Call) else ""
        if isinstance(node, ast.Call) and name.startswith(("jax.numpy.", "jax.random.")):
            place = _SHAPED.get(name.rpartition(".")[2], 9)
            shapes = [keyword.value for keyword in node.keywords if keyword.arg == "shape"]
            shapes += node.args[place : place + 1]
            values = [value for shape in shapes for value in self.possible.of(shape, file)]
            return {
                len(value.items) for value in values if isinstance(value, Box) and value.items is not None
            }
        return set()

    # Dtypes

    def _chosen_dtype(self, starts: Iterable[ast.expr], file: File) -> ast.expr | None:
        """The dtype of an initial value that the program does not fix: a name from the command line, or one of
        several. The dtype of another array is not a choice."""
        for start in starts:
            for node, own in self._made_by(start, file):
                given = self._dtype_given(node, own)
                values = self.possible.of(given, own) if given is not None else frozenset()
                if given is None or values == {TYPE} or isinstance(given, ast.Constant):
                    continue
                if len(values) != 1 or not isinstance(next(iter(values)), Ext):
                    return given
        return None

    def _made_by(self, node: ast.expr, file: File, depth: int = 0) -> Iterator[tuple[ast.expr, File]]:
        """The calls that create an expression's value: its own, and those of its variables and operands."""
        if depth > _DEPTH:
            return
        if isinstance(node, _In):
            yield from self._made_by(node.inner, node.file, depth)
        elif isinstance(node, ast.Call):
            yield node, file
            if isinstance(node.func, ast.Attribute):
                yield from self._made_by(node.func.value, file, depth + 1)  # x.at[0].set(1.0)
        elif isinstance(
            node, ast.BinOp | ast.UnaryOp | ast.IfExp | ast.Subscript | ast.Attribute | ast.Tuple
        ):
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr):
                    yield from self._made_by(child, file, depth + 1)
        elif isinstance(node, ast.Name):
            for made in self._of_each_given(
                node, file, "made", lambda value: list(self._made_by(value, file, depth + 1))
            ):
                yield from made

    def _dtype_given(self, node: ast.expr, file: File) -> ast.expr | None:
        """The dtype that a call requests for its array."""
        if not isinstance(node, ast.Call):
            return None
        name = self.possible.name_of(node.func, file)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "astype" and not name:
            return node.args[0] if node.args else None
        if not name.startswith(("jax.", "numpy.")):
            return None
        place = _DTYPES.get(name.rpartition(".")[2], 9)
        found = [keyword.value for keyword in node.keywords if keyword.arg == "dtype"]
        return next(iter([*found, *node.args[place : place + 1]]), None)

    def may_be_whole(self, node: ast.expr, file: File, depth: int = 0) -> bool:
        """Whether there is evidence that an array has integers."""
        if depth > _DEPTH:
            return False
        if isinstance(node, _In):
            return self.may_be_whole(node.inner, node.file, depth)
        if isinstance(node, ast.Name):
            return any(
                self._of_each_given(
                    node, file, "whole", lambda value: self.may_be_whole(value, file, depth + 1)
                )
            )
        if isinstance(node, ast.IfExp):
            return any(self.may_be_whole(each, file, depth + 1) for each in (node.body, node.orelse))
        if isinstance(node, ast.BinOp):
            both = (node.left, node.right)
            if isinstance(node.op, ast.Div) or any(self.is_float(each, file) for each in both):
                return False
            return any(self.may_be_whole(each, file, depth + 1) for each in both)
        return isinstance(node, ast.Call) and self._is_whole_call(node, file)

    def _is_whole_call(self, node: ast.Call, file: File) -> bool:
        name = self.possible.name_of(node.func, file)
        last = name.rpartition(".")[2]
        types = [keyword.value for keyword in node.keywords if keyword.arg == "dtype"]
        if isinstance(node.func, ast.Attribute) and node.func.attr == "astype" and not name:
            types = node.args[:1]
        if types:
            return any(_last(each) in _WHOLE_TYPES for each in types)
        if last == "arange" and any(self.is_float(each, file) for each in node.args):
            return False
        return name.startswith(("jax.numpy.", "jax.random.", "numpy.")) and last in _WHOLE

    def is_float(self, node: ast.expr, file: File, depth: int = 0) -> bool:
        """Whether an expression certainly has floats, whatever its arrays are."""
        if depth > _DEPTH:
            return False
        if isinstance(node, ast.Constant):
            return isinstance(node.value, float)
        if isinstance(node, ast.BinOp):
            both = (node.left, node.right)
            return isinstance(node.op, ast.Div) or any(self.is_float(each, file, depth + 1) for each in both)
        if isinstance(node, ast.UnaryOp):
            return self.is_float(node.operand, file, depth + 1)
        if isinstance(node, ast.Call):
            return _last(node.func) in _FLOATING
        return False


class _In(ast.expr):
    """An expression of another file."""

    def __init__(self, inner: ast.expr, file: File) -> None:
        super().__init__()
        self.inner, self.file = inner, file


def _last(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
