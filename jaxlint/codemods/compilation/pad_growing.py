"""`pad-growing-argument`: an argument that grows from call to call is padded behind its end, and the result is read at that end.

    logits = predict(params, jnp.array(ids)[None])[0, -1]

becomes

    tokens = jnp.array(ids)[None]
    logits = predict(params, pad_end(tokens, 1, 16))[0, tokens.shape[1] - 1]

`pad_end` is a new function. The compiled function then has one program for all lengths up to 16. A run of the program shows that the
rows behind the end change nothing before it (`capture/growing_ends.py` of the runtime).

A function that returns the last row itself receives its index:

    def next_logits(params, tokens):
        return forward(params, tokens)[:, -1]

becomes

    def next_logits(params, tokens, last):
        return forward(params, tokens)[:, last]
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from jaxlint.codemods.compilation.outline import line_above, missing_lines
from jaxlint.codemods.compilation.padded_calls import call_at, names_in_file, written_argument
from jaxlint.codemods.registry import Draft, codemod
from jaxlint.codemods.source.imports import reference
from jaxlint.codemods.source.layout import Layout, fresh_name
from jaxlint.codemods.source.site import Refused, Site
from jaxlint.finding import Step
from jaxlint.syntax.function_bodies import own_nodes

_STATEMENTS = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return)
# Their parts may be evaluated never, or again.
_APART = (ast.Lambda, ast.IfExp, ast.BoolOp, ast.comprehension, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)  # fmt: skip
_JITS = ("jax.jit", "flax.nnx.jit")
# Keywords that another parameter at the end leaves as they are.
_HARMLESS = frozenset({"static_argnums", "static_argnames", "donate_argnums", "donate_argnames", "inline"})
_PAD_END = '''def {name}(x, axis, multiple):
    """`x` with zeros behind its end along an axis, up to a multiple of a length."""
    widths = [(0, 0)] * x.ndim
    widths[axis] = (0, -x.shape[axis] % multiple)
    return {pad}(x, widths)
'''


_PAD_UP = '''def {name}(x, axis, length):
    """`x` with zeros behind its end along an axis, up to a length."""
    widths = [(0, 0)] * x.ndim
    widths[axis] = (0, max(length - x.shape[axis], 0))
    return {pad}(x, widths)
'''


@dataclass(frozen=True, slots=True)
class _Growth:
    """The argument that grows, the name of its parameter, its axis and that of the result, and the length to pad to."""

    argument: int | str
    name: str
    axis: int
    result_axis: int | None  # None: the function reads the last row itself
    multiple: int


@codemod("pad-growing-argument")
def pad_growing_argument(draft: Draft, step: Step) -> None:
    """The span is the first call. Parameters: `calls` (lines and columns of `ast`), the `argument` (its position or keyword), the `name`
    of its parameter, the `axis` that grows, the `result_axis` of the result that grows with it, and the `multiple` of a length; with `at_most` that length
    itself, above which nothing is padded. Without a `result_axis` the function that begins in `line` returns the last row."""
    given = step.parameters
    places, argument = given.get("calls"), given.get("argument")
    if not isinstance(places, list | tuple) or not places or not isinstance(argument, int | str):
        raise Refused("no call was seen")
    site = draft.site
    layout = Layout(site)
    taken = names_in_file(site, layout)
    helper = fresh_name(taken, "pad_end")
    calls = [call_at(site, place) for place in places]
    growth = _Growth(
        argument,
        str(given["name"]),
        _number(given["axis"]),
        None if given["result_axis"] is None else _number(given["result_axis"]),
        _number(given["multiple"]),
    )
    index = "" if growth.result_axis is not None else _receive_index(draft, given.get("line"), calls, taken)
    for call in calls:
        _pad(draft, call, growth, helper, taken, index)
    pad = reference(site, draft.imports, "numpy.pad", calls[0])
    line = min(line_above(site, call) for call in calls)
    newline = layout.newline
    form = _PAD_UP if given.get("at_most") else _PAD_END
    text = form.format(name=helper, pad=pad).replace("\n", newline)
    draft.insert(line, 1, newline * missing_lines(site, line) + text + newline * 2)


def _number(value: object) -> int:
    assert isinstance(value, int)
    return value


def _receive_index(draft: Draft, line: object, calls: list[ast.Call], taken: set[str]) -> str:
    """Lets a function read the row of an index in place of its last one; returns the parameter for that."""
    site = draft.site
    function = next(
        (
            node
            for node in ast.walk(site.tree)
            if isinstance(node, ast.FunctionDef)
            and line in (node.lineno, *(one.lineno for one in node.decorator_list))
        ),
        None,
    )
    if function is None:
        raise Refused("the function is not defined in this file")
    used = [
        node
        for node in ast.walk(site.tree)
        if isinstance(node, ast.Name | ast.Attribute)
        and getattr(node, "id", getattr(node, "attr", None)) == function.name
    ]
    if {id(node) for node in used} != {id(call.func) for call in calls}:
        raise Refused(f"`{function.name}` is used elsewhere too")
    _check_decorators(site, function)
    given = function.args
    if given.vararg or given.kwarg or given.kwonlyargs or given.defaults or not given.args:
        raise Refused(f"`{function.name}` has no room for another parameter")
    ends = [_last_of(one) for one in _returns(function)]
    if not ends:
        raise Refused(f"`{function.name}` returns nothing")
    index = fresh_name(taken, "last")
    taken.add(index)
    parameter = given.args[-1]
    draft.replace(site.span(parameter), f"{site.text(parameter)}, {index}")
    for end in ends:
        draft.replace(site.span(end), index)
    return index


def _pad(draft: Draft, call: ast.Call, growth: _Growth, helper: str, taken: set[str], index: str) -> None:
    site = draft.site
    node = written_argument(call, growth.argument)
    if node is None:
        raise Refused("the argument that grows is not written in the call")
    statement = next(one for one in site.names.ancestors(call) if isinstance(one, ast.stmt))
    axis = growth.result_axis
    read = [] if axis is None else list(_reads(site, call, statement))
    ends = [] if axis is None else [_end(one, axis) for one in read]
    name = node.id if isinstance(node, ast.Name) else ""
    if name and any(_is_set(site, name, one, call) for one in read):
        raise Refused(f"`{name}` may be set again before the result is read")
    if not name:
        name = fresh_name(taken, growth.name)
        taken.add(name)
        _check_order(site, statement, call, node)
        indent = " " * statement.col_offset
        value = site.text(node)
        if "\n" in value:
            raise Refused("the argument spans several lines")
        draft.insert(statement.lineno, 1, f"{indent}{name} = {value}{Layout(site).newline}")
    draft.replace(site.span(node), f"{helper}({name}, {growth.axis}, {growth.multiple})")
    last = f"{name}.shape[{growth.axis}] - 1"
    for end in ends:
        draft.replace(site.span(end), last)
    if index:
        closing = site.span(call)
        comma = "" if site.text(call)[:-1].rstrip().endswith(",") else ", "
        draft.insert(closing.end_line, closing.end_column - 1, f"{comma}{index}={last}")


def _reads(site: Site, call: ast.Call, statement: ast.stmt) -> Iterator[ast.Subscript]:
    """The subscripts through which the result is read. Raises Refused if it is used in another way."""
    parent = site.names.parents.get(call)
    if isinstance(parent, ast.Subscript) and parent.value is call:
        yield parent
        return
    if not isinstance(statement, ast.Assign) or statement.value is not call or len(statement.targets) != 1:
        raise Refused("the whole result is used, with its end")
    (target,) = statement.targets
    scope = site.names.scope_at(call)
    if not isinstance(target, ast.Name) or len(scope.bindings.get(target.id, ())) != 1:
        raise Refused("the result has no variable of its own")
    for node in ast.walk(scope.node):
        if isinstance(node, ast.Name) and node.id == target.id and isinstance(node.ctx, ast.Load):
            used = site.names.parents.get(node)
            if not isinstance(used, ast.Subscript) or used.value is not node:
                raise Refused(f"`{target.id}` is used as a whole, with its end")
            yield used


def _end(read: ast.Subscript, axis: int) -> ast.expr:
    """The index of the last row, along an axis of the result. Raises Refused if another part is read."""
    index = read.slice
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    if axis >= len(parts) or not isinstance(read.ctx, ast.Load):
        raise Refused("all rows of the result are read")
    for part in parts[:axis]:
        if not isinstance(part, ast.Slice | ast.Name | ast.UnaryOp | ast.Constant) or (
            isinstance(part, ast.Constant) and type(part.value) is not int
        ):
            raise Refused("the index of the result adds or joins axes")
    end = parts[axis]
    if _is_last(end):
        return end
    raise Refused("another row than the last is read")


def _is_set(site: Site, name: str, read: ast.AST, call: ast.Call) -> bool:
    """Whether a variable is set between a call and a later statement that reads the result."""
    first = next(one for one in site.names.ancestors(call) if isinstance(one, ast.stmt))
    last = next(one for one in site.names.ancestors(read) if isinstance(one, ast.stmt))
    return first is not last and any(
        isinstance(node, ast.Name)
        and node.id == name
        and isinstance(node.ctx, ast.Store)
        and first.lineno <= node.lineno < last.lineno
        for node in ast.walk(site.names.scope_at(call).node)
    )


def _check_order(site: Site, statement: ast.stmt, call: ast.Call, node: ast.expr) -> None:
    """Raises Refused if an argument cannot be computed before its statement."""
    above = [one for one in site.names.ancestors(node) if one in set(ast.walk(statement))]
    if not isinstance(statement, _STATEMENTS) or any(isinstance(one, _APART) for one in above):
        raise Refused("the argument is not computed in a statement of its own")
    around = {statement, *above, *ast.walk(node)}
    for other in ast.walk(statement):
        if isinstance(other, ast.Call | ast.Await | ast.NamedExpr | ast.Yield) and other not in around:
            if (other.lineno, other.col_offset) < (node.lineno, node.col_offset):
                raise Refused("the statement calls something before it computes the argument")


def _check_decorators(site: Site, function: ast.FunctionDef) -> None:
    """Raises Refused if a decorator counts the arguments, or keeps a number static."""
    for one in function.decorator_list:
        call = one if isinstance(one, ast.Call) else None
        name = site.names.qualified(call.func if call is not None else one) or ""
        if call is not None and name == "functools.partial" and call.args:
            name = site.names.qualified(call.args[0]) or ""
        keywords = {keyword.arg for keyword in call.keywords} if call is not None else set()
        from_end = any(isinstance(node, ast.USub) for node in ast.walk(one))  # `static_argnums=-1`
        if name not in _JITS or not keywords <= _HARMLESS or from_end:
            raise Refused(f"`{site.text(one)}` may not take another argument")


def _returns(function: ast.FunctionDef) -> list[ast.expr | None]:
    return [node.value for node in own_nodes(function) if isinstance(node, ast.Return)]


def _last_of(value: ast.expr | None) -> ast.expr:
    """The index of the last row in what a function returns. Raises Refused."""
    if isinstance(value, ast.Subscript):
        parts = value.slice.elts if isinstance(value.slice, ast.Tuple) else [value.slice]
        ends = [part for part in parts if _is_last(part)]
        rest = [part for part in parts if part not in ends]
        if len(ends) == 1 and all(isinstance(part, ast.Slice) or _is_number(part) for part in rest):
            return ends[0]
    raise Refused("another row than the last is returned")


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and (type(node.value) is int or node.value is ...)


def _is_last(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.UnaryOp)
        and isinstance(node.op, ast.USub)
        and isinstance(node.operand, ast.Constant)
        and node.operand.value == 1
    )
