"""Whether a variable may have another shape or dtype after an iteration than before the first: a loop of JAX raises for it.

A run shows those of its own path. Behind a flag it may start with whole numbers, of which an iteration makes floats, or with one number where
the rows have several. Only what the program says counts: an array of which nothing is known is taken as the run had it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from jaxlint.codemods.flow import FUNCTIONS
from jaxlint.codemods.purity.meaning import Meaning, default_of
from jaxlint.codemods.purity.program import File, parameters
from jaxlint.codemods.purity.values import Box

_WHOLE = frozenset({"arange", "randint", "argmax", "argmin", "argsort", "bincount"})
_WHOLE_TYPES = frozenset(
    {"int", "int32", "int64", "uint32", "int8", "uint8", "int16", "uint16", "bool", "bool_"}
)
_FLOATING = frozenset({"sin", "cos", "tan", "tanh", "sinh", "cosh", "exp", "log", "sqrt", "mean", "std", "var", "sigmoid", "softmax", "log_softmax", "logsumexp", "norm", "log1p", "expm1", "gelu", "silu", "softplus"})  # fmt: skip
_SHAPED = {"zeros": 0, "ones": 0, "full": 0, "normal": 1, "uniform": 1, "randint": 1, "bernoulli": 2}
_DEPTH = 8


class Carried:
    """What is known of the shapes and dtypes of the variables of a loop, over all paths."""

    def __init__(self, meaning: Meaning) -> None:
        self.meaning = meaning
        self._open: set[object] = set()

    def problems(self, names: Iterable[str], loop: ast.AST, file: File) -> Iterator[str]:
        """What may change, in words."""
        own = set(ast.walk(loop))
        for name in names:
            scope = file.names.scope_at(loop).resolve(name)
            bindings = scope.bindings.get(name, ()) if scope is not None else ()
            starts = [value for b in bindings if b.node not in own for value in self._given(b.node, file)]
            steps = [value for b in bindings if b.node in own for value in self._given(b.node, file)]
            if any(self._is_one_number(value, file) for value in starts):
                for part in self._arrays(loop, steps):
                    if len(self.ranks(part, file)) > 1:
                        yield f"`{name}` starts as one number, and `{part.id}` may have more axes on another path; a loop of JAX keeps shapes"
            if any(self.may_be_whole(value, file) for value in starts):
                if any(self.is_float(value, file) for value in steps):
                    yield f"`{name}` may start with whole numbers, and an iteration makes floats of them; a loop of JAX keeps dtypes"

    def _given(self, node: ast.AST, file: File) -> list[ast.expr]:
        """The expressions that a binding takes its value from; a parameter those of the calls that are seen."""
        if isinstance(node, ast.arg):
            return self._handed(node, file)
        above = file.names.parents.get(node)
        if isinstance(above, ast.Assign | ast.AnnAssign | ast.NamedExpr | ast.AugAssign):
            return [above.value] if above.value is not None else []
        if isinstance(above, ast.Tuple) and isinstance(node, ast.Name):
            statement = file.names.parents.get(above)
            value = statement.value if isinstance(statement, ast.Assign) else None
            if isinstance(value, ast.Tuple) and len(value.elts) == len(above.elts):
                return [value.elts[above.elts.index(node)]]
        return []

    def _handed(self, node: ast.arg, file: File) -> list[ast.expr]:
        function = next((each for each in file.names.ancestors(node) if isinstance(each, FUNCTIONS)), None)
        if function is None or node not in parameters(function):
            return []
        bound = self.meaning.classes.class_around(function, file) is not None
        found = [_In(value, file) for value in [default_of(function, node)] if value is not None]
        for call, how, other in self.meaning.call_sites.calls_of(function, file):
            if call is not None and not how:
                given = self.meaning.call_sites.expression_for(call, function, node, bound=bound)
                if isinstance(given, ast.expr):
                    found.append(_In(given, other))
        return list(found)

    # Shapes

    def _is_one_number(self, node: ast.expr, file: File) -> bool:
        if isinstance(node, ast.Constant):
            return isinstance(node.value, int | float)
        if isinstance(node, ast.Call) and node.args:
            first = node.args[0]
            made = self.meaning.name_of(node.func, file).startswith("jax.numpy.")
            return made and isinstance(first, ast.Tuple) and not first.elts
        return False

    def _arrays(self, loop: ast.AST, steps: Iterable[ast.expr]) -> list[ast.Name]:
        """The variables that an iteration takes arrays from."""
        over = [loop.iter] if isinstance(loop, ast.For) else []
        found = {
            node.id: node for part in [*over, *steps] for node in ast.walk(part) if isinstance(node, ast.Name)
        }
        return list(found.values())

    def ranks(self, node: ast.expr, file: File, depth: int = 0) -> set[int]:
        """How many axes an array may have, as far as the shapes with which it is made are written out."""
        if depth > _DEPTH:
            return set()
        if isinstance(node, _In):
            return self.ranks(node.inner, node.file, depth)
        if isinstance(node, ast.IfExp):
            return self.ranks(node.body, file, depth + 1) | self.ranks(node.orelse, file, depth + 1)
        if isinstance(node, ast.Name):
            scope = file.names.scope_at(node).resolve(node.id)
            key = (id(scope), node.id, "ranks")
            if scope is None or key in self._open:
                return set()
            self._open.add(key)
            try:
                given = [v for b in scope.bindings.get(node.id, ()) for v in self._given(b.node, file)]
                return {rank for value in given for rank in self.ranks(value, file, depth + 1)}
            finally:
                self._open.discard(key)
        name = self.meaning.name_of(node.func, file) if isinstance(node, ast.Call) else ""
        if isinstance(node, ast.Call) and name.startswith(("jax.numpy.", "jax.random.")):
            place = _SHAPED.get(name.rpartition(".")[2], 9)
            shapes = [keyword.value for keyword in node.keywords if keyword.arg == "shape"]
            shapes += node.args[place : place + 1]
            values = [value for shape in shapes for value in self.meaning.of(shape, file)]
            return {
                len(value.items) for value in values if isinstance(value, Box) and value.items is not None
            }
        return set()

    # Dtypes

    def may_be_whole(self, node: ast.expr, file: File, depth: int = 0) -> bool:
        """Whether something says that an array has whole numbers."""
        if depth > _DEPTH:
            return False
        if isinstance(node, _In):
            return self.may_be_whole(node.inner, node.file, depth)
        if isinstance(node, ast.Name):
            scope = file.names.scope_at(node).resolve(node.id)
            key = (id(scope), node.id, "whole")
            if scope is None or key in self._open:
                return False
            self._open.add(key)
            try:
                given = [v for b in scope.bindings.get(node.id, ()) for v in self._given(b.node, file)]
                return any(self.may_be_whole(value, file, depth + 1) for value in given)
            finally:
                self._open.discard(key)
        if isinstance(node, ast.IfExp):
            return any(self.may_be_whole(each, file, depth + 1) for each in (node.body, node.orelse))
        if isinstance(node, ast.BinOp):
            both = (node.left, node.right)
            if isinstance(node.op, ast.Div) or any(self.is_float(each, file) for each in both):
                return False
            return any(self.may_be_whole(each, file, depth + 1) for each in both)
        return isinstance(node, ast.Call) and self._is_whole_call(node, file)

    def _is_whole_call(self, node: ast.Call, file: File) -> bool:
        name = self.meaning.name_of(node.func, file)
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
        """Whether an expression is certainly of floats, whatever its arrays are."""
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
