"""NumPy computations in a function that would be traced: NumPy uses 64 bits, and JAX would use 32.

A NumPy array combined with a JAX array already had 32 bits. Two NumPy arrays keep their width: integer products and
sums do not wrap around, and differences keep sixteen digits.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field

from jaxlint.codemods.facts.dataflow import FUNCTIONS
from jaxlint.codemods.purity.concretization import Traced, parts_of
from jaxlint.codemods.purity.known_functions import TRANSFORMS
from jaxlint.codemods.purity.possible_values import PossibleValues
from jaxlint.codemods.purity.program import File, FunctionNode, assigned
from jaxlint.codemods.purity.values import (
    ARRAY,
    NONE,
    NUMBER,
    NUMPY,
    TEXT,
    Fn,
    Made,
    Method,
    Value,
    leaves_of,
)
from jaxlint.codemods.source.name_scopes import Binding
from jaxlint.codemods.source.text_edits import shown_source

_ANY = frozenset({"?"})
_SAME = frozenset({"bool", "bool_", "float16", "float32", "bfloat16"})  # JAX computes in them like NumPy
_NARROW = frozenset({"int8", "int16", "int32", "uint8", "uint16", "uint32"})
_WIDE_FLOATS = frozenset({"float64", "float", "double", "complex128", "complex64"})
_ADDING = frozenset({"sum", "prod", "cumsum", "cumprod", "dot", "trace", "ptp"})
_KEEPING = frozenset({"T", "mT", "real", "flat"})
_RESHAPING = frozenset(
    {"copy", "reshape", "ravel", "flatten", "transpose", "squeeze", "max", "min", "clip", "take", "repeat"}
)
_MAKING = frozenset({"zeros", "ones", "full", "array", "asarray", "arange", "empty", "ascontiguousarray"})
_NUMBERS_OF = {"float": "float64", "int": "int64"}  # NumPy's dtypes for Python's types
_HANDING_ON = frozenset(name for name in TRANSFORMS if "partial" not in name.lower())
# Functions of NumPy with results in the dtype of their argument, or float64 for integers of 64 bits.
_FLOATING = frozenset({"sin", "cos", "tan", "exp", "log", "sqrt", "tanh", "sinh", "cosh", "arctan"})
# Methods of a random generator with results in float64.
_DRAWING = frozenset(
    {"uniform", "normal", "standard_normal", "random", "exponential", "beta", "gamma", "laplace"}
)
_GENERATORS = frozenset({"numpy.random.default_rng", "numpy.random.RandomState", "numpy.random.Generator"})
_DEPTH = 8


@dataclass(slots=True)
class HostArrays:
    """`seen`: the dtypes of the parameters of `root` in a run, if it is a function."""

    possible: PossibleValues
    traced: Traced
    root: FunctionNode | None = None
    seen: Mapping[str, Set[str]] = field(default_factory=dict)
    _open: set[ast.AST] = field(default_factory=set)

    def problems(self, file: File) -> Iterator[str]:
        """Computations that would lose bits, in words. `file`: that of the code to be traced."""
        for node, own in self.traced.evaluated(file):
            if node not in self.traced.skipped and (what := self._narrowed(node, own)):
                place = self.possible.program.place(own, node)
                yield f"`{shown_source(node)}` at {place} {what} with NumPy arrays, in 64 bits, where JAX has 32"

    def _narrowed(self, node: ast.AST, file: File) -> str:
        if isinstance(node, ast.BinOp | ast.AugAssign):
            left, right = (
                (node.left, node.right) if isinstance(node, ast.BinOp) else (node.target, node.value)
            )
            both = [left, right]
            if not self._is_host(both, file):
                return ""
            dtypes = self._of_all(both, file)
            if not dtypes <= _SAME | _NARROW | _WIDE_FLOATS:
                return "computes integers" if "?" not in dtypes else "may compute integers"
            if isinstance(node.op, ast.Sub) and not dtypes <= _SAME | _NARROW:
                small = [
                    isinstance(one, ast.Constant)
                    for one in both  # 1 - x only costs its last digits
                ]
                return "" if any(small) else "takes a difference"
            if isinstance(node.op, ast.FloorDiv | ast.Mod) and not dtypes <= _SAME:
                return "rounds"
            return ""
        if isinstance(node, ast.Call):
            given = self._summed(node, file)
            if given is not None and self._is_host([given], file):
                dtypes = self.dtypes(given, file)
                return "" if dtypes <= _SAME | _WIDE_FLOATS else "adds up integers"
        return ""

    def _summed(self, node: ast.Call, file: File) -> ast.expr | None:
        """The operand of a sum or product, by a NumPy method or function."""
        name = self.possible.name_of(node.func, file)
        if name.startswith("numpy.") and name.removeprefix("numpy.") in _ADDING:
            return node.args[0] if node.args else None
        if isinstance(node.func, ast.Attribute) and not name and node.func.attr in _ADDING:
            return node.func.value
        return None

    def _is_host(self, operands: list[ast.expr], file: File) -> bool:
        """Whether NumPy may compute it now, and JAX in the traced version."""
        if not any(self.traced.is_traced(one, file) for one in operands):
            return False
        values = [leaves_of(self.possible.of(one, file)) for one in operands]
        return any(NUMPY in each for each in values) and all(each & {NUMPY, NUMBER} for each in values)

    # Dtypes

    def _of_all(self, operands: list[ast.expr], file: File) -> frozenset[str]:
        """The dtypes of the array operands: a Python number adapts to the other operand."""
        arrays = [one for one in operands if NUMPY in leaves_of(self.possible.of(one, file))]
        found: frozenset[str] = frozenset().union(*(self.dtypes(one, file) for one in arrays))
        if any(isinstance(one, ast.Constant) and isinstance(one.value, float) for one in operands):
            whole = found - _SAME - _WIDE_FLOATS  # `1.0 - done`: integers become floats first
            return found - whole | {"float64"} if whole else found
        return found

    def dtypes(self, node: ast.expr, file: File, depth: int = 0) -> frozenset[str]:
        """The possible dtypes of a NumPy array, "?" for any."""
        if depth > _DEPTH or node in self._open:
            return _ANY
        self._open.add(node)
        try:
            return self._dtypes(node, file, depth + 1)
        finally:
            self._open.discard(node)

    def _dtypes(self, node: ast.expr, file: File, depth: int) -> frozenset[str]:
        if isinstance(node, ast.Name):
            found = [self._bound(one, file, depth) for one in assigned(node, file)]
            return frozenset().union(*found) if found else _ANY
        if isinstance(node, ast.Compare):
            return frozenset({"bool"})
        if isinstance(node, ast.BinOp):
            dtypes = self._of_all([node.left, node.right], file)
            whole = dtypes - _SAME - _WIDE_FLOATS
            return dtypes - whole | {"float64"} if isinstance(node.op, ast.Div) and whole else dtypes
        if isinstance(node, ast.UnaryOp | ast.Subscript | ast.Starred):
            return self.dtypes(node.operand if isinstance(node, ast.UnaryOp) else node.value, file, depth)
        if isinstance(node, ast.Attribute) and node.attr in _KEEPING:
            return self.dtypes(node.value, file, depth)
        if isinstance(node, ast.Attribute):
            holders = self.possible.classes.holders
            stores = holders.stores(node.attr, holders.of(node.value, file))
            stored = [self._bound_to(one, other, depth) for other, one in stores]
            return frozenset().union(*stored) if stored else _ANY
        if isinstance(node, ast.Tuple | ast.List):
            return self._union(node.elts, file, depth)
        return self._made(node, file, depth) if isinstance(node, ast.Call) else _ANY

    def _made(self, node: ast.Call, file: File, depth: int) -> frozenset[str]:
        name = self.possible.name_of(node.func, file)
        given = next((keyword.value for keyword in node.keywords if keyword.arg == "dtype"), None)
        method = node.func.attr if isinstance(node.func, ast.Attribute) and not name else ""
        if method == "astype" and node.args:
            given = node.args[0]
        if given is not None and (method == "astype" or name.removeprefix("numpy.") in _MAKING):
            return self._named(given, file)
        if isinstance(node.func, ast.Attribute) and method in _RESHAPING | {"sum", "mean", "prod"}:
            return self.dtypes(node.func.value, file, depth)
        values = self.possible.of(node.func, file)
        if name.startswith("numpy.") and name.removeprefix("numpy.") in _FLOATING and len(node.args) == 1:
            return frozenset(
                "float64" if one in ("int64", "int") else one
                for one in self.dtypes(node.args[0], file, depth)
            )
        if method in _DRAWING and given is None and values and all(map(_draws, values)):
            return frozenset({"float64"})
        found: frozenset[str] = frozenset()
        for value in values:
            returned = _returned(value) if isinstance(value, Fn) else None
            if returned is None or not isinstance(value, Fn):
                return _ANY
            found |= self._union(returned, value.file, depth)
        return found if values else _ANY

    def _union(self, nodes: Sequence[ast.expr], file: File, depth: int) -> frozenset[str]:
        """The dtypes of those of several expressions that may be arrays of NumPy."""
        found: frozenset[str] = frozenset()
        for node in nodes:
            leaves = leaves_of(self.possible.of(node, file))
            if not leaves or not leaves <= {ARRAY, NUMBER, TEXT, NONE}:
                found |= self.dtypes(node, file, depth)
        return found

    def _named(self, node: ast.expr, file: File) -> frozenset[str]:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return frozenset({node.value})
        name = self.possible.name_of(node, file)
        if name in _NUMBERS_OF:
            return frozenset({_NUMBERS_OF[name]})
        return frozenset({name.rpartition(".")[2]}) if name.startswith(("numpy.", "jax.numpy.")) else _ANY

    def _bound(self, binding: Binding, file: File, depth: int) -> frozenset[str]:
        node = binding.node
        if isinstance(node, ast.arg):
            return self._parameter(node, file, depth)
        return self._bound_to(node, file, depth)

    def _bound_to(self, node: ast.AST, file: File, depth: int) -> frozenset[str]:
        above = file.names.parents.get(node)
        while isinstance(above, ast.Tuple | ast.List):
            above = file.names.parents.get(above)  # a part has one of the dtypes of the whole
        if isinstance(above, ast.Assign | ast.AnnAssign | ast.NamedExpr | ast.AugAssign) and above.value:
            return self._union([above.value], file, depth)
        return _ANY

    def _parameter(self, node: ast.arg, file: File, depth: int) -> frozenset[str]:
        """From a run for the traced function's own parameters, and from all calls for those of another function."""
        function = file.names.parents.get(file.names.parents.get(node, node))
        if function is self.root and (seen := self.seen.get(node.arg)):
            return frozenset(seen)
        if not isinstance(function, FUNCTIONS):
            return _ANY
        found: frozenset[str] = frozenset()
        for given, other in self.possible.call_sites.arguments_for(function, node, file, _HANDING_ON):
            found |= self.dtypes(given, other, depth) if isinstance(given, ast.expr) else _ANY
        return found or _ANY


def _draws(value: Value) -> bool:
    """Whether a method belongs to a random generator of NumPy."""
    return (
        isinstance(value, Method) and isinstance(value.receiver, Made) and value.receiver.name in _GENERATORS
    )


def _returned(value: Fn) -> list[ast.expr] | None:
    """What a function returns; None if it yields, or awaits."""
    if isinstance(value.node, ast.Lambda):
        return [value.node.body]
    parts = parts_of(value.node)
    if isinstance(value.node, ast.AsyncFunctionDef) or any(
        isinstance(one, ast.Yield | ast.YieldFrom) for one in parts
    ):
        return None
    return [one.value for one in parts if isinstance(one, ast.Return) and one.value is not None]
