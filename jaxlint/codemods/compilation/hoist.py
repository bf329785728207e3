"""`hoist-jit`: a function that every iteration of a loop jits is jitted once, before the loop."""

from __future__ import annotations

import ast

from jaxlint.codemods.facts.dataflow import FUNCTIONS, Flow, root_of
from jaxlint.codemods.facts.module_state import changed_by_call
from jaxlint.codemods.facts.parameter_modules import values_of
from jaxlint.codemods.registry import Draft, codemod
from jaxlint.codemods.source.layout import Layout, fresh_name
from jaxlint.codemods.source.site import Refused, Site
from jaxlint.codemods.source.statement_regions import first_line
from jaxlint.codemods.stageable import may_be_kept
from jaxlint.finding import Span, Step


@codemod("hoist-jit")
def hoist_jit(draft: Draft, step: Step) -> None:
    """The span is the call of the transform, or the name of the function that it decorates. Takes no parameters."""
    site = draft.site
    node = site.find_function(step.span) or site.find_ast(step.span, ast.Call)
    layout = Layout(site)
    statement = next(one for one in (node, *site.names.ancestors(node)) if isinstance(one, ast.stmt))
    loop = site.names.parents.get(statement)
    if not isinstance(loop, (ast.For, ast.While)) or statement not in loop.body:
        raise Refused("the function is not jitted directly in a loop body")
    outer = layout.indent(loop)
    scope = site.names.scope_at(statement)
    flow = Flow(site.names, scope)
    changing = set(flow.bound([loop]))
    may_be_kept(draft, node, loop)
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
        _check_free(flow, statement, changing - {statement.name})
        _check_kept(site, statement, statement, loop)
        _check_sole(site, statement.name, statement)
        _move(draft, layout, statement, outer, loop)
        return
    assert isinstance(node, ast.Call)
    _check_free(flow, node, changing)
    _check_kept(site, node, statement, loop)
    if isinstance(statement, ast.Assign) and statement.value is node:
        if len(statement.targets) != 1 or not isinstance(statement.targets[0], ast.Name):
            raise Refused("the jitted function is not assigned to exactly one variable")
        _check_sole(site, statement.targets[0].id, statement.targets[0])
        _move(draft, layout, statement, outer, loop)
        return
    # `jax.jit(f)(x)`: the function gets a name.
    text = layout.argument(node)
    if "\n" in text or "\r" in text or "#" in text:
        raise Refused("the call spans several lines; assign the jitted function to a variable first")
    name = fresh_name(layout.identifiers(scope), "jitted")
    draft.insert(first_line(loop), 1, f"{outer}{name} = {text}{layout.newline}")
    draft.replace(site.span(node), name)


def _check_free(flow: Flow, node: ast.AST, changing: set[str]) -> None:
    """Raises Refused if the function reads variables that change between iterations."""
    read = flow.reads(node) & changing
    if read:
        raise Refused(f"the function reads `{min(read)}`, which changes in the loop; make it an argument")


def _check_kept(site: Site, node: ast.AST, statement: ast.stmt, loop: ast.For | ast.While) -> None:
    """Raises Refused if the loop changes an object that the function reads: the compiled function would keep the
    first state."""
    read = _read_from_outside(site, node)
    for part in (inner for one in loop.body if one is not statement for inner in ast.walk(one)):
        if isinstance(part, (ast.Attribute, ast.Subscript)) and not isinstance(part.ctx, ast.Load):
            if _root(part) in read:
                raise Refused(f"the function reads `{_root(part)}`, which the loop changes")
        elif isinstance(part, ast.Call) and part is not node:
            given = [*part.args, *(keyword.value for keyword in part.keywords)]
            if isinstance(part.func, ast.Attribute):
                given.append(part.func.value)
            touched = next((_root(one) for one in given if _root(one) in read), "")
            if touched and (change := changed_by_call(site, part)):
                raise Refused(f"the function reads `{touched}`, and the loop calls code that {change.what}")


def _read_from_outside(site: Site, node: ast.AST) -> set[str]:
    """The variables that a function reads from outside, including those of functions of the file that it names."""
    found: set[str] = set()
    waiting, seen = [node], {node}
    while waiting:
        function = waiting.pop()
        for part in ast.walk(function):
            if not isinstance(part, ast.Name) or not isinstance(part.ctx, ast.Load):
                continue
            scope = site.names.scope_at(part).resolve(part.id)
            if scope is None or function in (scope.node, *site.names.ancestors(scope.node)):
                continue
            found.add(part.id)
            named = {one for one in values_of(site, part) if isinstance(one, FUNCTIONS)} - seen
            seen |= named
            waiting += named
    return found


def _root(node: ast.AST) -> str:
    root = root_of(node)
    return root.id if isinstance(root, ast.Name) else ""


def _check_sole(site: Site, name: str, bound: ast.AST) -> None:
    scope = site.names.scope_at(bound)
    if name in scope.redirected:
        raise Refused(f"`{name}` belongs to an outer scope")
    if len(scope.bindings.get(name, ())) != 1:
        raise Refused(f"`{name}` is also assigned elsewhere")


def _move(draft: Draft, layout: Layout, statement: ast.stmt, outer: str, loop: ast.For | ast.While) -> None:
    """Moves the lines of `statement`, with the comments above it, to the line before the loop."""
    if len(loop.body) == 1:
        raise Refused("the body of the loop has no other statement")
    inner = layout.indent(statement)
    header = loop.iter if isinstance(loop, ast.For) else loop.test
    before = loop.body[: loop.body.index(statement)]
    after = max([header.end_lineno or 0, *(one.end_lineno or 0 for one in before)])
    text, span = layout.block([statement], indent=inner, after=after)
    assert span is not None
    lines = text.splitlines(keepends=True)
    if any(line.strip() and not line.startswith(inner) for line in lines):
        raise Refused("a line of the function is indented less than its first line")
    if any(
        isinstance(part, (ast.Constant, ast.JoinedStr)) and part.end_lineno != part.lineno
        for part in ast.walk(statement)
    ):
        raise Refused("a multi-line string would have to be indented")
    moved = "".join(outer + line[len(inner) :] if line.strip() else line for line in lines)
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
        moved = layout.gap_above(loop) + moved + layout.newline
    draft.insert(first_line(loop), 1, moved)
    first, last = span.line, span.end_line
    while last < len(layout.lines) and not layout.lines[last].strip():
        last += 1
    if before:  # one blank line stays
        while not layout.lines[first - 2].strip():
            first -= 1
        last = span.end_line if first == span.line else last - (last > span.end_line)
    draft.replace(Span(first, 1, last + 1, 1), "")
