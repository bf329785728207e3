"""`branch-to-when`: an `if` in a Pallas kernel that only stores into references becomes a function under `pl.when`."""

from __future__ import annotations

import ast

from jaxlint.codemods.facts.dataflow import FUNCTIONS, Flow
from jaxlint.codemods.registry import Draft, codemod
from jaxlint.codemods.source.imports import reference
from jaxlint.codemods.source.layout import Layout
from jaxlint.codemods.source.site import Refused
from jaxlint.codemods.tracers.select import check_test
from jaxlint.finding import Span, Step


@codemod("branch-to-when")
def branch_to_when(draft: Draft, step: Step) -> None:
    """The span is the test of an `if` without `else`. Takes no parameters."""
    site = draft.site
    test = site.find_ast(step.span, ast.expr)
    node = site.names.parents.get(test)
    if not isinstance(node, ast.If) or node.test is not test:
        raise Refused("the test does not belong to an `if`")
    layout = Layout(site)
    if site.lines.slice(site.span(node)).startswith("elif"):
        raise Refused("the test belongs to an `elif`; write it as an `if` inside the `else`")
    if node.orelse:
        raise Refused("the `if` has an `else`; write two functions under `pl.when`")
    check_test(layout, node.test)
    flow = Flow(site.names, site.names.scope_at(node))
    for name in flow.bound(node.body):
        if flow.is_used_after(name, node) or name in flow.sequence(node.body).exposed:
            raise Refused(f"`{name}` is assigned in the branch and used outside; select it with `jnp.where`")
    for part in ast.walk(node):
        if isinstance(part, (ast.Return, ast.Break, ast.Continue, ast.Yield, ast.Raise, *FUNCTIONS)):
            raise Refused("the branch returns, yields, raises, leaves a loop or defines a function")
    indent = layout.indent(node)
    inner = indent + layout.unit(node)
    lines, span = layout.block(node.body, indent=inner, after=site.span(node.test).end_line)
    assert span is not None
    when = reference(
        site, draft.imports, "jax.experimental.pallas.when", node, module="jax.experimental.pallas"
    )
    start, end = site.span(node), max(site.span(node).end_line, span.end_line)
    whole = Span(start.line, start.column, end, len(site.lines.lines[end - 1]) + 1)
    comments = layout.comments_outside(whole, [site.span(node.test), span])
    above = "".join(f"{comment}{layout.newline}{indent}" for comment in comments)
    text = f"{above}@{when}({layout.argument(node.test)}){layout.newline}{indent}def _():{layout.newline}"
    draft.replace(whole, text + lines.removesuffix(layout.newline))
