"""`split-key`: a PRNG key that is reused later is split before its first use, which gets its own subkey.

`w = normal(key)` becomes `key, subkey = jax.random.split(key)` and `w = normal(subkey)`; later code uses the new
`key`.
"""

from __future__ import annotations

import ast

from jaxlint.codemods.facts.dataflow import FUNCTIONS, Flow
from jaxlint.codemods.registry import Draft, codemod
from jaxlint.codemods.source.imports import reference
from jaxlint.codemods.source.layout import Layout, fresh_name
from jaxlint.codemods.source.site import Refused
from jaxlint.finding import Step

_SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Return)


@codemod("split-key")
def split_key(draft: Draft, step: Step) -> None:
    """The span is the expression that first consumes the key. The parameter `key` is the name of its variable."""
    site = draft.site
    node = site.find_ast(step.span, ast.expr)
    name = str(step.parameters["key"])
    statement = next(one for one in site.names.ancestors(node) if isinstance(one, ast.stmt))
    if not isinstance(statement, _SIMPLE):
        raise Refused("the key is used in the head of a compound statement")
    used = _only_use(name, statement)
    scope = site.names.scope_at(statement)
    if name not in scope.bindings or name in scope.redirected:
        raise Refused(f"`{name}` belongs to an outer scope, which would have to split it")
    flow = Flow(site.names, scope)
    if any(isinstance(one, FUNCTIONS) for one in site.names.ancestors_below(used, statement)):
        raise Refused(f"`{name}` is used in a function, which may run several times")
    if any(
        isinstance(one, (ast.ListComp, ast.GeneratorExp, ast.DictComp, ast.SetComp))
        for one in site.names.ancestors_below(used, statement)
    ):
        raise Refused(f"`{name}` is used in a comprehension; use `jax.random.split` for one key per element")
    for use in site.names.uses_of(name, scope):
        if site.names.scope_at(use.name) is not scope:
            raise Refused(f"a nested function reads `{name}` and would see another key")
    layout = Layout(site)
    indent = layout.indent(statement)
    subkey = "subkey"
    if "subkey" in scope.bindings and flow.is_used_after("subkey", statement):
        subkey = fresh_name(layout.identifiers(scope), "subkey")
    split = reference(site, draft.imports, "jax.random.split", statement)
    line = site.span(statement).line
    draft.insert(line, 1, f"{indent}{name}, {subkey} = {split}({name}){layout.newline}")
    draft.replace(site.span(used), subkey)


def _only_use(name: str, statement: ast.stmt) -> ast.Name:
    """The only place where `statement` reads the key. Raises Refused."""
    found = [part for part in ast.walk(statement) if isinstance(part, ast.Name) and part.id == name]
    reads = [part for part in found if isinstance(part.ctx, ast.Load)]
    if len(reads) < len(found):
        # Another split would change nothing: the reuse is of the old key, on a path that bypasses this one.
        raise Refused(
            f"`{name}` already gets a new key there; split it on the path that skips this statement"
        )
    if not reads:
        raise Refused(f"`{name}` is not read under this name here; split it by hand")
    if len(reads) != 1:
        raise Refused(f"`{name}` is used {len(reads)} times in one statement; split it by hand")
    return reads[0]
