"""`checkpoint-scan-body`: a scan of JAX or of a framework recomputes its body in the backward pass instead of storing
intermediate results."""

from __future__ import annotations

import ast

from jaxlint.codemods.facts.lifted_scans import uses_modules
from jaxlint.codemods.facts.parameter_modules import method_around
from jaxlint.codemods.registry import Draft, codemod
from jaxlint.codemods.source.imports import reference
from jaxlint.codemods.source.layout import Layout
from jaxlint.codemods.source.site import Refused, Site
from jaxlint.finding import Span, Step

# The scans, with the remat function of each that keeps the names of parameters.
_REMATS = {
    "jax.lax.scan": "jax.checkpoint",
    "haiku.scan": "haiku.remat",
    "flax.linen.scan": "flax.linen.remat",
    "flax.nnx.scan": "flax.nnx.remat",
}
_MAKERS = frozenset({"flax.linen.scan", "flax.nnx.scan"})  # return a function, which is called elsewhere
_CHECKPOINTS = frozenset(
    {
        "jax.checkpoint",
        "jax.remat",
        "jax.ad_checkpoint.checkpoint",
        "flax.linen.checkpoint",
        *_REMATS.values(),
    }
)
_DEFAULT = "nothing_saveable"  # the behaviour of `jax.checkpoint` without a policy


@codemod("checkpoint-scan-body")
def checkpoint_scan_body(draft: Draft, step: Step) -> None:
    """The span is the call of a scan: that of JAX, haiku, linen or nnx. The parameter `policy` names one of `jax.checkpoint_policies`."""
    site = draft.site
    call = site.find_ast(step.span, ast.Call)
    assert isinstance(call, ast.Call)
    scan = site.names.qualified(call.func) or ""
    if scan not in _REMATS:
        raise Refused(f"the call is not one of {', '.join(_REMATS)}")
    body = next((keyword.value for keyword in call.keywords if keyword.arg in ("f", "target")), None)
    if body is None and call.args:
        body = call.args[0]
    if body is None or isinstance(body, ast.Starred):
        raise Refused("the body of the scan is not an argument of the call")
    if isinstance(body, ast.Call) and site.names.qualified(body.func) in _CHECKPOINTS:
        raise Refused("the body of the scan is already under jax.checkpoint")
    if scan == "flax.linen.scan":
        _check_linen(site, _made(site, body))
    policy = str(step.parameters.get("policy", _DEFAULT))
    checkpoint = reference(site, draft.imports, _REMATS[scan], body)
    named = ""
    if policy != _DEFAULT:
        named = f", policy={reference(site, draft.imports, 'jax.checkpoint_policies', body)}.{policy}"
    # a loop separates the two computations anyway
    text = f"{checkpoint}({Layout(site).argument(body)}{named}, prevent_cse=False)"
    draft.replace(site.span(body), text)


def find_scans(site: Site, line: int) -> list[Span]:
    """The calls of scans that run in a line. For a scan that returns a function, the call that created it."""
    found: dict[Span, None] = {}
    for node in ast.walk(site.tree):
        if isinstance(node, ast.Call) and node.lineno == line:
            made = _made(site, node.func)
            if site.names.qualified(node.func) in _REMATS:
                found[site.span(node)] = None
            elif isinstance(made, ast.Call) and site.names.qualified(made.func) in _MAKERS:
                found[site.span(made)] = None
    return list(found)


def _made(site: Site, node: ast.expr) -> ast.AST:
    """An expression, or the value of a variable that only one statement binds."""
    bindings = (
        site.names.bindings_of(node.id, site.names.scope_at(node)) if isinstance(node, ast.Name) else []
    )
    if len(bindings) != 1:
        return node
    statement = site.names.parents.get(bindings[0].node)
    return statement.value if isinstance(statement, ast.Assign) else bindings[0].node


def _check_linen(site: Site, body: ast.AST) -> None:
    """`nn.remat` lends the body only the module that it receives. Raises Refused otherwise."""
    if not isinstance(body, (ast.FunctionDef, ast.Lambda)):
        raise Refused("the body may be a module class, and nn.remat of one renames its parameters")
    method = method_around(site, body)
    for node in ast.walk(body):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            home = site.names.scope_at(node).resolve(node.func.id)
            outer = home is not None and home.node is not body and home is not site.names.module
            bindings = home.bindings[node.func.id] if home is not None else []
            functions = [one.node for one in bindings if isinstance(one.node, ast.FunctionDef)]
            module = method.parameter if method is not None else ""
            if outer and (
                not functions or any(uses_modules(site, one, "flax.linen", module) for one in functions)
            ):
                raise Refused(
                    f"the body calls `{node.func.id}`, which may call a module; nn.remat lifts only the module in its argument"
                )
