"""`item-assignment-to-at`: `x[i] = v` becomes `x = x.at[i].set(v)`, and `x[i] += v` becomes `x = x.at[i].add(v)`.

JAX arrays are immutable; `.at` returns an updated copy, and the compiler updates in place if it can.
"""

from __future__ import annotations

import ast

import libcst as cst

from jaxlint.codemods.registry import Draft, codemod
from jaxlint.codemods.source.name_scopes import Names, Scope
from jaxlint.codemods.source.site import Refused, Site
from jaxlint.finding import Step

# `.at[].subtract` is newer than the others; adding the negative works in every version.
_METHODS: dict[type[cst.BaseAugOp], str] = {
    cst.AddAssign: "add",
    cst.SubtractAssign: "add",
    cst.MultiplyAssign: "multiply",
    cst.DivideAssign: "divide",
    cst.PowerAssign: "power",
}
# Operands that accept a minus sign without parentheses.
_TIGHT = (cst.Name, cst.Attribute, cst.Call, cst.Subscript, cst.Integer, cst.Float, cst.Imaginary)


@codemod("item-assignment-to-at")
def item_assignment_to_at(draft: Draft, step: Step) -> None:
    """The span is the statement. With the parameter `target_ok`, attributes as in `self.x[i] = v` are accepted too."""
    site = draft.site
    statement = site.find(step.span, cst.Assign, cst.AugAssign)
    assert isinstance(statement, (cst.Assign, cst.AugAssign))
    if isinstance(statement, cst.Assign):
        if len(statement.targets) != 1:
            raise Refused("a chained assignment binds several names; split it first")
        target: cst.BaseExpression = statement.targets[0].target
        method = "set"
    else:
        target = statement.target
        kind = type(statement.operator)
        method = _METHODS.get(kind, "set")
    if isinstance(statement, cst.Assign) and isinstance(target, cst.Tuple):
        _set_several(draft, step)
        return
    if not isinstance(target, cst.Subscript):
        raise Refused("the assignment is not to an item")
    array = target.value
    if isinstance(array, cst.Subscript) and isinstance(array.value, cst.Name):
        target = _joined(site, step, target, array)
        array = target.value
    _check_array(array, target_ok=bool(step.parameters.get("target_ok")))
    node = site.find_ast(step.span, ast.Assign, ast.AugAssign)
    _check_binding(site, node, array)
    _check_order(node)

    value = _without_parentheses(site, statement.value)
    if isinstance(statement, cst.AugAssign) and type(statement.operator) not in _METHODS:
        _set_computed(draft, step, statement, target)
        return
    written = site.code(
        _negative(value) if isinstance(statement, cst.AugAssign) and _subtracts(statement) else value,
        step.span,
    )
    if isinstance(value, cst.Tuple) and not value.lpar:
        written = f"({written})"
    name = site.code(array)
    indexed = target.with_changes(value=cst.Attribute(array, cst.Name("at")), lpar=(), rpar=())
    index = site.code(indexed, step.span)
    draft.replace(step.span, f"{name} = {index}.{method}({written})")


def _set_several(draft: Draft, step: Step) -> None:
    """`x[i], x[j] = a, b` becomes `x = x.at[i].set(a).at[j].set(b)`: both values are computed from the old array."""
    site = draft.site
    node = site.find_ast(step.span, ast.Assign)
    assert isinstance(node, ast.Assign)
    _check_order(node)
    targets, values = node.targets[0], node.value
    if not (isinstance(targets, ast.Tuple) and isinstance(values, ast.Tuple)) or len(targets.elts) != len(
        values.elts
    ):
        raise Refused("the assignment unpacks into items; assign the parts to variables first")
    if "#" in site.lines.slice(step.span):
        raise Refused("the rewrite would lose a comment inside the statement")
    chain, name = "", ""
    for target, value in zip(targets.elts, values.elts, strict=True):
        if not (isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name)):
            raise Refused("the assignment is not only to items of a plain variable")
        if isinstance(value, ast.Starred) or (name and target.value.id != name):
            raise Refused("the assignment is to items of several arrays; write one statement each")
        name = target.value.id
        chain += f".at[{site.text(target.slice)}].set({site.text(value)})"
    _check_binding(site, node, cst.Name(name))
    draft.replace(step.span, f"{name} = {name}{chain}")


def _joined(site: Site, step: Step, target: cst.Subscript, outer: cst.Subscript) -> cst.Subscript:
    """`x[0][j]` as `x[0, j]`, which is equivalent if `x` is an array and the first index a number.

    Raises Refused if `x` may be a list of arrays.
    """
    node = site.find_ast(step.span, ast.Assign, ast.AugAssign)
    assert isinstance(outer.value, cst.Name)
    scope = site.names.scope_at(node)
    for binding in site.names.bindings_of(outer.value.value, scope):
        statement = site.names.parents.get(binding.node)
        value = statement.value if isinstance(statement, (ast.Assign, ast.AnnAssign)) else None
        made = site.names.qualified(value.func) if isinstance(value, ast.Call) else None
        if not (made or "").startswith("jax.numpy.") and not _is_updated(value):
            raise Refused("an item of an item is assigned; rebuild the outer container instead")
    first = outer.slice[0].slice
    if len(outer.slice) != 1 or not isinstance(first, cst.Index) or not isinstance(first.value, cst.Integer):
        raise Refused("an item of an item is assigned; index it once")
    comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    return target.with_changes(
        value=outer.value, slice=[outer.slice[0].with_changes(comma=comma), *target.slice]
    )


def _is_updated(value: ast.expr | None) -> bool:
    """Whether `value` is written `x.at[i].set(v)`."""
    item = value.func.value if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) else None
    return (
        isinstance(item, ast.Subscript) and isinstance(item.value, ast.Attribute) and item.value.attr == "at"
    )


def _set_computed(draft: Draft, step: Step, statement: cst.AugAssign, target: cst.Subscript) -> None:
    """`x[i] //= v` becomes `x = x.at[i].set(x[i] // v)`: there is no method for the operator."""
    site = draft.site
    operator = site.code(statement.operator).strip().removesuffix("=")
    index = site.find_ast(step.span, ast.AugAssign)
    assert isinstance(index, ast.AugAssign)
    if any(isinstance(part, ast.Call) for part in ast.walk(index.target)):
        raise Refused("the index contains a call, which would run twice")
    value = statement.value
    if not isinstance(value, _TIGHT) and not value.lpar:
        value = value.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    bare = target.with_changes(lpar=(), rpar=())
    indexed = bare.with_changes(value=cst.Attribute(target.value, cst.Name("at")))
    name, item, written = (site.code(part, step.span) for part in (target.value, bare, value))
    draft.replace(step.span, f"{name} = {site.code(indexed, step.span)}.set({item} {operator} {written})")


def _without_parentheses(site: Site, value: cst.BaseExpression) -> cst.BaseExpression:
    """A value without its parentheses, which the call's replace, unless they contain a comment."""
    if not value.lpar or isinstance(value, (cst.Tuple, cst.GeneratorExp)):
        return value
    if "#" in site.code(value.lpar[0]) + site.code(value.rpar[-1]):
        return value
    return value.with_changes(lpar=value.lpar[1:], rpar=value.rpar[:-1])


def _subtracts(statement: cst.AugAssign) -> bool:
    return isinstance(statement.operator, cst.SubtractAssign)


def _negative(value: cst.BaseExpression) -> cst.BaseExpression:
    if isinstance(value, cst.UnaryOperation) and isinstance(value.operator, cst.Minus) and not value.lpar:
        return value.expression
    if not isinstance(value, _TIGHT) and not value.lpar:
        value = value.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    return cst.UnaryOperation(cst.Minus(), value)


def _check_array(array: cst.BaseExpression, *, target_ok: bool) -> None:
    if isinstance(array, cst.Subscript):
        raise Refused("an item of an item is assigned; rebuild the outer container instead")
    if isinstance(array, cst.Name) and not array.lpar:
        return
    parts = array
    while isinstance(parts, cst.Attribute) and not parts.lpar:
        parts = parts.value
    if not (target_ok and isinstance(parts, cst.Name) and not parts.lpar):
        raise Refused("the array is not a plain variable, so other references keep the old array")


def _check_binding(site: Site, statement: ast.AST, array: cst.BaseExpression) -> None:
    """The assignment must bind the variable that is read: it is bound in this very scope."""
    if not isinstance(array, cst.Name):
        return
    names: Names = site.names
    scope: Scope = names.scope_at(statement)
    name = array.value
    if name in scope.redirected or name in scope.bindings:
        return
    raise Refused(f"`{name}` belongs to an outer scope; assigning it here would make it a local variable")


def _check_order(statement: ast.AST) -> None:
    """Python evaluates the value before the index; the rewrite does the opposite."""
    assert isinstance(statement, (ast.Assign, ast.AugAssign))
    for node in ast.walk(statement):
        if isinstance(node, (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)):
            raise Refused(
                "the statement assigns, awaits or yields inside, and the rewrite would reorder that"
            )
