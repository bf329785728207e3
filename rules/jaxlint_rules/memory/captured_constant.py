"""Large arrays that a jitted function captures."""

from __future__ import annotations

import ast
import math
from functools import cache

from jaxlint.finding import Severity
from jaxlint.jaxapi.names import canonical
from jaxlint.jaxapi.transforms import JIT_KINDS
from jaxlint.rule import Example, Rule
from jaxlint.staging import Reporter
from jaxlint.staging.events import TransformEvent
from jaxlint.staging.project import Module
from jaxlint.staging.scope import Scope
from jaxlint.staging.shapes import shape_of
from jaxlint.staging.syntax_facts import all_parameters, dotted, name_loads, names_stored, nodes_of
from jaxlint.staging.values import (
    Array,
    BoundMethod,
    External,
    Function,
    NumpyArray,
    Partial,
    Static,
    Unknown,
    Value,
    constant,
)

LARGE = 1 << 16  # elements; 256 KiB of float32
_BY_SHAPE = dict.fromkeys(
    ("zeros", "ones", "empty", "full", "rand", "randn", "random", "random_sample", "eye"), 0
)
_BY_SIZE = frozenset(
    [
        "normal",
        "uniform",
        "standard_normal",
        "integers",
        "randint",
        "exponential",
        "gamma",
        "choice",
        "truncated_normal",
    ]
)
_LOADERS = frozenset({"load", "loadtxt", "genfromtxt", "fromfile", "memmap", "read_csv", "load_data"})
_THROUGH = frozenset({"asarray", "array", "device_put", "astype", "copy"})
_ARRAYS = (Array, NumpyArray, Unknown, Static)  # what is loaded from a file is not known to be an array
Size = float  # elements; infinite for what is loaded from a file


class CapturedConstant(Rule):
    """A jitted function captures a large array.

    ## What it does
    Finds jitted functions that read an array of 65,536 elements or more, or one that was loaded from a file, from the scope
    around them instead of taking it as an argument; `functools.partial` binds in the same way.

    ## Why is this bad?
    What is captured becomes a constant of the program. It is copied into it, held in memory beside the original, hashed,
    and sent to the compiler: capturing 16 MB made the program's text 34 MB long and compiling five times as
    long. A later change of the array is not seen.

    ## Example
    ```python
    table = jnp.asarray(np.load("table.npy"))

    @jax.jit
    def look_up(i):
        return table[i]
    ```

    ## Use instead
    ```python
    @jax.jit
    def look_up(table, i):
        return table[i]
    ```

    ## Fix safety
    There is no automatic fix: the callers have to pass the array.

    ## When not to fix
    When the array is needed at compile time.

    ## References
    - [JAX: captured constants](https://docs.jax.dev/en/latest/internals/constants.html)
    """

    code = "JAX603"
    name = "captured-constant"
    category = "memory"
    severity = Severity.WARNING
    examples = (
        Example(
            "tables, random matrices and data sets from outside",
            """
from functools import partial
import jax
import jax.numpy as jnp
import numpy as np

TABLE = jnp.zeros((4096, 512))
DATA = np.load("data.npy")

@jax.jit
def look_up(i):  # finding
    return TABLE[i]

@jax.jit
def loss(w):  # finding
    return jnp.mean((DATA @ w) ** 2)

def make_potential(n, rows):
    stiffness = jnp.asarray(np.random.default_rng(0).random((n, rows), dtype=np.float32))
    return jax.jit(lambda u: jnp.sum((stiffness @ u) ** 2))  # finding

potential = make_potential(512, 512)

def energy(matrix, u):
    return u @ matrix @ u

big = jax.random.normal(jax.random.key(0), (1000, 1000))
bound = jax.jit(partial(energy, big))  # finding
""",
        ),
        Example(
            "arguments, small arrays, sizes that are not known, arrays made inside",
            """
import jax
import jax.numpy as jnp
import numpy as np

KERNEL = jnp.array([1.0, 2.0, 1.0])
TABLE = jnp.zeros((4096, 512))

@jax.jit
def smooth(x):
    return jnp.convolve(x, KERNEL)

@jax.jit
def look_up(table, i):
    return table[i] + jnp.zeros((4096, 512)).sum()

@jax.jit
def shadowed(TABLE):
    return TABLE.sum() + TABLE.shape[0]

@jax.jit
def shadowed_inside(x):
    return jax.tree.map(lambda TABLE: TABLE.sum(), x)

@jax.jit
def shape_only(x):
    return x * TABLE.shape[0]

def fit(data, w):
    @jax.jit
    def loss(w):
        return jnp.mean((data @ w) ** 2)
    return loss(w)

print(look_up(TABLE, 3))
""",
        ),
    )

    def on_transform(self, event: TransformEvent, report: Reporter) -> None:
        transformed = event.transformed
        if transformed.kind not in JIT_KINDS or event.frame.stage.staged or report.module.is_test:
            return
        target: Value = transformed.target
        bound: list[tuple[str, Size]] = []
        if isinstance(target, Partial) and isinstance(event.node, ast.Call) and event.node.args:
            made = event.node.args[0]
            if isinstance(made, ast.Call):
                for argument in [*made.args[1:], *(k.value for k in made.keywords)]:
                    if isinstance(argument, ast.Name):
                        size = _size_of_name(argument.id, event.frame.scope, report.module)
                        bound.append((argument.id, size))
            target = target.function
        if isinstance(target, BoundMethod) or not isinstance(target, Function):
            found = bound
        else:
            found = bound + self.captured(target, report)
        large = [(name, size) for name, size in found if size >= LARGE]
        if large:
            name, size = max(large, key=lambda part: part[1])
            amount = (
                "an array loaded from a file" if math.isinf(size) else f"an array of {int(size):,} elements"
            )
            report(
                event.node,
                f"`{transformed.label}` captures `{name}`, {amount}: it becomes a constant of the program; pass it as an "
                "argument",
                reason=f"{transformed.why.explain(report.module)}, and `{name}` is bound outside of it",
            )

    def captured(self, function: Function, report: Reporter) -> list[tuple[str, Size]]:
        if function.module is not report.module:
            return []
        own = {parameter.arg for parameter in all_parameters(function.node)}
        own |= names_stored(function.node)
        found: dict[str, Size] = {}
        for child in name_loads(function.node):
            if child.id in own or child.id in found or _asks_metadata(child, report):
                continue
            held = function.scope.lookup(child.id)
            if (
                held is not None
                and isinstance(held[0], _ARRAYS)
                and not getattr(held[0], "staged", False)
                and not _is_parameter(child, function.node, report)
            ):
                found[child.id] = _size_of_name(child.id, function.scope, report.module)
        return list(found.items())


def _is_parameter(node: ast.Name, owner: ast.AST, report: Reporter) -> bool:
    """Whether the name is a parameter of a function or lambda between it and `owner`."""
    for ancestor in report.module.ancestors(node):
        if ancestor is owner:
            return False
        if isinstance(ancestor, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)) and any(
            parameter.arg == node.id for parameter in all_parameters(ancestor)
        ):
            return True
    return False


def _asks_metadata(node: ast.Name, report: Reporter) -> bool:
    parent = report.module.parents.get(node)
    return isinstance(parent, ast.Attribute) and parent.attr in ("shape", "ndim", "dtype", "size")


def _size_of_name(name: str, scope: Scope, module: Module) -> Size:
    """How many elements a variable of the scopes around has; 0 where that is not known."""
    found = scope.lookup(name)
    if found is None or not isinstance(found[0], _ARRAYS):
        return 0
    shape = shape_of(found[0])
    if shape is not None:
        return math.prod(shape)
    binding = _binding(name, found[1], module)
    return _size(binding, found[1]) if binding is not None else 0


def _binding(name: str, scope: Scope, module: Module) -> ast.expr | None:
    """The expression that a variable is bound to, where it is bound once in the body that holds it."""
    owners: list[ast.AST] = (
        [module.tree]
        if scope.is_module
        else [*nodes_of(module.tree, ast.FunctionDef), *nodes_of(module.tree, ast.AsyncFunctionDef)]
    )
    for owner in owners:
        found = _bindings(owner).get(name, ())
        if len(found) == 1 and (scope.is_module or _holds(owner, scope)):
            return found[0]
    return None


def _holds(owner: ast.AST, scope: Scope) -> bool:
    """Whether a function's parameters are names of the scope."""
    assert isinstance(owner, (ast.FunctionDef, ast.AsyncFunctionDef))
    return all(parameter.arg in scope.variables for parameter in all_parameters(owner))


@cache
def _bindings(owner: ast.AST) -> dict[str, list[ast.expr]]:
    """What the assignments of a body bind single names to."""
    found: dict[str, list[ast.expr]] = {}
    for statement in walk_own(owner):
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            found.setdefault(dotted(statement.targets[0]), []).append(statement.value)
    return found


def walk_own(owner: ast.AST) -> list[ast.stmt]:
    """The statements of a body, those of nested blocks included and those of nested functions left out."""
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


def _size(node: ast.expr, scope: Scope) -> Size:
    """The elements of the array that an expression makes, from what its text and the scope's constants say."""
    if isinstance(node, ast.BinOp):
        return max(_size(node.left, scope), _size(node.right, scope))
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return _size(node.value, scope) if isinstance(node.slice.value, str) else 0  # of an `.npz`
    if not isinstance(node, ast.Call):
        return 0
    last = dotted(node.func).rpartition(".")[2] or (
        node.func.attr if isinstance(node.func, ast.Attribute) else ""
    )
    if last in _THROUGH:
        inner = node.args[0] if node.args else node.func
        if last in ("astype", "copy") and isinstance(node.func, ast.Attribute):
            inner = node.func.value
        return _size(inner, scope)
    if last == "reshape" and isinstance(node.func, ast.Attribute):
        return _size(node.func.value, scope) or (_size(node.args[0], scope) if node.args else 0)
    if last in _LOADERS and _is_array_library(node.func, scope):
        return math.inf
    named = {k.arg: k.value for k in node.keywords if k.arg}
    asked = named.get("shape", named.get("size"))
    if asked is None and last in ("rand", "randn"):
        asked = ast.Tuple(list(node.args), ast.Load())
    if asked is None and last in _BY_SHAPE and node.args:
        asked = ast.Tuple([node.args[0]] * 2, ast.Load()) if last == "eye" else node.args[0]
    if asked is None and last in _BY_SIZE and len(node.args) > 1:
        asked = node.args[-1] if isinstance(node.args[-1], ast.Tuple) else node.args[1]
    return _product(asked, scope) if asked is not None else 0


def _is_array_library(func: ast.expr, scope: Scope) -> bool:
    base = dotted(func).partition(".")[0]
    found = scope.lookup(base)
    return (
        found is not None
        and isinstance(found[0], External)
        and canonical(found[0].name).partition(".")[0] in ("numpy", "jax", "pandas")
    )


def _product(node: ast.expr, scope: Scope) -> Size:
    parts = node.elts if isinstance(node, (ast.Tuple, ast.List)) else [node]
    total = 1.0
    for part in parts:
        number = _number(part, scope)
        if number is None:
            return 0
        total *= number
    return total


def _number(node: ast.expr, scope: Scope) -> float | None:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, int) else None
    if isinstance(node, ast.Name):
        found = scope.lookup(node.id)
        const = constant(found[0]) if found is not None else None
        return const if isinstance(const, int) and not isinstance(const, bool) else None
    if isinstance(node, ast.BinOp):
        left, right = _number(node.left, scope), _number(node.right, scope)
        if left is None or right is None:
            return None
        if isinstance(node.op, ast.Mult):
            return left * right
        if isinstance(node.op, ast.Pow) and right < 64:
            return left**right
        return left + right if isinstance(node.op, ast.Add) else None
    return None
