"""`number-to-array`: conversions to Python numbers become conversions of arrays.

`float(x)` becomes `jnp.asarray(x, dtype=float)`, or `x.astype(float)` if `x` is visibly an array; `.item()` is
removed if the array has a single element anyway, and `math.sqrt(x)` becomes `jnp.sqrt(x)`.
"""

from __future__ import annotations

import ast

from jaxlint.codemods.facts.local_effects import check_expression, is_floating
from jaxlint.codemods.registry import Draft, codemod
from jaxlint.codemods.source.imports import reference
from jaxlint.codemods.source.layout import Layout
from jaxlint.codemods.source.site import Refused, Site
from jaxlint.finding import Step
from jaxlint.jaxapi.twins import MATH, MATH_TO_INTEGER

_TYPES = frozenset({"float", "int", "bool", "complex"})
# Reductions: without an axis they return a single number.
_REDUCTIONS = frozenset(
    [
        "sum",
        "mean",
        "max",
        "min",
        "prod",
        "std",
        "var",
        "any",
        "all",
        "argmax",
        "argmin",
        "median",
        "trace",
        "vdot",
    ]
)
# Uses of a Python number that do not accept an array.
_STATIC_USES = frozenset(
    {"range", "zeros", "ones", "empty", "full", "arange", "linspace", "eye", "reshape", "tile"}
)
_STATIC_KEYWORDS = frozenset(
    {"shape", "num", "size", "length", "num_classes", "axis", "total_repeat_length", "num_segments"}
)


@codemod("number-to-array")
def number_to_array(draft: Draft, step: Step) -> None:
    """The span is the call that converts. Takes no parameters."""
    site = draft.site
    call = site.find_ast(step.span, ast.Call)
    assert isinstance(call, ast.Call)
    layout = Layout(site)
    check_expression(site, call, "the conversion")
    if call.keywords or any(isinstance(argument, ast.Starred) for argument in call.args):
        raise Refused("the conversion is called with keywords or unpacked arguments")
    _check_use(site, call)
    function = call.func
    if isinstance(function, ast.Name) and function.id in _TYPES:
        if site.names.scope_at(function).resolve(function.id) is not None:
            raise Refused(f"`{function.id}` is not the builtin here")
        _convert(draft, layout, call, function.id)
    elif isinstance(function, ast.Attribute) and function.attr == "item" and not call.args:
        _item(draft, call, function)
    elif (name := site.names.qualified(function) or "").startswith("math."):
        _math(draft, layout, call, name.removeprefix("math."))
    else:
        raise Refused(f"`{ast.unparse(function)}` has no direct counterpart for arrays")


def _convert(draft: Draft, layout: Layout, call: ast.Call, kind: str) -> None:
    if len(call.args) != 1:
        raise Refused(f"`{kind}` is called with more than one argument")
    value = call.args[0]
    if isinstance(value, ast.Compare) and len(value.ops) > 1:
        raise Refused("a chained comparison is converted; split it first")
    if isinstance(value, ast.Call) and _has_type(draft.site, value, kind):
        draft.replace(draft.site.span(call), layout.argument(value))
        return
    asarray = reference(draft.site, draft.imports, "jax.numpy.asarray", call)
    draft.replace(draft.site.span(call), f"{asarray}({layout.argument(value)}, dtype={kind})")


def _has_type(site: Site, call: ast.Call, kind: str) -> bool:
    """Whether the call already returns an array of that type."""
    if kind == "float":
        return is_floating(site, call)
    name = (site.names.qualified(call.func) or "").removeprefix("jax.numpy.")
    return kind == "int" and name in ("argmax", "argmin", "count_nonzero", "searchsorted", "digitize")


def _item(draft: Draft, call: ast.Call, function: ast.Attribute) -> None:
    value = function.value
    whole = draft.site.span(call)
    source = draft.site.lines.slice(whole)
    body = source[: source.rindex(".")].rstrip()  # with the parentheses around the array
    if "#" in source[len(body) :]:
        raise Refused("a comment stands before `.item()`")
    single = isinstance(value, ast.Call) and _reduces(draft.site, value)
    draft.replace(whole, body if single else f"{body}.reshape(())")


def _reduces(site: Site, call: ast.Call) -> bool:
    """Whether `call` returns a single number: `x.sum()`, `jnp.mean(x)`."""
    if call.keywords:
        return False
    name = site.names.qualified(call.func) or ""
    if name.startswith("jax.numpy."):
        return len(call.args) == 1 and name.rpartition(".")[2] in _REDUCTIONS
    return isinstance(call.func, ast.Attribute) and call.func.attr in _REDUCTIONS and not call.args


def _math(draft: Draft, layout: Layout, call: ast.Call, name: str) -> None:
    if name not in MATH:
        raise Refused(f"`math.{name}` has no counterpart in jax.numpy")
    if name == "log" and len(call.args) == 2:
        log = reference(draft.site, draft.imports, "jax.numpy.log", call)
        number, base = (f"{log}({layout.argument(argument)})" for argument in call.args)
        quotient = f"{number} / {base}"
        around = draft.site.names.parents.get(call)
        loose = isinstance(around, (ast.BinOp, ast.UnaryOp, ast.Attribute, ast.Subscript))
        draft.replace(draft.site.span(call), f"({quotient})" if loose else quotient)
        return
    target = reference(draft.site, draft.imports, MATH[name], call, module=MATH[name].rpartition(".")[0])
    arguments = ", ".join(layout.argument(argument) for argument in call.args)
    converted = ".astype(int)" if name in MATH_TO_INTEGER else ""
    draft.replace(draft.site.span(call), f"{target}({arguments}){converted}")


def _check_use(site: Site, call: ast.Call) -> None:
    """Raises Refused if the number is a size, which an array cannot be; for integers also if it may be one."""
    function = call.func
    integer = isinstance(function, ast.Name) and function.id == "int"
    integer = integer or (site.names.qualified(function) or "").removeprefix("math.") in MATH_TO_INTEGER
    waiting: list[ast.expr] = [call]
    seen: set[str] = set()
    while waiting:
        name = _check_place(site, waiting.pop(), integer=integer)
        if name is not None and name not in seen:
            seen.add(name)
            waiting += [use.name for use in site.names.uses_of(name, site.names.scope_at(call))]


def _check_place(site: Site, node: ast.expr, *, integer: bool) -> str | None:
    """Checks one use of the number; returns the variable to which it, or a value computed from it, is assigned."""
    size = "the number is a size, which must be a compile-time constant; make it a static argument"
    child: ast.AST = node
    for ancestor in site.names.ancestors(node):
        if isinstance(ancestor, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
            target = ancestor.targets[0] if isinstance(ancestor, ast.Assign) else ancestor.target
            if integer and not isinstance(target, ast.Name):
                raise Refused("the integer is stored, and may serve as a size")
            return target.id if isinstance(target, ast.Name) else None
        if isinstance(ancestor, ast.stmt):
            if integer and isinstance(ancestor, ast.Return):
                raise Refused("the integer is returned, and may serve as a size")
            return None
        if isinstance(ancestor, ast.Slice) or (
            isinstance(ancestor, ast.keyword) and ancestor.arg in _STATIC_KEYWORDS
        ):
            raise Refused(size)
        if isinstance(ancestor, ast.Subscript) and child is ancestor.slice and _is_item(site, ancestor):
            return None
        if isinstance(ancestor, ast.JoinedStr):
            raise Refused("the number is formatted into a string, which happens at trace time")
        if isinstance(ancestor, ast.Compare):
            return None
        if isinstance(ancestor, ast.BinOp):
            other = ancestor.right if ancestor.left is child else ancestor.left
            if any(isinstance(part, ast.Name) for part in ast.walk(other)):
                return None  # treated as an array operation
        if isinstance(ancestor, ast.Call) and child is not ancestor.func:
            _check_argument(site, ancestor, child, integer=integer, size=size)
            return None
        child = ancestor
    return None


def _is_item(site: Site, node: ast.Subscript) -> bool:
    """Whether `node` reads an item of something that is not visibly a Python sequence: arrays accept traced indices."""
    sequences = (ast.List, ast.Tuple, ast.Dict, ast.ListComp, ast.DictComp)
    if not isinstance(node.ctx, ast.Load) or isinstance(node.value, sequences):
        return False
    if not isinstance(node.value, ast.Name):
        return True
    for binding in site.names.bindings_of(node.value.id, site.names.scope_at(node)):
        statement = site.names.parents.get(binding.node)
        if isinstance(getattr(statement, "value", None), sequences):
            return False
    return True


def _check_argument(site: Site, call: ast.Call, child: ast.AST, *, integer: bool, size: str) -> None:
    function = call.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    if name in _STATIC_USES:
        position = call.args.index(child) if child in call.args else -1  # type: ignore[arg-type]
        if name != "linspace" or position == 2:
            raise Refused(size)
    qualified = site.names.qualified(function) or ""
    if integer and not qualified.startswith(("jax.numpy.", "jax.lax.", "jax.debug.")) and name != "float":
        raise Refused(f"the integer is passed to `{ast.unparse(function)}`, and may serve as a size there")
