"""`pad-growing-argument`: an argument that grows from call to call is padded behind its end, and the result is read at that end.

    logits = predict(params, jnp.array(ids)[None])[0, -1]

becomes

    tokens = jnp.array(ids)[None]
    logits = predict(params, pad_end(tokens, 1, 16))[0, tokens.shape[1] - 1]

`pad_end` is a new function. The compiled function then has one program for all lengths up to 16. A run of the program shows that the
rows behind the end change nothing before it (`capture/growing_ends.py` of the runtime).
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

_STATEMENTS = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return)
# Their parts may be evaluated never, or again.
_APART = (ast.Lambda, ast.IfExp, ast.BoolOp, ast.comprehension, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)  # fmt: skip
_PAD_END = '''def {name}(x, axis, multiple):
    """`x` with zeros behind its end along an axis, up to a multiple of a length."""
    widths = [(0, 0)] * x.ndim
    widths[axis] = (0, -x.shape[axis] % multiple)
    return {pad}(x, widths)
'''


@dataclass(frozen=True, slots=True)
class _Growth:
    """The argument that grows, the name of its parameter, its axis and that of the result, and the length to pad to."""

    argument: int | str
    name: str
    axis: int
    result_axis: int
    multiple: int


@codemod("pad-growing-argument")
def pad_growing_argument(draft: Draft, step: Step) -> None:
    """The span is the first call. Parameters: `calls` (lines and columns of `ast`), the `argument` (its position or keyword), the `name`
    of its parameter, the `axis` that grows, the `result_axis` of the result that grows with it, and the `multiple` of a length."""
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
        _number(given["result_axis"]),
        _number(given["multiple"]),
    )
    for call in calls:
        _pad(draft, call, growth, helper, taken)
    pad = reference(site, draft.imports, "numpy.pad", calls[0])
    line = min(line_above(site, call) for call in calls)
    newline = layout.newline
    text = _PAD_END.format(name=helper, pad=pad).replace("\n", newline)
    draft.insert(line, 1, newline * missing_lines(site, line) + text + newline * 2)


def _number(value: object) -> int:
    assert isinstance(value, int)
    return value


def _pad(draft: Draft, call: ast.Call, growth: _Growth, helper: str, taken: set[str]) -> None:
    site = draft.site
    node = written_argument(call, growth.argument)
    if node is None:
        raise Refused("the argument that grows is not written in the call")
    statement = next(one for one in site.names.ancestors(call) if isinstance(one, ast.stmt))
    read = list(_reads(site, call, statement))
    ends = [_end(one, growth.result_axis) for one in read]
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
    for end in ends:
        draft.replace(site.span(end), f"{name}.shape[{growth.axis}] - 1")


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
    if (
        isinstance(end, ast.UnaryOp)
        and isinstance(end.op, ast.USub)
        and isinstance(end.operand, ast.Constant)
    ):
        if end.operand.value == 1:
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
