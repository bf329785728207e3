"""Side effects of statements and expressions, and which of them may be evaluated where the program did not."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from jaxlint.codemods.facts.dataflow import FUNCTIONS
from jaxlint.codemods.facts.lifted_scans import makes_modules, uses_modules
from jaxlint.codemods.facts.module_state import changed_by_call
from jaxlint.codemods.facts.parameter_modules import (
    framework_of_class,
    holds_modules,
    is_module_class,
    method_around,
    values_of,
)
from jaxlint.codemods.source.site import Refused, Site
from jaxlint.codemods.source.text_edits import shown_source
from jaxlint.syntax.facts.nodes import literal_number

# Calls with side effects, by the name of the builtin or method.
_BUILTINS = frozenset({"print", "open", "input", "next", "setattr", "delattr", "exec", "eval", "breakpoint"})
_METHODS = frozenset(
    [
        "append",
        "extend",
        "insert",
        "pop",
        "popitem",
        "remove",
        "clear",
        "setdefault",
        "write",
        "send",
        "appendleft",
    ]
)
_EFFECTS = ("jax.debug.",)  # these work in every branch and loop of JAX
_STATEMENTS: dict[type[ast.AST], str] = {
    ast.Raise: "raises an exception, which cannot depend on a tracer; see jax.experimental.checkify and eqx.error_if",
    ast.Assert: "asserts a condition, which cannot be a tracer; see jax.experimental.checkify and eqx.error_if",
    ast.Global: "binds global variables",
    ast.Nonlocal: "binds variables of an outer function",
    ast.Import: "imports",
    ast.ImportFrom: "imports",
    ast.ClassDef: "defines a class",
    ast.Delete: "has a `del` statement",
    ast.Try: "handles exceptions",
    ast.With: "enters a context manager",
    ast.AsyncWith: "enters a context manager",
    ast.AsyncFor: "awaits",
    ast.Await: "awaits",
    ast.Yield: "yields",
    ast.YieldFrom: "yields",
    ast.NamedExpr: "assigns inside an expression",
    ast.Match: "matches patterns",
}

# Functions that are defined everywhere, with finite derivatives: an unneeded evaluation is cheap and cannot bring a
# NaN into a gradient.
_TOTAL = frozenset(
    [
        "abs",
        "absolute",
        "negative",
        "positive",
        "add",
        "subtract",
        "multiply",
        "square",
        "sign",
        "maximum",
        "minimum",
        "clip",
        "sin",
        "cos",
        "tanh",
        "arctan",
        "sigmoid",
        "relu",
        "zeros_like",
        "ones_like",
        "full_like",
        "zeros",
        "ones",
        "full",
        "asarray",
        "array",
        "astype",
        "where",
        "logical_and",
        "logical_or",
        "logical_not",
        "reshape",
        "squeeze",
        "expand_dims",
        "transpose",
        "ravel",
        "flip",
        "roll",
        "floor",
        "ceil",
        "round",
        "float32",
        "int32",
        "isnan",
        "isfinite",
        "isinf",
        "broadcast_to",
        "stop_gradient",
        "real",
        "imag",
        "conj",
        "eye",
    ]
)
_TOTAL_METHODS = frozenset(["astype", "reshape", "ravel", "flatten", "squeeze", "transpose", "clip", "conj"])
_TOTAL_MODULES = ("jax.numpy.", "jax.nn.", "jax.lax.")
_TOTAL_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.BitAnd, ast.BitOr, ast.BitXor)
# Operations that always return floats.
_FLOATING = frozenset(
    [
        "sqrt",
        "exp",
        "log",
        "log1p",
        "log2",
        "log10",
        "expm1",
        "power",
        "divide",
        "true_divide",
        "sin",
        "cos",
        "tanh",
        "arccos",
        "arcsin",
        "arctan",
        "arctanh",
        "reciprocal",
        "mean",
        "std",
        "var",
        "norm",
        "sigmoid",
        "logsumexp",
        "float32",
        "softplus",
    ]
)


def check_pure(site: Site, statements: Iterable[ast.stmt], what: str, *, lifted: str = "") -> None:
    """Raises Refused if `statements` do more than bind local variables. `what` names the block: "the branch".

    `lifted`: the framework whose modules may be called, since its own loop or branch will contain the block.
    """
    for statement in statements:
        for node in _evaluated(statement):
            reason = _STATEMENTS.get(type(node)) or _effect(site, node, lifted)
            if reason is not None:
                raise Refused(f"{what} {reason}")


def check_expression(site: Site, node: ast.expr, what: str, *, lifted: str = "") -> None:
    """Raises Refused if the evaluation of `node` has side effects. `lifted` as for `check_pure`."""
    for part in _evaluated(node):
        reason = _STATEMENTS.get(type(part)) or _effect(site, part, lifted)
        if reason is not None:
            raise Refused(f"{what} {reason}")


def _effect(site: Site, node: ast.AST, lifted: str) -> str | None:
    if isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Store):
        target = ast.unparse(node)
        kind = "an attribute" if isinstance(node, ast.Attribute) else "an item"
        return f"stores into {kind} `{target}`, which JAX would do only at trace time"
    if isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant):
        if isinstance(node.value, ast.Call) and _is_debug(site, node.value):
            return None
        return f"has a statement for its side effect: `{shown_source(node.value)}`"
    if isinstance(node, ast.Call):
        return _effect_of_call(site, node, lifted)
    return None


_MAKES = "calls `{}`, which creates parameters; use the framework's own cond or while_loop"


def _effect_of_call(site: Site, node: ast.Call, lifted: str) -> str | None:
    function = node.func
    if (builtin := site.names.builtin(function)) in _BUILTINS:
        return f"calls `{builtin}`, which has a side effect"
    if isinstance(function, ast.Attribute) and function.attr in _METHODS and not _is_debug(site, node):
        if site.names.qualified(function) is None:
            return f"calls `.{function.attr}()`, which changes an object"
    name = site.names.qualified(function) or ""
    if name.startswith("haiku.") or is_module_class(site, function):
        return _MAKES.format(ast.unparse(function))
    if isinstance(function, ast.Name):
        bindings = site.names.bindings_of(function.id, site.names.scope_at(function))
        if any(isinstance(one.node, ast.ClassDef) and framework_of_class(site, one.node) for one in bindings):
            return _MAKES.format(function.id)
        if any(
            isinstance(one.node, FUNCTIONS) and makes_modules(site, one.node, "haiku") for one in bindings
        ):
            return _MAKES.format(function.id)
    if not lifted and (_is_own_module(site, function) or _is_held_module(site, function)):
        return f"calls `{ast.unparse(function)}` of a module, which may hold state; use the framework's own cond or while_loop"
    change = changed_by_call(site, node)
    if change is None or (lifted == "haiku" and change.framework == "haiku" and not change.draws):
        return None  # hk.scan carries the state of modules, and splits the keys that they draw in another way
    return f"calls `{shown_source(function)}`, which {change.what}"


def _is_own_module(site: Site, function: ast.expr) -> bool:
    """Whether the callee is `self` in a class of a framework that counts its calls."""
    root = function
    while isinstance(root, ast.Attribute):
        root = root.value
    if not (isinstance(root, ast.Name) and root.id == "self" and root is not function):
        return False
    for ancestor in site.names.ancestors(root):
        if isinstance(ancestor, ast.ClassDef):
            bases = [site.names.qualified(base) or "" for base in ancestor.bases]
            return any(base.startswith(("flax.", "haiku.")) for base in bases)
    return False


def _is_held_module(site: Site, function: ast.expr) -> bool:
    """Whether the callee is a module in a variable, or a nested function that calls modules."""
    while isinstance(function, ast.Subscript):
        function = function.value
    if not isinstance(function, ast.Name):
        return False
    if any(holds_modules(site, function, framework) for framework in ("flax.linen", "haiku")):
        return True
    method = method_around(site, function)
    framework, module = "haiku", ""
    if method is not None and (found := framework_of_class(site, method.holder)) in ("flax.linen", "haiku"):
        framework, module = found, method.parameter
    for value in values_of(site, function):
        if module and _is_attribute_of(value, module):
            return True
        if isinstance(value, FUNCTIONS) and uses_modules(site, value, framework, module):
            return True
    return False


def _is_attribute_of(node: ast.AST, name: str) -> bool:
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
        if isinstance(node, ast.Name):
            return node.id == name
    return False


def _is_debug(site: Site, node: ast.Call) -> bool:
    return (site.names.qualified(node.func) or "").startswith(_EFFECTS)


def _evaluated(node: ast.AST) -> Iterator[ast.AST]:
    """`node` and its descendants, without the bodies of nested functions."""
    yield node
    for child in ast.iter_child_nodes(node):
        if isinstance(node, FUNCTIONS) and child not in [*node.args.defaults, *node.args.kw_defaults]:
            continue
        yield from _evaluated(child)


def is_total(site: Site, node: ast.expr) -> bool:
    """Whether an unneeded evaluation of `node` is cheap and harmless, for gradients too."""
    if isinstance(node, (ast.Name, ast.Constant)):
        return True
    if isinstance(node, ast.Attribute):
        return is_total(site, node.value)
    if isinstance(node, ast.Subscript):
        return is_total(site, node.value)
    if isinstance(node, ast.UnaryOp):
        return not isinstance(node.op, ast.Not) and is_total(site, node.operand)
    if isinstance(node, ast.Compare):
        return len(node.ops) == 1 and all(is_total(site, one) for one in (node.left, *node.comparators))
    if isinstance(node, ast.BinOp):
        if isinstance(node.op, _TOTAL_OPERATORS):
            return is_total(site, node.left) and is_total(site, node.right)
        number = literal_number(node.right)
        if isinstance(node.op, (ast.Div, ast.FloorDiv, ast.Mod)):
            return bool(number) and is_total(site, node.left)
        if isinstance(node.op, ast.Pow):
            return isinstance(number, int) and number > 0 and is_total(site, node.left)
        return False
    if isinstance(node, ast.Call):
        return _is_total_call(site, node)
    return False


def _is_total_call(site: Site, node: ast.Call) -> bool:
    name = site.names.qualified(node.func) or ""
    known = name.startswith(_TOTAL_MODULES) and name.rpartition(".")[2] in _TOTAL
    if not known:
        method = node.func
        if not (
            isinstance(method, ast.Attribute)
            and method.attr in _TOTAL_METHODS
            and is_total(site, method.value)
        ):
            return False
    operands = [*node.args, *(keyword.value for keyword in node.keywords)]
    return all(is_total(site, one) or isinstance(one, (ast.Tuple, ast.List)) for one in operands)


def constant_type(node: ast.expr) -> type | None:
    """The type of a literal; None for anything else."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        return constant_type(node.operand)
    return type(node.value) if isinstance(node, ast.Constant) else None


def is_floating(site: Site, node: ast.expr) -> bool:
    """Whether `node` certainly returns floats (or complex numbers)."""
    if isinstance(node, ast.UnaryOp):
        return is_floating(site, node.operand)
    if isinstance(node, ast.BinOp):
        if isinstance(node.op, ast.Div):
            return True
        return is_floating(site, node.left) or is_floating(site, node.right)
    if isinstance(node, ast.Constant):
        return type(node.value) is float
    if isinstance(node, ast.Call):
        name = site.names.qualified(node.func) or ""
        return (
            name.startswith(("jax.numpy.", "jax.nn.", "jax.lax.", "jax.scipy."))
            and name.rpartition(".")[2] in _FLOATING
        )
    return False
