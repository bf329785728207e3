"""`convert-after-loop`: numbers that a loop only collects are fetched from the device after the loop.

`losses.append(float(loss))` becomes `losses.append(loss)`, and `losses = [float(x) for x in losses]` follows the
loop.
"""

from __future__ import annotations

import ast

from jaxlint.codemods.facts.dataflow import root_of
from jaxlint.codemods.registry import Draft, codemod
from jaxlint.codemods.source.layout import Layout, fresh_name
from jaxlint.codemods.source.site import Refused, Site
from jaxlint.codemods.stageable import check_buffers_without_wait, check_variables_hidden
from jaxlint.finding import Step


@codemod("convert-after-loop")
def convert_after_loop(draft: Draft, step: Step) -> None:
    """The span is the call of `float`, `int` or `.item()` in `values.append(...)`. Takes no parameters."""
    site = draft.site
    call = site.find_ast(step.span, ast.Call)
    assert isinstance(call, ast.Call)
    value, template = _conversion(site, call)
    append = site.names.parents.get(call)
    statement = site.names.parents.get(append) if append is not None else None
    if not (
        isinstance(append, ast.Call)
        and isinstance(append.func, ast.Attribute)
        and append.func.attr == "append"
        and isinstance(append.func.value, ast.Name)
        and isinstance(statement, ast.Expr)
    ):
        raise Refused("the number is not only appended to a list")
    name = append.func.value.id
    scope = site.names.scope_at(statement)
    made = _made(site, name, statement)
    outermost = _loop_beside(site, made, statement)
    inside = set(ast.walk(outermost))
    uses = [use.name for use in site.names.uses_of(name, scope)]
    if any(use in inside and use is not append.func.value for use in uses):
        raise Refused(f"`{name}` is used inside the loop, and would hold arrays instead of numbers")
    between = [use for use in uses if use not in inside and use.lineno < outermost.lineno]
    if between or any(site.names.scope_at(use) is not scope for use in uses):
        raise Refused(f"`{name}` is used before the loop, or in a nested function")
    for part in inside:
        if isinstance(part, (ast.Return, ast.Yield, ast.YieldFrom, ast.Try, ast.With)):
            raise Refused("the loop may end early")
    if any(isinstance(part, ast.Try) for part in site.names.ancestors(outermost)):
        raise Refused("the list may be used after an exception")
    _check_kept(site, value, inside)
    check_buffers_without_wait(draft, [outermost])
    if draft.strict is not None:
        check_variables_hidden(draft, outermost)
    layout = Layout(site)
    indent = layout.indent(outermost)
    item = fresh_name(layout.identifiers(scope), "value")
    draft.replace(site.span(call), layout.argument(value))
    line = (outermost.end_lineno or outermost.lineno) + 1
    text = f"{indent}{name} = [{template.format(item)} for {item} in {name}]{layout.newline}"
    if line > len(site.lines.lines):
        raise Refused("the loop ends the file")
    draft.insert(line, 1, text)


def _conversion(site: Site, call: ast.Call) -> tuple[ast.expr, str]:
    """The converted value, and the conversion as a format string."""
    function = call.func
    name = site.names.builtin(function)
    if name in ("float", "int") and len(call.args) == 1 and not call.keywords:
        return call.args[0], f"{name}({{}})"
    if isinstance(function, ast.Attribute) and function.attr in ("item", "tolist") and not call.args:
        return function.value, f"{{}}.{function.attr}()"
    raise Refused("the conversion is not float, int or .item()")


def _check_kept(site: Site, value: ast.expr, inside: set[ast.AST]) -> None:
    """Raises Refused if another call receives the array and may donate its buffer (`donate_argnums`)."""
    root = root_of(value)
    if not isinstance(root, ast.Name):
        return  # computed here, and held by nothing else
    own = set(ast.walk(value))
    for use in site.names.uses_of(root.id, site.names.scope_at(root)):
        if use.name in inside and use.name not in own:
            if _handed_on(site, use.name, inside):
                raise Refused(
                    f"`{root.id}` is passed to another call in the loop, which may donate its buffer"
                )


def _made(site: Site, name: str, statement: ast.stmt) -> ast.stmt:
    """The only statement that creates the list, empty."""
    bindings = site.names.bindings_of(name, site.names.scope_at(statement))
    made = site.names.parents.get(bindings[0].node) if len(bindings) == 1 else None
    if (
        not isinstance(made, (ast.Assign, ast.AnnAssign))
        or not isinstance(made.value, ast.List)
        or made.value.elts
    ):
        raise Refused(f"`{name}` does not start as an empty list in this function")
    if isinstance(made, ast.Assign) and len(made.targets) != 1:
        raise Refused(f"`{name}` is one of several names for the list")
    return made


def _loop_beside(site: Site, made: ast.stmt, statement: ast.stmt) -> ast.stmt:
    """The loop around `statement` in the same block as the statement that creates the list."""
    block = site.names.parents[made]
    node: ast.AST = statement
    for ancestor in site.names.ancestors(statement):
        if ancestor is block:
            break
        node = ancestor
    else:
        raise Refused("the list is created elsewhere")
    if not isinstance(node, (ast.For, ast.While)):
        raise Refused("the list is not created right before the loop")
    if node.orelse:
        raise Refused("the loop has an `else`")
    return node


READING_METHODS = frozenset(
    {"item", "tolist", "block_until_ready", "copy", "astype", "mean", "sum", "min", "max"}
)
READING_BUILTINS = frozenset({"float", "int", "bool", "str", "repr", "format", "print", "len", "isinstance"})


def _handed_on(site: Site, name: ast.Name, inside: set[ast.AST]) -> bool:
    """Whether the nearest call around `name` may keep or donate its argument; formatting and reading do not."""
    child: ast.AST = name
    for around in site.names.ancestors(name):
        if around not in inside or isinstance(around, ast.FormattedValue):
            return False
        if isinstance(around, ast.Call):
            function = around.func
            if isinstance(function, ast.Attribute):
                return not (child is function and function.attr in READING_METHODS)
            return site.names.builtin(function) not in READING_BUILTINS
        child = around
    return False
