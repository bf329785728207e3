"""`jit-call`: the callee is jitted at the call: `model.init(key, x)` becomes `jax.jit(model.init)(key, x)`."""

from __future__ import annotations

import ast

from jaxlint.codemods.compilation.add_jit import transform_of
from jaxlint.codemods.registry import Draft, codemod
from jaxlint.codemods.source.imports import reference
from jaxlint.codemods.source.site import Refused
from jaxlint.codemods.stageable import may_be_compiled
from jaxlint.finding import Step


@codemod("jit-call")
def jit_call(draft: Draft, step: Step) -> None:
    """The span is the call.

    Parameters: `transform` (jax.jit by default), `static_argnums` (list of int), `static_argnames` (list of str).
    """
    site = draft.site
    call = site.find_ast(step.span, ast.Call)
    assert isinstance(call, ast.Call)
    transform = transform_of(step)
    if any(isinstance(one, ast.Starred) for one in call.args) or any(
        one.arg is None for one in call.keywords
    ):
        raise Refused("the call unpacks arguments, so the static ones are unknown")
    if isinstance(call.func, ast.Call):
        raise Refused("each call creates the function again, so jit would recompile each time")
    may_be_compiled(draft, call, step, transform)
    wrapper = reference(site, draft.imports, transform, call)
    # There, arguments that are not arrays are static.
    static = "" if transform == "equinox.filter_jit" else _static(step)
    function = site.span(call.func)
    draft.insert(function.line, function.column, f"{wrapper}(")
    draft.insert(function.end_line, function.end_column, f"{static})")


def _static(step: Step) -> str:
    """The arguments that declare static parameters, as people write them."""
    parts = []
    for name in ("static_argnums", "static_argnames"):
        value = step.parameters.get(name, ())
        items = (
            [repr(one) if isinstance(one, int) else f'"{one}"' for one in value]
            if isinstance(value, list | tuple)
            else []
        )
        if items:
            parts.append(f", {name}={items[0] if len(items) == 1 else '(' + ', '.join(items) + ')'}")
    return "".join(parts)
