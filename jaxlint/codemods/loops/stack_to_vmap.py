"""`stack-to-vmap`: stacked results that a comprehension computes row by row are computed together by `vmap`."""

from __future__ import annotations

import ast

from jaxlint.codemods.facts.local_effects import check_expression, constant_type
from jaxlint.codemods.facts.traceable import check_traceable
from jaxlint.codemods.loops.empty_loops import iteration_test
from jaxlint.codemods.loops.mapped_draws import may_be_mapped
from jaxlint.codemods.loops.rows import rows_of
from jaxlint.codemods.registry import Draft, codemod
from jaxlint.codemods.source.imports import reference
from jaxlint.codemods.source.layout import Layout
from jaxlint.codemods.source.site import Refused, Site
from jaxlint.codemods.stageable import may_be_staged
from jaxlint.finding import Step

_STACKS = frozenset({"jax.numpy.stack", "jax.numpy.array", "jax.numpy.asarray"})


@codemod("stack-to-vmap")
def stack_to_vmap(draft: Draft, step: Step) -> None:
    """The span is the call that stacks a comprehension. Takes no parameters."""
    site = draft.site
    call = site.find_ast(step.span, ast.Call)
    assert isinstance(call, ast.Call)
    name = site.names.qualified(call.func)
    if name not in _STACKS:
        raise Refused("the call does not stack along a new axis")
    made = call.args[0] if call.args else None
    if not isinstance(made, (ast.ListComp, ast.GeneratorExp)) or len(made.generators) != 1:
        raise Refused("the stacked rows are not a comprehension over one sequence")
    generator = made.generators[0]
    if generator.ifs or generator.is_async:
        raise Refused("the comprehension skips rows")
    axis = _axis(call)
    value = made.elt
    if isinstance(value, (ast.Tuple, ast.List, ast.Dict, ast.ListComp)) or constant_type(value) is not None:
        raise Refused("a row has several values, or is a constant")
    if _gives_several(site, value):
        raise Refused(
            f"`{ast.unparse(value)[:40]}` returns several values, and `vmap` stacks each of them separately"
        )
    check_expression(site, value, "the row")
    may_be_staged(draft, [value])
    may_be_mapped(draft, [value])
    rows = rows_of(draft, generator.target, generator.iter, [value])
    traced = {part.id for part in ast.walk(generator.target) if isinstance(part, ast.Name)}
    check_traceable(site, [value], traced, "the row", counters=rows.counters, handled=rows.handled)
    if not any(isinstance(part, ast.Name) and part.id in traced for part in ast.walk(value)):
        raise Refused("the rows do not depend on the loop variable")
    vmap = reference(site, draft.imports, "jax.vmap", call)
    layout = Layout(site)
    indent = " " * (step.span.column - 1)
    if test := iteration_test(draft, generator.iter):  # the stacking call raises if there is nothing to stack
        text = layout.call("", f"{vmap}({rows.function(value)})", rows.mapped(), indent)
        span = site.span(made)
        whole = (
            "({})" if site.lines.slice(span).startswith("(") else "{}"
        )  # a generator has those of the call
        draft.replace(span, whole.format(f"{text} if {test} else []"))
        return
    out = f", out_axes={axis}" if axis != "0" else ""
    text = layout.call("", f"{vmap}({rows.function(value)}{out})", rows.mapped(), indent)
    draft.replace(site.span(call), text)


def _axis(call: ast.Call) -> str:
    given = [*call.args[1:], *(keyword.value for keyword in call.keywords)]
    if not given:
        return "0"
    stacked = len(given) == 1 and (len(call.args) == 2 or call.keywords[0].arg == "axis")
    if (
        not stacked
        or ast.unparse(call.func).endswith("array")
        or not ast.unparse(given[0]).lstrip("-").isdigit()
    ):
        raise Refused("the call has other arguments than the rows")
    return ast.unparse(given[0])


def _gives_several(site: Site, value: ast.expr) -> bool:
    """Whether `value` calls a function of this file that visibly returns a tuple, list or dict."""
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Name):
        return False
    for binding in site.names.bindings_of(value.func.id, site.names.scope_at(value)):
        if isinstance(binding.node, ast.FunctionDef):
            for part in ast.walk(binding.node):
                if isinstance(part, ast.Return) and isinstance(part.value, (ast.Tuple, ast.List, ast.Dict)):
                    return True
    return False
