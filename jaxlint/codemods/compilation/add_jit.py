"""`add-jit`: a function is jitted at its definition."""

from __future__ import annotations

import ast

from jaxlint.codemods.facts.module_state import changed_by_calling
from jaxlint.codemods.registry import Draft, codemod
from jaxlint.codemods.source.imports import reference
from jaxlint.codemods.source.site import Refused
from jaxlint.codemods.stageable import may_be_jitted
from jaxlint.finding import Step

_TRANSFORMS = ("jax.jit", "flax.nnx.jit", "equinox.filter_jit")


def transform_of(step: Step) -> str:
    """The transformation that a step asks for. Raises Refused for an unknown one."""
    transform = str(step.parameters.get("transform", "jax.jit"))
    if transform not in _TRANSFORMS:
        raise Refused(f"{transform} is unknown; use one of {', '.join(_TRANSFORMS)}")
    return transform


@codemod("add-jit")
def add_jit(draft: Draft, step: Step) -> None:
    """The span is that of the function's name or anything on the line of its `def`.

    Parameters: `transform` (jax.jit by default), `static_argnames` (list of str), `arguments` (their values in a run,
    as the runtime describes them), `rewritten` (spans of expressions that other steps make traceable).
    """
    site = draft.site
    transform = transform_of(step)
    found = [
        node
        for node in ast.walk(site.tree)
        if isinstance(node, ast.FunctionDef) and node.lineno == step.span.line
    ]
    if len(found) != 1:
        raise Refused("the line does not define exactly one function")
    (function,) = found
    if function.decorator_list:
        raise Refused("the function has other decorators, and their order matters")
    static = step.parameters.get("static_argnames", ())
    names = [str(name) for name in static] if isinstance(static, list | tuple) else []
    known = {argument.arg for argument in (*function.args.args, *function.args.kwonlyargs)}
    if not set(names) <= known:
        raise Refused("a static argument does not exist")
    may_be_jitted(draft, function, step, transform, names)
    # the check above has excluded other state than that of a module
    change = changed_by_calling(site, function)
    carries = transform == "flax.nnx.jit" and change is not None and change.framework == "flax.nnx"
    if change is not None and change.framework and change.is_seen and not carries:
        raise Refused(f"the function {change.what}, and a compiled function does that only at trace time")
    wrapper = reference(site, draft.imports, transform, function)
    if names and transform == "equinox.filter_jit":
        names = []  # arguments that are not arrays are static there
    if names:
        partial = reference(site, draft.imports, "functools.partial", function)
        quoted = ", ".join(f'"{name}"' for name in names)
        value = f"({quoted})" if len(names) > 1 else quoted
        wrapper = f"{partial}({wrapper}, static_argnames={value})"
    place = site.span(function)
    indent = site.lines.slice(type(place)(function.lineno, 1, function.lineno, place.column))
    # the keyword is replaced, so that an import before the first statement does not come in between
    keyword = type(place)(function.lineno, place.column, function.lineno, place.column + len("def"))
    draft.replace(keyword, f"@{wrapper}\n{indent}def")
