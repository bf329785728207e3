"""Whether a variable may have another shape or dtype after an iteration than before the first: a loop of JAX raises for it.

A run shows the shapes of its own path. What starts as a number becomes an array of the rows' shape, whole numbers become floats.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from jaxlint.codemods.flow import FUNCTIONS
from jaxlint.codemods.purity.meaning import Meaning, default_of
from jaxlint.codemods.purity.program import File, FunctionNode, own_parts, parameters
from jaxlint.codemods.purity.values import NUMBER, Fn, Wrapped, one
from jaxlint.jaxapi.twins import ELEMENTWISE

_REDUCING = frozenset({"sum", "mean", "max", "min", "prod", "std", "var", "any", "all", "argmax", "argmin", "median", "nansum", "nanmean", "logsumexp", "norm", "vdot", "trace", "count_nonzero", "det", "ptp", "amax", "amin", "average"})  # fmt: skip
_ALIKE = frozenset({"where", "clip", "maximum", "minimum", "float32", "int32", "asarray", "array", "square", "sqrt", "astype", "relu", "sigmoid", "softplus", "stop_gradient", "block_until_ready"})  # fmt: skip
_AXES = frozenset({"axis", "keepdims", "axes"})
_NUMERIC = ("jax.numpy.", "jax.nn.", "jax.lax.", "jax.scipy.special.", "numpy.", "math.")
_WHOLE = frozenset({"arange", "randint", "argmax", "argmin", "argsort", "bincount"})
_WHOLE_TYPES = frozenset(
    {"int", "int32", "int64", "uint32", "int8", "uint8", "int16", "uint16", "bool", "bool_"}
)
_FLOATING = frozenset({"sin", "cos", "tan", "tanh", "sinh", "cosh", "exp", "log", "sqrt", "mean", "std", "var", "sigmoid", "softmax", "log_softmax", "logsumexp", "norm", "log1p", "expm1", "gelu", "silu", "softplus"})  # fmt: skip
_COMPILING = frozenset({"jax.jit", "jax.checkpoint", "jax.remat", "equinox.filter_jit", "flax.nnx.jit"})
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
            if any(self._is_written_scalar(value, file) for value in starts):
                if not all(self.is_scalar(value, file) for value in steps):
                    yield f"`{name}` starts as one number, and an iteration may make an array of it; a loop of JAX keeps shapes"
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
        if isinstance(above, ast.Tuple | ast.List) and isinstance(node, ast.Name):
            statement = file.names.parents.get(above)
            if isinstance(statement, ast.Assign):
                return self._part(statement.value, above.elts.index(node), len(above.elts))
        return []

    def _part(self, value: ast.expr, index: int, count: int) -> list[ast.expr]:
        """What is unpacked at a place, where that is written out; else the whole, of which nothing is known."""
        if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == count:
            return [value.elts[index]]
        return [ast.copy_location(_Item(value, index, count), value)]

    def _handed(self, node: ast.arg, file: File) -> list[ast.expr]:
        function = next((each for each in file.names.ancestors(node) if isinstance(each, FUNCTIONS)), None)
        if function is None or node not in parameters(function):
            return []
        bound = self.meaning.class_around(function, file) is not None
        found = [_In(value, file) for value in [default_of(function, node)] if value is not None]
        for call, how, other in self.meaning.calls_of(function, file):
            if call is not None and not how:
                given = self.meaning.expression_for(call, function, node, bound=bound)
                if isinstance(given, ast.expr):
                    found.append(_In(given, other))
        return list(found)

    # Shapes

    def _is_written_scalar(self, node: ast.expr, file: File) -> bool:
        if isinstance(node, ast.UnaryOp):
            return self._is_written_scalar(node.operand, file)
        if isinstance(node, ast.Constant):
            return isinstance(node.value, int | float) and node.value is not None
        if isinstance(node, ast.Call) and node.args:
            last = self.meaning.name_of(node.func, file).rpartition(".")[2]
            first = node.args[0]
            empty = isinstance(first, ast.Tuple) and not first.elts
            return (last in ("zeros", "ones", "full", "empty") and empty) or (
                last in ("asarray", "array", "float32", "int32", "float") and isinstance(first, ast.Constant)
            )
        return False

    def is_scalar(self, node: ast.expr, file: File, depth: int = 0) -> bool:
        """Whether an expression is certainly one number, or an array of one."""
        if depth > _DEPTH:
            return False
        if isinstance(node, _In):
            return self.is_scalar(node.inner, node.file, depth)
        if isinstance(node, _Item):
            return self._is_scalar_item(node, file, depth + 1)
        if self._is_written_scalar(node, file) or self.meaning.of(node, file) == one(NUMBER):
            return True
        if isinstance(node, ast.Name):
            return self._is_scalar_name(node, file, depth + 1)
        if isinstance(node, ast.Call):
            return self._is_scalar_call(node, file, depth + 1)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            return False
        if isinstance(node, ast.IfExp):
            return self.is_scalar(node.body, file, depth + 1) and self.is_scalar(node.orelse, file, depth + 1)
        if isinstance(node, ast.BinOp | ast.UnaryOp | ast.Compare | ast.BoolOp):
            operands = [part for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)]
            return all(self.is_scalar(part, file, depth + 1) for part in operands)
        return False

    def _is_scalar_name(self, node: ast.Name, file: File, depth: int) -> bool:
        scope = file.names.scope_at(node).resolve(node.id)
        key = (id(scope), node.id)
        if scope is None or key in self._open:
            return scope is not None  # what is made of itself: the other bindings say what it is
        self._open.add(key)
        try:
            given = [self._given(binding.node, file) for binding in scope.bindings.get(node.id, ())]
            return bool(given) and all(
                values and all(self.is_scalar(value, file, depth) for value in values) for values in given
            )
        finally:
            self._open.discard(key)

    def _is_scalar_call(self, node: ast.Call, file: File, depth: int) -> bool:
        name = self.meaning.name_of(node.func, file)
        last = name.rpartition(".")[2]
        method = node.func.attr if isinstance(node.func, ast.Attribute) and not name else ""
        whole = not any(keyword.arg in _AXES for keyword in node.keywords)
        if (name.startswith(_NUMERIC) and last in _REDUCING and len(node.args) == 1) or (
            method in _REDUCING and not node.args
        ):
            return whole
        if name in ("float", "int", "bool", "abs", "max", "min") and node.args:
            return name in ("float", "int", "bool") or all(
                self.is_scalar(each, file, depth) for each in node.args
            )
        if name.startswith(_NUMERIC) and last in ELEMENTWISE | _ALIKE:
            return all(self.is_scalar(each, file, depth) for each in node.args)
        if method == "item" or (method in _ALIKE and isinstance(node.func, ast.Attribute)):
            return method == "item" or self.is_scalar(node.func.value, file, depth)  # type: ignore[attr-defined]
        returned = self._returned(node, file)
        return bool(returned) and all(self.is_scalar(value, own, depth) for value, own in returned)

    def _is_scalar_item(self, node: _Item, file: File, depth: int) -> bool:
        if not isinstance(node.value, ast.Call):
            return False
        callees = self.meaning.of(node.value.func, file)
        if (
            node.index == 0
            and callees
            and all(isinstance(each, Wrapped) and each.how.endswith("value_and_grad") for each in callees)
        ):
            return True
        returned = self._returned(node.value, file)
        parts = [(self._part(value, node.index, node.count)[0], own) for value, own in returned]
        return bool(parts) and all(self.is_scalar(value, own, depth) for value, own in parts)

    def _returned(self, call: ast.Call, file: File) -> list[tuple[ast.expr, File]]:
        """What the functions of the program that a call may call return; nothing where it may call another."""
        found: list[tuple[ast.expr, File]] = []
        for callee in self.meaning.of(call.func, file):
            functions = [callee] if isinstance(callee, Fn) else _inner(callee)
            if not functions:
                return []
            for function in functions:
                found += [(value, function.file) for value in _returns(function.node)]
        return found

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


class _Item(ast.expr):
    """A part of what is unpacked."""

    def __init__(self, value: ast.expr, index: int, count: int) -> None:
        super().__init__()
        self.value, self.index, self.count = value, index, count


class _In(ast.expr):
    """An expression of another file."""

    def __init__(self, inner: ast.expr, file: File) -> None:
        super().__init__()
        self.inner, self.file = inner, file


def _inner(value: object) -> list[Fn]:
    if isinstance(value, Wrapped) and value.how in _COMPILING:
        return [each for each in value.inner if isinstance(each, Fn)]
    return []


def _returns(function: FunctionNode) -> list[ast.expr]:
    if isinstance(function, ast.Lambda):
        return [function.body]
    parts = (part for statement in function.body for part in [statement, *own_parts(statement)])
    return [part.value for part in parts if isinstance(part, ast.Return) and part.value is not None]


def _last(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
