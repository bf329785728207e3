"""Code that can be traced for any values: it raises, or it only computes on arrays.

The list is short on purpose: it decides about code that no run has reached.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from jaxlint.codemods.purity.concretization import NEEDS_AN_ARRAY
from jaxlint.codemods.purity.known_functions import STAGING
from jaxlint.codemods.purity.possible_values import PossibleValues
from jaxlint.codemods.purity.program import File
from jaxlint.codemods.purity.values import ARRAY, NUMPY, TEXT, Box, Ext, Fn, Inst, Value, Wrapped
from jaxlint.jaxapi.twins import ELEMENTWISE

# Functions that accept tracers for all their arguments.
_OF_ARRAYS = ELEMENTWISE | {"clip", "dot", "matmul", "outer", "inner", "vdot", "real", "imag"}  # fmt: skip
# Their first argument may be a tracer; the others have to be written out.
_FIRST = frozenset(
    """sum mean max min std var prod all any argmax argmin cumsum cumprod concatenate stack hstack vstack expand_dims squeeze transpose
    swapaxes moveaxis ravel flip median linalg.norm sort argsort asarray array float32 float16 bfloat16 broadcast_to reshape
    zeros_like ones_like pad roll tile repeat""".split()  # noqa: SIM905
)
_MADE = frozenset(
    {"zeros", "ones", "full", "eye", "arange", "linspace"}
)  # functions whose arguments must all be literals
_NN = frozenset(
    """relu relu6 sigmoid softplus soft_sign silu swish log_sigmoid leaky_relu hard_sigmoid hard_silu hard_swish hard_tanh elu celu
    selu gelu glu softmax log_softmax logsumexp standardize mish squareplus normalize""".split()  # noqa: SIM905
)
_RANDOM = frozenset(
    "key PRNGKey split fold_in normal uniform bernoulli truncated_normal exponential gumbel laplace rademacher".split()  # noqa: SIM905
)
_LAX = frozenset({"stop_gradient", "rsqrt", "square"})
_LEAVES = frozenset({"jax.tree.leaves", "jax.tree_util.tree_leaves"})
_MAPS = frozenset({"jax.tree.map", "jax.tree_util.tree_map"})
_METHODS = frozenset(
    "sum mean max min std var prod all any argmax argmin cumsum astype reshape transpose ravel squeeze swapaxes clip dot".split()  # noqa: SIM905
)
_DTYPES = frozenset("float16 bfloat16 float32 int8 int16 int32 uint8 uint16 uint32 bool_ complex64".split())  # noqa: SIM905
_STATIC = frozenset({"shape", "ndim", "dtype", "size"})


@dataclass(slots=True)
class Harmless:
    """`only_raises`: the code becomes the body of a JAX loop, where a branch may not change a dtype either."""

    possible: PossibleValues
    only_raises: bool = False

    def first_other(self, node: ast.stmt | ast.expr, file: File) -> ast.AST | None:
        """The first part of a statement or expression that may not be traceable."""
        if isinstance(node, ast.expr):
            return None if not self.only_raises and self._computes(node, file) else node
        if isinstance(node, ast.Raise | ast.Pass | ast.FunctionDef):
            return node if isinstance(node, ast.FunctionDef) and node.decorator_list else None
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return None
        if isinstance(node, ast.If) and self._is_static(node.test):
            return self._first_of([*node.body, *node.orelse], file)
        return None if not self.only_raises and self._is_plain(node, file) else node

    def _first_of(self, statements: Iterable[ast.stmt], file: File) -> ast.AST | None:
        found = (self.first_other(one, file) for one in statements)
        return next((one for one in found if one is not None), None)

    def _is_plain(self, node: ast.stmt, file: File) -> bool:
        if isinstance(node, ast.Break | ast.Continue):
            return True
        if isinstance(node, ast.Return):
            return node.value is None or self._computes(node.value, file)
        if isinstance(node, ast.Assign):
            return all(map(_names, node.targets)) and self._computes(node.value, file)
        if isinstance(node, ast.AnnAssign):
            return _names(node.target) and (node.value is None or self._computes(node.value, file))
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            held = self.possible.of(node.target, file)
            changed = any(one == NUMPY or isinstance(one, Box) for one in held)
            return not changed and self._computes(node.value, file)
        return False

    def _computes(self, node: ast.expr, file: File) -> bool:
        """Whether an expression only computes on arrays, whatever these are."""
        if isinstance(node, ast.Constant | ast.Name):
            return True
        if isinstance(node, ast.Lambda):
            return self._computes(node.body, file)
        if isinstance(node, ast.Attribute):
            return self._reads(node, file)
        if isinstance(node, ast.BinOp):
            return all(self._is_operand(one, file) for one in (node.left, node.right))
        if isinstance(node, ast.UnaryOp):
            return not isinstance(node.op, ast.Not) and self._computes(node.operand, file)
        if isinstance(node, ast.Compare):
            simple = len(node.ops) == 1 and not isinstance(node.ops[0], ast.In | ast.NotIn)
            return simple and all(self._computes(one, file) for one in [node.left, *node.comparators])
        if isinstance(node, ast.Tuple | ast.List):
            return all(self._computes(one, file) for one in node.elts)
        if isinstance(node, ast.Dict):
            keys = all(isinstance(one, ast.Constant) for one in node.keys)
            return keys and all(self._computes(one, file) for one in node.values)
        if isinstance(node, ast.Subscript):
            return self._computes(node.value, file) and _is_written_out(node.slice)
        if isinstance(node, ast.IfExp):
            return self._is_static(node.test) and all(
                self._computes(one, file) for one in (node.body, node.orelse)
            )
        return isinstance(node, ast.Call) and self._call_computes(node, file)

    def _reads(self, node: ast.Attribute, file: File) -> bool:
        """Whether an attribute is data, and not a property of the program or the place of a buffer."""
        if node.attr in NEEDS_AN_ARRAY or not self._computes(node.value, file):
            return False
        return not any(isinstance(one, Fn) for one in self.possible.of(node, file)) or isinstance(
            node.value, ast.Name
        )

    def _call_computes(self, node: ast.Call, file: File) -> bool:
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        if any(isinstance(one, ast.Starred) for one in node.args) or any(
            one.arg is None for one in node.keywords
        ):
            return False
        if not all(self._computes(one, file) for one in given):
            return False
        values = self.possible.of(node.func, file)
        if values and all(isinstance(one, Ext) and one.name in _MAPS for one in values):
            mapped = self.possible.of(node.args[0], file) if node.args else frozenset()
            return bool(mapped) and all(_calls_traceable(value, [node]) for value in mapped)
        if isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS:
            held = self.possible.of(node.func.value, file)
            if held and all(one == ARRAY for one in held):
                return self._computes(node.func.value, file) and all(map(_is_written_out, given))
        return bool(values) and all(_calls_traceable(value, given) for value in values)

    def _is_operand(self, node: ast.expr, file: File) -> bool:
        """Whether it is an operand of arithmetic, and not a container or string, for which operators have other meanings."""
        other = any(isinstance(one, Box) or one == TEXT for one in self.possible.of(node, file))
        return not other and self._computes(node, file)

    def _is_static(self, test: ast.expr) -> bool:
        """Whether a test only depends on shapes, or on which values are None."""
        if isinstance(test, ast.BoolOp):
            return all(map(self._is_static, test.values))
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return self._is_static(test.operand)
        if not isinstance(test, ast.Compare):
            return False
        parts = [test.left, *test.comparators]
        if all(isinstance(op, ast.Is | ast.IsNot) for op in test.ops):
            return all(isinstance(one, ast.Constant | ast.Name | ast.Attribute) for one in parts)
        return all(map(_is_written_out, parts))


def _calls_traceable(value: Value, given: Sequence[ast.expr]) -> bool:
    """Whether a call of a value can be traced: of an external function, or of a program function whose own
    code is checked too.
    """
    if isinstance(value, Ext):
        return _can_be_traced(value.name, given)
    if isinstance(value, Wrapped):
        return value.how not in STAGING and all(_calls_traceable(one, given) for one in value.inner)
    return isinstance(value, Fn | Inst) and not getattr(getattr(value, "node", None), "decorator_list", ())


def _can_be_traced(name: str, given: Sequence[ast.expr]) -> bool:
    """Whether an external function accepts the arguments `given`, which may be tracers unless they are literals."""
    written_out = all(map(_is_written_out, given[1:]))
    module, _, own = name.rpartition(".")
    if name.startswith("jax.numpy."):
        own = name.removeprefix("jax.numpy.")
        if own in _MADE:
            return all(map(_is_written_out, given))
        return own in _OF_ARRAYS or (own == "where" and len(given) == 3) or (own in _FIRST and written_out)
    if name in _LEAVES:
        return written_out
    if module == "jax.random":
        return own in _RANDOM and written_out
    if module == "jax.lax":
        return own in _LAX
    return module == "jax.nn" and own in _NN and written_out


def _names(target: ast.expr) -> bool:
    if isinstance(target, ast.Tuple):
        return all(map(_names, target.elts))
    return isinstance(target, ast.Name)


def _is_written_out(node: ast.expr) -> bool:
    """Whether a value is known at trace time: it consists of constants, and shapes of arrays."""
    if isinstance(node, ast.Constant):
        return True
    if isinstance(node, ast.Tuple | ast.List):
        return all(map(_is_written_out, node.elts))
    if isinstance(node, ast.UnaryOp):
        return _is_written_out(node.operand)
    if isinstance(node, ast.BinOp):
        return _is_written_out(node.left) and _is_written_out(node.right)
    if isinstance(node, ast.Slice):
        return all(one is None or _is_written_out(one) for one in (node.lower, node.upper, node.step))
    if isinstance(node, ast.Subscript):
        return _is_written_out(node.value) and _is_written_out(node.slice)
    if isinstance(node, ast.Attribute):
        return isinstance(node.value, ast.Name | ast.Attribute) and node.attr in _STATIC | _DTYPES
    return False
