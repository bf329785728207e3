"""Facts about tests."""

from __future__ import annotations

import ast
from collections import Counter

from jaxlint.syntax.facts.nodes import (
    FunctionNode,
    contents,
    dotted,
    last_name,
    names_bound_by,
    names_stored,
    nodes_of,
    parts,
    walk,
)
from jaxlint.syntax.facts.parameters import all_parameters
from jaxlint.syntax.memo import cache


def captured_flags(node: FunctionNode) -> tuple[str, ...]:
    """Names from enclosing scopes that a function only tests for their truth, as in `x if flag else y`."""
    found = tested_names(node) - {parameter.arg for parameter in all_parameters(node)}
    return tuple(sorted(found - names_stored(node))) if found else ()


@cache
def tested_names(node: FunctionNode) -> frozenset[str]:
    """The names that a function only tests for their truth."""
    found: set[str] = set()
    stack = [part.test for part in contents(node).tests if isinstance(part, (ast.If, ast.IfExp))]
    while stack:
        test = stack.pop()
        if isinstance(test, ast.Name):
            found.add(test.id)
        elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            stack.append(test.operand)
        elif isinstance(test, ast.BoolOp):
            stack.extend(test.values)
    return frozenset(found)


@cache
def is_version_test(test: ast.expr) -> bool:
    """Whether an `if` tests a library's version."""
    for child in parts(test):
        name = (
            child.attr
            if isinstance(child, ast.Attribute)
            else child.id
            if isinstance(child, ast.Name)
            else ""
        )
        if "version" in name.lower() or name == "TYPE_CHECKING":
            return True
    return False


@cache
def is_release_test(test: ast.expr) -> bool:
    """Whether an expression reads the version of an installed library: `jax.__version__`, `metadata.version("jax")`, `JAX_VERSION`."""
    for child in parts(test):
        if isinstance(child, ast.Call) and dotted(child.func).endswith("metadata.version"):
            return True
        name = last_name(child) if isinstance(child, (ast.Attribute, ast.Name)) else ""
        if "version" in name.lower() and ("jax" in name.lower() or name.startswith("__")):
            return True
    return False


@cache
def release_names(tree: ast.AST) -> frozenset[str]:
    """The names by which a module knows the version of a library: variables, imports and functions that return it."""
    found = {
        alias.asname or alias.name
        for node in nodes_of(tree, ast.ImportFrom)
        for alias in node.names
        if alias.name in ("__version__", "__version_info__") and (node.module or "").startswith("jax")
    }
    bound = [
        (node.value, [part.id for one in node.targets for part in walk(one) if isinstance(part, ast.Name)])
        for node in nodes_of(tree, ast.Assign)
    ]
    for function in nodes_of(tree, ast.FunctionDef):
        answers = [part.value for part in nodes_of(function, ast.Return) if part.value is not None]
        bound += [(answer, [function.name]) for answer in answers]
    for _ in range(3):
        more = {
            name
            for value, names in bound
            if not found.issuperset(names) and reads_release(value, frozenset(found))
            for name in names
        }
        if not more - found:
            break
        found |= more
    return frozenset(found)


def reads_release(test: ast.expr, names: frozenset[str]) -> bool:
    """Whether an expression reads the version of an installed library, or one of `names`, which hold it."""
    return is_release_test(test) or any(
        isinstance(child, ast.Name) and child.id in names for child in parts(test)
    )


@cache
def attribute_tests(test: ast.expr) -> list[ast.expr]:
    """The arguments of `hasattr` and `getattr` in a test."""
    return [
        child.args[0]
        for child in parts(test)
        if isinstance(child, ast.Call)
        and isinstance(child.func, ast.Name)
        and child.func.id in ("hasattr", "getattr")
        and child.args
    ]


@cache
def type_checking_branch(test: ast.expr) -> bool | None:
    """The outcome of a test that only type checkers see; None unless it reads `TYPE_CHECKING`."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = type_checking_branch(test.operand)
        return None if inner is None else not inner
    return True if dotted(test).rpartition(".")[2] == "TYPE_CHECKING" else None


_ASKS_FOR_KIND = frozenset({"isscalar", "issubdtype", "default_backend"})
_OTHER_LIBRARIES = ("numpy", "np", "cupy", "torch", "pytorch", "tensorflow", "tf")


@cache
def foreign_branch(test: ast.expr) -> bool | None:
    """The outcome of a test under which arrays belong to another library than JAX: `backend == "numpy"`."""
    if not (isinstance(test, ast.Compare) and len(test.ops) == 1):
        return None
    sides = [side.value for side in (test.left, test.comparators[0]) if isinstance(side, ast.Constant)]
    equal = isinstance(test.ops[0], ast.Eq)
    if len(sides) != 1 or not (equal or isinstance(test.ops[0], ast.NotEq)):
        return None
    if sides[0] in ("jax", "jnp"):
        return not equal
    return equal if sides[0] in _OTHER_LIBRARIES else None


@cache
def asks_for_kind(test: ast.expr) -> bool:
    """Whether an expression reads a property that decides for whole calls: a rank, a dtype, the platform, whether
    `jit` is disabled."""
    for child in parts(test):
        if isinstance(child, ast.Attribute) and child.attr in ("ndim", "platform", "jax_disable_jit"):
            return True
        if isinstance(child, ast.Call) and dotted(child.func).rpartition(".")[2] in _ASKS_FOR_KIND:
            return True
        if isinstance(child, ast.Call) and isinstance(child.func, ast.Name) and child.func.id == "len":
            asked = child.args[0] if child.args else None
            if isinstance(asked, ast.Call):
                asked = asked.func
            if asked is not None and dotted(asked).rpartition(".")[2] == "shape":
                return True
    return False


@cache
def asks_for_size(test: ast.expr) -> bool:
    """Whether an expression reads the shape or size of something."""
    for child in walk(test):
        if isinstance(child, ast.Attribute) and child.attr in ("shape", "ndim", "size"):
            return True
        if isinstance(child, ast.Call) and dotted(child.func).rpartition(".")[2] in (
            "len",
            "shape",
            "ndim",
            "size",
        ):
            return True
    return False


@cache
def rank_flags(node: ast.AST) -> frozenset[str]:
    """The names that a function binds to values computed from a rank, and to shapes that it passes to `len`."""
    bindings = nodes_of(node, ast.Assign)
    shapes = {
        name
        for binding in bindings
        for name in names_bound_by(binding)
        if dotted(getattr(binding.value, "func", binding.value)).rpartition(".")[2] == "shape"
    }
    return frozenset(
        name
        for binding in bindings
        for name in names_bound_by(binding)
        if isinstance(binding.value, (ast.Compare, ast.BoolOp, ast.UnaryOp))
        and (asks_for_kind(binding.value) or _asks_for_length(binding.value, shapes))
    )


@cache
def bound_tests(node: ast.AST) -> dict[str, ast.expr]:
    """The names that a function binds once, to a test or the result of a function, with that expression."""
    tests: dict[str, ast.expr] = {
        name: binding.value
        for binding in nodes_of(node, ast.Assign)
        if isinstance(binding.value, (ast.BoolOp, ast.UnaryOp, ast.Call))
        for name in names_bound_by(binding)
    }
    if not tests:
        return tests
    stored = Counter(store.id for store in contents(node).stores if isinstance(store, ast.Name))
    return {name: test for name, test in tests.items() if stored[name] == 1}


@cache
def answer_of(node: FunctionNode) -> ast.expr | None:
    """The expression that a function returns, if it does nothing else."""
    if isinstance(node, ast.Lambda):
        return node.body
    last = node.body[-1]
    others = (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant) for s in node.body[:-1])
    return last.value if isinstance(last, ast.Return) and all(others) else None


def _asks_for_length(test: ast.expr, names: set[str]) -> bool:
    return any(
        isinstance(child, ast.Call)
        and dotted(child.func) == "len"
        and bool(child.args)
        and isinstance(child.args[0], ast.Name)
        and child.args[0].id in names
        for child in parts(test)
    )


@cache
def asks_what_is_kept(test: ast.expr, function: ast.AST) -> bool:
    """Whether a test is `key in table`, where the function stores its result in that table."""
    if not (isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.In)):
        return False
    table = dotted(test.comparators[0])
    return bool(table) and any(
        isinstance(target, ast.Subscript) and dotted(target.value) == table
        for statement in nodes_of(function, ast.Assign)
        for target in statement.targets
    )


@cache
def none_branch(test: ast.expr) -> bool | None:
    """The outcome of a test under which a name is None; None if it does not test that."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = none_branch(test.operand)
        return None if inner is None else not inner
    if isinstance(test, ast.BoolOp):
        wanted = isinstance(test.op, ast.And)
        return wanted if any(none_branch(part) is wanted for part in test.values) else None
    if (
        isinstance(test, ast.Compare)
        and len(test.ops) == 1
        and isinstance(test.left, (ast.Name, ast.Attribute))
    ):
        right = test.comparators[0]
        if isinstance(right, ast.Constant) and right.value is None:
            if isinstance(test.ops[0], (ast.Is, ast.Eq)):
                return True
            if isinstance(test.ops[0], (ast.IsNot, ast.NotEq)):
                return False
    return None
