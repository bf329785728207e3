"""The number of elements of an array, from the source that creates it and the constants in scope."""

from __future__ import annotations

import ast
import math

from jaxlint.api import Module, Scope
from jaxlint.api.syntax import all_parameters, cache, dotted, names_stored, nodes_of
from jaxlint.api.tables import canonical
from jaxlint.api.values import (
    ELEMENTWISE,
    REDUCTIONS,
    UNKNOWN,
    Array,
    External,
    NumpyArray,
    Static,
    Unknown,
    constant,
    shape_of,
)
from jaxlint_rules._names import last_name, unpacked

Size = float  # elements; infinite for data loaded from a file
Shape = tuple[int, ...]
ARRAYS = (Array, NumpyArray, Unknown, Static)  # data loaded from a file may not be an array
_BY_SHAPE = frozenset(
    [
        "zeros",
        "ones",
        "empty",
        "full",
        "random",
        "random_sample",
        "eye",
        "identity",
        "rand",
        "randn",
        "standard_normal",
    ]
)
_BY_SIZE = frozenset(
    [
        *("normal", "uniform", "integers", "randint", "exponential", "gamma", "choice"),
        *("truncated_normal", "bernoulli", "categorical", "poisson"),
    ]
)
_LOADERS = frozenset({"load", "loadtxt", "genfromtxt", "fromfile", "memmap", "read_csv", "load_data"})
_THROUGH = frozenset({"asarray", "array", "device_put", "astype", "copy", "ascontiguousarray"})
# Functions that keep the shape, besides elementwise ones.
_SAME = ELEMENTWISE | {
    "inv",
    "cholesky",
    "pinv",
    "expm",
    "sort",
    "abs",
    "permutation",
    "roll",
    "flip",
    "where",
    "triu",
    "tril",
}
_REDUCING = REDUCTIONS | {"norm"}
_LIBRARIES = ("numpy", "jax", "pandas", "scipy")
MAX_DEPTH = 12


def size_of_name(name: str, scope: Scope, module: Module) -> Size:
    """The number of elements of a variable in an enclosing scope; 0 if unknown."""
    found = scope.lookup(name)
    if found is None or not isinstance(found[0], ARRAYS):
        return 0
    shape = shape_of(found[0])
    if shape is not None:
        return math.prod(shape)
    binding = _binding(name, found[1], module)
    return size_of(binding, found[1], module) if binding is not None else 0


def size_of(node: ast.expr, scope: Scope, module: Module, depth: int = 0) -> Size:
    """The number of elements of the array that an expression creates; 0 if unknown."""
    if depth > MAX_DEPTH:
        return 0
    shape = _shape(node, scope, module, depth)
    if shape is not None:
        return math.prod(shape)
    if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.MatMult):
        return max(size_of(part, scope, module, depth + 1) for part in (node.left, node.right))
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        if not isinstance(node.slice.value, str):
            return 0
        table = node.value  # an `.npz`
        return (
            size_of_name(table.id, scope, module)
            if isinstance(table, ast.Name)
            else size_of(table, scope, module, depth + 1)
        )
    if not isinstance(node, ast.Call):
        return 0
    last = _last_name(node.func)
    if last in _LOADERS and _is_array_library(node.func, scope):
        return math.inf
    operand = _operand(node, scope)
    if last in _THROUGH | _SAME | {"reshape"} and operand is not None:
        return size_of(operand, scope, module, depth + 1)
    return 0


def shape_written(node: ast.expr, scope: Scope, module: Module) -> Shape | None:
    """The shape of the array that an expression creates; None if unknown."""
    return _shape(node, scope, module, 0)


def _shape(node: ast.expr, scope: Scope, module: Module, depth: int) -> Shape | None:
    if depth > MAX_DEPTH:
        return None
    if isinstance(node, ast.Constant):
        return () if isinstance(node.value, (int, float, complex)) else None
    if isinstance(node, ast.Name):
        found = scope.lookup(node.id)
        if found is None or not isinstance(found[0], ARRAYS):
            return None
        binding = _binding(node.id, found[1], module)
        known = shape_of(found[0])
        return known if known is not None or binding is None else _shape(binding, found[1], module, depth + 1)
    if isinstance(node, ast.UnaryOp):
        return _shape(node.operand, scope, module, depth + 1)
    if isinstance(node, ast.BinOp):
        left, right = (_shape(part, scope, module, depth + 1) for part in (node.left, node.right))
        if left is None or right is None:
            return None
        if isinstance(node.op, ast.MatMult):
            return (left[0], right[1]) if len(left) == len(right) == 2 else None
        return _broadcast(left, right)
    if isinstance(node, ast.Attribute) and node.attr == "T":
        whole = _shape(node.value, scope, module, depth + 1)
        return whole[::-1] if whole is not None else None
    if isinstance(node, ast.Subscript):
        whole = _shape(node.value, scope, module, depth + 1)
        return _indexed(whole, node.slice) if whole is not None else None
    return _called(node, scope, module, depth) if isinstance(node, ast.Call) else None


def _called(node: ast.Call, scope: Scope, module: Module, depth: int) -> Shape | None:
    last = _last_name(node.func)
    asked = _asked_shape(node, last)
    if isinstance(asked, ast.Attribute) and asked.attr == "shape":
        return _shape(asked.value, scope, module, depth + 1)
    if asked is not None:
        return _numbers(asked, scope)
    operand = _operand(node, scope)
    if last == "arange" and len(node.args) == 1:
        return _numbers(node.args[0], scope)
    if last == "linspace" and len(node.args) > 2:
        return _numbers(node.args[2], scope)
    if last == "reshape" and operand is not None:
        rest = node.args if _is_method(node, scope) else node.args[1:]
        whole = _numbers(rest[0] if len(rest) == 1 else ast.Tuple(list(rest), ast.Load()), scope)
        return whole if whole is not None and min(whole, default=0) >= 0 else None
    if operand is None:
        return None
    if last == "permutation" and len(node.args) > 1:
        operand = node.args[1]
    if last in _THROUGH | _SAME:
        return _shape(operand, scope, module, depth + 1)
    if last == "outer" and len(node.args) == 2:
        sides = [_shape(part, scope, module, depth + 1) for part in node.args]
        return tuple(math.prod(side) for side in sides if side is not None) if None not in sides else None
    if last in _REDUCING:
        whole = _shape(operand, scope, module, depth + 1)
        named = {k.arg: k.value for k in node.keywords}
        rest = node.args if _is_method(node, scope) else node.args[1:]
        axis = named.get("axis", rest[0] if rest and last != "norm" else None)
        if whole is None or "keepdims" in named:
            return None
        number = _number(axis, scope) if axis is not None else None
        if axis is None:
            return ()
        if number is None or not -len(whole) <= number < len(whole):
            return None
        position = int(number) % len(whole)
        return whole[:position] + whole[position + 1 :]
    return None


def _asked_shape(node: ast.Call, last: str) -> ast.expr | None:
    named = {k.arg: k.value for k in node.keywords if k.arg}
    asked = named.get("shape", named.get("size"))
    if last not in _BY_SHAPE | _BY_SIZE:
        return None
    if asked is None and last in ("rand", "randn"):
        return ast.Tuple(list(node.args), ast.Load())
    if asked is None and last in _BY_SHAPE and node.args:
        return ast.Tuple([node.args[0]] * 2, ast.Load()) if last in ("eye", "identity") else node.args[0]
    if asked is None and last in _BY_SIZE and len(node.args) > 1:
        return node.args[-1] if isinstance(node.args[-1], ast.Tuple) else node.args[1]
    return asked


def _broadcast(left: Shape, right: Shape) -> Shape | None:
    width = max(len(left), len(right))
    pairs = zip((1,) * (width - len(left)) + left, (1,) * (width - len(right)) + right, strict=True)
    return tuple(max(a, b) for a, b in pairs)


def _indexed(whole: Shape, index: ast.expr) -> Shape | None:
    """The shape of `x[index]` for whole slices, new axes and numbers."""
    rest = list(whole)
    found: list[int] = []
    for part in index.elts if isinstance(index, ast.Tuple) else [index]:
        if isinstance(part, ast.Constant) and part.value is None:
            found.append(1)
        elif not rest:
            return None
        elif isinstance(part, ast.Slice) and not (part.lower or part.upper or part.step):
            found.append(rest.pop(0))
        elif isinstance(part, ast.Constant) and type(part.value) is int:
            rest.pop(0)
        else:
            return None
    return (*found, *rest)


def _last_name(func: ast.expr) -> str:
    return last_name(func) or (func.attr if isinstance(func, ast.Attribute) else "")


def _is_method(node: ast.Call, scope: Scope) -> bool:
    return isinstance(node.func, ast.Attribute) and not _is_array_library(node.func, scope)


def _operand(node: ast.Call, scope: Scope) -> ast.expr | None:
    """The operand of an array function or method."""
    if _is_method(node, scope):
        assert isinstance(node.func, ast.Attribute)
        return node.func.value
    return node.args[0] if node.args else None


def _is_array_library(func: ast.expr, scope: Scope) -> bool:
    base = dotted(func).partition(".")[0]
    found = scope.value_of(base) if base else None
    return isinstance(found, External) and canonical(found.name).partition(".")[0] in _LIBRARIES


def _numbers(node: ast.expr, scope: Scope) -> Shape | None:
    parts = unpacked(node)
    found = [_number(part, scope) for part in parts]
    return None if None in found else tuple(int(number) for number in found if number is not None)


def _number(node: ast.expr, scope: Scope) -> float | None:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, int) else None
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        number = _number(node.operand, scope)
        return -number if number is not None else None
    if isinstance(node, ast.Name):
        found = scope.value_of(node.id)
        const = constant(found) if found is not None else None
        return const if isinstance(const, int) and not isinstance(const, bool) else None
    if isinstance(node, ast.BinOp):
        left, right = _number(node.left, scope), _number(node.right, scope)
        if left is None or right is None:
            return None
        if isinstance(node.op, ast.Mult):
            return left * right
        if isinstance(node.op, ast.Pow) and 0 <= right < 64:
            return left**right
        if isinstance(node.op, ast.FloorDiv) and right:
            return left // right
        if isinstance(node.op, ast.Sub):
            return left - right
        return left + right if isinstance(node.op, ast.Add) else None
    return None


def _binding(name: str, scope: Scope, module: Module) -> ast.expr | None:
    """The expression bound to a variable, if the body that owns it binds it once."""
    owners: list[ast.AST] = (
        [module.tree]
        if scope.is_module
        else [*nodes_of(module.tree, ast.FunctionDef), *nodes_of(module.tree, ast.AsyncFunctionDef)]
    )
    known = [owner for owner in owners if scope.is_module or _holds(owner, scope)]
    if not known:
        return None
    owner = min(known, key=lambda owner: len(_bindings(owner).keys() - scope.variables.keys()))
    found = _bindings(owner).get(name, ())
    return found[0] if len(found) == 1 else None


def _holds(owner: ast.AST, scope: Scope) -> bool:
    """Whether the scope may belong to the function: it has all its parameters, and no variable that the function does
    not bind."""
    assert isinstance(owner, (ast.FunctionDef, ast.AsyncFunctionDef))
    return all(
        parameter.arg in scope.variables for parameter in all_parameters(owner)
    ) and scope.variables.keys() <= _bound(owner)


@cache
def _bound(owner: ast.FunctionDef | ast.AsyncFunctionDef) -> frozenset[str]:
    """The names that a function's body may bind."""
    definitions: list[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef] = [
        *nodes_of(owner, ast.FunctionDef),
        *nodes_of(owner, ast.AsyncFunctionDef),
        *nodes_of(owner, ast.ClassDef),
    ]
    imports: list[ast.Import | ast.ImportFrom] = [
        *nodes_of(owner, ast.Import),
        *nodes_of(owner, ast.ImportFrom),
    ]
    imported = [
        (alias.asname or alias.name).partition(".")[0] for statement in imports for alias in statement.names
    ]
    caught = [part.name for part in nodes_of(owner, ast.ExceptHandler) if part.name]
    parameters = [parameter.arg for parameter in all_parameters(owner)]
    return names_stored(owner).union((part.name for part in definitions), imported, caught, parameters)


@cache
def _bindings(owner: ast.AST) -> dict[str, list[ast.expr]]:
    """The values that a body assigns to single names and to their attributes."""
    found: dict[str, list[ast.expr]] = {}
    for statement in _statements(owner):
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            continue
        target, value = statement.targets[0], statement.value
        if (
            isinstance(target, ast.Tuple)
            and isinstance(value, ast.Tuple)
            and len(target.elts) == len(value.elts)
        ):
            pairs = list(zip(target.elts, value.elts, strict=True))  # `x, y = load("x"), load("y")`
        else:
            pairs = [(target, value)]
        for part, given in pairs:
            found.setdefault(dotted(part), []).append(given)
    return found


def _statements(owner: ast.AST) -> list[ast.stmt]:
    """The statements of a body, including nested blocks but not nested functions."""
    found: list[ast.stmt] = []
    stack: list[ast.AST] = list(getattr(owner, "body", []))
    while stack:
        node = stack.pop()
        if isinstance(node, ast.stmt):
            found.append(node)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        for part in ("body", "orelse", "finalbody", "handlers"):
            stack.extend(getattr(node, part, []))
    return found


def size_of_attribute(maker: ast.FunctionDef, name: str, scope: Scope, module: Module) -> Size:
    """The number of elements of `self.name`, if a constructor sets it once; its local variables are looked up in
    `scope`."""
    if not maker.args.args:
        return 0
    found = _bindings(maker).get(f"{maker.args.args[0].arg}.{name}", ())
    if len(found) != 1:
        return 0
    inner = Scope(scope)
    known = [*(parameter.arg for parameter in all_parameters(maker)), *_bindings(maker)]
    inner.variables.update(dict.fromkeys(known, UNKNOWN))
    for parameter, default in zip(reversed(maker.args.args), reversed(maker.args.defaults), strict=False):
        if isinstance(default, ast.Constant):
            inner.variables[parameter.arg] = Static(default.value)
    for local, bound in _bindings(maker).items():
        if len(bound) == 1 and isinstance(bound[0], ast.Constant):
            inner.variables[local] = Static(bound[0].value)
    return size_of(found[0], inner, module)
