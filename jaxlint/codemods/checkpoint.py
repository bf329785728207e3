"""`checkpoint-scan-body`: a scan computes its body again in the backward pass instead of keeping what it made."""

from __future__ import annotations

import ast

from jaxlint.codemods.imports import reference
from jaxlint.codemods.layout import Layout
from jaxlint.codemods.registry import Draft, codemod
from jaxlint.codemods.site import Refused, Site
from jaxlint.finding import Span, Step

_SCAN = "jax.lax.scan"
_CHECKPOINTS = frozenset({"jax.checkpoint", "jax.remat", "jax.ad_checkpoint.checkpoint"})
_DEFAULT = "nothing_saveable"  # what `jax.checkpoint` does without a policy


@codemod("checkpoint-scan-body")
def checkpoint_scan_body(draft: Draft, step: Step) -> None:
    """The span is the call of `jax.lax.scan`. The parameter `policy` names one of `jax.checkpoint_policies`."""
    site = draft.site
    call = site.find_ast(step.span, ast.Call)
    assert isinstance(call, ast.Call)
    if site.names.qualified(call.func) != _SCAN:
        raise Refused(f"the call is not one of {_SCAN}")
    body = next((keyword.value for keyword in call.keywords if keyword.arg == "f"), None)
    if body is None and call.args:
        body = call.args[0]
    if body is None or isinstance(body, ast.Starred):
        raise Refused("the body of the scan is not written at the call")
    if isinstance(body, ast.Call) and site.names.qualified(body.func) in _CHECKPOINTS:
        raise Refused("the body of the scan is under jax.checkpoint already")
    policy = str(step.parameters.get("policy", _DEFAULT))
    checkpoint = reference(site, draft.imports, "jax.checkpoint", body)
    named = ""
    if policy != _DEFAULT:
        named = f", policy={reference(site, draft.imports, 'jax.checkpoint_policies', body)}.{policy}"
    # a loop keeps the two computations apart as it is
    text = f"{checkpoint}({Layout(site).argument(body)}{named}, prevent_cse=False)"
    draft.replace(site.span(body), text)


def find_scans(site: Site, line: int) -> list[Span]:
    """The calls of `jax.lax.scan` that begin in a line."""
    return [
        site.span(node)
        for node in ast.walk(site.tree)
        if isinstance(node, ast.Call) and node.lineno == line and site.names.qualified(node.func) == _SCAN
    ]
